"""Recordings, montages and reports: the forms they are asked for with, and the jobs that make them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.formatting import plural
from workbench.ui.reading import Reading

if TYPE_CHECKING:
    from textual.signal import Signal

    from workbench.ui.jobs import Job, Launcher


class Filming(Reading):
    """The part of the app that asks for films and reports and starts them."""

    if TYPE_CHECKING:
        launcher: Launcher
        jobs_changed: Signal[Job]

    @cached_property
    def film_drafts(self) -> dict[str, dict[str, str]]:
        """What was filled in where a form was closed without effect, by what it was of; kept until the app ends."""
        return {}

    def start_film(self, words: Sequence[str] | None, what: str) -> None:
        """Start a recording, a montage or a report in the background; nothing where the form was left."""
        if words is None:
            return
        job = self.launcher.start(words, kind="film", title=what)
        self.jobs_changed.publish(job)
        self.notify(f"Making the {what}. 4 shows it.")

    def record(self, target: str, what: str, environment: str = "", flags: Sequence[str] = ()) -> None:
        """Open the form of a recording of a checkpoint or an environment, as the flags of `play` have it."""
        from workbench.ui.screens.record import RecordTask

        self.push_screen(
            RecordTask(target, what, environment, flags), lambda words: self.start_film(words, f"recording of {what}")
        )

    def montage(self, runs: Sequence[str], what: str) -> None:
        """Open the form of a montage.

        Args:
            runs: What a command line calls the runs.
            what: What a person calls them.
        """
        from workbench.ui.screens.montage import MontageTask

        self.push_screen(MontageTask(list(runs), what), lambda words: self.start_film(words, f"montage of {what}"))

    def report(self, paths: Sequence[Path]) -> None:
        """Open the form of a report on some runs.

        Args:
            paths: Their folders; one that is not among the project's runs is left out.
        """
        from workbench.ui.screens.report import ReportTask

        rows = [row for path in paths if (row := self.runs.snapshot.row(path)) is not None]
        if not rows:
            self.notify("There is no run to report on.")
            return
        what = rows[0].title if len(rows) == 1 else plural(len(rows), "run")
        self.push_screen(ReportTask(rows), lambda words: self.start_film(words, f"report on {what}"))
