"""The place of runs: what happens and happened, a list above the returns of those that matter now."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widgets import Static

from workbench.ui.charts.model import ChartView
from workbench.ui.charts.overlay import Identity
from workbench.ui.commands import bindings_for
from workbench.ui.drawn_runs import Drawn, drawn
from workbench.ui.past import Past
from workbench.ui.run_actions import RunScreenBase
from workbench.ui.run_charts import NO_PAST
from workbench.ui.run_details import details
from workbench.ui.run_headline import EMPTY, headline, order_line
from workbench.ui.run_list import Line
from workbench.ui.run_listing import PLACE, RunListing
from workbench.ui.run_overlay import RunOverlay
from workbench.ui.run_rows import Shown, column_of, run_row, sort_of
from workbench.ui.screen import WIDTHS
from workbench.ui.watch import RunRow, RunsSnapshot, RunWatch
from workbench.ui.widgets.chart import Chart
from workbench.ui.widgets.fact_sheet import FactSheet
from workbench.ui.widgets.filter_box import FilterBox
from workbench.ui.widgets.rows import Row, RowTable
from workbench.ui.widgets.saying import say

READING = "Reading the runs…"
FLAT = 20
"""With fewer rows only the list or the chart fits."""
STILL_S = 1.0
"""Rows do not move for so long after a key press."""


class RunsScreen(RunScreenBase):
    """A list of runs, and a chart of those marked and the one under the cursor; of all live ones without marks."""

    NAME = "runs"
    BINDINGS = bindings_for("runs")
    CSS_PATH = "runs.tcss"

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[str, tuple[Line, object, Row]] = {}
        """What was made of each line, and of what."""
        self._pressed_at = -STILL_S
        self._is_held = False
        self._wanted: Path | None = None
        """Gets the cursor once it is listed."""
        self._remembered: Path | None = None
        """Had the cursor last time; a live run goes first."""
        self._pasts: Mapping[Path, Past] = {}
        self._overlay = RunOverlay(self)

    def compose_body(self) -> ComposeResult:
        """Yield a line about the list, the list and the chart, and what is known of the run under the cursor."""
        with Horizontal(id="line"):
            yield Static(id="title")
            yield Static(id="order")
        yield FilterBox(placeholder="cart_pole state:live -tag:junk")
        with Horizontal(id="panes"):
            with Vertical(id="main"):
                yield RowTable(self.listing.shown.columns("-narrow"), empty=READING, id="runs")
                yield Chart(self._overlay.empty, id="curves")
            with VerticalScroll(id="details", can_focus=True):
                yield FactSheet(id="facts")

    @cached_property
    def listing(self) -> RunListing:
        """What is listed, and how."""
        return RunListing(self.workbench.remembered)

    @property
    def table(self) -> RowTable:
        """The list."""
        return self.query_one("#runs", RowTable)

    @property
    def chart(self) -> Chart:
        """The chart."""
        return self.query_one("#curves", Chart)

    @property
    def box(self) -> FilterBox:
        """The filter."""
        return self.query_one(FilterBox)

    def on_mount(self) -> None:
        """Take up the way of looking from last time, and follow the runs."""
        memory = self.workbench.remembered
        cursor = memory.text(PLACE, "cursor")
        self._remembered = Path(cursor) if cursor else None
        self.box.recall_from(memory.texts(PLACE, "filters"))
        self.box.start_with(memory.text(PLACE, "filter"))
        self.query_one("#details").border_title = "Details"
        self.set_class(memory.flag(PLACE, "details", default=False), "-details")
        self.workbench.runs_changed.subscribe(self, self._runs_changed)
        self.workbench.viewer_changed.subscribe(self, lambda _: self.draw())
        self.table.focus()
        self._runs_changed(self.workbench.runs.snapshot)

    def on_screen_resume(self) -> None:
        """Follow the drawn runs while this place is shown."""
        self._show()

    def on_screen_suspend(self) -> None:
        """Read no curves while it is not."""
        if not self.is_seen:
            self.workbench.runs.unfollow(self)

    def on_resize(self) -> None:
        """Show the columns this width has room for."""
        if self.app.size.height >= FLAT:
            self.remove_class("-chart-only")
        self._show()

    def show(self, paths: Sequence[Path]) -> None:
        """Put the cursor on the first of some runs, or on their group, once it is listed."""
        if paths:
            self._wanted = paths[0]
            if self.box.value:
                self.box.clear_filter()
            self._show()

    # Facts that arrive.

    def _runs_changed(self, snapshot: RunsSnapshot) -> None:
        if snapshot.is_read and self._remembered is not None:
            self._wanted = self._wanted or (None if snapshot.live else self._remembered)
            self._remembered = None
        self.listing.take(snapshot)
        if self.is_seen:
            self._show()

    def on_run_watch_told(self, message: RunWatch.Told) -> None:
        """Draw what the followed runs did."""
        self._pasts = message.histories
        self.draw()
        self._describe()

    def on_key(self, _: events.Key) -> None:
        """Let rows lie still for a moment."""
        self._pressed_at = time.monotonic()

    # The list.

    @property
    def line(self) -> Line | None:
        """The line under the cursor."""
        return self.listing.by_key.get(self.table.cursor or "")

    @property
    def current(self) -> RunRow | None:
        """The run under the cursor; of a group the one with the best evaluation, else the liveliest."""
        line = self.line
        if line is None:
            return None
        scored = [row for row in line.members if row.best is not None]
        best = max(scored, key=lambda row: row.best.score if row.best else 0.0, default=None)
        return best or next(row for row in line.members if not line.is_head or row.path == line.row.path)

    @property
    def chosen(self) -> Sequence[RunRow]:
        """The marked runs, else those of the line under the cursor."""
        return self.listing.chosen(self.line)

    @property
    def _width_class(self) -> str:
        width = self.app.size.width
        return next(name for least, name in reversed(WIDTHS) if width >= least)

    def _show(self, *, at_once: bool = False) -> None:
        """Show the list as it is now.

        Args:
            at_once: Whether rows may move although a key was just pressed: it was pressed for that.
        """
        if not self.is_mounted:
            return
        self.box.show_bad(self.listing.filter_by(self.box.value))
        self.workbench.runs.need(self, self.listing.needs)
        waits = STILL_S - (time.monotonic() - self._pressed_at)
        holds_still = waits > 0 and not at_once
        self.listing.arrange(holds_still=holds_still)
        if holds_still and not self._is_held:
            self._is_held = True
            self.set_timer(waits, self._let_go)
        self.set_class(self.listing.snapshot.is_read and not self.listing.snapshot.rows, "-no-runs")
        self.table.set_columns(self.listing.columns(self._width_class))
        self.table.set_empty(self._why_empty())
        self._fill()
        if self._wanted is not None and (key := self.listing.key_of(self._wanted)) is not None:
            self._wanted = None
            self.table.move_to(key)
        self._describe()
        self._follow()
        self.refresh_bindings()

    def _let_go(self) -> None:
        self._is_held = False
        self._show()

    def _fill(self) -> None:
        identities = self._overlay.identities(self._drawn().keys)
        wide = self._width_class in ("-wide", "-huge")
        before = self.table.cursor
        for _ in range(2):
            # Twice where the cursor's row is gone: the table chooses another, and that row looks different.
            self.table.set_rows([self._row(line, identities, wide) for line in self.listing.lines])
            if self.table.cursor == before:
                break
        self._rows = {key: self._rows[key] for key in self.listing.by_key}
        self.table.set_sorted(column_of(self.listing.sort), "▴" if self.listing.wish.order.is_reversed else "▾")

    def _row(self, line: Line, identities: Mapping[str, Identity], wide: bool) -> Row:
        """Make a row of a line, or take the one made of it before."""
        identity = identities.get(line.group if line.is_head else line.row.name)
        here, marked = line.key == self.table.cursor, self.listing.is_marked(line)
        made_of = (identity, here, marked, wide, self.listing.shown.added)
        known = self._rows.get(line.key)
        if known is not None and known[0] is line and known[1] == made_of:
            return known[2]
        row = run_row(
            line,
            plain=self.workbench.plain,
            identity=identity,
            here=here,
            marked=marked,
            wide=wide,
            added=self.listing.shown.added,
        )
        self._rows[line.key] = (line, made_of, row)
        return row

    def _why_empty(self) -> str:
        if not self.listing.snapshot.is_read:
            return READING
        return self.listing.why_empty() if self.listing.total else EMPTY

    def _describe(self) -> None:
        title = headline(self.listing, self._width_class, is_finding=self.has_class("-finding"))
        say(self.query_one("#title", Static), title)
        say(self.query_one("#order", Static), order_line(self.listing, self._width_class))
        line = self.line
        pane = self.query_one("#details")
        if pane.display:
            record = {} if line is None else self._pasts.get(line.row.path, NO_PAST).record
            self.query_one("#facts", FactSheet).show(
                [] if line is None else details(line, record, plain=self.workbench.plain)
            )

    # The chart.

    def _drawn(self) -> Drawn:
        return drawn(self.listing.lines, self.listing.marked, self.line)

    def _follow(self) -> None:
        if not self.is_seen:
            return
        shown = self._drawn()
        paths = {row.path for row in shown.everyone} if self.chart.display else set()
        parents = {row.parent_run for row in shown.rows if row.parent_run} if paths else set()
        if parents:
            paths |= {row.path for row in self.listing.snapshot.rows if row.name in parents}
        self.workbench.runs.follow(self, paths)
        self.draw()

    def draw(self) -> None:
        """Draw what is drawn of the list."""
        if self.is_mounted and self.is_seen:
            self._overlay.draw(self._drawn(), self.line, self.current, self._pasts)

    def look(self, view: ChartView) -> None:
        """Look at the chart in a new way; a band is one of smoothed returns."""
        was_pointing = self.chart_view.at is not None
        super().look(view)
        if self.is_mounted:
            self.draw()
            if was_pointing != (view.at is not None):
                self.refresh_bindings()

    @on(RowTable.Moved, "#runs")
    def _moved(self) -> None:
        line = self.line
        if line is not None:
            self.workbench.remembered.keep(PLACE, "cursor", str(line.row.path))
        self._fill()
        self._describe()
        self._follow()
        self.refresh_bindings()

    @on(RowTable.Chosen, "#runs")
    def _chosen(self) -> None:
        self.action_open_selected()

    @on(RowTable.CellClicked, "#runs")
    def _cell_clicked(self, message: RowTable.CellClicked) -> None:
        line = self.listing.by_key.get(message.key)
        if line is None or message.column != "margin":
            return
        if message.x < 2:
            self.listing.mark(line)
            self._show()
        elif line.is_head:
            self._fold(line.group)

    @on(RowTable.HeadClicked, "#runs")
    def _head_clicked(self, message: RowTable.HeadClicked) -> None:
        field = sort_of(message.column)
        if field and field == sort_of(column_of(self.listing.sort)):
            self.action_list_reverse()
        elif field:
            self.listing.sort_by(field)
            self._show(at_once=True)

    @on(FilterBox.Filtered)
    def _filtered(self) -> None:
        self.workbench.remembered.keep(PLACE, "filter", self.box.value)
        self._show(at_once=True)

    @on(FilterBox.Closed)
    def _filter_closed(self) -> None:
        self.remove_class("-finding")
        self.workbench.remembered.keep(PLACE, "filters", self.box.history)
        self.table.focus()
        self._describe()

    # Commands.

    def can(self, command_id: str) -> bool | None:
        """Offer what the list allows."""
        if command_id in ("run.new", "list.columns", "list.tree"):
            return True
        if command_id.startswith(("mark.", "list.")):
            return True if self.listing.lines else None
        return super().can(command_id)

    def chosen_checkpoint(self) -> str:
        """Return the checkpoint that the crosshair means; with several runs marked there is none."""
        return "" if self.listing.marked and len(self.chosen) > 1 else super().chosen_checkpoint()

    def undo_layer(self) -> bool:
        """Take back the crosshair, the chart in place of the list, then the filter; marks stay."""
        if self.drop_crosshair():
            return True
        if self.has_class("-chart-only"):
            self.action_view_maximise()
            return True
        return self.box.clear_filter()

    def label_of(self, action: str, label: str) -> str:
        """Say in the footer that enter watches what the crosshair points at."""
        is_pointing = isinstance(self.focused, Chart) and self.chart_view.at is not None
        return "Watch" if action == "open_selected" and is_pointing else super().label_of(action, label)

    def action_open_selected(self) -> None:
        """Open the run or the group under the cursor; a bad ending shows its card first.

        In the chart it watches the checkpoint under the crosshair.
        """
        from workbench.ui.screens.ended import open_ended

        line, row = self.line, self.current
        if line is None or row is None:
            return
        if isinstance(self.focused, Chart) and self.chart_view.at is not None:
            self.action_viewer_watch()
        elif line.is_head:
            self._open_group(line.group)
        elif row.state.is_bad:
            open_ended(self.app, row)
        else:
            self.show_section("Return")

    def _open_group(self, key: str) -> None:
        from workbench.ui.screens.seeds import SeedsScreen

        self.app.push_screen(SeedsScreen(key))

    def action_view_maximise(self) -> None:
        """Give the focused pane the whole screen; where only the list fits, the chart in its place."""
        if self.app.size.height >= FLAT:
            super().action_view_maximise()
            return
        self.toggle_class("-chart-only")
        (self.chart if self.has_class("-chart-only") else self.table).focus()
        self.call_after_refresh(self._follow)

    def action_view_details(self) -> None:
        """Show or hide what is known of the run under the cursor."""
        pane = self.query_one("#details")
        wants = not pane.display
        self.set_class(wants, "-details")
        self.set_class(not wants, "-no-details")
        self.workbench.remembered.keep(PLACE, "details", wants)
        self.call_after_refresh(self._show)

    def action_find_here(self) -> None:
        """Filter the list."""
        self.add_class("-finding")
        self.box.open()
        self._describe()

    # Folding.

    def action_move_left(self) -> None:
        """Fold the group under the cursor; elsewhere move the crosshair back."""
        line = self.line
        if self.table.has_focus and line is not None and line.group and (line.is_open or not line.is_head):
            self._fold(line.group)
        else:
            super().action_move_left()

    def action_move_right(self) -> None:
        """Unfold the group under the cursor; elsewhere move the crosshair on."""
        line = self.line
        if self.table.has_focus and line is not None and line.is_head and not line.is_open:
            self._fold(line.group)
        else:
            super().action_move_right()

    def _fold(self, group: str) -> None:
        """Fold a group, or unfold it; where the cursor was inside, it goes to the group."""
        line = self.line
        is_open = self.listing.fold(group)
        if not is_open and line is not None and line.group == group:
            self._wanted = line.row.path
        self._show(at_once=True)

    def action_list_tree(self) -> None:
        """Group seeds, list all runs flat, or forks below the run they came from."""
        line = self.line
        self.listing.next_tree()
        self._wanted = None if line is None else line.row.path
        self._show(at_once=True)

    # Marks.

    def action_mark_this(self) -> None:
        """Mark or unmark what is under the cursor and go to the next."""
        line = self.line
        if line is not None:
            self.listing.mark(line)
            self._show()
            self.table.move_by(1)

    def action_mark_all(self) -> None:
        """Mark every run shown."""
        self.listing.mark_all()
        self._show()

    def action_mark_none(self) -> None:
        """Unmark every run."""
        self.listing.marked.clear()
        self._show()

    # Order and columns.

    def action_list_sort_next(self) -> None:
        """Sort by the next column."""
        self.listing.sort_step(1)
        self._show(at_once=True)

    def action_list_sort_previous(self) -> None:
        """Sort by the previous column."""
        self.listing.sort_step(-1)
        self._show(at_once=True)

    def action_list_reverse(self) -> None:
        """Turn the order round."""
        self.listing.reverse()
        self._show(at_once=True)

    def action_list_columns(self) -> None:
        """Choose the columns."""
        from workbench.ui.screens.columns import ColumnsTask

        def answered(shown: Shown | None) -> None:
            if shown is not None:
                self.listing.choose_columns(shown)
                self._show(at_once=True)

        metrics = {name for past in self._pasts.values() for name in past.series}
        self.app.push_screen(ColumnsTask(self.listing.shown, sorted(metrics)), answered)
