"""One run out of its layers: defaults, the recipe, overrides, flags; and back into the words that ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from workbench.errors import Problem, ProblemsError
from workbench.specs.algorithms import ALGORITHM_SPECS, ALGORITHMS, Algorithm, PPOSpec
from workbench.specs.fields import FieldRow, field_table, show
from workbench.specs.problems import checked, errors_of, unknown_field
from workbench.specs.recipes import Recipe, layer, merged_for
from workbench.specs.rllib import rollout_length
from workbench.specs.run import GROUPS, RunSpec
from workbench.suggest import nearest_one

FLAGS = {
    "seed": "--seed",
    "total_steps": "--max-steps",
    "n_envs": "--n-envs",
    "checkpoint_freq": "--checkpoint-freq",
    "parent": "--from",
}
"""Fields of a run that a flag of `train` sets; the others are set by `--set`."""

ELSEWHERE = {
    "env_id": "is chosen by the environment's name",
    "algorithm": "is chosen by --algorithm",
    "seed": "is chosen by --seed or --seeds",
    "parent": "is chosen by --from",
    "group": "is given by the launch itself",
}
"""Fields of a run that `--set` leaves to other words, each with the word."""

OWN_WORDS = ("tags", "video_on_checkpoint", "profile", *FLAGS, *ELSEWHERE)


@dataclass(frozen=True)
class Composed:
    """What came of laying a run's layers over each other."""

    spec: RunSpec | None
    """The run, or None where an error stands in the way."""
    problems: list[Problem] = field(default_factory=list)
    """Everything that is wrong, warnings too."""
    notes: list[str] = field(default_factory=list)
    """What a person should know and need not change."""
    data: dict[str, Any] = field(default_factory=dict)
    """The fields that were set, as plain data."""

    def require(self, what: str = "this run cannot be launched") -> RunSpec:
        """Return the run.

        Raises:
            ProblemsError: It has problems; all are listed.
        """
        if self.spec is None:
            raise ProblemsError(what, errors_of(self.problems))
        return self.spec


def compose(
    env_id: str,
    *,
    algorithm: str = "ppo",
    recipe: Recipe | None = None,
    base: Mapping[str, Any] | None = None,
    overrides: Sequence[str] = (),
    **fields: Any,
) -> Composed:
    """Lay the defaults, a recipe, overrides and fields over each other, and check the result whole.

    Args:
        env_id: Gymnasium ID of the environment.
        algorithm: Which algorithm trains; case does not matter.
        recipe: The environment's recipe, where it has one.
        base: Fields of another run that this one is like, instead of the recipe's.
        overrides: `KEY=VALUE` as `--set` takes them, `ppo.learning_rate=1e-3`; they win over the recipe.
        fields: Fields of a run by name; they win over everything, and None means not given.
    """
    chosen = algorithm.lower()
    problems: list[Problem] = []
    notes: list[str] = []
    if chosen not in ALGORITHMS:
        near = nearest_one(chosen, ALGORITHMS)
        problems.append(Problem("algorithm", f"must be one of {', '.join(ALGORITHMS)}, got {show(algorithm)}", near))
        chosen = "ppo"
    name: Algorithm = next(item for item in ALGORITHMS if item == chosen)
    data: dict[str, Any] = {}
    if base is not None:
        layer(data, base)
    elif recipe is not None:
        problems += recipe.problems
        notes += recipe.notes
        data = merged_for(recipe.data, name)
        if recipe.data and name not in recipe.algorithms:
            notes.append(f"{recipe.path.name} has no {name} block: Stable-Baselines3's defaults are used")
    elif not fields.get("total_steps"):
        notes.append(f"{env_id} has no recipe: Stable-Baselines3's defaults are filled in, give a budget")
    set_by_hand, wrong = parse_overrides(overrides, recipe=recipe)
    problems += wrong
    layer_dotted(data, set_by_hand)
    layer(data, {key: value for key, value in fields.items() if value is not None})
    if recipe is not None and base is None:
        notes += _fit_rollout(data, recipe, by_hand="ppo.n_steps" in set_by_hand or _gives(fields, "n_steps"))
    data |= {"env_id": env_id, "algorithm": name}
    spec, found = checked(data)
    rejudged = [] if recipe is None or base is not None else recipe.joint.get(name, ())
    problems = _joined(problems, found, rejudged)
    return Composed(None if errors_of(problems) else spec, problems, notes, data)


def _joined(first: Iterable[Problem], found: Iterable[Problem], rejudged: Iterable[Problem]) -> list[Problem]:
    """Join problems of the layers with those of the whole, each once, and those of a file with their place in it.

    What the recipe alone does wrong between its fields is left to the whole, where an override may have mended it.
    """
    placed = {(problem.key, problem.message): problem for problem in first}
    whole = {(problem.key, problem.message): problem for problem in found}
    dropped = {(problem.key, problem.message) for problem in rejudged}
    kept = [problem for what, problem in placed.items() if what not in whole and what not in dropped]
    return kept + [
        replace(placed[what], severity=problem.severity) if what in placed else problem
        for what, problem in whole.items()
    ]


def _gives(fields: Mapping[str, Any], name: str) -> bool:
    block = fields.get("ppo")
    return isinstance(block, PPOSpec) or (isinstance(block, Mapping) and name in block)


def _fit_rollout(data: dict[str, Any], recipe: Recipe, *, by_hand: bool) -> list[str]:
    """Keep the length of a rollout that a recipe fixes, however many copies share it."""
    n_envs, block = data.get("n_envs", 1), data.get("ppo")
    if by_hand or recipe.rollout_steps is None or type(n_envs) is not int or n_envs < 1:
        return []
    n_steps, note = rollout_length(recipe.rollout_steps, n_envs)
    if not isinstance(block, Mapping) or block.get("n_steps") == n_steps:
        return []
    data["ppo"] = {**block, "n_steps": n_steps}
    return [note] if note else []


def parse_overrides(overrides: Sequence[str], *, recipe: Recipe | None = None) -> tuple[dict[str, Any], list[Problem]]:
    """Read `KEY=VALUE` words into values by dotted key, and say what is wrong with the others."""
    rows = override_rows()
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for word in overrides:
        key, equals, text = word.partition("=")
        key = key.strip()
        if not equals or not key:
            problems.append(Problem(f"--set {word}", "must be KEY=VALUE, as in ppo.learning_rate=1e-3"))
        elif key in values:
            problems.append(Problem(key, "is set twice"))
        elif key in rows:
            values[key] = rows[key].parse(text)
        else:
            problems.append(_unknown_override(key, text, recipe))
    return values, problems


def override_rows() -> dict[str, FieldRow]:
    """Return the fields that `--set` can set, by dotted key."""
    rows = {row.name: row for row in field_table(RunSpec) if row.name not in ELSEWHERE}
    for algorithm in ALGORITHMS:
        rows |= {f"{algorithm}.{row.name}": row for row in field_table(ALGORITHM_SPECS[algorithm])}
    return rows


def _unknown_override(key: str, text: str, recipe: Recipe | None) -> Problem:
    top, _, rest = key.partition(".")
    if top in ("env", "env_cfg", "env_config"):
        stem = "MODULE" if recipe is None else recipe.stem
        inside = f'"{rest or "KEY"}": {text or "VALUE"}'
        message = f'is configuration of the environment: make a variant, {stem}_NAME.json, {{"env_cfg": {{{inside}}}}}'
        return Problem(key, f"{message}, beside the environment's module")
    if key in ELSEWHERE:
        return Problem(key, ELSEWHERE[key])
    for algorithm in ALGORITHMS:
        if top == algorithm and rest:
            return unknown_field(ALGORITHM_SPECS[algorithm], rest, key)
    if top in GROUPS and rest:
        return unknown_field(GROUPS[top], rest, key)
    if top in (*ALGORITHMS, *GROUPS):
        return Problem(key, f"is a group of fields: set one of them, as in {top}.{_first(top)}=…")
    return unknown_field(RunSpec, key, key)


def _first(top: str) -> str:
    return next(key.partition(".")[2] for key in override_rows() if key.startswith(f"{top}."))


def layer_dotted(data: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Lay values by dotted key over nested data."""
    nested: dict[str, Any] = {}
    for key, value in values.items():
        top, _, rest = key.partition(".")
        if rest:
            nested.setdefault(top, {})[rest] = value
        else:
            nested[top] = value
    layer(data, nested)


def command_for(
    spec: RunSpec,
    entry_name: str,
    recipe: Recipe | None = None,
    *,
    base: Mapping[str, Any] | None = None,
    seeds: Sequence[int] = (),
) -> list[str]:
    """Return the `workbench train …` words that ask for this run: only what differs from the recipe.

    Args:
        spec: The run.
        entry_name: Short name of its environment.
        recipe: The recipe that `train` would find for it.
        base: What `compose` was given instead of the recipe.
        seeds: Seeds of a group of runs, instead of the one in `spec`.
    """
    words = ["workbench", "train", entry_name, "--algorithm", spec.algorithm]
    unchanged = _recipe_alone(spec, recipe) if base is None else _like(base, spec)
    theirs = _flat(unchanged.model_dump(mode="json"))
    mine = _flat(spec.model_dump(mode="json"))
    if seeds:
        words += ["--seeds", ",".join(map(str, seeds))]
    changed = {key: value for key, value in mine.items() if theirs.get(key) != value}
    # A cadence that another displaced comes back by itself: `compose` drops it when the other is given.
    if changed.get("checkpoint_freq", 0) is None or changed.get("checkpoint_every_steps", 0) is None:
        displaced = "checkpoint_freq" if mine["checkpoint_freq"] is None else "checkpoint_every_steps"
        changed.pop(displaced, None)
    for key, flag in FLAGS.items():
        if changed.get(key) is not None and not (key == "seed" and seeds):
            words += [flag, str(changed[key])]
    words += [word for tag in mine["tags"] for word in ("--tag", tag)]
    words += ["--video-on-checkpoint"] * bool(mine["video_on_checkpoint"]) + ["--profile"] * bool(mine["profile"])
    rows = override_rows()
    for key, value in changed.items():
        if key not in OWN_WORDS:
            words += ["--set", f"{key}={rows[key].render(value)}"]
    return words


def changes(base: Mapping[str, Any], spec: RunSpec) -> list[str]:
    """Return what a run does otherwise than the one it is like, one phrase each: `ppo.gamma 0.9 (was 0.99)`.

    Args:
        base: Fields of the other run.
        spec: The run.
    """
    before, after = (_flat(item.model_dump(mode="json")) for item in (_like(base, spec), spec))
    rows = override_rows()
    return [
        f"{key} {rows[key].render(value)} (was {rows[key].render(before[key])})"
        for key, value in after.items()
        if key in rows and key != "tags" and value != before[key] and _concerns(key, spec.algorithm)
    ]


def _concerns(key: str, algorithm: Algorithm) -> bool:
    top = key.partition(".")[0]
    return top not in ALGORITHMS or top == algorithm


def _like(base: Mapping[str, Any], spec: RunSpec) -> RunSpec:
    """Return what fields of another run alone give, which were checked when that one was launched."""
    own = {"env_id": spec.env_id, "algorithm": spec.algorithm}
    try:
        return RunSpec.model_validate({**base, **own})
    except ValidationError:
        return RunSpec.model_validate(own)


def _recipe_alone(spec: RunSpec, recipe: Recipe | None) -> RunSpec:
    """Return what the recipe alone gives, its rollouts shared by as many copies as the run has."""
    plain = {"env_id": spec.env_id, "algorithm": spec.algorithm}
    if recipe is None:
        return RunSpec.model_validate(plain)
    data = merged_for(recipe.data, spec.algorithm)
    fitted = {**data, "n_envs": spec.n_envs}
    _fit_rollout(fitted, recipe, by_hand=False)
    data |= {key: value for key, value in fitted.items() if key != "n_envs"}
    try:
        return RunSpec.model_validate({**data, **plain})
    except ValidationError:
        return RunSpec.model_validate(plain)


def _flat(data: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in data.items():
        if key in ALGORITHMS or key in GROUPS:
            flat |= {f"{key}.{name}": item for name, item in value.items()}
        else:
            flat[key] = value
    return flat
