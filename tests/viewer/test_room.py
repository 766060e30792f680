"""What the panel leaves free of a window."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.viewer.camera import FIELD_OF_VIEW_DEG, View
from workbench.viewer.preview import cropped, placed
from workbench.viewer.room import Room


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
