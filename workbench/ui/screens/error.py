"""An error that needs reading: what is wrong, what to do, and the file at fault."""

from __future__ import annotations

from pathlib import Path

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.ui.screen import Task


class ErrorCard(Task[None]):
    """A card; details stay folded until they are asked for.

    Args:
        title: What failed, in a few words.
        sentence: What is wrong.
        hint: What to do about it.
        details: The last lines of a log and the like.
        path: The file at fault.
        line: The line in it.
    """

    BINDINGS = [
        Binding("O", "open_file", "Open the file", id="card.open"),
        Binding("Y", "copy_text", "Copy", id="card.copy"),
        Binding("d", "details", "Details", id="card.details"),
        Binding("enter", "task_close", "Close", show=False, id="card.close"),
    ]

    DEFAULT_CSS = """
    ErrorCard {
        & #card { border: round $error; }
        & #hint { margin-top: 1; }
        & #details { margin-top: 1; color: $muted; display: none; }
        & #text { height: auto; max-height: 1fr; }
        &.-details #details { display: block; }
    }
    """

    def __init__(
        self, title: str, sentence: str, *, hint: str = "", details: str = "", path: Path | None = None, line: int = 0
    ) -> None:
        super().__init__()
        self._title = title
        self._sentence = sentence
        self._hint = hint
        self._details = details
        self._path = path
        self._line = line

    def compose_body(self) -> ComposeResult:
        """Yield the sentence, what to do, and the folded details."""
        with VerticalScroll(id="text"):
            yield Static(Content(self._sentence))
            if self._hint:
                yield Static(Content(self._hint), id="hint")
            if self._details:
                yield Static(Content(self._details), id="details")

    def on_mount(self) -> None:
        """Write the title; the card itself takes the keys."""
        self.card.border_title = Content.assemble(("✗ ", "$error"), self._title)

    def key_line(self) -> Content:
        """Say the keys this card has."""
        entries = [("Y", "Copy"), ("esc", "Close")]
        if self._details:
            entries.insert(0, ("d", "Details"))
        if self._path is not None:
            where = f"Open the file at line {self._line}" if self._line else "Open the file"
            entries.insert(0, ("O", where))
        return Content("   ").join(
            Content.assemble((key, "$footer-key-foreground bold"), f" {label}") for key, label in entries
        )

    def action_details(self) -> None:
        """Unfold or fold the details."""
        self.toggle_class("-details")

    def action_open_file(self) -> None:
        """Open the file at fault."""
        if self._path is not None:
            self.workbench.open_outside(self._path, self._line)

    def action_copy_text(self) -> None:
        """Copy everything the card says."""
        self.app.copy_to_clipboard("\n".join(part for part in (self._sentence, self._hint, self._details) if part))
        self.notify("Copied.")
