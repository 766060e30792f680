"""A group of seeds: what its runs say together, each of them in a table, and what they were asked to do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.widgets import Static

from workbench.catalog.run_config import RunConfig, read_config
from workbench.runs.directory import RunDirectory
from workbench.runs.grouping import RunGroup
from workbench.ui.charts.model import ChartData, ChartView
from workbench.ui.charts.overlay import Identity
from workbench.ui.commands import bindings_for
from workbench.ui.past import Past
from workbench.ui.run_charts import NO_PAST, Spec
from workbench.ui.run_list import group_key, standing_for
from workbench.ui.run_paging import RunPaging
from workbench.ui.seed_bands import SeedBands
from workbench.ui.seed_charts import SeedCharts, members_of
from workbench.ui.seed_head import head_lines
from workbench.ui.seed_texts import TABS, SeedTexts
from workbench.ui.watch import RunRow, RunWatch
from workbench.ui.widgets.chart import Chart
from workbench.ui.widgets.filter_box import FilterBox
from workbench.ui.widgets.rows import RowTable

_CHART_KEYS = ("chart.", "view.zoom_", "view.pan_", "view.whole")
_STATUS = {
    "Seeds": "enter Open  v Watch: the run under the cursor",
    "Config": "d differences or all",
}


class SeedsScreen(RunPaging):
    """The charts of a group of seeds beside its runs.

    What is done while the table of runs has the focus is done to the run under its cursor; elsewhere to all of them.

    Args:
        key: What the group is known by, see `group_key`.
        section: The one to begin with.
    """

    NAME = "seeds"
    PLACE = "runs"
    TEXTS = TABS
    BINDINGS = bindings_for("seeds")

    def __init__(self, key: str, section: str = "Return") -> None:
        super().__init__(section)
        self.key = key
        self._pasts: Mapping[Path, Past] = {}
        self._config = RunConfig()
        self._records: tuple[Mapping[str, Any], ...] = ()
        self._read: tuple[Path, ...] = ()
        """The runs whose settings were read."""
        self._everything = False

    def compose_body(self) -> ComposeResult:
        """Yield head, strip, and charts beside the runs."""
        yield Static(id="head")
        yield from self.compose_strip()
        with Container(id="main"):
            yield from self.compose_charts()
            yield SeedTexts(id="texts")
        yield FilterBox(id="chart-filter", placeholder="charts by a regular expression: kl|loss")

    @cached_property
    def _bands(self) -> SeedBands:
        return SeedBands(self.app, self._show_charts, clock=time.monotonic)

    @property
    def own_texts(self) -> SeedTexts:
        """The runs and their settings."""
        return self.query_one(SeedTexts)

    @property
    def table(self) -> RowTable:
        """The runs."""
        return self.own_texts.table

    def on_mount(self) -> None:
        """Follow the runs."""
        self.own_texts.status = dict(_STATUS)
        self.workbench.runs_changed.subscribe(self, lambda _: self._show())
        self.workbench.library_changed.subscribe(self, lambda _: self._read_settings_again())
        self.workbench.viewer_changed.subscribe(self, lambda _: self._show_charts())
        self._show()
        self.show_section(self._section)

    def on_screen_resume(self) -> None:
        """Read the runs while they are shown."""
        self._show()

    def on_screen_suspend(self) -> None:
        """Read them no more while they are not."""
        if not self.is_seen:
            self.workbench.runs.unfollow(self)

    def on_resize(self) -> None:
        """Fill the room there is."""
        self.fit()
        self._show()

    # What it is of.

    @property
    def rows(self) -> tuple[RunRow, ...]:
        """The runs that are there, by seed."""
        found = [row for row in self.workbench.runs.snapshot.rows if row.group and group_key(row) == self.key]
        return tuple(sorted(found, key=lambda row: (row.seed is None, row.seed or 0, row.name)))

    @property
    def current(self) -> RunRow | None:
        """The run under the cursor of the table; before it has one the first."""
        rows = self.rows
        at = self.table.cursor if self.is_mounted else None
        return next((row for row in rows if str(row.path) == at), rows[0] if rows else None)

    @property
    def chosen(self) -> Sequence[RunRow]:
        """The run under the cursor where the table has the focus, else all."""
        row = self.current
        if row is None:
            return ()
        return (row,) if self.table.has_focus else self.rows

    @property
    def folder(self) -> Path:
        """The folder of the run under the cursor."""
        row = self.current
        return super().folder if row is None else row.path

    # Facts that arrive.

    def on_run_watch_told(self, message: RunWatch.Told) -> None:
        """Take in what the runs did."""
        self._pasts = message.histories
        self._show()

    def _read_settings_again(self) -> None:
        self._read = ()
        self._show()

    @work(group="settings", exclusive=True, exit_on_error=False, description="reading the settings")
    async def _read_settings(self, rows: Sequence[RunRow]) -> None:
        entry = self.workbench.library.entry(rows[0].env_name)

        def read() -> tuple[tuple[Mapping[str, Any], ...], RunConfig]:
            records = tuple(RunDirectory(row.path).record() for row in rows)
            return records, read_config(records[0], entry)

        self._records, self._config = await asyncio.to_thread(read)
        self._show_config()

    # Showing.

    def show_section(self, name: str) -> None:
        """Show a section; the table has the columns that fit once it is there."""
        super().show_section(name)
        self.call_after_refresh(self._show_table)

    def _show(self) -> None:
        if not self.is_mounted:
            return
        rows = self.rows
        head = self.query_one("#head", Static)
        if not rows:
            gone = self.workbench.runs.snapshot.is_read
            head.update("The folders of these runs are gone. esc goes back." if gone else "Reading…")
            return
        paths = tuple(row.path for row in rows)
        if self.is_seen:
            self.workbench.runs.follow(self, paths)
        if paths != self._read:
            self._read = paths
            self._read_settings(rows)
        standing = standing_for(RunGroup(rows))
        short = self.has_class("-flat")
        plain = self.workbench.plain
        head.update(head_lines(standing, rows, self._spec(), self.size.width - 2, plain=plain, short=short))
        self._take_up_filter(standing)
        self._show_table()
        self._show_charts()
        self._show_strip()
        self.refresh_bindings()

    def _show_table(self) -> None:
        row = self.current
        letters = {} if row is None else {row.name: Identity(1, _letter(row))}
        self.own_texts.show_runs(self.rows, self.key, letters, plain=self.workbench.plain)

    def _show_config(self) -> None:
        self.own_texts.show_config(self._records, self._config, everything=self._everything)

    def _spec(self) -> Spec:
        row = self.current
        if row is None:
            return Spec()
        library = self.workbench.library
        description, entry = library.description(row.env_name), library.entry(row.env_name)
        measured = None if entry is None or entry.training is None else entry.training.reference
        record = self._pasts.get(row.path, NO_PAST).record
        return Spec.of(record, None if description is None else description.episode_steps, measured)

    def _source(self) -> SeedCharts:
        row = self.current
        return SeedCharts(
            self.key,
            self.rows,
            self._pasts,
            self._spec(),
            front=row,
            letter="" if row is None else _letter(row),
            playing=self._playing(row),
        )

    def _playing(self, row: RunRow | None) -> int | None:
        """Return the steps of the checkpoint of a run that the viewer plays."""
        playing = self.workbench.viewer.playing
        if row is None or playing is None or playing.ready is None or playing.state is None or not playing.is_on:
            return None
        return playing.state.checkpoint if playing.ready.run == row.path else None

    def _ready(self, data: ChartData) -> ChartData:
        """Give a chart that is seen its band."""
        version = (data.metric, *(self._pasts.get(row.path, NO_PAST).version for row in self.rows))
        weight = self.chart_view.weight
        band = self._bands.band(f"{self.key} {data.metric}", members_of(data), weight, version=version)
        return replace(data, groups=tuple(replace(group, band=band) for group in data.groups))

    def look(self, view: ChartView) -> None:
        """Look at the charts in a new way; a band is one of smoothed curves."""
        is_smoothed_anew = view.weight != self.chart_view.weight
        super().look(view)
        if is_smoothed_anew and self.is_mounted:
            self._show_charts()

    @on(RowTable.Moved, "#Seeds")
    def _moved(self) -> None:
        self._show_table()
        self._show_charts()
        self.refresh_bindings()

    @on(RowTable.Chosen, "#Seeds")
    def _chosen_row(self) -> None:
        self.action_open_selected()

    # Commands.

    def can(self, command_id: str) -> bool | None:
        """Offer what the section and the runs allow."""
        has_charts = self.query_one("#charts").display
        if command_id == "find.here":
            return True if has_charts else None
        if command_id == "view.details":
            return True if self._section == "Config" or has_charts else None
        if command_id == "run.compare":
            return True if len(self.rows) > 1 else None
        if command_id == "open.selected" and self._section == "Config":
            return None
        if command_id.startswith(_CHART_KEYS) and not has_charts:
            return None
        return super().can(command_id)

    def undo_layer(self) -> bool:
        """Take back the crosshair, then the filter of the charts."""
        return self.drop_crosshair() or self.clear_chart_filter()

    def action_open_selected(self) -> None:
        """Open the run under the cursor of the table, a bad ending first; on a chart watch its checkpoint there."""
        from workbench.ui.screens.ended import open_ended
        from workbench.ui.screens.run import RunScreen

        row = self.current
        if row is None:
            return
        if isinstance(self.focused, Chart) and self.chart_view.at is not None:
            self.action_viewer_watch()
        elif row.state.is_bad:
            open_ended(self.app, row)
        else:
            self.app.push_screen(RunScreen(row.path))

    def action_run_compare(self) -> None:
        """Show the runs beside each other."""
        self.workbench.compare([row.path for row in self.rows])

    def action_run_config(self) -> None:
        """Show what the runs were asked to do."""
        self.show_section("Config")

    def action_view_details(self) -> None:
        """Show all settings or only those that differ; of charts, numbers in place of drawings."""
        if self._section == "Config":
            self._everything = not self._everything
            self._show_config()
        else:
            self.toggle_numbers()
            self._show_page()

    def action_find_here(self) -> None:
        """Choose charts by a regular expression."""
        self.query_one("#chart-filter", FilterBox).open()

    @on(FilterBox.Filtered)
    def _filtered(self, message: FilterBox.Filtered) -> None:
        self.filter_charts(message.text)

    @on(FilterBox.Closed)
    def _filter_closed(self, message: FilterBox.Closed) -> None:
        # What is looked for stands in the strip; the row is the chart's again.
        message.box.remove_class("-open")
        shown = self.charts()
        if shown:
            shown[0].focus()


def _letter(row: RunRow) -> str:
    """Return the sign of a run in charts and in the table: the last digit of its seed."""
    return row.short_id[0] if row.seed is None else str(row.seed)[-1]
