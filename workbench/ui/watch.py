"""Reads the runs' folders off the event loop and hands over what changed, as values that never change again.

One reader for the whole app, at most twice a second by itself. The list of runs is always read; a run's history,
checkpoints and log only while a screen that is shown follows it.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.message import Message
from textual.widget import Widget
from textual.worker import Worker

from workbench.runs.directory import RunDirectory
from workbench.runs.foreign.process import ConverterProcess
from workbench.runs.history import History
from workbench.runs.queueing import QueuePlace, queue_places
from workbench.runs.states import RunState
from workbench.runs.store import RunStore
from workbench.runs.summary import RunSummary
from workbench.ui.asking import Requests, Said
from workbench.ui.log_tail import LogTail
from workbench.ui.news import news_of
from workbench.ui.past import CheckpointRow, Past, kept_steps, read_checkpoints, take, version_of

if TYPE_CHECKING:
    from workbench.ui.app import WorkbenchApp

INTERVAL_S = 0.5
IDLE_INTERVAL_S = 1.0
"""How often to look while nothing is live or queued."""
AGES_S = 5.0
"""Rows that differ in nothing but their age are told of this often."""
READING_S = 0.15
"""Long streams are read for so long at a time: the list is told of in between."""
PIECE_BYTES = 2**16
"""A followed run's stream is read in pieces of this length, between which keys come first."""
HALF_READ_S = 0.8
"""Of streams that are half read screens are told this often."""
PAUSE_S = 0.05
"""The app draws for so long, undisturbed, before the rest is read."""
KEY_S = 0.06
"""After a key the reader waits for so long: what the key does is drawn first."""
SWITCH_S = 0.0005
"""How long a thread of ours may hold the interpreter while another waits; a key passes a dozen of such waits."""
KEPT_BYTES = 32 * 2**20
"""Of histories that nobody follows any more: the cursor may come back to them."""


@dataclass(frozen=True)
class RunRow(RunSummary):
    """A run as the app shows it in a list."""

    reference: str = ""
    """What a command line calls it: its short id while that is unique, else its full name."""
    seen: bool = True
    """Whether a bad ending was looked at."""
    asked: str = ""
    """What it is doing about a request without an answer, `pausing`; empty where there is none."""
    place: QueuePlace | None = None
    """Where it stands in the queue; None where it does not wait."""

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.run.path

    @property
    def title(self) -> str:
        """Environment and short id, as notices and cards call the run."""
        return f"{self.env_name} {self.short_id}"


@dataclass(frozen=True)
class RunsSnapshot:
    """All runs of a project as they were at one moment."""

    rows: tuple[RunRow, ...] = ()
    """Live ones first, then queued, then ended, newest first in each."""
    is_read: bool = False
    """Whether the folder was looked at yet."""
    is_whole: bool = False
    """Whether all streams were read from their beginning; of some only the end is known until then."""
    time: float = 0.0
    """Unix seconds."""

    @property
    def live(self) -> int:
        """How many runs of ours a process carries now."""
        return sum(row.state.is_live and not row.is_foreign for row in self.rows)

    @property
    def queued(self) -> int:
        """How many wait for their turn."""
        return sum(row.state is RunState.QUEUED for row in self.rows)

    @property
    def bad(self) -> int:
        """How many failed or crashed and were not looked at since."""
        return sum(row.state.is_bad and not row.seen for row in self.rows)

    def row(self, path: Path) -> RunRow | None:
        """Return the row of a run."""
        return next((row for row in self.rows if row.path == path), None)


@dataclass
class _Followed:
    """What one screen wants of which runs."""

    paths: frozenset[Path]
    closely: bool
    told: dict[Path, Past] = field(default_factory=dict)
    due: float = 0.0
    """When it is told of half-read streams next, on the monotonic clock."""
    logs: dict[Path, LogTail] = field(default_factory=dict)
    ladders: dict[Path, tuple[CheckpointRow, ...]] = field(default_factory=dict)


class RunWatch:
    """The one reader of run folders.

    Args:
        app: Gets `Changed`; widgets that follow runs get `Told` and `Detailed`.
        runs_root: The folder of all runs; it need not exist.
        clock: Unix seconds.
        interval_s: How often to look.
    """

    @dataclass
    class Changed(Message):
        """The list of runs is another one."""

        snapshot: RunsSnapshot

    @dataclass
    class News(Message):
        """What happened that is worth a word: runs that ended, anomalies, answers that came or did not."""

        said: tuple[Said, ...]

    @dataclass
    class Told(Message):
        """The histories of followed runs grew; all of them are here."""

        histories: Mapping[Path, Past]

    @dataclass
    class Detailed(Message):
        """A run that is followed closely: its checkpoints, and what its log said since the last time."""

        path: Path
        checkpoints: tuple[CheckpointRow, ...]
        lines: tuple[str, ...]
        log_is_new: bool = False
        """Whether the lines are the log from its beginning, in place of those sent before."""

    def __init__(
        self,
        app: WorkbenchApp,
        runs_root: Path,
        *,
        clock: Callable[[], float] = time.time,
        interval_s: float = INTERVAL_S,
    ) -> None:
        self.snapshot = RunsSnapshot()
        self._app = app
        self._clock = clock
        self._interval_s = interval_s
        self._root = runs_root
        self._store = RunStore(runs_root, clock=clock, give_way=self._give_way)
        # The runs of other tools belong to the project, and their mirrors are files that change.
        is_wanted = runs_root == app.project.runs and not app.read_only
        self._converter = ConverterProcess(app.project) if is_wanted else None
        self._requests = Requests()
        self._needs: dict[object, frozenset[str]] = {}
        self._rows: dict[Path, tuple[tuple[object, ...], RunRow]] = {}
        """What was made of each summary, and of what."""
        self._histories: dict[Path, History] = {}
        self._records: dict[Path, dict[str, Any]] = {}
        self._pasts: dict[Path, Past] = {}
        self._followed: dict[Widget, _Followed] = {}
        self._reading = threading.Lock()
        """Held while files are read, by one thread at a time."""
        self._lock = threading.Lock()
        """Held for a moment: guards who follows what; never while files are read."""
        self._poked = asyncio.Event()
        self._is_list_wanted = True
        self._list_due = 0.0
        """When the list is read next, on the monotonic clock."""
        self._keys_first_until = 0.0
        self._switch_s = sys.getswitchinterval()
        self._worker: Worker[None] | None = None
        self._told_at = -AGES_S
        self._is_growing = False
        """Whether followed streams have more to read."""
        self._complained: set[str] = set()

    # Life, on the event loop.

    def start(self) -> None:
        """Begin to read."""
        sys.setswitchinterval(min(SWITCH_S, self._switch_s))
        self._worker = self._app.run_worker(self._run, group="watch", exit_on_error=False, description="reading runs")

    def stop(self) -> None:
        """Read no more."""
        sys.setswitchinterval(self._switch_s)
        if self._worker is not None:
            self._worker.cancel()
        if self._converter is not None:
            self._converter.stop()

    def poke(self) -> None:
        """Read now instead of at the next turn."""
        self._is_list_wanted = True
        self._poked.set()

    def let_key_pass(self) -> None:
        """Let what a key does be drawn before more is read."""
        self._keys_first_until = time.monotonic() + KEY_S

    async def settle(self) -> None:
        """Read once and hand over what changed before returning."""
        await asyncio.to_thread(self._read)
        while self._is_behind:
            await asyncio.to_thread(self._read)

    @property
    def _is_behind(self) -> bool:
        return self._store.is_behind or self._is_growing

    def follow(self, owner: Widget, paths: Collection[Path], *, closely: bool = False) -> None:
        """Send the histories of these runs to `owner` from now on, in place of those it followed before.

        Args:
            owner: Gets the messages.
            paths: Folders of runs.
            closely: Send checkpoints and log lines too.
        """
        before = self._followed.get(owner)
        wanted = frozenset(paths)
        if before is not None and before.paths == wanted and before.closely == closely:
            return
        fresh = _Followed(wanted, closely)
        if before is not None:
            fresh.logs = {path: tail for path, tail in before.logs.items() if path in wanted}
        with self._lock:
            self._followed[owner] = fresh
        # The list is the same as before; only what is drawn of it is another part.
        self._poked.set()

    def unfollow(self, owner: Widget) -> None:
        """Send nothing to `owner` any more; what nobody follows is forgotten."""
        with self._lock:
            self._followed.pop(owner, None)

    def need(self, owner: object, names: Collection[str]) -> None:
        """Have rows carry these fields of the spec and metrics, in place of those `owner` needed before.

        Args:
            owner: Who needs them.
            names: See `Filter.needs`; rows carry them from the next turn on, which comes at once.
        """
        wanted = frozenset(names)
        if self._needs.get(owner, frozenset()) != wanted:
            with self._lock:
                self._needs[owner] = wanted
            self.poke()

    def expect(self, row: RunRow, verb: str, request_id: str = "") -> None:
        """Show that a run was asked for something until it answers, and say so where it does not.

        Args:
            row: The run.
            verb: The verb of the request.
            request_id: What its answer names; a stop needs none.
        """
        with self._lock:
            self._requests.add(row.run, verb, request_id, self._clock(), is_ended=row.state.is_ended)
            words = self._requests.words()
            rows = tuple(replace(item, asked=words.get(item.path, "")) for item in self.snapshot.rows)
            self.snapshot = replace(self.snapshot, rows=rows)
        self._app.post_message(self.Changed(self.snapshot))
        self.poke()

    def mark_seen(self, path: Path) -> None:
        """Note that a bad ending was looked at, so that the header counts it no more."""
        row = self.snapshot.row(path)
        if row is None or row.seen or not row.state.is_bad:
            return
        memory = self._app.remembered
        memory.keep("runs", "seen", [*memory.texts("runs", "seen"), row.name])
        self.poke()

    async def _run(self) -> None:
        while True:
            self._poked.clear()
            with_list = self._is_list_wanted or time.monotonic() >= self._list_due
            self._is_list_wanted = False
            try:
                await asyncio.to_thread(self._read, with_list=with_list)
            except Exception as error:
                # Whatever one file holds, the others must stay readable at the next turn.
                self._complain(repr(error))
            now = time.monotonic()
            if with_list:
                self._list_due = now + self._pause_s
            pause_s = PAUSE_S if self._is_growing else max(0.0, self._list_due - now)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._poked.wait(), pause_s)

    @property
    def _pause_s(self) -> float:
        if self._store.is_behind:
            return PAUSE_S
        is_idle = self.snapshot.is_read and not self.snapshot.live and not self.snapshot.queued
        return max(self._interval_s, IDLE_INTERVAL_S) if is_idle else self._interval_s

    def _complain(self, problem: str) -> None:
        if problem not in self._complained:
            self._complained.add(problem)
            self._app.notify(f"Reading the runs failed: {problem}", severity="error")

    # Reading, on a thread.

    def _give_way(self) -> None:
        """Wait while a key is answered, but not for long: curves grow while one is held down, too."""
        waits = self._keys_first_until - time.monotonic()
        if waits > 0:
            self._keys_first_until = 0.0
            time.sleep(min(waits, KEY_S))

    def _read(self, *, with_list: bool = True) -> None:
        with self._reading:
            if with_list:
                self._read_list()
            with self._lock:
                everyone = dict(self._followed)
            wanted = {path for followed in everyone.values() for path in followed.paths}
            self._grow(wanted)
            self._forget(wanted)
            pasts = {path: self._past(path) for path in wanted}
            for owner, followed in everyone.items():
                self._tell(owner, followed, pasts)

    def _read_list(self) -> None:
        if self._converter is not None:
            try:
                self._converter.ensure()
            except OSError as error:
                self._complain(f"runs of other tools cannot be followed: {error.strerror or error}")
        seen = set(self._app.remembered.texts("runs", "seen"))
        with self._lock:
            needs = frozenset().union(*self._needs.values())
        was_behind = self._store.is_behind
        summaries = self._store.list(needs, seconds=READING_S)
        uses = Counter(summary.short_id for summary in summaries)
        places = queue_places(self._root, summaries)
        now = self._clock()
        with self._lock:
            said = self._requests.look({summary.run.path: summary for summary in summaries}, now)
            words = self._requests.words()
        rows = tuple(
            self._row(
                summary,
                summary.short_id if uses[summary.short_id] == 1 else summary.name,
                not summary.state.is_bad or summary.name in seen,
                words.get(summary.run.path, ""),
                places.get(summary.name),
            )
            for summary in summaries
        )
        before = self.snapshot
        # What is read of a run for the first time has not happened just now.
        if before.is_read and not was_behind:
            said += news_of(before.rows, rows)
        if said:
            self._app.post_message(self.News(tuple(said)))
        is_whole = not self._store.is_behind
        is_known = before.is_read and before.is_whole == is_whole
        if is_known and abs(now - self._told_at) < AGES_S and _is_alike(rows, before.rows):
            return
        self._rows = {row.path: self._rows[row.path] for row in rows}
        self._told_at = now
        self.snapshot = RunsSnapshot(rows, True, is_whole, now)
        self._app.post_message(self.Changed(self.snapshot))

    def _row(self, summary: RunSummary, *known: Any) -> RunRow:
        """Make a row, or take the one made of the same before."""
        path, made_of = summary.run.path, (summary, *known)
        before = self._rows.get(path)
        if before is not None and before[0][0] is summary and before[0][1:] == made_of[1:]:
            return before[1]
        reference, seen, asked, place = known
        row = RunRow(**vars(summary), reference=reference, seen=seen, asked=asked, place=place)
        self._rows[path] = (made_of, row)
        return row

    def _grow(self, paths: Collection[Path]) -> None:
        """Read on in the streams of followed runs, each a piece in turn, so that all their curves begin to show."""
        deadline = time.monotonic() + READING_S
        waiting = [self._history(path) for path in paths]
        while waiting:
            growing = []
            for history in waiting:
                self._give_way()
                # A number that no run writes, in a stream that something else did: what was read so far is shown.
                with contextlib.suppress(ArithmeticError, TypeError, ValueError):
                    if history.refresh(PIECE_BYTES):
                        growing.append(history)
            waiting = growing
            if time.monotonic() >= deadline:
                break
        self._is_growing = bool(waiting)

    def _history(self, path: Path) -> History:
        """Return the history of a run, which is then the last one to be forgotten."""
        history = self._histories.pop(path, None) or History(RunDirectory(path))
        self._histories[path] = history
        return history

    def _forget(self, wanted: Collection[Path]) -> None:
        """Forget what nobody follows, but what was followed last: a cursor that comes back reads nothing again."""
        size = 0
        for path, history in reversed(list(self._histories.items())):
            size += history.size_bytes
            if path not in wanted and (size > KEPT_BYTES or path not in self._rows):
                del self._histories[path]
                self._records.pop(path, None)
                self._pasts.pop(path, None)

    def _past(self, path: Path) -> Past:
        history = self._histories[path]
        # Written once and whole; one that is missing may still be on its way.
        record = self._records.get(path) or history.run.record()
        self._records[path] = record
        known, kept = self._pasts.get(path), kept_steps(history.run)
        if known is None or known.record is not record or (known.version, known.kept) != (version_of(history), kept):
            known = self._pasts[path] = take(history, record, kept)
        return known

    def _tell(self, owner: Widget, followed: _Followed, pasts: Mapping[Path, Past]) -> None:
        mine = {path: pasts[path] for path in followed.paths}
        now = time.monotonic()
        # Drawing each part of a long stream would take as long as reading it.
        is_due = not self._is_growing or not followed.told or now >= followed.due
        if is_due and mine != followed.told:
            followed.told, followed.due = mine, now + HALF_READ_S
            owner.post_message(self.Told(mine))
        for path in followed.paths if followed.closely else ():
            run = RunDirectory(path)
            is_first = path not in followed.logs
            tail = followed.logs.setdefault(path, LogTail(run.log_path))
            lines = tuple(tail.poll())
            ladder = read_checkpoints(run, pasts[path])
            is_new = is_first or tail.started_over
            if lines or is_new or followed.ladders.get(path) != ladder:
                followed.ladders[path] = ladder
                owner.post_message(self.Detailed(path, ladder, lines, is_new))


_AGES = frozenset({"age_s", "silent_s"})


def _is_alike(rows: tuple[RunRow, ...], before: tuple[RunRow, ...]) -> bool:
    """Return whether two lists differ in nothing but ages."""
    return len(rows) == len(before) and all(
        row is old or _ageless(row) == _ageless(old) for row, old in zip(rows, before, strict=True)
    )


def _ageless(row: RunRow) -> list[Any]:
    return [value for name, value in vars(row).items() if name not in _AGES]
