"""The one viewer, started and told of: in its window, else in the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen
from textual.signal import Signal

if TYPE_CHECKING:
    from workbench.project import Project
    from workbench.remote.frames import Frame
    from workbench.ui.playing import Change, Ears, Player, StartPlayer, Viewer


class Watching(App[None]):
    """The part of the app that plays things."""

    if TYPE_CHECKING:
        plain: bool
        project: Project

    async def go_to(self, place: str) -> Screen[Any]:
        """Go to a place."""
        raise NotImplementedError

    def show_error(
        self, title: str, sentence: str, *, hint: str = "", details: str = "", path: Path | None = None, line: int = 0
    ) -> None:
        """Show an error that needs reading as a card."""
        raise NotImplementedError

    @cached_property
    def start_player(self) -> StartPlayer:
        """What starts the viewer's process; tests put something else in its place."""
        from workbench.ui.viewer_link import ProcessPlayer

        def start(words: Sequence[str], ears: Ears, *, window: bool) -> Player:
            return ProcessPlayer(self.project, [*words, "--theme", self.viewer_theme], ears, window=window)

        return start

    @cached_property
    def viewer(self) -> Viewer:
        """The one viewer."""
        from workbench.ui.playing import Viewer

        return Viewer(self.start_player, on_change=self._viewer_told, on_frame=self._viewer_framed)

    @property
    def viewer_theme(self) -> str:
        """What surrounds the model: as dark or light as the app."""
        return "dark" if self.current_theme.dark else "light"

    @cached_property
    def viewer_changed(self) -> Signal[Viewer]:
        """Published when something changed of what plays."""
        return Signal(self, "viewer_changed")

    @cached_property
    def viewer_framed(self) -> Signal[Frame]:
        """Published with each frame of the preview."""
        return Signal(self, "viewer_framed")

    def start_play(
        self, words: Sequence[str], what: str, detail: Mapping[str, str] | None = None, *, preview: bool = False
    ) -> None:
        """Play something in the one viewer, in place of what plays: in its window, else or with `preview` here."""
        from workbench.ui.playing import Request

        window = has_display() and not preview
        if not window and self.plain:
            self.show_error(
                "No display",
                "The viewer needs a display, and this terminal has none and is plain."
                if not has_display()
                else "There is no preview in a plain terminal.",
                hint="V records it to a film instead.",
            )
            return
        self.viewer.wants_preview = not window
        self.viewer.start(Request(tuple(words), what, dict(detail or {})), window=window)
        if not window:
            self._play_here("" if preview else "No display was found: it plays here. V records it to a film.")
        elif self.current_mode != "viewer":
            self.notify(f"Opening {what} in a window. 3 shows what plays.")

    def open_window(self) -> None:
        """Open the window of what plays, or say why there is none."""
        if has_display():
            self.viewer.order("window", on=True)
        else:
            self.notify("No display was found, so there is no window. V records it to a film.")

    def _play_here(self, why: str) -> None:
        """Go to where it is seen in the terminal, and say once why there is no window."""
        if why and not self.viewer.told_why:
            self.viewer.told_why = True
            self.notify(why)
        self.run_worker(self.go_to("viewer"), group="place", exit_on_error=False, description="opening the viewer")

    def _viewer_told(self, change: Change, values: Mapping[str, Any]) -> None:
        playing = self.viewer.playing
        if change == "error" and not values["fatal"]:
            if values["about"] == "window":
                self.viewer.wants_preview = True
                self._play_here(f"{values['message']} It plays here. V records it to a film.")
            elif values["about"] != "preview":
                self.notify(f"{values['message']} {values['hint']}".strip(), severity="warning")
        elif change == "status" and playing is not None and playing.status == "failed":
            sentence, hint = playing.fault
            self.show_error(
                f"The viewer could not show {playing.request.title}",
                sentence,
                hint=hint or "V records it to a film instead.",
                details="\n".join([playing.request.command_line, "", *playing.tail]),
            )
        self.viewer_changed.publish(self.viewer)

    def _viewer_framed(self, frame: Frame) -> None:
        self.viewer_framed.publish(frame)

    def on_unmount(self) -> None:
        """Close the viewer with the app."""
        self.viewer.stop()


def has_display() -> bool:
    """Return whether a window can be opened here."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
