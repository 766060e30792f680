"""Which charts a run has, and what is in them."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.ui.past import Past, Points
from workbench.ui.run_charts import SECTIONS, RunCharts, Spec, distinct_letters, shares


def points(*values: float, start: int = 1) -> Points:
    steps = np.arange(start, start + len(values)) * 1000.0
    return Points(steps, steps / 10, steps / 100, np.array(values))


def test_endings_are_shares_of_the_episodes_that_ended_together() -> None:
    found = shares(
        {"terminated/fell": points(3, 1, 0), "truncated/time": points(1, 1, 0), "truncated/far": points(2, start=2)}
    )
    assert found["terminated/fell"].values == pytest.approx([75, 25, np.nan], nan_ok=True)
    assert found["truncated/time"].values == pytest.approx([25, 25, np.nan], nan_ok=True)
    assert found["truncated/far"].values == pytest.approx([50])


def test_letters_are_the_first_that_are_free() -> None:
    assert distinct_letters(["forward", "survive", "ctrl", "contact", "forward", "_"]) == ["f", "s", "c", "o", "r", "a"]
    many = distinct_letters(["x"] * 40)
    assert len(set(many[:36])) == 36 and many[-1] == "·"


def test_every_section_of_a_run_without_history_says_why_it_is_empty() -> None:
    charts = RunCharts(None, Past(()), (), Spec())
    for section in SECTIONS:
        found = charts.section(section)
        assert found and all(chart.empty for chart in found)
        assert not any(len(curve.values) for chart in found for curve in chart.curves)


def test_a_spec_of_any_shape_is_read() -> None:
    assert Spec.of({}) == Spec()
    assert Spec.of({"spec": [1]}) == Spec()
    assert Spec.of({"spec": {"stop_criteria": {"episode_return_mean": "much"}, "algorithm": 3}}) == Spec()
    record = {
        "spec": {"algorithm": "sac", "sac": {"learning_starts": 10_000}, "stop_criteria": {"episode_return_mean": 7}}
    }
    assert Spec.of(record, 1000) == Spec(7.0, 10_000, 1000)


def test_metrics_nobody_knows_are_shown_with_the_system() -> None:
    past = Past((1,), {"rollout/ep_rew_mean": points(1), "mine/odd": points(2), "time/fps": points(3)})
    titles = [chart.title for chart in RunCharts(None, past, (), Spec()).section("System")]
    assert titles == ["time/fps", "mine/odd"]
