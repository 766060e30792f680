from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import RequestError
from workbench.viewer.camera import Follower, View


def followed(frames: int, seconds: float, velocity: tuple[float, float, float]) -> np.ndarray:
    """Return where the point is after following something steady for a while."""
    follower = Follower()
    follower.update(np.zeros(3), 0.0)
    point = np.zeros(3)
    for frame in range(1, frames + 1):
        point = follower.update(np.array(velocity) * seconds * frame / frames, seconds / frames)
    return point


def test_following_does_not_depend_on_the_frame_rate() -> None:
    assert followed(3, 0.4, (1, 2, 3)) == pytest.approx(followed(240, 0.4, (1, 2, 3)))


def test_a_fast_runner_stays_in_the_middle() -> None:
    assert followed(200, 10.0, (12, 0, 0))[0] == pytest.approx(120, abs=0.01)


def test_a_bobbing_gait_hardly_moves_the_camera() -> None:
    follower = Follower()
    follower.update(np.zeros(3), 0.0)
    heights = [
        follower.update(np.array([0, 0, 0.1 * np.sin(2 * np.pi * 3 * step / 60)]), 1 / 60)[2] for step in range(600)
    ]
    assert np.ptp(heights[300:]) < 0.2 * 0.2


def test_a_follower_does_not_move_while_no_time_passes() -> None:
    follower = Follower()
    follower.update(np.zeros(3), 0.0)
    follower.update(np.array([1.0, 0, 0]), 0.05)
    before = follower.update(np.array([1.0, 0, 0]), 0.0)
    assert follower.update(np.array([1.0, 0, 0]), 0.0) == pytest.approx(before)


def test_after_a_reset_the_camera_jumps() -> None:
    follower = Follower()
    follower.update(np.zeros(3), 0.0)
    follower.reset()
    assert follower.update(np.array([5.0, 0, 0]), 0.01) == pytest.approx([5, 0, 0])


@pytest.mark.parametrize(
    ("azimuth", "elevation", "direction"), [(90, 0, (0, 1, 0)), (0, -30, (0.8660254, 0, -0.5)), (180, 0, (-1, 0, 0))]
)
def test_directions_are_mujocos(azimuth: float, elevation: float, direction: tuple[float, ...]) -> None:
    assert View(azimuth, elevation).direction == pytest.approx(direction, abs=1e-7)


def test_a_view_is_read_from_text() -> None:
    assert View.parse("90,-20") == View(90, -20, 0)
    assert View.parse("90, -20, 4.5") == View(90, -20, 4.5)


@pytest.mark.parametrize("text", ["", "90", "a,b", "1,2,3,4", "0,90", "0,-95", "0,0,-1", "nan,0", "0,0,inf"])
def test_other_texts_are_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(RequestError, match="--camera takes"):
        View.parse(text)


@pytest.mark.parametrize("fps", [10, 60])
def test_a_runner_is_in_the_middle_again_within_a_second(fps: int) -> None:
    follower = Follower()
    # It stands, and then runs.
    for _ in range(2):
        follower.update(np.zeros(3), 1 / fps)
    point = np.zeros(3)
    for frame in range(1, fps + 1):
        point = follower.update(np.array([6.0 * frame / fps, 0, 0]), 1 / fps)
    assert point[0] == pytest.approx(6.0, abs=0.05)


def test_after_a_jump_into_a_run_nothing_is_left_behind() -> None:
    follower = Follower()
    follower.update(np.array([3.0, 0, 0]), 0.0)
    for frame in range(1, 20):
        target = np.array([3.0 + 0.3 * frame, 0, 0.02 * frame])
        point = follower.update(target, 0.05)
        assert point[:2] == pytest.approx(target[:2])
        # Upwards the camera has to speed up first: a leap is no climb.
        assert point[2] < target[2]


def test_a_sudden_move_is_settled_with_little_overshoot() -> None:
    follower = Follower()
    for _ in range(2):
        follower.update(np.zeros(3), 1 / 60)
    course = np.array([follower.update(np.array([1.0, 0, 1.0]), 1 / 60) for _ in range(600)])
    # The peak of a critically damped spring that heeds velocity: exp(-2) of the move.
    assert course[:, 0].max() < 1.14
    assert course[90:, 0] == pytest.approx(1.0, abs=0.01)
    assert course[-1] == pytest.approx([1, 0, 1], abs=0.01)
