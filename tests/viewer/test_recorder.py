from __future__ import annotations

from typing import Any

import pytest

from tests.viewer.fakes import Counting, Nodding, Reel, Sketch
from workbench.runs.recordings import EpisodeResult
from workbench.viewer.recorder import Filming, FrameClock, Snapshot, frame_rate, pick, record
from workbench.viewer.session import Session


@pytest.mark.parametrize(
    ("control_hz", "wanted", "fps"),
    [(20, None, 20), (25, None, 25), (10, None, 10), (60, None, 60), (66.7, None, 30), (5, None, 30), (20, 12, 12)],
)
def test_usual_control_rates_are_filmed_as_they_are(control_hz: float, wanted: float | None, fps: float) -> None:
    assert frame_rate(control_hz, wanted) == fps


@pytest.mark.parametrize(("control_hz", "fps"), [(50, 50), (50.5, 30), (60, 30), (20, 20)])
def test_what_a_format_cannot_hold_is_resampled(control_hz: float, fps: float) -> None:
    """A GIF counts in hundredths of a second, and players show nothing faster than two of them a frame."""
    assert frame_rate(control_hz, fastest=50) == fps
    assert frame_rate(control_hz, 24, fastest=50) == 24


@pytest.mark.parametrize("hz", [20.0, 25.0, 1 / 0.04, 1 / 0.05, 33.333333333])
def test_at_the_control_rate_every_step_is_one_frame(hz: float) -> None:
    clock = FrameClock(hz, hz)
    assert [clock.due(step) for step in range(2000)] == [1] * 2000


def test_a_fast_environment_is_thinned_and_a_slow_one_held() -> None:
    fast, slow = FrameClock(120, 30), FrameClock(10, 30)
    assert [fast.due(step) for step in range(9)] == [1, 0, 0, 0, 1, 0, 0, 0, 1]
    assert [slow.due(step) for step in range(3)] == [1, 3, 3]


@pytest.mark.parametrize("control_hz", [66.67, 125.0, 7.0])
def test_a_resampled_film_lasts_as_long_as_the_simulation(control_hz: float) -> None:
    clock = FrameClock(control_hz, 30)
    steps = 1000
    frames = sum(clock.due(step) for step in range(steps + 1))
    assert frames / 30 == pytest.approx(steps / control_hz, abs=1.1 / 30)


def test_whole_episodes_are_filmed_with_their_reset_frames() -> None:
    session, sketch, reel = Session(Counting(4), Nodding(), seed=2), Sketch(), Reel()
    done = record(session, [Filming(sketch, reel, FrameClock(20, 20))], numbers=range(2))
    assert reel.frames == 2 * (4 + 1)
    assert [(episode.length, episode.seed, episode.reason) for episode in done.episodes] == [
        (4, 2, "fell"),
        (4, 3, "fell"),
    ]
    assert sketch.restarts == 2
    # The camera moves by simulated time; at the start of an episode none has passed.
    assert sketch.elapsed == pytest.approx([0, *[0.05] * 4] * 2)


def test_frames_that_are_not_due_are_not_drawn() -> None:
    sketch, reel = Sketch(), Reel()
    record(Session(Counting(8), Nodding(), seed=0), [Filming(sketch, reel, FrameClock(40, 20))])
    assert reel.frames == len(sketch.elapsed) == 5
    assert sketch.elapsed[1:] == pytest.approx([0.05] * 4)


def test_an_episode_can_be_cut_after_some_steps() -> None:
    reel = Reel()
    done = record(
        Session(Counting(1000), Nodding(), seed=0), [Filming(Sketch(), reel, FrameClock(20, 20))], last_step=10
    )
    assert reel.frames == 11
    assert done.episodes[0].reason is None
    assert not done.stopped


def test_a_film_that_is_asked_to_end_keeps_what_it_has() -> None:
    seen: list[int] = []
    reel = Reel()
    done = record(
        Session(Counting(1000), Nodding(), seed=0),
        [Filming(Sketch(), reel, FrameClock(20, 20))],
        numbers=range(3),
        on_step=lambda episode, step: seen.append(step),
        should_stop=lambda: len(seen) == 4,
    )
    assert done.stopped
    assert reel.frames == 4
    assert [episode.length for episode in done.episodes] == [3]


@pytest.mark.parametrize(("step", "or_last", "frames"), [(0, False, 1), (3, False, 1), (9, False, 0), (9, True, 1)])
def test_a_picture_is_drawn_once_at_its_step(step: int, or_last: bool, frames: int) -> None:
    sketch, reel = Sketch(), Reel()
    record(Session(Counting(5), Nodding(), seed=0), [Snapshot(sketch, reel, step, or_last=or_last)])
    assert len(sketch.elapsed) == reel.frames == frames


@pytest.mark.parametrize(("kept", "number"), [("worst", 1), ("best", 2)])
def test_the_worst_and_the_best_are_told_by_their_returns_the_first_of_equals(kept: Any, number: int) -> None:
    returns = [2.0, -1.0, 5.0, -1.0, 5.0]
    assert pick([EpisodeResult(return_=value) for value in returns], kept) == number
