"""Asks before the app is left while something is live, or would be lost."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Button, Static

from workbench.formatting import plural
from workbench.ui.header import RunCounts
from workbench.ui.screen import Task


class QuitCard(Task[str]):
    """Answers `leave` or `stop`, or nothing to stay.

    Args:
        counts: The runs that are live or queued.
        films: Recordings and montages being made.
        forms: Forms of new runs that were filled in and not sent.
    """

    TITLE = "Quit workbench?"

    DEFAULT_CSS = """
    QuitCard {
        & #buttons { height: auto; margin-top: 1; }
        & Button { margin-right: 2; }
    }
    """

    def __init__(self, counts: RunCounts, films: int, forms: int = 0) -> None:
        super().__init__()
        self._counts = counts
        self._films = films
        self._forms = forms

    def compose_body(self) -> ComposeResult:
        """Yield the sentence and the three answers; the safe one has the focus."""
        yield Static(self._sentence())
        with Horizontal(id="buttons"):
            live = bool(self._counts.live or self._counts.queued)
            yield Button(self._leaving(live=live), id="leave", compact=True)
            if live and not self.workbench.read_only:
                yield Button("Stop all, each saves", id="stop", compact=True)
            yield Button("Cancel", id="cancel", compact=True)

    def on_mount(self) -> None:
        """Focus the safe answer: what was filled in is lost with the app, and nothing else is."""
        self.query_one("#cancel" if self._forms else "#leave").focus()

    def _leaving(self, *, live: bool) -> str:
        if live:
            return "Quit, leave them running"
        return "Quit, let it finish" if self._films else "Quit without it"

    def _sentence(self) -> str:
        counts = self._counts
        said: list[str] = []
        if counts.live:
            said.append(f"{plural(counts.live, 'run')} {'is' if counts.live == 1 else 'are'} live")
        if counts.queued:
            said.append(f"{counts.queued} {'is' if counts.queued == 1 else 'are'} queued")
        sentence = ""
        if said:
            one = counts.live + counts.queued == 1
            waits = " Queued runs go on starting." if counts.queued else ""
            sentence = (
                f"{', '.join(said)}. {'It goes' if one else 'They go'} on; the next workbench adopts "
                f"{'it' if one else 'them'}.{waits}"
            )
        if self._films:
            sentence += f" {plural(self._films, 'film')} being made will be finished."
        if self._forms:
            are = "is" if self._forms == 1 else "are"
            sentence += f" {plural(self._forms, 'form')} of a new run {are} filled in and not launched: that is lost."
        return sentence.strip()

    @on(Button.Pressed)
    def _answer(self, event: Button.Pressed) -> None:
        answer = event.button.id
        self.dismiss(None if answer == "cancel" else answer)

    def key_line(self) -> Content:
        """Say the two keys of a card with buttons."""
        return Content.assemble(("enter", "$footer-key-foreground bold"), " chooses   ", ("esc", "bold"), " stays")
