from __future__ import annotations

from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest

from tests.viewer.fakes import Counting, Nodding
from workbench.errors import RequestError
from workbench.viewer.history import EpisodeHistory, Moment
from workbench.viewer.player import Player
from workbench.viewer.session import Session

FALLING = "<mujoco><worldbody><body pos='0 0 3'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"


class Falling(gymnasium.Env[Any, Any]):
    """A ball that falls, as an environment with a MuJoCo model."""

    observation_space = Counting.observation_space
    action_space = Counting.action_space

    def __init__(self, length: int = 50) -> None:
        self.model = mujoco.MjModel.from_xml_string(FALLING)
        self.data = mujoco.MjData(self.model)
        self.length = length
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        mujoco.mj_resetData(self.model, self.data)
        self.data.qvel[0] = float(self.np_random.uniform(0.5, 1.5))
        mujoco.mj_forward(self.model, self.data)
        self.steps = 0
        return np.zeros(1), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        mujoco.mj_step(self.model, self.data, 5)
        self.steps += 1
        height = float(self.data.qpos[2])
        info = {"reward_height": height, "reward_": 9.0, "reward_note": "low", "x": 1.0}
        return np.zeros(1), height, self.steps >= self.length, False, info


def make_player(length: int = 50) -> Player:
    return Player(Session(Falling(length), Nodding(), seed=0), period_s=0.01, now=lambda: 0.0)


def position(player: Player) -> list[float]:
    return [float(number) for number in player.data.qpos[:3]]


def test_a_past_state_is_the_one_that_was_to_the_last_bit() -> None:
    player = make_player()
    seen = [position(player)]
    for _ in range(20):
        player.step_by(1)
        seen.append(position(player))
    for step in (0, 7, 19):
        player.seek(step)
        assert position(player) == seen[step]
        assert player.shown.step == step
        assert player.shown.return_ == pytest.approx(sum(z for _, _, z in seen[1 : step + 1]))
    # The simulation itself stayed where it was.
    assert [float(number) for number in player.session.env.data.qpos[:3]] == seen[20]


def test_a_step_back_and_on_goes_through_what_is_recorded_then_live() -> None:
    player = make_player()
    player.step_by(10)
    player.step_by(-3)
    assert (player.shown.step, player.is_live, player.playing) == (7, False, False)
    steps = player.session.env.steps
    player.step_by(2)
    assert (player.shown.step, player.is_live) == (9, False)
    player.step_by(1)
    assert (player.shown.step, player.is_live) == (10, True)
    assert player.session.env.steps == steps
    player.step_by(1)
    assert (player.shown.step, player.session.env.steps) == (11, steps + 1)


def test_playing_from_the_past_shows_it_in_real_time_and_goes_on_live() -> None:
    player = make_player()
    player.step_by(10)
    player.seek(4)
    player.toggle()
    shown = []
    for _ in range(9):
        player.advance(0.01)
        shown.append(player.shown.step)
    assert shown == [5, 6, 7, 8, 9, 10, 11, 12, 13]
    assert player.session.env.steps == 13


def test_seconds_are_turned_into_steps_of_the_environment() -> None:
    player = make_player()
    player.step_by(30)
    player.skip_seconds(-0.2)
    assert player.shown.step == 10
    player.skip_seconds(0.1)
    assert player.shown.step == 20
    player.skip_seconds(0.25)
    assert (player.shown.step, player.session.env.steps) == (45, 45)
    player.skip_seconds(99.0)
    assert player.shown.step == 50
    assert player.session.number == 0


def test_many_steps_stop_at_the_end_of_the_episode() -> None:
    player = make_player(length=5)
    player.step_by(100)
    assert (player.session.number, player.shown.step) == (0, 5)
    player.step_by(1)
    assert (player.session.number, player.shown.step) == (1, 0)


def test_seeking_beyond_what_is_recorded_means_the_nearest() -> None:
    player = make_player()
    player.step_by(5)
    player.seek(99)
    assert (player.shown.step, player.is_live) == (5, True)
    player.step_by(-99)
    assert player.shown.step == 0


def test_a_reset_forgets_the_episode_and_shows_the_new_one() -> None:
    player = make_player()
    player.step_by(9)
    player.seek(3)
    player.restart()
    assert (player.first, player.shown.step, player.is_live) == (0, 0, True)
    player.step_by(-1)
    assert position(player) == [0.0, 0.0, 3.0]


def test_another_seed_begins_another_episode_and_counts_up_from_it() -> None:
    player = make_player(length=3)
    player.begin_seed(40)
    first = float(player.data.qvel[0])
    player.step_by(3)
    player.step_by(1)
    assert (player.session.seed, player.session.number) == (41, 1)
    player.begin_seed(40)
    assert float(player.data.qvel[0]) == first


def test_reward_terms_are_kept_with_their_step() -> None:
    player = make_player()
    player.step_by(2)
    height = float(player.data.qpos[2])
    player.step_by(3)
    player.seek(2)
    assert player.shown.terms == {"height": height}


def test_an_environment_without_a_model_cannot_go_back_and_says_so() -> None:
    player = Player(Session(Counting(), Nodding(), seed=0), period_s=0.05, now=lambda: 0.0)
    player.step_by(2)
    with pytest.raises(RequestError, match="keeps no states"):
        player.step_by(-1)
    assert (player.session.steps, player.first, player.seekable) == (2, 2, False)


def test_an_episode_without_end_keeps_its_newer_half() -> None:
    model = mujoco.MjModel.from_xml_string(FALLING)
    data = mujoco.MjData(model)
    history = EpisodeHistory(model, limit_bytes=100 * 8 * 20)
    for step in range(1000):
        data.qpos[0] = step
        history.add(data, Moment(step))
    assert history.last == 999
    assert 0 < 1000 - history.first <= 100
    for step in (history.first, 980, 999):
        assert history.data(step).qpos[0] == step
        assert history.moment(step).step == step
