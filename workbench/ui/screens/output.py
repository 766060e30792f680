"""What a command of the app prints, while it prints it and after it has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.ui.jobs import Job, last_lines, shell_line
from workbench.ui.screen import Task

LOOK_S = 0.3
LINES = 2000
READ_BYTES = 16_384


class OutputCard(Task[None]):
    """Shows a job; closing it lets the job go on, and its end shows it again.

    Args:
        job: The job.
    """

    BINDINGS = [
        Binding("S", "stop_job", "Stop", id="card.stop"),
        Binding("Y", "copy_text", "Copy", id="card.copy"),
        Binding("enter", "task_close", "Close", show=False, id="card.close"),
    ]
    DEFAULT_CSS = """
    OutputCard {
        & #card { max-width: 120; }
        & #output { height: auto; max-height: 1fr; min-height: 4; }
        & #text { height: auto; }
        & #command { height: auto; color: $muted; margin-bottom: 1; }
    }
    """

    READS: ClassVar[int] = READ_BYTES
    """How much of the end of its output is read, in bytes."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job

    def compose_body(self) -> ComposeResult:
        """Yield the command and what it printed."""
        # What the app reads of it is asked for by flags that a person has no use for.
        words = [word for word in self.job.words if word not in ("--json", "--progress")]
        yield Static(shell_line(words), id="command", markup=False)
        with VerticalScroll(id="output"):
            yield Static("", id="text", markup=False)

    def on_mount(self) -> None:
        """Follow the output."""
        super().on_mount()
        self.query_one("#output").focus()
        self.workbench.jobs_changed.subscribe(self, lambda job: self._show() if job is self.job else None)
        self.set_interval(LOOK_S, self._look)
        self._show()

    async def _look(self) -> None:
        if self.job.state == "running":
            await self._read()

    # What a card of one command says better than its output does.

    def outcome(self) -> str:
        """Return how the command went, for the title."""
        return f"exit code {self.job.exit_code}" if self.job.state == "failed" else self.job.state

    def told(self, lines: Sequence[str]) -> Content:
        """Return what is shown of its output."""
        return Content("\n".join(lines) or ("Nothing was printed." if self.job.state != "running" else "…"))

    def _show(self) -> None:
        self.card.border_title = f"{self.job.title} · {self.outcome()}"
        self.show_keys()
        self._read_at_once()

    @work(group="output", exclusive=True, exit_on_error=False, description="reading output")
    async def _read_at_once(self) -> None:
        await self._read()

    async def _read(self) -> None:
        log = self.job.log
        if log is None:
            lines = self.job.tail
        else:
            lines = await asyncio.to_thread(last_lines, log, LINES, most_bytes=self.READS)
        if not self.is_mounted:
            return
        text = self.told(lines)
        output = self.query_one("#output", VerticalScroll)
        at_end = output.scroll_offset.y >= output.max_scroll_y - 1
        self.query_one("#text", Static).update(text)
        self.card.border_title = f"{self.job.title} · {self.outcome()}"
        if at_end and self.job.state == "running":
            output.scroll_end(animate=False)

    def key_line(self) -> Content:
        """Say the keys this card has."""
        entries = [("S", "Stop")] if self.job.state == "running" else self.own_keys()
        entries = [*entries, ("Y", "Copy"), ("esc", "Close")]
        return Content("   ").join(
            Content.assemble((key, "$footer-key-foreground bold"), f" {label}") for key, label in entries
        )

    def own_keys(self) -> list[tuple[str, str]]:
        """Return the keys that go on from what the command found, with their labels."""
        return []

    def action_stop_job(self) -> None:
        """End the job."""
        if self.job.state == "running":
            self.workbench.launcher.stop(self.job)
            self._show()

    @property
    def text(self) -> str:
        """What is shown, without its styles."""
        shown = self.query_one("#text", Static).content
        return shown.plain if isinstance(shown, Content) else str(shown)

    def action_copy_text(self) -> None:
        """Copy what it printed."""
        self.app.copy_to_clipboard(self.text)
        self.notify("Copied.")
