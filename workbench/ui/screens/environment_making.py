"""Environments of one's own, from the place of environments: begun with a form, and looked over before training."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.catalog import Entry
from workbench.ui.jobs import Job
from workbench.ui.library import Library
from workbench.ui.screen import WorkbenchScreen

_NEXT = "O edits it, Environments: Preview (:) says what to change first."


class EnvironmentMaking(WorkbenchScreen):
    """The part of the place that starts environments."""

    _written: str | None = None
    """The environment that was written and is not among those that were read yet; None before the first."""

    @property
    def entry(self) -> Entry | None:
        """The usable entry under the cursor."""
        raise NotImplementedError

    def select(self, name: str) -> None:
        """Put the cursor on an entry."""
        raise NotImplementedError

    def action_environment_new(self) -> None:
        """Open the form of a new environment; once it is written, the cursor is on it."""
        from workbench.ui.screens.new_environment import NewEnvironmentTask

        project = self.workbench.project
        taken = {entry.name for entry in self.workbench.library.entries}
        self.app.push_screen(NewEnvironmentTask(taken, project.root), self._write)

    def _write(self, words: Sequence[str] | None) -> None:
        if words is None:
            return
        title = f"writing of {words[2]}"
        job = self.workbench.launcher.start(words, kind="file", title=title, detail={"environment": words[2]})
        if self._written is None:
            self.workbench.jobs_changed.subscribe(self, self._job_changed)
            self.workbench.library_changed.subscribe(self, self._look_for_written)
        self._written = ""
        self.workbench.jobs_changed.publish(job)

    def _job_changed(self, job: Job) -> None:
        if job.kind == "file" and job.state == "done":
            self._written = job.detail["environment"]
            self.workbench.library.read()

    def _look_for_written(self, library: Library) -> None:
        """Put the cursor on what was written, once it has been read."""
        name = self._written
        if name and library.entry(name) is not None:
            self._written = ""
            self.select(name)
            self.notify(f"{name} is written. {_NEXT}")

    def action_environment_preview(self) -> None:
        """Have the environment under the cursor looked over before anything is trained in it."""
        entry = self.entry
        if entry is not None:
            self.workbench.show_output(["preview", entry.name], f"preview of {entry.name}")
