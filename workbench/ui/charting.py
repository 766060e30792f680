"""The keys of charts, for any screen that has some: they act on all its charts, whatever has the focus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from textual import on

from workbench.ui.charts import looking
from workbench.ui.charts.drawing import checkpoint_at
from workbench.ui.charts.model import ChartView, SeedView, XAxis
from workbench.ui.charts.plan import Plan
from workbench.ui.charts.weights import WEIGHTS
from workbench.ui.screen import WorkbenchScreen
from workbench.ui.widgets.chart import Chart
from workbench.ui.widgets.log_view import LogView

MEMORY = "charts"
"""Where the way of looking is remembered: it is the same on all screens."""


class ChartedScreen(WorkbenchScreen):
    """A screen with charts that share their x axis, their smoothing and their crosshair."""

    def __init__(self) -> None:
        super().__init__()
        self.chart_view = ChartView()

    def on_mount(self) -> None:
        """Look at charts as last time."""
        memory = self.workbench.remembered
        chosen = self.workbench.settings.smoothing
        weight = memory.text(MEMORY, "smoothing") if chosen is None else str(chosen)
        axis = memory.text(MEMORY, "x_axis")
        seeds = memory.text(MEMORY, "seeds")
        self.look(
            replace(
                self.chart_view,
                weight=float(weight) if weight in [str(item) for item in WEIGHTS] else self.chart_view.weight,
                x_axis=XAxis(axis) if axis in [str(item) for item in XAxis] else self.chart_view.x_axis,
                log=frozenset(memory.texts(MEMORY, "log")),
                seeds=SeedView(seeds) if seeds in [str(item) for item in SeedView] else self.chart_view.seeds,
            )
        )

    def on_screen_suspend(self) -> None:
        """Forget where the pointer was: it will be elsewhere."""
        self.look(replace(self.chart_view, hovered=None))

    @property
    def is_seen(self) -> bool:
        """Whether it is on the terminal: on top, or with nothing but cards over it."""
        stack = self.app.screen_stack
        return self in stack and all(screen.is_modal for screen in stack[stack.index(self) + 1 :])

    def charts(self) -> Sequence[Chart]:
        """Return the charts of this screen that are not hidden, the main one first."""
        return [chart for chart in self.query(Chart) if chart.display]

    def active_chart(self) -> Chart | None:
        """Return the chart with the focus, else the main one."""
        if isinstance(self.focused, Chart):
            return self.focused
        shown = self.charts()
        return shown[0] if shown else None

    def look(self, view: ChartView) -> None:
        """Look at all charts of this screen in a new way."""
        self.chart_view = view
        for chart in self.query(Chart):
            chart.view = view

    def crosshair_checkpoint(self) -> int | None:
        """Return the steps of the checkpoint the crosshair means; nothing without one."""
        chart = self.active_chart()
        return None if chart is None else checkpoint_at(chart.data, self.chart_view.at)

    def drop_crosshair(self) -> bool:
        """Take away the crosshair that was set and return whether there was one."""
        had = self.chart_view.cursor is not None
        self.look(replace(self.chart_view, cursor=None))
        return had

    def _change(self, change: Callable[[ChartView, Plan], ChartView]) -> None:
        chart = self.active_chart()
        if chart is not None:
            self.look(change(self.chart_view, chart.plan))

    # The mouse: what it means on one chart holds for all of the screen.

    @on(Chart.Clicked)
    def _clicked(self, message: Chart.Clicked) -> None:
        self.look(looking.at_position(self.chart_view, message.chart.plan, message.x))

    @on(Chart.Hovered)
    def _hovered(self, message: Chart.Hovered) -> None:
        self.look(looking.hovered(self.chart_view, message.chart.plan, message.x))

    @on(Chart.Zoomed)
    def _zoomed(self, message: Chart.Zoomed) -> None:
        self.look(looking.zoomed(self.chart_view, message.chart.plan, message.factor, message.x))

    @on(Chart.Dragged)
    def _dragged(self, message: Chart.Dragged) -> None:
        self.look(looking.moved(self.chart_view, message.chart.plan, message.by))

    @on(Chart.AxisDoubleClicked)
    def _axis_double_clicked(self) -> None:
        self.action_view_whole()

    @on(Chart.CheckpointClicked)
    def _checkpoint_clicked(self, message: Chart.CheckpointClicked) -> None:
        self.look(replace(self.chart_view, cursor=float(message.steps)))

    @on(Chart.SettingClicked)
    async def _setting_clicked(self, message: Chart.SettingClicked) -> None:
        message.chart.focus()
        await self.run_action(message.command.replace(".", "_"))

    @on(Chart.TitleDoubleClicked)
    async def _title_double_clicked(self, message: Chart.TitleDoubleClicked) -> None:
        message.chart.focus()
        await self.run_action("view_maximise")

    # The keys.

    def toggle_numbers(self) -> None:
        """Show all charts as tables of numbers, or as drawings again."""
        self.look(replace(self.chart_view, numbers=not self.chart_view.numbers))

    def action_move_left(self) -> None:
        """Move the crosshair back by one point; a text that has the focus scrolls instead."""
        if isinstance(self.focused, LogView):
            super().action_move_left()
            return
        self._change(lambda view, plan: looking.stepped(view, plan, -1))

    def action_move_right(self) -> None:
        """Move the crosshair on by one point; a text that has the focus scrolls instead."""
        if isinstance(self.focused, LogView):
            super().action_move_right()
            return
        self._change(lambda view, plan: looking.stepped(view, plan, 1))

    def action_checkpoint_previous(self) -> None:
        """Move the crosshair to the checkpoint before."""
        chart = self.active_chart()
        if chart is not None:
            self.look(looking.at_checkpoint(self.chart_view, chart.data, -1))

    def action_checkpoint_next(self) -> None:
        """Move the crosshair to the checkpoint after."""
        chart = self.active_chart()
        if chart is not None:
            self.look(looking.at_checkpoint(self.chart_view, chart.data, 1))

    def action_chart_smoothing(self) -> None:
        """Smooth more strongly, then not at all."""
        self.look(looking.next_weight(self.chart_view))
        self.workbench.remembered.keep(MEMORY, "smoothing", str(self.chart_view.weight))

    def action_chart_x_axis(self) -> None:
        """Draw over steps, wall time or episodes."""
        self.look(looking.next_axis(self.chart_view))
        self.workbench.remembered.keep(MEMORY, "x_axis", self.chart_view.x_axis.value)

    def action_chart_log_y(self) -> None:
        """Make the y axis of the active chart logarithmic, or straight again."""
        chart = self.active_chart()
        if chart is None:
            return
        refusal = None if chart.data.metric in self.chart_view.log else looking.log_refusal(chart.data)
        if refusal is not None:
            self.notify(f"{chart.data.title}: {refusal}", severity="warning")
            return
        self.look(looking.toggled_log(self.chart_view, chart.data.metric))
        self.workbench.remembered.keep(MEMORY, "log", sorted(self.chart_view.log))

    def action_chart_seeds(self) -> None:
        """Draw groups of seeds as a band, a range or lines."""
        self.look(looking.next_seeds(self.chart_view))
        self.workbench.remembered.keep(MEMORY, "seeds", self.chart_view.seeds.value)

    def action_view_zoom_in(self) -> None:
        """Show half the stretch."""
        self._change(lambda view, plan: looking.zoomed(view, plan, 2.0))

    def action_view_zoom_out(self) -> None:
        """Show twice the stretch."""
        self._change(lambda view, plan: looking.zoomed(view, plan, 0.5))

    def action_view_pan_left(self) -> None:
        """Show what lies half a width before."""
        self._change(lambda view, plan: looking.panned(view, plan, -1))

    def action_view_pan_right(self) -> None:
        """Show what lies half a width further on."""
        self._change(lambda view, plan: looking.panned(view, plan, 1))

    def action_view_whole(self) -> None:
        """Show everything."""
        self.look(replace(self.chart_view, window=None, following=True))

    def action_view_follow(self) -> None:
        """Follow the newest point at the same width."""
        self.look(replace(self.chart_view, following=True))
