"""The view and the window as they were left, one small file for each environment in the user's state folder.

Several policies at once have one for each number of them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import platformdirs

from workbench import durable
from workbench.viewer.look import ThemeName
from workbench.viewer.view import ViewSettings

STATE_VARIABLE = "WORKBENCH_STATE"


def state_folder() -> Path:
    """Return where the state of windows is kept: `$WORKBENCH_STATE`, else the user's state folder."""
    chosen = os.environ.get(STATE_VARIABLE)
    return Path(chosen) if chosen else Path(platformdirs.user_state_dir("workbench"))


def name_of(environment: str, count: int, layout: str) -> str:
    """Return the name of what so many policies of an environment are seen in: what shows three would cut off nine."""
    return environment if count == 1 else f"{environment} {count} {layout}"


def memory_of(environment: str) -> Path:
    """Return the file that remembers the view of an environment."""
    return state_folder() / "viewer" / f"{re.sub(r'[^A-Za-z0-9.-]+', '_', environment)}.json"


def recall(environment: str, theme: ThemeName | None = None) -> ViewSettings:
    """Return the view as it was left; the usual one where there is none, or none that can be read.

    Args:
        environment: What is played.
        theme: The theme where one was asked for; None for the one that it was left with.
    """
    try:
        return ViewSettings.from_json(durable.read_document(memory_of(environment)), theme)
    except OSError:
        return ViewSettings.from_json({}, theme)


def remember(environment: str, view: ViewSettings) -> None:
    """Keep the view for the next time; a disk that takes nothing loses it, and nothing else."""
    try:
        durable.write_json(memory_of(environment), view.to_json())
    except OSError:
        return
