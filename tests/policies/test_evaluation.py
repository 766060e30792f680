"""Scores over numbered episodes, against a plain loop over a plain environment."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.policies.conftest import Learnt
from workbench.errors import CheckpointError, NotFoundError, RequestError, SimulationError
from workbench.policies import Evaluation, evaluate, load_policy, make_agent, run_episodes
from workbench.policies.actor import PolicyActor
from workbench.project import shipped_project
from workbench.simulation import EnvSource, make_single

ROOT = Path(__file__).resolve().parents[2]
ENVS = shipped_project().envs
CART_POLE = EnvSource("workbench/CartPole-v0", "cart_pole", str(ENVS / "cart_pole_env.py"), "CartPoleEnv")
GYMNASIUM = EnvSource("CartPole-v1", "CartPole-v1")


def checkpoint(folder: Path, source: EnvSource) -> Path:
    """A policy with random weights for an environment."""
    env = make_single(source)
    learnt = Learnt("ppo", env.action_space, env.observation_space)
    env.close()
    learnt.fields["environment"] = source.to_json()
    learnt.fields["normalizer"] = None
    learnt.fields["control_period_s"] = None
    return learnt.write(folder)


def played_plainly(source: EnvSource, actor: PolicyActor, seeds: range) -> tuple[list[float], list[int]]:
    env = make_single(source)
    returns, lengths = [], []
    for seed in seeds:
        observation, _ = env.reset(seed=seed)
        value, length, over = 0.0, 0, False
        while not over:
            action = actor.act(observation[None])[0]
            observation, reward, terminated, truncated, _ = env.step(action)
            value, length, over = value + float(reward), length + 1, terminated or truncated
        returns.append(value)
        lengths.append(length)
    env.close()
    return returns, lengths


@pytest.mark.parametrize("source", [CART_POLE, GYMNASIUM], ids=["batched", "gymnasium"])
def test_scores_equal_those_of_a_plain_loop(source: EnvSource, tmp_path: Path) -> None:
    path = checkpoint(tmp_path, source)
    scores = evaluate(path, episodes=7, seed=40, batch=3)
    returns, lengths = played_plainly(source, load_policy(path), range(40, 47))
    np.testing.assert_allclose(scores.returns, returns, rtol=0, atol=1e-9)
    assert list(scores.lengths) == lengths
    assert len(set(lengths)) > 1, "episodes that all end alike would show nothing"
    assert scores.mean == pytest.approx(np.mean(returns)) and scores.std == pytest.approx(np.std(returns))
    assert (scores.min, scores.max) == (min(returns), max(returns))


@pytest.mark.parametrize("deterministic", [True, False])
def test_scores_do_not_depend_on_the_batch(deterministic: bool, tmp_path: Path) -> None:
    path = checkpoint(tmp_path, CART_POLE)
    one, several, all_at_once = (
        evaluate(path, episodes=6, seed=3, batch=batch, deterministic=deterministic) for batch in (1, 4, 32)
    )
    assert one == several == all_at_once


def test_a_sampling_policy_scores_otherwise_than_a_greedy_one(tmp_path: Path) -> None:
    path = checkpoint(tmp_path, CART_POLE)
    assert evaluate(path, deterministic=False).returns != evaluate(path).returns


def test_endings_are_counted_by_reason() -> None:
    short = EnvSource(**{**CART_POLE.to_json(), "env_cfg": {"episode_steps": 12}})
    env = make_single(short)
    scores = run_episodes(make_agent("random", env, seed=0), short, episodes=12, seed=0)
    env.close()
    assert sum(scores.endings.values()) == 12
    assert set(scores.endings) == {"pole_angle", "time_limit"}
    for length, reason, terminated in zip(scores.lengths, scores.reasons, scores.terminated, strict=True):
        assert (reason == "time_limit") == (not terminated)
        assert length == 12 or terminated


def test_endings_that_gymnasium_does_not_name_get_names() -> None:
    env = gymnasium.make("CartPole-v1")
    scores = run_episodes(make_agent("zero", env), GYMNASIUM, episodes=2)
    assert scores.endings == {"terminated": 2}


def test_an_episode_that_does_not_end_is_given_up() -> None:
    env = make_single(CART_POLE)
    scores = run_episodes(make_agent("zero", env), CART_POLE, episodes=3, batch=2, step_limit=2)
    env.close()
    assert scores.lengths == (2, 2, 2) and scores.endings == {"step_limit": 3}


FRAGILE = '''
import dataclasses
import mujoco
import numpy as np
from workbench.simulation import BatchEnv, BatchEnvConfig


@dataclasses.dataclass(frozen=True)
class FragileEnvConfig(BatchEnvConfig):
    pass


class FragileEnv(BatchEnv[FragileEnvConfig]):
    """Falls from its start height; once it is below ground it must not be stepped."""

    def load(self):
        return mujoco.MjModel.from_xml_string(
            """<mujoco><worldbody><body><joint name="z" type="slide" axis="0 0 1"/><geom size="1"/></body></worldbody>
            <actuator><motor joint="z" ctrlrange="-1 1"/></actuator></mujoco>"""
        )

    def initial_state(self, noise):
        return noise.uniform(0.01, 0.3, 1), np.zeros((len(noise), 1))

    def observe(self):
        return np.concatenate([self.qpos, self.qvel], axis=1)

    def before_step(self):
        self.root = np.sqrt(self.qpos[:, 0])

    def reward_terms(self, actions):
        return {"root": self.root}

    def terminations(self):
        return {"ground": self.qpos[:, 0] < 0}
'''


@pytest.mark.filterwarnings("ignore:invalid value encountered in sqrt:RuntimeWarning")
@pytest.mark.parametrize("batch", [1, 4])
def test_a_copy_that_ended_is_never_stepped_on(batch: int, tmp_path: Path) -> None:
    module = tmp_path / "fragile_env.py"
    module.write_text(FRAGILE)
    source = EnvSource("workbench/Fragile-v0", "fragile", str(module), "FragileEnv")
    env = make_single(source)
    scores = run_episodes(make_agent("zero", env), source, episodes=6, seed=0, batch=batch)
    heights = [env.reset(seed=seed)[0][0] for seed in range(6)]
    env.close()
    # Free fall in steps of 2 ms, the velocity first: after n of them it has sunk by 9.81 × 0.002² × n (n + 1) / 2.
    steps = np.arange(1000)
    sunk = 9.81 * 0.002**2 * steps * (steps + 1) / 2
    assert list(scores.lengths) == [int(np.argmax(sunk > height)) for height in heights]
    assert len(set(scores.lengths)) == 6 and scores.endings == {"ground": 6}


FAULTY = """
import gymnasium
import numpy as np


class FaultyEnv(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, raises: bool = False):
        self.raises = raises

    def reset(self, *, seed=None, options=None):
        return np.zeros(2, np.float32), {}

    def step(self, action):
        if self.raises:
            raise ValueError("the belt came off")
        return np.zeros(2, np.float32), float("nan"), True, False, {}
"""


@pytest.mark.parametrize(("raises", "words"), [(True, "ValueError: the belt came off"), (False, "a reward of nan")])
def test_a_plain_environment_that_fails_is_named(raises: bool, words: str, tmp_path: Path) -> None:
    module = tmp_path / "faulty_env.py"
    module.write_text(FAULTY)
    source = EnvSource("workbench/Faulty-v0", "faulty", str(module), "FaultyEnv", {"raises": raises})
    with pytest.raises(SimulationError, match=f"faulty .*{words}"):
        run_episodes(make_agent("zero", make_single(source)), source, episodes=2)


def test_a_checkpoint_that_does_not_fit_the_environment_is_refused(tmp_path: Path) -> None:
    path = checkpoint(tmp_path, CART_POLE)
    with pytest.raises(CheckpointError, match=r"shape \(4,\).*shape \(3,\)"):
        evaluate(path, environment=EnvSource("Pendulum-v1", "Pendulum-v1"))


def test_no_episodes_are_no_evaluation(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="at least one episode"):
        evaluate(checkpoint(tmp_path, CART_POLE), episodes=0)


def test_a_reference_to_nothing_is_refused(tmp_path: Path, project: Any) -> None:
    with pytest.raises(NotFoundError):
        load_policy("cart_pole", project=project)
    with pytest.raises(CheckpointError, match="no checkpoint"):
        evaluate(_empty_checkpoint(tmp_path))


def _empty_checkpoint(folder: Path) -> Path:
    path = folder / "checkpoint_000000000007"
    path.mkdir()
    return path


def test_playing_a_checkpoint_needs_no_torch(tmp_path: Path) -> None:
    path = checkpoint(tmp_path, CART_POLE)
    program = (
        "import sys; from workbench.policies import evaluate; "
        f"evaluate({str(path)!r}, episodes=1); "
        "print(sorted({'torch', 'stable_baselines3', 'textual', 'polyscope'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_lower_bound_is_that_of_the_normal_approximation() -> None:
    scores = Evaluation(
        environment="X-v0",
        checkpoint=None,
        seed=0,
        deterministic=True,
        returns=(1.0, 2.0, 3.0, 4.0),
        lengths=(1,) * 4,
        reasons=("time_limit",) * 4,
        terminated=(False,) * 4,
    )
    # mean 2.5, standard error sqrt(5/3)/2 = 0.645497
    assert scores.lower_bound == pytest.approx(2.5 - 1.96 * 0.6454972243679028)
    assert Evaluation.from_json(json.loads(json.dumps(scores.to_json())), None) == scores
    assert dataclasses.replace(scores, returns=(5.0,)).lower_bound == 5.0
