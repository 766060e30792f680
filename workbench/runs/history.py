"""A run's event stream, folded: what a chart, a list of checkpoints and a log of events are drawn from.

Folding follows a resumed run: from the step it went on, what had been written beyond is dropped and comes again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.runs.directory import RunDirectory
from workbench.runs.events import Event, EventTail
from workbench.runs.lineage import Parent
from workbench.runs.requests import Answer
from workbench.runs.series import Series


@dataclass(frozen=True)
class Evaluation:
    """A checkpoint scored greedily."""

    steps: int
    mean_return: float | None
    std_return: float | None
    mean_length: float | None = None
    returns: tuple[float | None, ...] = ()
    endings: Mapping[str, int] = field(default_factory=dict)
    """How many episodes ended for each reason."""
    checkpoint: str = ""
    time: float = 0.0
    lower_bound: float | None = None
    """The lower end of the 95 % confidence interval of the mean return."""
    taken: int = 0
    """The step at which the run took the scores in, no earlier than `steps`."""

    @property
    def score(self) -> float | None:
        """What the best checkpoint has most of: the lower bound, so that luck counts for less, else the mean."""
        return self.mean_return if self.lower_bound is None else self.lower_bound


@dataclass(frozen=True)
class CheckpointWritten:
    """A checkpoint the child sealed."""

    steps: int
    path: str
    iteration: int | None = None
    time: float = 0.0


@dataclass(frozen=True)
class StateChange:
    """A state the child entered."""

    state: str
    reason: str = ""
    steps: int = 0
    time: float = 0.0


_NUMBERS = frozenset({int, float})


class History:
    """Everything a run's stream tells, taken in as it grows.

    Args:
        run: The run; its stream need not exist yet.
    """

    def __init__(self, run: RunDirectory) -> None:
        self.run = run
        self._tail = EventTail(run.events_path)
        self._restarts = 0
        self._clear()

    def _clear(self) -> None:
        self.series: dict[str, Series] = {}
        """Metrics by name."""
        self.evaluations: list[Evaluation] = []
        """Oldest first."""
        self.scores: list[Evaluation] = []
        """What checkpoints were scored with besides, on request or to settle the best, oldest first."""
        self.settled = ""
        """The name of the best checkpoint once scores on new episodes have settled it; empty until then."""
        self.checkpoints: list[CheckpointWritten] = []
        """Oldest first; those thrown away since are still here."""
        self.states: list[StateChange] = []
        """Oldest first."""
        self.answers: dict[str, Answer] = {}
        """Answered requests by id."""
        self.anomalies: list[Event] = []
        """Oldest first."""
        self.resumes: list[int] = []
        """The steps from which the run went on."""
        self.marks: list[Event] = []
        """Events other than metrics and episodes, for a list of what happened, oldest first."""
        self.parent = Parent.of_record(self.run.record())
        """The checkpoint it started from; None for a run that started untrained."""
        self.steps = 0 if self.parent is None else self.parent.steps
        """Steps done, as of the newest event, the parent's included."""
        self.iteration = 0 if self.parent is None else self.parent.iteration
        self.wall_s = 0.0
        self.episodes = 0

    @property
    def skipped_lines(self) -> int:
        """Lines of the stream that were no events."""
        return self._tail.skipped

    @property
    def size_bytes(self) -> int:
        """About how much memory its points take."""
        return sum(series.size_bytes for series in self.series.values())

    @property
    def best_evaluation(self) -> Evaluation | None:
        """What the run claims of its best checkpoint: of the settled one, else the highest; the earliest of equals."""
        settled = [item for item in self.evaluations if item.checkpoint == self.settled != ""]
        if settled:
            return settled[-1]
        scored = [item for item in self.evaluations if item.score is not None]
        return max(scored, key=lambda item: item.score or 0.0, default=None)

    @property
    def pauses(self) -> list[tuple[float, float | None]]:
        """When the run was paused, as unix seconds from and to; to is None while it lasts."""
        found: list[tuple[float, float | None]] = []
        for change in self.states:
            if found and found[-1][1] is None:
                found[-1] = (found[-1][0], change.time)
            if change.state == "paused":
                found.append((change.time, None))
        return found

    def refresh(self, max_bytes: int | None = None) -> bool:
        """Take in what was written since the last call and return whether anything changed.

        Args:
            max_bytes: Take about this much at most; call again while it returns true.
        """
        events = self._tail.poll(max_bytes)
        changed = bool(events)
        if self._tail.restarts != self._restarts:
            self._restarts = self._tail.restarts
            self._clear()
            changed = True
        for is_rows, together in groupby(events, lambda event: event["kind"] == "metrics"):
            if is_rows:
                self._fold_rows(list(together))
                continue
            for event in together:
                self._fold(event)
        return changed

    @property
    def share(self) -> float:
        """How much of the stream was taken in, 0 to 1."""
        return self._tail.share

    def _fold(self, event: Event) -> None:
        kind = event["kind"]
        steps = _whole(event.get("steps"))
        time = _number(event.get("time")) or 0.0
        if kind == "resumed":
            self._drop_after(_whole(event.get("from_steps", event.get("steps"))))
            self._fold_counters(event)
        else:
            self.steps = max(self.steps, steps)
        if kind != "episode":
            self.marks.append(event)
        match kind:
            case "evaluation":
                self.evaluations.append(_evaluation(event, steps, time))
            case "scores" if "failure" not in event:
                self.scores.append(_evaluation(event, _whole(event.get("of_steps", steps)), time))
            case "best" if "failure" not in event:
                self.settled = str(event.get("checkpoint") or "")
            case "checkpoint":
                path, iteration = str(event.get("path", "")), event.get("iteration")
                self.checkpoints.append(CheckpointWritten(steps, path, iteration, time))
            case "state":
                change = StateChange(str(event.get("state", "")), str(event.get("reason") or ""), steps, time)
                self.states.append(change)
            case "request":
                self.answers[str(event.get("id"))] = Answer(bool(event.get("ok")), str(event.get("reason") or ""))
            case "anomaly":
                self.anomalies.append(event)

    def _fold_rows(self, events: Sequence[Event]) -> None:
        """Take in metrics that follow one another, a column at a time: a million rows one by one take half a minute."""
        places = [_whole(event.get("steps")) for event in events]
        self.steps = max(self.steps, *places)
        steps = np.array(places, dtype=np.float64)
        wall_s, episodes = (_floats([event.get(name) for event in events]) for name in ("wall_s", "episodes"))
        self.wall_s = _newest(wall_s, self.wall_s)
        self.episodes = int(_newest(episodes, self.episodes))
        told = next((event["iteration"] for event in reversed(events) if "iteration" in event), self.iteration)
        self.iteration = _whole(told)
        rows = [event.get("values") for event in events]
        columns: dict[str, list[Any]] = {}
        for values in rows:
            for name, value in values.items() if isinstance(values, dict) else ():
                if name in columns:
                    columns[name].append(value)
                else:
                    columns[name] = [value]
        for name, found in columns.items():
            at: slice | list[int] = slice(None)
            if len(found) < len(events):
                at = [place for place, values in enumerate(rows) if isinstance(values, dict) and name in values]
            series = self.series.setdefault(name, Series())
            series.extend(_floats(found), steps=steps[at], wall_s=wall_s[at], episodes=episodes[at])

    def _fold_counters(self, event: Event) -> tuple[float | None, float | None]:
        wall_s, episodes = _number(event.get("wall_s")), _number(event.get("episodes"))
        self.wall_s = self.wall_s if wall_s is None else wall_s
        self.episodes = self.episodes if episodes is None else int(episodes)
        self.iteration = _whole(event.get("iteration", self.iteration))
        return wall_s, episodes

    def _drop_after(self, steps: int) -> None:
        self.resumes.append(steps)
        self.steps = steps
        self.settled = ""
        for name, series in list(self.series.items()):
            series.drop_after(steps)
            if not len(series):
                del self.series[name]
        # Scores that were taken in later will be taken in again.
        self.evaluations = [item for item in self.evaluations if item.taken <= steps]
        self.checkpoints = [item for item in self.checkpoints if item.steps <= steps]
        self.scores = [item for item in self.scores if item.steps <= steps]


def _evaluation(event: Event, steps: int, time: float) -> Evaluation:
    returns, endings = event.get("returns"), event.get("endings")
    return Evaluation(
        steps,
        _number(event.get("mean_return")),
        _number(event.get("std_return")),
        _number(event.get("mean_length")),
        tuple(_number(item) for item in returns) if isinstance(returns, list) else (),
        endings if isinstance(endings, dict) else {},
        str(event.get("checkpoint") or ""),
        time,
        _number(event.get("lower_bound")),
        _whole(event.get("taken", steps)),
    )


def _floats(found: list[Any]) -> NDArray[np.float64]:
    """Return numbers, `(n,)`; NaN for what is none."""
    # Numbers as nearly all of them are need no look at each.
    numbers = found if _NUMBERS.issuperset(map(type, found)) else [_number(value) for value in found]
    return np.array(numbers, dtype=np.float64)


def _newest(values: NDArray[np.float64], before: float) -> float:
    """Return the newest value that is there; `before` without any."""
    known = values[np.isfinite(values)]
    return float(known[-1]) if len(known) else before


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(value: Any) -> int:
    return int(value) if isinstance(value, int | float) else 0
