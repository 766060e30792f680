"""Asks before something is done to runs that cannot be taken back."""

from __future__ import annotations

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Button, Static

from workbench.ui.screen import Task


class AskCard(Task[bool]):
    """Answers True once the action's own key is pressed again; `enter` alone never does it.

    Args:
        title: The question.
        sentence: What would be lost, or what happens.
        key: The upper-case letter that says yes.
        label: What it does.
    """

    DEFAULT_CSS = """
    AskCard {
        & #card { border: round $warning; }
        & #buttons { height: auto; margin-top: 1; }
        & Button { margin-right: 2; }
    }
    """

    def __init__(self, title: str, sentence: str, *, key: str, label: str) -> None:
        super().__init__()
        self._title = title
        self._sentence = sentence
        self._key = key
        self._label = label

    def compose_body(self) -> ComposeResult:
        """Yield the sentence and the two answers; the safe one has the focus."""
        yield Static(Content(self._sentence))
        with Horizontal(id="buttons"):
            yield Button("Cancel", id="cancel", compact=True)
            yield Button(f"{self._key} {self._label}", id="yes", compact=True)

    def on_mount(self) -> None:
        """Focus the safe answer."""
        self.card.border_title = self._title
        self.query_one("#cancel").focus()

    def key_line(self) -> Content:
        """Say the two keys."""
        key = "$footer-key-foreground bold"
        return Content.assemble(("esc", key), " Cancel   ", (self._key, key), f" {self._label}")

    def on_key(self, event: events.Key) -> None:
        """Do it on the action's own key."""
        if event.key == self._key:
            event.stop()
            self.dismiss(True)

    @on(Button.Pressed, "#cancel")
    def _cancel(self) -> None:
        self.dismiss(None)

    @on(Button.Pressed, "#yes")
    def _pressed(self) -> None:
        self.notify(f"{self._key} does it; enter does not.")
