"""Several policies in the one viewer: what was asked for is what is played again."""

from __future__ import annotations

import pytest

from tests.ui import fakes
from workbench.ui.playing import Request, Viewer


@pytest.mark.parametrize(
    ("asked", "seed", "again"),
    [
        (("play", "7f3a:best", "9c01"), 0, ("play", "7f3a:best", "9c01")),
        (("play", "7f3a", "9c01", "--ghost", "--seed", "3"), 5, ("play", "7f3a", "9c01", "--ghost", "--seed", "5")),
        (("play", "7f3a", "9c01", "--seed", "3", "--ghost"), 0, ("play", "7f3a", "9c01", "--ghost")),
    ],
)
def test_what_plays_side_by_side_is_played_again_side_by_side(
    asked: tuple[str, ...], seed: int, again: tuple[str, ...]
) -> None:
    players = fakes.FakePlayers()
    viewer = Viewer(players, on_change=lambda change, values: None, on_frame=lambda frame: None)
    viewer.start(Request(asked, "both"), window=True)
    players.last.ready(seed=seed, agent="policy", checkpoint=100)
    assert viewer.words() == again
