"""What ended a run that failed or crashed: the first bad metric, the likely reason, and where to go from here."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench import formatting
from workbench.ui.post_mortem import WORDS, PostMortem, ending_line, facts, read
from workbench.ui.screen import Task
from workbench.ui.theme import STATE_LOOKS
from workbench.ui.watch import RunRow

Answer = Literal["open", "log", "config"]


class EndedCard(Task[Answer]):
    """Answers where to go from here, or nothing; forking, resuming and watching it starts itself.

    Args:
        row: The run.
    """

    BINDINGS = [
        Binding("enter", "answer('open')", "Open the run", id="card.open"),
        Binding("o", "answer('log')", "Log", id="card.log"),
        Binding("i", "answer('config')", "Config", id="card.config"),
        Binding("v", "viewer_watch", "Watch the last good checkpoint", id="card.watch"),
        Binding("p", "viewer_preview", "Play the states that led to it", id="card.states"),
        Binding("F", "run_fork", "Fork from the last good checkpoint", id="card.fork"),
        Binding("R", "run_resume", "Resume as it was", id="card.resume"),
        Binding("Y", "copy_command", "Copy what the card says", id="card.copy"),
    ]
    DEFAULT_CSS = """
    EndedCard {
        & #card { border: round $error; }
        & #text { height: auto; max-height: 1fr; }
        & #actions { height: auto; margin-top: 1; }
        &.-flat #actions, &.-low #actions { margin-top: 0; }
    }
    """

    def __init__(self, row: RunRow) -> None:
        super().__init__()
        self._row = row
        self._found: PostMortem | None = None

    def compose_body(self) -> ComposeResult:
        """Yield the facts, the last lines, and what can be done."""
        with VerticalScroll(id="text"):
            yield Static(id="facts")
        yield Static(id="actions")

    def on_mount(self) -> None:
        """Write the title, and find out the rest."""
        super().on_mount()
        look = STATE_LOOKS[self._row.state]
        glyph = look.plain if self.workbench.plain else look.glyph
        self.card.border_title = Content.assemble((f"{glyph} ", "$error"), f"What ended {self._row.title}")
        self.workbench.runs.mark_seen(self._row.path)
        self._show()
        self._read()

    @work(group="post-mortem", exclusive=True, exit_on_error=False, description="finding out what ended the run")
    async def _read(self) -> None:
        entry = self.workbench.library.entry(self._row.env_name)
        self._found = await asyncio.to_thread(read, self._row, entry)
        self._show()

    def _show(self) -> None:
        self.query_one("#facts", Static).update(Content("\n").join(self._lines()))
        self.query_one("#actions", Static).update(self._actions())
        self.refresh_bindings()
        self.show_keys()

    def _lines(self) -> list[Content]:
        found = self._found
        if found is None:
            return [
                ending_line(self._row, self._row.last_words),
                Content.styled("Reading what it told…", "$muted"),
            ]
        said = "last lines of output.log" if found.words else "output.log is empty"
        dash = "-" if self.workbench.plain else "─"
        return [
            ending_line(self._row, found.words),
            *facts(self._row, found, min(80, self.size.width) - 4, plain=self.workbench.plain),
            Content.styled(f"{dash} {said}", "$muted"),
            *(Content(line) for line in found.words[-WORDS:]),
        ]

    def _actions(self) -> Content:
        """The three ways on, the likely one in front."""
        checkpoint = None if self._found is None else self._found.checkpoint
        parts: list[tuple[str, str]] = []
        if checkpoint is not None:
            at = formatting.amount(checkpoint.steps)
            changes = "".join(f", {key.rpartition('.')[2]} {value}" for key, value in self._fix.items())
            parts += self._action("F", "run_fork", f"Fork from {'' if self.workbench.plain else '◇ '}{at}{changes}")
        if self._found is not None:
            parts += self._action("R", "run_resume", "Resume as it was")
        if checkpoint is not None:
            parts += self._action("v", "viewer_watch", "Watch")
        return Content.assemble(*parts)

    def _action(self, key: str, action: str, label: str) -> list[tuple[str, str]]:
        live = self.check_action(action, ()) is True
        click = f" @click=screen.{action}" if live else ""
        return [
            (key, f"$footer-key-foreground bold{click}" if live else "$muted"),
            (f" {label}   ", "" if live else "$muted"),
        ]

    @property
    def _fix(self) -> dict[str, str]:
        """What would mend it, as typed text by dotted key."""
        cause = None if self._found is None else self._found.diagnosis.cause
        return {} if cause is None else dict(cause.fix)

    def key_line(self) -> Content:
        """Say where one can go."""
        key = "$footer-key-foreground bold"
        entries = [("enter", "Open"), ("o", "Log"), ("i", "Config"), ("Y", "Copy"), ("esc", "Close")]
        return Content("   ").join(Content.assemble((name, key), f" {label}") for name, label in entries)

    def can(self, command_id: str) -> bool | None:
        """Offer a checkpoint only where there is a good one, and nothing before it is known."""
        if command_id in ("run.fork", "viewer.watch"):
            return True if self._found is not None and self._found.checkpoint is not None else None
        if command_id == "viewer.preview":
            return True if self._found is not None and self._found.states else None
        if command_id == "run.resume":
            return True if self._found is not None else None
        return super().can(command_id)

    def action_answer(self, answer: Answer) -> None:
        """Go there."""
        self.dismiss(answer)

    def action_viewer_watch(self) -> None:
        """Play the last good checkpoint."""
        if self._found is not None and self._found.checkpoint is not None:
            steps = self._found.checkpoint.steps
            self.dismiss(None)
            target = f"{self._row.reference}:{steps}"
            title = f"{self._row.title} at {formatting.amount(steps)}"
            self.workbench.start_play(["play", target], title, {"target": target, "run": str(self._row.path)})

    def action_viewer_preview(self) -> None:
        """Play the states that were saved of what led to it."""
        if self._found is not None and self._found.states:
            target = self._found.states
            self.dismiss(None)
            detail = {"target": target, "run": str(self._row.path)}
            self.workbench.start_play(["play", target], f"anomaly of {self._row.title}", detail)

    def action_run_fork(self) -> None:
        """Open the form of a run that goes on from the last good checkpoint, what would mend it filled in."""
        if self._found is not None and self._found.checkpoint is not None:
            self.dismiss(None)
            self.workbench.fork_form(self._found.checkpoint.path, changes=self._fix)

    def action_run_resume(self) -> None:
        """Put the run back into the queue as it was."""
        self.dismiss(None)
        self.workbench.resume_as_it_was(self._row)

    def action_copy_command(self) -> None:
        """Copy all that the card says."""
        title = f"What ended {self._row.name}"
        self.app.copy_to_clipboard("\n".join([title, *(line.plain for line in self._lines())]))
        self.notify("What the card says is copied.")


def open_ended(app: App[Any], row: RunRow) -> None:
    """Show what ended a run badly; from there it goes on to the run itself, its log or its settings."""
    from workbench.ui.screens.run import RunScreen

    def answered(answer: str | None) -> None:
        if answer is not None:
            section = {"log": "Log", "config": "Config"}.get(answer, "Return")
            app.push_screen(RunScreen(row.path, section))

    app.push_screen(EndedCard(row), answered)
