"""Finds the runs in the watched folders of a project and keeps their mirrors, one process at a time."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from workbench.durable import read_document
from workbench.project import Project
from workbench.runs.directory import FOREIGN_NAME, RunDirectory, foreign_directories
from workbench.runs.foreign.finding import FoundRun, find_runs
from workbench.runs.foreign.mirror import Mirror, mark_folder_gone
from workbench.runs.foreign.origin import origin_of
from workbench.runs.foreign.watch_list import watch_list_path, watched
from workbench.runs.holding import take

DISCOVER_S = 5.0
"""Between looks for runs that are new, and at those that have long been as they are."""


@dataclass
class Refreshed:
    """What one look came to."""

    runs: list[RunDirectory] = field(default_factory=list)
    """The mirrors, by the path of the tool's folder."""
    problems: list[str] = field(default_factory=list)
    """Runs that could not be read, one sentence each."""
    is_busy: bool = False
    """Whether another process keeps the mirrors, so that nothing was done."""


class Converter:
    """Keeps the mirrors of all foreign runs of a project, while it holds them.

    Args:
        project: The project; without a list of folders there is nothing to do.
        clock: Unix seconds.
    """

    def __init__(self, project: Project, *, clock: Callable[[], float] = time.time) -> None:
        self._project = project
        self._clock = clock
        self._mirrors: dict[Path, Mirror] = {}
        self._folders: tuple[Path, ...] = ()
        self._looked = float("-inf")
        self._handle: int | None = None

    def refresh(self) -> Refreshed:
        """Bring every mirror up to date; cheap where nothing changed.

        Raises:
            OSError: The folder of the mirrors cannot be written.
        """
        folders = watched(self._project)
        root = self._project.runs / FOREIGN_NAME
        if not folders and not root.is_dir():
            return Refreshed()
        if not self._hold(root):
            return Refreshed(is_busy=True)
        now = time.monotonic()
        is_thorough = folders != self._folders or now - self._looked >= DISCOVER_S
        if is_thorough:
            self._folders, self._looked = folders, now
            self._discover()
        done = Refreshed()
        for folder, mirror in sorted(self._mirrors.items()):
            try:
                if is_thorough or not mirror.is_quiet:
                    mirror.refresh()
            except Exception as error:
                # Whatever is in one folder, the others are read all the same.
                done.problems.append(f"{folder} cannot be read: {str(error) or repr(error)}.")
            if mirror.run is not None:
                done.runs.append(mirror.run)
        return done

    def close(self) -> None:
        """Let another process keep the mirrors."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Converter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _hold(self, root: Path) -> bool:
        """Take the mirrors and return whether they were free; the kernel lets go of them with the process."""
        if self._handle is not None:
            return True
        root.mkdir(parents=True, exist_ok=True)
        self._handle = take(root)
        return self._handle is not None

    def _discover(self) -> None:
        found = found_in(self._folders)
        for folder, run in found.items():
            known = self._mirrors.get(folder)
            if known is None or known.found != run:
                self._mirrors[folder] = Mirror(self._project.runs, run, clock=self._clock)
        for folder in self._mirrors.keys() - found.keys():
            del self._mirrors[folder]
        self._tidy(found)

    def _tidy(self, found: dict[Path, FoundRun]) -> None:
        """Throw away mirrors of folders that are watched no more, and end those of runs that are gone."""
        # A list that cannot be read is no wish to forget anything.
        is_wish = isinstance(read_document(watch_list_path(self._project)).get("folders"), list)
        for run in list(foreign_directories(self._project.runs)):
            origin = origin_of(run)
            if origin is None or origin.folder in found:
                continue
            if any(origin.folder.is_relative_to(folder) for folder in self._folders):
                if not origin.folder.exists():
                    mark_folder_gone(run)
            elif is_wish:
                shutil.rmtree(run.path, ignore_errors=True)


def found_in(folders: Sequence[Path]) -> dict[Path, FoundRun]:
    """Return the runs of other tools in folders, by their own; one that several folders hold counts once."""
    return {run.folder: run for folder in folders for run in find_runs(folder)}
