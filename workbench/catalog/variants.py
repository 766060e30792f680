"""Variant and benchmark files: `{"description", "env_cfg"}`, the only place where an environment is configured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.catalog.syntax import ConfigKeys
from workbench.errors import Problem
from workbench.specs import Located, read_located, show
from workbench.suggest import nearest_one

KEYS = ("description", "env_cfg")


@dataclass(frozen=True)
class Variant:
    """A configuration file as it was read; whatever is wrong with it is in its problems."""

    path: Path
    description: str = ""
    env_cfg: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    document: Located | None = None
    """The file with its lines, to place what is found later."""


def read_variant(path: Path) -> Variant:
    """Read a variant or benchmark file."""
    document = read_located(path)
    problems = list(document.problems)
    value = document.value
    if value is None and problems:
        return Variant(path, problems=tuple(problems))
    if not isinstance(value, Mapping):
        problem = Problem("", f"a variant is an object with env_cfg, got {show(value)}", path=path, line=1)
        return Variant(path, problems=(problem,))
    problems += [document.at(problem) for problem in _faults(value)]
    description, env_cfg = value.get("description"), value.get("env_cfg")
    return Variant(
        path,
        description if isinstance(description, str) else "",
        env_cfg if isinstance(env_cfg, Mapping) else {},
        tuple(problems),
        document,
    )


def _faults(value: Mapping[str, Any]) -> Iterator[Problem]:
    for key, item in value.items():
        if key not in KEYS:
            near = nearest_one(key, KEYS)
            yield Problem(key, "is not a key of a variant; there are description and env_cfg", nearest=near)
        elif key == "description" and not isinstance(item, str):
            yield Problem(key, f"must be text, got {show(item)}")
        elif key == "env_cfg" and not isinstance(item, Mapping):
            yield Problem(key, f"must be an object of configuration fields, got {show(item)}")
        elif key == "env_cfg" and not item:
            yield Problem(key, "is empty: this is the same environment as its base", severity="warning")
    misspelt = any(nearest_one(key, KEYS) == "env_cfg" for key in value if key not in KEYS)
    if "env_cfg" not in value and not misspelt:
        yield Problem("env_cfg", "is missing: this would be the same environment as its base")


def unknown_keys(variant: Variant, config: ConfigKeys | None) -> tuple[Problem, ...]:
    """Return a problem for each configured key that the environment does not have, where its keys are known."""
    if config is None or variant.document is None:
        return ()
    return tuple(
        variant.document.at(
            Problem(key, _no_such_field(owner), nearest=nearest_one(key.rpartition(".")[2], owner.keys))
        )
        for key, owner in config.unknown(variant.env_cfg, "env_cfg")
    )


def _no_such_field(owner: ConfigKeys) -> str:
    if not owner.keys:
        return f"is not a field of {owner.owner}, which has none"
    listed = f": there are {', '.join(owner.keys)}" if len(owner.keys) <= 6 else ""
    return f"is not a field of {owner.owner}{listed}"
