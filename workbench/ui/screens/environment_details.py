"""What is said of one environment: what it observes, does and pays, its recipe, its runs, its faults.

Pure functions from an entry, its description and its recipe to text; nothing here touches a widget or a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from textual.content import Content

from workbench import formatting
from workbench.catalog import Description, Entry, fault_problems
from workbench.errors import Problem
from workbench.formatting import UNKNOWN
from workbench.specs import ALGORITHMS, Algorithm, Recipe
from workbench.specs.recipes import merged_for
from workbench.ui.screens.environment_spaces import DOT, NAMES_SHOWN, space_facts, units_of
from workbench.ui.widgets.fact_sheet import Fact

_DOT = DOT


def facts(
    entry: Entry, description: Description | None, *, describing: bool, family: Sequence[Entry] = ()
) -> list[Fact]:
    """Return what the environment is: spaces, rate, terms, endings, configuration.

    Args:
        entry: The environment.
        description: What it says of itself.
        describing: Whether that is being asked for.
        family: The environment without configuration and its variants, where there are any.
    """
    found = [_whole(entry.description)] if entry.description else []
    found.append(_fact("id", entry.env_id))
    if description is None:
        waiting = "describing…" if describing else "not described yet: ctrl+r reads the folders again"
        found.append(_fact("spaces", waiting))
    else:
        found += [
            _fact(
                "observation",
                space_facts(description.observation, units_of(description.docstring, "Observation Space")),
            ),
            *_optional("critic sees", _critic(description)),
            _fact("action", space_facts(description.action, units_of(description.docstring, "Action Space"))),
            _fact("rate", _rate(description)),
        ]
        found += _optional("terms", "  ".join(description.reward_terms))
        found.append(_fact("ends", _ends(description)))
        found += _optional("model", _model(description.model))
        found += [_problem(item, _home(entry)) for item in fault_problems(entry, description)]
    if description is not None and entry.variant is None:
        found += _optional("config", _config(description.config))
    found += _variants(entry, family, {} if description is None else _defaults(description))
    if entry.module is not None:
        found.append(_fact("file", (entry.variant_file or entry.module).name))
    return found


def recipe_facts(entry: Entry, runs: Sequence[str], algorithm: Algorithm = "ppo") -> list[Fact]:
    """Return what there is to train it with, what that reached, and the runs made of it here.

    Args:
        entry: The environment.
        runs: Its runs here, each in a few words.
        algorithm: Which part of the recipe is shown.
    """
    found: list[Fact] = []
    recipe = entry.training
    if recipe is None:
        found.append(_fact("recipe", "none: n fills in SB3's defaults, give a budget"))
    else:
        found.append(Fact("recipe", _marks(entry, algorithm)))
        found += _optional("", recipe.description)
        if algorithm in entry.algorithms:
            data = merged_for(recipe.data, algorithm)
            found.append(_fact("budget", _budget(data)))
            found += _optional("sets", _block(data, algorithm))
        else:
            found.append(_fact("budget", _budget(recipe.data)))
            found.append(_fact("sets", f"nothing for {algorithm.upper()}: SB3's defaults are filled in"))
        found += _optional("measured", measured(recipe, algorithm))
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
    """Return the short mark of what a recipe has for each algorithm: `P✓ S○ T·`."""
    if entry.training is None:
        return "no recipe"
    if not entry.trainable:
        return "recipe ✗"
    return " ".join(f"{name[0].upper()}{_mark(entry, name)}" for name in ALGORITHMS)


LEGEND = "✓ measured  ○ recipe  · default"
"""What the marks in `recipe_note` mean."""


def measured(recipe: Recipe, algorithm: str) -> str:
    """Return what was measured with a recipe and an algorithm; empty where nothing was."""
    told = recipe.reference.get(algorithm)
    if not isinstance(told, Mapping) or not isinstance(told.get("return"), int | float):
        return ""
    parts = [formatting.spread(told["return"], told.get("std"))]
    if isinstance(told.get("seeds"), int):
        parts.append(formatting.plural(told["seeds"], "seed"))
    if isinstance(told.get("steps"), int | float):
        parts.append(f"{formatting.amount(told['steps'])} steps")
    date = told.get("date") or recipe.reference.get("date")
    return _DOT.join([*parts, *([str(date)] if date else [])])


def family_of(entry: Entry, entries: Iterable[Entry]) -> list[Entry]:
    """Return an environment and its variants, the one without configuration first; nothing where it has none."""
    if entry.module is None:
        return []
    alike = [
        item
        for item in entries
        if (item.module, item.class_name) == (entry.module, entry.class_name) and not item.broken
    ]
    return sorted(alike, key=lambda item: item.variant or "") if len(alike) > 1 else []


def _marks(entry: Entry, algorithm: str) -> Content:
    """Return the marks of all algorithms, that of the one that is shown between brackets."""
    parts: list[tuple[str, str]] = []
    for name in ALGORITHMS:
        word = f"{name.upper()} {_mark(entry, name)}"
        chosen = name == algorithm
        parts.append((f"‹ {word} ›" if chosen else f"  {word}  ", "$primary bold" if chosen else ""))
    return Content.assemble(*parts)


def _mark(entry: Entry, algorithm: str) -> str:
    if entry.training is None or algorithm not in entry.algorithms:
        return "·"
    return "✓" if measured(entry.training, algorithm) else "○"


def _variants(entry: Entry, family: Sequence[Entry], defaults: Mapping[str, Any]) -> list[Fact]:
    """Return what the variants do otherwise, each on a line of its own, and which one this is."""
    if not family:
        changed = _DOT.join(f"{key} {_value(value)}" for key, value in entry.env_cfg.items())
        return [_fact("variant", changed or "nothing changed")] if entry.variant is not None else []
    found = []
    for place, item in enumerate(family):
        name = item.variant or "as it is"
        keys = dict.fromkeys(key for other in family for key in other.env_cfg) if item.variant is None else item.env_cfg
        values = defaults if item.variant is None else item.env_cfg
        told = _DOT.join(f"{key} {_value(values[key])}" for key in keys if key in values)
        here = item.name == entry.name
        line = Content.assemble((name, "bold" if here else ""), "  ", (told, "" if here else "$muted"))
        found.append(Fact("variants" if place == 0 else "", line))
    return found


def _defaults(description: Description) -> dict[str, Any]:
    return {str(item.get("name")): item.get("default") for item in description.config}


def _block(data: Mapping[str, Any], algorithm: str) -> str:
    block = data.get(algorithm)
    values = {"n_envs": data.get("n_envs"), **(block if isinstance(block, Mapping) else {})}
    return _DOT.join(f"{key} {_value(value)}" for key, value in values.items() if value is not None)


def _home(entry: Entry) -> Path:
    return Path() if entry.module is None else entry.module.parent


def _fact(name: str, value: str) -> Fact:
    return Fact(name, Content(value))


def _optional(name: str, value: str) -> list[Fact]:
    return [_fact(name, value)] if value else []


def _whole(text: str) -> Fact:
    return Fact("", Content(text), whole=True)


def _rate(description: Description) -> str:
    if description.control_hz is None:
        return UNKNOWN
    physics = description.simulation_hz
    more = "" if physics is None else f"{_DOT}{formatting.number(physics)} Hz physics"
    return f"{formatting.number(description.control_hz)} Hz control{more}"


def _critic(description: Description) -> str:
    """Return what only a critic sees, the actor's observation aside; empty where it sees no more."""
    names = description.critic
    if not names:
        return ""
    more = [f"{len(names) - NAMES_SHOWN} more"] if len(names) > NAMES_SHOWN else []
    return f"{len(names)} besides, while it trains   {_DOT.join([*names[:NAMES_SHOWN], *more])}"


def _ends(description: Description) -> str:
    good = description.successes
    parts = [f"{reason} ⇒ {'success' if reason in good else 'terminated'}" for reason in description.terminated]
    parts += [f"{reason} ⇒ success" for reason in good if reason not in (*description.terminated, "time_limit")]
    if description.episode_steps:
        after = " ⇒ success" if "time_limit" in good else ""
        parts.append(f"after {formatting.digits(description.episode_steps)} steps{after}")
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
    if isinstance(value, list | tuple):
        return "×".join(map(_value, value))
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


def _problem(problem: Problem, root: Path) -> Fact:
    where = ""
    if problem.path is not None:
        shown = problem.path.relative_to(root) if problem.path.is_relative_to(root) else Path(problem.path.name)
        where = f"{shown}{f' line {problem.line}' if problem.line else ''}: "
    near = f"; nearest is {problem.nearest}" if problem.nearest else ""
    sign, colour = ("✗", "$state-failed") if problem.severity == "error" else ("!", "$state-paused")
    key = (f"{problem.key} " if problem.key else "", "bold")
    said = Content.assemble((f"{sign} ", colour), (where, "$muted"), key, f"{problem.message}{near}")
    return Fact("", said, whole=True)
