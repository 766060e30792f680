"""A table whose rows are told apart by a key: the cursor stays on its row wherever that moves.

Rows are plain values handed over whole; the table compares them with what it shows and draws again only what a person
can see. Columns take the width of their content, and one of them what is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.color import Color
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

Part = tuple[str, str]
"""A piece of text and the theme variable of its colour, followed by ` bold` or ` reverse` where it is that; the
colour may be empty for the usual one."""

_STRIPS_KEPT = 64
"""Of rows that are no longer there."""


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    key: str
    title: str = ""
    align: Literal["left", "right"] = "left"
    least: int = 0
    """The width it has at least."""
    grows: bool = False
    """Whether it takes the width that is left; one column does."""


@dataclass(frozen=True)
class Row:
    """One row: its key, and a few pieces of text a column."""

    key: str
    cells: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)

    @cached_property
    def widths(self) -> Mapping[str, int]:
        """How long the text of each column is."""
        return {column: sum(len(text) for text, _ in parts) for column, parts in self.cells.items()}


def cell(text: str, colour: str = "") -> tuple[Part, ...]:
    """Return a cell of one piece."""
    return ((text, colour),) if text else ()


class RowTable(ScrollView, can_focus=True):
    """A table with a cursor.

    Args:
        columns: What its columns are.
        empty: The sentence shown without rows.
    """

    ALLOW_MAXIMIZE = True
    DEFAULT_CSS = """
    RowTable {
        height: 1fr;
        width: 1fr;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        overflow-x: hidden;
    }
    """
    BINDINGS = [
        Binding("up", "cursor_up", "Up", show=False),
        Binding("down", "cursor_down", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
    ]

    @dataclass
    class Moved(Message):
        """The cursor is on another row."""

        table: RowTable
        key: str | None

        @property
        def control(self) -> RowTable:
            """The table, for selectors."""
            return self.table

    @dataclass
    class Chosen(Message):
        """A row was double-clicked."""

        table: RowTable
        key: str

        @property
        def control(self) -> RowTable:
            """The table, for selectors."""
            return self.table

    @dataclass
    class CellClicked(Message):
        """A cell was clicked, once or as the first click of two."""

        table: RowTable
        key: str
        column: str
        x: int
        """The cell of the terminal within the column, from its left."""

        @property
        def control(self) -> RowTable:
            """The table, for selectors."""
            return self.table

    @dataclass
    class HeadClicked(Message):
        """The head of a column was clicked."""

        table: RowTable
        column: str

        @property
        def control(self) -> RowTable:
            """The table, for selectors."""
            return self.table

    def __init__(self, columns: Sequence[Column], *, empty: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self._columns = tuple(columns)
        self._rows: tuple[Row, ...] = ()
        self._empty = empty
        self._cursor: str | None = None
        self._widths: dict[str, int] = {}
        self._sorted: tuple[str, str] = ("", "")
        self._has_head = any(column.title for column in columns)
        self._inks: dict[str, Style] = {}
        """Of each colour in the theme of now."""
        self._strips: dict[str, tuple[object, Strip]] = {}
        """What each row looks like, and what that was made of; in the widths of now."""

    # What it shows.

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows, in their order."""
        return self._rows

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, in their order."""
        return self._columns

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show other rows; the cursor stays on its row, or goes to the one that took its place."""
        rows, before = tuple(rows), self._rows
        if rows == before:
            return
        if len(self._strips) > 2 * len(rows) + _STRIPS_KEPT:
            self._strips = {}
        place = self.cursor_place
        self._rows = rows
        keys = [row.key for row in rows]
        if self._cursor not in keys:
            self._cursor = keys[min(max(place, 0), len(keys) - 1)] if keys else None
            self.post_message(self.Moved(self, self._cursor))
        if not self._measure() and len(rows) == len(before):
            self._refresh_rows(at for at, (row, old) in enumerate(zip(rows, before, strict=True)) if row != old)
        self._show_cursor()

    def set_columns(self, columns: Sequence[Column]) -> None:
        """Show other columns of the same rows."""
        if tuple(columns) != self._columns:
            self._columns = tuple(columns)
            self._has_head = any(column.title for column in columns)
            self._measure()
            self._strips = {}
            self.refresh()

    def set_empty(self, sentence: str) -> None:
        """Say something else while there are no rows."""
        if sentence != self._empty:
            self._empty = sentence
            if not self._rows:
                self.refresh()

    def set_sorted(self, column: str, sign: str) -> None:
        """Mark the column by which the rows are sorted."""
        if (column, sign) != self._sorted:
            self._sorted = (column, sign)
            self._measure()
            self.refresh()

    # The cursor.

    @property
    def cursor(self) -> str | None:
        """The key of the row under the cursor."""
        return self._cursor

    @property
    def cursor_place(self) -> int:
        """The place of the row under the cursor; -1 without rows."""
        return next((place for place, row in enumerate(self._rows) if row.key == self._cursor), -1)

    def move_to(self, key: str) -> None:
        """Put the cursor on a row, once there is one with that key."""
        if key != self._cursor and any(row.key == key for row in self._rows):
            before = self.cursor_place
            self._cursor = key
            self._refresh_rows((before, self.cursor_place))
            self._show_cursor()
            self.post_message(self.Moved(self, key))

    def move_by(self, rows: int) -> None:
        """Move the cursor by a number of rows, to the first or last at most."""
        if self._rows:
            place = min(max(self.cursor_place + rows, 0), len(self._rows) - 1)
            self.move_to(self._rows[place].key)

    def action_cursor_up(self) -> None:
        """One row up."""
        self.move_by(-1)

    def action_cursor_down(self) -> None:
        """One row down."""
        self.move_by(1)

    def action_page(self, direction: int) -> None:
        """One page up or down."""
        self.move_by(direction * max(1, self._room))

    def action_first(self) -> None:
        """To the first row."""
        self.move_by(-len(self._rows))

    def action_last(self) -> None:
        """To the last row."""
        self.move_by(len(self._rows))

    def on_click(self, event: events.Click) -> None:
        """Move to the clicked row, open it on a second click; a click on the head sorts."""
        y = event.y - (1 if self._has_head else 0)
        if y < 0:
            column, _ = self._column_at(event.x)
            if column:
                self.post_message(self.HeadClicked(self, column))
            return
        place = self.scroll_offset.y + y
        if place < len(self._rows):
            key = self._rows[place].key
            self.move_to(key)
            if event.chain == 2:
                self.post_message(self.Chosen(self, key))
            else:
                self.post_message(self.CellClicked(self, key, *self._column_at(event.x)))

    # Drawing.

    def on_resize(self) -> None:
        """Share the width anew."""
        self._measure()
        self._show_cursor()

    def watch_show_vertical_scrollbar(self) -> None:
        """Share the width anew where a scrollbar takes some of it."""
        self._measure()

    def on_mount(self) -> None:
        """Draw again in other colours when the theme changes."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._recolour())

    def render_line(self, y: int) -> Strip:
        """Return one visible line: the head, or a row."""
        width, base = self.scrollable_content_region.width, self.rich_style
        if self._has_head and y == 0:
            return self._head(base).adjust_cell_length(width, base)
        place = self.scroll_offset.y + y - (1 if self._has_head else 0)
        if not self._rows:
            middle = max(1, self.size.height // 3)
            lines = _wrapped(self._empty, max(10, width - 4))
            at = y - middle
            text = lines[at].center(width) if 0 <= at < len(lines) else ""
            return Strip([Segment(text, base + self._ink("muted"))]).adjust_cell_length(width, base)
        if not 0 <= place < len(self._rows):
            return Strip.blank(width, base)
        return self._line(self._rows[place], base).adjust_cell_length(width, base)

    def _head(self, base: Style) -> Strip:
        style = base + self._ink("muted") + Style(bold=True)
        texts = [_fit(self._title(column), self._widths.get(column.key, 0), column.align) for column in self._columns]
        return Strip([Segment(" ".join(texts), style)])

    def _title(self, column: Column) -> str:
        name, sign = self._sorted
        return f"{column.title}{sign}" if column.key == name and column.title else column.title

    def _line(self, row: Row, base: Style) -> Strip:
        if row.key == self._cursor:
            base = base + self._cursor_style()
        known = self._strips.get(row.key)
        if known is not None and known[0] == (row, base):
            return known[1]
        strip = self._written(row, base)
        self._strips[row.key] = ((row, base), strip)
        return strip

    def _cursor_style(self) -> Style:
        kind = "block-cursor" if self.has_focus else "block-cursor-blurred"
        variables = self.app.theme_variables
        ground = Color.parse(variables[f"{kind}-background"]).rich_color
        if not self._has_terminal_colours:
            return Style(bgcolor=ground)
        return Style(bgcolor=ground, color=Color.parse(variables[f"{kind}-foreground"]).rich_color)

    @property
    def _has_terminal_colours(self) -> bool:
        """Whether the terminal chooses the colours: nobody knows which of ours can be read on that of its cursor."""
        return self.app.current_theme.ansi

    def _written(self, row: Row, base: Style) -> Strip:
        segments: list[Segment] = []
        is_bare = self._has_terminal_colours and self.has_focus and row.key == self._cursor
        for index, column in enumerate(self._columns):
            if index:
                segments.append(Segment(" ", base))
            parts, width = row.cells.get(column.key, ()), self._widths.get(column.key, 0)
            used = sum(len(text) for text, _ in parts)
            if used < width and column.align == "right":
                segments.append(Segment(" " * (width - used), base))
            room = width
            for text, colour in parts:
                shown = text if len(text) <= room else text[: max(0, room - 1)] + "…" * (room > 0)
                ink = self._ink(colour)
                segments.append(Segment(shown, base + (ink.without_color if is_bare else ink)))
                room -= len(shown)
            if used < width and column.align == "left":
                segments.append(Segment(" " * (width - used), base))
        return Strip(segments)

    def _ink(self, colour: str) -> Style:
        if colour not in self._inks:
            name, _, how = colour.partition(" ")
            variables = self.app.theme_variables
            ink = Color.parse(variables[name]).rich_color if name in variables else None
            self._inks[colour] = Style(color=ink, bold="bold" in how or None, reverse="reverse" in how or None)
        return self._inks[colour]

    def _recolour(self) -> None:
        self._inks, self._strips = {}, {}
        self.refresh()

    def _column_at(self, x: int) -> tuple[str, int]:
        left = 0
        for column in self._columns:
            width = self._widths.get(column.key, 0) + 1
            if x < left + width:
                return column.key, x - left
            left += width
        return "", 0

    @property
    def _room(self) -> int:
        return max(1, self.scrollable_content_region.height - self._has_head)

    def _refresh_rows(self, places: Iterable[int]) -> None:
        """Draw some rows again, as far as they are in sight."""
        top, width = self.scroll_offset.y, self.size.width
        seen = [place - top for place in places if 0 <= place - top < self._room]
        if seen:
            self.refresh(*(Region(0, line + self._has_head, width, 1) for line in seen))

    def _measure(self) -> bool:
        """Share the width, and return whether all is drawn anew for it."""
        before = self._widths, self.virtual_size
        widths = {column.key: max(column.least, len(self._title(column))) for column in self._columns}
        for row in self._rows:
            for key, used in row.widths.items():
                if used > widths.get(key, used):
                    widths[key] = used
        spare = self.scrollable_content_region.width - sum(widths.values()) - max(0, len(self._columns) - 1)
        for column in self._columns:
            if column.grows:
                widths[column.key] = max(column.least, widths[column.key] + spare)
        self._widths = widths
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._rows) + self._has_head)
        if (widths, self.virtual_size) == before:
            return False
        self._strips = {}
        self.refresh()
        return True

    def _show_cursor(self) -> None:
        place = self.cursor_place
        if place < 0:
            return
        top = self.scroll_offset.y
        if place < top:
            self.scroll_to(y=place, animate=False)
        elif place >= top + self._room:
            self.scroll_to(y=place - self._room + 1, animate=False)


def _fit(text: str, width: int, align: str) -> str:
    text = text[:width]
    return text.rjust(width) if align == "right" else text.ljust(width)


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines
