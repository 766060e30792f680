from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.viewer.fakes import Counting, Nodding
from workbench.errors import SimulationError
from workbench.viewer import clock, window
from workbench.viewer.clock import Pacer
from workbench.viewer.player import Player
from workbench.viewer.session import Session


class Time:
    """A clock that moves only by sleeping and by what drawing costs."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def now(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


class FakeStage:
    """Notes what was shown, and closes after some frames."""

    def __init__(self, time: Time, frames: int, cost_s: float = 0.0) -> None:
        self.shown: list[float] = []
        self._time = time
        self._left = frames
        self._cost_s = cost_s

    def show(self, moved_s: float) -> None:
        self.shown.append(moved_s)
        self._time.now_s += self._cost_s

    def closing(self) -> bool:
        self._left -= 1
        return self._left < 0

    def close(self) -> None:
        pass


def make_player(length: int = 10_000, **options: Any) -> Player:
    return Player(Session(Counting(length), Nodding(), seed=0), period_s=0.05, now=lambda: 0.0, **options)


@pytest.mark.parametrize("speed", [0.25, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("fps", [12, 60, 144])
def test_steps_keep_pace_with_real_time_at_any_frame_rate(speed: float, fps: int) -> None:
    pacer = Pacer(0.05)
    steps = 0
    for _ in range(10 * fps):
        pacer.wait(1 / fps, speed)
        steps += sum(1 for _ in pacer.steps())
    assert steps == pytest.approx(10 * speed / 0.05, abs=1)


def test_a_machine_that_slept_is_not_caught_up_with() -> None:
    pacer = Pacer(0.05)
    pacer.wait(3600.0, 1.0)
    assert sum(1 for _ in pacer.steps()) == 5


def test_speeds_go_up_and_down_between_their_bounds() -> None:
    assert [clock.faster(speed) for speed in (0.25, 0.7, 1.0, 8.0)] == [0.5, 1.0, 2.0, 8.0]
    assert [clock.slower(speed) for speed in (8.0, 1.5, 0.25)] == [4.0, 1.0, 0.25]
    player = make_player()
    for wanted, kept in ((100.0, 8.0), (0.0, 0.25), (3.3, 3.3)):
        player.set_speed(wanted)
        assert player.speed == kept


def test_the_window_plays_in_real_time_however_slow_it_draws() -> None:
    for cost_s, frames in ((0.0, 600), (0.08, 120)):
        time = Time()
        player = make_player()
        window.play(player, FakeStage(time, frames, cost_s), now=time.now, sleep=time.sleep)
        assert player.session.steps * 0.05 == pytest.approx(time.now_s, rel=0.02)


def test_a_paused_window_steps_nothing_and_draws_less_often() -> None:
    time = Time()
    player = make_player()
    player.toggle()
    stage = FakeStage(time, 31)
    window.play(player, stage, now=time.now, sleep=time.sleep)
    assert player.session.steps == 0
    assert stage.shown == [0.0] * 31
    assert time.now_s == pytest.approx(31 / window.PAUSED_FPS)


def test_a_step_by_hand_pauses_and_is_shown() -> None:
    player = make_player()
    player.advance(0.0)
    player.step_once()
    assert not player.playing
    assert player.session.steps == 1
    assert player.advance(1.0) == pytest.approx(0.05)
    assert player.advance(1.0) == 0.0
    assert player.session.steps == 1


def test_a_pause_is_not_made_up_for() -> None:
    player = make_player()
    player.advance(0.04)
    player.toggle()
    player.toggle()
    player.advance(0.04)
    assert player.session.steps == 0


def test_restart_is_a_real_reset_with_the_same_seed() -> None:
    player = make_player()
    player.step_once()
    player.jumped = False
    player.restart()
    assert player.session.env.seeds == [0, 0]
    assert player.session.steps == 0
    assert player.jumped


@pytest.mark.parametrize("go", [lambda player: player.step_by(2), lambda player: player.skip_seconds(0.2)])
def test_after_steps_by_hand_the_camera_does_not_glide(go: Callable[[Player], None]) -> None:
    player = make_player()
    player.jumped = False
    go(player)
    assert player.session.steps >= 2
    assert player.jumped


def test_skipping_goes_along_the_seeds_and_not_below_the_first() -> None:
    player = make_player()
    player.skip(1)
    player.skip(1)
    player.skip(-5)
    assert player.session.env.seeds == [0, 1, 2, 0]


def test_the_next_episode_begins_by_itself_and_each_end_is_told() -> None:
    told: list[tuple[int, Any]] = []
    player = make_player(2, episodes=2, on_episode=lambda number, ended, lane: told.append((number, ended.seed)))
    for _ in range(20):
        player.advance(0.05)
    assert told == [(0, 0), (1, 1)]
    assert player.finished
    assert player.session.ended is not None


def test_playing_ends_with_the_last_episode() -> None:
    time = Time()
    player = make_player(3, episodes=1)
    stage = FakeStage(time, 10_000)
    window.play(player, stage, now=time.now, sleep=time.sleep)
    assert len(stage.shown) < 30


def test_sampling_is_for_policies_only() -> None:
    policy, agent = make_player(has_policy=True), make_player()
    for player in (policy, agent):
        player.stochastic = True
    assert policy.stochastic
    assert not agent.stochastic


def test_an_environment_slower_than_real_time_still_lets_the_window_answer() -> None:
    def ticking() -> Iterator[float]:
        now = 0.0
        while True:
            yield now
            now += 0.04

    ticks = ticking()
    player = Player(Session(Counting(999), Nodding(), seed=0), period_s=0.001, now=lambda: next(ticks))
    before = player.session.steps
    player.advance(0.1)
    assert player.session.steps - before <= 3


def test_the_stage_is_told_the_simulated_time_at_any_speed() -> None:
    time = Time()
    player = make_player()
    player.set_speed(4.0)
    stage = FakeStage(time, 50, cost_s=0.02)
    window.play(player, stage, now=time.now, sleep=time.sleep)
    assert sum(stage.shown) == pytest.approx(player.session.steps * 0.05)
    assert sum(stage.shown) == pytest.approx(4 * time.now_s, rel=0.05)


def test_an_environment_that_raises_ends_the_window_with_its_sentence() -> None:
    time = Time()
    player = Player(Session(Counting(fails_at=3), Nodding(), seed=0), period_s=0.05, now=time.now)
    with pytest.raises(SimulationError, match="a wheel came off"):
        window.play(player, FakeStage(time, 1000), now=time.now, sleep=time.sleep)
