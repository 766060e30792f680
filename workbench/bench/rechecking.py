"""Whether recipes still reach what was measured with them: one seed of each, trained and scored again.

A recipe's `reference` says what its seeds reached, on which episodes, after how many steps. One of those seeds is
trained as the reference was; its best checkpoint plays the same episodes. It must not be worse than the reference by
more than the seeds differ, nor need more than twice the steps of the slowest of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from workbench.bench.document import load
from workbench.bench.processes import make_run
from workbench.catalog import Catalog, Entry
from workbench.errors import NotFoundError, RequestError, WorkbenchError, WorkFailedError
from workbench.formatting import number
from workbench.policies.numbering import PUBLISHED
from workbench.policies.playing import evaluate
from workbench.project import Project
from workbench.runs import EventTail, RunDirectory
from workbench.specs.algorithms import ALGORITHMS, Algorithm

SHORT_S = 30.0
"""References whose slowest seed took no longer are checked where none is named."""
DEVIATIONS = 3.0
"""Standard deviations over seeds below the mean that are still the same."""
LEAST_SHARE = 0.01
"""Of the mean's size, that are still the same where all seeds reached the same."""
MOST_STEPS = 2.0
"""Times the steps of the slowest seed that are not slower."""
PATIENCE = 10.0
"""Times the reference's wall time after which a training has failed."""
LEAST_PATIENCE_S = 600.0

Verdict = Literal["as before", "better", "worse", "slower"]


@dataclass(frozen=True)
class Reference:
    """What a recipe says was reached with one algorithm."""

    entry: Entry
    algorithm: Algorithm
    mean: float
    std: float
    steps: int
    """Of the slowest seed."""
    seeds: tuple[int, ...]
    """Those it was measured with; the first is trained again."""
    wall_s: float | None = None
    """Of the slowest seed."""
    episodes: int = 100
    first_episode: int = PUBLISHED
    changed: Mapping[str, Any] = field(default_factory=dict)
    """Fields that were not as the recipe has them, by dotted key."""

    @property
    def name(self) -> str:
        """What a table calls it."""
        return f"{self.entry.name} {self.algorithm.upper()}"

    @property
    def is_short(self) -> bool:
        """Whether it is among those that are checked where none is named."""
        return self.wall_s is not None and self.wall_s <= SHORT_S

    @property
    def allowed(self) -> float:
        """How far from the mean a return is still the same."""
        return max(DEVIATIONS * self.std, LEAST_SHARE * abs(self.mean))

    def judge(self, mean: float, steps: int) -> Verdict:
        """Return what a return after so many steps is, beside this."""
        if not mean >= self.mean - self.allowed:
            return "worse"
        if steps > MOST_STEPS * self.steps:
            return "slower"
        return "better" if mean > self.mean + self.allowed else "as before"


def read_reference(entry: Entry, algorithm: Algorithm) -> Reference | None:
    """Return what an environment's recipe says was reached with an algorithm; None where it does not."""
    told = {} if entry.training is None else entry.training.reference.get(algorithm)
    if not isinstance(told, Mapping):
        return None
    mean, steps = told.get("return"), told.get("steps")
    by_seed = told.get("return_by_seed") or told.get("steps_by_seed") or {}
    try:
        seeds = tuple(int(seed) for seed in by_seed)
        if not seeds or not isinstance(mean, int | float) or not isinstance(steps, int):
            return None
        wall_s = told.get("wall_s")
        return Reference(
            entry,
            algorithm,
            float(mean),
            float(told.get("std") or 0.0),
            steps,
            seeds,
            None if wall_s is None else float(wall_s),
            int(told.get("episodes", 100)),
            int(told.get("first_episode", PUBLISHED)),
            dict(told.get("changed") or {}),
        )
    except (TypeError, ValueError) as error:
        raise RequestError(f"the {algorithm} reference of {entry.name}'s recipe cannot be read: {error}.") from error


def choose(catalog: Catalog, names: Sequence[str], algorithms: Sequence[Algorithm] = ()) -> list[Reference]:
    """Return the references of the environments that are named, or the short ones of all.

    Args:
        catalog: Knows the environments and their recipes.
        names: Of environments.
        algorithms: Only these.

    Raises:
        NotFoundError: There is no such environment, or nothing to check.
        RequestError: A reference is no reference.
    """
    entries = [catalog.find(name) for name in dict.fromkeys(names)] or catalog.entries
    found = [
        reference
        for entry in entries
        for algorithm in algorithms or ALGORITHMS
        if (reference := read_reference(entry, algorithm)) is not None and (names or reference.is_short)
    ]
    if not found:
        which = f"the recipe of {' or '.join(names)}" if names else "no recipe"
        has = "has no reference" if names else f"has a reference that took at most {SHORT_S:.0f} s"
        raise NotFoundError(f"{which} {has}.", hint="`workbench results --evaluate --write-references` writes them.")
    return found


def recheck(references: Sequence[Reference], project: Project) -> Iterator[dict[str, Any]]:
    """Train and score each again, and give its row as soon as it is known; a failure is a row with `error`."""
    for reference in references:
        row: dict[str, Any] = {
            "name": reference.name,
            "value": None,
            "seed": reference.seeds[0],
            "reference": {
                "return": reference.mean,
                "std": reference.std,
                "allowed": reference.allowed,
                "seeds": len(reference.seeds),
                "steps": reference.steps,
                "wall_s": reference.wall_s,
                "changed": dict(reference.changed),
            },
            "episodes": reference.episodes,
            "first_episode": reference.first_episode,
            "load": load(),
        }
        try:
            mean, steps, wall_s = train_again(reference, project)
        except WorkbenchError as error:
            yield {**row, "verdict": "failed", "error": str(error)}
        else:
            verdict = reference.judge(mean, steps)
            yield {**row, "value": mean, "steps": steps, "wall_s": wall_s, "verdict": verdict}


def train_again(reference: Reference, project: Project) -> tuple[float, int, float]:
    """Train one seed as the reference was, and return the best checkpoint's mean return, the steps and the seconds.

    Raises:
        WorkbenchError: The recipe does not allow it, training failed, or the policy cannot be scored.
    """
    overrides = [f"{key}={json.dumps(value)}" for key, value in reference.changed.items()]
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        run = make_run(
            Path(folder),
            reference.algorithm,
            *overrides,
            entry=reference.entry,
            seed=reference.seeds[0],
        )
        limit_s = max(LEAST_PATIENCE_S, PATIENCE * (reference.wall_s or 0.0))
        seconds = _train(run, limit_s)
        steps = max(
            (event["steps"] for event in EventTail(run.events_path).poll() if event["kind"] == "metrics"), default=0
        )
        best = run.best() or run.latest()
        if best is None:
            raise WorkFailedError(f"{reference.name} wrote no checkpoint.")
        scored = evaluate(best.path, episodes=reference.episodes, seed=reference.first_episode, project=project)
        return scored.mean, steps, seconds


def _train(run: RunDirectory, limit_s: float) -> float:
    """Train a run to its end in the process that runs have, and return the seconds."""
    began = time.monotonic()
    with run.log_path.open("ab") as log:
        command = [sys.executable, "-m", "workbench.training", str(run.path)]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=run.path, timeout=limit_s, check=False
            )
        except subprocess.TimeoutExpired:
            raise WorkFailedError(f"training did not end within {number(limit_s)} s.") from None
    if done.returncode:
        said = run.log_path.read_text(errors="replace").strip().splitlines()
        raise WorkFailedError(f"training failed: {said[-1] if said else 'it says nothing'}")
    return time.monotonic() - began
