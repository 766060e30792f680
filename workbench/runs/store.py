"""All runs of a runs root, read again at the cost of what changed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.runs.annotations import Annotations
from workbench.runs.digest import Digest
from workbench.runs.directory import RunDirectory
from workbench.runs.folders import RunFolders
from workbench.runs.references import find_run
from workbench.runs.state import ObservedState, StateFile, StoredState, observe
from workbench.runs.states import RunState
from workbench.runs.summary import RunSummary, summarize

_Stamp = tuple[int, int, int]

_SHORT = 2**18
"""A stream that has grown by less is read whatever the time."""
_QUIET_NS = 2 * 10**9
"""A folder that was just changed may change again within the same tick of the file system's clock."""
_AGE_S, _AGE_SHARE = 5.0, 1 / 60
"""The age of a run that does not change is told anew after this time, and after this share of it."""
_LATE_S = 60.0
"""How long the last words of a crashed run may come after it was seen dead."""


@dataclass
class _Known:
    """What has been read of one run, and of which version of each file."""

    digest: Digest
    stamps: dict[str, _Stamp | None] = field(default_factory=dict)
    record: dict[str, Any] = field(default_factory=dict)
    annotations: Annotations = field(default_factory=Annotations)
    stored: StoredState | None = None
    ended: ObservedState | None = None
    row: RunSummary | None = None
    """The row of a run that has ended and whose files lie still."""
    made: float = 0.0
    """When that row was made."""
    needs: frozenset[str] = frozenset()
    """What it carries."""
    still: tuple[_Stamp | None, _Stamp | None] = (None, None)
    """The folder and the stream as they were then."""
    paths: tuple[str, str] = ("", "")
    """Of both."""


class RunStore:
    """The runs below one folder.

    Args:
        runs_root: The folder; it need not exist.
        clock: Unix seconds.
        give_way: Called now and then while much is read, so that another thread can ask for its turn.
    """

    def __init__(
        self,
        runs_root: Path,
        *,
        clock: Callable[[], float] = time.time,
        give_way: Callable[[], None] = lambda: None,
    ) -> None:
        self.runs_root = runs_root
        self._folders = RunFolders(runs_root)
        self._give_way = give_way
        self._clock = clock
        self._known: dict[Path, _Known] = {}
        self.is_behind = False
        """Whether some rows of the last list tell only of the end of a long stream: there was no time to read all."""

    def list(self, needs: Collection[str] = (), *, seconds: float | None = None) -> list[RunSummary]:
        """Return a row for every run, those of other tools too.

        Pinned ones come first, then live, queued and ended, newest first in each.

        Cheap to call again: a file that did not change is not read, a stream that grew is read from where it grew.

        Args:
            needs: Fields of the spec and metrics that the rows shall carry in `values`; see `Filter.needs`.
            seconds: Read long streams for about so long, newest runs first; of the others only the end is looked at.
                Call again for the rest while `is_behind`. All is read by default.
        """
        runs = self._folders.runs()
        deadline = None if seconds is None else time.monotonic() + seconds
        self.is_behind = False
        if deadline is not None:
            runs.sort(key=lambda run: run.stamp, reverse=True)
        for gone in self._known.keys() - {run.path for run in runs}:
            del self._known[gone]
        wanted = frozenset(needs)
        rows = [self._summary(run, wanted, deadline) for run in runs]
        rows.sort(key=lambda row: (row.created, row.name), reverse=True)
        rows.sort(key=lambda row: (not row.is_pinned, 0 if row.state.is_live else 2 if row.state.is_ended else 1))
        return rows

    def summary(self, run: RunDirectory, needs: Collection[str] = ()) -> RunSummary:
        """Return the row of one run, with the fields of the spec and metrics that are asked for."""
        return self._summary(run, frozenset(needs), None)

    def _summary(self, run: RunDirectory, needs: frozenset[str], deadline: float | None) -> RunSummary:
        now = self._clock()
        known = self._known.get(run.path)
        if known is None:
            known = self._known[run.path] = _Known(Digest(run, give_way=self._give_way))
            known.paths = (str(run.path), str(run.events_path))
        still = (_stamp(known.paths[0]), _stamp(known.paths[1]))
        if known.row is not None and known.still == still and known.needs == needs:
            if abs(now - known.made) >= max(_AGE_S, _AGE_SHARE * known.row.age_s):
                known.row = replace(known.row, age_s=max(0.0, now - known.row.created))
                known.made = now
            return known.row
        if self._is_new(known, "run", run.spec_path):
            known.record = run.record()
        if self._is_new(known, "annotations", run.annotations_path):
            known.annotations = run.annotations()
        observed = self._observe(run, known, now)
        has_time = deadline is None or time.monotonic() < deadline
        is_whole = has_time or known.digest.unread < _SHORT
        if is_whole:
            known.digest.refresh()
        else:
            self.is_behind = True
            known.digest.glimpse()
        self._give_way()
        row = summarize(run, known.record, known.annotations, observed, known.digest, now, needs=needs)
        known.row = row if is_whole and _is_settled(row, still, now) else None
        known.made, known.needs, known.still = now, needs, still
        return row

    def find(self, text: str) -> RunDirectory:
        """Return the run that a person means: full name, last four hex digits, or a prefix into the date.

        Raises:
            NotFoundError: None or several; the message lists what is there and what to type.
        """
        return find_run(self.runs_root, text)

    def _observe(self, run: RunDirectory, known: _Known, now: float) -> ObservedState:
        is_new = self._is_new(known, "state", run.state_path)
        if known.ended is not None and known.ended.state is RunState.CRASHED:
            # Its exit code, the mark of a kill or its last words may come a moment after it was seen dead.
            for path in (run.exit_path, run.kill_path, run.log_path, run.events_path):
                is_new |= self._is_new(known, path.name, path)
        if is_new:
            known.stored = StateFile(run.state_path).read()
            known.ended = None
        if known.ended is not None:
            return known.ended
        observed = observe(run, now=now, stored=known.stored)
        if observed.state.is_ended:
            known.ended = observed
        return observed

    @staticmethod
    def _is_new(known: _Known, what: str, path: Path) -> bool:
        stamp = _stamp(path)
        if what in known.stamps and known.stamps[what] == stamp:
            return False
        known.stamps[what] = stamp
        return True


def _is_settled(row: RunSummary, still: tuple[_Stamp | None, _Stamp | None], now: float) -> bool:
    """Return whether the row of a run holds until its folder or its stream changes."""
    if not row.state.is_ended or (row.state is RunState.CRASHED and now - row.changed < _LATE_S):
        return False
    newest = max((stamp[0] for stamp in still if stamp is not None), default=0)
    return time.time_ns() - newest > _QUIET_NS


def _stamp(path: Path | str) -> _Stamp | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - of hundreds of paths twice a second
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino)
