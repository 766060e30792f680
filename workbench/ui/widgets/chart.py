"""The widget every curve of the app is drawn by: a frame, cells, and the colours of the theme.

Attributes down, messages up: a screen sets `data` and `view`; a click comes back as a message. It draws again only
when one of them, its size, the theme or the focus changed, and only while it is visible.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.ui.charts.drawing import Drawing, draw, style_of
from workbench.ui.charts.model import ChartData, ChartView
from workbench.ui.charts.numbers import tabulate
from workbench.ui.charts.plan import Plan
from workbench.ui.charts.readout import Words, readout, settings
from workbench.ui.theme import SERIES_COUNT

RAW_FAINTNESS = 0.62
"""How far the raw line is blended into the background."""


class Chart(Widget, can_focus=True):
    """One chart with its title on the frame.

    Args:
        data: What to show.
        view: How to look at it.
    """

    ALLOW_MAXIMIZE = True
    DEFAULT_CSS = """
    Chart { height: 1fr; width: 1fr; min-height: 4; }
    """

    @dataclass
    class Clicked(Message):
        """A place of the plot was clicked."""

        chart: Chart
        x: float
        """On the x axis."""

        @property
        def control(self) -> Chart:
            """The chart, for selectors."""
            return self.chart

    def __init__(self, data: ChartData, view: ChartView | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._data = data
        self._view = view or ChartView()
        self._drawing: Drawing | None = None
        self._lines: list[Strip] = []
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
        if view != self._view:
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

    def on_click(self, event: events.Click) -> None:
        """Say which place of the plot was meant."""
        drawing = self._draw()
        column = event.x - 1 - drawing.left
        if drawing.width and 0 <= column < drawing.width:
            low, high = drawing.plan.x_range
            self.post_message(self.Clicked(self, low + (high - low) * (column + 0.5) / drawing.width))

    def render_line(self, y: int) -> Strip:
        """Return one row of the frame and what it holds."""
        if not self._lines:
            self._lines = self._paint()
        return self._lines[y] if y < len(self._lines) else Strip.blank(self.size.width, self.rich_style)

    def _redraw(self) -> None:
        self._drawing = None
        self._repaint()

    def _repaint(self) -> None:
        self._lines = []
        self.refresh()

    def _recolour(self) -> None:
        self.__dict__.pop("palette", None)
        self._repaint()

    def _draw(self) -> Drawing:
        if self._drawing is None:
            drawn_by = tabulate if self._is_plain else draw
            self._drawing = drawn_by(self._data, self._view, self.size.width - 2, self.size.height - 2)
            self.drawn += 1
        return self._drawing

    def _paint(self) -> list[Strip]:
        drawing = self._draw()
        base = self.rich_style
        frame = base + self.palette["frame-focus" if self.has_focus else "frame"]
        side = Segment("|" if self._is_plain else "│", frame)
        plan, room = drawing.plan, self.size.width - 6
        title: Words = [(self._data.title, "title-focus" if self.has_focus else "title")]
        for item in plan.curves if self._data.legend else ():
            title += [(f"  {item.curve.letter}", style_of("letter", item)), (f" {item.curve.label}", "tick")]
        if self._data.note:
            title.append((f"  {self._data.note}", "note"))
        how = settings(self._data, self._view, plan, room)
        state = ""
        if self._view.window is not None:
            state = "f following" if self._view.following else "f held"
        lines = [self._edge("╭", "╮", title, how, frame)]
        for row in drawing.rows:
            segments = [side]
            style, text = "", ""
            for cell in row:
                if cell.style != style and text:
                    segments.append(Segment(text, base + self.palette.get(style, Style.null())))
                    text = ""
                style = cell.style
                text += cell.sign
            segments += [Segment(text, base + self.palette.get(style, Style.null())), side]
            lines.append(Strip(segments, self.size.width))
        lines.append(self._edge("╰", "╯", readout(self._data, self._view, plan), state, frame))
        return lines

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
                segments.append(Segment(shown, base + self.palette.get(style, Style.null())))
                used += len(shown)
                if shown is not text:
                    break
            segments.append(Segment(" ", frame))
        tail = f" {right} " if right and used + len(right) + 3 <= room else ""
        segments.append(Segment(line * max(0, room - used - len(tail)), frame))
        segments.append(Segment(tail, base + self.palette["tick"]))
        segments.append(Segment(f"{line}{last}", frame))
        return Strip(segments).adjust_cell_length(self.size.width, base)

    @cached_property
    def palette(self) -> dict[str, Style]:
        """The style of each kind of cell in the theme of now."""
        variables = self.app.theme_variables
        background = Color.parse(variables["background"])

        def ink(name: str, *, faint: float = 0.0, bold: bool = False) -> Style:
            colour = Color.parse(variables[name]).blend(background, faint)
            return Style(color=colour.rich_color, bold=bold or None)

        styles = {
            "frame": ink("border-blurred"),
            "frame-focus": ink("accent"),
            "title": ink("foreground"),
            "title-focus": ink("foreground", bold=True),
            "note": ink("warning"),
            "text": ink("foreground"),
            "axis": ink("muted", faint=0.35),
            "tick": ink("muted"),
            "empty": ink("muted"),
            "reference": ink("muted"),
            "cursor": ink("accent", bold=True),
            "point": ink("foreground", bold=True),
            "ladder": ink("muted"),
            "best": ink("success", bold=True),
            "flag": ink("warning", bold=True),
            "bad": ink("error", bold=True),
        }
        for slot in (*range(SERIES_COUNT), "muted"):
            name = "muted" if slot == "muted" else f"series-{int(slot) + 1}"
            styles[f"series-{slot}"] = styles[f"letter-{slot}"] = ink(name)
            styles[f"series-{slot}-bold"] = styles[f"letter-{slot}-bold"] = ink(name, bold=True)
            styles[f"raw-{slot}"] = ink(name, faint=RAW_FAINTNESS)
        return styles
