"""One of a few words, all in sight: `film  ‹ grid ›  poster`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from workbench.ui.signs import shown


class Choice(Widget, can_focus=True):
    """Chooses by arrows, `h` and `l`, space, or a click.

    Args:
        options: The words, in order.
        value: The one chosen at first; the first where not given.
    """

    DEFAULT_CSS = """
    Choice {
        height: 1;
        width: 1fr;
        &:focus { background: $panel; }
    }
    """
    BINDINGS = [
        Binding("right,l,space", "shift(1)", "Next", show=False),
        Binding("left,h", "shift(-1)", "Previous", show=False),
    ]

    value: reactive[str] = reactive("")

    @dataclass
    class Changed(Message):
        """Another word was chosen."""

        choice: Choice
        value: str

        @property
        def control(self) -> Choice:
            """The widget, for selectors."""
            return self.choice

    def __init__(self, options: Sequence[str], value: str | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._options = tuple(options)
        self.set_reactive(Choice.value, options[0] if value is None else value)

    def offer(self, options: Sequence[str]) -> None:
        """Offer other words; the one chosen stays where it is among them, else the first takes its place."""
        self._options = tuple(options)
        if self.value not in options:
            self.value = options[0]
        self.refresh()

    def render(self) -> Content:
        """Return the words, the chosen one between brackets."""
        parts: list[tuple[str, str]] = []
        for option in self._options:
            chosen = option == self.value
            parts.append((f"‹ {option} ›" if chosen else f"  {option}  ", "$primary bold" if chosen else "$muted"))
        return shown(Content.assemble(*parts), plain=bool(getattr(self.app, "plain", False)))

    def watch_value(self, value: str) -> None:
        """Tell of it."""
        self.post_message(self.Changed(self, value))

    def action_shift(self, by: int) -> None:
        """Choose the next or the previous word, round the end."""
        place = self._options.index(self.value)
        self.value = self._options[(place + by) % len(self._options)]

    def on_click(self, event: events.Click) -> None:
        """Choose the word that was clicked."""
        column = 0
        for option in self._options:
            column += len(option) + 4
            if event.x < column:
                self.value = option
                return
