"""Reward terms and endings of a run as numbers, over its last hundred episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from workbench import formatting
from workbench.ui.charts.model import Bar, Bars
from workbench.ui.past import Points
from workbench.ui.theme import SERIES_COUNT

EPISODES = 100
"""Whole episodes the numbers are of, and a few more: they are told of an iteration's at a time."""

LENGTHS = "length/"
"""Begins the names of mean lengths of episodes, one an ending."""

Floats = NDArray[np.float64]
_SUCCESS = ("info/is_success_mean", "info/success_mean")


def term_bars(series: Mapping[str, Points], letters: Sequence[tuple[str, str]]) -> Bars | None:
    """Return what each reward term gave; nothing before an episode has ended.

    Args:
        series: Metrics of the run by name.
        letters: Name and letter of each term, in order.
    """
    rows, weights = [], None
    for name, letter in letters:
        total, mean, spread = (series.get(f"reward/{name}_{what}") for what in ("sum", "mean", "std"))
        if total is None or not len(total.values):
            continue
        weights = _weights(total)
        rows.append((name, letter, _mean(total, weights), _mean(mean, weights), _mean(spread, weights), total.values))
    if not rows or weights is None:
        return None
    whole = sum(row[2] for row in rows)
    sizes = sum(abs(row[2]) for row in rows)
    # Terms that cancel out are no shares of the little that is left.
    has_shares = abs(whole) > 0.05 * sizes
    bars = tuple(
        Bar(
            letter,
            name,
            total / abs(whole) if has_shares else None,
            place if place < SERIES_COUNT else None,
            (_signed(mean, spread), _signed(total)),
            trend,
        )
        for place, (name, letter, total, mean, spread, trend) in enumerate(rows)
    )
    said = f"return {formatting.number(whole)}, the last {_episodes(weights)}"
    return Bars(("a step", "an episode"), bars, said if has_shares else f"{said}: no shares, terms cancel out")


def ending_bars(series: Mapping[str, Points], letters: Sequence[tuple[str, str]]) -> Bars | None:
    """Return how episodes ended; nothing before one has.

    Args:
        series: Metrics of the run by name.
        letters: Metric and letter of each ending, in order.
    """
    known = [(name, letter, series[name]) for name, letter in letters if name in series and len(series[name].values)]
    if not known:
        return None
    counts = [float(np.nansum(_last(points)[0])) for _, _, points in known]
    whole = sum(counts)
    lengths = [_mean_length(series, name) for name, _, _ in known]
    told_lengths = any(text for text in lengths)
    heads = ("kind", "episodes", *(("mean length",) if told_lengths else ()))
    bars = tuple(
        Bar(
            letter,
            name.split("/", 1)[1],
            count / whole if whole else None,
            place if place < SERIES_COUNT else None,
            (name.split("/", 1)[0], formatting.digits(count), *((lengths[place],) if told_lengths else ())),
        )
        for place, ((name, letter, _), count) in enumerate(zip(known, counts, strict=True))
    )
    success = next((series[name] for name in _SUCCESS if name in series), None)
    told = (
        "not defined by this environment" if success is None else formatting.percent(_mean(success, _weights(success)))
    )
    return Bars(heads, bars, f"the last {formatting.plural(round(whole), 'episode')}   success {told}")


def _mean_length(series: Mapping[str, Points], name: str) -> str:
    """Return how long the newest episodes with an ending were, each row as often as it ended so; empty if unknown."""
    counts, lengths = series[name], series.get(LENGTHS + name.split("/", 1)[1])
    if lengths is None or not len(lengths.values):
        return ""
    newest, _ = _last(counts)
    steps = counts.steps[len(counts.steps) - len(newest) :]
    # A row without such an ending tells no length of one.
    places = np.searchsorted(lengths.steps, steps)
    there = places < len(lengths.steps)
    there[there] = lengths.steps[places[there]] == steps[there]
    weights = np.nan_to_num(newest[there])
    values = lengths.values[places[there]]
    good = np.isfinite(values) & (weights > 0)
    return formatting.number(float(np.average(values[good], weights=weights[good]))) if good.any() else ""


def _last(points: Points) -> tuple[Floats, Floats]:
    """The newest values that cover enough episodes, and how many episodes each of them is of."""
    if not len(points.values):
        return points.values, points.values
    each = np.diff(points.episodes, prepend=0.0)
    if not np.all(np.isfinite(each)):
        each = np.ones(len(points.values))
    each = np.maximum(each, 0.0)
    covered = np.cumsum(each[::-1])[::-1]
    first = int(np.flatnonzero(covered >= EPISODES)[-1]) if covered[0] >= EPISODES else 0
    return points.values[first:], each[first:]


def _weights(points: Points) -> Floats:
    return _last(points)[1]


def _mean(points: Points | None, weights: Floats) -> float:
    """The mean of the newest values, by episodes; NaN where none is known."""
    if points is None or not len(points.values):
        return float("nan")
    count = min(len(weights), len(points.values))
    values, weights = points.values[-count:], weights[-count:]
    good = np.isfinite(values)
    weights = np.where(good, weights, 0.0)
    if not weights.sum() > 0:
        return float(values[good][-1]) if good.any() else float("nan")
    return float(np.average(np.where(good, values, 0.0), weights=weights))


def _episodes(weights: Floats) -> str:
    return formatting.plural(round(float(weights.sum())), "episode")


def _signed(value: float, spread: float | None = None) -> str:
    text = formatting.number(value)
    text = f"+{text}" if value > 0 else text
    return text if spread is None or not np.isfinite(spread) else f"{text} ± {formatting.number(spread)}"
