"""Which charts a run has, and what is in them: from its past to the data of each chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np

from workbench import formatting
from workbench.runs.lineage import Parent
from workbench.runs.statistics import SeedBand
from workbench.ui.chart_sections import SECTIONS, SectionedCharts
from workbench.ui.charts.model import ChartData, Curve, Group, Ladder, Reference
from workbench.ui.charts.overlay import Identity
from workbench.ui.past import CheckpointRow, Past, Points
from workbench.ui.published_lines import published_reference
from workbench.ui.run_bars import LENGTHS, ending_bars, term_bars
from workbench.ui.run_marks import evaluations_of, flags_of, ladder_of, shares
from workbench.ui.theme import SERIES_COUNT
from workbench.ui.watch import RunRow

RETURN = "rollout/ep_rew_mean"
LENGTH = "rollout/ep_len_mean"
EVALUATION = "eval/mean_return"
READING = "Reading the curves…"

NO_PAST = Past(())
"""Of a run whose history has not been read yet."""


@dataclass(frozen=True)
class Spec:
    """What a chart needs to know of what the run was asked to do."""

    goal: float | None = None
    """The return at which training stops."""
    learning_starts: int | None = None
    episode_steps: int | None = None
    measured: Reference | None = None
    """What its recipe reached with its algorithm."""
    published: Reference | None = None
    """What others reached with it on the same version of the task."""

    @property
    def references(self) -> tuple[Reference, ...]:
        """The lines of a chart of returns."""
        goal = None if self.goal is None else Reference(self.goal, "goal")
        return tuple(line for line in (goal, self.measured, self.published) if line is not None)

    @classmethod
    def of(
        cls, record: Mapping[str, Any], episode_steps: int | None = None, measured: Mapping[str, Any] | None = None
    ) -> Spec:
        """Read a `run.json`, whatever is in it.

        Args:
            record: The file's content.
            episode_steps: How long an episode may be.
            measured: The `reference` of the environment's recipe.
        """
        spec = _mapping(record.get("spec"))
        criteria = _mapping(spec.get("stop_criteria"))
        goal = criteria.get("episode_return_mean") or criteria.get("evaluation_return_mean")
        block = _mapping(spec.get(str(spec.get("algorithm"))))
        starts = block.get("learning_starts")
        return cls(
            float(goal) if isinstance(goal, int | float) else None,
            starts if isinstance(starts, int) else None,
            episode_steps,
            None if measured is None else measured_reference(measured, str(spec.get("algorithm"))),
            published_reference(str(spec.get("env_id")), str(spec.get("algorithm"))),
        )


def measured_reference(told: Mapping[str, Any], algorithm: str) -> Reference | None:
    """Return what a recipe's `reference` says was reached with an algorithm; nothing where it does not."""
    found = _mapping(told.get(algorithm))
    value, spread, seeds, steps = (found.get(name) for name in ("return", "std", "seeds", "steps"))
    if not _is_number(value):
        return None
    return Reference(
        float(value),
        "reference",
        float(spread) if _is_number(spread) else None,
        int(seeds) if _is_number(seeds) else None,
        float(steps) if _is_number(steps) else None,
        "recipe",
        compared=True,
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
    parent: Curve | None = None,
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
        parent,
    )


@dataclass(frozen=True, eq=False)
class SeedGroup:
    """Runs that differ in their seed only, as one entry of an overlay."""

    key: str
    """What its identity is known by."""
    label: str
    rows: tuple[RunRow, ...]
    band: SeedBand | None = None
    """What their returns say together, where it is known already."""


def group_of(
    group: SeedGroup, metric: str, pasts: Mapping[Any, Past], identity: Identity, *, bold: bool = False
) -> Group:
    """Return one metric of a group of seeds as an entry of a chart."""
    members = tuple(
        _of_row(row, metric, pasts.get(row.path, NO_PAST), Identity(identity.slot, ""), label=row.short_id)
        for row in group.rows
    )
    return Group(group.key, group.label, members, identity.letter, identity.slot, bold, group.band)


def _of_row(
    row: RunRow,
    metric: str,
    past: Past,
    identity: Identity,
    *,
    bold: bool = False,
    label: str | None = None,
    parent: Curve | None = None,
) -> Curve:
    return curve_of(
        str(row.path),
        row.title if label is None else label,
        past.series.get(metric),
        identity,
        bold=bold,
        budget=float(row.total_steps) if row.state.is_live else None,
        reached=float(row.steps) if row.state.is_live else 0.0,
        parent=parent,
    )


def parent_curve(row: RunRow, metric: str, pasts: Mapping[Any, Past]) -> Curve | None:
    """Return a metric of the run that a run was forked from; nothing where that one was not read."""
    told = Parent.of_record(pasts.get(row.path, NO_PAST).record)
    if told is None:
        return None
    past = next((past for path, past in pasts.items() if getattr(path, "name", "") == told.run), None)
    points = None if past is None else past.series.get(metric)
    return None if points is None else curve_of(told.run, told.run, points, Identity(None, ""))


def overlay_chart(
    rows: Sequence[RunRow],
    pasts: Mapping[Any, Past],
    identities: Mapping[str, Identity],
    current: RunRow | None,
    spec: Spec,
    *,
    groups: Sequence[SeedGroup] = (),
    current_group: str = "",
    playing: int | None = None,
) -> ChartData:
    """Return the returns of several runs in one chart, the one under the cursor in front.

    Args:
        rows: The runs that are drawn by themselves.
        pasts: What they, and those they were forked from, have done, by their folder.
        identities: By a run's name, and by a group's key.
        current: The run under the cursor.
        spec: What that one was asked to do.
        groups: The groups of seeds that are drawn.
        current_group: The key of the group under the cursor.
        playing: The steps of the checkpoint of the current run that the viewer plays.
    """
    curves = tuple(
        _of_row(
            row,
            RETURN,
            pasts.get(row.path, NO_PAST),
            identities[row.name],
            bold=current is not None and row.path == current.path,
            parent=parent_curve(row, RETURN, pasts),
        )
        for row in rows
    )
    entries = tuple(
        group_of(group, RETURN, pasts, identities[group.key], bold=group.key == current_group) for group in groups
    )
    everyone = [*rows, *(row for group in groups for row in group.rows)]
    several = len({row.env_id or row.env_name for row in everyone}) > 1
    shown = {row.name for row in rows} | {group.key for group in groups}
    muted = sum(identity.slot is None for key, identity in identities.items() if key in shown)
    notes = ["returns are not comparable"] if several else []
    notes += [f"+{muted} in grey"] if muted else []
    notes += [next(filter(None, (pasts.get(row.path, NO_PAST).reading for row in everyone)), "")]
    past = NO_PAST if current is None else pasts.get(current.path, NO_PAST)
    why = empty_return(spec, everyone) if any(row.path in pasts for row in everyone) else READING
    points = evaluations_of(past)
    if points and not any(
        len(curve.values) for curve in (*curves, *(each for entry in entries for each in entry.members))
    ):
        notes.append(why)
    return ChartData(
        RETURN,
        "return",
        curves,
        () if several else spec.references,
        points=points,
        checkpoints=() if current is None else ladder_of(past, current),
        flags=flags_of(past),
        note=" · ".join(filter(None, notes)),
        empty=why,
        groups=entries,
        playing=playing,
    )


def empty_return(spec: Spec, rows: Sequence[RunRow]) -> str:
    """Return why there is no return to draw."""
    if rows and all(row.state == "queued" for row in rows):
        return "Queued: the curve begins when a core is free."
    if rows and all(row.state.is_ended for row in rows):
        return "No episode ended in this run."
    each = "" if spec.episode_steps is None else f" ({formatting.digits(spec.episode_steps)} steps each)"
    return f"Waiting for the first episode to end{each}."


class RunCharts(SectionedCharts):
    """The charts of one run, in sections.

    Args:
        row: The run as the list has it.
        past: What it has done.
        checkpoints: What is on disk.
        spec: What it was asked to do.
        parent: What the run that it was forked from has done.
        playing: The steps of the checkpoint that the viewer plays.
    """

    def __init__(
        self,
        row: RunRow | None,
        past: Past,
        checkpoints: Sequence[CheckpointRow],
        spec: Spec,
        *,
        parent: Past | None = None,
        playing: int | None = None,
    ) -> None:
        self._row = row
        self._past = past
        self._spec = spec
        self._parent = parent
        self._playing = playing
        self._ladder = tuple(Ladder(item.steps, item.sign) for item in checkpoints)
        self._flags = flags_of(past)
        live = row is not None and row.state.is_live
        self._budget = float(row.total_steps) if row is not None and live else None
        self._reached = float(row.steps) if row is not None and live else 0.0

    def everything(self) -> list[ChartData]:
        """Return all charts that have something to show, in the order of pages; at least that of returns."""
        returns, length = self._returns()
        others = [chart for name in SECTIONS[1:] for chart in self.section(name)]
        drawable = [chart for chart in others if any(len(curve.values) for curve in chart.curves)]
        return [returns, length, *self._evaluation(), *drawable]

    def _evaluation(self) -> list[ChartData]:
        points = evaluations_of(self._past)
        if not points:
            return []
        curve = curve_of(EVALUATION, "evaluation", evaluation_points(self._past), Identity(0, ""), bold=True)
        return [
            ChartData(
                EVALUATION,
                "evaluation",
                (curve,),
                self._spec.references,
                points=points,
                checkpoints=self._ladder,
                flags=self._flags,
                playing=self._playing,
            )
        ]

    def _returns(self) -> list[ChartData]:
        points = evaluations_of(self._past)
        why = empty_return(self._spec, [] if self._row is None else [self._row])
        first = self._single(RETURN, "return · • evaluation" if points else "return", why)
        first = replace(
            first,
            references=self._spec.references,
            points=points,
            note=self._past.reading or ("" if len(first.curves[0].values) or not points else why),
        )
        return [first, self._single(LENGTH, "length", why)]

    def _terms(self) -> list[ChartData]:
        names = [name for name in self._past.series if name.startswith("reward/") and name.endswith("_sum")]
        if not names:
            names = [name for name in self._past.series if name.startswith("reward/") and name.endswith("_mean")]
        names.sort()
        why = "Waiting for the first episode to end, or the environment names no reward terms."
        series = {name: self._past.series[name] for name in names}
        together = self._several("reward terms", "reward terms, an episode", series, label_of, why)
        letters = [(curve.label, curve.letter) for curve in together.curves]
        together = replace(together, bars=term_bars(self._past.series, letters))
        return [together, *(self._single(name, label_of(name), why) for name in names[1:] and names)]

    def _endings(self) -> list[ChartData]:
        found = {
            name: points
            for name, points in sorted(self._past.series.items())
            if name.startswith(("terminated/", "truncated/"))
        }
        why = "Waiting for the first episode to end."
        chart = self._several(
            "endings", "endings, % of episodes", shares(found), lambda name: name.split("/", 1)[1], why
        )
        letters = [(curve.key, curve.letter) for curve in chart.curves]
        lengths = {name: points for name, points in sorted(self._past.series.items()) if name.startswith(LENGTHS)}
        shown = [replace(chart, bars=ending_bars(self._past.series, letters))]
        if len(lengths) > 1:
            shown.append(
                self._several("length/all", "mean length by ending", lengths, lambda name: name.split("/", 1)[1], why)
            )
        return shown

    def _losses(self) -> list[ChartData]:
        names = sorted(name for name in self._past.series if name.startswith("train/"))
        starts = self._spec.learning_starts
        why = "Losses come with the first update."
        if starts:
            why = f"Losses start after learning_starts, {formatting.digits(starts)} steps."
        return [self._single(name, name, why) for name in names] or [self._single("train/loss", "losses", why)]

    def _system(self) -> list[ChartData]:
        shown = {RETURN, LENGTH, EVALUATION}
        prefixes = ("reward/", "terminated/", "truncated/", "train/", LENGTHS)
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
            parent=self._before(name),
        )
        return ChartData(
            name, title, (curve,), checkpoints=self._ladder, flags=self._flags, empty=why, playing=self._playing
        )

    def _before(self, name: str) -> Curve | None:
        points = None if self._parent is None else self._parent.series.get(name)
        return None if points is None else curve_of("parent", "parent", points, Identity(0, ""))

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
        return ChartData(
            metric,
            title,
            curves,
            checkpoints=self._ladder,
            flags=self._flags,
            legend=True,
            empty=why,
            playing=self._playing,
        )


def evaluation_points(past: Past) -> Points | None:
    """Return the mean returns of evaluations as a metric; nothing where there were none."""
    points = evaluations_of(past)
    if not points:
        return None
    steps = np.array([point.steps for point in points])
    wall_s = episodes = np.full(len(steps), np.nan)
    clock = past.series.get(RETURN)
    if clock is not None and len(clock.steps):
        wall_s, episodes = (np.interp(steps, clock.steps, known) for known in (clock.wall_s, clock.episodes))
    return Points(steps, wall_s, episodes, np.array([point.value for point in points]))


def distinct_letters(names: Sequence[str]) -> list[str]:
    """Return a letter for each name: its first one that is free, else the next free of the alphabet."""
    chosen: list[str] = []
    for name in names:
        wanted = [*name.lower(), *"abcdefghijklmnopqrstuvwxyz0123456789"]
        chosen.append(next((sign for sign in wanted if sign.isalnum() and sign not in chosen), "·"))
    return chosen


def label_of(name: str) -> str:
    """Return what a reward term is called: its metric without what says that it is one."""
    return name.removeprefix("reward/").removesuffix("_sum").removesuffix("_mean")


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
