from __future__ import annotations

import numpy as np
import pytest

from workbench.viewer import floor
from workbench.viewer.look import THEMES, Theme


@pytest.mark.parametrize(("radius", "tile"), [(1.2, 1.0), (0.6, 0.5), (0.12, 0.1), (25.0, 20.0)])
def test_tiles_are_round_numbers_near_the_size_of_the_model(radius: float, tile: float) -> None:
    assert floor.tile_size(radius) == pytest.approx(tile)


def test_the_patch_stays_put_until_two_tiles_are_passed() -> None:
    positions = [floor.patch_position(np.array([x, 0.0, 9.0]), 1.0, 0.3) for x in (0.0, 0.9, 1.1, 2.9)]
    assert [tuple(position) for position in positions] == [(0, 0, 0.3), (0, 0, 0.3), (2, 0, 0.3), (2, 0, 0.3)]


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_tiles_alternate_in_the_middle_and_fade_into_the_background(theme: Theme) -> None:
    mesh = floor.checker(0.5)
    colours = floor.checker_colours(mesh, 0.5, theme)
    assert mesh.vertices[:, 0].min() == pytest.approx(-10)
    distance = np.hypot(mesh.vertices[:, 0], mesh.vertices[:, 1])
    assert np.abs(colours[distance > 9.9] - theme.background).max() < 1e-9
    middle = {tuple(colour) for colour in colours[distance < 2]}
    assert middle == {theme.tile, theme.tile_other}


def test_a_shadow_lies_on_the_floor_where_the_light_passes() -> None:
    point = np.array([1.0, 2.0, 3.0, 1.0])
    shadow = floor.shadow_matrix(0.5, 0.0) @ point
    assert shadow[2] == pytest.approx(0.5)
    # From the shadow to the point is the direction of the light.
    assert np.cross(point[:3] - shadow[:3], floor.LIGHT) == pytest.approx(np.zeros(3))


def test_tiles_that_are_left_out_have_faded() -> None:
    theme = THEMES["dark"]
    whole, patch = floor.checker(1.0), floor.disc(1.0)
    colours = floor.checker_colours(whole, 1.0, theme)
    left_out = np.setdiff1d(np.unique(whole.faces), np.unique(patch.faces))
    assert len(left_out) > 0.15 * len(whole.vertices)
    assert colours[left_out] == pytest.approx(np.broadcast_to(theme.background, (len(left_out), 3)))
