from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import RequestError
from workbench.viewer.camera import Follower, View


def followed(frames: int, seconds: float = 1.0) -> np.ndarray:
    follower = Follower()
    follower.update(np.zeros(3), 0.0)
    point = np.zeros(3)
    for _ in range(frames):
        point = follower.update(np.array([1.0, 2.0, 3.0]), seconds / frames)
    return point


def test_following_does_not_depend_on_the_frame_rate() -> None:
    assert followed(10) == pytest.approx(followed(240))


def test_following_is_slower_upwards() -> None:
    share = followed(60, 0.25) / np.array([1.0, 2.0, 3.0])
    assert share[:2] == pytest.approx([1 - np.exp(-1)] * 2)
    assert share[2] < 0.3


def test_after_a_reset_the_camera_jumps() -> None:
    follower = Follower()
    follower.update(np.zeros(3), 0.0)
    follower.reset()
    assert follower.update(np.array([5.0, 0, 0]), 0.01) == pytest.approx([5, 0, 0])


def test_a_reset_to_a_point_glides_from_there() -> None:
    follower = Follower()
    follower.reset(np.array([1.0, 0, 0]))
    assert 1 < follower.update(np.array([5.0, 0, 0]), 0.01)[0] < 1.5


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
