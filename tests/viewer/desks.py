"""What commands change, with no graphics behind it."""

from __future__ import annotations

from typing import Any

from workbench.viewer.orders import Orders
from workbench.viewer.player import Player
from workbench.viewer.screens import Screens
from workbench.viewer.session import Session
from workbench.viewer.view import ViewSettings


def make_orders(*sessions: Session, casts: Any = (), period_s: float = 0.05, **options: Any) -> Orders:
    """Return commands for sessions that are seen nowhere."""
    player = Player(sessions[0], others=sessions[1:], period_s=period_s, now=lambda: 0.0, **options)
    view = ViewSettings()
    screens = Screens(player, view, open_window=nowhere, make_painter=nowhere)
    return Orders(player, casts, view, screens, now=lambda: 0.0)


def nowhere(*given: Any) -> Any:
    raise AssertionError("nothing is drawn here")
