"""What processes cost: the memory of a trainer, and the seconds before the first step."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.bench.document import load
from workbench.bench.figures import Figure
from workbench.catalog import Entry, discover
from workbench.errors import ProblemsError, WorkFailedError
from workbench.project import shipped_project
from workbench.runs import EventTail, RunDirectory
from workbench.runs.record import run_record, surroundings
from workbench.simulation import EnvSource
from workbench.specs import compose

LIMIT_S = 600.0

TRAINER_START = "process start to the first training step"
POLICY_START = "process start to the first action of a saved policy, no torch"

STABLE_BASELINES3 = """
import json, sys
import stable_baselines3
import torch
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

asked = json.loads(sys.argv[1])
torch.set_num_threads(1)
env = make_vec_env("HalfCheetah-v5", asked["n_envs"], seed=0)
if asked["normalize"]:
    env = VecNormalize(env)
cls = getattr(stable_baselines3, asked["algorithm"].upper())
model = cls("MlpPolicy", env, seed=0, device="cpu", tensorboard_log=asked["folder"], **asked["keywords"])
model.learn(asked["steps"])
model.save(asked["folder"] + "/model.zip")
"""
"""The run of a user of Stable-Baselines3: the same algorithm, copies, sizes, steps and log, saved at its end."""

WATCH = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(child.pid, 0)
code = child.returncode = os.waitstatus_to_exitcode(status)
if code == 0:
    print(usage.ru_maxrss, flush=True)
sys.exit(1 if code < 0 else code)
"""
"""Runs a command and says last how much memory it held at most."""

LOAD_AND_ACT = """
import sys, time
import workbench
from pathlib import Path

from workbench.policies import read_record
from workbench.simulation import EnvSource, make_single

actor = workbench.load_policy(sys.argv[1])
env = make_single(EnvSource.from_json(read_record(Path(sys.argv[1])).environment))
env.step(actor.act(env.reset(seed=0)[0][None])[0])
print(time.time(), "torch" in sys.modules)
"""


def make_run(root: Path, algorithm: str, *overrides: str, entry: Entry | None = None, **fields: Any) -> RunDirectory:
    """Return the directory of a run that nobody carries yet: a recipe, changed as asked.

    Args:
        root: The folder of runs.
        algorithm: Which algorithm trains.
        overrides: `KEY=VALUE`, as `--set` takes them.
        entry: The environment; the half-cheetah by default.
        fields: Fields of the run by name.

    Raises:
        ProblemsError: That is no valid run.
    """
    entry = entry or discover(shipped_project()).find("half_cheetah")
    if fields.get("eval_every") == 0:
        # A goal that only evaluations can meet would be refused.
        overrides = ("stop_criteria.evaluation_return_mean=null", *overrides)
    composed = compose(
        entry.env_id, algorithm=algorithm, recipe=entry.training, overrides=overrides, **{"seed": 0, **fields}
    )
    if composed.spec is None:
        raise ProblemsError("a run of the benchmark", composed.problems)
    source = EnvSource.from_entry(entry)
    record = run_record(composed.spec, source.to_json(), sys.argv, surroundings(root))
    return RunDirectory.create(root, algorithm, source.name, files={"run.json": record})


def train(run: RunDirectory) -> float:
    """Train a run to its end in the process that runs have, and return the unix time when it began.

    Raises:
        WorkFailedError: It did not end well.
    """
    began = time.time()
    _peak_megabytes([sys.executable, "-m", "workbench.training", str(run.path)])
    return began


def memory_name(algorithm: str) -> str:
    """Return what the table calls the memory of a trainer."""
    return f"memory of a trainer, {algorithm.upper()}"


def measure_memory(algorithm: str, steps: int, repeats: int) -> Figure:
    """Compare the peak memory of a trainer with that of the same run in Stable-Baselines3."""
    ours, theirs = [], []
    n_envs = 0
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
            fields: dict[str, Any] = {"total_steps": steps, "checkpoint_every_steps": steps}
            run = make_run(Path(folder), algorithm, "stop_criteria.episode_return_mean=null", **fields)
            ours.append(_peak_megabytes([sys.executable, "-m", "workbench.training", str(run.path)]))
            asked = {**_for_stable_baselines3(run), "folder": folder, "steps": steps}
            n_envs = asked["n_envs"]
            theirs.append(_peak_megabytes([sys.executable, "-c", STABLE_BASELINES3, json.dumps(asked)], cwd=folder))
    medians = [statistics.median(each) for each in (ours, theirs)]
    return Figure(
        memory_name(algorithm),
        1.1,
        at_most=True,
        value=medians[0] / medians[1],
        unit="MB",
        ours=medians[0],
        theirs=medians[1],
        repeats=repeats,
        load=load(),
        note=f"of Stable-Baselines3's peak, {n_envs} copies",
    )


def _for_stable_baselines3(run: RunDirectory) -> dict[str, Any]:
    """Return what of a run decides how much memory it takes, as arguments of Stable-Baselines3."""
    spec = run.spec()
    block = spec.hyperparameters
    names = ["batch_size", "n_epochs", "buffer_size", "learning_starts", "gradient_steps"]
    if spec.algorithm == "ppo":
        # Of SAC and TD3 it is something else.
        names.append("n_steps")
    keywords = {name: getattr(block, name) for name in names if hasattr(block, name)}
    return {
        "algorithm": spec.algorithm,
        "n_envs": spec.n_envs,
        "normalize": spec.normalize_observations,
        "keywords": {**keywords, "policy_kwargs": {"net_arch": block.layers}},
    }


def measure_trainer_start(repeats: int) -> Figure:
    """Time a trainer from the start of its process to its first step."""
    seconds = []
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        for _ in range(repeats):
            # The untrained policy is not scored, so that the first step is one of training.
            run = make_run(Path(folder), "ppo", total_steps=2048, eval_every=0)
            began = train(run)
            states = {event["state"]: event["time"] for event in _events(run, "state")}
            seconds.append(states["running"] - began)
    return _seconds(TRAINER_START, 3.0, seconds)


def measure_policy_start(repeats: int) -> Figure:
    """Time a fresh process until a checkpoint's policy has acted once in its environment, without torch."""
    seconds = []
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        run = make_run(Path(folder), "ppo", total_steps=2048, eval_every=0)
        train(run)
        latest = run.latest()
        assert latest is not None, "a run that ended well has a checkpoint"
        for _ in range(repeats + 1):
            began = time.time()
            command = [sys.executable, "-c", LOAD_AND_ACT, str(latest.path)]
            done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=LIMIT_S)
            if done.returncode:
                raise WorkFailedError(f"the policy does not act: {(done.stderr.splitlines() or ['silent'])[-1]}")
            moment, has_torch = done.stdout.split()
            if has_torch == "True":
                raise WorkFailedError("opening a policy loads torch.")
            seconds.append(float(moment) - began)
    # The first one reads the libraries from the disk.
    return _seconds(POLICY_START, 0.5, seconds[1:])


def _seconds(name: str, target: float, seconds: Sequence[float]) -> Figure:
    value = statistics.median(seconds)
    return Figure(
        name,
        target,
        at_most=True,
        value=value,
        value_unit="s",
        best=min(seconds),
        unit="s",
        ours=value,
        repeats=len(seconds),
        load=load(),
    )


def _events(run: RunDirectory, kind: str) -> list[dict[str, Any]]:
    return [event for event in EventTail(run.events_path).poll() if event["kind"] == kind]


def _peak_megabytes(command: Sequence[str], cwd: str | None = None) -> float:
    """Run a command to its end and return the most memory that its process held.

    Args:
        command: The command.
        cwd: The folder it runs in, where MuJoCo may leave a log.

    Raises:
        WorkFailedError: It failed; the message has its last words.
    """
    # A process is told to have held what its parent held when it was started: the parent has to be a small one.
    watcher = subprocess.Popen(
        [sys.executable, "-S", "-c", WATCH, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd=cwd,
        start_new_session=True,
    )
    try:
        said = watcher.communicate(timeout=LIMIT_S)[0].strip().splitlines()
    except BaseException:
        os.killpg(watcher.pid, signal.SIGKILL)
        watcher.communicate()
        raise
    if watcher.returncode:
        words = f"{' '.join(command[:3])} ended with {watcher.returncode}"
        raise WorkFailedError(f"{words}: {said[-1] if said else 'it says nothing'}")
    # Linux counts in kilobytes, macOS in bytes.
    return int(said[-1]) / (1e6 if sys.platform == "darwin" else 1e3)
