"""From files to a catalogue: names and syntax trees are read, nothing is imported.

Whatever is wrong with one file stays with that file: it becomes a row of its own, and everything else is found.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.catalog.catalogue import Catalog
from workbench.catalog.entries import BrokenFile, Entry, IgnoredFile, one_line
from workbench.catalog.names import MODULE_SUFFIX, environment_id, is_test_variant, short_name, variant_fault
from workbench.catalog.recipes import RecipeShelf, read_shelf
from workbench.catalog.registry import GymnasiumRegistry, gymnasium_entries
from workbench.catalog.sources import Source, find_sources
from workbench.catalog.syntax import EnvClass, EnvModule, read_module
from workbench.catalog.variants import Variant, read_variant, unknown_keys
from workbench.catalog.walking import visible_files
from workbench.errors import Problem
from workbench.project import Project


@dataclass
class _Found:
    """What one catalogue folder held."""

    entries: list[Entry] = field(default_factory=list)
    broken: list[BrokenFile] = field(default_factory=list)
    ignored: list[IgnoredFile] = field(default_factory=list)
    stems: set[str] = field(default_factory=set)
    """Stems that recipes may have; those of broken modules too, whose recipes are no orphans."""


def discover(project: Project) -> Catalog:
    """Return all that the project, workbench and installed packages offer, and every file that offers nothing."""
    sources, problems = find_sources(project)
    shelves = {source.recipes: read_shelf(source.recipes) for source in sources}
    own = shelves.get(project.recipes) or read_shelf(project.recipes)
    registry = GymnasiumRegistry.cached()
    entries: list[Entry] = []
    broken: list[BrokenFile] = []
    ignored: list[IgnoredFile] = []
    orphans: list[IgnoredFile] = []
    stems: set[str] = set()
    tests: list[Entry] = []
    for source in sources:
        found = _read_source(source)
        shelf = shelves[source.recipes]
        entries += [_with_recipes(entry, (own, shelf)) for entry in found.entries if not entry.test_only]
        tests += [entry for entry in found.entries if entry.test_only]
        broken += found.broken
        ignored += found.ignored
        stems |= found.stems
        if shelf is not own:
            orphans += shelf.orphans(found.stems, [entry for entry in found.entries if entry.test_only])
    orphans += own.orphans(stems, tests)
    shelves_in_use = list({id(shelf): shelf for shelf in (own, *shelves.values())}.values())
    plain, lost = gymnasium_entries(shelves_in_use, registry)
    for shelf in shelves_in_use:
        ignored += shelf.ignored
        problems += shelf.problems
    entries, clashes = _collisions([*entries, *plain])
    problems += _shared_recipes(entries)
    return Catalog(
        entries=tuple(entries),
        test_only=tuple(tests),
        broken=tuple(broken),
        ignored=tuple(ignored),
        orphans=(*orphans, *lost),
        problems=(*problems, *clashes),
        registry=registry,
    )


def _read_source(source: Source) -> _Found:
    found = _Found()
    files, unreadable = visible_files(source.envs)
    found.broken += [BrokenFile(problem.path or source.envs, source.origin, (problem,)) for problem in unreadable]
    modules = [path for path in files if path.name.endswith(f"{MODULE_SUFFIX}.py")]
    documents: dict[Path, list[Path]] = defaultdict(list)
    for path in files:
        if path.suffix == ".json":
            documents[path.parent].append(path)
    taken: set[Path] = set()
    for path in modules:
        variants = dict(_variant_files(path, documents[path.parent]))
        taken.update(variants.values())
        found.stems |= {path.stem, *(f"{path.stem}_{variant}" for variant in variants)}
        _read_module(path, variants, source, found)
    homes = {path.parent for path in modules}
    found.ignored += [
        _ignored(path, [module for module in modules if module.parent == path.parent])
        for folder, paths in documents.items()
        for path in paths
        if path not in taken and (folder in homes or MODULE_SUFFIX in path.name)
    ]
    return found


def _variant_files(module: Path, documents: Iterable[Path]) -> Iterator[tuple[str, Path]]:
    prefix = f"{module.stem}_"
    for path in documents:
        variant = path.name.removesuffix(".json").removeprefix(prefix)
        if path.name.startswith(prefix) and variant_fault(variant) is None:
            yield variant, path


def _ignored(path: Path, modules: Sequence[Path]) -> IgnoredFile:
    """Say why a JSON file beside environments configures none."""
    if path.name.endswith((".train.json", ".benchmark.json")):
        return IgnoredFile(path, "recipes are read from the folder recipes/, not from beside the environment")
    near = [module for module in modules if path.name.startswith(f"{module.stem}_")]
    if near:
        module = max(near, key=lambda candidate: len(candidate.stem))
        fault = variant_fault(path.name.removesuffix(".json").removeprefix(f"{module.stem}_"))
        return IgnoredFile(path, f"is no variant of {module.name}: {fault}")
    module_name = path.name.partition(f"{MODULE_SUFFIX}_")[0] + MODULE_SUFFIX
    if MODULE_SUFFIX in path.name:
        return IgnoredFile(path, f"is a variant of no module: there is no {module_name}.py beside it")
    return IgnoredFile(path, "is no variant: one is called MODULE_VARIANT.json after the module beside it")


def _read_module(path: Path, variants: dict[str, Path], source: Source, found: _Found) -> None:
    module = read_module(path)
    if module.problems:
        found.broken.append(BrokenFile(path, source.origin, module.problems))
        return
    if not module.classes or path.stem == MODULE_SUFFIX:
        found.ignored.append(IgnoredFile(path, f"defines no environment: {_why_none(module)}"))
        found.ignored += [IgnoredFile(file, f"{path.name} defines no environment") for file in variants.values()]
        return
    contents = {variant: read_variant(file) for variant, file in variants.items()}
    for env_class in module.classes:
        found.entries.append(_entry(module, env_class, source))
        found.entries += [
            _entry(module, env_class, source, name=variant, variant=content) for variant, content in contents.items()
        ]


def _why_none(module: EnvModule) -> str:
    if module.classes:
        return f"a module with environments is called NAME{MODULE_SUFFIX}.py"
    reasons = module.passed_over
    if len(reasons) == 1:
        return reasons[0]
    wanted = "a class named …Env, with a base and no abstract method of its own"
    return f"{wanted}; {'; '.join(reasons)}" if reasons else f"it has no class; one is {wanted}"


def _entry(
    module: EnvModule, env_class: EnvClass, source: Source, *, name: str | None = None, variant: Variant | None = None
) -> Entry:
    described = "" if variant is None else variant.description
    return Entry(
        name=short_name(env_class.name, name),
        env_id=environment_id(env_class.name, name),
        class_name=env_class.name,
        module=module.path,
        stem=module.path.stem,
        variant=name,
        env_cfg={} if variant is None else variant.env_cfg,
        description=one_line(described or env_class.summary),
        origin=source.origin,
        test_only=is_test_variant(name),
        problems=() if variant is None else (*variant.problems, *unknown_keys(variant, env_class.config)),
        line=env_class.line,
        variant_file=None if variant is None else variant.path,
        assets=source.assets,
        config=env_class.config,
    )


def _with_recipes(entry: Entry, shelves: Iterable[RecipeShelf]) -> Entry:
    """Give an entry the recipe that bears its name; the project's own holds before the one that came with it."""
    for shelf in shelves:
        training = shelf.training.get(entry.file_stem)
        if training is not None and entry.training is None:
            problems = (*entry.problems, *training.problems)
            entry = dataclasses.replace(entry, recipe=training.path, training=training, problems=problems)
        benchmark = shelf.benchmarks.get(entry.file_stem)
        if benchmark is not None and entry.benchmark is None:
            problems = (*entry.problems, *benchmark.problems, *unknown_keys(benchmark, entry.config))
            entry = dataclasses.replace(entry, benchmark=benchmark.path, problems=problems)
    return entry


def _collisions(entries: Sequence[Entry]) -> tuple[list[Entry], list[Problem]]:
    """Find entries that share a name or an ID; each of them gets the problem, which names the other's file."""
    groups: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        for name in dict.fromkeys((entry.name, entry.env_id)):
            groups[name].append(entry)
    clashes: dict[int, Problem] = {}
    for name, sharing in groups.items():
        if len(sharing) < 2:
            continue
        files = [str(file) for file in dict.fromkeys(_file(entry) for entry in sharing)]
        for entry in sharing:
            message = f"is the name of {len(sharing)} environments: {' and '.join(files)}"
            # The line is that of the class, which a variant's own file does not have.
            line = entry.line if entry.variant_file is None else None
            clashes.setdefault(id(entry), Problem(name, message, path=_file(entry), line=line))
    marked = [
        dataclasses.replace(entry, problems=(*entry.problems, clashes[id(entry)])) if id(entry) in clashes else entry
        for entry in entries
    ]
    return marked, list({problem.key: problem for problem in reversed(clashes.values())}.values())


def _shared_recipes(entries: Iterable[Entry]) -> list[Problem]:
    """Find recipes that modules of one name in different folders would share: nobody could tell whose they are."""
    modules: dict[Path, list[Path]] = defaultdict(list)
    for entry in entries:
        if entry.recipe is not None and entry.module is not None and entry.module not in modules[entry.recipe]:
            modules[entry.recipe].append(entry.module)
    return [
        Problem("", f"is the recipe of {len(shared)} modules: {' and '.join(map(str, shared))}", path=recipe)
        for recipe, shared in modules.items()
        if len(shared) > 1
    ]


def _file(entry: Entry) -> Path | None:
    return entry.variant_file or entry.module
