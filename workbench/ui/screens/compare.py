"""Two to eight runs beside each other: one metric of all of them, their numbers, and where their settings differ."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from textual import work
from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench import formatting
from workbench.runs.directory import RunDirectory
from workbench.runs.statistics import SeedBand
from workbench.ui import compare_text
from workbench.ui.charts.model import ChartData
from workbench.ui.charts.pages import in_order
from workbench.ui.commands import bindings_for
from workbench.ui.comparing import Alike, Difference, Side, alike, figures, metrics, settings, sides
from workbench.ui.past import Past
from workbench.ui.run_actions import RunScreenBase
from workbench.ui.run_charts import NO_PAST, RETURN, Spec
from workbench.ui.seed_bands import SeedBands
from workbench.ui.watch import RunRow, RunWatch
from workbench.ui.widgets.chart import Chart

_OFFERED = frozenset(
    {
        "run.new",
        "run.montage",
        "run.report",
        "run.evaluate",
        "viewer.watch",
        "viewer.preview",
        "viewer.record",
        "checkpoint.export",
        "checkpoint.compare",
    }
)
"""What can be done here; what steers, ends or deletes a run is for where one is looked at alone."""
_BESIDE = 160


class CompareScreen(RunScreenBase):
    """Runs side by side.

    Args:
        paths: Their folders, in the order in which they get their letters.
    """

    NAME = "compare"
    PLACE = "runs"
    BINDINGS = bindings_for("compare")
    CSS_PATH = "compare.tcss"

    def __init__(self, paths: Sequence[Path]) -> None:
        super().__init__()
        self.paths = tuple(paths)
        self._pasts: Mapping[Path, Past] = {}
        self._metric = RETURN
        self._place = 0
        self._settings: list[Difference] = []
        self._alike: Alike | None = None
        self._everything = False
        self._records_read: tuple[Path, ...] = ()

    def compose_body(self) -> ComposeResult:
        """Yield who is compared, the chart, the numbers, and the settings."""
        yield Static(id="title")
        with Container(id="main"):
            yield Chart(ChartData(RETURN, "return"), id="curves")
            with VerticalScroll(id="numbers", classes="pane", can_focus=True):
                yield Static(id="table")
                yield Static(id="differing")
        with VerticalScroll(id="settings", classes="pane", can_focus=True):
            yield Static(id="settings-text")

    def on_mount(self) -> None:
        """Follow the runs."""
        self._bands = SeedBands(self.app, self._show_chart, clock=self.workbench.clock)
        self.query_one("#numbers").border_title = "Numbers"
        self.workbench.runs_changed.subscribe(self, lambda _: self._runs_changed())
        self.query_one("#curves").focus()
        self._show()

    def on_screen_resume(self) -> None:
        """Read the runs while they are shown."""
        self._follow()
        self._show()

    def _follow(self) -> None:
        """Follow the runs, and those they were forked from: what these did stands before them."""
        if self.is_seen:
            rows = self.workbench.runs.snapshot.rows
            parents = {row.parent_run for row in rows if row.path in self.paths and row.parent_run}
            self.workbench.runs.follow(self, {*self.paths, *(row.path for row in rows if row.name in parents)})

    def on_screen_suspend(self) -> None:
        """Read them no more while they are not."""
        if not self.is_seen:
            self.workbench.runs.unfollow(self)

    def on_resize(self) -> None:
        """Put the numbers beside the chart where there is room."""
        self.set_class(self.size.width >= _BESIDE, "-beside")
        self._show()

    # Facts that arrive.

    def _runs_changed(self) -> None:
        self._follow()
        self._show()

    def on_run_watch_told(self, message: RunWatch.Told) -> None:
        """Take in what the runs did."""
        self._pasts = message.histories
        self._show()

    @work(group="settings", exclusive=True, exit_on_error=False, description="reading the settings")
    async def _read_settings(self, columns: Sequence[Side]) -> None:
        paths = [side.first.path for side in columns]
        records = await asyncio.to_thread(lambda: [RunDirectory(path).record() for path in paths])
        self._settings = settings(records)
        self._alike = alike(columns, records)
        self._show()

    # Showing.

    @property
    def columns(self) -> list[Side]:
        """The sides: runs that are there still, those of one group as one."""
        snapshot = self.workbench.runs.snapshot
        return sides([row for path in self.paths if (row := snapshot.row(path)) is not None])

    @property
    def side(self) -> Side | None:
        """The one under the cursor."""
        columns = self.columns
        return columns[min(self._place, len(columns) - 1)] if columns else None

    @property
    def current(self) -> RunRow | None:
        """Its run, the first of its seeds."""
        return None if self.side is None else self.side.first

    @property
    def chosen(self) -> Sequence[RunRow]:
        """All of them: what is done here is done with both."""
        return [row for side in self.columns for row in side.rows]

    def _show(self) -> None:
        if not self.is_mounted:
            return
        columns = self.columns
        width = self.size.width - 2
        line = self.query_one("#title", Static)
        if not columns:
            gone = self.workbench.runs.snapshot.is_read
            line.update("Their folders are gone. esc goes back." if gone else "Reading…")
            return
        key = tuple(side.first.path for side in columns)
        if key != self._records_read:
            self._records_read = key
            # Those of other columns say nothing of these.
            self._settings, self._alike = [], None
            self._read_settings(columns)
        current = min(self._place, len(columns) - 1)
        line.update(compare_text.title(columns, current, self._alike, width, plain=self.workbench.plain))
        rows = figures(columns, self._pasts, self._metric)
        self.query_one("#table", Static).update(compare_text.numbers(columns, rows, self._metric))
        self._show_settings(columns, width)
        self._show_chart()
        self.refresh_bindings()

    def _show_settings(self, columns: Sequence[Side], width: int) -> None:
        """A line of differences below the numbers; a table of them where there is room for one."""
        line, pane = self.query_one("#differing", Static), self.query_one("#settings")
        numbers = self.query_one("#numbers")
        table = compare_text.settings_table(columns, self._settings, everything=self._everything)
        is_tall = self.has_class("-tall")
        self.set_class(self._everything and not is_tall, "-all")
        pane.display = is_tall
        heading = compare_text.settings_title(self._settings)
        if is_tall:
            line.display = False
            numbers.border_subtitle = ""
            pane.border_title = heading
            pane.border_subtitle = "d differences" if self._everything else "d all rows"
            self.query_one("#settings-text", Static).update(table)
            return
        line.display = True
        numbers.border_subtitle = "d differences on a line" if self._everything else "d all rows"
        if self._everything:
            line.update(Content("\n").join([Content.styled(heading, "$muted"), table]))
        else:
            line.update(compare_text.settings_line(self._settings, width - 4))

    def _show_chart(self) -> None:
        columns, side = self.columns, self.side
        if not columns or side is None:
            return
        library = self.workbench.library
        entry, known = library.entry(side.first.env_name), library.description(side.first.env_name)
        measured = None if entry is None or entry.training is None else entry.training.reference
        record = self._pasts.get(side.first.path, NO_PAST).record
        spec = Spec.of(record, None if known is None else known.episode_steps, measured)
        label = compare_text.metric_name(self._metric)
        data = compare_text.chart(columns, self._pasts, self._metric, label, side, spec, band=self._band)
        self.query_one("#curves", Chart).data = data

    def _band(self, side: Side) -> SeedBand | None:
        """What the seeds of a side say together."""
        series = [self._pasts.get(row.path, NO_PAST).series.get(self._metric) for row in side.rows]
        version = tuple(0 if item is None else len(item.steps) for item in series)
        return self._bands.band(f"{side.key} {self._metric}", series, self.chart_view.weight, version=version)

    def _metrics(self) -> list[str]:
        """The metrics one can go through, return first."""
        own = {path: past for path, past in self._pasts.items() if path in self.paths}
        return in_order(sorted({RETURN, *metrics(own)}))

    # Commands.

    def can(self, command_id: str) -> bool | None:
        """Offer what makes sense of several runs at once."""
        if (
            command_id.startswith(("run.", "viewer.", "checkpoint.export", "checkpoint.compare"))
            and command_id not in _OFFERED
        ):
            return False
        return super().can(command_id)

    def undo_layer(self) -> bool:
        """Take back the crosshair."""
        return self.drop_crosshair()

    def action_view_next_page(self) -> None:
        """Show the next metric."""
        self._turn(1)

    def action_view_previous_page(self) -> None:
        """Show the previous metric."""
        self._turn(-1)

    def _turn(self, by: int) -> None:
        names = self._metrics()
        place = names.index(self._metric) if self._metric in names else 0
        self._metric = names[(place + by) % len(names)]
        self._show()

    def action_move_down(self) -> None:
        """Go to the next run; a table that has the focus scrolls instead."""
        self._step(1)

    def action_move_up(self) -> None:
        """Go to the previous run; a table that has the focus scrolls instead."""
        self._step(-1)

    def _step(self, by: int) -> None:
        if isinstance(self.focused, VerticalScroll) and self.focused.max_scroll_y > 0:
            self.focused.scroll_relative(y=by, animate=False)
            return
        count = len(self.columns)
        if count:
            self._place = (min(self._place, count - 1) + by) % count
            self._show()

    def action_view_details(self) -> None:
        """Show all settings, or only those that differ."""
        self._everything = not self._everything
        self._show()

    def action_open_selected(self) -> None:
        """Watch the current run's checkpoint under the crosshair, else open that run."""
        from workbench.ui.screens.run import RunScreen

        row = self.current
        if self.chart_view.at is not None:
            super()._play(preview=False)
        elif row is not None:
            self.app.push_screen(RunScreen(row.path))

    def _play(self, *, preview: bool) -> None:
        """Play the best checkpoint of each, side by side; of several environments that of the current run."""
        rows = [row for row in self.chosen if not row.is_foreign and not row.problem]
        names = {row.env_id for row in rows}
        if len(names) > 1 and self.current is not None:
            self.notify(f"Runs of one environment play side by side; this is {self.current.title} alone.")
        if len(rows) < 2 or len(names) > 1:
            super()._play(preview=preview)
            return
        rows = [row for row in rows if self._has_checkpoint(row)]
        if rows:
            words = [row.reference for row in rows]
            what = rows[0].title if len(rows) == 1 else f"{len(rows)} runs of {rows[0].env_name}"
            detail = {"target": words[0], "run": str(rows[0].path)}
            self.workbench.start_play(["play", *words], what, detail, preview=preview)

    def action_run_evaluate(self) -> None:
        """Have the best checkpoint of each scored, all on episodes that none was chosen by."""
        from workbench.runs.steering import request_evaluation

        rows = [row for row in self.chosen if not row.problem and not row.is_foreign and row.state != "queued"]
        best = {row.run: None if row.best is None else row.best.steps for row in rows}

        def ask(run: RunDirectory) -> str:
            return request_evaluation(run, best[run])

        def tell(done: Sequence[RunRow], _: Sequence[object]) -> str:
            count = formatting.plural(len(done), "run")
            return f"The best checkpoint of {count} is scored; a row of numbers appears when all are."

        if rows:
            act = partial(self._carry_out, rows, ask, tell, verb="evaluate")
            self._if_wanted(rows, "Evaluate", "E", "The best checkpoint of each plays new episodes.", act)
