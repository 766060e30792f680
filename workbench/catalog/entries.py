"""One environment as the catalogue knows it, and files that became none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from workbench.catalog.names import Origin, gymnasium_stem
from workbench.catalog.syntax import ConfigKeys
from workbench.errors import Problem
from workbench.specs import Algorithm, Recipe, errors_of


@dataclass(frozen=True)
class Entry:
    """One environment: a class as it is, a variant of one, or a plain Gymnasium ID."""

    name: str
    """Short name: `ant_no_contact`; a Gymnasium ID with `/` as `__`."""
    env_id: str
    """Gymnasium ID: `workbench/AntNoContact-v0`."""
    class_name: str
    """Class in the module; the entry point of a Gymnasium ID, where it is known."""
    module: Path | None
    """The file that defines the class; none for a Gymnasium ID."""
    stem: str
    """Name of the module without `.py`; that of its recipe for a Gymnasium ID."""
    variant: str | None = None
    env_cfg: Mapping[str, Any] = field(default_factory=dict)
    """What the variant configures."""
    description: str = ""
    """One line."""
    origin: Origin = "project"
    test_only: bool = False
    """Discovered and smoke-tested; never registered, never listed."""
    recipe: Path | None = None
    benchmark: Path | None = None
    problems: tuple[Problem, ...] = ()
    """Everything that is wrong with its files, its recipe included."""
    line: int = 1
    """Where the class begins."""
    variant_file: Path | None = None
    assets: Path | None = None
    """The folder of models and meshes that its catalogue has."""
    training: Recipe | None = field(default=None, repr=False)
    """The recipe as it was read."""
    config: ConfigKeys | None = field(default=None, repr=False)
    """What may be configured, where the syntax tree tells."""

    @property
    def file_stem(self) -> str:
        """What its recipe's name begins with: the module's stem and the variant."""
        return self.stem if self.variant is None else f"{self.stem}_{self.variant}"

    @property
    def names(self) -> tuple[str, ...]:
        """Everything it can be asked for by."""
        return tuple(dict.fromkeys((self.name, self.env_id, self.file_stem)))

    @property
    def broken(self) -> bool:
        """Whether an error in its module or variant keeps it from being made."""
        return self.first_fault is not None

    @property
    def first_fault(self) -> Problem | None:
        """The first error in its module or variant."""
        beside = {self.recipe, self.benchmark} - {None}
        return next((problem for problem in errors_of(self.problems) if problem.path not in beside), None)

    @property
    def algorithms(self) -> tuple[Algorithm, ...]:
        """The algorithms its recipe is written for."""
        return () if self.training is None else self.training.algorithms

    @property
    def trainable(self) -> bool:
        """Whether it can be trained as it is, with its recipe."""
        return self.why_not == ""

    @property
    def why_not(self) -> str:
        """Why it cannot be trained as it is; empty where it can."""
        if self.test_only:
            return "for tests only"
        if self.first_fault is not None:
            return f"broken: {self.first_fault.key} {self.first_fault.message}"
        if self.training is None:
            return "no recipe"
        wrong = errors_of(self.training.problems)
        if wrong:
            return f"recipe: {wrong[0].key} {wrong[0].message}" if len(wrong) == 1 else f"recipe: {len(wrong)} problems"
        return "" if self.training.algorithms else "empty recipe"

    def to_request(self) -> dict[str, Any]:
        """Return what the description process must know to make it."""
        return {
            "name": self.name,
            "env_id": self.env_id,
            "module": None if self.module is None else str(self.module),
            "class_name": self.class_name or None,
            "env_cfg": dict(self.env_cfg),
            "origin": self.origin,
        }


def one_line(text: str) -> str:
    """Return a description as one line of signs that can be shown, whatever its file holds."""
    return "".join(sign for sign in " ".join(text.split()) if sign.isprintable())


def gymnasium_entry(env_id: str, entry_point: str = "", **fields: Any) -> Entry:
    """Return the entry of a plain Gymnasium ID."""
    stem = gymnasium_stem(env_id)
    return Entry(stem, env_id, entry_point, None, stem, origin="gymnasium", **fields)


@dataclass(frozen=True)
class BrokenFile:
    """A file that could not be read, and so hides what it may hold; it hides nothing else."""

    path: Path
    origin: Origin
    problems: tuple[Problem, ...]

    @property
    def name(self) -> str:
        """What its environment would be found by."""
        return self.path.stem.removesuffix("_env")


@dataclass(frozen=True)
class IgnoredFile:
    """A file that looks as if it belonged to the catalogue and does not, with the reason."""

    path: Path
    reason: str
    nearest: str | None = None
    """The nearest name that would be taken."""

    def problem(self, severity: Literal["error", "warning"] = "warning") -> Problem:
        """Return it as a problem of its file."""
        return Problem("", self.reason, self.nearest, self.path, severity=severity)
