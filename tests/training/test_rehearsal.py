"""What a dry run foretells, against what runs then do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.training.conftest import CART_POLE, HALF_CHEETAH, ROOT, make_run, tiny_spec, train_here
from workbench.errors import WorkFailedError
from workbench.simulation import EnvSource
from workbench.training.rehearsal import checkpoints_kept, iteration_steps, rehearse, shortened
from workbench.verbs.rehearsing import lines_of


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_a_rehearsal_tells_speed_memory_and_disk(algorithm: str, tmp_path: Path) -> None:
    spec = tiny_spec(algorithm, HALF_CHEETAH, total_steps=500, checkpoint_every_steps=200)
    found = rehearse(spec, HALF_CHEETAH.to_json(), time.time() + 0.5)
    assert found.steps_per_s > 50 and 0 < found.collection_share < 1
    assert found.seconds == pytest.approx(500 / found.steps_per_s)
    # A thousand rows of 17 + 17 observations, 6 actions and 3 numbers more.
    assert found.replay_bytes == (0 if algorithm == "ppo" else 1000 * 43 * 4)
    run = make_run(tmp_path, algorithm, HALF_CHEETAH, total_steps=500, checkpoint_every_steps=200)
    last = train_here(run).latest
    assert last is not None
    (last / "evaluation.json").unlink()
    size = sum(file.stat().st_size for file in last.iterdir())
    # What a run goes on from grows with the episodes it has seen.
    assert found.checkpoint_bytes == pytest.approx(size, rel=0.25)


def test_what_a_parent_has_done_takes_no_more_time() -> None:
    spec = tiny_spec("ppo", total_steps=900, checkpoint_every_steps=200)
    found = rehearse(spec, CART_POLE.to_json(), time.time() + 0.5, start=(500, 5))
    assert found.seconds == pytest.approx(400 / found.steps_per_s)
    # At 500, 600, 800 and 900 steps.
    assert found.checkpoints == 4


@pytest.mark.parametrize(
    ("fields", "steps"),
    [
        ({"checkpoint_freq": 2}, 500),
        ({"checkpoint_freq": 2, "keep_last": 1}, 500),
        ({"checkpoint_every_steps": 200}, 400),
        ({"checkpoint_every_steps": 30}, 300),
        ({"checkpoint_freq": 1}, 450),
    ],
)
def test_the_checkpoints_foretold_are_those_that_are_kept(fields: dict[str, int], steps: int, tmp_path: Path) -> None:
    run = make_run(tmp_path, "ppo", total_steps=steps, eval_every=0, **fields)
    assert train_here(run).steps >= steps
    assert checkpoints_kept(run.spec(), steps) == len(run.checkpoints())


def test_iterations_are_short_and_minibatches_as_they_were() -> None:
    block = {"n_steps": 2048, "batch_size": 256}
    short = shortened(tiny_spec("ppo", n_envs=64, ppo=block), 1.0)
    assert (short.ppo.n_steps, short.ppo.batch_size) == (64, 256)
    assert shortened(tiny_spec("ppo", n_envs=1, ppo={"n_steps": 2048, "batch_size": 64}), 1.0).ppo.n_steps == 2048
    large = {"n_steps": 32, "batch_size": 8192}
    assert shortened(tiny_spec("ppo", n_envs=1024, ppo=large), 1.0).ppo.n_steps == 8
    assert shortened(tiny_spec("sac", n_envs=4), 1.0).sac.learning_starts == 8


def test_the_steps_of_an_iteration_are_those_of_the_trainer() -> None:
    assert iteration_steps(tiny_spec("ppo")) == 100
    assert iteration_steps(tiny_spec("sac", n_envs=3)) == 1002


def test_a_run_that_fails_tells_why() -> None:
    with pytest.raises(WorkFailedError, match="nowhere_env"):
        rehearse(tiny_spec("ppo"), EnvSource("X-v0", "x", "nowhere_env.py", "X").to_json(), time.time() + 0.5)


def asked(request: dict[str, Any], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the process that rehearses, and return what it said."""
    return subprocess.run(
        [sys.executable, "-m", "workbench.training.rehearsal"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        **options,
    )


def test_the_process_answers_on_stdout_alone() -> None:
    request = {
        "spec": tiny_spec("ppo").model_dump(mode="json"),
        "environment": CART_POLE.to_json(),
        "ends": time.time() + 0.5,
    }
    done = asked(request)
    assert done.returncode == 0 and json.loads(done.stdout)["steps_per_s"] > 0, done.stderr


def test_memory_and_disk_are_told_where_no_speed_came_in_time(tmp_path: Path) -> None:
    request = {
        "spec": tiny_spec("sac", HALF_CHEETAH, total_steps=500, checkpoint_every_steps=200).model_dump(mode="json"),
        "environment": HALF_CHEETAH.to_json(),
        "ends": time.time() + 600,
        "late": time.time(),
    }
    done = asked(request, timeout=120, env=os.environ | {"TMPDIR": str(tmp_path)})
    found = json.loads(done.stdout)
    assert found["steps_per_s"] is None and found["seconds"] is None
    # A thousand rows of 17 + 17 observations, 6 actions and 3 numbers more.
    assert found["replay_bytes"] == 1000 * 43 * 4
    assert found["memory_bytes"] > 100e6 and found["disk_bytes"] >= found["checkpoints"] * found["checkpoint_bytes"] > 0
    assert any(line.startswith("memory: at least ") for line in lines_of(found))
    assert not list(tmp_path.glob("workbench-rehearsal-*"))


def test_a_rehearsal_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rehearse(tiny_spec("ppo", total_steps=0), CART_POLE.to_json(), time.time())
    assert not list(tmp_path.glob("workbench-*"))
