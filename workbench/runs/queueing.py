"""The queue of a runs root: in which order runs start, how that is changed, and when each will start.

Runs start in the order in which they were queued, but for what `.queue.json` says otherwise. It names queued runs by
name and the moment they were queued at, so that a run that ended and was queued again stands at the end like any
other. The supervisor reads it each time a place is free; whoever changes it holds the folder meanwhile.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from workbench import durable
from workbench.durable import read_document
from workbench.errors import RequestError, WorkFailedError
from workbench.runs.directory import RunDirectory, run_directories
from workbench.runs.foreign.origin import require_own
from workbench.runs.holding import held
from workbench.runs.launch import ensure_supervisor
from workbench.runs.lock import LOCK_FILE, supervisor_of
from workbench.runs.places import WAITING
from workbench.runs.state import StateFile, observe
from workbench.runs.states import RunState

if TYPE_CHECKING:
    from workbench.runs.summary import RunSummary

QUEUE_FILE = ".queue.json"


class Move(StrEnum):
    """Where a queued run goes."""

    FIRST = "first"
    LAST = "last"
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True)
class QueuePlace:
    """Where a queued run stands."""

    position: int
    """Counted from one."""
    starts_in_s: float | None
    """About when it starts, as far as is known; a run that reaches its goal early lets it start earlier."""


def in_order(runs_root: Path, waiting: Iterable[tuple[int, RunDirectory]]) -> list[tuple[int, RunDirectory]]:
    """Return queued runs in the order in which they start.

    Args:
        runs_root: Their runs root.
        waiting: Each run with the moment at which it was queued, unix nanoseconds.
    """
    listed = read_document(runs_root / QUEUE_FILE).get("order")
    ranks: dict[tuple[int, str], int] = {}
    for rank, entry in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str) and isinstance(entry[1], int):
            ranks[entry[1], entry[0]] = rank
    return sorted(waiting, key=lambda item: (ranks.get((item[0], item[1].name), len(ranks)), item[0], item[1].name))


def queued_runs(runs_root: Path) -> list[RunDirectory]:
    """Return the runs that wait, in the order in which they start."""
    return [run for _, run in in_order(runs_root, _waiting(runs_root))]


def move_in_queue(runs: Sequence[RunDirectory], where: Move) -> list[RunDirectory]:
    """Move queued runs of one runs root, which keep their order among themselves, and return the queue as it is then.

    Raises:
        RequestError: One of them does not wait, or another tool made it.
        WorkFailedError: The order cannot be written.
    """
    if not runs:
        return []
    for run in runs:
        require_own(run)
    runs_root = runs[0].runs_root
    try:
        with held(runs_root):
            waiting = in_order(runs_root, _waiting(runs_root))
            order = [run for _, run in waiting]
            for run in runs:
                if run not in order:
                    raise RequestError(_why_not(run))
            moved = _moved(order, [run for run in order if run in set(runs)], where)
            queued = {run: queued_ns for queued_ns, run in waiting}
            entries = [[run.name, queued[run]] for run in moved]
            durable.write_json(runs_root / QUEUE_FILE, {"format": 1, "order": entries}, makes_folder=False)
    except OSError as error:
        raise WorkFailedError(f"the queue of {runs_root} cannot be changed: {error.strerror or error}.") from error
    ensure_supervisor(runs_root)
    return moved


def places_of(runs_root: Path) -> int:
    """Return how many trainers run at once: as the living supervisor says, else as one started from here would."""
    from workbench.runs.supervisor import slot_count

    told = read_document(runs_root / LOCK_FILE).get("places")
    if isinstance(told, int) and told > 0 and supervisor_of(runs_root) is not None:
        return told
    return slot_count()


def queue_places(runs_root: Path, rows: Sequence[RunSummary]) -> dict[str, QueuePlace]:
    """Return where each queued run stands and about when it starts, by its name.

    Args:
        runs_root: The runs root.
        rows: All its runs: when the live ones will be done is what the others wait for.
    """
    waiting = {row.run: row for row in rows if row.state is RunState.QUEUED}
    if not waiting:
        return {}
    ends = sorted(_end(row, rows) for row in rows if _takes_place(row))
    places = places_of(runs_root)
    # Where more run than there are places, the first ends free none.
    free = ends[max(0, len(ends) - places) :] + [0.0] * max(0, places - len(ends))
    heapq.heapify(free)
    found: dict[str, QueuePlace] = {}
    ordered = in_order(runs_root, ((row.queued_ns, run) for run, row in waiting.items()))
    for position, (_, run) in enumerate(ordered, start=1):
        start = heapq.heappop(free)
        found[run.name] = QueuePlace(position, start if math.isfinite(start) else None)
        heapq.heappush(free, start + _duration(waiting[run], rows))
    return found


def _waiting(runs_root: Path) -> list[tuple[int, RunDirectory]]:
    found = []
    for run in run_directories(runs_root):
        stored = StateFile(run.state_path).read()
        if stored is not None and stored.state is RunState.QUEUED:
            found.append((stored.queued_ns, run))
    return found


def _why_not(run: RunDirectory) -> str:
    state = observe(run).state
    what = (
        f"is {state} already" if state.is_live else f"has ended ({state})" if state.is_ended else "is in another queue"
    )
    return f"{run.name} {what}; only a run that waits has a place in the queue."


def _moved(order: list[RunDirectory], chosen: list[RunDirectory], where: Move) -> list[RunDirectory]:
    others = [run for run in order if run not in chosen]
    match where:
        case Move.FIRST:
            return chosen + others
        case Move.LAST:
            return others + chosen
        case Move.UP:
            return _stepped(order, chosen)
        case Move.DOWN:
            return _stepped(order[::-1], chosen)[::-1]


def _stepped(order: list[RunDirectory], chosen: list[RunDirectory]) -> list[RunDirectory]:
    """Let each chosen run change places with the one before it, unless that is chosen too."""
    order = list(order)
    for index in range(1, len(order)):
        if order[index] in chosen and order[index - 1] not in chosen:
            order[index - 1], order[index] = order[index], order[index - 1]
    return order


def _takes_place(row: RunSummary) -> bool:
    return not row.is_foreign and row.state.is_live and (row.state is not RunState.PAUSED or row.reason == WAITING)


def _end(row: RunSummary, rows: Sequence[RunSummary]) -> float:
    """Return in how many seconds a live run is done; infinite where that is not known."""
    if row.state is RunState.STOPPING:
        return 0.0
    return _duration(row, rows) if row.eta_s is None else row.eta_s


def _duration(row: RunSummary, rows: Sequence[RunSummary]) -> float:
    """Return how long a run will take from where it is, at the speed of others like it; infinite if not known."""
    if not row.total_steps:
        return math.inf
    alike = [other for other in rows if (other.env_id, other.algorithm) == (row.env_id, row.algorithm)]
    speeds = [other.steps_per_s for other in alike if other.steps_per_s]
    if not speeds:
        done = [other for other in alike if other.active_s > 0 and other.steps > other.start_steps]
        newest = max(done, key=lambda other: other.changed, default=None)
        speeds = [] if newest is None else [(newest.steps - newest.start_steps) / newest.active_s]
    return max(0, row.total_steps - row.steps) / median(speeds) if speeds else math.inf
