"""What is said of one environment: what it observes, does and pays, its recipe, its runs, its faults.

Pure functions from an entry, its description and its recipe to text; nothing here touches a widget or a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.content import Content

from workbench import formatting
from workbench.catalog import Description, Entry, Space, fault_problems
from workbench.errors import Problem
from workbench.formatting import UNKNOWN
from workbench.specs import ALGORITHMS
from workbench.ui.widgets.fact_sheet import Fact

_NAMES_SHOWN = 8
_DOT = f"{formatting.SPACE}· "
"""Between things in a row; a line is broken after it, never before."""


def facts(entry: Entry, description: Description | None, *, describing: bool) -> list[Fact]:
    """Return what the environment is: spaces, rate, terms, endings, configuration."""
    found = [_whole(entry.description)] if entry.description else []
    found.append(_fact("id", entry.env_id))
    if description is None:
        waiting = "describing…" if describing else "not described yet: ctrl+r reads the folders again"
        found.append(_fact("spaces", waiting))
    else:
        found += [
            _fact("observation", _space(description.observation)),
            _fact("action", _space(description.action)),
            _fact("rate", _rate(description)),
        ]
        found += _optional("terms", "  ".join(description.reward_terms))
        found.append(_fact("ends", _ends(description)))
        found += _optional("model", _model(description.model))
        found += [_problem(item, _home(entry)) for item in fault_problems(entry, description)]
    if entry.variant is not None:
        changed = _DOT.join(f"{key} {_value(value)}" for key, value in entry.env_cfg.items())
        found.append(_fact("variant", changed or "nothing changed"))
    elif description is not None:
        found += _optional("config", _config(description.config))
    if entry.module is not None:
        found.append(_fact("file", (entry.variant_file or entry.module).name))
    return found


def recipe_facts(entry: Entry, runs: Sequence[str]) -> list[Fact]:
    """Return what there is to train it with, what that reached, and the runs made of it here."""
    found: list[Fact] = []
    recipe = entry.training
    if recipe is None:
        found.append(_fact("recipe", "none: n fills in SB3's defaults, give a budget"))
    else:
        marks = (f"{name.upper()} {'✓' if name in entry.algorithms else '·'}" for name in ALGORITHMS)
        found.append(_fact("recipe", "   ".join(marks)))
        found += _optional("", recipe.description)
        found.append(_fact("budget", _budget(recipe.data)))
        found += _optional("measured", _reference(recipe.reference))
        found += [_problem(item, recipe.path.parent) for item in recipe.problems]
        found += [_fact("", str(note)) for note in recipe.notes]
        found.append(_fact("file", recipe.path.name))
    found.append(_fact("runs here", "  ".join(runs) if runs else "none yet: n starts one"))
    return found


def faults(title: str, problems: Sequence[Problem], root: Path) -> list[Fact]:
    """Return every problem of a broken file, with what to press."""
    found = [Fact("", Content.assemble(("✗ ", "$state-failed"), (title, "bold"), " cannot be used:"), whole=True)]
    for problem in problems:
        found += [_whole(""), _problem(problem, root)]
    keys = Content.styled("O opens the file, ctrl+r reads it again.", "$muted")
    return [*found, _whole(""), Fact("", keys, whole=True)]


def recipe_note(entry: Entry) -> str:
    """Return the short mark of which algorithms a recipe covers: `P✓ S· T·`."""
    if entry.training is None:
        return "no recipe"
    if not entry.trainable:
        return "recipe ✗"
    return " ".join(f"{name[0].upper()}{'✓' if name in entry.algorithms else '·'}" for name in ALGORITHMS)


def _home(entry: Entry) -> Path:
    return Path() if entry.module is None else entry.module.parent


def _fact(name: str, value: str) -> Fact:
    return Fact(name, Content(value))


def _optional(name: str, value: str) -> list[Fact]:
    return [_fact(name, value)] if value else []


def _whole(text: str) -> Fact:
    return Fact("", Content(text), whole=True)


def _space(space: Space | None) -> str:
    if space is None:
        return UNKNOWN
    parts = [space.size]
    low, high = _bound(space.low), _bound(space.high)
    if low is not None and high is not None:
        parts.append(f"{formatting.number(low)} … {formatting.number(high)}")
    if space.names:
        shown = _DOT.join(space.names[:_NAMES_SHOWN])
        parts.append(f"{shown}{_DOT}…" if len(space.names) > _NAMES_SHOWN else shown)
    return "   ".join(parts)


def _bound(value: object) -> float | None:
    """Return the one bound of all dimensions, where they share one."""
    numbers = value if isinstance(value, list | tuple) else [value]
    flat = [item for item in numbers if isinstance(item, int | float)]
    return float(flat[0]) if flat and len(flat) == len(numbers) and len(set(flat)) == 1 else None


def _rate(description: Description) -> str:
    if description.control_hz is None:
        return UNKNOWN
    physics = description.simulation_hz
    more = "" if physics is None else f"{_DOT}{formatting.number(physics)} Hz physics"
    return f"{formatting.number(description.control_hz)} Hz control{more}"


def _ends(description: Description) -> str:
    parts = [f"{reason} ⇒ terminated" for reason in description.terminated]
    if description.episode_steps:
        parts.append(f"after {formatting.digits(description.episode_steps)} steps")
    return _DOT.join(parts) or UNKNOWN


def _model(model: Mapping[str, Any]) -> str:
    nouns = {
        "nq": ("position", "positions"),
        "nv": ("velocity", "velocities"),
        "nu": ("actuator", "actuators"),
        "nbody": ("body", "bodies"),
    }
    return _DOT.join(formatting.plural(int(model[key]), *words) for key, words in nouns.items() if key in model)


def _config(fields: Sequence[Mapping[str, Any]]) -> str:
    return _DOT.join(f"{item.get('name')} {_value(item.get('default'))}" for item in fields)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return formatting.number(value) if isinstance(value, int | float) else str(value)


def _budget(data: Mapping[str, Any]) -> str:
    parts: list[str] = []
    steps = data.get("total_steps")
    if isinstance(steps, int) and steps:
        parts.append(f"{formatting.amount(steps)} steps")
    criteria = data.get("stop_criteria")
    if isinstance(criteria, Mapping):
        for key, word in (("episode_return_mean", "return"), ("evaluation_return_mean", "evaluation")):
            if criteria.get(key):
                parts.append(f"stop at {word} {formatting.number(criteria[key])}")
    return ", ".join(parts) or "none"


def _reference(reference: object) -> str:
    if not isinstance(reference, Mapping) or not reference:
        return ""
    for value in (reference, *reference.values()):
        if isinstance(value, Mapping) and "return" in value:
            return _measured(value)
    return _DOT.join(
        f"{key} {_value(value)}" for key, value in reference.items() if not isinstance(value, Mapping | list)
    )


def _measured(value: Mapping[str, Any]) -> str:
    parts = [formatting.spread(value["return"], value.get("std"))]
    if "seeds" in value:
        parts.append(f"{value['seeds']} seeds")
    if "steps" in value:
        parts.append(formatting.amount(value["steps"]))
    return _DOT.join(parts)


def _problem(problem: Problem, root: Path) -> Fact:
    where = ""
    if problem.path is not None:
        shown = problem.path.relative_to(root) if problem.path.is_relative_to(root) else Path(problem.path.name)
        where = f"{shown}{f' line {problem.line}' if problem.line else ''}: "
    near = f"; nearest is {problem.nearest}" if problem.nearest else ""
    sign, colour = ("✗", "$state-failed") if problem.severity == "error" else ("!", "$state-paused")
    said = Content.assemble((f"{sign} ", colour), (where, "$muted"), (problem.key, "bold"), f" {problem.message}{near}")
    return Fact("", said, whole=True)


def matches(entry: Entry, words: Iterable[str]) -> bool:
    """Return whether every word is found in what the list and details say of an entry."""
    text = " ".join([entry.name, entry.env_id, entry.description, *entry.algorithms, entry.origin]).lower()
    return all(word in text for word in words)
