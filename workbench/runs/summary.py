"""One row of the list of runs: what a run is, how far it is, and when it will be done."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.runs.annotations import Annotations
from workbench.runs.changes import laid_over
from workbench.runs.digest import BestEvaluation, Digest
from workbench.runs.directory import RunDirectory
from workbench.runs.filter_fields import parent_run, read_values
from workbench.runs.lineage import start_of
from workbench.runs.state import ObservedState
from workbench.runs.states import RunState

ETA_FROM_S = 30.0
"""A remaining time is told once the recent window spans this much."""


@dataclass(frozen=True)
class Limits:
    """What bounds a run from above; 0 is no limit."""

    steps: int = 0
    iterations: int = 0
    wall_s: float = 0.0
    has_goal: bool = False
    """Whether a return can end it earlier."""

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Limits:
        """Read the limits from the spec in a `run.json`."""
        criteria = spec.get("stop_criteria")
        criteria = criteria if isinstance(criteria, dict) else {}
        steps = [_limit(spec.get("total_steps")), _limit(criteria.get("num_env_steps_sampled_lifetime"))]
        return cls(
            steps=int(min((limit for limit in steps if limit), default=0)),
            iterations=int(_limit(criteria.get("training_iteration"))),
            wall_s=_limit(criteria.get("wall_time_s")),
            has_goal=any(criteria.get(key) for key in ("episode_return_mean", "evaluation_return_mean")),
        )


@dataclass(frozen=True)
class RunSummary:
    """A run as a list shows it."""

    run: RunDirectory
    state: RunState
    reason: str
    """Why it is in this state, or what ended it."""
    algorithm: str
    """Lower case."""
    env_id: str
    env_name: str
    """The environment's short name."""
    seed: int | None
    steps: int
    total_steps: int
    """The limit of steps; 0 is none."""
    iteration: int
    progress: float | None
    """0 to 1, the largest of steps, iterations and wall time over its limit; None without a limit."""
    steps_per_s: float | None
    """Over the last minute; None while nothing is known or nothing runs."""
    eta_s: float | None
    """Seconds until the first limit is met, at the recent speed."""
    eta_is_bound: bool
    """Whether a return may end the run earlier than `eta_s`."""
    last_return: float | None
    """Mean training return of the last 100 whole episodes."""
    best: BestEvaluation | None
    trend: tuple[float, ...]
    """The return over the run, for a sparkline."""
    created: float
    """When the run was made, unix seconds."""
    age_s: float
    """Seconds since then."""
    active_s: float
    """Seconds it has run, as of its newest metrics."""
    changed: float
    """When its state last changed, unix seconds."""
    tags: tuple[str, ...]
    note: str
    group: str | None
    """Shared by runs launched together that differ in seed."""
    parent: str | None
    """The checkpoint it started from: `RUN:<steps>`, or a path."""
    start_steps: int
    """Steps at which it started, its parent's; `steps` and `total_steps` count them too."""
    anomalies: int
    silent_s: float | None
    """For how long a living process has shown nothing."""
    is_stalled: bool
    last_words: tuple[str, ...]
    """The end of a crashed run's log."""
    pid: int | None
    host: str
    problem: str
    """What is wrong with the folder itself; empty where nothing is."""
    smoothed_return: float | None = None
    """`last_return` under the exponential mean that curves are drawn with."""
    warning: str = ""
    """What goes wrong beside the training and does not end it: that no checkpoint is filmed, and why."""
    is_pinned: bool = False
    """Whether a person wants it on top of the list."""
    queued_ns: int = 0
    """When it was last put into the queue, unix nanoseconds."""
    tool: str = ""
    """What made it where that is not workbench: `sb3`, `zoo`, `cleanrl` or `tensorboard`."""
    source: str = ""
    """The other tool's own folder, which is only ever read."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the spec and newest metrics that a reader asked for by name; those it has not are left out."""

    @property
    def name(self) -> str:
        """The run's full name."""
        return self.run.name

    @property
    def short_id(self) -> str:
        """Its last four hex digits."""
        return self.run.short_id

    @property
    def is_foreign(self) -> bool:
        """Whether another tool made it: it can be looked at, and nothing can be asked of it."""
        return bool(self.tool)

    @property
    def parent_run(self) -> str:
        """Name of the run it was forked from; empty where it was not."""
        return parent_run(self.parent) if self.parent else ""

    def to_json(self) -> dict[str, Any]:
        """Return the row as `runs --json` prints it."""
        row = {name: value for name, value in self.__dict__.items() if name not in ("run", "best", "trend")}
        best = None if self.best is None else dict(self.best.__dict__)
        return {
            "id": self.short_id,
            "name": self.name,
            "path": str(self.run.path),
            **row,
            "values": dict(self.values),
            "state": str(self.state),
            "best_evaluation": best,
            "tags": list(self.tags),
            "last_words": list(self.last_words),
        }


def summarize(
    run: RunDirectory,
    record: Mapping[str, Any],
    annotations: Annotations,
    observed: ObservedState,
    digest: Digest,
    now: float,
    *,
    needs: Collection[str] = (),
) -> RunSummary:
    """Put a run's row together from its parts, none of which is read here.

    Args:
        run: The run.
        record: Its `run.json`.
        annotations: What a person added.
        observed: Its state.
        digest: Its event stream.
        now: Unix seconds.
        needs: Fields of the spec and metrics that the row shall carry.
    """
    spec = record.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    environment = record.get("environment")
    environment = environment if isinstance(environment, dict) else {}
    limits = Limits.of(laid_over(spec, digest.changes))
    is_working = observed.state in (RunState.RUNNING, RunState.STOPPING)
    speed = digest.steps_per_s if is_working else None
    seed, created = spec.get("seed", record.get("seed")), record.get("created")
    created = float(created) if isinstance(created, int | float) else run.made or _changed(observed, digest) or now
    start_steps, start_iteration = start_of(record)
    # Until it has told of itself, a run is as far as its parent was.
    steps, iteration = max(digest.steps, start_steps), max(digest.iteration, start_iteration)
    tags = spec.get("tags")
    tags = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    stored = observed.stored
    foreign = record.get("foreign") if run.is_foreign else None
    foreign = foreign if isinstance(foreign, dict) else {}
    return RunSummary(
        run=run,
        state=observed.state,
        reason=observed.reason,
        algorithm=str(spec.get("algorithm") or run.algorithm),
        env_id=str(spec.get("env_id") or ""),
        env_name=str(environment.get("name") or run.short_name),
        seed=seed if isinstance(seed, int) else None,
        steps=steps,
        total_steps=limits.steps,
        iteration=iteration,
        progress=_progress(limits, observed.state, steps, iteration, digest.wall_s),
        steps_per_s=speed,
        eta_s=_eta(limits, digest) if observed.state is RunState.RUNNING else None,
        eta_is_bound=limits.has_goal,
        last_return=digest.last_return,
        best=digest.best,
        trend=digest.trend,
        created=created,
        age_s=max(0.0, now - created),
        active_s=digest.wall_s,
        changed=_changed(observed, digest),
        tags=annotations.all_tags(tags),
        note=annotations.note,
        group=_text(spec.get("group")) or _text(record.get("group")),
        parent=_text(spec.get("parent")),
        start_steps=start_steps,
        anomalies=digest.anomalies,
        silent_s=observed.silent_s,
        is_stalled=observed.is_stalled,
        last_words=observed.last_words,
        pid=observed.pid if observed.state.is_live else None,
        host=stored.host if stored else "",
        problem="" if spec else "run.json is missing or damaged",
        smoothed_return=digest.smoothed_return,
        warning=digest.warning,
        is_pinned=annotations.is_on_top,
        queued_ns=stored.queued_ns if stored else 0,
        tool=str(foreign.get("tool") or run.algorithm) if run.is_foreign else "",
        source=str(foreign.get("folder") or ""),
        values=read_values(needs, spec, digest.changes, digest.metrics) if needs else {},
    )


def _progress(limits: Limits, state: RunState, steps: int, iteration: int, wall_s: float) -> float | None:
    shares = [
        done / limit
        for done, limit in (
            (steps, limits.steps),
            (iteration, limits.iterations),
            (wall_s, limits.wall_s),
        )
        if limit
    ]
    if state is RunState.FINISHED and not shares:
        return 1.0
    return min(1.0, max(shares)) if shares else None


def _eta(limits: Limits, digest: Digest) -> float | None:
    if digest.window_s < ETA_FROM_S:
        return None
    left = []
    for done, limit, rate in (
        (digest.steps, limits.steps, digest.steps_per_s),
        (digest.iteration, limits.iterations, digest.iterations_per_s),
        (digest.wall_s, limits.wall_s, 1.0),
    ):
        if limit and rate:
            left.append(max(0.0, limit - done) / rate)
    return min(left, default=None)


def _changed(observed: ObservedState, digest: Digest) -> float:
    stored = observed.stored
    if stored is None:
        return digest.last_time
    if observed.state is stored.state:
        return stored.updated
    # A crash or a kill is written nowhere: the last sign of life is the best there is.
    return max(stored.updated, stored.heartbeat, digest.last_time)


def _limit(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return max(0.0, float(value)) if is_number else 0.0


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
