"""What is said of one environment: what it observes, does and pays, its recipe, its runs, its faults.

Pure functions from an entry, its description and its recipe to text; nothing here touches a widget or a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.content import Content

from workbench.catalog import Entry
from workbench.errors import Problem
from workbench.specs import ALGORITHMS, Recipe
from workbench.ui import formatting
from workbench.ui.formatting import UNKNOWN

_KEY_WIDTH = 13

Description = Mapping[str, Any]


def facts(entry: Entry, description: Description | None, *, describing: bool) -> Content:
    """Return what the environment is: spaces, rate, terms, endings, configuration."""
    lines = [Content(entry.description)] if entry.description else []
    if description is None:
        waiting = "describing…" if describing else "no description: ctrl+r reads the folders again"
        lines.append(_line("spaces", waiting))
    else:
        lines += [
            _line("observation", _space(description.get("observation"))),
            _line("action", _space(description.get("action"))),
            _line("rate", _rate(description)),
        ]
        lines += _optional("terms", "  ".join(map(str, description.get("reward_terms") or ())))
        lines.append(_line("ends", _ends(description)))
        lines += _optional("model", _model(description.get("model")))
        faults = description.get("faults") or ()
        lines += [_fault(str(item.get("message", "")), item.get("line")) for item in faults if isinstance(item, dict)]
    if entry.variant is not None:
        changed = " · ".join(f"{key} {_value(value)}" for key, value in entry.env_cfg.items())
        lines.append(_line("variant", changed or "nothing changed"))
    elif description is not None:
        lines += _optional("config", _config(description.get("config")))
    lines += _optional("file", entry.module.name if entry.module is not None else entry.env_id)
    return Content("\n").join(lines)


def recipe_facts(entry: Entry, recipe: Recipe | None, runs: Sequence[str]) -> Content:
    """Return what there is to train it with, what that reached, and the runs made of it here."""
    lines: list[Content] = []
    if recipe is None:
        said = "none: SB3's defaults are filled in, give a budget" if entry.trainable else entry.why_not or UNKNOWN
        lines.append(_line("recipe", said))
    else:
        lines.append(
            _line(
                "recipe", " ".join(f"{name.upper()} {'✓' if name in entry.algorithms else '·'}" for name in ALGORITHMS)
            )
        )
        lines += _optional("", recipe.description)
        lines.append(_line("budget", _budget(recipe.data)))
        lines += _optional("measured", _reference(recipe.reference))
        lines += [_problem(item, recipe.path.parent) for item in recipe.problems]
        lines += [_line("", str(note)) for note in recipe.notes]
        lines.append(_line("file", recipe.path.name))
    lines.append(_line("runs here", "  ".join(runs) if runs else "none yet: n starts one"))
    return Content("\n").join(lines)


def faults(title: str, problems: Sequence[Problem], root: Path) -> Content:
    """Return every problem of a broken file, with what to press."""
    lines = [Content.assemble(("✗ ", "$state-failed"), (title, "bold"), " cannot be used:"), Content("")]
    for problem in problems:
        lines += [_problem(problem, root), Content("")]
    lines.append(Content.styled("O opens the file, ctrl+r reads it again.", "$muted"))
    return Content("\n").join(lines)


def recipe_note(entry: Entry) -> str:
    """Return the short mark of which algorithms a recipe covers: `P✓ S· T·`."""
    if entry.recipe is None:
        return "no recipe" if entry.trainable else ""
    return " ".join(f"{name[0].upper()}{'✓' if name in entry.algorithms else '·'}" for name in ALGORITHMS)


def _line(key: str, value: str) -> Content:
    return Content.assemble((f"{key:<{_KEY_WIDTH}}", "$muted"), value)


def _optional(key: str, value: str) -> list[Content]:
    return [_line(key, value)] if value else []


def _space(space: object) -> str:
    if not isinstance(space, Mapping):
        return UNKNOWN
    shape = space.get("shape")
    size = " × ".join(formatting.digits(item) for item in shape) if isinstance(shape, list) and shape else "1"
    parts = [size]
    low, high = _bound(space.get("low")), _bound(space.get("high"))
    if low is not None and high is not None:
        parts.append(f"{formatting.number(low)} … {formatting.number(high)}")
    names = space.get("names")
    if isinstance(names, list) and names:
        shown = " · ".join(map(str, names[:8]))
        parts.append(f"{shown} · …" if len(names) > 8 else shown)
    return "   ".join(parts)


def _bound(value: object) -> float | None:
    """Return the one bound of all dimensions, where they share one."""
    numbers = value if isinstance(value, list) else [value]
    flat = [item for item in numbers if isinstance(item, int | float)]
    return float(flat[0]) if flat and len(flat) == len(numbers) and len(set(flat)) == 1 else None


def _rate(description: Description) -> str:
    control, simulation = description.get("control_hz"), description.get("simulation_hz")
    if not isinstance(control, int | float):
        return UNKNOWN
    physics = f" · {formatting.number(simulation)} Hz physics" if isinstance(simulation, int | float) else ""
    return f"{formatting.number(control)} Hz control{physics}"


def _ends(description: Description) -> str:
    parts = [f"{reason} ⇒ terminated" for reason in description.get("terminated") or ()]
    steps = description.get("episode_steps")
    if isinstance(steps, int) and steps:
        parts.append(f"after {formatting.digits(steps)} steps")
    return " · ".join(parts) or UNKNOWN


def _model(model: object) -> str:
    if not isinstance(model, Mapping):
        return ""
    names = {"nq": "positions", "nv": "velocities", "nu": "actuators", "nbody": "bodies"}
    return " · ".join(f"{model[key]} {name}" for key, name in names.items() if key in model)


def _config(fields: object) -> str:
    if not isinstance(fields, list):
        return ""
    known = [item for item in fields if isinstance(item, Mapping)]
    return " · ".join(f"{item.get('name')} {_value(item.get('default'))}" for item in known)


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
    return " · ".join(
        f"{key} {_value(value)}" for key, value in reference.items() if not isinstance(value, Mapping | list)
    )


def _measured(value: Mapping[str, Any]) -> str:
    parts = [formatting.spread(value["return"], value.get("std"))]
    if "seeds" in value:
        parts.append(f"{value['seeds']} seeds")
    if "steps" in value:
        parts.append(formatting.amount(value["steps"]))
    return " · ".join(parts)


def _fault(message: str, line: object) -> Content:
    where = f" (line {line})" if isinstance(line, int) else ""
    return Content.assemble(("✗ ", "$state-failed"), f"{message}{where}")


def _problem(problem: Problem, root: Path) -> Content:
    where = ""
    if problem.path is not None:
        shown = problem.path.relative_to(root) if problem.path.is_relative_to(root) else Path(problem.path.name)
        where = f"{shown}{f' line {problem.line}' if problem.line else ''}: "
    near = f" Nearest is {problem.nearest}." if problem.nearest else ""
    sign, colour = ("✗", "$state-failed") if problem.severity == "error" else ("!", "$state-paused")
    return Content.assemble((f"{sign} ", colour), (where, "$muted"), (problem.key, "bold"), f" {problem.message}{near}")


def matches(entry: Entry, words: Iterable[str]) -> bool:
    """Return whether every word is found in what the list and details say of an entry."""
    text = " ".join([entry.name, entry.env_id, entry.description, *entry.algorithms, entry.origin]).lower()
    return all(word in text for word in words)
