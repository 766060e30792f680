"""The widget every curve of the app is drawn by: a frame, cells, and the colours of the theme.

Attributes down, messages up: a screen sets `data` and `view`; what the mouse means comes back as messages. It draws
again only when one of them, its size or the theme changed, and only while it is visible; a crosshair that moves is laid
over what is drawn already.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.ui.charts.cells import style_of
from workbench.ui.charts.drawing import Drawing, point_at, sketch
from workbench.ui.charts.model import ChartData, ChartView
from workbench.ui.charts.numbers import tabulate
from workbench.ui.charts.plan import Plan
from workbench.ui.charts.raster import column_of
from workbench.ui.charts.readout import Words, readout, settings_parts
from workbench.ui.charts.trace import Traces
from workbench.ui.widgets.chart_palette import ChartPalette

WHEEL = 1.5
"""By how much one notch of the wheel zooms."""


class Chart(Widget, can_focus=True):
    """One chart with its title on the frame.

    Args:
        data: What to show.
        view: How to look at it.
    """

    ALLOW_MAXIMIZE = True
    ALLOW_SELECT = False
    """Dragging moves what is seen."""
    DEFAULT_CSS = """
    Chart { height: 1fr; width: 1fr; min-height: 4; }
    """

    @dataclass
    class Told(Message):
        """Something was done to a chart with the mouse."""

        chart: Chart

        @property
        def control(self) -> Chart:
            """The chart, for selectors."""
            return self.chart

    @dataclass
    class Clicked(Told):
        """A place of the plot was clicked."""

        x: float
        """On the x axis."""

    @dataclass
    class Hovered(Told):
        """The pointer moved over the plot, or left the chart."""

        x: float | None
        """On the x axis."""

    @dataclass
    class Zoomed(Told):
        """The wheel was turned over a place of the plot."""

        x: float
        """On the x axis."""
        factor: float
        """Above 1 to see less of it, larger."""

    @dataclass
    class Dragged(Told):
        """The plot was moved with the pointer."""

        by: float
        """How far along the x axis the stretch that is seen moves on."""

    @dataclass
    class AxisDoubleClicked(Told):
        """The x axis was clicked twice."""

    @dataclass
    class TitleDoubleClicked(Told):
        """The title was clicked twice."""

    @dataclass
    class CheckpointClicked(Told):
        """A checkpoint under the axis was clicked."""

        steps: int

    @dataclass
    class SettingClicked(Told):
        """One of the words in the upper border that say how it is drawn was clicked."""

        command: str
        """The command that changes it."""

    def __init__(self, data: ChartData, view: ChartView | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._data = data
        self._view = view or ChartView()
        self._traces = Traces()
        self._sketch: Drawing | None = None
        self._drawing: Drawing | None = None
        self._lines: list[Strip] = []
        self._settings_at: list[tuple[int, int, str]] = []
        self._dragged_from: int | None = None
        self._was_dragged = False
        self.drawn = 0
        """How often the chart was drawn; what has not changed is not drawn again."""

    @property
    def data(self) -> ChartData:
        """What is shown."""
        return self._data

    @data.setter
    def data(self, data: ChartData) -> None:
        if data is not self._data:
            self._data = data
            self._redraw()

    @property
    def view(self) -> ChartView:
        """How it is looked at."""
        return self._view

    @view.setter
    def view(self, view: ChartView) -> None:
        if view == self._view:
            return
        if _without_crosshair(view) == _without_crosshair(self._view):
            self._view = view
            self._drawing = None
            self._repaint()
        else:
            self._view = view
            self._redraw()

    @property
    def _is_plain(self) -> bool:
        """Whether values are written as numbers, in a frame of ASCII."""
        return bool(getattr(self.app, "plain", False))

    @property
    def plan(self) -> Plan:
        """The ranges and curves as drawn now."""
        return self._draw().plan

    def on_mount(self) -> None:
        """Draw again in other colours when the theme changes."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._recolour())

    def on_resize(self) -> None:
        """Draw for the new size."""
        self._redraw()

    def on_focus(self) -> None:
        """Show the focus on the frame."""
        self._repaint()

    def on_blur(self) -> None:
        """Show it no more."""
        self._repaint()

    # The mouse.

    def on_click(self, event: events.Click) -> None:
        """Say what was meant by a click."""
        if self._was_dragged:
            self._was_dragged = False
            return
        drawing = self._draw()
        if event.y == 0:
            command = next((name for start, end, name in self._settings_at if start <= event.x < end), "")
            if command:
                self.post_message(self.SettingClicked(self, command))
            elif event.chain == 2:
                self.post_message(self.TitleDoubleClicked(self))
            return
        x = self._position(event.x)
        if x is None:
            return
        if event.y == drawing.height + 1 and event.chain == 2:
            self.post_message(self.AxisDoubleClicked(self))
        elif event.y == drawing.height + 2 and (steps := self._rung_at(event.x)) is not None:
            self.post_message(self.CheckpointClicked(self, steps))
        elif event.y <= drawing.height:
            self.post_message(self.Clicked(self, x))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the plot."""
        self._was_dragged = False
        if event.button == 1 and self._is_in_plot(event):
            self._dragged_from = event.x
            self.capture_mouse()

    def on_mouse_up(self) -> None:
        """Let go of it."""
        if self._dragged_from is not None:
            self._dragged_from = None
            self.release_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Move what is seen along with the pointer while it holds the plot, else the crosshair."""
        if self._dragged_from is None:
            self.post_message(self.Hovered(self, self._position(event.x) if self._is_in_plot(event) else None))
            return
        drawing = self._draw()
        moved = event.x - self._dragged_from
        if moved and drawing.width:
            low, high = drawing.plan.x_range
            self._dragged_from, self._was_dragged = event.x, True
            self.post_message(self.Dragged(self, -moved * (high - low) / drawing.width))

    def on_leave(self) -> None:
        """Take the crosshair that goes with the pointer away."""
        self.post_message(self.Hovered(self, None))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Zoom in about the pointer."""
        self._zoom(event, WHEEL)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Zoom out about the pointer."""
        self._zoom(event, 1 / WHEEL)

    def _zoom(self, event: events.MouseEvent, factor: float) -> None:
        x = self._position(event.x)
        if x is not None:
            event.stop()
            self.post_message(self.Zoomed(self, x, factor))

    def _is_in_plot(self, event: events.MouseEvent) -> bool:
        return self._position(event.x) is not None and 1 <= event.y <= self._draw().height

    def _position(self, column: int) -> float | None:
        """The place on the x axis of a column of the widget; nothing beside the plot."""
        drawing = self._draw()
        inside = column - 1 - drawing.left
        if not drawing.width or not 0 <= inside < drawing.width:
            return None
        low, high = drawing.plan.x_range
        return low + (high - low) * (inside + 0.5) / drawing.width

    def _rung_at(self, column: int) -> int | None:
        drawing = self._draw()
        inside = column - 1 - drawing.left
        for rung in reversed(self._data.checkpoints):
            if column_of(drawing.plan.x_of(rung.steps), drawing.plan.x_range, drawing.width) == inside:
                return rung.steps
        return None

    # Drawing.

    def render_line(self, y: int) -> Strip:
        """Return one row of the frame and what it holds."""
        if not self._lines:
            self._lines = self._paint()
        return self._lines[y] if y < len(self._lines) else Strip.blank(self.size.width, self.rich_style)

    def _redraw(self) -> None:
        self._sketch = self._drawing = None
        self._repaint()

    def _repaint(self) -> None:
        self._lines = []
        self.refresh()

    def _recolour(self) -> None:
        self.__dict__.pop("palette", None)
        self._repaint()

    def _draw(self) -> Drawing:
        if self._sketch is None:
            width, height = self.size.width - 2, self.size.height - 2
            if self._is_plain or self._view.numbers:
                self._sketch = tabulate(
                    self._data, self._view, width, height, traces=self._traces, plain=self._is_plain
                )
            else:
                self._sketch = sketch(
                    self._data, self._view, width, height, traces=self._traces, tinted=self._has_tints
                )
            self._drawing = None
            self.drawn += 1
        if self._drawing is None:
            self._drawing = point_at(self._sketch, self._data, self._view)
        return self._drawing

    @property
    def _has_tints(self) -> bool:
        """Whether the terminal has colours faint enough to lie behind a line."""
        return self.app.console.color_system == "truecolor" and not self.app.no_color

    def _paint(self) -> list[Strip]:
        drawing = self._draw()
        base = self.rich_style
        frame = base + self.palette.style("frame-focus" if self.has_focus else "frame")
        side = Segment("|" if self._is_plain else "│", frame)
        plan, room = drawing.plan, self.size.width - 6
        title: Words = [(self._data.title, "title-focus" if self.has_focus else "title")]
        for item in plan.curves if self._data.legend else ():
            title += [(f"  {item.curve.letter}", style_of("letter", item)), (f" {item.curve.label}", "tick")]
        if self._data.note:
            title.append((f"  {self._data.note}", "note"))
        parts = settings_parts(self._data, self._view, plan, room)
        how = " · ".join(text for _, text in parts)
        state = ""
        if self._view.window is not None:
            state = "f following" if self._view.following else "f held"
        lines = [self._edge("╭", "╮", title, how, frame)]
        self._settings_at = self._places_of(parts) if how in lines[0].text else []
        # There are hundreds of stretches, but only some dozen styles.
        inks = {look: base + self.palette.style(*look) for look in {cell[1:] for row in drawing.rows for cell in row}}
        for row in drawing.rows:
            stretches = groupby(row, itemgetter(1, 2))
            inner = [Segment("".join(cell.sign for cell in cells), inks[look]) for look, cells in stretches]
            lines.append(Strip([side, *inner, side], self.size.width))
        told = readout(self._data, self._view, plan, room)
        lines.append(self._edge("╰", "╯", told, state, frame))
        return lines

    def _places_of(self, parts: list[tuple[str, str]]) -> list[tuple[int, int, str]]:
        """Where in the upper border the words stand that say how it is drawn, from the right."""
        places, end = [], self.size.width - 3
        for name, text in reversed(parts):
            places.append((end - len(text), end, name))
            end -= len(text) + len(" · ")
        return places

    def _edge(self, first: str, last: str, words: Words, right: str, frame: Style) -> Strip:
        """An upper or lower border: words at its left, a few more at its right where they fit."""
        base, room = self.rich_style, self.size.width - 4
        if self._is_plain:
            first = last = "+"
        line = "-" if self._is_plain else "─"
        segments, used = [Segment(f"{first}{line}", frame)], 0
        if words and room > 4:
            segments.append(Segment(" ", frame))
            used = 2
            for text, style in words:
                if used >= room:
                    break
                shown = text if used + len(text) <= room else text[: max(0, room - used - 1)] + "…"
                segments.append(Segment(shown, base + self.palette.style(style)))
                used += len(shown)
                if shown is not text:
                    break
            segments.append(Segment(" ", frame))
        tail = f" {right} " if right and used + len(right) + 3 <= room else ""
        segments.append(Segment(line * max(0, room - used - len(tail)), frame))
        segments.append(Segment(tail, base + self.palette.style("tick")))
        segments.append(Segment(f"{line}{last}", frame))
        return Strip(segments).adjust_cell_length(self.size.width, base)

    @cached_property
    def palette(self) -> ChartPalette:
        """The styles of cells in the theme of now."""
        return ChartPalette(self.app.theme_variables)


def _without_crosshair(view: ChartView) -> ChartView:
    return replace(view, cursor=None, hovered=None)
