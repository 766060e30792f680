from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from tests.viewer.fakes import Counting, Nodding
from workbench.errors import SimulationError
from workbench.policies import make_agent
from workbench.viewer.session import Session, control_period, describe, longest_episode


def test_episode_k_is_seeded_with_the_seed_plus_k() -> None:
    env, actor = Counting(), Nodding()
    session = Session(env, actor, seed=7)
    for number in (0, 1, 5):
        session.begin(number)
    assert env.seeds == [7, 8, 12]
    assert actor.streams == [[7], [8], [12]]


@pytest.mark.parametrize(("truncates", "reason"), [(False, "fell"), (True, "time_limit")])
def test_an_episode_ends_with_its_return_its_length_and_its_reason(truncates: bool, reason: str) -> None:
    session = Session(Counting(3, truncates=truncates), Nodding(), seed=0)
    session.begin(0)
    assert session.step() is None
    assert session.step() is None
    ended = session.step()
    assert ended is not None
    assert (ended.return_, ended.length, ended.reason, ended.seed) == (1.5, 3, reason, 0)
    assert describe(0, ended) == f"episode 1  return 1.50  length 3  {reason}  seed 0"
    assert describe(0, replace(ended, seed=None)) == f"episode 1  return 1.50  length 3  {reason}"


def test_an_environment_that_raises_is_one_sentence() -> None:
    session = Session(Counting(fails_at=2), Nodding(), seed=4)
    session.begin(0)
    session.step()
    with pytest.raises(SimulationError, match=r"Counting\.step raised ValueError .* seed 4, step 1: a wheel came off"):
        session.step()


class Menu(gymnasium.Env[Any, Any]):
    """Choices for actions and parts for observations."""

    observation_space = spaces.Dict({"a": spaces.Discrete(3)})
    action_space = spaces.Discrete(4)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        return {"a": 0}, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert type(action) is int
        return {"a": action % 3}, float(action), False, False, {}


def test_choices_arrive_as_numbers_and_observations_may_have_parts() -> None:
    env = Menu()
    session = Session(env, make_agent("random", env, seed=0), seed=0)
    session.begin(0)
    for _ in range(5):
        session.step()
    assert 0 <= session.return_ <= 15


def test_the_control_period_is_the_environments_own() -> None:
    env = gymnasium.make("HalfCheetah-v5")
    assert control_period(env) == pytest.approx(0.05)
    assert longest_episode(env) == 1000
    assert control_period(Counting()) == pytest.approx(1 / 20)
    assert longest_episode(Counting()) is None


def test_the_same_seed_gives_the_same_episode() -> None:
    def states() -> list[Any]:
        env = Counting()
        session = Session(env, make_agent("random", env, seed=3), seed=3)
        session.begin(1)
        return [session.actor.act(np.zeros((1, 1)))[0] for _ in range(4)]

    assert np.array_equal(states(), states())
