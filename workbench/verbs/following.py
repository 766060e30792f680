"""Watching runs from a terminal until they end, with what Ctrl-C means meanwhile."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import TextIO

from workbench.errors import WorkbenchError
from workbench.runs.directory import RunDirectory
from workbench.runs.launch import ensure_supervisor
from workbench.runs.lock import supervisor_of
from workbench.runs.states import RunState
from workbench.runs.stopping import stop_run
from workbench.runs.store import RunStore
from workbench.runs.summary import RunSummary
from workbench.verbs.run_text import for_stream, progress_line, short_title, write_line

POLL_S = 0.25
"""A terminal is redrawn at most four times a second."""
PLAIN_S = 5.0
"""A pipe gets a line this often while nothing special happens."""
CARE_S = 5.0
"""Between looks whether queued runs still have a supervisor."""


class Interrupts:
    """Counts Ctrl-C instead of letting it interrupt; outside the main thread, which alone hears it, counts nothing."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> Interrupts:
        try:
            self._before = signal.signal(signal.SIGINT, self._note)
        except ValueError:
            self._before = None
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.count += 1


@dataclass(frozen=True)
class Followed:
    """What the runs were when the watching ended."""

    rows: tuple[RunSummary, ...]
    was_left: bool = False
    """Whether a second Ctrl-C left them stopping."""


def follow(
    runs: Sequence[RunDirectory],
    store: RunStore,
    interrupts: Interrupts,
    screen: TextIO,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> Followed:
    """Show runs on `screen` until all have ended.

    The first interrupt asks all of them to write a checkpoint and end; the second leaves them at it and returns.
    """
    display = _Redrawn(screen) if screen.isatty() else _Lines(screen)
    asked, cared = 0, time.monotonic()
    warnings: _Warnings | None = None
    while True:
        rows = tuple(store.summary(run) for run in runs)
        warnings = warnings or _Warnings(rows)
        for line in warnings.new(rows):
            display.say(line)
        display.show(rows)
        if all(row.state.is_ended for row in rows):
            display.finish()
            return Followed(rows)
        if interrupts.count > asked:
            if asked:
                display.finish()
                return Followed(rows, was_left=True)
            asked = interrupts.count = 1
            display.say("Stopping: a checkpoint is written first. Ctrl-C again leaves that to itself.")
            _ask_to_stop(rows, display)
        if time.monotonic() - cared > CARE_S:
            cared = time.monotonic()
            _care_for_queue(rows, store)
        sleep(POLL_S)


def _ask_to_stop(rows: Sequence[RunSummary], display: _Display) -> None:
    for row in rows:
        try:
            stop_run(row.run)
        except WorkbenchError as error:
            display.say(str(error))


def _care_for_queue(rows: Sequence[RunSummary], store: RunStore) -> None:
    """Start a supervisor again where one was killed and left runs in the queue."""
    if any(row.state is RunState.QUEUED for row in rows) and supervisor_of(store.runs_root) is None:
        ensure_supervisor(store.runs_root)


class _Warnings:
    """What went wrong beside the training of some runs, each thing told once.

    Args:
        rows: The runs as they were found; what an earlier process of theirs had warned of is no news.
    """

    def __init__(self, rows: Sequence[RunSummary]) -> None:
        self._before = {row.name: row.warning for row in rows}
        self._said: set[str] = set()

    def new(self, rows: Sequence[RunSummary]) -> list[str]:
        """Return lines for what was not told yet; runs launched together have most of it in common."""
        lines = []
        for row in rows:
            if row.warning and row.warning != self._before[row.name] and row.warning not in self._said:
                self._said.add(row.warning)
                lines.append(f"{short_title(row)}: {row.warning}")
            self._before[row.name] = row.warning
        return lines


class _Display:
    """Where the runs are shown."""

    def __init__(self, screen: TextIO) -> None:
        self._screen = screen

    def show(self, rows: Sequence[RunSummary]) -> None:
        """Show the runs as they are now."""
        raise NotImplementedError

    def say(self, text: str) -> None:
        """Write a line that stays."""
        write_line(text, self._screen)

    def finish(self) -> None:
        """Leave the screen fit for what comes after."""


class _Redrawn(_Display):
    """A line for each run, drawn over itself."""

    def __init__(self, screen: TextIO) -> None:
        super().__init__(screen)
        self._drawn = 0

    def show(self, rows: Sequence[RunSummary]) -> None:
        """Draw the lines over those of the last time."""
        now = time.time()
        most = max(1, shutil.get_terminal_size().lines - 2)
        # Those that have ended are left out first where not all fit.
        shown = rows if len(rows) <= most else sorted(rows, key=lambda row: row.state.is_ended)[: most - 1]
        lines = [progress_line(row, now=now, stream=self._screen) for row in shown]
        if len(shown) < len(rows):
            ended = sum(row.state.is_ended for row in rows)
            lines.append(f"… {len(rows) - len(shown)} more, {ended} of {len(rows)} ended")
        text = "".join(for_stream(line, self._screen) + "\n" for line in lines)
        # In one write, so that no terminal shows the moment between.
        self._screen.write(self._erasing() + text)
        self._screen.flush()
        self._drawn = len(lines)

    def say(self, text: str) -> None:
        """Write a line that stays above those that are redrawn."""
        self._screen.write(self._erasing())
        super().say(text)

    def finish(self) -> None:
        """Take the lines away: what the runs came to is printed for good."""
        self._screen.write(self._erasing())
        self._screen.flush()

    def _erasing(self) -> str:
        lines, self._drawn = self._drawn, 0
        return f"\x1b[{lines}A\r\x1b[J" if lines else ""


class _Lines(_Display):
    """A line now and then, and at once when a run enters another state."""

    def __init__(self, screen: TextIO) -> None:
        super().__init__(screen)
        self._told: dict[str, tuple[RunState, float]] = {}

    def show(self, rows: Sequence[RunSummary]) -> None:
        """Write a line for each run of which there is something to tell."""
        for row in rows:
            state, when = self._told.get(row.name, (None, 0.0))
            is_due = not row.state.is_ended and time.monotonic() - when >= PLAIN_S
            if row.state is not state or (is_due and row.state.is_live):
                self._told[row.name] = (row.state, time.monotonic())
                write_line(progress_line(row, now=time.time(), stream=self._screen), self._screen)
