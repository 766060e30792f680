"""A screen of sections: pages of charts, where they lead, and the texts beside or behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from workbench.ui.chart_sections import SECTIONS
from workbench.ui.charting import MEMORY
from workbench.ui.charts.model import ChartData, ChartView
from workbench.ui.charts.pages import LEAST_HEIGHT, LEAST_WIDTH, Grid, Pages, filter_name
from workbench.ui.footer import CommandFooter
from workbench.ui.run_actions import RunScreenBase
from workbench.ui.run_strip import TEXTS, first_of, moment, section_of, strip
from workbench.ui.section_texts import SectionTexts
from workbench.ui.usage import PREFIX
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
BESIDE = 160
"""Columns from which on the pane of texts stands beside the charts."""


class Source(Protocol):
    """What has the charts of a screen."""

    def section(self, name: str) -> list[ChartData]:
        """Return the charts of a section; at least one, which may say why it is empty."""
        ...

    def everything(self) -> list[ChartData]:
        """Return all charts that have something to show, in the order of pages."""
        ...


class RunPaging(RunScreenBase):
    """The part of a screen of one run, or of one group of seeds, that turns its pages of charts and shows its texts.

    Args:
        section: The one to begin with.
    """

    CSS_PATH = "run.tcss"
    TEXTS: ClassVar[tuple[str, ...]] = TEXTS
    """The sections behind those of charts."""

    def __init__(self, section: str) -> None:
        super().__init__()
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

    def compose_charts(self) -> ComposeResult:
        """Yield the page of charts."""
        with Container(id="charts"):
            for place in range(MOST_CHARTS):
                yield Chart(ChartData("", ""), id=f"chart-{place}")
            yield Static(id="no-charts")

    def compose_strip(self) -> ComposeResult:
        """Yield the row of names."""
        names = Static(id="strip")
        # Names that can be clicked look like names, not like links.
        names.auto_links = False
        yield names

    @property
    def texts(self) -> SectionTexts:
        """The texts."""
        return self.query_one(SectionTexts)

    def fit(self) -> None:
        """Put as many charts on a page as fit, and texts beside them where there is room."""
        had, first = self.has_class("-panes"), self._first
        self.set_class(self._has_panes, "-panes")
        self.set_class(self.size.width >= BESIDE, "-beside")
        self.texts.frame(self._has_panes)
        if had != self._has_panes:
            self.show_section(self._section)
            self._first = first
        self.call_after_refresh(self._show_first)

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

    def _source(self) -> Source:
        """What has the charts."""
        raise NotImplementedError

    def _ready(self, data: ChartData) -> ChartData:
        """Return a chart of this page with what is computed for those that are seen only."""
        return data

    def show_section(self, name: str) -> None:
        """Show a section: a page of charts, or one of the texts."""
        self._section = name
        is_text = name in self.TEXTS
        self.set_class(is_text, "-text")
        self.set_class(not is_text, "-chart")
        if is_text:
            self.texts.show(name)
            self.texts.text(name).focus()
        else:
            self._show_chart_section(name)
        self._show_strip()
        footer = f"{self.NAME}/{name}" if is_text else f"{self.NAME}/Charts" if self._has_panes else self.NAME
        self.query_one(CommandFooter).use(footer)
        self.refresh_bindings()

    def action_show_section(self, name: str) -> None:
        """Show the section whose name was clicked."""
        self.show_section(name)

    @on(SectionTexts.TabClicked)
    def _tab_clicked(self, message: SectionTexts.TabClicked) -> None:
        self.show_section(message.name)

    def on_descendant_focus(self) -> None:
        """Let the section be the one that has the focus, where several are seen."""
        focused = self.focused
        name = next((name for name in self.TEXTS if focused is not None and focused is self.texts.text(name)), None)
        if name is None and isinstance(focused, Chart):
            name = section_of(focused.data.metric) if self._has_panes else self._chart_section
        if name is None or not self._has_panes or name == self._section:
            return
        self._section = name
        if name in SECTIONS:
            self._chart_section = name
        self._show_strip()
        self.query_one(CommandFooter).use(f"{self.NAME}/{name}" if name in self.TEXTS else f"{self.NAME}/Charts")
        self.refresh_bindings()

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
                chart.data = self._ready(page[place])

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
                texts=self.TEXTS,
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

    def action_view_next_page(self) -> None:
        """Go to the next page or section."""
        self._turn(1)

    def action_view_previous_page(self) -> None:
        """Go to the previous page or section."""
        self._turn(-1)

    def _turn(self, by: int) -> None:
        pages = self._pages()
        if self._has_panes:
            self._turn_to(pages.turned(by).number)
            return
        if self._section in SECTIONS and 0 <= self._number + by < pages.count:
            self._turn_to(self._number + by)
            return
        # With a filter all charts are one section.
        names = (self._chart_section, *self.TEXTS) if self._pattern else (*SECTIONS, *self.TEXTS)
        name = names[(names.index(self._section) + by) % len(names)]
        self.show_section(name)
        if name in SECTIONS:
            self._turn_to(self._pages().count - 1 if by < 0 else 0)

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

    # Finding.

    def filter_charts(self, text: str) -> None:
        """Show the charts that a regular expression matches, now and on the next screen of this algorithm."""
        if text != self._pattern:
            self._pattern, self._number = text, 0
            self.workbench.remembered.keep(MEMORY, filter_name(self._pattern_of), text)
            self._show_page()

    def clear_chart_filter(self) -> bool:
        """Show all charts again and return whether some were left out."""
        box = self.query_one("#chart-filter", FilterBox)
        if self._pattern and self.query_one("#charts").display and box.clear_filter():
            self.filter_charts("")
            return True
        return False
