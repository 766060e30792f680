"""The recipe folder of a catalogue: which recipe belongs to which environment, and which to none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench.catalog.entries import Entry, IgnoredFile
from workbench.catalog.variants import Variant, read_variant
from workbench.catalog.walking import visible_files
from workbench.errors import Problem
from workbench.specs import RECIPE_SUFFIX, Recipe, read_recipe
from workbench.suggest import nearest_one

BENCHMARK_SUFFIX = ".benchmark.json"
GYMNASIUM_FOLDER = "gymnasium"
SCHEMA_FILE = "recipe.schema.json"


@dataclass(frozen=True)
class RecipeShelf:
    """The recipes of one folder, by the stem of the environment they are for."""

    training: Mapping[str, Recipe] = field(default_factory=dict)
    benchmarks: Mapping[str, Variant] = field(default_factory=dict)
    gymnasium: Mapping[str, Recipe] = field(default_factory=dict)
    """By the stem of a plain Gymnasium ID."""
    ignored: tuple[IgnoredFile, ...] = ()
    problems: tuple[Problem, ...] = ()

    def orphans(self, stems: Iterable[str], tests: Iterable[Entry]) -> list[IgnoredFile]:
        """Return the recipes that no environment bears the name of."""
        known, hidden = set(stems), {entry.file_stem for entry in tests}
        found: list[IgnoredFile] = []
        for shelf, suffix in ((self.training, RECIPE_SUFFIX), (self.benchmarks, BENCHMARK_SUFFIX)):
            for stem, recipe in shelf.items():
                if stem in hidden:
                    reason = "belongs to a variant that is for tests only and never trained"
                    found.append(IgnoredFile(recipe.path, reason))
                elif stem not in known:
                    near = nearest_one(stem, known - hidden)
                    reason = f"belongs to no environment: there is no {stem}.py and no variant {stem}.json"
                    found.append(IgnoredFile(recipe.path, reason, f"{near}{suffix}" if near else None))
        return found


def read_shelf(folder: Path) -> RecipeShelf:
    """Read every recipe of a folder and of those below it."""
    training: dict[str, Recipe] = {}
    gymnasium: dict[str, Recipe] = {}
    benchmarks: dict[str, Variant] = {}
    ignored: list[IgnoredFile] = []
    problems: list[Problem] = []
    files, unreadable = visible_files(folder)
    problems += unreadable
    for path in files:
        if path.suffix != ".json" or path.name == SCHEMA_FILE:
            continue
        first: Recipe | Variant | None = None
        if path.name.endswith(RECIPE_SUFFIX):
            shelf = gymnasium if GYMNASIUM_FOLDER in path.relative_to(folder).parts[:-1] else training
            recipe = read_recipe(path)
            first = shelf.setdefault(recipe.stem, recipe)
        elif path.name.endswith(BENCHMARK_SUFFIX):
            first = benchmarks.setdefault(path.name.removesuffix(BENCHMARK_SUFFIX), read_variant(path))
        else:
            reason = f"is no recipe: one is called MODULE{RECIPE_SUFFIX} or MODULE_VARIANT{RECIPE_SUFFIX}"
            ignored.append(IgnoredFile(path, reason))
        if first is not None and first.path != path:
            problems.append(Problem("name", f"is the same as that of {first.path}: one of them must go", path=path))
    return RecipeShelf(training, benchmarks, gymnasium, tuple(ignored), tuple(problems))
