"""What the app reads of its project: its runs and its environments."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import events
from textual.app import App

from workbench.ui.header import RunCounts

if TYPE_CHECKING:
    from workbench.ui.app import WorkbenchApp
    from workbench.ui.library import Library
    from workbench.ui.watch import RunWatch


class Reading(App[None]):
    """The part of the app that knows what there is."""

    if TYPE_CHECKING:
        library: Library
        runs_root: Path
        clock: Callable[[], float]

    keys_held: list[events.Key] | None = None
    """Keys that wait for what is being opened, which the screen below would take for its own; None while nothing is."""

    def hold_keys(self) -> list[events.Key]:
        """Keep keys from now on, until `keys_held` is None again, and return where."""
        self.keys_held = []
        return self.keys_held

    @cached_property
    def runs(self) -> RunWatch:
        """The one reader of the runs' folders; made when first asked for, since what it imports takes long."""
        from workbench.ui.watch import RunWatch

        return RunWatch(cast("WorkbenchApp", self), self.runs_root, clock=self.clock)

    @property
    def run_counts(self) -> RunCounts:
        """What the header says of the runs: nothing before the first frame, for which nobody reads them."""
        if "runs" not in vars(self):
            return RunCounts()
        snapshot = self.runs.snapshot
        return RunCounts(snapshot.live, snapshot.queued, snapshot.bad)

    async def on_event(self, event: events.Event) -> None:
        """Let what a key does go before what is read; keep it where it is meant for what is yet to open."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            if self.keys_held is not None:
                self.keys_held.append(event)
                return
            if "runs" in vars(self):
                self.runs.let_key_pass()
        await super().on_event(event)

    def has_runs(self) -> bool:
        """Return whether there is a folder of a run."""
        return any(path.is_dir() for path in self.runs_root.glob("*/*_*"))

    def read_project(self) -> None:
        """Begin to read runs and environments."""
        self.runs.start()
        self.library.read()
