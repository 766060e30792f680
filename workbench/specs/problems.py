"""Everything that is wrong with a run given as plain data, all at once and in words.

Validation never raises: whatever it is given, it returns a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from workbench.errors import Problem, ProblemsError
from workbench.specs.algorithms import ALGORITHM_SPECS, ALGORITHMS, Algorithm, PPOSpec, SACSpec, Spec, TD3Spec
from workbench.specs.consistency import findings
from workbench.specs.fields import field_row, show
from workbench.specs.kinds import AtMostBecause
from workbench.specs.rllib import other_name
from workbench.specs.run import GROUPS, RunSpec
from workbench.suggest import nearest_one

RANGE_ERRORS = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")


def validate(data: object) -> list[Problem]:
    """Return every problem of a run given as plain data; none of them an error means it can be launched."""
    return checked(data)[1]


def spec_from_json(data: object) -> RunSpec:
    """Return the run that plain data describes.

    Raises:
        ProblemsError: It has problems; all are listed.
    """
    spec, problems = checked(data)
    if spec is None:
        raise ProblemsError("this run cannot be launched", errors_of(problems))
    return spec


def errors_of(problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems that block; warnings never do."""
    return [problem for problem in problems if problem.severity == "error"]


def checked(data: object) -> tuple[RunSpec | None, list[Problem]]:
    """Return the run, or None where an error stands in the way, and every problem."""
    if not isinstance(data, Mapping):
        return None, [Problem("", f"a run is an object of fields, got {show(data)}")]
    plain = {key if isinstance(key, str) else show(key): value for key, value in data.items()}
    spec, problems = _fields_checked(plain)
    wrong = {problem.key for problem in problems}
    known = spec if spec is not None else _valid_part(plain, problems)
    if known is not None:
        for finding in findings(known, algorithms=(known.algorithm,)):
            if not finding.rests_on(wrong):
                problems.append(finding.problem)
        others = [algorithm for algorithm in ALGORITHMS if algorithm != known.algorithm]
        idle = [
            finding for finding in findings(known, algorithms=others) if finding.alone and not finding.rests_on(wrong)
        ]
        problems += errors_of(finding.problem for finding in idle)
    return (None if errors_of(problems) else spec), problems


def _fields_checked(data: Mapping[str, Any]) -> tuple[RunSpec | None, list[Problem]]:
    try:
        return RunSpec.model_validate(dict(data)), []
    except ValidationError as error:
        return None, field_problems(error, RunSpec)
    except Exception as error:
        return None, [Problem("", f"cannot be read as a run: {type(error).__name__}")]


def _valid_part(data: Mapping[str, Any], problems: Sequence[Problem]) -> RunSpec | None:
    """Return the run with its wrong fields at their defaults, to find what else is wrong."""
    kept = {"env_id": "unknown", **data}
    for problem in problems:
        top, _, rest = problem.key.partition(".")
        inner = kept.get(top)
        if rest and isinstance(inner, Mapping):
            kept[top] = {key: value for key, value in inner.items() if key != rest.split(".")[0]}
        else:
            kept.pop(top, None)
    kept.setdefault("env_id", "unknown")
    return _fields_checked(kept)[0]


def field_problems(error: ValidationError, model: type[Spec], *, prefix: str = "") -> list[Problem]:
    """Put what pydantic found into words: one problem a field, in the order of the data."""
    found: dict[str, Problem] = {}
    for detail in error.errors(include_url=False, include_context=False):
        owner, path = _owner(model, detail["loc"])
        key = prefix + ".".join(path)
        problem = _in_words(owner, path, key, detail["type"], detail.get("input"))
        found.setdefault(key, problem)
    return list(found.values())


def _owner(model: type[Spec], loc: Sequence[int | str]) -> tuple[type[Spec], list[str]]:
    """Return the model that holds the field at `loc`, and the field's dotted path."""
    path: list[str] = []
    for part in loc:
        path.append(str(part))
        info = model.model_fields.get(str(part))
        inner = None if info is None else info.annotation
        if len(path) < len(loc) and isinstance(inner, type) and issubclass(inner, Spec):
            model = inner
        else:
            break
    return model, path


def _in_words(owner: type[Spec], path: list[str], key: str, kind: str, value: Any) -> Problem:
    name = path[-1] if path else ""
    info = owner.model_fields.get(name)
    if kind == "extra_forbidden" or info is None:
        return unknown_field(owner, name, key)
    if kind == "missing":
        return Problem(key, "is missing")
    inner = info.annotation
    if isinstance(inner, type) and issubclass(inner, BaseModel):
        return Problem(key, f"must be an object of fields, got {show(value)}")
    row = field_row(name, info)
    if kind in RANGE_ERRORS:
        why = next((f": {item.reason}" for item in info.metadata if isinstance(item, AtMostBecause)), "")
        return Problem(key, f"must be {row.range}, got {show(value)}{why if kind.startswith('less') else ''}")
    if kind == "finite_number":
        return Problem(key, f"must be a finite number, got {show(value)}")
    if kind == "string_too_short":
        return Problem(key, "must not be empty")
    near = nearest_one(value, row.choices) if row.choices and isinstance(value, str) else None
    whole_numbers_of_any_size = row.kind == "whole" and not row.range.startswith(("-1", "a "))
    accepts = "a whole number" if whole_numbers_of_any_size else "a number" if row.kind == "number" else row.accepts
    return Problem(key, f"must be {accepts}, got {show(value)}", nearest=near)


def unknown_field(owner: type[Spec], name: str, key: str) -> Problem:
    """Say what an unknown field probably meant: another library's name, another place, or a misspelling."""
    elsewhere = misplaced(owner, name, key)
    if elsewhere is not None:
        return elsewhere
    near = nearest_one(name, owner.model_fields)
    if owner is RunSpec and near is None:
        near = near_in_blocks(name)
    listed = "" if near or owner not in GROUPS.values() else f"; there are {', '.join(owner.model_fields)}"
    return Problem(key, f"is not {owner.noun}{listed}", nearest=near)


def misplaced(owner: type[Spec], name: str, key: str) -> Problem | None:
    """Say where an unknown field belongs, or what it is called here; None where it is a field nowhere."""
    algorithm = algorithm_of(owner)
    if algorithm is not None and (ours := other_name(algorithm, name)) is not None:
        return Problem(key, ours)
    if algorithm is not None and name in RunSpec.model_fields:
        return Problem(key, f"is a field of the run, not {owner.noun}")
    homes = [block for block, spec in ALGORITHM_SPECS.items() if name in spec.model_fields]
    if owner is RunSpec and homes:
        return Problem(key, f"belongs in a block: {' or '.join(f'{home}.{name}' for home in homes)}")
    for group, fields in GROUPS.items():
        if owner is not fields and name in fields.model_fields:
            return Problem(key, f"belongs in {group}: {group}.{name}")
    return None


def near_in_blocks(name: str) -> str | None:
    """Return the nearest field of an algorithm's block, dotted, or None where none is close."""
    close = ((block, nearest_one(name, spec.model_fields)) for block, spec in ALGORITHM_SPECS.items())
    return next((f"{block}.{field}" for block, field in close if field is not None), None)


def algorithm_of(owner: type[Spec]) -> Algorithm | None:
    """Return the algorithm whose block a model is."""
    names: dict[type[Spec], Algorithm] = {PPOSpec: "ppo", SACSpec: "sac", TD3Spec: "td3"}
    return names.get(owner)
