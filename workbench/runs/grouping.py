"""Runs that belong together: seeds of one launch folded into one row, and forks under the run they came from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from workbench.formatting import SPACE, amount
from workbench.runs.digest import BestEvaluation
from workbench.runs.directory import RunDirectory
from workbench.runs.filter_fields import text_of
from workbench.runs.states import RunState
from workbench.runs.summary import RunSummary

LIVELIEST = (
    RunState.RUNNING,
    RunState.STOPPING,
    RunState.STARTING,
    RunState.PAUSED,
    RunState.QUEUED,
    RunState.CRASHED,
    RunState.FAILED,
    RunState.STOPPED,
    RunState.FINISHED,
)
"""States by how lively they are; of those that ended, the ones that ask for a look come first."""

_LAUNCH_FIELDS = frozenset({"tags", "group", "parent", "profile", "video_on_checkpoint"})
_CHANGES_SHOWN = 3


@dataclass(frozen=True)
class RunGroup:
    """Runs launched together that differ in seed alone, as one row of a list."""

    rows: tuple[RunSummary, ...]
    """At least two, by seed."""

    @property
    def id(self) -> str:
        """What the runs share."""
        return self.rows[0].group or ""

    @property
    def env_id(self) -> str:
        """Gymnasium ID of their environment."""
        return self.rows[0].env_id

    @property
    def env_name(self) -> str:
        """Short name of their environment."""
        return self.rows[0].env_name

    @property
    def algorithm(self) -> str:
        """Lower case."""
        return self.rows[0].algorithm

    @property
    def title(self) -> str:
        """What a list calls them: `ant_no_contact ×3`."""
        return f"{self.env_name} ×{len(self.rows)}"

    @property
    def seeds(self) -> tuple[int, ...]:
        """Their seeds, rising."""
        return tuple(row.seed for row in self.rows if row.seed is not None)

    @property
    def state(self) -> RunState:
        """That of the liveliest."""
        return self.liveliest.state

    @property
    def liveliest(self) -> RunSummary:
        """The run whose state stands for all."""
        return min(self.rows, key=lambda row: LIVELIEST.index(row.state))

    @property
    def steps(self) -> int:
        """Of all together."""
        return sum(row.steps for row in self.rows)

    @property
    def total_steps(self) -> int:
        """Of all together; 0 where one has no limit."""
        totals = [row.total_steps for row in self.rows]
        return sum(totals) if all(totals) else 0

    @property
    def steps_per_s(self) -> float | None:
        """Of those that run, together; None where nothing is known."""
        known = [row.steps_per_s for row in self.rows if row.steps_per_s is not None]
        return sum(known) if known else None

    @property
    def progress(self) -> float | None:
        """The mean of theirs, 0 to 1; None where one has no limit."""
        known = [row.progress for row in self.rows if row.progress is not None]
        return sum(known) / len(known) if len(known) == len(self.rows) else None

    @property
    def eta_s(self) -> float | None:
        """Seconds until the slowest that runs is done; None while that is not known of one of them."""
        running = [row.eta_s for row in self.rows if row.state is RunState.RUNNING]
        known = [eta for eta in running if eta is not None]
        return max(known) if known and len(known) == len(running) else None

    @property
    def eta_is_bound(self) -> bool:
        """Whether a return may end one of them earlier."""
        return any(row.eta_is_bound for row in self.rows)

    @property
    def last_return(self) -> float | None:
        """The interquartile mean of theirs."""
        return _iqm([row.last_return for row in self.rows])

    @property
    def smoothed_return(self) -> float | None:
        """The interquartile mean of theirs, smoothed."""
        return _iqm([row.smoothed_return for row in self.rows])

    @property
    def best(self) -> BestEvaluation | None:
        """The evaluation with the highest score of all."""
        scored = [row.best for row in self.rows if row.best is not None]
        return max(scored, key=lambda best: best.score, default=None)

    @property
    def trend(self) -> tuple[float, ...]:
        """The mean of their trends, each stretched over its run."""
        trends = [row.trend for row in self.rows if row.trend]
        if not trends:
            return ()
        length = min(map(len, trends))
        picked = [[trend[index * len(trend) // length] for index in range(length)] for trend in trends]
        return tuple(sum(values) / len(values) for values in zip(*picked, strict=True))

    @property
    def created(self) -> float:
        """When the first was made, unix seconds."""
        return min(row.created for row in self.rows)

    @property
    def age_s(self) -> float:
        """Seconds since then."""
        return max(row.age_s for row in self.rows)

    @property
    def active_s(self) -> float:
        """Seconds the longest has run."""
        return max(row.active_s for row in self.rows)

    @property
    def changed(self) -> float:
        """When a state last changed, unix seconds."""
        return max(row.changed for row in self.rows)

    @property
    def tags(self) -> tuple[str, ...]:
        """Those that all have."""
        return tuple(tag for tag in self.rows[0].tags if all(tag in row.tags for row in self.rows))

    @property
    def anomalies(self) -> int:
        """Of all together."""
        return sum(row.anomalies for row in self.rows)

    @property
    def is_stalled(self) -> bool:
        """Whether one of them has long shown nothing."""
        return any(row.is_stalled for row in self.rows)

    @property
    def is_pinned(self) -> bool:
        """Whether a person wants one of them on top of the list."""
        return any(row.is_pinned for row in self.rows)

    @property
    def reason(self) -> str:
        """Why the liveliest is in its state; counted where others ended for it too: `goal ×3`."""
        reason = self.liveliest.reason
        same = sum(row.reason == reason and row.state is self.state for row in self.rows)
        return f"{reason} ×{same}" if reason and same > 1 else reason


def grouped(rows: Sequence[RunSummary]) -> list[RunGroup | RunSummary]:
    """Fold runs launched together that differ in seed alone; each group stands where its first run stood.

    A run that is alone in what is given, because it is or because a filter hides the others, stays a run.
    """
    members: dict[tuple[str, ...], list[RunSummary]] = {}
    for row in rows:
        members.setdefault(_key(row), []).append(row)
    found: list[RunGroup | RunSummary] = []
    for together in members.values():
        by_seed = sorted(together, key=lambda row: (row.seed is None, row.seed or 0, row.created))
        found.append(RunGroup(tuple(by_seed)) if len(together) > 1 else together[0])
    return found


def _key(row: RunSummary) -> tuple[str, ...]:
    return (row.group, row.env_id, row.algorithm) if row.group else (row.name,)


@dataclass(frozen=True)
class Descent:
    """A run with those that were forked from it."""

    row: RunSummary
    change: str
    """Where it was forked and what is different: `F 3.0 M, learning_rate 0.01 → 0.0003`; empty where it was not."""
    children: tuple[Descent, ...] = ()

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Descent]]:
        """Yield it and all below it, each with how far it is from here, in the order of a tree."""
        yield depth, self
        for child in self.children:
            yield from child.walk(depth + 1)


def lineage(
    rows: Sequence[RunSummary], *, record_of: Callable[[RunDirectory], Mapping[str, Any]] | None = None
) -> list[Descent]:
    """Return runs as trees, forks under the run they came from; each tree stands where its first run stood.

    A fork whose parent is not among the rows begins a tree of its own and still tells what is different.

    Args:
        rows: The runs.
        record_of: Reads a `run.json`; from the disk by default, each once.
    """
    by_name = {row.name: row for row in rows}
    children: dict[str, list[RunSummary]] = {}
    places = {row.name: place for place, row in enumerate(rows)}
    roots: dict[str, int] = {}
    for row in rows:
        root = _root(row, by_name)
        roots[root] = min(roots.get(root, len(rows)), places[row.name])
        if row.name != root:
            children.setdefault(row.parent_run, []).append(row)

    def descent(row: RunSummary) -> Descent:
        below = tuple(descent(child) for child in children.get(row.name, ()))
        return Descent(row, _change(row, record_of), below)

    return [descent(by_name[name]) for name in sorted(roots, key=lambda name: roots[name])]


def _root(row: RunSummary, by_name: Mapping[str, RunSummary]) -> str:
    """Return the name of the oldest known ancestor; files edited into a circle end where they meet themselves."""
    seen = [row.name]
    while (parent := by_name.get(row.parent_run)) is not None:
        if parent.name in seen:
            return min(seen[seen.index(parent.name) :])
        seen.append(parent.name)
        row = parent
    return row.name


def _change(row: RunSummary, record_of: Callable[[RunDirectory], Mapping[str, Any]] | None) -> str:
    if not row.parent:
        return ""
    parent = _beside(row.run, row.parent_run)
    if record_of is None:
        differences = list(_differences_on_disk(row.run, parent))
    else:
        differences = _differences(record_of(parent).get("spec"), record_of(row.run).get("spec"))
    return ", ".join([f"F {_short(row.start_steps)}", *differences])


def _beside(run: RunDirectory, name: str) -> RunDirectory:
    """Return the run of that name in the same runs root; a fork has the algorithm of its parent."""
    return RunDirectory(run.path.with_name(name))


@lru_cache(maxsize=4096)
def _differences_on_disk(run: RunDirectory, parent: RunDirectory) -> tuple[str, ...]:
    # What a run was asked for never changes, so it is read once.
    return tuple(_differences(parent.record().get("spec"), run.record().get("spec")))


def _differences(before: Any, after: Any) -> list[str]:
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return []
    old, new = _flat(before), _flat(after)
    names = [name for name in new if name in old and new[name] != old[name]]
    # A fork has a seed of its own; only where nothing else is different is that worth a word.
    names = [name for name in names if name != "seed"] or names
    shown = [f"{name} {_value(old[name])} → {_value(new[name])}" for name in names[:_CHANGES_SHOWN]]
    return [*shown, f"{len(names) - _CHANGES_SHOWN} more"] if len(names) > _CHANGES_SHOWN else shown


def _flat(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that decide what the run does, those of its algorithm by their bare names."""
    found: dict[str, Any] = {}
    for name, value in spec.items():
        if name in ("ppo", "sac", "td3"):
            if name == spec.get("algorithm") and isinstance(value, Mapping):
                found |= value
        elif isinstance(value, Mapping):
            found |= {f"{name}.{inner}": item for inner, item in value.items()}
        elif name not in _LAUNCH_FIELDS:
            found[name] = value
    return found


def _value(value: Any) -> str:
    is_large = isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000
    return amount(value) if is_large else text_of(value)


def _short(steps: int) -> str:
    """Return a step count as checkpoints are called: `3.0 M`, `212 k`."""
    return f"{steps / 1e6:.1f}{SPACE}M" if steps >= 999_500 else amount(steps)


def _iqm(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return None
    # Late: it brings arrays, which a list without groups does without.
    from workbench.runs.statistics import iqm

    return iqm(known)
