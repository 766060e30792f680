"""What of a run may change while it trains: which values, what a change makes of them, and why one is refused.

A field says so itself, where it is declared; the weights of the environment's reward terms come beside those. Forms,
help and refusals are made from here, before a request is sent and again by the run that carries it out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.errors import Problem, ProblemsError
from workbench.specs.algorithms import ALGORITHMS
from workbench.specs.composing import ELSEWHERE, layer_dotted, override_rows
from workbench.specs.fields import FieldRow, show
from workbench.specs.problems import checked, errors_of
from workbench.specs.run import RunSpec
from workbench.suggest import nearest_one

REWARD = "reward."
"""What the key of a reward term's weight begins with."""

FIXED = "is fixed once a run has begun; start a new run with another value"


@dataclass(frozen=True)
class Done:
    """How far a run is: a limit below that would end it at once."""

    steps: int = 0
    iteration: int = 0
    wall_s: float = 0.0


@dataclass(frozen=True)
class LiveField:
    """A value that may be changed while the run trains."""

    row: FieldRow
    """Its dotted name, what it accepts and what it means."""
    value: Any
    """What it is now, as plain data."""

    @property
    def key(self) -> str:
        """What it is called in a request and on the command line."""
        return self.row.name

    @property
    def text(self) -> str:
        """The value as a person types it."""
        return self.row.render(self.value)


@dataclass(frozen=True)
class Change:
    """What came of a wish to change values of a run."""

    spec: RunSpec | None
    """What the run does from now on; None where an error stands in the way."""
    weights: Mapping[str, float]
    """The weight of each reward term from now on."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """The new values by key, as plain data; those that are what they were are left out."""
    old: Mapping[str, Any] = field(default_factory=dict)
    """What each of them was."""
    problems: Sequence[Problem] = ()
    """Everything that is wrong."""

    def require(self, what: str) -> RunSpec:
        """Return the spec.

        Raises:
            ProblemsError: There are problems; all are listed.
        """
        if self.spec is None:
            raise ProblemsError(what, errors_of(self.problems))
        return self.spec

    @property
    def text(self) -> str:
        """What changes, as a person reads it: `ppo.learning_rate 0.0003 → 0.0001`."""
        return ", ".join(f"{key} {shown(self.old[key])} → {shown(value)}" for key, value in self.values.items())


def shown(value: Any) -> str:
    """Return a value of a change as a person reads it."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "none"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


def live_rows() -> dict[str, FieldRow]:
    """Return the fields that may change in a run of any algorithm, by dotted key; reward terms are not among them."""
    return {key: replace(row, name=key) for key, row in override_rows().items() if row.live}


def changeable(spec: RunSpec, weights: Mapping[str, float] | None = None) -> tuple[LiveField, ...]:
    """Return what may change in a run, with its values.

    Args:
        spec: What the run does now.
        weights: The weight of each reward term of its environment now, where they are known.
    """
    own = [row for key, row in live_rows().items() if _concerns(key, spec)]
    # What one changes most comes first.
    own.sort(key=lambda row: not row.name.startswith(f"{spec.algorithm}."))
    terms = [_weight_row(term) for term in weights or ()]
    values = _plain(spec, weights or {})
    return tuple(LiveField(row, values[row.name]) for row in (*own, *terms))


def change(
    spec: RunSpec,
    values: Mapping[str, Any],
    *,
    weights: Mapping[str, float] | None = None,
    done: Done | None = None,
) -> Change:
    """Check new values and return what a run is with them; never raises.

    Args:
        spec: What the run does now.
        values: New values by dotted key; texts are read as on the command line.
        weights: The weight of each reward term now; None where the terms are not known, and then any is accepted.
        done: How far the run is.
    """
    named = weights if weights is not None else {key[len(REWARD) :]: 1.0 for key in values if key.startswith(REWARD)}
    rows = {item.key: item.row for item in changeable(spec, named)}
    problems = [] if values else [Problem("", "no value is given")]
    read: dict[str, Any] = {}
    for key, value in values.items():
        if key in rows:
            read[key] = rows[key].parse(value) if isinstance(value, str) else value
        else:
            problems.append(_refusal(key, spec, rows))
    new_weights = dict(named)
    for key in [key for key in read if key.startswith(REWARD)]:
        weight = read.pop(key)
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < float("inf"):
            problems.append(Problem(key, f"must be {rows[key].accepts}, got {show(weight)}"))
        else:
            new_weights[key[len(REWARD) :]] = float(weight)
    after, found = _with(spec, read)
    problems += errors_of(found)
    if after is None or errors_of(problems):
        return Change(None, named, problems=problems)
    before, now = _plain(spec, named), _plain(after, new_weights)
    changed = [key for key in values if now[key] != before[key] or (weights is None and key.startswith(REWARD))]
    if not changed:
        said = ", ".join(f"{key} is {shown(now[key])} already" for key in values)
        return Change(None, named, problems=[Problem("", f"nothing would change: {said}")])
    problems += _too_late({key: now[key] for key in changed}, done or Done())
    if problems:
        return Change(None, named, problems=problems)
    # What was so before is not worth a word at every change.
    known = checked(spec.model_dump(mode="json"))[1]
    news = tuple(problem for problem in found if problem not in known)
    return Change(after, new_weights, {key: now[key] for key in changed}, {key: before[key] for key in changed}, news)


def amended(spec: RunSpec, values: Mapping[str, Any]) -> RunSpec:
    """Return a spec in which fields have other values; weights of reward terms are none of its fields.

    Args:
        spec: The spec.
        values: New values by dotted key; a whole group, such as `stop_criteria`, replaces the old one.

    Raises:
        ProblemsError: They cannot have these.
    """
    own = {key: value for key, value in values.items() if not key.startswith(REWARD)}
    if not own:
        return spec
    after, problems = _with(spec, own)
    return Change(after, {}, problems=problems).require("this run cannot go on with the values it was given")


def weights_in(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the weights among new values, by reward term."""
    return {key[len(REWARD) :]: float(value) for key, value in values.items() if key.startswith(REWARD)}


def _with(spec: RunSpec, values: Mapping[str, Any]) -> tuple[RunSpec | None, list[Problem]]:
    if not values:
        return spec, []
    data = spec.model_dump(mode="json")
    groups = {key: value for key, value in values.items() if isinstance(value, Mapping)}
    data |= groups
    layer_dotted(data, {key: value for key, value in values.items() if key not in groups})
    return checked(data)


def _plain(spec: RunSpec, weights: Mapping[str, float]) -> dict[str, Any]:
    """Return every value by dotted key."""
    flat: dict[str, Any] = {}
    for key, value in spec.model_dump(mode="json").items():
        if isinstance(value, Mapping):
            flat |= {f"{key}.{name}": item for name, item in value.items()}
        else:
            flat[key] = value
    return flat | {f"{REWARD}{term}": weight for term, weight in weights.items()}


def _concerns(key: str, spec: RunSpec) -> bool:
    top = key.partition(".")[0]
    return top not in ALGORITHMS or top == spec.algorithm


def _weight_row(term: str) -> FieldRow:
    doc = f"Weight of the reward term {term} while training; evaluations keep the environment's own."
    return FieldRow(f"{REWARD}{term}", "number", 1.0, "at least 0", (), doc, live=True)


def _refusal(key: str, spec: RunSpec, rows: Mapping[str, FieldRow]) -> Problem:
    """Say why a value cannot change, or what its name probably meant."""
    top, _, rest = key.partition(".")
    if key.startswith(REWARD):
        terms = [name[len(REWARD) :] for name in rows if name.startswith(REWARD)]
        if not terms:
            return Problem(key, "has no weight: a plain Gymnasium environment gives one reward and not its terms")
        near = nearest_one(rest, terms)
        listed = "" if near else f"; there are {', '.join(terms)}"
        return Problem(
            key, f"is no reward term of this environment{listed}", None if near is None else f"{REWARD}{near}"
        )
    if key in override_rows() or key in ELSEWHERE:
        if top in ALGORITHMS and top != spec.algorithm:
            own = f"{spec.algorithm}.{rest}"
            message = f"is a field of {top.upper()}, and this run trains with {spec.algorithm.upper()}"
            return Problem(key, message, own if own in rows else None)
        return Problem(key, FIXED)
    in_block = f"{spec.algorithm}.{key}"
    return Problem(key, "is nothing that can change in a run", in_block if in_block in rows else nearest_one(key, rows))


def _too_late(values: Mapping[str, Any], done: Done) -> Iterator[Problem]:
    reached = {
        "total_steps": done.steps,
        "stop_criteria.num_env_steps_sampled_lifetime": done.steps,
        "stop_criteria.training_iteration": done.iteration,
        "stop_criteria.wall_time_s": done.wall_s,
    }
    for key, now in reached.items():
        limit = values.get(key)
        if limit and limit <= now:
            told = show(int(now))
            yield Problem(key, f"must be more than the {told} done, got {show(limit)}: a stop ends the run")
