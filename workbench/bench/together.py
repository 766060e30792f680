"""What runs take from each other: two at once beside one alone, and one with evaluations beside one without."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.bench.document import load
from workbench.bench.figures import Figure
from workbench.bench.processes import LIMIT_S, make_run
from workbench.errors import WorkFailedError
from workbench.runs import EventTail, RunDirectory, StateFile
from workbench.runs.machine import usable_cpus

EVALUATION_NAME = "PPO with an evaluation every 60 000 steps, over one with none"


@dataclass(frozen=True)
class Load:
    """The run that is measured."""

    algorithm: str
    steps: int
    """Of a run alone; long enough for the start to count little."""
    from_steps: int
    """Where what is measured begins: what comes before is faster or slower."""
    overrides: tuple[str, ...] = ()


LOADS = (
    Load("ppo", 300_000, 20_000),
    # Before its first update a learner from replay only collects.
    Load("sac", 16_000, 3_000, ("sac.learning_starts=1000",)),
)


def together_name(algorithm: str) -> str:
    """Return what the table calls two runs at once."""
    return f"{algorithm.upper()}, two runs at once, over one after the other"


def measure_together(work: Load, repeats: int) -> Figure:
    """Compare the steps a second of two trainers at once, over the time they have in common, with those of one."""
    alone, both = [], []
    for _ in range(repeats):
        alone.append(_speed(work, runs=1))
        both.append(_speed(work, runs=2))
    return _figure(
        together_name(work.algorithm),
        0.85,
        both,
        alone,
        note=f"both together, {usable_cpus()} CPUs, its recipe's copies",
    )


def measure_evaluations(repeats: int) -> Figure:
    """Compare a trainer that has each checkpoint scored beside it with one that has none scored."""
    work, every = LOADS[0], {"checkpoint_every_steps": 60_000}
    without, scored = [], []
    for _ in range(repeats):
        without.append(_speed(work, runs=1, **every))
        scored.append(_speed(work, runs=1, **every, eval_every=1))
    return _figure(EVALUATION_NAME, None, scored, without, note="10 episodes of 1000 steps, in a process of their own")


def _figure(name: str, target: float | None, ours: Sequence[float], theirs: Sequence[float], note: str) -> Figure:
    ratios = [one / other for one, other in zip(ours, theirs, strict=True)]
    return Figure(
        name,
        target,
        value=statistics.median(ratios),
        best=max(ratios),
        ours=statistics.median(ours),
        theirs=statistics.median(theirs),
        repeats=len(ratios),
        load=load(),
        note=note,
    )


def _speed(work: Load, *, runs: int, **fields: Any) -> float:
    """Train so many half-cheetahs at once and return the steps a second of all of them."""
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        settings = {"total_steps": work.steps, "checkpoint_every_steps": work.steps, "eval_every": 0, **fields}
        made = [
            make_run(
                Path(folder), work.algorithm, "stop_criteria.episode_return_mean=null", *work.overrides, **settings
            )
            for _ in range(runs)
        ]
        _train_all(made)
        return common_speed([_progress(run) for run in made], work.from_steps)


def common_speed(progress: Sequence[Sequence[tuple[float, float]]], from_steps: float) -> float:
    """Return the steps a second of several runs, over the time in which all of them were under way.

    Args:
        progress: Of each run, the seconds and the steps done by then, rising.
        from_steps: Where a run is under way.

    Raises:
        WorkFailedError: There is no such time.
    """
    lines = [np.array([point for point in points if point[1] >= from_steps]) for points in progress]
    if not all(len(line) for line in lines):
        raise WorkFailedError("a run ended before anything could be measured.")
    begin, end = max(line[0, 0] for line in lines), min(line[-1, 0] for line in lines)
    if end <= begin:
        raise WorkFailedError("the runs were not under way at the same time.")
    return float(sum(np.diff(np.interp((begin, end), *line.T))[0] for line in lines) / (end - begin))


def _progress(run: RunDirectory) -> list[tuple[float, float]]:
    events = [event for event in EventTail(run.events_path).poll() if event["kind"] == "metrics"]
    return [(event["time"], event["steps"]) for event in events]


def _train_all(runs: Sequence[RunDirectory]) -> None:
    """Train runs at once, each in the process that runs have."""
    for run in runs:
        # So that each knows of the others when it chooses its threads.
        StateFile(run.state_path).write_queued(queued_ns=time.time_ns())
    children: list[subprocess.Popen[bytes]] = []
    try:
        for run in runs:
            with run.log_path.open("ab") as log:
                command = [sys.executable, "-m", "workbench.training", str(run.path)]
                children.append(
                    subprocess.Popen(
                        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=run.path, start_new_session=True
                    )
                )
        for run, child in zip(runs, children, strict=True):
            if child.wait(LIMIT_S):
                said = run.log_path.read_text(errors="replace").strip().splitlines()
                raise WorkFailedError(f"a run failed: {said[-1] if said else 'it says nothing'}")
    finally:
        for child in children:
            child.kill()
            child.wait()
