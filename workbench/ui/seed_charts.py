"""The charts of a group of seeds: each metric as what all of them say together, one of them by itself beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from workbench import formatting
from workbench.ui.chart_sections import SECTIONS, SectionedCharts
from workbench.ui.charts.model import ChartData, Group
from workbench.ui.charts.overlay import Identity
from workbench.ui.past import Past, Points
from workbench.ui.run_charts import (
    EVALUATION,
    LENGTH,
    NO_PAST,
    RETURN,
    Spec,
    curve_of,
    empty_return,
    evaluation_points,
    label_of,
)
from workbench.ui.run_marks import flags_of, ladder_of, shares
from workbench.ui.watch import RunRow

TOGETHER = Identity(0, "")
"""How what all of them say together is drawn."""
_ENDINGS = ("terminated/", "truncated/")
_TERMS = "reward/"
_OWN = (_TERMS, *_ENDINGS, "train/", "length/")

Find = Callable[[Past], Points | None]
"""Finds a metric in what a run did."""


class SeedCharts(SectionedCharts):
    """The charts of a group, in sections; bands are left to whoever draws them.

    Args:
        key: What the group is known by.
        rows: Its runs.
        pasts: What each has done.
        spec: What they were asked to do.
        front: The one that is drawn by itself; its checkpoints stand under the charts.
        letter: What that one is called.
        playing: The steps of its checkpoint that the viewer plays.
    """

    def __init__(
        self,
        key: str,
        rows: Sequence[RunRow],
        pasts: Mapping[Path, Past],
        spec: Spec,
        *,
        front: RunRow | None = None,
        letter: str = "",
        playing: int | None = None,
    ) -> None:
        self._key = key
        self._rows = rows
        self._pasts = {row.path: pasts.get(row.path, NO_PAST) for row in rows}
        self._spec = spec
        self._front = front
        self._letter = letter
        own = NO_PAST if front is None else self._pasts.get(front.path, NO_PAST)
        self._ladder = () if front is None else ladder_of(own, front)
        self._flags = flags_of(own)
        self._playing = playing
        self._names = sorted({name for past in self._pasts.values() for name in past.series})

    def everything(self) -> list[ChartData]:
        """Return all charts that have something to show, in the order of pages; at least that of returns."""
        charts = [chart for name in SECTIONS for chart in self.section(name)]
        return charts[:2] + [chart for chart in charts[2:] if any(len(each.values) for each in members_of(chart))]

    def _returns(self) -> list[ChartData]:
        why = empty_return(self._spec, self._rows)
        charts = [self._chart(RETURN, "return", why), self._chart(LENGTH, "length", why)]
        if any(past.evaluations for past in self._pasts.values()):
            charts.append(self._chart(EVALUATION, "evaluation", "No checkpoint has been scored.", evaluation_points))
        return charts

    def _terms(self) -> list[ChartData]:
        names = [name for name in self._names if name.startswith(_TERMS) and name.endswith("_sum")]
        names = names or [name for name in self._names if name.startswith(_TERMS) and name.endswith("_mean")]
        why = "Waiting for the first episode to end, or the environment names no reward terms."
        return [self._chart(name, f"{label_of(name)}, an episode", why) for name in names] or [
            self._chart(f"{_TERMS}terms", "reward terms", why)
        ]

    def _endings(self) -> list[ChartData]:
        counted = [name for name in self._names if name.startswith(_ENDINGS)]
        why = "Waiting for the first episode to end."
        of_each = {
            path: shares({name: past.series[name] for name in counted if name in past.series})
            for path, past in self._pasts.items()
        }
        by_past = {id(self._pasts[path]): found for path, found in of_each.items()}

        def share(name: str) -> Find:
            return lambda past: by_past.get(id(past), {}).get(name)

        lengths = [name for name in self._names if name.startswith("length/")]
        return [
            *(self._chart(name, f"{name.split('/', 1)[1]}, % of episodes", why, share(name)) for name in counted),
            *(self._chart(name, f"{name.split('/', 1)[1]}, mean length", why) for name in lengths),
        ] or [self._chart("endings", "endings", why)]

    def _losses(self) -> list[ChartData]:
        names = [name for name in self._names if name.startswith("train/")]
        starts = self._spec.learning_starts
        why = "Losses come with the first update."
        if starts:
            why = f"Losses start after learning_starts, {formatting.digits(starts)} steps."
        return [self._chart(name, name, why) for name in names] or [self._chart("train/loss", "losses", why)]

    def _system(self) -> list[ChartData]:
        names = [name for name in self._names if name not in (RETURN, LENGTH, EVALUATION) and not name.startswith(_OWN)]
        first = [name for name in names if name.startswith(("time/", "timings/"))]
        names = first + [name for name in names if name not in first]
        why = "Speed is told from the first iteration on."
        return [self._chart(name, name, why) for name in names] or [self._chart("time/fps", "time/fps", why)]

    def _chart(self, metric: str, title: str, why: str, find: Find | None = None) -> ChartData:
        def points(row: RunRow) -> Points | None:
            past = self._pasts[row.path]
            return past.series.get(metric) if find is None else find(past)

        members = tuple(
            curve_of(
                str(row.path),
                row.short_id,
                points(row),
                TOGETHER,
                budget=float(row.total_steps) if row.state.is_live else None,
                reached=float(row.steps) if row.state.is_live else 0.0,
            )
            for row in self._rows
        )
        group = Group(self._key, title, members, slot=TOGETHER.slot, bold=True, shows_members=True)
        front = self._front
        alone = () if front is None else (curve_of("front", front.short_id, points(front), Identity(1, self._letter)),)
        return ChartData(
            metric,
            title,
            alone,
            self._spec.references if metric in (RETURN, EVALUATION) else (),
            checkpoints=self._ladder,
            flags=self._flags,
            empty=why,
            groups=(group,),
            playing=self._playing,
        )


def members_of(chart: ChartData) -> list[Points]:
    """Return the metric of a chart as each run of its group has it."""
    return [
        Points(each.steps, each.wall_s, each.episodes, each.values) for group in chart.groups for each in group.members
    ]
