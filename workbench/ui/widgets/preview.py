"""Pictures in a terminal: two pixels a cell as half blocks, or real ones where the terminal draws pictures itself."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual import work
from textual.app import App
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from workbench.remote.frames import Frame
from workbench.ui.graphics import kitty, sixel
from workbench.ui.graphics.choosing import Way

if TYPE_CHECKING:
    from workbench.ui.app import WorkbenchApp

HALF = "▀"

_LEVELS = 32
"""Levels of a channel: what the eye sees of small pictures, and few enough that runs of equal cells are long."""

_STYLES_KEPT = 20_000


def why_no_colours(app: App[object], *, plain: bool) -> str:
    """Return why no picture can be shown in this terminal, as a sentence; empty where one can."""
    if plain:
        return "There is no preview in a plain terminal."
    settings = getattr(app, "settings", None)
    if settings is not None and settings.preview == "off":
        return "Previews are off in the settings."
    if app.no_color or app.console.no_color:
        return "There is no preview without colours: NO_COLOR is set."
    # What the terminal draws itself has colours of its own.
    way = getattr(app, "picture_way", Way())
    if way.kind == "halfblocks" and app.console.color_system not in ("truecolor", "256"):
        return "There is no preview in a terminal with fewer than 256 colours."
    return ""


class Preview(Widget):
    """Shows the newest frame; only rows that changed are drawn again."""

    DEFAULT_CSS = """
    Preview { width: 1fr; height: 1fr; }
    """

    @dataclass
    class Resized(Message):
        """Frames of another size fill it now."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._cells: NDArray[np.int64] = np.zeros((0, 0, 2), dtype=np.int64)
        self._styles: dict[tuple[int, int], Style] = {}
        self._number = 0
        """Of the picture that the terminal has; 0 for none."""
        self._covered = (0, 0)
        """Columns and rows of a picture that the terminal draws."""
        self._frame: Frame | None = None
        """The newest frame of such a picture."""
        self._is_sending = False
        self.drawn = 0
        """Frames shown so far."""

    @property
    def way(self) -> Way:
        """How pictures are drawn here."""
        return cast("WorkbenchApp", self.app).picture_way

    @property
    def pixels(self) -> tuple[int, int]:
        """Width and height of a frame that fills it."""
        return self.way.pixels(self.size.width, self.size.height)

    def on_resize(self) -> None:
        """Tell that frames of another size fit."""
        self.post_message(self.Resized())

    def show(self, frame: Frame, cells: tuple[int, int] | None = None) -> None:
        """Show a frame; as half blocks, one of another size is cut, or leaves the rest empty.

        Args:
            frame: The picture.
            cells: Columns and rows it takes where the terminal draws it; all there are unless given.
        """
        self.drawn += 1
        if self.way.kind == "halfblocks":
            self._show_blocks(frame)
            return
        covered = cells or (self.size.width, self.size.height)
        most = len(kitty.diacritics())
        covered = min(covered[0], most), min(covered[1], most)
        self._frame = frame
        if covered != self._covered:
            self._covered = covered
            self.refresh()
        self._send()

    def _show_blocks(self, frame: Frame) -> None:
        rows = frame.height // 2
        pixels = np.frombuffer(frame.pixels, np.uint8).reshape(frame.height, frame.width, 3)[: 2 * rows]
        red, green, blue = (_level()[pixels[..., channel]] for channel in range(3))
        codes = _palette(is_full=self.app.console.color_system == "truecolor")[(red * _LEVELS + green) * _LEVELS + blue]
        cells = np.stack([codes[0::2], codes[1::2]], axis=-1)
        before, self._cells = self._cells, cells
        if before.shape != cells.shape:
            self.refresh()
            return
        changed = np.flatnonzero((before != cells).any(axis=(1, 2)))
        if len(changed):
            self.refresh(*(Region(0, int(row), self.size.width, 1) for row in changed))

    def clear(self) -> None:
        """Show nothing."""
        self._cells = np.zeros((0, 0, 2), dtype=np.int64)
        self._forget()
        self.refresh()

    # What the terminal draws.

    def on_hide(self) -> None:
        """Let the terminal forget a picture that nobody sees."""
        self._forget()

    def on_unmount(self) -> None:
        """Let the terminal forget the picture."""
        self._forget()

    def _forget(self) -> None:
        if self._number:
            self._write(kitty.passed_on(kitty.delete(self._number)))
        self._number, self._covered, self._frame = 0, (0, 0), None

    def _write(self, sequence: str) -> None:
        cast("WorkbenchApp", self.app).write_sequence(sequence)

    @work(group="sending-picture", exit_on_error=False, description="sending a picture to the terminal")
    async def _send(self) -> None:
        """Send the newest frame; those that come while one is packed are left out but for the last."""
        if self._is_sending:
            return
        self._is_sending = True
        try:
            sent: Frame | None = None
            while self._frame is not None and self._frame is not sent:
                sent, way, covered = self._frame, self.way, self._covered
                if way.kind == "kitty":
                    self._number = self._number or kitty.new_number()
                    sequence = kitty.passed_on(
                        await asyncio.to_thread(
                            kitty.transmit, sent.pixels, (sent.width, sent.height), covered, self._number
                        )
                    )
                    self._write_if_wanted(sequence, covered)
                elif way.kind == "sixel":
                    size = (covered[0] * way.cell[0], covered[1] * way.cell[1])
                    data = await asyncio.to_thread(sixel.picture, sent.pixels, (sent.width, sent.height), size)
                    self._write_if_wanted(self._placed(data), covered)
        finally:
            self._is_sending = False

    def _write_if_wanted(self, sequence: str, covered: tuple[int, int]) -> None:
        if sequence and self._frame is not None and self._covered == covered:
            self._write(sequence)

    def _placed(self, data: str) -> str:
        """Return sixels at their place, the cursor kept; nothing where something lies over it, or part of it is cut."""
        if not self.is_attached or self.screen is not self.app.screen:
            return ""
        region = self.content_region
        if self.screen.find_widget(self).visible_region != self.region:
            return ""
        return f"\x1b7\x1b[{region.y + 1};{region.x + 1}H{data}\x1b8"

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return rows; what is painted over sixels puts them out, so they are sent again after it."""
        if self._frame is not None and self.way.kind == "sixel" and not self._is_sending:
            self.call_after_refresh(self._send)
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Return one row, neighbours of equal colours as one run."""
        width = self.size.width
        if self._covered[1]:
            return self._covered_line(y, width)
        if y >= len(self._cells):
            return Strip.blank(width, self.rich_style)
        row = self._cells[y, :width]
        edges = np.flatnonzero((row[1:] != row[:-1]).any(axis=1)) + 1
        starts = [0, *edges.tolist()]
        ends = [*edges.tolist(), len(row)]
        segments = [
            Segment(HALF * (end - start), self._style(int(row[start, 0]), int(row[start, 1])))
            for start, end in zip(starts, ends, strict=True)
        ]
        return Strip(segments, len(row)).adjust_cell_length(width, self.rich_style)

    def _covered_line(self, y: int, width: int) -> Strip:
        columns, rows = self._covered
        if y >= rows or self.way.kind != "kitty":
            return Strip.blank(width, self.rich_style)
        self._number = self._number or kitty.new_number()
        style = self.rich_style + Style(color=Color.parse(kitty.colour(self._number)))
        columns = min(columns, width)
        row = Strip([Segment(kitty.placeholders(y, columns), style)], columns)
        return row.adjust_cell_length(width, self.rich_style)

    def _style(self, above: int, below: int) -> Style:
        style = self._styles.get((above, below))
        if style is None:
            if len(self._styles) >= _STYLES_KEPT:
                self._styles.clear()
            style = self._styles[above, below] = Style(color=_colour(above), bgcolor=_colour(below))
        return style


@cache
def _level() -> NDArray[np.int64]:
    """Return the level of each value of a channel, `(256,)`."""
    return np.round(np.arange(256) * (_LEVELS - 1) / 255).astype(np.int64)


@cache
def _palette(*, is_full: bool) -> NDArray[np.int64]:
    """Return the colour, as `0xRRGGBB`, that is shown for each triple of levels.

    Args:
        is_full: Whether the terminal shows every colour; else the nearest of its cube of 6 x 6 x 6 and its 24 greys.
    """
    values = np.round(np.arange(_LEVELS) * 255 / (_LEVELS - 1)).astype(np.int64)
    colours = np.stack(np.meshgrid(values, values, values, indexing="ij"), axis=-1).reshape(-1, 3)
    if not is_full:
        cube = np.array([0, 95, 135, 175, 215, 255])
        shown = np.stack(np.meshgrid(cube, cube, cube, indexing="ij"), axis=-1).reshape(-1, 3)
        shown = np.concatenate([shown, np.repeat(8 + 10 * np.arange(24), 3).reshape(-1, 3)])
        # |a - b|^2 without |a|^2, which is the same for all b.
        products = colours.astype(np.float32) @ shown.T.astype(np.float32)
        nearest = ((shown**2).sum(axis=1) - 2 * products).argmin(axis=1)
        colours = shown[nearest]
    return colours[:, 0] << 16 | colours[:, 1] << 8 | colours[:, 2]


def _colour(code: int) -> Color:
    return Color.from_rgb(code >> 16, code >> 8 & 255, code & 255)
