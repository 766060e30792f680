"""The place of the one viewer: what plays in its window, and what to press where nothing does."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from workbench.ui.commands import bindings_for
from workbench.ui.jobs import Job
from workbench.ui.screen import Pane, WorkbenchScreen
from workbench.ui.starting import has_display

EMPTY = "Nothing is playing. v on a run, a checkpoint or an environment plays it in a window."
NO_DISPLAY = "This terminal has no display, so no window can be opened. V records a film instead."


class ViewerScreen(WorkbenchScreen):
    """Says what plays, how to close it, and how to see it again."""

    NAME = "viewer"
    BINDINGS = bindings_for("viewer")

    DEFAULT_CSS = """
    ViewerScreen {
        & #playing { padding: 1 2; height: 1fr; }
    }
    """

    def compose_body(self) -> ComposeResult:
        """Yield the one pane."""
        with Pane() as pane:
            pane.border_title = "Viewer"
            yield Static(id="playing")

    def on_mount(self) -> None:
        """Follow what plays."""
        self._show()
        self.workbench.jobs_changed.subscribe(self, lambda _: self._show())

    def on_screen_resume(self) -> None:
        """Show what was started while another place was on the screen."""
        self._show()

    def _show(self) -> None:
        job = self.workbench.playing
        self.query_one("#playing", Static).update(self._empty() if job is None else self._state(job))
        self.refresh_bindings()

    def _empty(self) -> Content:
        return Content(EMPTY if has_display() else f"{EMPTY}\n\n{NO_DISPLAY}")

    def _state(self, job: Job) -> Content:
        says = {
            "running": ("●", "$state-running", "plays in its window. S closes it."),
            "done": ("✓", "$state-finished", "Window closed, v opens it again."),
            "stopped": ("■", "$state-stopped", "Closed, v opens it again."),
            "failed": ("✗", "$state-failed", "It could not be shown. V records it to a film instead."),
        }
        glyph, colour, sentence = says[job.state]
        parts = [
            Content.assemble((f"{glyph} ", colour), (job.title, "bold"), f"   {sentence}"),
            Content(""),
            Content.styled(job.command_line, "$muted"),
        ]
        if job.state == "failed" and job.tail:
            parts += [Content(""), *(Content(line) for line in job.tail)]
        return Content("\n").join(parts)

    def can(self, command_id: str) -> bool | None:
        """Offer what makes sense for what plays, or played last."""
        job = self.workbench.playing
        if command_id == "run.stop":
            return True if job is not None and job.state == "running" else None
        if command_id in ("viewer.watch", "viewer.record", "copy.command"):
            return True if job is not None else None
        return super().can(command_id)

    def action_viewer_watch(self) -> None:
        """Open the window again."""
        job = self.workbench.playing
        if job is not None:
            self.workbench.start_play(job.words, job.title, job.detail)

    def action_viewer_record(self) -> None:
        """Film what plays."""
        job = self.workbench.playing
        if job is not None:
            self.workbench.record(job.detail.get("target", job.words[1]), job.title, job.detail.get("environment", ""))

    def action_run_stop(self) -> None:
        """Close the window."""
        job = self.workbench.playing
        if job is not None:
            self.workbench.launcher.stop(job)
            self._show()

    def action_copy_command(self) -> None:
        """Copy the command of what plays."""
        job = self.workbench.playing
        if job is not None:
            self.workbench.copy_command(job.words)
