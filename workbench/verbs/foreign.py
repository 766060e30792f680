"""Runs of other tools, brought up to date before a verb looks at runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.project import Project

if TYPE_CHECKING:
    from workbench.runs.foreign.converter import Converter


class ForeignRuns:
    """The foreign runs of a project, read again at the cost of what changed; nothing where there are none.

    Args:
        project: The project.
        runs_root: The folder of runs that is looked at; another one than the project's has no foreign runs.
    """

    def __init__(self, project: Project, runs_root: Path | None = None) -> None:
        self._converter: Converter | None = None
        self._told: set[str] = set()
        from workbench.runs.foreign.watch_list import watch_list_path

        is_own = runs_root is None or runs_root.resolve() == project.runs
        if is_own and watch_list_path(project).is_file():
            from workbench.runs.foreign.converter import Converter

            self._converter = Converter(project)

    def refresh(self) -> None:
        """Bring them up to date; what cannot be read is told once, on stderr, and hinders nothing."""
        if self._converter is None:
            return
        try:
            problems = self._converter.refresh().problems
        except OSError as error:
            problems = [f"runs of other tools are shown as they were last: {error.strerror or error}."]
        for problem in problems:
            if problem not in self._told:
                self._told.add(problem)
                print(problem, file=sys.stderr)  # noqa: T201
