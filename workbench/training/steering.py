"""Values of a run that change while it trains: asked for now, or given at this step in an earlier life of the run.

Every change is an event with its step. A run that goes on from a checkpoint begins with those that had been applied
by then, and meets the others again where they were given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from workbench.errors import ProblemsError
from workbench.runs import EventTail, EventWriter, Request, RunDirectory
from workbench.runs.changes import joined
from workbench.specs import RunSpec, amended, change, weights_in
from workbench.specs.changing import Done
from workbench.training.going_back import ROLLBACK
from workbench.training.log import RunLog

RESUME = "resume"
"""What an event of changed values says where a resumption brought them: they count from its beginning."""

EVALUATED_WITH = "evaluations keep the environment's own weights"
REPLAYED_WITH = "what is replayed keeps the rewards it was given"


@dataclass(frozen=True)
class Given:
    """Values that were given at a step."""

    steps: int
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Sets:
    """All values that a run was given since it began."""

    begun_with: Mapping[str, Any]
    """Those that count from the beginning of this process, by dotted key."""
    applied: int
    """How many of those given at a step are among them."""
    ahead: tuple[Given, ...]
    """Those that are met again, in order."""


def read_sets(run: RunDirectory, order: Mapping[str, Any], applied: int) -> Sets:
    """Return the values a run was given.

    Args:
        run: The run.
        order: What it is given now, as it is resumed.
        applied: How many had been applied when the checkpoint was written that it goes on from.
    """
    orders: dict[str, Any] = {}
    given: list[Given] = []
    for event in [*EventTail(run.events_path).poll(), {"kind": "set", "by": RESUME, "values": order}]:
        values = event.get("values")
        if event["kind"] != "set" or not isinstance(values, dict):
            continue
        if event.get("by") == RESUME:
            orders = joined(orders, values)
            # Whoever resumes a run wants this, whatever was wanted before.
            given = [replace(item, values=_without(item.values, values)) for item in given]
        else:
            if event.get("by") == ROLLBACK:
                # What was given beyond the checkpoint it went back to may be why it had to.
                steps = int(event["steps"])
                given = [
                    replace(item, values=_without(item.values, values)) if item.steps > steps else item
                    for item in given
                ]
            given.append(Given(int(event["steps"]), values))
    # What is given at a step in a later life comes after what was given there in an earlier one.
    given.sort(key=lambda item: item.steps)
    begun_with = orders
    for item in given[:applied]:
        begun_with = joined(begun_with, item.values)
    return Sets(begun_with, min(applied, len(given)), tuple(given[applied:]))


def _without(values: Mapping[str, Any], newer: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in joined(values, newer).items() if key not in newer}


class Steered(Protocol):
    """A part of the run that does what the spec says."""

    def change(self, spec: RunSpec) -> None:
        """Do what another spec says from now on; at the end of an iteration."""
        ...


class Weighed(Protocol):
    """An environment whose reward terms have weights."""

    @property
    def reward_weights(self) -> dict[str, float]:
        """The weights by term."""
        ...

    def weigh(self, weights: Mapping[str, float]) -> None:
        """Give terms other weights."""
        ...


class Steering:
    """Changes the values of a run.

    Args:
        spec: What the run does, with what it begins with.
        sets: What it was given in earlier lives.
        parts: What does as the spec says.
        venv: All copies of the environment.
        events: The run's event stream.
        log: What a person reads.
    """

    def __init__(
        self,
        spec: RunSpec,
        sets: Sets,
        parts: tuple[Steered, ...],
        venv: Weighed,
        *,
        events: EventWriter,
        log: RunLog,
    ) -> None:
        self.spec = spec
        """What the run does now."""
        self.applied = sets.applied
        """How many changes have been applied, those of earlier lives too."""
        self._ahead = list(sets.ahead)
        self._parts = parts
        self._venv = venv
        self._events = events
        self._log = log

    def catch_up(self, steps: int) -> None:
        """Apply what was given by this step in an earlier life of the run."""
        while self._ahead and self._ahead[0].steps <= steps:
            given = self._ahead.pop(0)
            self._apply(amended(self.spec, given.values), weights_in(given.values))
            if given.values:
                self._log.say(f"given again: {', '.join(given.values)}")

    def set(self, request: Request, done: Done) -> str:
        """Apply what is asked for now, and return what changes, in words.

        Args:
            request: What was asked.
            done: How far the run is.

        Raises:
            ProblemsError: It would break the run; all problems are listed.
        """
        values = request.args.get("values")
        made = change(
            self.spec, values if isinstance(values, dict) else {}, weights=self._venv.reward_weights, done=done
        )
        spec = made.require("the values cannot change so")
        weights = weights_in(made.values)
        self._apply(spec, weights)
        told = [EVALUATED_WITH] if spec.algorithm == "ppo" else [EVALUATED_WITH, REPLAYED_WITH]
        notes = {"note": "; ".join(told)} if weights else {}
        self._events.append("set", id=request.id, steps=done.steps, values=made.values, old=made.old, **notes)
        said = "; ".join([made.text, *(str(problem) for problem in made.problems), *notes.values()])
        self._log.say(f"changed: {said}")
        return said

    def _apply(self, spec: RunSpec, weights: Mapping[str, float]) -> None:
        self.spec = spec
        for part in self._parts:
            part.change(spec)
        if weights:
            self._venv.weigh(weights)
        self.applied += 1


def in_words(error: ProblemsError) -> str:
    """Return why values cannot change, on one line."""
    return "; ".join(map(str, error.problems))
