"""One run: how far it is, its curves, and what it wrote, kept and was asked to do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container, Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import ContentSwitcher, Static

from workbench import formatting
from workbench.ui.charts.model import ChartData
from workbench.ui.commands import bindings_for
from workbench.ui.footer import CommandFooter
from workbench.ui.past import CheckpointRow
from workbench.ui.run_actions import RunScreenBase
from workbench.ui.run_charts import NO_PAST, SECTIONS, RunCharts, Spec
from workbench.catalog.run_config import RunConfig, read_config
from workbench.ui.run_head import config_text, head_lines
from workbench.ui.run_tables import CHECKPOINT_COLUMNS, EVENT_COLUMNS, checkpoint_rows, checkpoint_summary, event_rows
from workbench.ui.watch import RunRow, RunWatch
from workbench.ui.widgets.chart import Chart
from workbench.ui.widgets.filter_box import FilterBox
from workbench.ui.widgets.log_view import LogView
from workbench.ui.widgets.rows import RowTable

TEXTS = ("Log", "Config", "Checkpoints", "Events")
CHART_SIZE = (36, 16)
"""The least width of a chart on a page, and its height where there is plenty."""
LOW, HIGH = 20, 48
"""Rows from which on there are two rows of charts, and more than two."""
MOST_CHARTS = 9
TAIL_LINES = 3
_CHART_KEYS = ("chart.", "view.zoom_", "view.pan_", "view.whole")


class RunScreen(RunScreenBase):
    """A run's sections: pages of charts, its log, settings, checkpoints and events.

    Args:
        path: The run's folder.
        section: The one to begin with.
    """

    NAME = "run"
    PLACE = "runs"
    BINDINGS = bindings_for("run")
    CSS_PATH = "run.tcss"

    def __init__(self, path: Path, section: str = "Return") -> None:
        super().__init__()
        self.path = path
        self._section = section
        self._chart_section = section if section in SECTIONS else SECTIONS[0]
        self._page = 0
        self._past = NO_PAST
        self._checkpoints: tuple[CheckpointRow, ...] = ()
        self._config = RunConfig()
        self._config_read = False
        self._whole_config = False

    def compose_body(self) -> ComposeResult:
        """Yield head, strip, charts beside texts, and the end of the log."""
        yield Static(id="head")
        strip = Static(id="strip")
        # Names that can be clicked look like names, not like links.
        strip.auto_links = False
        yield strip
        with Horizontal(id="main"):
            with Container(id="charts"):
                for place in range(MOST_CHARTS):
                    yield Chart(ChartData("", ""), id=f"chart-{place}")
            with ContentSwitcher(id="texts", initial="Checkpoints"):
                yield LogView(empty="Nothing printed yet.", id="Log")
                yield VerticalScroll(Static(id="config-text"), id="Config", classes="pane", can_focus=True)
                yield RowTable(CHECKPOINT_COLUMNS, empty="No checkpoint yet.", id="Checkpoints")
                yield RowTable(EVENT_COLUMNS, empty="Nothing happened yet.", id="Events")
        yield FilterBox(placeholder="find in the log")
        yield Static(id="tail")

    @property
    def log_view(self) -> LogView:
        """The log."""
        return self.query_one("#Log", LogView)

    @property
    def box(self) -> FilterBox:
        """What one looks for in the log."""
        return self.query_one(FilterBox)

    def on_mount(self) -> None:
        """Follow the run."""
        for name in ("Checkpoints", "Events"):
            self.query_one(f"#{name}").add_class("pane")
        self.log_view.border_title = "Log · output.log"
        self.workbench.runs_changed.subscribe(self, lambda _: self._show_row())
        self.workbench.runs.mark_seen(self.path)
        self.show_section(self._section)

    def on_screen_resume(self) -> None:
        """Read the run closely while it is shown."""
        self.workbench.runs.follow(self, [self.path], closely=True)
        self._show_row()

    def on_screen_suspend(self) -> None:
        """Read it no more while it is not."""
        if not self.is_seen:
            self.workbench.runs.unfollow(self)

    def on_resize(self) -> None:
        """Put as many charts on a page as fit."""
        self._show_row()
        self.call_after_refresh(self._show_page)

    # Facts that arrive.

    def on_run_watch_told(self, message: RunWatch.Told) -> None:
        """Take in what the run did."""
        self._past = message.histories.get(self.path, NO_PAST)
        if self._past.record and not self._config_read:
            self._config_read = True
            self._read_config()
        self.query_one("#Events", RowTable).set_rows(event_rows(self._past, plain=self.workbench.plain))
        self._show_row()
        self._show_charts()

    def on_run_watch_detailed(self, message: RunWatch.Detailed) -> None:
        """Take in checkpoints and log lines."""
        if message.log_is_new:
            self.log_view.clear()
        self.log_view.extend(message.lines)
        self._checkpoints = message.checkpoints
        self.query_one("#tail", Static).update(Content("\n".join(self.log_view.lines[-TAIL_LINES:])))
        self._show_row()
        self._show_charts()

    @work(group="config", exit_on_error=False, description="reading the settings")
    async def _read_config(self) -> None:
        row = self.current
        entry = None if row is None else self.workbench.library.entry(row.env_name)
        self._config = await asyncio.to_thread(read_config, self._past.record, entry)
        self._show_config()

    # Showing.

    @property
    def current(self) -> RunRow | None:
        """The run as the list has it."""
        return self.workbench.runs.snapshot.row(self.path)

    def show_section(self, name: str) -> None:
        """Show a section: a page of charts, or one of the texts."""
        self._section = name
        is_text = name in TEXTS
        self.set_class(is_text, "-text")
        self.set_class(not is_text, "-chart")
        if is_text:
            self.query_one(ContentSwitcher).current = name
            self.query_one(f"#{name}").focus()
        else:
            if self._chart_section != name:
                self._page = 0
            self._chart_section = name
            self._show_charts()
            self.query_one("#chart-0").focus()
        self._show_strip()
        self.query_one(CommandFooter).use(f"{self.NAME}/{name}" if is_text else self.NAME)
        self.refresh_bindings()

    def action_show_section(self, name: str) -> None:
        """Show the section whose name was clicked."""
        self.show_section(name)

    def _show_row(self) -> None:
        row = self.current
        head = self.query_one("#head", Static)
        if row is None:
            gone = self.workbench.runs.snapshot.is_read
            head.update(f"The folder {self.path.name} is gone. esc goes back." if gone else "Reading…")
            return
        short = self.has_class("-flat")
        head.update(
            head_lines(
                row,
                self._checkpoints,
                self._spec(),
                self.size.width - 2,
                plain=self.workbench.plain,
                short=short,
            )
        )
        self._show_strip()
        self._show_checkpoints()
        self.refresh_bindings()

    def _show_strip(self) -> None:
        row = self.current
        parts: list[tuple[str, str]] = []
        names = (*SECTIONS, *TEXTS)
        if self.has_class("-tiny"):
            place = f"  {names.index(self._section) + 1} of {len(names)} sections"
            self.query_one("#strip", Static).update(
                Content.assemble((f"‹ {self._section} ›", "$primary bold"), (place, "$muted"))
            )
            return
        for name in names:
            label = f"{name} !{row.anomalies}" if name == "Events" and row is not None and row.anomalies else name
            click = f"@click=screen.show_section('{name}')"
            here = name == self._section
            parts.append((f"[{label}]" if here else f" {label} ", f"$primary bold {click}" if here else click))
            if name == SECTIONS[-1]:
                parts.append(("│", "$muted"))
        pages = self._pages()
        if self._section in SECTIONS and len(pages) > 1:
            parts.append((f"  page {self._page + 1} of {len(pages)}", "$muted"))
        self.query_one("#strip", Static).update(Content.assemble(*parts))

    def _spec(self) -> Spec:
        row = self.current
        description = self.workbench.library.description(row.env_name) if row is not None else None
        return Spec.of(self._past.record, None if description is None else description.episode_steps)

    def _pages(self) -> list[list[ChartData]]:
        """The pages of the section; room left on the last one goes to the charts of the sections behind it."""
        source = RunCharts(self.current, self._past, self._checkpoints, self._spec())
        columns, rows = self._grid()
        room = min(MOST_CHARTS, columns * rows)
        charts = source.section(self._chart_section)
        pages = [charts[start : start + room] for start in range(0, len(charts), room)]
        for name in SECTIONS[SECTIONS.index(self._chart_section) + 1 :]:
            drawable = [chart for chart in source.section(name) if any(len(curve.values) for curve in chart.curves)]
            pages[-1] += drawable[: max(0, room - len(pages[-1]))]
        return pages

    def _grid(self) -> tuple[int, int]:
        """How many charts fit beside and above each other: a second row only where both are worth looking at."""
        size = self.query_one("#charts").size
        rows = 1 if size.height < LOW else 2 if size.height < HIGH else size.height // CHART_SIZE[1]
        return max(1, size.width // CHART_SIZE[0]), rows

    def _show_charts(self) -> None:
        pages = self._pages()
        self._page = min(self._page, len(pages) - 1)
        page = pages[self._page]
        columns, _ = self._grid()
        grid = self.query_one("#charts", Container)
        columns = min(columns, len(page))
        if grid.styles.grid_size_columns != columns:
            grid.styles.grid_size_columns = columns
        for place in range(MOST_CHARTS):
            chart = self.query_one(f"#chart-{place}", Chart)
            chart.display = place < len(page)
            if chart.display:
                chart.data = page[place]

    def _show_page(self) -> None:
        self._show_charts()
        self._show_strip()

    def _show_checkpoints(self) -> None:
        table = self.query_one("#Checkpoints", RowTable)
        table.set_rows(checkpoint_rows(self._checkpoints, self.workbench.clock()))
        table.border_title = checkpoint_summary(self._checkpoints)
        table.border_subtitle = "enter Watch  V Record  m Montage" if self._checkpoints else ""
        events = self.query_one("#Events", RowTable)
        events.border_title = "Events"
        events.border_subtitle = "enter goes to that step" if events.rows else ""

    def _show_config(self) -> None:
        pane = self.query_one("#Config")
        config = self._config
        changed = formatting.digits(len(config.differences))
        of = f"{changed} of {formatting.digits(len(config.settings))} differ from {config.compared_with}"
        pane.border_title = f"Config · {of}" if config.compared_with else "Config"
        pane.border_subtitle = "d differences or all" if config.compared_with else ""
        self.query_one("#config-text", Static).update(config_text(config, everything=self._whole_config))

    # Commands.

    def charts(self) -> Sequence[Chart]:
        """Return the charts of this page."""
        return [chart for chart in self.query(Chart) if chart.display]

    def can(self, command_id: str) -> bool | None:
        """Offer what the section and the run allow."""
        if command_id == "find.here":
            return True if self._section == "Log" else None
        if command_id == "view.details":
            return True if self._section == "Config" else None
        if command_id == "open.selected" and self._section in ("Log", "Config"):
            return None
        if command_id.startswith(_CHART_KEYS) and not self.query_one("#charts").display:
            return None
        return super().can(command_id)

    def undo_layer(self) -> bool:
        """Take back the search, then the crosshair."""
        if self.box.clear_filter():
            self.log_view.find("")
            return True
        return self.drop_crosshair()

    def chosen_checkpoint(self) -> str:
        """Return the checkpoint under the cursor of the list, else that of the crosshair."""
        table = self.query_one("#Checkpoints", RowTable)
        if table.has_focus and table.cursor is not None:
            return table.cursor
        return super().chosen_checkpoint()

    def action_open_selected(self) -> None:
        """Watch the checkpoint that is meant; on an event go to its step."""
        events = self.query_one("#Events", RowTable)
        if not events.has_focus:
            self.action_viewer_watch()
            return
        if events.cursor is not None and int(events.cursor) < len(self._past.marks):
            steps = self._past.marks[int(events.cursor)].get("steps")
            if isinstance(steps, int | float):
                self.look(replace(self.chart_view, cursor=float(steps)))
                self.show_section("Return")

    @on(RowTable.Chosen)
    def _chosen_row(self) -> None:
        self.action_open_selected()

    def action_view_next_page(self) -> None:
        """Go to the next match, page or section."""
        self._turn(1)

    def action_view_previous_page(self) -> None:
        """Go to the previous match, page or section."""
        self._turn(-1)

    def _turn(self, by: int) -> None:
        if self._section == "Log" and self.log_view.is_finding:
            self.log_view.next_match(by)
            return
        page = self._page + by
        if self._section in SECTIONS and 0 <= page < len(self._pages()):
            self._page = page
            self._show_page()
            return
        names = (*SECTIONS, *TEXTS)
        name = names[(names.index(self._section) + by) % len(names)]
        self.show_section(name)
        if by < 0 and name in SECTIONS:
            self._page = len(self._pages()) - 1
            self._show_page()

    def action_move_down(self) -> None:
        """Go to the next chart, or down in a text."""
        if isinstance(self.focused, Chart):
            self._next_chart(1)
        else:
            super().action_move_down()

    def action_move_up(self) -> None:
        """Go to the previous chart, or up in a text."""
        if isinstance(self.focused, Chart):
            self._next_chart(-1)
        else:
            super().action_move_up()

    def _next_chart(self, by: int) -> None:
        charts = self.charts()
        if self.focused in charts:
            charts[(charts.index(self.focused) + by) % len(charts)].focus()

    def action_run_log(self) -> None:
        """Show the log."""
        self.show_section("Log")

    def action_run_config(self) -> None:
        """Show the settings."""
        self.show_section("Config")

    def action_run_checkpoints(self) -> None:
        """Show the checkpoints."""
        self.show_section("Checkpoints")

    def action_run_events(self) -> None:
        """Show what happened."""
        self.show_section("Events")

    def action_view_details(self) -> None:
        """Show all settings, or only those that differ from the recipe."""
        self._whole_config = not self._whole_config
        self._show_config()

    def action_view_follow(self) -> None:
        """Follow the newest line, or the newest point."""
        if self._section == "Log":
            self.log_view.action_follow()
        else:
            super().action_view_follow()

    def action_find_here(self) -> None:
        """Find words in the log."""
        self.box.open()

    @on(FilterBox.Filtered)
    def _found(self, message: FilterBox.Filtered) -> None:
        self.log_view.find(message.text)

    @on(FilterBox.Closed)
    def _find_closed(self) -> None:
        self.log_view.focus()
