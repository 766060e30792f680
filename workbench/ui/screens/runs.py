"""The place of runs: what happens and happened, a list above the returns of those that matter now."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from workbench import formatting
from workbench.errors import RequestError
from workbench.runs.filtering import Filter
from workbench.runs.states import RunState
from workbench.ui.charts.model import ChartData
from workbench.ui.charts.overlay import Overlay
from workbench.ui.commands import bindings_for
from workbench.ui.past import Past
from workbench.ui.run_actions import RunScreenBase
from workbench.ui.run_charts import NO_PAST, Spec, overlay_chart
from workbench.ui.run_rows import RECENT, SORTABLE, columns_for, ordered, run_row
from workbench.ui.screen import WIDTHS
from workbench.ui.watch import RunRow, RunsSnapshot, RunWatch
from workbench.ui.widgets.chart import Chart
from workbench.ui.widgets.filter_box import FilterBox
from workbench.ui.widgets.rows import RowTable

EMPTY = "No runs yet. n starts one: cart_pole with PPO takes about 10 s."
READING = "Reading the runs…"
MOST_DRAWN = 12
"""How many runs are drawn at most; the first eight have colours."""
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
        self._snapshot = RunsSnapshot()
        self._shown: list[RunRow] = []
        self._marked: set[Path] = set()
        self._overlay = Overlay()
        self._pasts: Mapping[Path, Past] = {}
        self._sort = RECENT
        self._reverse = False
        self._filter = Filter()
        self._problem = ""
        self._pressed_at = -STILL_S
        self._wanted: Path | None = None
        """Gets the cursor once it is listed."""
        self._remembered: Path | None = None
        """Had the cursor last time; a live run goes first."""
        self._drawn_key: object = None

    def compose_body(self) -> ComposeResult:
        """Yield a line about the list, the list, and the chart."""
        with Horizontal(id="line"):
            yield Static(id="title")
            yield Static(id="order")
        yield FilterBox(placeholder="cart_pole state:live -tag:junk")
        yield RowTable(columns_for("-narrow"), empty=READING, id="runs")
        yield Chart(ChartData("rollout/ep_rew_mean", "return"), id="curves")

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
        """Take up sort and filter from last time, and follow the runs."""
        memory = self.workbench.remembered
        sort = memory.text("runs", "sort", RECENT)
        self._sort = sort if sort in SORTABLE else RECENT
        self._reverse = memory.flag("runs", "reverse", default=False)
        cursor = memory.text("runs", "cursor")
        self._remembered = Path(cursor) if cursor else None
        self.box.value = memory.text("runs", "filter")
        self.box.set_class(bool(self.box.value), "-open")
        self.workbench.runs_changed.subscribe(self, self._runs_changed)
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
        """Put the cursor on the first of some runs, once it is listed."""
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
        self._snapshot = snapshot
        self._marked &= {row.path for row in snapshot.rows}
        if self.is_seen:
            self._show()

    def on_run_watch_told(self, message: RunWatch.Told) -> None:
        """Draw what the followed runs did."""
        self._pasts = message.histories
        self._draw()

    def on_key(self, _: events.Key) -> None:
        """Let rows lie still for a moment."""
        self._pressed_at = time.monotonic()

    # The list.

    @property
    def current(self) -> RunRow | None:
        """The run under the cursor."""
        key = self.table.cursor
        return next((row for row in self._shown if str(row.path) == key), None)

    @property
    def chosen(self) -> Sequence[RunRow]:
        """The marked runs, else the one under the cursor."""
        marked = [row for row in self._shown if row.path in self._marked]
        return marked or super().chosen

    @property
    def _width_class(self) -> str:
        width = self.app.size.width
        return next(name for least, name in reversed(WIDTHS) if width >= least)

    def _show(self) -> None:
        """Show the list as it is now, sorted and filtered."""
        if not self.is_mounted:
            return
        matching = self._matching()
        self._shown = self._in_order(ordered(matching, self._sort, reverse=self._reverse))
        self.set_class(self._snapshot.is_read and not self._snapshot.rows, "-no-runs")
        self.table.set_columns(columns_for(self._width_class))
        self.table.set_empty(self._why_empty())
        self._fill()
        if self._wanted is not None and any(row.path == self._wanted for row in self._shown):
            wanted, self._wanted = self._wanted, None
            self.table.move_to(str(wanted))
        self._describe()
        self._follow()

    def _fill(self) -> None:
        identities = self._overlay.assign(row.name for row in self._drawn())
        wide = self._width_class in ("-wide", "-huge")
        before = self.table.cursor
        for _ in range(2):
            # Twice where the cursor's row is gone: the table chooses another, and that row looks different.
            self.table.set_rows(
                [
                    run_row(
                        row,
                        plain=self.workbench.plain,
                        identity=identities.get(row.name),
                        here=str(row.path) == self.table.cursor,
                        marked=row.path in self._marked,
                        wide=wide,
                    )
                    for row in self._shown
                ]
            )
            if self.table.cursor == before:
                break
        self.table.set_sorted(self._sort, "▴" if self._reverse else "▾")

    def _matching(self) -> list[RunRow]:
        """The runs the filter lets through; while it is wrong, those of the last good one."""
        try:
            self._filter = Filter.parse(self.box.value)
            self._problem = ""
        except RequestError as error:
            self._problem = str(error)
        return [row for row in self._snapshot.rows if self._filter.matches(row)]

    def _in_order(self, rows: list[RunRow]) -> list[RunRow]:
        """Keep the rows where they are for a moment after a key press: nobody's finger hits another run."""
        if time.monotonic() - self._pressed_at >= STILL_S or not self._shown:
            return rows
        places = {row.path: place for place, row in enumerate(self._shown)}
        if any(row.path not in places for row in rows):
            return rows
        return sorted(rows, key=lambda row: places[row.path])

    def _why_empty(self) -> str:
        if not self._snapshot.is_read:
            return READING
        if self._snapshot.rows:
            hidden = formatting.digits(len(self._snapshot.rows))
            return f"No run matches {self.box.value}; {hidden} are hidden. esc clears."
        return EMPTY

    def _describe(self) -> None:
        total, shown = len(self._snapshot.rows), len(self._shown)
        parts: list[tuple[str, str]] = [("Runs", "bold")]
        if total:
            parts.append((f"  {formatting.digits(shown)} of {formatting.digits(total)}", ""))
        if self._problem:
            parts.append((f"   {self._problem}", "$error"))
        if self._marked:
            parts.append((f"   {len(self._marked)} marked", "$primary"))
        self.query_one("#title", Static).update(Content.assemble(*parts))
        order = f"sort {self._sort} {'▴' if self._reverse else '▾'}"
        self.query_one("#order", Static).update(Content(order if total else ""))

    # The chart.

    def _drawn(self) -> list[RunRow]:
        """The marked runs, else the live ones, and the one under the cursor."""
        wanted = [row for row in self._shown if row.path in self._marked]
        if not wanted:
            wanted = [row for row in self._shown if row.state.is_live and row.state is not RunState.STARTING]
        wanted = wanted[:MOST_DRAWN]
        current = self.current
        if current is not None and current not in wanted:
            wanted.append(current)
        return wanted

    def _follow(self) -> None:
        if not self.is_seen:
            return
        self.workbench.runs.follow(self, [row.path for row in self._drawn()] if self.chart.display else ())
        self._draw()

    def _draw(self) -> None:
        rows, current = self._drawn(), self.current
        leading = current or (rows[0] if rows else None)
        spec = Spec()
        if leading is not None:
            description = self.workbench.library.description(leading.env_name)
            record = self._pasts.get(leading.path, NO_PAST).record
            spec = Spec.of(record, None if description is None else description.episode_steps)
        identities = self._overlay.assign(row.name for row in rows)
        told = [(row.path, row.state, row.steps, row.best, self._pasts.get(row.path)) for row in rows]
        key = (told, dict(identities), None if current is None else current.path, spec)
        if key != self._drawn_key:
            self._drawn_key = key
            self.chart.data = overlay_chart(rows, self._pasts, identities, current, spec)

    @on(RowTable.Moved, "#runs")
    def _moved(self) -> None:
        if self.table.cursor is not None:
            self.workbench.remembered.keep("runs", "cursor", self.table.cursor)
        self._fill()
        self._follow()
        self.refresh_bindings()

    @on(RowTable.Chosen, "#runs")
    def _chosen(self) -> None:
        self.action_open_selected()

    @on(RowTable.HeadClicked, "#runs")
    def _head_clicked(self, message: RowTable.HeadClicked) -> None:
        if message.column == self._sort:
            self.action_list_reverse()
        elif message.column in SORTABLE:
            self._sort_by(message.column)

    @on(FilterBox.Filtered)
    def _filtered(self) -> None:
        self.workbench.remembered.keep("runs", "filter", self.box.value)
        self._show()

    @on(FilterBox.Closed)
    def _filter_closed(self) -> None:
        self.table.focus()

    # Commands.

    def can(self, command_id: str) -> bool | None:
        """Offer what the list allows."""
        if command_id == "run.new":
            return True
        if command_id.startswith(("mark.", "list.")):
            return True if self._shown else None
        return super().can(command_id)

    def undo_layer(self) -> bool:
        """Take back the crosshair, the chart in place of the list, the filter, then the marks."""
        if self.drop_crosshair():
            return True
        if self.has_class("-chart-only"):
            self.action_view_maximise()
            return True
        if self.box.clear_filter():
            return True
        if self._marked:
            self.action_mark_none()
            return True
        return False

    def action_open_selected(self) -> None:
        """Open the run under the cursor; a bad ending shows its card first."""
        from workbench.ui.screens.ended import EndedCard
        from workbench.ui.screens.run import RunScreen

        row = self.current
        if row is None:
            return
        if isinstance(self.focused, Chart):
            self.action_viewer_watch()
            return
        if not row.state.is_bad:
            self.app.push_screen(RunScreen(row.path))
            return

        def answered(answer: str | None) -> None:
            if answer == "watch":
                self.action_viewer_watch()
            elif answer is not None:
                section = {"log": "Log", "config": "Config"}.get(answer, "Return")
                self.app.push_screen(RunScreen(row.path, section))

        self.app.push_screen(EndedCard(row), answered)

    def action_view_maximise(self) -> None:
        """Give the focused pane the whole screen; where only the list fits, the chart in its place."""
        if self.app.size.height >= FLAT:
            super().action_view_maximise()
            return
        self.toggle_class("-chart-only")
        (self.chart if self.has_class("-chart-only") else self.table).focus()
        self.call_after_refresh(self._follow)

    def action_find_here(self) -> None:
        """Filter the list."""
        self.box.open()

    def action_mark_this(self) -> None:
        """Mark or unmark the run under the cursor and go to the next."""
        row = self.current
        if row is not None:
            self._marked ^= {row.path}
            self.table.move_by(1)
            self._show()

    def action_mark_all(self) -> None:
        """Mark every run shown."""
        self._marked |= {row.path for row in self._shown}
        self._show()

    def action_mark_none(self) -> None:
        """Unmark every run."""
        self._marked.clear()
        self._show()

    def action_list_sort_next(self) -> None:
        """Sort by the next column."""
        self._sort_by(SORTABLE[(SORTABLE.index(self._sort) + 1) % len(SORTABLE)])

    def action_list_sort_previous(self) -> None:
        """Sort by the previous column."""
        self._sort_by(SORTABLE[(SORTABLE.index(self._sort) - 1) % len(SORTABLE)])

    def action_list_reverse(self) -> None:
        """Turn the order round."""
        self._reverse = not self._reverse
        self._reorder()

    def _sort_by(self, column: str) -> None:
        self._sort = column
        self._reverse = False
        self._reorder()

    def _reorder(self) -> None:
        self.workbench.remembered.keep("runs", "sort", self._sort)
        self.workbench.remembered.keep("runs", "reverse", self._reverse)
        self._pressed_at = -STILL_S
        self._show()
