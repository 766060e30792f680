"""A log on the screen: follows its end until one scrolls up, and finds words."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

MOST_LINES = 20_000
"""Older lines are forgotten; the file has them all."""


class LogView(ScrollView, can_focus=True):
    """Lines of text, coloured where they warn or fail."""

    ALLOW_MAXIMIZE = True
    DEFAULT_CSS = """
    LogView {
        height: 1fr;
        width: 1fr;
        border: round $border-blurred;
        border-title-color: $foreground;
        border-subtitle-color: $muted;
        scrollbar-size-vertical: 1;
        &:focus { border: round $accent; border-title-style: bold; }
    }
    """

    class Described(Message):
        """What it says of itself is another thing."""

    following: var[bool] = var(True)
    """Whether new lines scroll into sight."""

    def __init__(self, *, empty: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: list[str] = []
        self._longest = 0
        self._empty = empty
        self._pattern = ""
        self._matches: list[int] = []
        self._current = -1
        self.status = ""
        """Whether it follows, and which match is shown of how many."""

    @property
    def lines(self) -> list[str]:
        """What is shown, oldest first."""
        return self._lines

    def on_mount(self) -> None:
        """Say how it is read."""
        self._describe()

    def on_resize(self) -> None:
        """Keep the end in sight where it was."""
        if self.following:
            self.scroll_end(animate=False)

    def clear(self) -> None:
        """Forget all lines."""
        self._lines = []
        self._longest = 0
        self._matches, self._current = [], -1
        self._grown()

    def extend(self, lines: Iterable[str]) -> None:
        """Add lines at the end."""
        added = list(lines)
        if not added:
            return
        self._longest = max(self._longest, *(len(line) for line in added))
        start = len(self._lines)
        self._lines += added
        if self._pattern:
            self._matches += [start + at for at, line in enumerate(added) if self._pattern in line.lower()]
        if len(self._lines) > MOST_LINES:
            self._lines = self._lines[-MOST_LINES:]
            self._search()
        self._grown()

    def find(self, words: str) -> int:
        """Mark the lines that contain `words`, in any case; go to the last one and return how many there are."""
        self._pattern = words.lower()
        self._search()
        if self._matches:
            self._go(len(self._matches) - 1)
        self._describe()
        self.refresh()
        return len(self._matches)

    @property
    def is_finding(self) -> bool:
        """Whether words are being looked for."""
        return bool(self._pattern)

    def next_match(self, by: int) -> None:
        """Go to the next or the previous line that was found, round the end."""
        if self._matches:
            self._go((self._current + by) % len(self._matches))

    def action_follow(self) -> None:
        """Show the newest line, now and as more come."""
        self.following = True
        self.scroll_end(animate=False)

    def watch_following(self) -> None:
        """Say so."""
        self._describe()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow while the end is in sight, hold while it is not."""
        super().watch_scroll_y(old_value, new_value)
        if new_value < old_value:
            self.following = new_value >= self.max_scroll_y
        elif new_value >= self.max_scroll_y:
            self.following = True

    def render_line(self, y: int) -> Strip:
        """Return one visible row."""
        base = self.rich_style
        left, top = self.scroll_offset
        index = top + y
        width = self.scrollable_content_region.width
        if not self._lines and y == 0:
            return Strip([Segment(self._empty[:width], base + self._ink("muted"))]).adjust_cell_length(width, base)
        if index >= len(self._lines):
            return Strip.blank(width, base)
        line = self._lines[index]
        strip = Strip(self._segments(line, base, current=self._is_current(index)))
        return strip.crop_extend(left, left + width, base)

    def _segments(self, line: str, base: Style, *, current: bool) -> list[Segment]:
        folded = line.lower()
        style = base
        if any(word in line for word in ("ERROR", "Error:", "Traceback", "CRITICAL")):
            style = base + self._ink("error")
        elif "WARNING" in line or "Warning:" in line:
            style = base + self._ink("warning")
        found = folded.find(self._pattern) if self._pattern and len(folded) == len(line) else -1
        if found < 0:
            return [Segment(line, style)]
        end = found + len(self._pattern)
        mark = style + Style(reverse=True, bold=current)
        return [Segment(line[:found], style), Segment(line[found:end], mark), Segment(line[end:], style)]

    def _ink(self, name: str) -> Style:
        return Style(color=Color.parse(self.app.theme_variables[name]).rich_color)

    def _is_current(self, index: int) -> bool:
        return 0 <= self._current < len(self._matches) and self._matches[self._current] == index

    def _search(self) -> None:
        self._matches = (
            [at for at, line in enumerate(self._lines) if self._pattern in line.lower()] if self._pattern else []
        )
        self._current = len(self._matches) - 1

    def _go(self, match: int) -> None:
        self._current = match
        self.following = False
        height = max(1, self.scrollable_content_region.height)
        self.scroll_to(y=max(0, self._matches[match] - height // 2), animate=False)
        self._describe()
        self.refresh()

    def _grown(self) -> None:
        self.virtual_size = Size(self._longest, len(self._lines))
        if self.following:
            self.scroll_end(animate=False)
        self.refresh(Region(0, 0, *self.size))
        self._describe()

    def _describe(self) -> None:
        found = ""
        if self._pattern:
            place = self._current + 1 if self._matches else 0
            found = f"/ {self._pattern}  {place} of {len(self._matches)}   "
        status = found + ("f following" if self.following else "f held")
        if status != self.status:
            self.status = status
            self.post_message(self.Described())
