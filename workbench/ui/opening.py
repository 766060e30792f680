"""How the app begins: with a frame that needs nothing heavy, while what its first place needs is imported.

A place draws curves and knows environments; importing the libraries for that takes longer than all else until then.
"""

from __future__ import annotations

import asyncio
import sys
from importlib import import_module
from typing import TYPE_CHECKING, cast

from textual import events
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Static

from workbench.ui.footer import CommandFooter
from workbench.ui.header import Header
from workbench.ui.reading import Reading

if TYPE_CHECKING:
    from workbench.ui.app import WorkbenchApp

_MODE = "opening"


class OpeningScreen(Screen[None]):
    """A place before it is there: its header and footer. Keys wait for it.

    Args:
        place: The place, a mode of the app.
    """

    DEFAULT_CSS = """
    OpeningScreen > Static { height: 1fr; padding: 0 1; color: $muted; }
    """

    def __init__(self, place: str) -> None:
        super().__init__()
        self.typed: list[events.Key] = []
        """What was typed so far."""
        self._place = place

    def compose(self) -> ComposeResult:
        """Yield what the place has around its body."""
        yield Header(cast("WorkbenchApp", self.app), self._place)
        yield Static(f"Reading the {self._place}…")
        yield CommandFooter(self._place)

    def on_key(self, event: events.Key) -> None:
        """Keep a key for the place."""
        event.stop()
        event.prevent_default()
        self.typed.append(event)


class Opening(Reading):
    """The part of the app that shows its first place."""

    def open_first(self, place: str) -> None:
        """Show a place and begin to read; where it is yet to be imported, show that it comes.

        Args:
            place: A mode whose screen is in the module of that name in `workbench.ui.screens`.
        """
        module = f"workbench.ui.screens.{place}"
        if module in sys.modules:
            self.read_project()
            self.switch_mode(place)
            return
        screen = OpeningScreen(place)
        self.add_mode(_MODE, lambda: screen)
        self.switch_mode(_MODE)

        def load() -> None:
            self.run_worker(
                self._load(place, module, screen), group=_MODE, exit_on_error=False, description=f"opening {place}"
            )

        screen.call_after_refresh(load)

    async def _load(self, place: str, module: str, screen: OpeningScreen) -> None:
        await asyncio.to_thread(import_module, module)
        self.read_project()
        await self.switch_mode(place)
        for event in screen.typed:
            self.post_message(events.Key(event.key, event.character))
        self.remove_mode(_MODE)
