"""Which charts a run has, and what is in them: from its past to the data of each chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench import formatting
from workbench.ui.charts.model import ChartData, Curve, Flag, Ladder, Point, Reference
from workbench.ui.charts.overlay import Identity
from workbench.ui.past import CheckpointRow, Past, Points
from workbench.ui.theme import SERIES_COUNT
from workbench.ui.watch import RunRow

RETURN = "rollout/ep_rew_mean"
LENGTH = "rollout/ep_len_mean"
EVALUATION = "eval/mean_return"
READING = "Reading the curves…"
SECTIONS = ("Return", "Terms", "Endings", "Losses", "System")

_FLAGS = {"anomaly": "!", "resumed": "R", "set": "C"}
NO_PAST = Past(())
"""Of a run whose history has not been read yet."""


@dataclass(frozen=True)
class Spec:
    """What a chart needs to know of what the run was asked to do."""

    goal: float | None = None
    """The return at which training stops."""
    learning_starts: int | None = None
    episode_steps: int | None = None

    @classmethod
    def of(cls, record: Mapping[str, Any], episode_steps: int | None = None) -> Spec:
        """Read a `run.json`, whatever is in it."""
        spec = _mapping(record.get("spec"))
        criteria = _mapping(spec.get("stop_criteria"))
        goal = criteria.get("episode_return_mean") or criteria.get("evaluation_return_mean")
        block = _mapping(spec.get(str(spec.get("algorithm"))))
        starts = block.get("learning_starts")
        return cls(
            float(goal) if isinstance(goal, int | float) else None,
            starts if isinstance(starts, int) else None,
            episode_steps,
        )


def curve_of(
    key: str,
    label: str,
    points: Points | None,
    identity: Identity,
    *,
    bold: bool = False,
    budget: float | None = None,
    reached: float = 0.0,
) -> Curve:
    """Return one metric as a curve; a metric that is not there is a curve without points."""
    nothing = np.empty(0)
    return Curve(
        key,
        label,
        nothing if points is None else points.steps,
        nothing if points is None else points.wall_s,
        nothing if points is None else points.episodes,
        nothing if points is None else points.values,
        identity.letter,
        identity.slot,
        bold,
        budget,
        reached,
    )


def overlay_chart(
    rows: Sequence[RunRow],
    pasts: Mapping[Any, Past],
    identities: Mapping[str, Identity],
    current: RunRow | None,
    spec: Spec,
) -> ChartData:
    """Return the returns of several runs in one chart, the one under the cursor in front."""
    curves, environments = [], []
    for row in rows:
        past = pasts.get(row.path, NO_PAST)
        curves.append(
            curve_of(
                str(row.path),
                row.title,
                past.series.get(RETURN),
                identities[row.name],
                bold=current is not None and row.path == current.path,
                budget=float(row.total_steps) if row.state.is_live else None,
                reached=float(row.steps) if row.state.is_live else 0.0,
            )
        )
        environments.append(row.env_id or row.env_name)
    several = len(set(environments)) > 1
    muted = sum(identity.slot is None for identity in identities.values())
    notes = ["returns are not comparable"] if several else []
    notes += [f"+{muted} in grey"] if muted else []
    why = empty_return(spec, rows) if any(row.path in pasts for row in rows) else READING
    points = _evaluations(pasts[current.path]) if current is not None and current.path in pasts else ()
    if points and not any(len(curve.values) for curve in curves):
        notes.append(why)
    return ChartData(
        RETURN,
        "return",
        tuple(curves),
        () if several or spec.goal is None else (Reference(spec.goal, "goal"),),
        points=points,
        checkpoints=_written(pasts[current.path], current) if current is not None and current.path in pasts else (),
        note=" · ".join(notes),
        empty=why,
    )


def empty_return(spec: Spec, rows: Sequence[RunRow]) -> str:
    """Return why there is no return to draw."""
    if rows and all(row.state == "queued" for row in rows):
        return "Queued: the curve begins when a core is free."
    if rows and all(row.state.is_ended for row in rows):
        return "No episode ended in this run."
    each = "" if spec.episode_steps is None else f" ({formatting.digits(spec.episode_steps)} steps each)"
    return f"Waiting for the first episode to end{each}."


class RunCharts:
    """The charts of one run, in sections.

    Args:
        row: The run as the list has it.
        past: What it has done.
        checkpoints: What is on disk.
        spec: What it was asked to do.
    """

    def __init__(self, row: RunRow | None, past: Past, checkpoints: Sequence[CheckpointRow], spec: Spec) -> None:
        self._row = row
        self._past = past
        self._spec = spec
        self._ladder = tuple(Ladder(item.steps, item.sign) for item in checkpoints)
        self._flags = tuple(
            Flag(float(mark.get("steps") or 0), _FLAGS[str(mark.get("kind"))])
            for mark in past.marks
            if str(mark.get("kind")) in _FLAGS
        )
        live = row is not None and row.state.is_live
        self._budget = float(row.total_steps) if row is not None and live else None
        self._reached = float(row.steps) if row is not None and live else 0.0

    def section(self, name: str) -> list[ChartData]:
        """Return the charts of a section; at least one, which may say why it is empty."""
        makers: dict[str, Callable[[], list[ChartData]]] = {
            "Return": self._returns,
            "Terms": self._terms,
            "Endings": self._endings,
            "Losses": self._losses,
            "System": self._system,
        }
        return makers[name]()

    def _returns(self) -> list[ChartData]:
        points = _evaluations(self._past)
        goal = () if self._spec.goal is None else (Reference(self._spec.goal, "goal"),)
        why = empty_return(self._spec, [] if self._row is None else [self._row])
        first = self._single(RETURN, "return · • evaluation" if points else "return", why)
        first = replace(
            first, references=goal, points=points, note="" if len(first.curves[0].values) or not points else why
        )
        return [first, self._single(LENGTH, "length", why)]

    def _terms(self) -> list[ChartData]:
        names = [name for name in self._past.series if name.startswith("reward/") and name.endswith("_sum")]
        if not names:
            names = [name for name in self._past.series if name.startswith("reward/") and name.endswith("_mean")]
        names.sort()
        why = "Waiting for the first episode to end, or the environment names no reward terms."
        series = {name: self._past.series[name] for name in names}
        together = self._several("reward terms", "reward terms, an episode", series, _term_name, why)
        return [together, *(self._single(name, _term_name(name), why) for name in names[1:] and names)]

    def _endings(self) -> list[ChartData]:
        found = {
            name: points
            for name, points in sorted(self._past.series.items())
            if name.startswith(("terminated/", "truncated/"))
        }
        why = "Waiting for the first episode to end."
        return [
            self._several("endings", "endings, % of episodes", shares(found), lambda name: name.split("/", 1)[1], why)
        ]

    def _losses(self) -> list[ChartData]:
        names = sorted(name for name in self._past.series if name.startswith("train/"))
        starts = self._spec.learning_starts
        why = "Losses come with the first update."
        if starts:
            why = f"Losses start after learning_starts, {formatting.digits(starts)} steps."
        return [self._single(name, name, why) for name in names] or [self._single("train/loss", "losses", why)]

    def _system(self) -> list[ChartData]:
        shown = {RETURN, LENGTH, EVALUATION}
        prefixes = ("reward/", "terminated/", "truncated/", "train/")
        names = [name for name in self._past.series if name not in shown and not name.startswith(prefixes)]
        first = [name for name in names if name.startswith(("time/", "timings/"))]
        names = sorted(first) + sorted(set(names) - set(first))
        why = "Speed is told from the first iteration on."
        return [self._single(name, name, why) for name in names] or [self._single("time/fps", "time/fps", why)]

    def _single(self, name: str, title: str, why: str) -> ChartData:
        curve = curve_of(
            name,
            title,
            self._past.series.get(name),
            Identity(0, ""),
            bold=True,
            budget=self._budget,
            reached=self._reached,
        )
        return ChartData(name, title, (curve,), checkpoints=self._ladder, flags=self._flags, empty=why)

    def _several(
        self, metric: str, title: str, series: Mapping[str, Points], label: Callable[[str], str], why: str
    ) -> ChartData:
        letters = distinct_letters([label(name) for name in series])
        curves = tuple(
            curve_of(
                name,
                label(name),
                points,
                Identity(place if place < SERIES_COUNT else None, letter),
                budget=self._budget,
                reached=self._reached,
            )
            for place, ((name, points), letter) in enumerate(zip(series.items(), letters, strict=True))
        )
        return ChartData(metric, title, curves, checkpoints=self._ladder, flags=self._flags, legend=True, empty=why)


def _written(past: Past, row: RunRow) -> tuple[Ladder, ...]:
    """The checkpoints a run told of; those thrown away since are among them."""
    best = None if row.best is None else row.best.steps
    steps = sorted({int(mark["steps"]) for mark in past.marks if mark.get("kind") == "checkpoint"})
    return tuple(Ladder(count, "◆" if count == best else "◇") for count in steps)


def _evaluations(past: Past) -> tuple[Point, ...]:
    return tuple(
        Point(float(item.steps), item.mean_return, item.std_return or 0.0)
        for item in past.evaluations
        if item.mean_return is not None
    )


def shares(counts: Mapping[str, Points]) -> dict[str, Points]:
    """Return each count as percent of the episodes that ended together with it; a gap where none did."""
    totals: dict[float, float] = {}
    for points in counts.values():
        for steps, value in zip(points.steps.tolist(), np.nan_to_num(points.values).tolist(), strict=True):
            totals[steps] = totals.get(steps, 0.0) + value
    found = {}
    for name, points in counts.items():
        total = np.array([totals[steps] or np.nan for steps in points.steps.tolist()])
        found[name] = replace(points, values=100 * points.values / total)
    return found


def distinct_letters(names: Sequence[str]) -> list[str]:
    """Return a letter for each name: its first one that is free, else the next free of the alphabet."""
    chosen: list[str] = []
    for name in names:
        wanted = [*name.lower(), *"abcdefghijklmnopqrstuvwxyz0123456789"]
        chosen.append(next((sign for sign in wanted if sign.isalnum() and sign not in chosen), "·"))
    return chosen


def _term_name(name: str) -> str:
    return name.removeprefix("reward/").removesuffix("_sum").removesuffix("_mean")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
