"""What is opened from a run: it beside others, its log in a pager, and the way back into the queue."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import work
from textual.app import SuspendNotSupported

from workbench import formatting
from workbench.ui.reading import Reading

if TYPE_CHECKING:
    from workbench.ui.usage import ReadUsage
    from workbench.ui.watch import RunRow

FEWEST, MOST = 2, 8
"""Runs that are compared: as many as there are colours at most."""


class Inspecting(Reading):
    """The part of the app that looks closer at runs."""

    def open_outside(self, path: Path) -> Any:
        """Open a file with its own program."""
        raise NotImplementedError

    @cached_property
    def make_meter(self) -> Callable[[], ReadUsage]:
        """What makes the meter of a run that is shown; tests put something else in its place."""
        from workbench.ui.usage import Meter

        return Meter

    def compare(self, paths: Sequence[Path]) -> None:
        """Show two to eight runs beside each other.

        Args:
            paths: Their folders; one named twice counts once.
        """
        from workbench.ui.screens.compare import CompareScreen

        wanted = list(dict.fromkeys(paths))
        if len(wanted) < FEWEST:
            self.notify("Two runs or more are compared: space marks them, then c.")
            return
        if len(wanted) > MOST:
            self.notify(f"The first {MOST} of {formatting.digits(len(wanted))} runs are compared.")
        self.push_screen(CompareScreen(wanted[:MOST]))

    @work(group="resume", exit_on_error=False, description="resuming a run")
    async def resume_as_it_was(self, row: RunRow) -> None:
        """Put a run that ended badly back into the queue, nothing of it changed."""
        from workbench.runs.resuming import resume_run

        done = await asyncio.to_thread(resume_run, row.run)
        self.runs.poke()
        where = "anew" if done.checkpoint is None else f"from ◇ {formatting.amount(done.checkpoint.steps)}"
        self.notify(" ".join([f"{row.title} goes on {where}.", *done.notes]))

    def open_in_pager(self, path: Path) -> None:
        """Show a long text in `$PAGER`, which has the terminal until it ends; in the editor where there is none."""
        words = _pager()
        if not path.exists() or not words:
            self.open_outside(path)
            return
        try:
            with self.suspend():
                subprocess.run([*words, str(path)], check=False)
        except (OSError, SuspendNotSupported):
            self.open_outside(path)
        else:
            self.refresh(layout=True)


def _pager() -> list[str]:
    """Return the words that start the person's pager, or one that is there."""
    chosen = shlex.split(os.environ.get("PAGER") or "")
    return chosen or [name for name in ("less", "more") if shutil.which(name)][:1]
