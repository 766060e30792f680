"""A scrolled part of a screen that says when it has become wider or narrower."""

from __future__ import annotations

from dataclasses import dataclass

from textual.containers import VerticalScroll
from textual.message import Message


class RoomyScroll(VerticalScroll):
    """Scrolls what it holds, some of which is made to measure."""

    @dataclass
    class Resized(Message):
        """It has another size."""

    def on_resize(self) -> None:
        """Say so."""
        self.post_message(self.Resized())
