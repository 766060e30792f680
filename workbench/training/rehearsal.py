"""A short run of a spec, thrown away again, that tells what the whole one would take.

`python -m workbench.training.rehearsal` reads `{"spec", "environment", "ends", "late", "start"}` from stdin and writes
what it measured as JSON to stdout. What is measured is the trainer itself, in a temporary folder.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import resource
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.policies.scoring import NICE, THREADS
from workbench.runs.rehearsal import Rehearsal

if TYPE_CHECKING:
    from workbench.runs import RunDirectory
    from workbench.specs import RunSpec

ROWS = 4096
"""Steps of an iteration that are enough to measure PPO."""
OFF_POLICY_ROWS = 64
"""The same for SAC and TD3."""
NO_LIMIT = 10**12
LEAST_S = 0.5
POLL_S = 0.1
FLOAT_BYTES = 4


def rehearse(
    spec: RunSpec,
    environment: dict[str, Any],
    ends: float,
    *,
    start: tuple[int, int] = (0, 0),
    late: tuple[float, Callable[[Rehearsal], None]] | None = None,
) -> Rehearsal:
    """Train a spec for a moment and return what the whole would take.

    Args:
        spec: What would be trained.
        environment: Where it comes from, as `run.json` has it.
        ends: The unix time at which it should be over.
        start: Steps and iterations that a parent has done already.
        late: The unix time from which no speed is waited for, and what is then called, from another thread, with what
            is known without one; its folder is gone by then, so it has to end the process.

    Raises:
        WorkbenchError: The run failed.
    """
    from workbench.errors import WorkFailedError
    from workbench.runs import RunDirectory, RunState
    from workbench.training.log import RunLog
    from workbench.training.session import Session

    with tempfile.TemporaryDirectory(prefix="workbench-rehearsal-") as folder:
        seconds = max(LEAST_S, ends - time.time())
        record = {
            "format": 1,
            "spec": shortened(spec, seconds).model_dump(mode="json"),
            "environment": environment,
        }
        run = RunDirectory.create(Path(folder), spec.algorithm, "rehearsal", files={"run.json": record})
        with RunLog(run.log_path) as log:
            session = Session(run, log, off_policy_steps=OFF_POLICY_ROWS)
            with _answered_late(spec, run, Path(folder), start, late):
                result = session.run()
        if result.state is not RunState.FINISHED:
            raise WorkFailedError(result.reason)
        return _conclude(spec, run, *start)


@contextlib.contextmanager
def _answered_late(
    spec: RunSpec,
    run: RunDirectory,
    folder: Path,
    start: tuple[int, int],
    late: tuple[float, Callable[[Rehearsal], None]] | None,
) -> Iterator[None]:
    """Tell at that time what the checkpoint of chance shows, unless the block has ended by then."""
    if late is None:
        yield
        return
    is_over, one_answers = threading.Event(), threading.Lock()

    def answer() -> None:
        while not is_over.is_set() and not run.checkpoints():
            is_over.wait(POLL_S)
        _give_way()
        is_over.wait(max(0.0, late[0] - time.time()))
        with one_answers:
            if not is_over.is_set():
                found = _unhurried(spec, run, *start)
                shutil.rmtree(folder, ignore_errors=True)
                late[1](found)

    threading.Thread(target=answer, name="late-answer", daemon=True).start()
    try:
        yield
    finally:
        with one_answers:
            is_over.set()


def _give_way() -> None:
    """Let runs that train go first, once memory and disk are known: somebody waits for these."""
    # Linux has a priority for each thread, and it is the main one that trains.
    whose = threading.main_thread().native_id if sys.platform == "linux" else 0
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, whose or 0, NICE)


def shortened(spec: RunSpec, seconds: float) -> RunSpec:
    """Return a spec that does the same per step, in iterations so short that a few of them fit into some seconds."""
    block: dict[str, Any] = {}
    if spec.algorithm == "ppo":
        block["n_steps"] = _short_rollout(spec.ppo.n_steps, spec.n_envs, spec.ppo.batch_size)
    else:
        block["learning_starts"] = min(spec.hyperparameters.learning_starts, 2 * spec.n_envs)  # type: ignore[union-attr]
    return spec.model_copy(
        update={
            spec.algorithm: spec.hyperparameters.model_copy(update=block),
            "total_steps": NO_LIMIT,
            "stop_criteria": type(spec.stop_criteria)(wall_time_s=seconds),
            "checkpoint_freq": NO_LIMIT,
            "checkpoint_every_steps": None,
            "eval_every": 0,
            "video_on_checkpoint": False,
            "seed": spec.seed or 0,
            "parent": None,
        }
    )


def _short_rollout(n_steps: int, n_envs: int, batch_size: int) -> int:
    """Return the fewest steps a copy that make minibatches as the whole rollout does, and enough of them."""
    left = n_steps * n_envs % batch_size
    for steps in range(1, n_steps):
        rows = steps * n_envs
        if n_steps % steps == 0 and rows >= max(ROWS, batch_size) and rows % batch_size == left:
            return steps
    return n_steps


def _conclude(spec: RunSpec, run: RunDirectory, steps_before: int, iterations_before: int) -> Rehearsal:
    from workbench.runs import EventTail

    rows = [event for event in EventTail(run.events_path).poll() if event["kind"] == "metrics"]
    learnt = [
        (after["steps"] - before["steps"], after["values"]["time/collection_s"], after["values"]["time/update_s"])
        for before, after in pairwise(rows)
        if after["values"]["time/update_s"] > 0 and after["steps"] > before["steps"]
    ]
    # The first one makes buffers and loads code.
    steps, collection_s, update_s = (sum(column) for column in zip(*(learnt[1:] or learnt), strict=True))
    steps_per_s = steps / max(collection_s + update_s, 1e-9)
    found = _unhurried(spec, run, steps_before, iterations_before)
    budget = _budget(spec, steps_before, iterations_before)
    return replace(
        found,
        steps_per_s=steps_per_s,
        collection_share=collection_s / max(collection_s + update_s, 1e-9),
        seconds=budget / steps_per_s if budget else None,
    )


def _budget(spec: RunSpec, steps_before: int, iterations_before: int) -> int:
    """Return how many steps are left to do; 0 where nothing limits them."""
    budget = max(spec.step_budget - steps_before, 0)
    if not budget and spec.stop_criteria.training_iteration:
        budget = (spec.stop_criteria.training_iteration - iterations_before) * iteration_steps(spec)
    return budget


def _unhurried(spec: RunSpec, run: RunDirectory, steps_before: int, iterations_before: int) -> Rehearsal:
    """Return what any checkpoint shows, however fast it was reached: memory and disk."""
    checkpoint = run.checkpoints()[-1].path
    numbers = _numbers_a_step(json.loads((checkpoint / "policy.json").read_text()))
    replay = rollout = 0
    if spec.algorithm == "ppo":
        whole, short = spec.ppo.n_steps, run.spec().ppo.n_steps
        # Rollout buffer, what the update reads, and the same in the order of the minibatches.
        rollout = 3 * (whole - short) * spec.n_envs * numbers * FLOAT_BYTES
    else:
        replay = spec.hyperparameters.buffer_size * numbers * FLOAT_BYTES  # type: ignore[union-attr]
    on_disk = replay if (run.path / "replay").is_dir() else 0
    size = sum(file.stat().st_size for file in checkpoint.iterdir())
    budget = _budget(spec, steps_before, iterations_before)
    before = steps_before if spec.checkpoint_every_steps else iterations_before * iteration_steps(spec)
    kept = checkpoints_kept(spec, budget, before) if budget else None
    return Rehearsal(
        steps_per_s=None,
        collection_share=None,
        seconds=None,
        iterations=math.ceil(budget / iteration_steps(spec)) if budget else None,
        memory_bytes=_peak_bytes() + rollout + replay,
        replay_bytes=replay,
        checkpoint_bytes=size,
        checkpoints=kept,
        disk_bytes=None if kept is None else kept * size + on_disk,
    )


def iteration_steps(spec: RunSpec) -> int:
    """Return the steps of one iteration of a spec."""
    from workbench.training.learner import OFF_POLICY_STEPS

    if spec.algorithm == "ppo":
        return spec.ppo.n_steps * spec.n_envs
    train_freq = spec.hyperparameters.train_freq  # type: ignore[union-attr]
    return math.ceil(max(OFF_POLICY_STEPS, train_freq * spec.n_envs) / spec.n_envs) * spec.n_envs


def checkpoints_kept(spec: RunSpec, budget: int, before: int = 0) -> int:
    """Return how many checkpoints there are after so many steps; those of chance, as the best one, are left out.

    Args:
        spec: What is trained.
        budget: Steps.
        before: Steps that are counted beside them, by which it is told when a checkpoint is due.
    """
    iteration = iteration_steps(spec)
    # Iterations are not cut short, and a checkpoint comes at the end of one.
    total = math.ceil(budget / iteration) * iteration if spec.algorithm == "ppo" else budget
    every = spec.checkpoint_every_steps or (spec.checkpoint_freq or 0) * iteration
    every = max(every, iteration) if every else 0
    regular = (before + total) // every - before // every if every else 0
    last = 0 if every and (before + total) % every == 0 else 1
    if spec.keep_last is not None:
        return 1 + min(regular + last, spec.keep_last)
    return 1 + regular + last


def _numbers_a_step(policy: dict[str, Any]) -> int:
    """Return how many numbers a step is kept as: two observations, the action, and what belongs to them."""
    shapes: list[list[int]] = [policy[f"{kind}_space"]["shape"] for kind in ("observation", "action")]
    observations, actions = (math.prod(shape) for shape in shapes)
    return 2 * observations + actions + 3


def _peak_bytes() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


def main() -> int:
    """Rehearse what stdin asks for and return 0, or 1 where it failed."""
    for name, value in (THREADS | {"GOMP_SPINCOUNT": "10000"}).items():
        os.environ.setdefault(name, value)
    # What an environment prints must not be taken for the answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    from workbench.errors import WorkbenchError
    from workbench.specs import spec_from_json

    def answer_late(found: Rehearsal) -> None:
        json.dump(asdict(found), answers)
        answers.flush()
        # Training goes on in the main thread, and nothing of it is wanted any more.
        os._exit(0)

    request = json.load(sys.stdin)
    late = (request["late"], answer_late) if "late" in request else None
    try:
        spec, start = spec_from_json(request["spec"]), tuple(request.get("start") or (0, 0))
        answer = asdict(rehearse(spec, request["environment"], request["ends"], start=start, late=late))
    except WorkbenchError as error:
        answer = {"reason": " ".join(str(error).split())}
    with answers:
        json.dump(answer, answers)
    return 0 if "reason" not in answer else 1


if __name__ == "__main__":
    sys.exit(main())
