"""What a command of the app prints, while it prints it and after it has ended."""

from __future__ import annotations

import asyncio

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.ui.jobs import Job, last_lines
from workbench.ui.screen import Task

LOOK_S = 0.3
LINES = 2000


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

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job

    def compose_body(self) -> ComposeResult:
        """Yield the command and what it printed."""
        yield Static(self.job.command_line, id="command", markup=False)
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

    def _show(self) -> None:
        says = {"running": "running", "done": "done", "stopped": "stopped", "failed": f"exit code {self.job.exit_code}"}
        self.card.border_title = f"{self.job.title} · {says[self.job.state]}"
        self.show_keys()
        self.run_worker(self._read(), group="output", exclusive=True, exit_on_error=False, description="output")

    async def _read(self) -> None:
        log = self.job.log
        lines = self.job.tail if log is None else await asyncio.to_thread(last_lines, log, LINES)
        text = "\n".join(lines) or ("Nothing was printed." if self.job.state != "running" else "…")
        if not self.is_mounted:
            return
        output = self.query_one("#output", VerticalScroll)
        at_end = output.scroll_offset.y >= output.max_scroll_y - 1
        self.query_one("#text", Static).update(Content(text))
        if at_end and self.job.state == "running":
            output.scroll_end(animate=False)

    def key_line(self) -> Content:
        """Say the keys this card has."""
        entries = [("S", "Stop")] if self.job.state == "running" else []
        entries += [("Y", "Copy"), ("esc", "Close")]
        return Content("   ").join(
            Content.assemble((key, "$footer-key-foreground bold"), f" {label}") for key, label in entries
        )

    def action_stop_job(self) -> None:
        """End the job."""
        if self.job.state == "running":
            self.workbench.launcher.stop(self.job)
            self._show()

    def action_copy_text(self) -> None:
        """Copy what it printed."""
        self.app.copy_to_clipboard(str(self.query_one("#text", Static).content))
        self.notify("Copied.")
