"""What a run's watch finds while it trains: the kinds there are, and the windows of states it saves of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.errors import NotFoundError
from workbench.runs.directory import RunDirectory
from workbench.runs.references import find_run

FOLDER = "anomalies"
"""Where in a run's folder the windows are."""
SUFFIX = ".npz"
PICK = "anomaly"
"""What names a window of a run: `RUN:anomaly`."""

_REFERENCE = re.compile(rf"(?P<run>.+?):{PICK}(?::(?P<steps>\d+))?")

NON_FINITE_LOSS = "non_finite_loss"
NON_FINITE_GRADIENT = "non_finite_gradient"
NON_FINITE_WEIGHT = "non_finite_weight"
NON_FINITE_ACTION = "non_finite_action"
NON_FINITE_REWARD = "non_finite_reward"
OBSERVATION_EXPLOSION = "observation_explosion"
"""An observation that is not finite, or beyond the limit."""
REWARD_COLLAPSE = "reward_collapse"

KINDS = (
    NON_FINITE_LOSS,
    NON_FINITE_GRADIENT,
    NON_FINITE_WEIGHT,
    NON_FINITE_ACTION,
    NON_FINITE_REWARD,
    OBSERVATION_EXPLOSION,
    REWARD_COLLAPSE,
)
"""What the `what` of an anomaly's event says where the watch found it."""

OF_NUMBERS = frozenset(KINDS) - {REWARD_COLLAPSE} | {"not_finite"}
"""Kinds of a number that is not finite or beyond its bounds, what older runs called them among them."""


def window_name(run: RunDirectory, steps: int, kind: str) -> str:
    """Return what a new window is called, from the folder of its run: names in order are steps in order.

    What a run comes to again after it went back has a number besides.
    """
    name, count = f"{FOLDER}/{steps:012d}_{kind}", 1
    while (run.path / f"{name}{SUFFIX}").exists():
        count += 1
        name = f"{name.removesuffix(f'_{count - 1}')}_{count}"
    return f"{name}{SUFFIX}"


def windows(run: RunDirectory) -> list[Path]:
    """Return the windows a run has saved, oldest first."""
    return sorted((run.path / FOLDER).glob(f"*{SUFFIX}"))


def find_window(runs_root: Path, text: str) -> Path | None:
    """Return the window that `RUN:anomaly` names, the newest, or `RUN:anomaly:<steps>`; None where it names none.

    Raises:
        NotFoundError: There is no such run, or it saved no such window.
    """
    match = _REFERENCE.fullmatch(text)
    if match is None:
        return None
    run = find_run(runs_root, match["run"])
    saved = windows(run)
    found = saved if match["steps"] is None else [path for path in saved if _steps_of(path) == int(match["steps"])]
    if found:
        return found[-1]
    if not saved:
        raise NotFoundError(f"{run.name} has saved no window of an anomaly.")
    there = ", ".join(f"{run.short_id}:{PICK}:{steps}" for steps in dict.fromkeys(map(_steps_of, saved)))
    raise NotFoundError(f"{run.name} has saved no window at {match['steps']} steps.", hint=f"Type {there}.")


def kind_in_words(event: Mapping[str, Any]) -> str:
    """Return what an anomaly is called: `observation explosion`; nothing where the watch did not find it."""
    what = str(event.get("what") or "")
    return what.replace("_", " ") if what in KINDS else ""


def in_words(event: Mapping[str, Any]) -> str:
    """Return what an anomaly's event says: its kind where it has one, and its message."""
    message = event.get("message")
    said = str(message or event.get("what") or event.get("name") or "anomaly").strip().rstrip(".")
    kind = kind_in_words(event)
    return f"{kind}: {said}" if kind and message else said


def window_of(event: Mapping[str, Any]) -> str:
    """Return the window that was saved of an anomaly, from the folder of its run; empty where none was."""
    window = event.get("window")
    return window if isinstance(window, str) else ""


def play_target(run: RunDirectory, event: Mapping[str, Any]) -> str:
    """Return what `play` calls the window that was saved of an anomaly; empty where nothing can be seen of it."""
    window = window_of(event)
    if not window or event.get("window_holds") != "states":
        return ""
    return f"{run.short_id}:{PICK}:{_steps_of(Path(window))}"


def play_command(run: RunDirectory, event: Mapping[str, Any]) -> str:
    """Return what to type to see the window that was saved of an anomaly; empty where nothing can be seen of it."""
    target = play_target(run, event)
    return f"workbench play {target}" if target else ""


def _steps_of(window: Path) -> int:
    digits = window.name.partition("_")[0]
    return int(digits) if digits.isdecimal() else 0
