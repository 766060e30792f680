"""Pictures of environments that render themselves; with the fakes no library of theirs is needed."""

from __future__ import annotations

import os

import pytest
from gymnasium.error import DependencyNotInstalled

from tests.viewer.fakes import Counting
from workbench.errors import GraphicsError
from workbench.simulation import EnvSource
from workbench.viewer.frames import RenderedFrames
from workbench.viewer.target import Target


class Unarmed(Counting):
    """Lacks what it draws with, in Gymnasium's words."""

    def render(self) -> None:
        raise DependencyNotInstalled('pygame is not installed, run `pip install "gymnasium[classic-control]"`')


def test_a_library_that_is_missing_is_named_by_the_extra_that_holds_it() -> None:
    with pytest.raises(GraphicsError, match=r"Unarmed cannot render itself: .*workbench-rl\[classic-control\]"):
        RenderedFrames(Unarmed())


@pytest.mark.parametrize(
    ("display", "chosen", "used"),
    [
        ("", None, "dummy"),
        ("", "", "dummy"),
        ("", "x11", "x11"),
        (":0", None, None),
    ],
)
def test_no_display_is_looked_for_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch, display: str, chosen: str | None, used: str | None
) -> None:
    """SDL complains of a display that it cannot find, and draws nothing where its driver's name is empty."""
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    # Set first, so that what is put there meanwhile is taken away again.
    monkeypatch.setenv("SDL_VIDEODRIVER", chosen or "")
    if chosen is None:
        monkeypatch.delenv("SDL_VIDEODRIVER")
    session = Target(EnvSource("CartPole-v1", "CartPole-v1"), "zero").open(seed=0, stochastic=False)
    session.env.close()
    assert os.environ.get("SDL_VIDEODRIVER") == used
