"""Evaluations beside the training: the same scores, taken where they are due, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.training.conftest import CART_POLE, ROOT, events, make_run, start_child, train_here, wait_for
from workbench.policies.scoring import read_claim
from workbench.runs import RunDirectory, RunState
from workbench.simulation import EnvSource
from workbench.training.evaluations import ScorerApart, ScorerInTurn
from workbench.training.log import RunLog
from workbench.training.session import Session


def never() -> bool:
    return False


@pytest.fixture
def trained(tmp_path: Path) -> RunDirectory:
    run = make_run(tmp_path / "runs", "ppo", total_steps=200, checkpoint_freq=1, eval_every=0)
    assert train_here(run).state is RunState.FINISHED
    return run


def test_both_ways_give_the_same_scores_and_leave_them_beside_the_policy(trained: RunDirectory) -> None:
    spec, checkpoint = trained.spec(), trained.checkpoints()[-1].path
    here = ScorerInTurn(spec)
    here.begin(checkpoint)
    mine = here.take(never)
    document = json.loads((checkpoint / "evaluation.json").read_text())
    assert [scores["kind"] for scores in document["evaluations"]] == ["claimed"]
    (checkpoint / "evaluation.json").unlink()
    apart = ScorerApart(spec, trained.log_path)
    try:
        assert apart.take(never) is None
        apart.begin(checkpoint)
        assert apart.pending == checkpoint
        theirs = apart.take(never)
    finally:
        apart.close()
    assert mine is not None and mine.evaluation is not None and mine == theirs
    assert apart.pending is None
    claim = read_claim(checkpoint)
    assert claim == mine.evaluation
    assert (
        claim.lower_bound == json.loads((checkpoint / "evaluation.json").read_text())["evaluations"][0]["lower_bound"]
    )


def test_what_others_scored_stays_and_what_is_known_is_not_played_again(trained: RunDirectory) -> None:
    spec, checkpoint = trained.spec(), trained.checkpoints()[-1].path
    file = checkpoint / "evaluation.json"
    file.write_text(json.dumps({"format": 1, "evaluations": [{"kind": "re-scored", "mean_return": 7}]}))
    scorer = ScorerInTurn(spec)
    scorer.begin(checkpoint)
    first = scorer.take(never)
    document = json.loads(file.read_text())
    assert [scores["kind"] for scores in document["evaluations"]] == ["claimed", "re-scored"]
    scorer.begin(checkpoint)
    assert scorer.take(never) == first and json.loads(file.read_text()) == document


def test_a_run_is_the_same_however_it_is_evaluated(tmp_path: Path) -> None:
    told = []
    for apart in (False, True):
        run = make_run(tmp_path / str(apart), "ppo", total_steps=600, checkpoint_freq=1, keep_last=2)
        with RunLog(run.log_path) as log:
            result = Session(run, log, evaluates_apart=apart).run()
        assert result.state is RunState.FINISHED, run.log_path.read_text()
        changing = ("time", "wall_s", "values", "pid")
        stream = [{key: value for key, value in event.items() if key not in changing} for event in events(run)]
        values = [
            {name: value for name, value in event["values"].items() if not name.startswith("time/")}
            for event in events(run, "metrics")
        ]
        weights = [(item.path / "policy.safetensors").read_bytes() for item in run.checkpoints()]
        best = run.best()
        assert best is not None
        told.append((stream, values, weights, best.path.name))
    assert told[0] == told[1]


FRAGILE = '''
import os
from dataclasses import dataclass

import numpy as np
from workbench.simulation import BatchEnv, BatchEnvConfig

MODEL = """<mujoco><worldbody><body><joint name="j" type="slide"/><geom size="1"/></body></worldbody>
<actuator><motor joint="j" ctrlrange="-1 1"/></actuator></mujoco>"""


@dataclass(frozen=True)
class FragileEnvConfig(BatchEnvConfig):
    deed: str = ""


class FragileEnv(BatchEnv[FragileEnvConfig]):
    """Does its deed in the process that evaluates, and nothing in the one that trains."""

    def load(self):
        import mujoco

        print("hello from the author")
        return mujoco.MjModel.from_xml_string(MODEL)

    def initial_state(self, noise):
        return noise.uniform(-1, 1, 1), noise.uniform(-1, 1, 1)

    def observe(self):
        return self.qpos

    def reward_terms(self, actions):
        if "SCORING" in os.environ or os.getpid() != int(os.environ["TRAINER_PID"]):
            exec(self.config.deed)
        return {"still": np.zeros(self.n_envs)}
'''


def fragile(folder: Path, deed: str) -> EnvSource:
    module = folder / "fragile_env.py"
    module.write_text(FRAGILE)
    return EnvSource("workbench/Fragile-v0", "fragile", str(module), "FragileEnv", {"episode_steps": 20, "deed": deed})


@pytest.mark.parametrize(
    ("deed", "said"), [("raise ValueError('no')", "ValueError: no"), ("os._exit(3)", "ended with code 3")]
)
def test_an_evaluation_that_fails_costs_its_score_and_nothing_else(
    deed: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINER_PID", str(os.getpid()))
    run = make_run(tmp_path / "runs", "ppo", fragile(tmp_path, deed), total_steps=200, checkpoint_freq=1)
    with RunLog(run.log_path) as log:
        result = Session(run, log, evaluates_apart=True).run()
    assert (result.state, result.steps) == (RunState.FINISHED, 200)
    assert result.best is None and result.evaluation is None
    marks = events(run, "anomaly")
    assert [mark["what"] for mark in marks] == ["evaluation_failed"] * 3
    assert all(said in mark["message"] for mark in marks)
    assert said in run.log_path.read_text()
    assert not events(run, "evaluation")


def test_a_scoring_that_is_given_up_ends_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINER_PID", str(os.getpid()))
    source = fragile(tmp_path, "__import__('time').sleep(1000)")
    run = make_run(tmp_path / "runs", "ppo", source, total_steps=100, eval_every=0)
    assert train_here(run).state is RunState.FINISHED
    scorer = ScorerApart(run.spec(), run.log_path)
    began: list[psutil.Process] = []

    def give_up() -> bool:
        began[:] = evaluators_of(os.getpid())
        return bool(began)

    assert scorer.score_afresh(run.checkpoints()[-1].path, give_up) is None
    scorer.close()
    assert not began[0].is_running()


def test_what_an_environment_prints_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINER_PID", str(os.getpid()))
    run = make_run(tmp_path / "runs", "ppo", fragile(tmp_path, "print('{}', flush=True)"), total_steps=100)
    with RunLog(run.log_path) as log:
        result = Session(run, log, evaluates_apart=True).run()
    assert result.state is RunState.FINISHED and result.evaluation is not None


def evaluators_of(pid: int) -> list[psutil.Process]:
    return [child for child in psutil.Process(pid).children() if "workbench.policies.scoring" in child.cmdline()]


@pytest.fixture
def slow_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A child whose evaluations never end."""
    source = fragile(tmp_path, "__import__('time').sleep(1000)")
    run = make_run(tmp_path / "runs", "ppo", source, total_steps=0, stop_criteria={"wall_time_s": 600.0})
    starter = (
        "import os, runpy, sys; os.environ['TRAINER_PID'] = str(os.getpid());"
        "sys.argv[0] = 'training'; runpy.run_module('workbench.training', run_name='__main__')"
    )
    with run.log_path.open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-c", starter, str(run.path)],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    yield run, child
    child.kill()
    child.wait()


def test_no_evaluation_outlives_a_trainer_that_was_killed(slow_run: Any) -> None:
    _, child = slow_run
    evaluator = wait_for(lambda: evaluators_of(child.pid))[0]
    assert wait_for(lambda: evaluator.nice() >= 10)
    child.kill()
    child.wait()
    evaluator.wait(timeout=10)


def test_a_stop_waits_for_no_evaluation(slow_run: Any) -> None:
    run, child = slow_run
    # It waits at its second checkpoint for the scores of the first.
    wait_for(lambda: any(event["iteration"] >= 9 for event in events(run, "metrics")))
    evaluator = wait_for(lambda: evaluators_of(child.pid))[0]
    time.sleep(0.5)
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=20) == 0
    assert events(run, "state")[-1]["state"] == "stopped"
    evaluator.wait(timeout=10)
    latest = run.latest()
    assert latest is not None and latest.steps == events(run)[-1]["steps"] == 1000


def test_the_evaluating_process_needs_no_torch() -> None:
    code = (
        "import sys, workbench.policies.scoring, workbench.policies.evaluation;"
        "sys.exit('torch' in sys.modules or 'stable_baselines3' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_a_live_run_evaluates_apart(tmp_path: Path) -> None:
    run = make_run(tmp_path, "ppo", CART_POLE, total_steps=300, checkpoint_freq=1)
    child = start_child(run)
    seen = wait_for(lambda: evaluators_of(child.pid) or child.poll() is not None)
    assert child.wait(timeout=60) == 0
    assert seen is not True or (os.cpu_count() or 1) == 1
    assert [event["steps"] for event in events(run, "evaluation")] == [0, 100, 200, 300]
