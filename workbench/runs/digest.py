"""What a list shows of a run's event stream, kept up to date at the cost of what is new.

A list of many runs is refreshed twice a second, so unlike `History` a digest holds a bounded amount whatever the
length of the run: counters, a recent window, a thinned trend. It loads no arrays.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from workbench.durable import parse_json
from workbench.runs import film_events
from workbench.runs.changes import joined
from workbench.runs.directory import RunDirectory
from workbench.runs.events import Event, EventTail, split_lines

RETURN_METRIC = "rollout/ep_rew_mean"
EVALUATION_METRIC = "eval/mean_return"
SMOOTHING = 0.9
"""How much of the mean so far the smoothed return keeps at each point."""
WINDOW_S = 60.0
"""Speed is measured over this much of the newest past, never since the start."""
TREND_POINTS = 64

OF_OTHERS = ("request", "scores", "best", film_events.KIND)
"""Events that another process may write when a run has ended: they are no sign that it lived."""

_METRICS_LINE = b'{"kind":"metrics"'
_BACKLOG = 4 * TREND_POINTS
_SMOOTHED = 160
"""Metrics of a backlog that all count in the smoothed return: what came before weighs 0.9 ** 160 in it, nothing."""
_RETURN_IN_LINE = re.compile(rb'"rollout/ep_rew_mean":([^,}]+)')
_STEPS_IN_LINE = re.compile(rb'"steps":(\d+)')
_READ_BYTES = 2**20
"""Read at once: what runs beside has the interpreter again after some milliseconds."""
_GLIMPSE_BYTES, _GLIMPSED = 2**14, 8
"""How much of the end of a stream is looked at, and how many events in it, where there is no time for the rest."""


@dataclass(frozen=True)
class BestEvaluation:
    """The evaluation with the highest score so far; see `Evaluation.score`."""

    mean_return: float
    std_return: float | None
    steps: int
    score: float
    taken: int
    """The step at which the run took the scores in."""
    claimed_return: float | None = None
    """What the run claimed of it, where these are scores on new episodes, which settled that it is the best."""


class Digest:
    """A bounded fold of one run's events.

    Args:
        run: The run; its stream need not exist yet.
        give_way: Called between the parts of a long stream.
    """

    def __init__(self, run: RunDirectory, *, give_way: Callable[[], None] = lambda: None) -> None:
        self._give_way = give_way
        self._tail = EventTail(run.events_path)
        self._restarts = 0
        self._is_glimpse = False
        self._clear()

    @property
    def unread(self) -> int:
        """How many bytes of the stream `refresh` would read."""
        return self._tail.unread

    def glimpse(self) -> None:
        """Take in the end of a stream of which nothing was read yet; `refresh` then begins at its beginning.

        What counts over the whole run, its best evaluation, its anomalies and its course, is not known by that.
        """
        if self._is_glimpse or self._tail.has_begun:
            return
        self._is_glimpse = True
        for line in self._tail.end(_GLIMPSE_BYTES)[-_GLIMPSED:]:
            event = parse_json(line)
            if isinstance(event, dict) and isinstance(event.get("kind"), str):
                self._fold(event)
        self.first_time = 0.0

    def _clear(self) -> None:
        self.steps = 0
        self.iteration = 0
        self.wall_s = 0.0
        self.episodes = 0
        self.last_return: float | None = None
        """Mean return of the last 100 whole episodes, as of the newest metrics."""
        self._smoothed = _Smoothed()
        self._metrics: dict[str, tuple[int, float]] = {}
        self.anomalies = 0
        self.warning = ""
        """What a person would want to know and nothing ends for: that no checkpoint is filmed; empty without such."""
        self.changes: dict[str, Any] = {}
        """Fields of the spec, and weights of reward terms, that have other values since, by dotted key."""
        self.last_time = 0.0
        """When the newest event was written, unix seconds."""
        self.first_time = 0.0
        """When the first event was written, unix seconds; 0 while there is none."""
        self._window: deque[tuple[float, int, int]] = deque()
        self._trend: list[tuple[int, float]] = []
        self._trend_stride = 1
        self._trend_skipped = 0
        self._evaluations: list[BestEvaluation] = []

    @property
    def best(self) -> BestEvaluation | None:
        """The best evaluation so far."""
        return self._evaluations[-1] if self._evaluations else None

    @property
    def smoothed_return(self) -> float | None:
        """The return under a debiased exponential mean; None where there is none, or the newest was not finite."""
        return self._smoothed.value

    @property
    def metrics(self) -> dict[str, float]:
        """The newest finite value of each metric, by name."""
        return {name: value for name, (_, value) in self._metrics.items()}

    @property
    def trend(self) -> tuple[float, ...]:
        """The return over the run, thinned to at most `TREND_POINTS` values."""
        return tuple(value for _, value in self._trend)

    @property
    def window_s(self) -> float:
        """How much time the recent window spans."""
        return self._window[-1][0] - self._window[0][0] if self._window else 0.0

    @property
    def steps_per_s(self) -> float | None:
        """Steps a second over the recent window."""
        return self._rate(1)

    @property
    def iterations_per_s(self) -> float | None:
        """Iterations a second over the recent window."""
        return self._rate(2)

    def refresh(self) -> bool:
        """Take in what was written since the last call and return whether anything changed."""
        changed = False
        if self._is_glimpse:
            self._is_glimpse = False
            self._clear()
        while block := self._tail.block(_READ_BYTES):
            changed = True
            if self._tail.restarts != self._restarts:
                self._restarts = self._tail.restarts
                self._clear()
            is_end = len(block) < _READ_BYTES // 2 or self._tail.unread < _READ_BYTES
            for line, is_whole in _thinned(block, is_end=is_end):
                if not is_whole:
                    self._smooth(line)
                    continue
                event = self._tail.parse(line)
                if event is not None:
                    self._fold(event)
            self._give_way()
        return changed

    def _smooth(self, line: bytes) -> None:
        """Take in the return of a line and nothing else, without reading all of it."""
        told, steps = _RETURN_IN_LINE.search(line), _STEPS_IN_LINE.search(line)
        if told is not None and steps is not None:
            value = parse_json(told[1])
            self._smoothed.add(int(steps[1]), float(value) if isinstance(value, int | float) else None)

    def _fold(self, event: Event) -> None:
        time = event.get("time")
        if isinstance(time, int | float) and event["kind"] not in OF_OTHERS:
            self.last_time = float(time)
            self.first_time = self.first_time or self.last_time
        steps = event.get("steps")
        steps = int(steps) if isinstance(steps, int | float) else self.steps
        match event["kind"]:
            case "metrics":
                self.steps = steps
                self._fold_metrics(event, steps)
            case "evaluation":
                self._fold_evaluation(event, steps)
            case "best":
                self._fold_best(event)
            case film_events.KIND if film_events.keeps_all(event):
                self.warning = film_events.failure_in_words(event)
            case "resumed":
                # Another process may find what that one lacked.
                self.warning = self.warning if event.get("because") else ""
                self._drop_after(event.get("from_steps", steps))
            case "anomaly":
                self.anomalies += 1
            case "set":
                values = event.get("values")
                self.changes = joined(self.changes, values if isinstance(values, dict) else {})
            case "state":
                # Before and after a pause or a new start are not one stretch of work.
                self._window.clear()
                self.steps = max(self.steps, steps)

    def _fold_metrics(self, event: Event, steps: int) -> None:
        self.iteration = _whole(event.get("iteration"), self.iteration)
        self.episodes = _whole(event.get("episodes"), self.episodes)
        wall_s = event.get("wall_s")
        self.wall_s = float(wall_s) if isinstance(wall_s, int | float) else self.wall_s
        # The clock of the machine may be set; what the trainer counts only goes on.
        moment = self.wall_s if isinstance(wall_s, int | float) else self.last_time
        if self._window and moment < self._window[-1][0]:
            self._window.clear()
        self._window.append((moment, steps, self.iteration))
        while len(self._window) > 2 and self._window[0][0] < moment - WINDOW_S:
            self._window.popleft()
        values = event.get("values")
        values = values if isinstance(values, dict) else {}
        self._metrics |= {
            name: (steps, float(value)) for name, value in values.items() if isinstance(value, int | float)
        }
        if RETURN_METRIC not in values:
            return
        value = values[RETURN_METRIC]
        value = float(value) if isinstance(value, int | float) else None
        self._smoothed.add(steps, value)
        if value is not None:
            self.last_return = value
            self._add_to_trend(steps, value)

    def _add_to_trend(self, steps: int, value: float) -> None:
        self._trend_skipped += 1
        if self._trend_skipped < self._trend_stride:
            return
        self._trend_skipped = 0
        self._trend.append((steps, value))
        if len(self._trend) > TREND_POINTS:
            del self._trend[1::2]
            self._trend_stride *= 2

    def _fold_evaluation(self, event: Event, steps: int) -> None:
        mean, std = event.get("mean_return"), event.get("std_return")
        if not isinstance(mean, int | float):
            return
        self._metrics[EVALUATION_METRIC] = (steps, float(mean))
        bound = event.get("lower_bound")
        score = float(bound if isinstance(bound, int | float) else mean)
        if not self._evaluations or score > self._evaluations[-1].score:
            # Those that were best once are kept: a run resumed from before the best one needs them again.
            self._evaluations.append(
                BestEvaluation(
                    float(mean),
                    float(std) if isinstance(std, int | float) else None,
                    steps,
                    score,
                    _whole(event.get("taken"), steps),
                )
            )

    def _fold_best(self, event: Event) -> None:
        mean, std, bound = (event.get(name) for name in ("mean_return", "std_return", "lower_bound"))
        claimed = event.get("claimed")
        if isinstance(mean, int | float):
            self._evaluations.append(
                BestEvaluation(
                    float(mean),
                    float(std) if isinstance(std, int | float) else None,
                    _whole(event.get("of_steps"), 0),
                    float(bound if isinstance(bound, int | float) else mean),
                    self.steps,
                    float(claimed if isinstance(claimed, int | float) else mean),
                )
            )

    def _drop_after(self, steps: Any) -> None:
        self.steps = _whole(steps, 0)
        self._window.clear()
        self._trend = [point for point in self._trend if point[0] <= self.steps]
        # A run that goes on goes by claims again.
        claims = (item for item in self._evaluations if item.claimed_return is None)
        self._evaluations = [item for item in claims if item.taken <= self.steps]
        self.last_return = self._trend[-1][1] if self._trend else None
        self._smoothed.drop_after(self.steps, self._trend)
        self._metrics = {name: point for name, point in self._metrics.items() if point[0] <= self.steps}

    def _rate(self, column: int) -> float | None:
        if len(self._window) < 2 or self.window_s <= 0:
            return None
        return float(self._window[-1][column] - self._window[0][column]) / self.window_s


class _Smoothed:
    """The exponential mean of the return, with the bias towards zero of its first points divided out.

    A point that is not finite is a gap: the mean starts anew behind it. What it was at the newest points is kept, so
    that it goes back exactly to where a run was resumed from, unless that lies very far back.
    """

    def __init__(self) -> None:
        self._points: deque[tuple[int, float, float]] = deque(maxlen=_SMOOTHED)
        """Steps, the mean with its bias, and the share of it that is bias."""

    @property
    def value(self) -> float | None:
        if not self._points:
            return None
        _, mean, bias = self._points[-1]
        return mean / (1.0 - bias) if bias < 1.0 else None

    def add(self, steps: int, value: float | None) -> None:
        _, mean, bias = self._points[-1] if self._points else (0, 0.0, 1.0)
        if value is None:
            self._points.append((steps, 0.0, 1.0))
        else:
            self._points.append((steps, SMOOTHING * mean + (1.0 - SMOOTHING) * value, SMOOTHING * bias))

    def drop_after(self, steps: int, trend: list[tuple[int, float]]) -> None:
        """Go back to some steps; where that is beyond what is kept, from the thinned trend."""
        while self._points and self._points[-1][0] > steps:
            self._points.pop()
        if not self._points:
            for at, value in trend:
                self.add(at, value)


def _thinned(block: bytes, *, is_end: bool) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines of a long backlog that a digest can tell apart: parsing all the rest would show nothing more.

    Args:
        block: Whole lines.
        is_end: Whether the newest past is among them, which counts line by line.

    Yields:
        A line, and whether all of it counts; of the others only the return does.
    """
    metrics = block.count(b"\n" + _METRICS_LINE) + block.startswith(_METRICS_LINE)
    if metrics <= _BACKLOG:
        yield from ((line, True) for line in split_lines(block))
    elif metrics == block.count(b"\n"):
        yield from _thinned_metrics(block, is_end=is_end)
    else:
        lines = split_lines(block)
        places = [place for place, line in enumerate(lines) if line.startswith(_METRICS_LINE)]
        whole = set(range(len(lines))).difference(places)
        whole.update(places[: -TREND_POINTS if is_end else None : len(places) // TREND_POINTS])
        newest: list[int] = []
        if is_end:
            whole.update(places[-TREND_POINTS:])
            newest = places[-_SMOOTHED:]
        for place in sorted(whole.union(newest)):
            yield lines[place], place in whole


def _thinned_metrics(block: bytes, *, is_end: bool) -> Iterator[tuple[bytes, bool]]:
    """Yield some lines of a block that holds nothing but metrics, found without cutting it into all its lines."""
    until = len(block)
    for _ in range(_SMOOTHED + 1 if is_end else 0):
        until = block.rfind(b"\n", 0, until)
    until = until + 1 if is_end else until
    place, step = 0, until // TREND_POINTS
    while place < until:
        end = block.index(b"\n", place)
        yield block[place:end], True
        place = block.find(b"\n", max(end, place + step)) + 1 or until
    if is_end:
        newest = split_lines(block[until:])
        yield from ((line, index >= len(newest) - TREND_POINTS) for index, line in enumerate(newest))


def _whole(value: Any, default: int) -> int:
    return int(value) if isinstance(value, int | float) else default
