"""What the app starts and opens for a person: runs, the viewer, films, files, cards."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual import work
from textual.app import SuspendNotSupported
from textual.screen import ModalScreen

from workbench.formatting import plural
from workbench.ui.inspecting import Inspecting
from workbench.ui.jobs import Job, shell_line
from workbench.ui.judging import Judging, card_of
from workbench.ui.launching import Launching
from workbench.ui.outside import at_line
from workbench.ui.watching import Watching, has_display

if TYPE_CHECKING:
    from textual.signal import Signal

    from workbench.ui.jobs import Launcher
    from workbench.ui.settings import Settings
    from workbench.ui.watch import RunsSnapshot, RunWatch


_TEXTS = frozenset({".py", ".json", ".md", ".log", ".csv", ".xml", ".jsonl", ".toml", ".txt"})


class Starting(Launching, Watching, Inspecting, Judging):
    """The part of the app that starts things; every one of them is a command a person could type."""

    if TYPE_CHECKING:
        launcher: Launcher
        read_only: bool
        settings: Settings
        jobs_changed: Signal[Job]

    # Runs.

    async def show_environment(self, name: str) -> None:
        """Go to Environments with the cursor on one of them."""
        from workbench.ui.screens.environments import EnvironmentsScreen

        screen = await self.go_to("environments")
        if isinstance(screen, EnvironmentsScreen):
            screen.select(name)

    async def open_run(self, path: Path) -> None:
        """Go to Runs and open one run there."""
        from workbench.ui.screens.run import RunScreen

        await self.go_to("runs")
        await self.push_screen(RunScreen(path))

    @work(group="stop", exit_on_error=False, description="stopping runs", thread=True)
    def stop_all(self) -> None:
        """Ask every live and queued run to write a checkpoint and end."""
        from workbench.runs import RunDirectory, stop_run

        for row in self.runs.snapshot.rows:
            if row.state in ("queued", "starting", "running", "paused") and not row.is_foreign:
                stop_run(RunDirectory(row.path))

    def welcome(self, snapshot: RunsSnapshot, left_at: float) -> None:
        """Say which runs are live, and how many ended since the app was left."""
        ended = sum(row.state.is_ended and row.changed > left_at for row in snapshot.rows)
        said = []
        if snapshot.live:
            said.append(f"{plural(snapshot.live, 'live run')} adopted")
        if ended:
            said.append(f"{plural(ended, 'run') if not said else ended} ended while you were away")
        if said:
            self.notify(f"{', '.join(said)}. 2 shows them.")

    def on_run_watch_news(self, message: RunWatch.News) -> None:
        """Tell what happened to runs; ring where nobody looks."""
        for said in message.said:
            self.notify(said.text, severity="warning" if said.is_bad else "information")
        if not self.app_focus:
            self.bell()

    # Jobs.

    def show_output(self, words: Sequence[str], what: str, detail: Mapping[str, str] | None = None) -> None:
        """Start a command whose output is what is wanted of it, and show that; one that runs already is shown again.

        Args:
            words: What a person would type after `workbench`.
            what: What it is, for titles and notices: `check of ant`.
            detail: What its card wants to find again.
        """
        alike = (job for job in self.launcher.jobs if job.words == tuple(words) and job.state == "running")
        job = next(alike, None) or self.launcher.start(words, kind="report", title=what, detail=dict(detail or {}))
        self.push_screen(card_of(job))

    def show_last_output(self) -> None:
        """Show again what the newest of these commands found, or how far it is."""
        found = [job for job in self.launcher.jobs if job.kind == "report"]
        if found:
            self.push_screen(card_of(found[-1]))
        else:
            self.notify("Nothing was evaluated, compared, exported or checked since the app started.")

    def export(self, target: str, what: str) -> None:
        """Open the form of an export of a policy, and show what its command prints.

        Args:
            target: What a command line calls the policy.
            what: What a person calls it.
        """
        from workbench.ui.screens.export import ExportTask

        def start(words: Sequence[str] | None) -> None:
            if words is not None:
                self.show_output(words, f"export of {what}")

        self.push_screen(ExportTask(target, what), start)

    def _report_output(self, job: Job) -> None:
        from workbench.ui.screens.output import OutputCard

        if isinstance(self.screen, OutputCard) and self.screen.job is job:
            return
        if job.state != "stopped":
            if isinstance(self.screen, ModalScreen):
                self.notify(f"The {job.title} is done. App: Last output (:) shows it.")
            else:
                self.push_screen(card_of(job))

    def report_job(self, job: Job) -> None:
        """Say how a job ended: a notice, or a card where it failed or what it printed is wanted."""
        if job.kind == "report":
            self._report_output(job)
            return
        if job.state == "done" and job.kind == "film":
            self.notify(f"The {job.title} is done. 4 shows it.")
        elif job.state == "failed":
            sentence, hint = job.fault
            self.show_error(
                f"The {job.title} failed",
                sentence,
                hint=hint,
                details="\n".join([job.command_line, "", *job.tail]),
            )

    # Files, the clipboard, cards.

    def copy_command(self, words: Sequence[str]) -> None:
        """Copy `workbench WORDS…` as one line."""
        self.copy_to_clipboard(shell_line(words))
        self.notify("Command copied.")

    def open_outside(self, path: Path, line: int = 0) -> None:
        """Open a file with its own program: text in `$EDITOR`, at a line, the rest with the desktop's choice."""
        if not path.exists():
            self.notify(f"{path.name} is not there any more.", severity="warning")
            return
        editor, opener = _editor(self.settings.editor), "open" if sys.platform == "darwin" else "xdg-open"
        try:
            if path.suffix in _TEXTS and editor:
                # The terminal is the editor's until it ends: nothing of the app could be seen meanwhile.
                with self.suspend():
                    subprocess.run(at_line(editor, path, line), check=False)
                self.refresh(layout=True)
                return
            if shutil.which(opener) and has_display():
                self.run_beside([opener, str(path)])
                return
        except (OSError, SuspendNotSupported):
            pass
        self.copy_to_clipboard(str(path))
        self.notify("No program to open it here; its path is copied.", severity="warning")

    @work(group="opening", exit_on_error=False, description="opening a file")
    async def run_beside(self, command: Sequence[str]) -> None:
        """Start a program of the desktop and see it end."""
        silent = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(
            *command, stdin=silent, stdout=silent, stderr=silent, start_new_session=True
        )
        await process.wait()

    def show_error(
        self, title: str, sentence: str, *, hint: str = "", details: str = "", path: Path | None = None, line: int = 0
    ) -> None:
        """Show an error that needs reading as a card."""
        from workbench.ui.screens.error import ErrorCard

        self.push_screen(ErrorCard(title, sentence, hint=hint, details=details, path=path, line=line))


def _editor(wanted: str) -> list[str]:
    """Return the words that start the person's editor, or one that is there."""
    chosen = shlex.split(wanted or os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    return chosen or [name for name in ("nano", "vi") if shutil.which(name)][:1]
