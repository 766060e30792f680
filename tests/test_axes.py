from __future__ import annotations

import numpy as np
import pytest

from workbench.axes import log_ticks, nice_ceiling, nice_step, padded, ticks, time_ticks, value_range


def _labels(low: float, high: float, count: int) -> list[str]:
    return [tick.label.replace("\u00a0", " ") for tick in ticks(low, high, count)]


@pytest.mark.parametrize(
    ("span", "count", "step"),
    [(10, 5, 2), (10, 4, 5), (10, 10, 1), (0.3, 3, 0.1), (9.15e6, 4, 5e6), (7, 3, 5), (21, 2, 20)],
)
def test_steps_are_one_two_or_five_times_a_power_of_ten(span: float, count: int, step: float) -> None:
    assert nice_step(span, count) == pytest.approx(step)


@pytest.mark.parametrize(
    ("low", "high", "count", "labels"),
    [
        (0, 2000, 2, ["0", "1 000", "2 000"]),
        (0, 15e6, 5, ["0", "5 M", "10 M", "15 M"]),
        (0, 1e6, 5, ["0", "200 k", "400 k", "600 k", "800 k", "1 M"]),
        (0, 0.04, 2, ["0", "0.02", "0.04"]),
        (-1.2, 0.4, 3, ["−1", "0"]),
        (0, 0.0005, 5, ["0", "0.0001", "0.0002", "0.0003", "0.0004", "0.0005"]),
        (0, 4e20, 4, ["0", "1e20", "2e20", "3e20", "4e20"]),
        (-1e100, 0, 2, ["−1e100", "−5e99", "0"]),
        (0, 1.5e6, 3, ["0", "500 k", "1 M", "1.5 M"]),
        (980, 1000, 4, ["980", "985", "990", "995", "1 000"]),
        (0.00095, 0.00105, 5, ["0.00096", "0.00098", "0.001", "0.00102", "0.00104"]),
    ],
)
def test_labels(low: float, high: float, count: int, labels: list[str]) -> None:
    assert _labels(low, high, count) == labels


def test_a_span_below_the_resolution_of_the_numbers_still_has_a_tick() -> None:
    assert len(ticks(1e16, 1e16 + 2, 4)) >= 1


def test_a_log_axis_ticks_at_powers_of_ten() -> None:
    assert [tick.label.replace("\u00a0", " ") for tick in log_ticks(-2, 4, 8)] == [
        "0.01", "0.1", "1", "10", "100", "1 k", "10 k",
    ]  # fmt: skip


def test_a_log_axis_within_a_decade_ticks_at_two_and_five() -> None:
    found = log_ticks(np.log10(15), np.log10(90), 8)
    assert [tick.label for tick in found] == ["20", "50"]
    assert [10**tick.at for tick in found] == pytest.approx([20, 50])


def test_time_ticks_read_as_times() -> None:
    assert [tick.label for tick in time_ticks(0, 5400, 3)] == ["0", "30m", "1h", "1h 30m"]


@pytest.mark.parametrize(("value", "above"), [(9.15e6, 1e7), (1e6, 1e6), (0, 1), (130, 200), (2.1, 3)])
def test_nice_ceiling(value: float, above: float) -> None:
    assert nice_ceiling(value) == pytest.approx(above)


def test_one_spike_of_the_raw_values_does_not_flatten_the_curve() -> None:
    raw = np.ones(1000)
    raw[500] = 1e9
    low, high = value_range(np.array([0.0, 2.0]), raw) or (0, 0)
    assert (low, high) == (0.0, 2.0)


def test_a_constant_lies_at_mid_height() -> None:
    assert padded(100.0, 100.0) == pytest.approx((95, 105))
    assert padded(0.0, 0.0) == (-1, 1)


def test_nothing_finite_has_no_range() -> None:
    assert value_range(np.array([np.nan]), np.array([np.inf])) is None
