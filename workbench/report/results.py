"""Results of runs that differ in seed alone: one line for each environment, algorithm and way of training it.

A return is that of the best checkpoint of each run, greedily, on numbered episodes that nothing was chosen by. Where
that is not recorded for all seeds of a line, the line says what stands in its place.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from workbench.catalog import Catalog
from workbench.catalog.run_config import flat_settings, is_own
from workbench.errors import WorkbenchError
from workbench.formatting import plural
from workbench.report.facts import ReportedRun, read_run
from workbench.runs.claims import CLAIMED, scores_in
from workbench.runs.directory import RunDirectory
from workbench.runs.machine import machine_text
from workbench.runs.statistics import Interval, bootstrap
from workbench.runs.store import RunStore
from workbench.runs.summary import RunSummary

BasisKind = Literal["fresh", "settled", "claimed", "training"]
_WORTH: dict[BasisKind, int] = {"fresh": 3, "settled": 2, "claimed": 1, "training": 0}


@dataclass(frozen=True)
class Basis:
    """What a line's returns are of; the same for all of its seeds."""

    kind: BasisKind
    episodes: int = 0
    first_episode: int = 0

    @property
    def is_greedy(self) -> bool:
        """Whether a policy was scored on episodes that nothing was chosen by."""
        return self.kind == "fresh"

    @property
    def text(self) -> str:
        """It for people."""
        if self.kind == "training":
            return "training, the mean of the last 100 episodes"
        numbers = f"{self.episodes} episodes from {self.first_episode} on"
        if self.kind == "claimed":
            return f"best checkpoint, on the {numbers} that it was chosen by"
        if self.kind == "settled":
            return f"best checkpoint, on the {numbers} by which it was settled among the best few"
        return f"best checkpoint, greedy, {numbers}"


TRAINING = Basis("training")


@dataclass(frozen=True, eq=False)
class Result:
    """Runs that differ in seed alone, one a seed."""

    runs: tuple[ReportedRun, ...]
    basis: Basis
    returns: tuple[float, ...]
    """The mean return of each run."""
    beside: int = 0
    """Most other runs of the folder that trained at once with one of them, so that wall times can be read."""

    @property
    def company(self) -> str:
        """Who trained beside its runs, for people; empty where nobody did."""
        return f"trained with {plural(self.beside, 'other run')} beside it" if self.beside else ""

    @property
    def first(self) -> ReportedRun:
        """The run that stands for what all have in common."""
        return self.runs[0]

    @property
    def env_id(self) -> str:
        """Gymnasium ID."""
        return self.first.summary.env_id

    @property
    def environment(self) -> str:
        """Short name."""
        return self.first.summary.env_name

    @property
    def algorithm(self) -> str:
        """Lower case."""
        return self.first.summary.algorithm

    @property
    def seeds(self) -> tuple[int, ...]:
        """Of the runs, in their order; -1 where a run tells none."""
        return tuple(-1 if run.summary.seed is None else run.summary.seed for run in self.runs)

    @cached_property
    def interval(self) -> Interval:
        """The interquartile mean over seeds, with its bootstrap interval."""
        return bootstrap(self.returns)

    @property
    def mean(self) -> float:
        """Over seeds."""
        return float(np.mean(self.returns))

    @property
    def std(self) -> float:
        """The standard deviation of the seeds' means, of these seeds and no others."""
        return float(np.std(self.returns))

    @property
    def steps(self) -> tuple[int, ...]:
        """Of each run."""
        return tuple(run.summary.steps for run in self.runs)

    @property
    def wall_s(self) -> tuple[float, ...]:
        """Seconds that each run trained, pauses apart."""
        return tuple(run.summary.active_s for run in self.runs)

    @property
    def goal(self) -> float | None:
        """The return at which training was to end."""
        return goal_of(self.first.record)

    @property
    def reached(self) -> int | None:
        """How many seeds have a return of at least the goal; None without a goal."""
        goal = self.goal
        return None if goal is None else sum(value >= goal for value in self.returns)

    @property
    def versions(self) -> Mapping[str, str]:
        """Of the libraries; the same for all of its runs."""
        return _mapping(self.first.record.get("versions"))

    @property
    def machines(self) -> list[str]:
        """Every machine its runs were made on."""
        return _distinct(machine_text(dict(run.record)) for run in self.runs)

    @property
    def revisions(self) -> list[str]:
        """Every git revision its runs were made at, with a + where files differed from it."""
        return _distinct(revision_of(run.record) for run in self.runs)

    @property
    def commands(self) -> list[str]:
        """The lines that train its runs again; one line for all where they differ in their seeds alone."""
        split = [_without_seed(run.record.get("command")) for run in self.runs]
        if len(split) > 1 and all(seed for _, seed in split) and len({words for words, _ in split}) == 1:
            return [shlex.join([*split[0][0], "--seeds", ",".join(seed for _, seed in split)])]
        return _distinct(run.command for run in self.runs)

    @property
    def changed(self) -> dict[str, Any]:
        """Fields of the spec that are not as the recipe has them, with their values; keys are dotted."""
        config = self.first.config
        if config.usual != "recipe":
            return {}
        return {item.key: _at(self.first.record["spec"], item.key) for item in config.differences}

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        keys = [str(seed) for seed in self.seeds]
        low, high = (None if math.isnan(end) else end for end in (self.interval.low, self.interval.high))
        return {
            "environment": self.environment,
            "env_id": self.env_id,
            "algorithm": self.algorithm,
            "basis": vars(self.basis),
            "seeds": len(self.runs),
            "iqm": self.interval.value,
            "low": low,
            "high": high,
            "mean": self.mean,
            "std": self.std,
            "return_by_seed": dict(zip(keys, self.returns, strict=True)),
            "steps_by_seed": dict(zip(keys, self.steps, strict=True)),
            "wall_s_by_seed": dict(zip(keys, self.wall_s, strict=True)),
            "beside": self.beside,
            "states": _distinct(str(run.summary.state) for run in self.runs),
            "goal": self.goal,
            "reached": self.reached,
            "changed": self.changed,
            "machines": self.machines,
            "versions": dict(self.versions),
            "git": self.revisions,
            "commands": self.commands,
            "runs": [run.summary.name for run in self.runs],
        }


@dataclass(frozen=True)
class Results:
    """All lines, by environment and algorithm, and what was left out."""

    lines: tuple[Result, ...]
    notes: tuple[str, ...]

    @property
    def environments(self) -> dict[str, list[Result]]:
        """Lines by Gymnasium ID; returns of different environments are never compared."""
        found: dict[str, list[Result]] = {}
        for line in self.lines:
            found.setdefault(line.env_id, []).append(line)
        return found


def read_results(
    runs: Sequence[RunDirectory],
    runs_root: Path,
    catalog: Catalog,
    *,
    score: Callable[[Path], object] | None = None,
) -> Results:
    """Read runs and fold those that differ in seed alone.

    Args:
        runs: The runs.
        runs_root: The folder of all runs.
        catalog: Knows the recipes that settings are compared with.
        score: Called with each best checkpoint before its scores are read, to score it where it is not.

    Raises:
        NotFoundError: A run has told nothing so far.
    """
    store = RunStore(runs_root)
    groups: dict[str, dict[int | str, ReportedRun]] = {}
    notes = []
    told = [read_run(store, run, catalog) for run in dict.fromkeys(runs)]
    for run in sorted(told, key=lambda run: run.summary.created):
        seed = run.summary.name if run.summary.seed is None else run.summary.seed
        together = groups.setdefault(_key(run), {})
        if seed in together:
            notes.append(
                f"{together[seed].summary.name} is left out: {run.summary.name} is of the same seed, and newer."
            )
        together[seed] = run
    lines, everyone = [], store.list()
    for by_seed in groups.values():
        members = [by_seed[seed] for seed in sorted(by_seed, key=lambda seed: (isinstance(seed, str), seed))]
        if score is not None:
            for run in members:
                best = run.summary.run.best()
                try:
                    if best is not None:
                        score(best.path)
                except WorkbenchError as error:
                    notes.append(f"{run.summary.name} cannot be scored: {error.message}")
        line = _result(members, everyone)
        if line is None:
            notes += [f"{run.summary.name} is left out: it has no return." for run in members]
        else:
            notes += [
                f"{run.summary.name} is left out: it has no return, as the others have."
                for run in members
                if run not in line.runs
            ]
            lines.append(line)
    lines.sort(key=lambda line: (line.environment, ("ppo", "sac", "td3").index(line.algorithm), -line.mean))
    return Results(tuple(lines), tuple(notes))


def _key(run: ReportedRun) -> str:
    """Return what runs of one line have in common: everything but the seed, and what decides nothing."""
    settings = {key: value for key, value in flat_settings(run.record).items() if not is_own(key)}
    environment = _mapping(run.record.get("environment"))
    changes = [(mark.get("steps"), mark.get("values")) for mark in run.history.marks if mark["kind"] == "set"]
    versions = _mapping(run.record.get("versions"))
    parts = [run.summary.env_id, run.summary.algorithm, settings, environment.get("env_cfg"), versions, changes]
    return json.dumps([*parts, run.record.get("parent")], sort_keys=True, default=str)


def _result(runs: Sequence[ReportedRun], everyone: Sequence[RunSummary]) -> Result | None:
    """Return the line of some runs, by the best kind of scores that all of them have."""
    tables = [_scores(run) for run in runs]
    common = set(tables[0]).intersection(*tables[1:])
    if not common:
        # Those without any return are left out; what is left has at least the training returns in common.
        having = [(run, table) for run, table in zip(runs, tables, strict=True) if TRAINING in table]
        if not having:
            return None
        runs, tables = [run for run, _ in having], [table for _, table in having]
        common = set(tables[0]).intersection(*tables[1:])
    basis = max(common, key=lambda item: (_WORTH[item.kind], item.episodes, item.first_episode))
    beside = max(_beside(run.summary, everyone) for run in runs)
    return Result(tuple(runs), basis, tuple(table[basis] for table in tables), beside)


def _beside(run: RunSummary, everyone: Sequence[RunSummary]) -> int:
    """Return the most other runs that trained at once with this one."""
    start, end = _trained(run)
    others = [_trained(other) for other in everyone if other.name != run.name]
    # How many there are grows only where one begins.
    moments = [start, *(begun for begun, _ in others if start < begun < end)]
    return max(sum(begun <= moment < ended for begun, ended in others) for moment in moments)


def _trained(run: RunSummary) -> tuple[float, float]:
    """Return from when to when a run trained, unix seconds; a pause counts as if it came before."""
    end = run.changed if run.state.is_ended else run.created + run.age_s
    return end - run.active_s, end


def _scores(run: ReportedRun) -> dict[Basis, float]:
    """Return every mean return that is known of a run's best checkpoint, and that of its training."""
    found: dict[Basis, float] = {}
    best = run.summary.run.best()
    settling = _settling(run.record)
    for scores in scores_in(best) if best is not None else []:
        mean, episodes, first = _number(scores.get("mean_return")), scores.get("episodes"), scores.get("seed")
        if scores.get("deterministic") is True and mean is not None and type(episodes) is type(first) is int:
            kind: BasisKind = "claimed" if scores.get("kind") == CLAIMED else "fresh"
            found[Basis("settled" if kind == "fresh" and first == settling else kind, episodes, first)] = mean
    last = _number(run.summary.last_return)
    return found if last is None else {**found, TRAINING: last}


def _settling(record: Mapping[str, Any]) -> int | None:
    """Return the number of the first episode by which a run settles its best checkpoint."""
    spec = _mapping(record.get("spec"))
    first, episodes = spec.get("eval_seed"), spec.get("eval_episodes")
    return first + episodes if isinstance(first, int) and isinstance(episodes, int) else None


def goal_of(record: Mapping[str, Any]) -> float | None:
    """Return the return at which a run was to end; None where it had no such goal."""
    criteria = _mapping(_mapping(record.get("spec")).get("stop_criteria"))
    for key in ("episode_return_mean", "evaluation_return_mean"):
        value = _number(criteria.get(key))
        if value:
            return value
    return None


def revision_of(record: Mapping[str, Any]) -> str:
    """Return the git revision of a `run.json`, with a + where files differed from it; empty without one."""
    git = _mapping(record.get("git"))
    revision = str(git.get("revision") or "")[:10]
    return f"{revision}+" if revision and git.get("dirty") else revision


def _without_seed(command: Any) -> tuple[tuple[str, ...], str]:
    """Return the words of a command without its one seed, and that seed; an empty one where there is none."""
    words = [str(word) for word in command] if isinstance(command, list) else []
    if words.count("--seed") != 1 or words[-1] == "--seed":
        return tuple(words), ""
    place = words.index("--seed")
    return (*words[:place], *words[place + 2 :]), words[place + 1]


def _at(spec: Mapping[str, Any], key: str) -> Any:
    block, _, name = key.partition(".")
    value = spec.get(block)
    return value.get(name) if name and isinstance(value, dict) else value


def _distinct(texts: Iterable[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text]


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
