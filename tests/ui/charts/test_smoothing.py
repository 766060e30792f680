from __future__ import annotations

import numpy as np
import pytest

from workbench.ui.charts.smoothing import smooth


def test_debiased_mean_equals_a_hand_computation() -> None:
    # m1 = 0.4·1 = 0.4, over 1 − 0.6 = 0.4 → 1
    # m2 = 0.6·0.4 + 0.4·2 = 1.04, over 1 − 0.36 = 0.64 → 1.625
    # m3 = 0.6·1.04 + 0.4·3 = 1.824, over 1 − 0.216 = 0.784 → 2.326530612…
    found = smooth(np.array([1.0, 2.0, 3.0]), 0.6)
    assert found == pytest.approx([1.0, 1.625, 1.824 / 0.784], abs=1e-12)


def test_a_constant_stays_itself_from_the_first_point() -> None:
    assert smooth(np.full(50, 7.0), 0.97) == pytest.approx(np.full(50, 7.0))


def test_a_gap_stays_a_gap_and_the_mean_starts_anew_behind_it() -> None:
    found = smooth(np.array([1000.0, np.nan, 2.0, np.inf, 5.0]), 0.9)
    assert found[[0, 2, 4]] == pytest.approx([1000.0, 2.0, 5.0])
    assert np.isnan(found[[1, 3]]).all()


def test_no_weight_changes_nothing() -> None:
    values = np.array([3.0, np.nan, 1.0])
    assert smooth(values, 0.0) is values
