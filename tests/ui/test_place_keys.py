"""Which keys each place has: those of the registry that its screen can carry out."""

from __future__ import annotations

import pytest
from textual.screen import Screen

from workbench.ui.commands import commands_for, show_key
from workbench.ui.screens.compare import CompareScreen
from workbench.ui.screens.environments import EnvironmentsScreen
from workbench.ui.screens.recordings import RecordingsScreen
from workbench.ui.screens.run import RunScreen
from workbench.ui.screens.runs import RunsScreen
from workbench.ui.screens.seeds import SeedsScreen
from workbench.ui.screens.viewer import ViewerScreen

EVERYWHERE = "1 2 3 4 esc q : ctrl+p ? F1 ; h j k l g G ctrl+d ctrl+u tab shift+tab z d ctrl+r ctrl+l Y"
CHARTS = "s x y b f 0 + = - { } shift+left shift+right [ ] ( )"
PAGES = ", ."
LOOKING = "enter n c m r v p V w o e i"
ACTING = "P S K R A F C W E * T D"

KEYS: dict[type[Screen[None]], str] = {
    EnvironmentsScreen: "enter / t , . n v p V",
    RunsScreen: f"{LOOKING} {ACTING} {CHARTS} / space a u < > ! t",
    RunScreen: f"{LOOKING} {ACTING} {CHARTS} {PAGES} / a",
    SeedsScreen: f"{LOOKING} {ACTING} {CHARTS} {PAGES} /",
    CompareScreen: f"enter n m r v p V E {CHARTS} {PAGES}",
    ViewerScreen: "enter space h l { } [ ] + - < > 0 f p v V m n S",
    RecordingsScreen: "enter / < > ! m r V A D S",
}
"""What each has beside the keys that all of them have."""


@pytest.mark.parametrize("screen", KEYS)
def test_every_place_has_its_keys(screen: type[Screen[None]]) -> None:
    can = {
        show_key(key)
        for command in commands_for(screen.NAME)  # type: ignore[attr-defined]
        if hasattr(screen, f"action_{command.action}")
        for key in command.keys
    } | {"ctrl+q"}
    # Arrows, page up and page down are the widgets' own. In the viewer there is no file to open outside.
    wanted = set(f"{EVERYWHERE} {KEYS[screen]}".split()) | ({"O"} if screen is not ViewerScreen else set())
    assert wanted - can == set()
