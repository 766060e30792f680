"""Asks before a run is ended without a checkpoint."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Button, Static

from workbench.runs.directory import RunDirectory
from workbench.ui import formatting
from workbench.ui.screen import Task
from workbench.ui.watch import RunRow


class KillCard(Task[bool]):
    """Answers True to kill; `K` says so, never `enter` alone.

    Args:
        row: The run.
    """

    BINDINGS = [Binding("K", "kill", "Kill", id="card.kill")]
    DEFAULT_CSS = """
    KillCard {
        & #card { border: round $warning; }
        & #buttons { height: auto; margin-top: 1; }
        & Button { margin-right: 2; }
    }
    """

    def __init__(self, row: RunRow) -> None:
        super().__init__()
        self._row = row

    def compose_body(self) -> ComposeResult:
        """Yield what would be lost, and the two answers; the safe one has the focus."""
        yield Static(Content(self._sentence()))
        with Horizontal(id="buttons"):
            yield Button("Cancel", id="cancel", compact=True)
            yield Button("K Kill", id="kill", compact=True)

    def on_mount(self) -> None:
        """Focus the safe answer."""
        self.card.border_title = f"Kill {self._row.title}?"
        self.query_one("#cancel").focus()

    def _sentence(self) -> str:
        newest = RunDirectory(self._row.path).latest()
        if newest is None:
            return "No final checkpoint: it has written none so far, so everything is lost. S would save it."
        lost = max(0, self._row.steps - newest.steps)
        if not lost:
            return f"No final checkpoint; nothing was trained since ◇ {formatting.amount(newest.steps)}."
        return (
            f"No final checkpoint: {formatting.amount(lost)} steps since ◇ {formatting.amount(newest.steps)} are lost. "
            "S would save them."
        )

    def key_line(self) -> Content:
        """Say the two keys."""
        key = "$footer-key-foreground bold"
        return Content.assemble(("esc", key), " Cancel   ", ("K", key), " Kill")

    def action_kill(self) -> None:
        """Kill it."""
        self.dismiss(True)

    @on(Button.Pressed, "#cancel")
    def _cancel(self) -> None:
        self.dismiss(None)

    @on(Button.Pressed, "#kill")
    def _pressed(self) -> None:
        self.notify("K kills it; enter does not.")
