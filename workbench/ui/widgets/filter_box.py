"""A one-row search field that stays hidden until it is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.widgets import Input


class FilterBox(Input):
    """Filters as you type; `enter` keeps the filter, `esc` restores the one before."""

    DEFAULT_CSS = """
    FilterBox {
        display: none;
        height: 1;
        border: none;
        padding: 0;
        &.-open { display: block; }
    }
    """

    @dataclass
    class Filtered(Message):
        """The text by which the list is now filtered."""

        box: FilterBox
        text: str

        @property
        def control(self) -> FilterBox:
            """The box it came from."""
            return self.box

    @dataclass
    class Closed(Message):
        """The box was left; the list takes the focus again."""

        box: FilterBox

        @property
        def control(self) -> FilterBox:
            """The box it came from."""
            return self.box

    def __init__(self, *, id: str = "filter", placeholder: str = "words, all of which must match") -> None:
        super().__init__(id=id, placeholder=placeholder, compact=True)
        self._kept = ""

    @property
    def is_open(self) -> bool:
        """Whether the box is on the screen and takes keys."""
        return self.has_class("-open") and self.has_focus

    def start_with(self, text: str) -> None:
        """Start with a filter that was kept."""
        self._kept = self.value = text
        self.set_class(bool(text), "-open")

    def open(self) -> None:
        """Show the box and let it take the keys."""
        self._kept = self.value
        self.add_class("-open")
        self.focus()

    def clear_filter(self) -> bool:
        """Take the filter away; return whether there was one."""
        had = bool(self.value)
        self._kept = ""
        self.value = ""
        self.remove_class("-open")
        return had

    def restore(self) -> None:
        """Go back to the filter from before the box was opened, and close it."""
        self.value = self._kept
        self._leave()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter with each key."""
        event.stop()
        self.post_message(self.Filtered(self, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep the filter."""
        event.stop()
        self._kept = self.value
        self._leave()

    def on_key(self, event: events.Key) -> None:
        """Restore on `esc`, before the screen takes it for going back."""
        if event.key == "escape":
            event.stop()
            event.prevent_default()
            self.restore()

    def _leave(self) -> None:
        self.set_class(bool(self.value), "-open")
        self.post_message(self.Closed(self))
