"""Runs in this process: plain Gymnasium environments, failures, the Python interface."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import mujoco
import pytest

from tests.training.conftest import CART_POLE, HALF_CHEETAH, events, make_run, metrics, tiny_spec, train_here
from workbench.errors import NotFoundError
from workbench.policies import evaluate, read_checkpoint
from workbench.project import Project
from workbench.runs import RunState, observe
from workbench.runs.record import run_record, surroundings
from workbench.simulation import EnvSource
from workbench.specs import RunSpec
from workbench.training import train


@pytest.mark.parametrize(("env_id", "algorithm"), [("CartPole-v1", "ppo"), ("Pendulum-v1", "sac")])
def test_plain_gymnasium_environments_train(env_id: str, algorithm: str, tmp_path: Path) -> None:
    source = EnvSource(env_id, env_id)
    result = train_here(make_run(tmp_path, algorithm, source, total_steps=900, eval_episodes=2))
    assert (result.state, result.steps) == (RunState.FINISHED, 900), result.reason
    assert result.latest is not None and result.evaluation is not None
    assert evaluate(result.latest, episodes=2, seed=10_000).returns == result.evaluation.returns
    assert any(name.startswith(("terminated/", "truncated/")) for row in metrics(result.run) for name in row)


def test_the_shipped_environments_train_from_python(project: Project) -> None:
    spec = tiny_spec("ppo", total_steps=200).model_copy(update={"seed": None})
    result = train(spec, project)
    assert result.state is RunState.FINISHED and result.reason == "200 of 200 steps are done"
    assert (result.steps, result.iterations) == (200, 2)
    assert result.run.path.parent == project.runs / "PPO" and result.run.short_name == "cart_pole"
    drawn = result.run.record()["seed"]
    assert isinstance(drawn, int) and result.run.spec().seed == drawn
    assert result.latest is not None and read_checkpoint(result.latest).record.seed == drawn
    assert observe(result.run).state is RunState.FINISHED


def test_a_run_from_python_records_what_a_launched_one_does(project: Project) -> None:
    result = train(tiny_spec("ppo", total_steps=100, group="twins"), project)
    record = result.run.record()
    assert record["host"] == socket.gethostname() and record["group"] == "twins"
    assert record["versions"]["mujoco"] == mujoco.__version__
    # The project is a folder of its own, in no repository.
    assert record["git"] is None
    spec = result.run.spec()
    launched = run_record(spec, record["environment"], ["workbench", "train"], surroundings(project.runs))
    assert set(record) == set(launched)


def test_an_environment_that_is_nowhere_is_refused_before_anything_is_made(project: Project) -> None:
    with pytest.raises(NotFoundError, match="Nowhere-v0"):
        train(RunSpec(env_id="Nowhere-v0", total_steps=10), project)
    assert not project.runs.exists()


def test_a_run_that_diverges_fails_and_keeps_its_last_good_checkpoint(tmp_path: Path) -> None:
    block = {"n_steps": 25, "batch_size": 50, "learning_rate": 1e30}
    result = train_here(make_run(tmp_path, "ppo", ppo=block, checkpoint_freq=1))
    assert result.state is RunState.FAILED
    assert "after" in result.reason and "the last checkpoint is checkpoint_" in result.reason
    assert events(result.run, "anomaly")[0]["what"] == "non_finite_gradient"
    assert result.latest is not None
    assert "NaN" not in str(read_checkpoint(result.latest).tensors)
    assert observe(result.run).state is RunState.FAILED


BROKEN = '''
import numpy as np
from workbench.simulation import BatchEnv, BatchEnvConfig
from dataclasses import dataclass


@dataclass(frozen=True)
class BrokenEnvConfig(BatchEnvConfig):
    pass


class BrokenEnv(BatchEnv[BrokenEnvConfig]):
    def load(self):
        import mujoco
        return mujoco.MjModel.from_xml_string(
            """<mujoco><worldbody><body><joint name="j" type="slide"/><geom size="1"/></body></worldbody>
            <actuator><motor joint="j" ctrlrange="-1 1"/></actuator></mujoco>"""
        )

    def initial_state(self, noise):
        return noise.uniform(-1, 1, 1), noise.uniform(-1, 1, 1)

    def observe(self):
        return self.qpos

    def reward_terms(self, actions):
        if (self.elapsed > 30).any():
            raise RuntimeError("the spring broke")
        return {"still": np.zeros(self.n_envs)}
'''


def test_an_environment_that_raises_fails_the_run_in_one_sentence(tmp_path: Path) -> None:
    module = tmp_path / "broken_env.py"
    module.write_text(BROKEN)
    source = EnvSource("workbench/Broken-v0", "broken", str(module), "BrokenEnv", {"episode_steps": 20})
    fine = train_here(make_run(tmp_path / "runs", "ppo", source, total_steps=100))
    assert fine.state is RunState.FINISHED
    longer = EnvSource(**{**source.to_json(), "env_cfg": {"episode_steps": 100}})
    result = train_here(make_run(tmp_path / "runs", "ppo", longer, eval_every=0))
    assert result.state is RunState.FAILED
    assert "the spring broke" in result.reason and "\n" not in result.reason and "Traceback" not in result.reason
    assert "Traceback" in result.run.log_path.read_text()
    assert events(result.run, "state")[-1]["reason"] == result.reason


def test_an_environment_that_is_gone_fails_the_run_with_what_to_do(tmp_path: Path) -> None:
    gone = EnvSource("workbench/Gone-v0", "gone", str(tmp_path / "gone_env.py"), "GoneEnv")
    result = train_here(make_run(tmp_path, "ppo", gone))
    assert result.state is RunState.FAILED and "gone_env.py" in result.reason


def test_observations_no_policy_can_read_fail_the_run_in_a_sentence(tmp_path: Path) -> None:
    source = EnvSource("Blackjack-v1", "Blackjack-v1")
    result = train_here(make_run(tmp_path, "ppo", source))
    assert result.state is RunState.FAILED and "Tuple" in result.reason


def test_iterations_and_profile_are_obeyed(tmp_path: Path) -> None:
    result = train_here(
        make_run(
            tmp_path,
            "ppo",
            HALF_CHEETAH,
            total_steps=0,
            stop_criteria={"training_iteration": 3},
            checkpoint_freq=2,
            profile=True,
        )
    )
    assert result.reason == "3 of 3 iterations are done"
    assert [checkpoint.steps for checkpoint in result.run.checkpoints()] == [0, 200, 300]
    rows: list[dict[str, Any]] = metrics(result.run)
    assert 0 < rows[1]["timings/environment_s"] < rows[1]["time/collection_s"]
    assert "where the time went" in result.run.log_path.read_text()


def test_a_goal_on_evaluations_ends_the_run_at_the_checkpoint_after_those_that_met_it(tmp_path: Path) -> None:
    # Any policy keeps the pole up for two steps.
    easy = EnvSource(**{**CART_POLE.to_json(), "env_cfg": {"episode_steps": 2}})
    criteria = {"evaluation_return_mean": 0.1, "consecutive": 2}
    result = train_here(make_run(tmp_path, "ppo", easy, stop_criteria=criteria, checkpoint_freq=1))
    assert "2 evaluations in a row" in result.reason
    assert [checkpoint.steps for checkpoint in result.run.checkpoints()] == [0, 100, 200]
    scores = [(event["steps"], event["mean_return"], event["taken"]) for event in events(result.run, "evaluation")]
    assert scores == [(0, 2.0, 100), (100, 2.0, 200), (200, 2.0, 200)]
    assert result.best is not None and result.best.name == "checkpoint_000000000000", "the earlier on a tie"


def test_the_last_checkpoint_is_scored_however_rarely_others_are(tmp_path: Path) -> None:
    result = train_here(make_run(tmp_path, "ppo", total_steps=300, checkpoint_freq=1, eval_every=2))
    assert [event["steps"] for event in events(result.run, "checkpoint")] == [0, 100, 200, 300]
    assert [event["steps"] for event in events(result.run, "evaluation")] == [0, 200, 300]
    assert result.latest is not None and result.evaluation is not None
    assert evaluate(result.latest, episodes=3, seed=10_000).returns == result.evaluation.returns
    assert metrics(result.run)[-1]["eval/mean_return"] == result.evaluation.mean


def test_keep_last_throws_old_checkpoints_away(tmp_path: Path) -> None:
    result = train_here(make_run(tmp_path, "ppo", checkpoint_freq=1, keep_last=2, eval_every=0))
    assert [checkpoint.steps for checkpoint in result.run.checkpoints()] == [0, 400, 500]
    assert result.best is None
