"""How the app is left: after asking where something would go on or be lost, or by a fault, without a traceback."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual.worker import WorkerFailed

from workbench import durable
from workbench.project import cache_folder
from workbench.ui.reading import Reading

if TYPE_CHECKING:
    from workbench.ui.draft import Draft
    from workbench.ui.jobs import Job

_REPORTS_KEPT = 10


class Leaving(Reading):
    """The part of the app that ends it; runs and films go on whichever way it ends."""

    if TYPE_CHECKING:
        drafts: dict[str, Draft]

    @property
    def jobs(self) -> Sequence[Job]:
        """What was started from the app."""
        raise NotImplementedError

    def stop_all(self) -> Any:
        """Ask every live and queued run to end."""
        raise NotImplementedError

    async def action_quit(self) -> None:
        """Quit; ask first while anything is live, being made, or filled in and not sent."""
        from workbench.ui.screens.quit import QuitCard

        if isinstance(self.screen, QuitCard):
            return
        counts = self.run_counts
        films = sum(job.state == "running" and job.kind == "film" for job in self.jobs)
        forms = self._unsent()
        if counts.live or counts.queued or films or forms:
            self.push_screen(QuitCard(counts, films, forms), self._quit_answered)
        else:
            self.exit()

    action_app_quit = action_quit

    def _unsent(self) -> int:
        """Return how many forms of new runs hold something that a person filled in, the open one included."""
        open_ones = [getattr(screen, "draft", None) for screen in self.screen_stack]
        return sum(draft is not None and draft.is_changed for draft in (*self.drafts.values(), *open_ones))

    async def _quit_answered(self, answer: str | None) -> None:
        if answer is None:
            return
        if answer == "stop":
            try:
                await self.stop_all().wait()
            except WorkerFailed:
                # Its card is on the screen; leaving would take it away unread.
                return
        self.exit()

    def action_help_quit(self) -> None:
        """Say how to leave: ctrl+c copies what is selected and never reaches a run."""
        self.notify("ctrl+q quits.")

    def suspend_to_shell(self) -> None:
        """Go back to the shell that started the app; its `fg` returns."""
        if self._driver is not None and self._driver.can_suspend:
            self.action_suspend_process()
        else:
            self.notify("There is no shell to go back to here.")

    def _fatal_error(self) -> None:
        """Say in a sentence that the app failed, and keep the traceback in a file, where Textual would print it."""
        report = write_report(sys.exc_info()[1])
        where = f" The report is in {report}." if report is not None else ""
        self.panic(Text(f"workbench stopped by a fault of its own; runs and films go on.{where}"))


def write_report(error: BaseException | None) -> Path | None:
    """Write the traceback of an error into the cache and return where; None where that fails too."""
    if error is None:
        return None
    folder = cache_folder() / "faults"
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}.txt"
    try:
        durable.write_text(path, "".join(traceback.format_exception(error)))
        for old in sorted(folder.glob("*.txt"))[:-_REPORTS_KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        return None
    return path
