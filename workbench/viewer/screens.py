"""The window and the preview of one player: either, both or neither, and what changes between them.

Polyscope draws in a window or without one, not both at a time: with a window open, previews are taken from it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from workbench.errors import GraphicsError
from workbench.viewer.look import Theme, ThemeName, theme_named
from workbench.viewer.player import Player
from workbench.viewer.preview import Painter, Picture, PreviewClock
from workbench.viewer.staging import WindowStage
from workbench.viewer.view import ViewSettings


class Screens:
    """Where a player is seen.

    Args:
        player: What is shown.
        view: What is drawn, and the colours around it.
        open_window: Opens the window.
        make_painter: Makes what draws without one.
        now: Seconds that only grow.
    """

    def __init__(
        self,
        player: Player,
        view: ViewSettings,
        *,
        open_window: Callable[[Player, Theme], WindowStage],
        make_painter: Callable[[Player, Theme, tuple[int, int]], Painter],
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._player = player
        self._view = view
        self._drawn_version = view.version
        self._open_window = open_window
        self._make_painter = make_painter
        self._now = now
        self._stage: WindowStage | None = None
        self._painter: Painter | None = None
        self._size: tuple[int, int] | None = None
        self._clock = PreviewClock(1.0)
        self._moved_s = 0.0
        self._jumped = True
        self._is_stale = False

    @property
    def theme(self) -> ThemeName:
        """What surrounds the model."""
        return self._view.theme

    @property
    def has_window(self) -> bool:
        """Whether there is a window."""
        return self._stage is not None

    @property
    def preview(self) -> tuple[int, int, float] | None:
        """Width, height and pictures a second of the preview."""
        return None if self._size is None else (*self._size, self._clock.fps)

    def show_window(self, wanted: bool) -> None:
        """Open or close the window.

        Raises:
            GraphicsError: None opens here; previews go on.
        """
        if wanted == self.has_window:
            return
        self._drop_painter()
        self._player.jumped = self._is_stale = True
        if wanted:
            self._stage = self._open_window(self._player, theme_named(self.theme))
        else:
            self._drop_stage()

    def show_preview(self, size: tuple[int, int] | None, fps: float = 1.0) -> None:
        """Draw previews of a size, or none."""
        self._size = size
        self._clock = PreviewClock(fps)
        self._is_stale = self._jumped = True
        if size is None:
            self._drop_painter()

    def recolour(self, name: ThemeName) -> None:
        """Change what surrounds the model."""
        self._view.theme = name
        self._is_stale = True
        for seen in (self._stage, self._painter):
            if seen is not None:
                seen.recolour(theme_named(name))

    def show(self, moved_s: float) -> None:
        """Draw a frame of the window, and note what previews have yet to show."""
        self._moved_s += moved_s
        self._jumped |= self._player.jumped
        self._is_stale |= bool(moved_s) or self._player.jumped or self._view.version != self._drawn_version
        self._drawn_version = self._view.version
        if self._stage is None:
            self._player.jumped = False
        else:
            # It clears the mark before it hears mouse and keys, whose edits belong to the next frame.
            self._stage.show(moved_s)

    def picture(self) -> Picture | None:
        """Return the picture `(height, width, 3)` of a preview where one is due and would be another one.

        Raises:
            GraphicsError: None can be drawn here; there is no preview any more.
        """
        begun = self._now()
        if self._size is None or not self._is_stale or not self._clock.due(begun):
            return None
        try:
            picture = self._paint(self._size)
        except GraphicsError:
            self.show_preview(None)
            raise
        self._moved_s, self._jumped, self._is_stale = 0.0, False, False
        self._clock.drawn(begun, self._now())
        return picture

    def missed(self) -> None:
        """Note that nobody got the last picture."""
        self._is_stale = True

    def closing(self) -> bool:
        """Tell whether someone closed the window since the last call."""
        return self._stage is not None and self._stage.closing()

    def close(self) -> None:
        """Let go of all graphics."""
        self._drop_painter()
        self._drop_stage()

    def _paint(self, size: tuple[int, int]) -> Picture:
        if self._stage is not None:
            return self._stage.picture(size)
        if self._painter is None:
            self._painter = self._make_painter(self._player, theme_named(self.theme), size)
        return self._painter.paint(size, self._moved_s, jumped=self._jumped)

    def _drop_painter(self) -> None:
        if self._painter is not None:
            painter, self._painter = self._painter, None
            painter.close()

    def _drop_stage(self) -> None:
        if self._stage is not None:
            stage, self._stage = self._stage, None
            stage.close()
