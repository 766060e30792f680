"""The command that reaches the actuators for an observation is the same in training and in deployment."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.training.conftest import make_run, train_here
from workbench import load_policy
from workbench.errors import CheckpointError
from workbench.policies.environments import facts_of
from workbench.policies.fitting import require_fit
from workbench.runs import RunDirectory, RunState
from workbench.simulation import EnvSource, load_class, make_single
from workbench.training.learner import Learner

MODULE = '''
from dataclasses import dataclass

import mujoco
import numpy as np
from workbench.simulation import BatchEnv, BatchEnvConfig

MODEL = """<mujoco><option timestep="0.01"/><worldbody><body name="a"><joint name="a" type="slide" damping="1"/>
<geom size="0.1"/></body><body name="b"><joint name="b" type="slide" damping="1"/><geom size="0.1"/></body></worldbody>
<actuator><motor joint="a" ctrlrange="-0.3 0.9"/><motor joint="b" ctrlrange="0.2 0.7"/></actuator></mujoco>"""
GIVEN = []


@dataclass(frozen=True)
class LopsidedEnvConfig(BatchEnvConfig):
    frame_skip: int = 2
    episode_steps: int = 30
    swapped: bool = False
    reach: float = 2.0


class LopsidedEnv(BatchEnv[LopsidedEnvConfig]):
    """Bounds of actions that are neither those of the controls nor the same on both sides."""

    def load(self):
        return mujoco.MjModel.from_xml_string(MODEL)

    def initial_state(self, noise):
        return noise.uniform(-2, 2, 2), noise.uniform(-2, 2, 2)

    def observe(self):
        return np.concatenate([self.qpos, self.qvel], axis=1)

    def name_observations(self):
        return ["b", "a", "va", "vb"] if self.config.swapped else ["a", "b", "va", "vb"]

    def action_bounds(self):
        return [-1.0, -0.5], [self.config.reach, 0.1]

    def before_step(self):
        self.before = self.observe().copy()

    def apply_action(self, actions):
        super().apply_action(actions)
        GIVEN.append((self.before, self.ctrl.copy()))

    def reward_terms(self, actions):
        return {"still": np.ones(self.n_envs)}
'''
COPIES = 4


@pytest.fixture
def source(tmp_path: Path) -> EnvSource:
    module = tmp_path / "lopsided_env.py"
    module.write_text(MODULE)
    return EnvSource("workbench/Lopsided-v0", "lopsided", str(module), "LopsidedEnv")


def shaken(start: Callable[..., None]) -> Callable[..., None]:
    """Give a learner weights that reach the bounds, and next to no noise, before it begins."""

    def begin(learner: Learner, *args: Any, **keywords: Any) -> None:
        start(learner, *args, **keywords)
        policy: Any = learner.model.policy
        rng = np.random.default_rng(2)
        with torch.no_grad():
            for name, parameter in policy.named_parameters():
                if "log_std" in name:
                    parameter.fill_(0 if name.endswith("weight") else -20)
                else:
                    parameter += torch.as_tensor(rng.normal(0, 1, parameter.shape) / parameter.shape[-1] ** 0.5)

    return begin


def trained(folder: Path, source: EnvSource, algorithm: str) -> RunDirectory:
    block = {"learning_rate": 1e-12, "net_arch": (16,)}
    if algorithm == "ppo":
        block |= {"n_steps": 16, "batch_size": 32, "n_epochs": 1}
    else:
        block |= {"learning_starts": COPIES, "batch_size": 8, "buffer_size": 500}
    if algorithm == "td3":
        block |= {"action_noise_std": 1e-9}
    run = make_run(folder, algorithm, source, total_steps=200, n_envs=COPIES, **{algorithm: block})
    result = train_here(run)
    assert result.state is RunState.FINISHED, result.reason
    return run


@pytest.mark.parametrize("algorithm", ["ppo", "sac", "td3"])
def test_commands_are_those_of_training(
    algorithm: str, source: EnvSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Learner, "start", shaken(Learner.start))
    given = sys.modules[load_class(source).__module__].GIVEN
    run = trained(tmp_path, source, algorithm)
    # Evaluations have other numbers of copies; the first commands of SAC and TD3 are drawn.
    pairs = [(seen, commands) for seen, commands in given if len(seen) == COPIES][2:]
    seen, commands = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    assert len(seen) >= 150
    actor = load_policy(run.path)
    env: Any = make_single(source)
    deployed = []
    for observation in seen:
        env.reset(seed=0)
        env.step(actor.act(observation[None])[0])
        deployed.append(env.data.ctrl.copy())
    env.close()
    bounds = np.array([[-0.3, 0.2], [0.9, 0.7]])
    assert (np.ptp(commands, axis=0) > 0.3 * np.ptp(bounds, axis=0)).all(), "the commands compared must differ"
    if algorithm == "ppo":
        assert (commands == bounds[0]).any() and (commands == bounds[1]).any(), "some must be cut at the bounds"
    np.testing.assert_allclose(deployed, commands, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"frame_skip": 4}, r"every 0\.02 s \(50 Hz\), and lopsided takes an action every 0\.04 s \(25 Hz\)"),
        ({"swapped": True}, r"another order: observation 0 was a in training, and is b in lopsided"),
        ({"reach": 3.0}, r"its actions go from \(-1, -0\.5\) to \(2, 0\.1\), and those of lopsided .* to \(3, 0\.1\)"),
    ],
)
def test_an_environment_that_differs_is_refused_with_both_sides(
    changed: dict[str, Any], said: str, source: EnvSource, tmp_path: Path
) -> None:
    actor = load_policy(trained(tmp_path, source, "ppo").path)
    env = make_single(EnvSource(**{**source.to_json(), "env_cfg": changed}))
    with pytest.raises(CheckpointError, match=said):
        require_fit(actor.description, facts_of(env, "lopsided"), "it")
    env.close()
    same = make_single(source)
    require_fit(actor.description, facts_of(same, "lopsided"), "it")
    same.close()


def test_what_acts_is_in_the_checkpoint(source: EnvSource, tmp_path: Path) -> None:
    checkpoint = trained(tmp_path, source, "ppo").latest()
    assert checkpoint is not None
    record = json.loads((checkpoint.path / "policy.json").read_text())
    assert record["control_period_s"] == pytest.approx(0.02)
    assert record["observation_names"] == ["a", "b", "va", "vb"]
    assert [round(bound, 6) for bound in record["action_map"]["high"]] == [2.0, 0.1]
    assert record["action_map"]["clip"] and not record["action_map"]["squash"]
