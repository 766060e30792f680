"""What is told of an episode besides its return: success, terms, and a simulation that broke."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.errors import SimulationError
from workbench.policies import make_agent, run_episodes
from workbench.policies.playing import StoppedError
from workbench.simulation import EnvSource, make_single

FRAME_SKIP = 1

REACH = '''
import dataclasses
import mujoco
import numpy as np
from workbench.simulation import BatchEnv, BatchEnvConfig


@dataclasses.dataclass(frozen=True)
class ReachEnvConfig(BatchEnvConfig):
    episode_steps: int = 30
    breaks_above: float = 9.0
    breaks_at_step: int = 5
    raises: bool = False


class ReachEnv(BatchEnv[ReachEnvConfig]):
    """A slider drifts with its start velocity; it succeeds on the right and fails on the left."""

    successes = ("right",)

    def load(self):
        return mujoco.MjModel.from_xml_string(
            """<mujoco><option gravity="0 0 0" timestep="0.1"/><worldbody>
            <body><joint name="x" type="slide" axis="1 0 0"/><geom size="1"/></body></worldbody>
            <actuator><motor joint="x" ctrlrange="-1 1" gear="0.001"/></actuator></mujoco>"""
        )

    def setup(self):
        self.asked = np.zeros(self.n_envs, int)

    def initial_state(self, noise):
        self.asked[noise.ids] = 0
        return noise.uniform(-1.2, 1.2, 1), noise.uniform(-1.0, 1.0, 1)

    def observe(self):
        seen = np.concatenate([self.qpos, self.qvel], axis=1)
        broken = (np.abs(self.qvel[:, 0]) > self.config.breaks_above) & (self.lengths >= self.config.breaks_at_step)
        return np.where(broken[:, None], np.nan, seen)

    def reward_terms(self, actions):
        if self.config.raises and (self.lengths > 3).any():
            raise ValueError("the belt came off")
        return {"place": self.qpos[:, 0], "fee": np.full(self.n_envs, -0.5)}

    def terminations(self):
        # A success must be held: it counts how often it is asked.
        self.asked += self.qpos[:, 0] > 1
        return {"right": self.asked >= 2, "left": self.qpos[:, 0] < -1.5}
'''

IMMEDIATE = REACH.replace("self.asked >= 2", "self.qpos[:, 0] > 1")


def reach(folder: Path, code: str = REACH, **config: Any) -> EnvSource:
    module = folder / "reach_env.py"
    module.write_text(code)
    return EnvSource("workbench/Reach-v0", "reach", str(module), "ReachEnv", config)


def zero(source: EnvSource) -> Any:
    env = make_single(source)
    agent = make_agent("zero", env)
    env.close()
    return agent


def drifted(seeds: range, held: int) -> list[tuple[str, int, float, bool]]:
    """Where a slider that nothing pushes goes: computed from its start alone."""
    from gymnasium.utils import seeding

    found = []
    for seed in seeds:
        generator = seeding.np_random(seed)[0]
        place, speed = generator.uniform(-1.2, 1.2), generator.uniform(-1.0, 1.0)
        total, steps, beyond, reason = 0.0, 0, 0, ""
        while not reason:
            steps += 1
            place += 0.1 * speed * FRAME_SKIP
            total += place
            beyond += place > 1
            reason = "right" if beyond >= held else "left" if place < -1.5 else "time_limit" if steps == 30 else ""
        found.append((reason, steps, total, reason == "right"))
    return found


@pytest.mark.parametrize("batch", [1, 5, 32])
def test_success_endings_and_terms_are_those_of_each_episode(batch: int, tmp_path: Path) -> None:
    source = reach(tmp_path, frame_skip=FRAME_SKIP)
    scores = run_episodes(zero(source), source, episodes=24, seed=7, batch=batch)
    expected = drifted(range(7, 31), held=2)
    assert list(scores.reasons) == [reason for reason, *_ in expected]
    assert list(scores.lengths) == [steps for _, steps, *_ in expected]
    assert scores.successes == tuple(good for *_, good in expected)
    assert scores.success_rate == sum(good for *_, good in expected) / 24
    np.testing.assert_allclose(scores.terms["place"], [total for _, _, total, _ in expected], atol=1e-9)
    np.testing.assert_allclose(scores.terms["fee"], [-0.5 * steps for _, steps, *_ in expected])
    np.testing.assert_allclose(np.add(scores.terms["place"], scores.terms["fee"]), scores.returns, atol=1e-9)
    assert scores.control_period_s == pytest.approx(0.1)
    assert set(scores.reasons) == {"right", "left", "time_limit"}, "episodes that all end alike would show nothing"


def test_episodes_that_succeed_before_anything_acts_are_counted_and_change_no_figure(tmp_path: Path) -> None:
    from gymnasium.utils import seeding

    source = reach(tmp_path, IMMEDIATE, frame_skip=FRAME_SKIP)
    scores = run_episodes(zero(source), source, episodes=24, seed=7)
    at_once = sum(seeding.np_random(seed)[0].uniform(-1.2, 1.2) > 1 for seed in range(7, 31))
    assert scores.successful_at_reset == at_once > 0
    assert list(scores.reasons) == [reason for reason, *_ in drifted(range(7, 31), held=1)]


@pytest.mark.parametrize("batch", [1, 4, 32])
def test_a_simulation_that_breaks_is_the_failure_of_its_own_episode_alone(batch: int, tmp_path: Path) -> None:
    from gymnasium.utils import seeding

    source = reach(tmp_path, frame_skip=FRAME_SKIP, breaks_above=0.8)
    whole = drifted(range(7, 31), held=2)
    speeds = []
    for seed in range(7, 31):
        generator = seeding.np_random(seed)[0]
        generator.uniform()
        speeds.append(abs(generator.uniform(-1.0, 1.0)))
    broken = [speed > 0.8 and steps >= 5 for speed, (_, steps, *_) in zip(speeds, whole, strict=True)]
    scores = run_episodes(zero(source), source, episodes=24, seed=7, batch=batch, on_problem="count")
    assert 1 < sum(broken) < 20
    assert sorted(scores.problems) == [place for place, breaks in enumerate(broken) if breaks]
    assert all("observation" in problem for problem in scores.problems.values())
    for place, (breaks, (reason, steps, _, good)) in enumerate(zip(broken, whole, strict=True)):
        assert scores.reasons[place] == ("simulation_problem" if breaks else reason)
        assert scores.lengths[place] == (4 if breaks else steps)
        assert scores.successes is not None and scores.successes[place] == (good and not breaks)
    assert np.isfinite(scores.returns).all()


def test_a_simulation_that_breaks_ends_everything_unless_it_is_to_be_counted(tmp_path: Path) -> None:
    source = reach(tmp_path, breaks_above=0.8)
    with pytest.raises(SimulationError, match="the observation"):
        run_episodes(zero(source), source, episodes=24, seed=7)


def test_code_that_raises_ends_everything_always(tmp_path: Path) -> None:
    source = reach(tmp_path, raises=True)
    with pytest.raises(SimulationError, match="the belt came off"):
        run_episodes(zero(source), source, episodes=24, seed=7, on_problem="count")


PLAIN = """
import gymnasium
import numpy as np


class ReachEnv(gymnasium.Env):
    metadata = {"render_fps": 20}
    observation_space = gymnasium.spaces.Box(-9, 9, (1,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.seed, self.steps = seed, 0
        return np.zeros(1, np.float32), {"is_success": seed % 4 == 0}

    def step(self, action):
        self.steps += 1
        over = self.steps == 3
        reward = float("nan") if self.seed % 5 == 0 and over else 1.0
        info = {"is_success": np.bool_(self.seed % 2 == 0), "reward_alive": 1.0, "note": "reward_"}
        return np.zeros(1, np.float32), reward, False, over, info
"""


def test_plain_environments_tell_success_terms_and_problems_in_their_own_way(tmp_path: Path) -> None:
    source = reach(tmp_path, PLAIN)
    scores = run_episodes(zero(source), source, episodes=10, seed=0, batch=3, on_problem="count")
    assert sorted(scores.problems) == [0, 5] and "a reward of nan" in scores.problems[0]
    assert scores.successes == (False, False, True, False, True, False, True, False, True, False)
    assert scores.successful_at_reset == 3
    assert scores.terms["alive"] == (2, 3, 3, 3, 3, 2, 3, 3, 3, 3)
    assert scores.returns == (2, 3, 3, 3, 3, 2, 3, 3, 3, 3)
    assert scores.control_period_s == pytest.approx(0.05)


@pytest.mark.parametrize("code", [REACH, PLAIN], ids=["batched", "plain"])
def test_an_evaluation_that_is_stopped_has_no_scores(code: str, tmp_path: Path) -> None:
    source = reach(tmp_path, code)
    told: list[int] = []

    def stop() -> bool:
        return bool(told)

    with pytest.raises(StoppedError, match="no verdict") as stopped:
        run_episodes(zero(source), source, episodes=10, seed=1, batch=2, on_progress=told.append, should_stop=stop)
    assert stopped.value.exit_code == 3 and stopped.value.done == told[-1] < 10
