"""The first frames of a montage's clips, laid out as they will be, with what stands above each."""

from __future__ import annotations

import asyncio
from pathlib import Path

from textual import work
from textual.app import ComposeResult
from textual.containers import Grid, Vertical
from textual.content import Content
from textual.widgets import Static

from workbench import formatting
from workbench.remote.frames import Frame
from workbench.ui.stills import take_still
from workbench.ui.storyboard import Storyboard, Tile
from workbench.ui.widgets.preview import Preview

MOST = 16
"""Larger grids show their first clips."""
MOST_COLUMNS = 8
KEPT = 200


class Cell(Vertical):
    """One clip: its caption, and its first frame where it is filmed.

    Args:
        tile: The clip.
    """

    DEFAULT_CSS = """
    Cell {
        border: round $border-blurred;
        border-title-color: $foreground;
        & #none { color: $muted; }
    }
    """

    def __init__(self, tile: Tile) -> None:
        super().__init__()
        self.tile = tile
        value = tile.shown.evaluation_mean
        self.border_title = formatting.amount(tile.shown.steps) + (
            "" if value is None else f" · {formatting.number(value)}"
        )

    def compose(self) -> ComposeResult:
        """Yield the picture, or that there is none yet."""
        if self.tile.film is None:
            yield Static(Content("to be filmed"), id="none")
        else:
            yield Preview()


class TileGrid(Grid):
    """Cells in as many columns as the montage has."""

    DEFAULT_CSS = """
    TileGrid { height: 1fr; width: 1fr; grid-size: 3; grid-gutter: 0; }
    """

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._tiles: tuple[Tile, ...] = ()
        self._frames: dict[tuple[Path, tuple[int, int]], Frame | None] = {}

    async def show(self, board: Storyboard) -> None:
        """Show the clips of a montage."""
        columns = min(MOST_COLUMNS, board.columns) if board.columns > 1 else min(3, max(1, len(board.tiles)))
        self.styles.grid_size_columns = columns
        tiles = board.tiles[:MOST]
        if tiles == self._tiles:
            return
        self._tiles = tiles
        async with self.batch():
            await self.remove_children()
            await self.mount_all(Cell(tile) for tile in tiles)
        self._draw()

    def on_preview_resized(self) -> None:
        """Draw the frames in their new size."""
        self._draw()

    @work(group="tiles", exclusive=True, exit_on_error=False, description="drawing first frames")
    async def _draw(self) -> None:
        await asyncio.sleep(0.05)
        for cell in self.query(Cell):
            film, previews = cell.tile.film, list(cell.query(Preview))
            if film is None or not previews or min(previews[0].pixels) < 2:
                continue
            key = (film, previews[0].pixels)
            if key not in self._frames:
                if len(self._frames) >= KEPT:
                    self._frames.clear()
                backdrop = self.app.theme_variables.get("surface", "#000000")
                self._frames[key] = await take_still(film, previews[0].pixels, backdrop=backdrop)
            frame = self._frames[key]
            if frame is not None and previews[0].is_mounted:
                previews[0].show(frame)
