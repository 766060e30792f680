"""The app: four places, what they share, and how it starts and ends. What it starts is in `workbench.ui.starting`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual.filter import LineFilter
from textual.screen import Screen
from textual.signal import Signal
from textual.worker import Worker, WorkerState

from workbench.errors import WorkbenchError
from workbench.project import Project
from workbench.ui import dry_run
from workbench.ui.ascii_only import AsciiOnly
from workbench.ui.commands import bindings_for
from workbench.ui.configured import Configured
from workbench.ui.filming import Filming
from workbench.ui.header import LoadReader, read_load
from workbench.ui.jobs import Job, Launcher, ProcessLauncher
from workbench.ui.leaving import Leaving
from workbench.ui.library import Describer, Library, ProcessDescriber
from workbench.ui.opening import Opening
from workbench.ui.pictures import Painter, Pictures, paint
from workbench.ui.starting import Starting
from workbench.ui.state import Remembered

if TYPE_CHECKING:
    from textual.command import Provider

    from workbench.ui.draft import Draft
    from workbench.ui.dry_run import Rehearse
    from workbench.ui.watch import RunsSnapshot, RunWatch

Enqueue = Callable[[Path, Sequence[Any]], Sequence[Any]]

_ASCII_ONLY = AsciiOnly()


def _place(target: str) -> Callable[[], Screen[Any]]:
    """Return a factory that imports `module:Class` when the place is first opened: starting stays quick."""

    def make() -> Screen[Any]:
        module, name = target.split(":")
        return cast("Screen[Any]", getattr(import_module(f"workbench.ui.screens.{module}"), name)())

    return make


def _palette() -> type[Provider]:
    from workbench.ui.palette import WorkbenchCommands

    return WorkbenchCommands


class WorkbenchApp(Opening, Starting, Filming, Leaving, Configured):
    """A window onto a project's files; closing it, losing it or opening it twice changes no run.

    Args:
        project: The project shown.
        read_only: Refuse everything that would change a run, a file or a process.
        plain: ASCII glyphs in place of signs and bars.
        launcher: What starts commands; processes unless a test says otherwise.
        clock: Unix seconds.
        load: How busy the machine is.
        enqueue: What puts launches in the project's queue; `workbench.runs.enqueue` by default.
        describer: What fills the cache of descriptions; the description process by default.
        painter: What makes pictures of environments; `workbench record` by default.
        rehearse: What measures what a run would take; a process of its own by default.
        remembered: What is kept between starts.
        settings_file: The person's settings; the file in their configuration folder by default.
    """

    TITLE = "workbench"
    MODES = {
        "environments": _place("environments:EnvironmentsScreen"),
        "runs": _place("runs:RunsScreen"),
        "viewer": _place("viewer:ViewerScreen"),
        "recordings": _place("recordings:RecordingsScreen"),
    }
    COMMANDS = {_palette}
    BINDINGS = bindings_for("app")
    CSS_PATH = "app.tcss"

    def __init__(
        self,
        project: Project,
        *,
        read_only: bool = False,
        plain: bool = False,
        launcher: Launcher | None = None,
        clock: Callable[[], float] = time.time,
        load: LoadReader = read_load,
        enqueue: Enqueue | None = None,
        describer: Describer | None = None,
        painter: Painter | None = None,
        rehearse: Rehearse | None = None,
        remembered: Remembered | None = None,
        settings_file: Path | None = None,
    ) -> None:
        super().__init__()
        self.set_up(settings_file)
        self.project = project
        self.runs_root = project.runs
        self.read_only = read_only
        self.plain = plain
        self.clock = clock
        self.read_load = load
        self.enqueue = enqueue
        self.rehearse: Rehearse = rehearse or dry_run.rehearse
        self.drafts: dict[str, Draft] = {}
        self.newborn: set[Path] = set()
        self.remembered = remembered or Remembered.of(project)
        self._left_at = self.remembered.number("app", "left")
        self.jobs_changed: Signal[Job] = Signal(self, "jobs_changed")
        self.runs_changed: Signal[RunsSnapshot] = Signal(self, "runs_changed")
        self.library_changed: Signal[Library] = Signal(self, "library_changed")
        self.launcher: Launcher = launcher or ProcessLauncher(project, on_change=self.job_changed)
        self.pictures = Pictures(self, painter or paint)
        self.library = Library(self, describer or ProcessDescriber())

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return what every line goes through; in a plain terminal that leaves ASCII alone."""
        return [*super().get_line_filters(), *([_ASCII_ONLY] if self.plain else [])]

    # Life.

    def on_mount(self) -> None:
        """Choose the theme and the first place."""
        self.take_up_settings()
        # An app that is killed cannot say when it left; it was here now.
        self._remember()
        self.open_first("runs" if self.has_runs() else "environments")

    def on_unmount(self) -> None:
        """Leave films to themselves, close the viewer, and remember what was looked at."""
        self.runs.stop()
        self.library.close()
        self.pictures.close()
        self.launcher.close()
        self._remember()

    def _remember(self) -> None:
        self.remembered.keep("app", "theme", self.theme)
        self.remembered.keep("app", "left", self.clock())
        self.remembered.save()

    def reread(self) -> None:
        """Read settings, environments, recipes, runs and recordings again."""
        self.read_settings()
        self.library.read()
        self.runs.poke()

    # Facts that arrive.

    @property
    def jobs(self) -> Sequence[Job]:
        """What was started from the app."""
        return self.launcher.jobs

    def on_run_watch_changed(self, message: RunWatch.Changed) -> None:
        """Tell the screens what the runs look like now; the first time, what went on without the app."""
        if self._left_at is not None:
            self.welcome(message.snapshot, self._left_at)
            self._left_at = None
        self.runs_changed.publish(message.snapshot)
        self.show_title(message.snapshot)
        self.watch_newborn(message.snapshot)

    def job_changed(self, job: Job) -> None:
        """Tell the screens, and the person, how a job ended."""
        self.jobs_changed.publish(job)
        self.report_job(job)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Show what a worker failed with as a card; the app goes on."""
        error = event.worker.error
        if event.state is not WorkerState.ERROR or error is None:
            return
        if isinstance(error, WorkbenchError):
            self.show_error(error.title, error.message, hint=error.hint)
        else:
            self.show_error("Something went wrong", f"{event.worker.description}: {error}", details=repr(error))
