"""Agents without training."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from workbench.errors import RequestError
from workbench.policies.actor import Actor
from workbench.policies.agents import AGENTS, control_rate, make_agent

BOX = spaces.Box(np.array([-3.0, 1.0], np.float32), np.array([3.0, 5.0], np.float32))


def env(space: Any, rate_hz: float = 10.0) -> Any:
    return SimpleNamespace(action_space=space, control_hz=rate_hz)


@pytest.mark.parametrize("name", AGENTS)
def test_every_agent_acts_within_the_bounds(name: str) -> None:
    agent = make_agent(name, env(BOX), seed=0)
    assert isinstance(agent, Actor)
    for _ in range(100):
        actions = agent.act(np.zeros((3, 4)))
        assert actions.shape == (3, 2)
        assert all(action in BOX for action in actions.astype(np.float32))


def test_zero_rests_at_the_bound_nearest_to_zero() -> None:
    assert make_agent("zero", env(BOX)).act(np.zeros((2, 4))).tolist() == [[0.0, 1.0]] * 2


def test_sweep_moves_one_dimension_at_a_time_through_its_bounds_for_four_seconds() -> None:
    agent = make_agent("sweep", env(BOX))
    actions = np.stack([agent.act(np.zeros((1, 4)))[0] for _ in range(80)])
    first, second = actions[:40], actions[40:]
    np.testing.assert_allclose(first[[0, 10, 20, 30], 0], [0, 3, 0, -3], atol=1e-6)
    assert (first[:, 1] == 1).all()
    np.testing.assert_allclose(second[[0, 10, 20, 30], 1], [3, 5, 3, 1], atol=1e-6)
    assert (second[:, 0] == 0).all()


def test_sweep_begins_again_with_the_episode() -> None:
    agent = make_agent("sweep", env(BOX))
    first = agent.act(np.zeros((2, 4)))
    agent.act(np.zeros((2, 4)))
    agent.reset([1])
    third = agent.act(np.zeros((2, 4)))
    assert (third[1] == first[1]).all() and (third[0] != first[0]).any()


def test_sweep_makes_each_choice_in_turn() -> None:
    agent = make_agent("sweep", env(spaces.Discrete(2, start=5), rate_hz=1))
    assert [int(agent.act(np.zeros((1, 4)))[0]) for _ in range(12)] == [5] * 4 + [6] * 4 + [5] * 4


def test_a_row_of_random_actions_depends_on_seed_and_stream_alone() -> None:
    one, other = (make_agent("random", env(BOX), seed=7) for _ in range(2))
    together = one.act(np.zeros((3, 4)))
    other.reset([0], streams=[2])
    assert (other.act(np.zeros((1, 4)))[0] == together[2]).all()
    assert (together[0] != together[1]).any()


def test_an_unknown_agent_is_refused_with_the_nearest() -> None:
    with pytest.raises(RequestError, match="sweep"):
        make_agent("sweeep", env(BOX))


def test_a_space_an_agent_cannot_play_is_refused() -> None:
    with pytest.raises(RequestError, match="random"):
        make_agent("zero", env(spaces.MultiBinary(2)))
    assert make_agent("random", env(spaces.MultiBinary(2))).act(np.zeros((1, 1))).shape == (1, 2)


def test_the_control_rate_is_the_environments_own() -> None:
    assert control_rate(env(BOX, 25.0)) == 25.0
    swimmer = gymnasium.make("Swimmer-v5")
    assert control_rate(swimmer) == pytest.approx(25.0)
    swimmer.close()
    assert control_rate(SimpleNamespace(metadata={"render_fps": 50})) == 50.0
