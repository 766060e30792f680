"""Going back to an earlier checkpoint of the same run because of an anomaly: where to, and how the stream tells it.

It is told as a resumption, so that every reader drops what came after the checkpoint, with a number besides: chance is
moved on by that number, or the same would happen again. A run that is killed afterwards finds the number there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.errors import WorkFailedError
from workbench.runs import CheckpointDirectory, EventTail, RunDirectory
from workbench.runs.events import Event
from workbench.specs import RunSpec

ROLLBACK = "rollback"
"""What an event of changed values says where going back brought them."""


@dataclass(frozen=True)
class Wish:
    """Why a run shall go back, and what shall be otherwise then."""

    message: str
    """What happened."""
    kind: str
    until: int
    """Steps of the newest checkpoint that can be good."""
    steps: int
    """Where it happened."""
    wall_s: float
    """Seconds of active training by then."""
    pauses: bool = False
    """Whether it waits there until a person lets it go on; else it learns half as fast."""
    values: Mapping[str, Any] | None = None
    """Values that it has then, by dotted key."""
    old: Mapping[str, Any] | None = None
    """What each of them was."""


class GoBackError(WorkFailedError):
    """Ends the training where it is, so that it begins again at an earlier checkpoint."""

    def __init__(self, wish: Wish) -> None:
        super().__init__(wish.message)
        self.wish = wish


def halved_rate(spec: RunSpec) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return half the learning rate by its dotted key, and what it was."""
    key, rate = f"{spec.algorithm}.learning_rate", spec.hyperparameters.learning_rate
    if isinstance(rate, str):
        word, *numbers = rate.split(":")
        half: float | str = ":".join([word, *(repr(float(number) / 2) for number in numbers)])
    else:
        half = rate / 2
    return {key: half}, {key: rate}


def read_returns(run: RunDirectory) -> list[Event]:
    """Return the events of a run that tell of going back, oldest first."""
    return [event for event in EventTail(run.events_path).poll() if event["kind"] == "resumed" and event.get("stirred")]


def rollbacks(returns: Iterable[Event]) -> int:
    """Return how often a run has gone back without being told to wait there."""
    return sum(bool(event.get(ROLLBACK)) for event in returns)


def standing(run: RunDirectory, steps: int) -> Event | None:
    """Return how a run came back to its checkpoint of some steps; None where what is there comes from no going back.

    A later checkpoint of the same steps holds what came of it, and is not to be moved on again.
    """
    found: Event | None = None
    for event in EventTail(run.events_path).poll():
        if event["kind"] != "resumed":
            continue
        back_to = int(event["from_steps"])
        if event.get("stirred") and back_to == steps:
            found = event
        elif back_to < steps:
            found = None
    return found


def find_good(run: RunDirectory, until: int) -> CheckpointDirectory | None:
    """Return the newest checkpoint that can be good; one before it where the run has come back to that already.

    Args:
        run: The run.
        until: The most steps it may have.
    """
    known = [item for item in run.checkpoints() if item.steps <= until]
    if not known:
        return None
    is_spent = standing(run, known[-1].steps) is not None
    return known[-2] if is_spent and len(known) > 1 else known[-1]
