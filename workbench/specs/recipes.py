"""Training recipes: what one environment is trained with, in a file of its own.

A recipe is read, translated where it was written for RLlib, and checked whole: every block, whichever algorithm will
run. Nothing is inherited from another file, and nothing here configures the environment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from workbench.errors import Problem
from workbench.specs.algorithms import ALGORITHM_SPECS, ALGORITHMS, Algorithm
from workbench.specs.consistency import findings
from workbench.specs.fields import show
from workbench.specs.located import Located, read_located
from workbench.specs.problems import field_problems, misplaced, near_in_blocks
from workbench.specs.rllib import Translation, is_nested, translate
from workbench.specs.run import LAUNCH_FIELDS, RECIPE_FIELDS, RunSpec
from workbench.suggest import nearest_one

RECIPE_SUFFIX = ".train.json"
FREE_KEYS = ("$schema", "description", "reference")
"""Keys of a recipe that decide nothing."""

TOP_KEYS = (*FREE_KEYS, *RECIPE_FIELDS, *ALGORITHMS)


@dataclass(frozen=True)
class Recipe:
    """A recipe file as it was read; its problems are in it, reading never raises."""

    path: Path
    description: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Fields of a run, and a block for each algorithm that the file has one for, in Stable-Baselines3's names."""
    reference: Mapping[str, Any] = field(default_factory=dict)
    """Returns that were measured with it."""
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    """What was translated, rounded or dropped."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """The line of each dotted key."""
    rollout_steps: int | None = None
    """Steps of one PPO rollout over all copies, where the file gives that instead of `n_steps`."""
    joint: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    """By algorithm, those of its problems that lie between fields, and that an override may mend."""

    @property
    def algorithms(self) -> tuple[Algorithm, ...]:
        """The algorithms it is written for: those with a block; all of them where it has none but sets something."""
        blocks = tuple(algorithm for algorithm in ALGORITHMS if algorithm in self.data)
        return blocks or (ALGORITHMS if self.data else ())

    @property
    def stem(self) -> str:
        """The module stem and variant that it is the recipe of."""
        return self.path.name.removesuffix(RECIPE_SUFFIX)


def read_recipe(path: Path) -> Recipe:
    """Read a recipe file; whatever is wrong with it is in the result's problems."""
    document = read_located(path)
    if document.value is None and document.problems:
        return Recipe(path, problems=document.problems)
    if not isinstance(document.value, Mapping):
        problem = Problem("", f"a recipe is an object of fields, got {show(document.value)}", path=path, line=1)
        return Recipe(path, problems=(problem,))
    raw = dict(document.value)
    translation = Translation()
    if is_nested(raw.get("ppo")):
        translation = translate(raw["ppo"], raw.get("n_envs"))
        raw["ppo"] = translation.block
    data = {key: value for key, value in raw.items() if key in RECIPE_FIELDS or key in ALGORITHMS}
    single = [*translation.problems, *_top_problems(raw, path), *_single_problems(data)]
    wrong = {problem.key for problem in single}
    joint: dict[str, tuple[Problem, ...]] = {
        algorithm: tuple(
            _at(document, problem, translation, within=algorithm) for problem in _joint_problems(data, algorithm, wrong)
        )
        for algorithm in _judged(data)
    }
    located = [_at(document, problem, translation) for problem in single]
    located += dict.fromkeys(problem for problems in joint.values() for problem in problems)
    reference, description = raw.get("reference"), raw.get("description")
    return Recipe(
        path,
        description=description if isinstance(description, str) else "",
        data=data,
        reference=reference if isinstance(reference, Mapping) else {},
        problems=(*document.problems, *sorted(located, key=lambda problem: problem.line or 0)),
        notes=tuple(translation.notes),
        lines=document.lines,
        rollout_steps=translation.rollout_steps,
        joint=joint,
    )


def _at(document: Located, problem: Problem, translation: Translation, *, within: str = "") -> Problem:
    """Place a problem in the file: by the key it was translated from, or that the block of an algorithm sets."""
    block, _, name = problem.key.partition(".")
    if block == "ppo" and name in translation.origins:
        key = f"ppo.{translation.origins[name]}"
    else:
        key = f"{within}.{problem.key}" if f"{within}.{problem.key}" in document.lines else problem.key
    placed = document.at(replace(problem, key=key))
    return replace(placed, key=problem.key)


def _top_problems(raw: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    for key, value in raw.items():
        if key in ("env_config", "env_cfg", "env"):
            yield Problem(key, _variant_instead(path))
        elif key == "description" and not isinstance(value, str):
            yield Problem(key, f"must be text, got {show(value)}")
        elif key == "reference" and not isinstance(value, Mapping):
            yield Problem(key, f"must be an object of measured returns, got {show(value)}")
        elif key in ALGORITHMS and not isinstance(value, Mapping):
            yield Problem(key, f"must be an object of fields, got {show(value)}")
        elif key in LAUNCH_FIELDS:
            yield Problem(key, "belongs to one launch, not to a recipe")
        elif key not in TOP_KEYS:
            yield _unknown_top(key)
    if not any(key in raw for key in (*RECIPE_FIELDS, *ALGORITHMS)):
        yield Problem("", "sets nothing, so it does not make its environment trainable", severity="warning")


def _unknown_top(key: str) -> Problem:
    elsewhere = misplaced(RunSpec, key, key)
    if elsewhere is not None:
        return elsewhere
    near = nearest_one(key, TOP_KEYS) or near_in_blocks(key)
    listed = "" if near else f"; there are {', '.join(TOP_KEYS[1:])}"
    return Problem(key, f"is not a field of a recipe{listed}", nearest=near)


def _variant_instead(path: Path) -> str:
    stem = path.name.removesuffix(RECIPE_SUFFIX)
    return (
        "does not belong in a recipe: environment configuration lives in variant files only. Make"
        f' {stem}_NAME.json beside the environment\'s module, {{"env_cfg": {{…}}}}, and rename this recipe to'
        f" {stem}_NAME{RECIPE_SUFFIX}"
    )


def _single_problems(data: Mapping[str, Any]) -> list[Problem]:
    """Check the fields of every block, each by itself."""
    problems = _field_problems({key: value for key, value in data.items() if key in RECIPE_FIELDS}, "")
    for algorithm in ALGORITHMS:
        block = data.get(algorithm)
        if isinstance(block, Mapping):
            own, run = split_block(block)
            problems += _block_problems(own, algorithm) + _field_problems(run, f"{algorithm}.")
    return problems


def _judged(data: Mapping[str, Any]) -> list[Algorithm]:
    """Return the algorithms whose runs are judged whole: those with a block, PPO where there is none."""
    blocks = [algorithm for algorithm in ALGORITHMS if isinstance(data.get(algorithm), Mapping)]
    return blocks or (["ppo"] if data else [])


def split_block(block: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a recipe's block into what the algorithm is told and the fields of the run that it sets."""
    run = {key: value for key, value in block.items() if key in RECIPE_FIELDS}
    return {key: value for key, value in block.items() if key not in run}, run


def _block_problems(block: Mapping[str, Any], algorithm: Algorithm) -> list[Problem]:
    try:
        ALGORITHM_SPECS[algorithm].model_validate(dict(block))
    except ValidationError as error:
        return field_problems(error, ALGORITHM_SPECS[algorithm], prefix=f"{algorithm}.")
    return []


def _field_problems(fields: Mapping[str, Any], prefix: str) -> list[Problem]:
    try:
        RunSpec.model_validate({**fields, "env_id": "unknown"})
    except ValidationError as error:
        return field_problems(error, RunSpec, prefix=prefix)
    return []


def _joint_problems(data: Mapping[str, Any], algorithm: Algorithm, wrong: set[str]) -> Iterator[Problem]:
    """Find what is wrong between the fields that a run of `algorithm` would get; a missing budget only warns."""
    merged = merged_for(data, algorithm)
    for key in wrong:
        _drop(merged, key)
        _drop(merged, key.removeprefix(f"{algorithm}."))
    try:
        spec = RunSpec.model_validate({**merged, "env_id": "unknown", "algorithm": algorithm})
    except ValidationError:
        return
    for finding in findings(spec, algorithms=(algorithm,)):
        if finding.rests_on(wrong) or finding.rests_on({key.removeprefix(f"{algorithm}.") for key in wrong}):
            continue
        yield replace(finding.problem, severity="warning") if finding.wants_budget else finding.problem


def _drop(data: dict[str, Any], key: str) -> None:
    top, _, rest = key.partition(".")
    inner = data.get(top)
    if rest and isinstance(inner, Mapping):
        data[top] = {name: value for name, value in inner.items() if name != rest}
    elif not rest:
        data.pop(top, None)


def merged_for(data: Mapping[str, Any], algorithm: Algorithm) -> dict[str, Any]:
    """Return the fields of a run of `algorithm`: the top level, with what the algorithm's block sets winning."""
    merged: dict[str, Any] = {key: value for key, value in data.items() if key in RECIPE_FIELDS}
    for name in ALGORITHMS:
        block = data.get(name)
        if isinstance(block, Mapping):
            merged[name], run = split_block(block)
            if name == algorithm:
                layer(merged, run)
    return merged


def layer(under: dict[str, Any], over: Mapping[str, Any]) -> None:
    """Lay fields over others: parts are merged key by key, and one checkpoint cadence displaces the other."""
    for mine, other in (
        ("checkpoint_freq", "checkpoint_every_steps"),
        ("checkpoint_every_steps", "checkpoint_freq"),
    ):
        if over.get(mine) is not None and over.get(other) is None:
            under.pop(other, None)
    for key, value in over.items():
        held = under.get(key)
        if isinstance(value, Mapping) and isinstance(held, Mapping):
            under[key] = {**held, **value}
        else:
            under[key] = value
