"""What ended a run that failed or crashed: the reason, the last words, the last good checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench import formatting
from workbench.runs.directory import RunDirectory
from workbench.runs.last_words import last_lines
from workbench.ui.screen import Task
from workbench.ui.theme import STATE_LOOKS
from workbench.ui.watch import RunRow

WORDS = 6
Answer = Literal["open", "log", "config", "watch"]


class EndedCard(Task[Answer]):
    """Answers where to go from here, or nothing.

    Args:
        row: The run.
    """

    BINDINGS = [
        Binding("enter", "answer('open')", "Open the run", id="card.open"),
        Binding("o", "answer('log')", "Log", id="card.log"),
        Binding("i", "answer('config')", "Config", id="card.config"),
        Binding("v", "answer('watch')", "Watch", id="card.watch"),
    ]
    DEFAULT_CSS = """
    EndedCard {
        & #card { border: round $error; }
        & #text { height: auto; max-height: 1fr; }
    }
    """

    def __init__(self, row: RunRow) -> None:
        super().__init__()
        self._row = row
        self._run = RunDirectory(row.path)
        self._newest = self._run.latest()

    def compose_body(self) -> ComposeResult:
        """Yield the facts and the last lines."""
        with VerticalScroll(id="text"):
            yield Static(self._facts())

    def on_mount(self) -> None:
        """Write the title."""
        look = STATE_LOOKS[self._row.state]
        glyph = look.plain if self.workbench.plain else look.glyph
        self.card.border_title = Content.assemble((f"{glyph} ", "$error"), f"What ended {self._row.title}")
        self.workbench.runs.mark_seen(self._row.path)

    def _facts(self) -> Content:
        row = self._row
        steps = formatting.amount(row.steps)
        of = f" of {formatting.amount(row.total_steps)} steps" if row.total_steps else " steps"
        share = "" if row.progress is None else f", {formatting.percent(row.progress)}"
        words = row.last_words[-WORDS:] or last_lines(self._run.log_path, WORDS)
        lines = [
            Content.assemble(
                (str(row.state), "$error bold"), f" at {steps}{of}{share}, after {formatting.duration(row.active_s)}"
            ),
            Content.assemble(("reason      ", "$muted"), row.problem or _without_words(row.reason, words) or "unknown"),
            Content.assemble(("last good   ", "$muted"), self._last_good()),
        ]
        lines.append(Content.styled("─ last lines of output.log ─" if words else "output.log is empty", "$muted"))
        return Content("\n").join([*lines, *(Content(line) for line in words)])

    def _last_good(self) -> str:
        if self._newest is None:
            return "no checkpoint was written"
        best = self._row.best
        score = ""
        if best is not None and best.steps == self._newest.steps:
            score = f"   evaluation {formatting.spread(best.mean_return, best.std_return)}"
        return f"◇ {formatting.digits(self._newest.steps)}{score}"

    def key_line(self) -> Content:
        """Say where one can go."""
        key = "$footer-key-foreground bold"
        entries = [("enter", "Open"), ("o", "Log"), ("i", "Config")]
        if self._newest is not None:
            entries.append(("v", "Watch the last checkpoint"))
        entries.append(("esc", "Close"))
        return Content("   ").join(Content.assemble((name, key), f" {label}") for name, label in entries)

    def action_answer(self, answer: Answer) -> None:
        """Go there."""
        if answer != "watch" or self._newest is not None:
            self.dismiss(answer)


def _without_words(reason: str, words: Sequence[str]) -> str:
    """Return a reason without the last line of the log at its end: that stands below."""
    return reason.removesuffix(words[-1]).removesuffix(": ") if words and reason != words[-1] else reason
