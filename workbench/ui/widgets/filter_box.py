"""A one-row search field that stays hidden until it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.widgets import Input

KEPT = 20
"""How many filters are recalled."""


class FilterBox(Input):
    """Filters as you type; `enter` keeps the filter, `esc` restores the one before, `↑` recalls those kept earlier."""

    BINDINGS = [
        Binding("up", "recall(1)", "Earlier filter", show=False),
        Binding("down", "recall(-1)", "Later filter", show=False),
    ]

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
        self._bad: tuple[int, int] | None = None
        self._recalled = -1
        self._draft = ""
        self.history: list[str] = []
        """Filters that were kept, the newest first."""

    @property
    def _value(self) -> Text:
        text = super()._value
        if self._bad is not None:
            text.stylize(f"bold {self.app.theme_variables['error']}", *self._bad)
        return text

    def show_bad(self, span: tuple[int, int] | None) -> None:
        """Draw a term in red: from where to where in the text; nothing where all is well."""
        if span != self._bad:
            self._bad = span
            self.refresh()

    def recall_from(self, history: Sequence[str]) -> None:
        """Take up the filters that were kept before."""
        self.history = list(history)[:KEPT]

    def action_recall(self, by: int) -> None:
        """Put an earlier filter into the box, or a later one."""
        place = min(max(-1, self._recalled + by), len(self.history) - 1)
        if place == self._recalled:
            return
        if self._recalled < 0:
            self._draft = self.value
        self._recalled = place
        self.value = self._draft if place < 0 else self.history[place]
        self.cursor_position = len(self.value)

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
        self._recalled = -1
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
        if self.value.strip():
            self.history = list(dict.fromkeys([self.value.strip(), *self.history]))[:KEPT]
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
