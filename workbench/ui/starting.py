"""What the app starts and opens for a person: runs, the viewer, films, files, cards."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import work
from textual.app import App

from workbench.ui.formatting import plural
from workbench.ui.jobs import Job, shell_line

if TYPE_CHECKING:
    from textual.signal import Signal

    from workbench.catalog import Entry
    from workbench.project import Project
    from workbench.runs import Launch, RunDirectory
    from workbench.ui.app import Enqueue
    from workbench.ui.draft import Draft
    from workbench.ui.jobs import Launcher
    from workbench.ui.library import Library
    from workbench.ui.watch import RunWatch


class Starting(App[None]):
    """The part of the app that starts things; every one of them is a command a person could type."""

    if TYPE_CHECKING:
        launcher: Launcher
        runs: RunWatch
        runs_root: Path
        drafts: dict[str, Draft]
        enqueue: Enqueue | None
        read_only: bool

        jobs_changed: Signal[Job]
        library: Library
        project: Project

    # Runs.

    def show_environment(self, name: str) -> None:
        """Go to Environments with the cursor on one of them."""
        self.switch_mode("environments")
        while len(self.screen_stack) > 1:
            self.pop_screen()
        select = getattr(self.screen, "select", None)
        if select is not None:
            select(name)

    def new_run_of(self, name: str) -> None:
        """Open the form of a new run of an environment, or go and choose one where it is not known."""
        from workbench.ui.draft import can_launch

        entry = self.library.entry(name)
        if entry is None or not can_launch(entry):
            self.switch_mode("environments")
            self.notify("Choose an environment, then n.")
        else:
            self.new_run(entry)

    @work(group="form", exclusive=True, exit_on_error=False, description="opening the form")
    async def new_run(self, entry: Entry) -> None:
        """Open the form of a new run, as it was left or as the recipe fills it in."""
        from workbench.ui.draft import Draft
        from workbench.ui.screens.new_run import NewRunForm

        kept = self.drafts.get(entry.name)
        draft = Draft.of(entry) if kept is None else replace(kept, entry=entry)
        form = NewRunForm(draft)
        launches = await self.push_screen_wait(form)
        if launches is None:
            self.drafts[entry.name] = form.draft
        else:
            self.drafts.pop(entry.name, None)
            self.launch(launches)

    @work(group="launch", exit_on_error=False, description="starting runs")
    async def launch(self, launches: Sequence[Launch]) -> None:
        """Put runs in the project's queue, then show them."""
        paths = [item.path for item in await asyncio.to_thread(self._enqueue, launches)]
        self.runs.poke()
        count = len(paths)
        self.notify(f"{plural(count, 'run')} queued. enter opens {'it' if count == 1 else 'one'}, S stops.")
        await self.switch_mode("runs")
        show = getattr(self.screen, "show", None)
        if show is not None:
            show(paths)

    def _enqueue(self, launches: Sequence[Launch]) -> Sequence[RunDirectory]:
        if self.enqueue is not None:
            return self.enqueue(self.runs_root, launches)
        from workbench.runs import enqueue

        return enqueue(self.runs_root, launches)

    def open_run(self, path: Path) -> None:
        """Go to Runs and open one run there."""
        from workbench.ui.screens.run import RunScreen

        self.switch_mode("runs")
        while len(self.screen_stack) > 1:
            self.pop_screen()
        self.push_screen(RunScreen(path))

    @work(group="stop", exit_on_error=False, description="stopping runs", thread=True)
    def stop_all(self) -> None:
        """Ask every live and queued run to write a checkpoint and end."""
        from workbench.runs import RunDirectory, send

        for row in self.runs.snapshot.rows:
            if row.state in ("queued", "starting", "running", "paused"):
                send(RunDirectory(row.path), "stop")

    # The viewer.

    @property
    def playing(self) -> Job | None:
        """What the viewer plays, or played last."""
        return next((job for job in reversed(self.launcher.jobs) if job.kind == "viewer"), None)

    def start_play(self, words: Sequence[str], what: str, detail: dict[str, str] | None = None) -> None:
        """Play something in the one viewer; what played before is closed."""
        for job in self.launcher.jobs:
            if job.kind == "viewer" and job.state == "running":
                self.launcher.stop(job)
        if not has_display():
            self.show_error(
                "No display",
                "The viewer needs a display, and this terminal has none.",
                hint="V records it to a film instead.",
            )
            return
        job = self.launcher.start(words, kind="viewer", title=what, detail=detail)
        self.jobs_changed.publish(job)
        self.notify(f"Opening {what} in a window. 3 shows what plays.")

    # Films.

    def start_film(self, words: Sequence[str] | None, what: str) -> None:
        """Start a recording or a montage in the background; nothing where the form was left."""
        if words is None:
            return
        job = self.launcher.start(words, kind="film", title=what)
        self.jobs_changed.publish(job)
        self.notify(f"Making the {what}. 4 shows it.")

    def record(self, target: str, what: str, environment: str = "") -> None:
        """Open the form of a recording of a checkpoint or an environment."""
        from workbench.ui.screens.record import RecordTask

        self.push_screen(
            RecordTask(target, what, environment), lambda words: self.start_film(words, f"recording of {what}")
        )

    def report_job(self, job: Job) -> None:
        """Say how a job ended: a notice, or a card where it failed."""
        if job.state == "done" and job.kind == "film":
            self.notify(f"The {job.title} is done. 4 shows it.")
        elif job.state == "failed":
            self.show_error(
                f"The {job.title} failed" if job.kind == "film" else f"The viewer could not show {job.title}",
                job.tail[-1] if job.tail else f"It ended with exit code {job.exit_code} and said nothing.",
                hint=""
                if job.kind == "film"
                else "V records it to a film instead; `workbench doctor` says what works.",
                details="\n".join([job.command_line, "", *job.tail]),
            )

    # Files, the clipboard, cards.

    def copy_command(self, words: Sequence[str]) -> None:
        """Copy `workbench WORDS…` as one line."""
        self.copy_to_clipboard(shell_line(words))
        self.notify("Command copied.")

    def open_outside(self, path: Path) -> None:
        """Open a file with its own program: text in `$EDITOR`, the rest with the desktop's choice."""
        if not path.exists():
            self.notify(f"{path.name} is not there any more.", severity="warning")
            return
        editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
        if path.suffix in {".py", ".json", ".md", ".log", ".csv", ".xml", ".jsonl"}:
            command = editor or [name for name in ("nano", "vi") if shutil.which(name)][:1]
            if command:
                with self.suspend():
                    subprocess.run([*command, str(path)], check=False)
                self.refresh(layout=True)
                return
        opener = "open" if sys.platform == "darwin" else "xdg-open"
        if shutil.which(opener) and has_display():
            subprocess.Popen([opener, str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        else:
            self.copy_to_clipboard(str(path))
            self.notify("No program to open it here; its path is copied.", severity="warning")

    def show_error(
        self, title: str, sentence: str, *, hint: str = "", details: str = "", path: Path | None = None, line: int = 0
    ) -> None:
        """Show an error that needs reading as a card."""
        from workbench.ui.screens.error import ErrorCard

        self.push_screen(ErrorCard(title, sentence, hint=hint, details=details, path=path, line=line))


def has_display() -> bool:
    """Return whether a window can be opened here."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def words_of(value: Any) -> list[str]:
    """Return the words of a command that another screen handed back."""
    return [str(item) for item in value]
