"""What of a player's changes reaches the window and the previews."""

from __future__ import annotations

from typing import Any

from tests.viewer.fakes import Counting, Nodding
from workbench.viewer.player import Player
from workbench.viewer.screens import Screens
from workbench.viewer.session import Session
from workbench.viewer.view import ViewSettings


class Slid:
    """A window in whose second frame someone changes the pose, as the panel does: after the scene was moved."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.jumps: list[bool] = []

    def show(self, moved_s: float) -> None:
        self.jumps.append(self.player.jumped)
        self.player.jumped = False
        if len(self.jumps) == 2:
            self.player.edited()

    def close(self) -> None:
        pass


def test_what_the_panel_changes_within_a_frame_is_drawn_in_the_next() -> None:
    player = Player(Session(Counting(), Nodding(), seed=0), period_s=0.05, now=lambda: 0.0)
    window = Slid(player)

    def open_window(*given: Any) -> Any:
        return window

    screens = Screens(player, ViewSettings(), open_window=open_window, make_painter=open_window)
    screens.show_window(True)
    for _ in range(4):
        screens.show(0.0)
    assert window.jumps == [True, False, True, False]
