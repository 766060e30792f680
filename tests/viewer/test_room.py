"""What the panel leaves free of a window."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.viewer.camera import FIELD_OF_VIEW_DEG, View
from workbench.viewer.preview import cropped, placed
from workbench.viewer.room import EDGE, Room


def test_a_point_that_the_camera_looks_beside_is_in_the_middle_of_what_is_free() -> None:
    room, view = Room(1000, 500, left=300, bottom=100), View(90, 0, 2.0)
    # Looking along y, x is right and z is up; at 2 metres the picture is so high:
    high = 4 * np.tan(np.radians(FIELD_OF_VIEW_DEG) / 2)
    assert room.aside(view) == pytest.approx([-150 * high / 500, 0, -50 * high / 500])
    assert room.middle == (0.65, 0.4)
    assert room.seen_whole(view).distance == pytest.approx(2.0 * 5 / 4)


def test_nothing_is_moved_where_nothing_lies_over_the_picture() -> None:
    room = Room(1000, 500)
    assert room.aside(View(135, -16, 3.0)) == pytest.approx([0, 0, 0])
    assert (room.middle, room.aspect) == ((0.5, 0.5), 2.0)


def test_a_window_smaller_than_the_panel_is_survived() -> None:
    room = Room(200, 50, left=360, bottom=58)
    assert np.isfinite(room.aside(View(135, -16, 3.0))).all()
    assert room.seen_whole(View(135, -16, 3.0)).distance == pytest.approx(10.0)


@pytest.mark.parametrize(("width", "height"), [(60, 40), (20, 90)])
def test_a_picture_lies_whole_and_unstretched_in_what_is_free(width: int, height: int) -> None:
    picture = np.zeros((height, width, 3), np.uint8)
    picture[1:-1, 1:-1] = 255
    room = Room(1100, 700, left=360)
    whole = placed(picture, room)
    tall, wide = whole.shape[:2]
    assert wide / tall == pytest.approx(1100 / 700, rel=0.05)
    rows, columns = np.nonzero(whole[..., 0])
    assert (np.ptp(rows), np.ptp(columns)) == (height - 3, width - 3)
    assert columns.min() / wide >= 360 / 1100
    assert (columns.min() + columns.max()) / 2 / wide == pytest.approx((1100 + 360) / 2200, abs=0.03)


def test_a_preview_is_taken_around_the_middle_of_what_is_free_as_far_as_the_picture_goes() -> None:
    picture = np.zeros((100, 200, 3), np.uint8)
    picture[:, 140:142] = 255
    square = cropped(picture, (100, 100), (0.7, 0.5))
    assert np.nonzero(square[50, :, 0])[0].tolist() == [50, 51]
    edge = cropped(picture, (100, 100), (0.9, 0.5))
    assert np.nonzero(edge[50, :, 0])[0].tolist() == [40, 41]


@pytest.mark.parametrize(
    "room",
    [Room(1100, 700), Room(1100, 700, left=360, bottom=58), Room(700, 900, left=360), Room(1600, 300, bottom=58)],
)
@pytest.mark.parametrize("angles", [(135, -16), (20, -70)])
def test_points_seen_from_the_least_distance_touch_the_edge_of_what_is_free(
    room: Room, angles: tuple[float, float]
) -> None:
    points = np.random.default_rng(1).uniform(-1, 1, (40, 3)) * (2.0, 0.6, 0.5)
    view = View(*angles, room.distance(View(*angles), points))
    centre = room.aside(view)
    x, y = pixels_of(points, view.position(centre), view, room).T
    edge = EDGE * min(room.width, room.height)
    spare = [x.min() - room.left, room.width - x.max(), y.min(), room.height - room.bottom - y.max()]
    assert min(spare) == pytest.approx(edge, abs=0.01)


def pixels_of(points: np.ndarray, eye: np.ndarray, view: View, room: Room) -> np.ndarray:
    """Return where a pinhole camera sees points, from the upper left corner."""
    forward = view.direction
    right = np.cross(forward, (0, 0, 1)) / np.linalg.norm(np.cross(forward, (0, 0, 1)))
    axes = np.stack([right, np.cross(forward, right)])
    focal = room.height / 2 / np.tan(np.radians(FIELD_OF_VIEW_DEG) / 2)
    seen = points - eye
    pixels: np.ndarray = focal * (seen @ axes.T) / (seen @ forward)[:, None] + (room.width / 2, room.height / 2)
    return pixels


def test_where_nothing_is_free_no_distance_is_asked_for() -> None:
    assert Room(300, 40, left=360, bottom=58).distance(View(135, -16), np.ones((2, 3))) == 0
    assert Room(1100, 700).distance(View(135, -16), np.zeros((0, 3))) == 0
