"""What a run was asked to do, field by field, and where that differs from its recipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.catalog.entries import Entry
from workbench.specs import compose, read_recipe

DEFAULTS = "SB3's defaults"
"""What settings without a recipe are compared with."""

_OWN = frozenset({"env_id", "algorithm", "seed", "tags", "group", "parent", "threads", "device", "profile"})
"""Fields that belong to one launch and are no difference from a recipe."""


@dataclass(frozen=True)
class Setting:
    """One field of a run."""

    key: str
    """Dotted: `ppo.gamma`."""
    value: str
    recipe: str | None
    """What the recipe would have given; None where that is not known."""

    @property
    def differs(self) -> bool:
        """Whether it was changed from the recipe."""
        return self.recipe is not None and self.recipe != self.value and self.key not in _OWN


@dataclass(frozen=True)
class RunConfig:
    """All settings of a run, and what it ran with."""

    settings: tuple[Setting, ...] = ()
    compared_with: str = ""
    """What the recipe is called; empty where there is none to compare with."""
    about: str = ""
    """Versions, host, git revision."""

    @property
    def usual(self) -> str:
        """What a value it is compared with is called: `recipe`, `default`, or the other run."""
        if self.compared_with.endswith(".json"):
            return "recipe"
        return "default" if self.compared_with in ("", DEFAULTS) else self.compared_with

    @property
    def differences(self) -> tuple[Setting, ...]:
        """The settings that were changed."""
        return tuple(item for item in self.settings if item.differs)


def read_config(record: Mapping[str, Any], entry: Entry | None) -> RunConfig:
    """Read a `run.json`, whatever is in it, beside the recipe of its environment.

    It reads the recipe's file: not for the event loop.
    """
    spec = record.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    algorithm = str(spec.get("algorithm") or "")
    expected, name = _expected(entry, algorithm)
    settings = tuple(
        Setting(key, _text(value), _text(expected[key]) if key in expected else None)
        for key, value in _flat(spec, algorithm)
    )
    return RunConfig(settings, name, _about(record))


def read_config_against(record: Mapping[str, Any], other: Mapping[str, Any], name: str) -> RunConfig:
    """Read a `run.json` beside that of another run.

    Args:
        record: The run's.
        other: The other run's.
        name: What the other run is called.
    """
    mine, theirs = flat_settings(record), flat_settings(other)
    settings = [Setting(key, value, theirs.get(key, "–")) for key, value in mine.items()]
    # What only the other algorithm has is a difference too.
    settings += [Setting(key, "–", value) for key, value in theirs.items() if key not in mine]
    return RunConfig(tuple(settings), name, _about(record))


def flat_settings(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings in a `run.json` as text by dotted key; blocks of the other algorithms are left out."""
    spec = record.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    return {key: _text(value) for key, value in _flat(spec, str(spec.get("algorithm") or ""))}


def is_own(key: str) -> bool:
    """Return whether a setting belongs to one launch, so that it makes no difference between runs."""
    return key in _OWN


def _expected(entry: Entry | None, algorithm: str) -> tuple[dict[str, Any], str]:
    """What a launch without changes would run: the recipe's values, else the defaults of Stable-Baselines3."""
    if entry is None or algorithm not in ("ppo", "sac", "td3"):
        return {}, ""
    recipe = None if entry.recipe is None else read_recipe(entry.recipe)
    if recipe is not None:
        composed = compose(entry.env_id, algorithm=algorithm, recipe=recipe)
    else:
        # Without a recipe a run must be given a budget; the value is no difference from anything.
        composed = compose(entry.env_id, algorithm=algorithm, total_steps=1)
    if composed.spec is None:
        return {}, ""
    values = dict(_flat(composed.spec.model_dump(mode="json"), algorithm))
    if recipe is None:
        values.pop("total_steps", None)
    return values, DEFAULTS if entry.recipe is None else entry.recipe.name


def _flat(spec: Mapping[str, Any], algorithm: str) -> Iterator[tuple[str, Any]]:
    """Yield dotted keys and values; the blocks of the other algorithms are left out."""
    for name, value in spec.items():
        if name in ("ppo", "sac", "td3") and name != algorithm:
            continue
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", item) for inner, item in value.items())
        else:
            yield name, value


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(item)}" for key, item in value.items()) or "none"
    return str(value)


def _about(record: Mapping[str, Any]) -> str:
    versions = record.get("versions")
    parts = [f"{name} {value}" for name, value in versions.items()] if isinstance(versions, dict) else []
    git = record.get("git")
    if isinstance(git, dict):
        git = git.get("revision") or git.get("commit")
    parts += [f"{name} {value}" for name, value in (("git", git), ("host", record.get("host"))) if value]
    return " · ".join(parts)
