"""The charts of a run's screen: which are on the page, where the pages lead, and what the row of names says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from workbench.ui.charting import MEMORY
from workbench.ui.charts.model import ChartView
from workbench.ui.charts.pages import LEAST_HEIGHT, LEAST_WIDTH, Grid, Pages, filter_name
from workbench.ui.past import CheckpointRow, Past
from workbench.ui.run_actions import RunScreenBase
from workbench.ui.run_charts import NO_PAST, SECTIONS, RunCharts, Spec
from workbench.ui.run_strip import first_of, moment, section_of, strip
from workbench.ui.usage import PREFIX, Usages
from workbench.ui.watch import RunRow
from workbench.ui.widgets.chart import Chart
from workbench.ui.widgets.filter_box import FilterBox

ROW = 16
"""Height of a chart where there is plenty."""
TALL = 34
"""Rows of the terminal from which on there are two rows of charts."""
MOST_CHARTS = 12
PANES = 120
"""Columns from which on texts have a pane of their own, so that all charts are one list of pages."""


class RunPaging(RunScreenBase):
    """The part of a run's screen that turns its pages of charts.

    Args:
        path: The run's folder.
        section: The one to begin with.
    """

    def __init__(self, path: Path, section: str) -> None:
        super().__init__()
        self.path = path
        self._section = section
        self._chart_section = section if section in SECTIONS else SECTIONS[0]
        self._number = 0
        """The page of charts that is shown."""
        self._first = ""
        """The chart that the page began with when one turned to it."""
        self._pattern = ""
        """What the charts are filtered by."""
        self._pattern_of = ""
        """The algorithm whose filter that is."""
        self._past = NO_PAST
        self._origin: Path | None = None
        """The run that this one was forked from."""
        self._origin_past: Past | None = None
        self._checkpoints: tuple[CheckpointRow, ...] = ()
        self._usages = Usages()
        self._playing: int | None = None
        """The steps of the checkpoint that the viewer plays."""

    @property
    def _has_panes(self) -> bool:
        return self.size.width >= PANES

    def charts(self) -> Sequence[Chart]:
        """Return the charts of this page."""
        return [chart for chart in self.query(Chart) if chart.display]

    def look(self, view: ChartView) -> None:
        """Look at all charts in a new way, and say where the crosshair is."""
        super().look(view)
        if self.is_mounted and self._has_panes:
            self._show_strip()

    # What is shown.

    def _spec(self) -> Spec:
        row = self.current
        library = self.workbench.library
        description = None if row is None else library.description(row.env_name)
        entry = None if row is None else library.entry(row.env_name)
        measured = None if entry is None or entry.training is None else entry.training.reference
        return Spec.of(self._past.record, None if description is None else description.episode_steps, measured)

    def _source(self) -> RunCharts:
        past = replace(self._past, series={**self._past.series, **self._usages.series()})
        return RunCharts(
            self.current, past, self._checkpoints, self._spec(), parent=self._origin_past, playing=self._playing
        )

    def _show_playing(self) -> None:
        """Mark the checkpoint that the viewer plays, where it is one of this run."""
        playing, steps = self.workbench.viewer.playing, None
        if playing is not None and playing.is_on and playing.ready is not None and playing.state is not None:
            steps = playing.state.checkpoint if playing.ready.run == self.path else None
        if steps != self._playing:
            self._playing = steps
            self._show_charts()

    def _pages(self) -> Pages:
        """The pages of all charts where there is room or a filter, else of the section and of what fills its last."""
        source, grid = self._source(), self._grid()
        if self._has_panes or self._pattern:
            return Pages(tuple(source.everything()), grid, self._pattern, self._number)
        charts = source.section(self._chart_section)
        if self.chart_view.numbers and charts[0].bars is not None:
            # All parts of a whole stand in one table, which needs the width.
            return Pages((charts[0],), grid, "", 0)
        for name in SECTIONS[SECTIONS.index(self._chart_section) + 1 :]:
            drawable = [
                chart
                for chart in source.section(name)
                if any(len(curve.values) for curve in chart.curves) and not chart.metric.startswith(PREFIX)
            ]
            charts += drawable[: -len(charts) % grid.room]
        return Pages(tuple(charts), grid, "", self._number)

    def _grid(self) -> Grid:
        """How many charts fit beside and above each other: a second row only where both are worth looking at."""
        size = self.query_one("#charts").size
        columns = max(1, size.width // LEAST_WIDTH)
        rows = 1 if self.size.height < TALL or size.height < 2 * LEAST_HEIGHT else max(2, size.height // ROW)
        return Grid(columns, max(1, min(rows, MOST_CHARTS // columns)))

    def _show_charts(self) -> None:
        pages = self._pages()
        self._number = min(self._number, pages.count - 1)
        page = pages.page
        columns = min(pages.grid.columns, max(1, len(page)))
        grid = self.query_one("#charts", Container)
        if grid.styles.grid_size_columns != columns:
            grid.styles.grid_size_columns = columns
        empty = self.query_one("#no-charts", Static)
        empty.display = not page
        empty.update(pages.empty)
        for place in range(MOST_CHARTS):
            chart = self.query_one(f"#chart-{place}", Chart)
            chart.display = place < len(page)
            if chart.display:
                chart.data = page[place]

    def _show_first(self) -> None:
        """Show the page that has the chart one turned to last, whatever fits on a page now."""
        pages = self._pages()
        place = next((place for place, chart in enumerate(pages.shown) if chart.metric == self._first), None)
        if place is not None:
            self._number = place // pages.grid.room
        self._show_page()

    def _show_page(self) -> None:
        self._show_charts()
        self._show_strip()

    def _show_chart_section(self, name: str) -> None:
        if self._has_panes:
            charts = self._pages().shown
            place = first_of(name, charts)
            if place is None:
                self.notify(self._source().section(name)[0].empty)
            else:
                self._chart_section, self._number = name, place // self._grid().room
        else:
            if self._chart_section != name:
                self._number = 0
            self._chart_section = name
        self._show_charts()
        shown = self.charts()
        of_it = [chart for chart in shown if section_of(chart.data.metric) == name]
        if shown:
            self._first = shown[0].data.metric
            (of_it or shown)[0].focus()

    def _take_up_filter(self, row: RunRow) -> None:
        """Filter as the charts of the last run of this algorithm were."""
        if self._pattern_of != row.algorithm:
            self._pattern_of = row.algorithm
            self._pattern = self.workbench.remembered.text(MEMORY, filter_name(row.algorithm))
            self.query_one("#chart-filter", FilterBox).value = self._pattern

    def _show_strip(self) -> None:
        row = self.current
        self.query_one("#strip", Static).update(
            strip(
                self._section if not self._has_panes or self._section in SECTIONS else self._chart_section,
                anomalies=0 if row is None else row.anomalies,
                pages=self._pages() if self._has_panes or self._section in SECTIONS else None,
                narrow=self.has_class("-tiny"),
                has_tabs=self._has_panes,
                plain=self.workbench.plain,
                extra=self._moment(),
            )
        )

    def _moment(self) -> Content:
        """Where the crosshair is, and what the charts on the page say there."""
        if not self._has_panes or self.chart_view.at is None:
            return Content("")
        return moment([(chart.data, chart.plan) for chart in self.charts()], self.chart_view)

    # Turning.

    def _turn_to(self, number: int) -> None:
        self._number = number
        self._show_charts()
        shown = self.charts()
        self._first = shown[0].data.metric if shown else ""
        if self._has_panes and shown and self._section in SECTIONS:
            self._section = self._chart_section = section_of(shown[0].data.metric)
            shown[0].focus()
        self._show_strip()

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
