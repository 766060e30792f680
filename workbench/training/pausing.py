"""A run that waits for a person, and then for a place among the trainers that run at once."""

from __future__ import annotations

import time
from typing import Protocol

from workbench.errors import RequestError
from workbench.runs import RunDirectory, RunState
from workbench.runs.places import WAITING, has_place
from workbench.runs.supervisor import slot_count
from workbench.training.log import RunLog


class Enter(Protocol):
    """Takes every state that a run enters."""

    def __call__(self, state: RunState, reason: str = "") -> None:
        """Tell of a state, and why the run is in it where that is worth a word."""
        ...


class Pause:
    """Whether a run is paused, since when, and whether it may go on.

    Args:
        run: The run.
        enter: Called with every state it enters.
        log: What a person reads.
    """

    def __init__(self, run: RunDirectory, enter: Enter, log: RunLog) -> None:
        self._run = run
        self._enter = enter
        self._log = log
        self._since: float | None = None
        """When it was paused, on the monotonic clock."""
        self._goes_on_from: float | None = None
        """When it was asked to go on, unix seconds."""
        self.is_suspect = False
        """Whether it is paused at what an anomaly left, of which no checkpoint is written."""

    @property
    def is_on(self) -> bool:
        """Whether the run is paused."""
        return self._since is not None

    @property
    def is_over(self) -> bool:
        """Whether it may go on: it was asked to, and there is a place."""
        return self._goes_on_from is not None and has_place(self._run, self._goes_on_from, slot_count())

    def begin(self) -> None:
        """Pause, or stay paused where it was asked to go on and had no place yet."""
        if self._since is None:
            self._since = time.monotonic()
            self._enter(RunState.PAUSED)
        elif self._goes_on_from is not None:
            self._goes_on_from = None
            self._enter(RunState.PAUSED)

    def begin_for(self, anomaly: str) -> None:
        """Pause at what an anomaly left."""
        self.is_suspect = True
        self._since = time.monotonic()
        self._enter(RunState.PAUSED, anomaly)

    def ask_to_go_on(self) -> str:
        """Let it go on as soon as there is a place, and return what it waits for, if for anything.

        Raises:
            RequestError: It is not paused.
        """
        if self._since is None:
            raise RequestError("the run is not paused")
        if self._goes_on_from is None:
            self._goes_on_from = time.time()
            if not self.is_over:
                # Said in the state, so that the place that becomes free next is left to this run.
                self._enter(RunState.PAUSED, WAITING)
                self._log.say(WAITING)
        return "" if self.is_over else f"{_taken(slot_count())}; it goes on when one is free"

    def end(self) -> float:
        """Be paused no more, and return how many seconds it was."""
        assert self._since is not None, "it is paused"
        paused_s = time.monotonic() - self._since
        self._since = self._goes_on_from = None
        return paused_s


def _taken(places: int) -> str:
    return "the one place is taken" if places == 1 else f"all {places} places are taken"
