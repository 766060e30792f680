"""Every fault of every file, at once: what the names and the syntax show, and what making the environments shows."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.catalog.catalogue import GLOB_SIGNS, Catalog
from workbench.catalog.descriptions import Description, fault_problems, request_descriptions
from workbench.catalog.entries import Entry
from workbench.catalog.variants import read_variant
from workbench.errors import NotFoundError, Problem, RequestError
from workbench.specs import errors_of


@dataclass(frozen=True)
class Report:
    """What was looked at, and what was found."""

    problems: tuple[Problem, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    """How many modules, variants, recipes and other files were looked at."""

    @property
    def errors(self) -> int:
        """How many of the problems are errors."""
        return len(errors_of(self.problems))

    @property
    def warnings(self) -> int:
        """How many of the problems only warn."""
        return len(self.problems) - self.errors


def check(catalog: Catalog, pattern: str | None = None, *, make: bool = True) -> Report:
    """Check what `pattern` names, or everything.

    Args:
        catalog: What was discovered.
        pattern: A name, the beginning of one, or a glob, of environments or files.
        make: Whether the environments are made too, by the description process, which finds what only running shows.

    Raises:
        NotFoundError: The pattern matches nothing.
    """
    entries = [
        entry for entry in (*catalog.entries, *catalog.test_only) if matches(pattern, (*entry.names, *_files(entry)))
    ]
    broken = [file for file in catalog.broken if matches(pattern, (file.name, file.path.name))]
    ignored = [file for file in catalog.ignored if matches(pattern, (file.path.name,))]
    orphans = [file for file in catalog.orphans if matches(pattern, (file.path.name,))]
    if pattern is not None and not (entries or broken or ignored or orphans):
        _refuse(catalog, pattern)
    if make:
        entries = _made(entries, catalog)
    problems = [problem for entry in entries for problem in entry.problems]
    problems += [problem for file in broken for problem in file.problems]
    problems += [file.problem("error") for file in orphans] + [file.problem() for file in ignored]
    if pattern is None:
        problems += catalog.problems
    paths = {path for entry in entries for path in (entry.module, entry.variant_file, entry.recipe) if path is not None}
    paths |= {file.path for file in broken} | {file.path for file in (*orphans, *ignored)}
    counts = {
        "environments": len(entries),
        "modules": sum(path.suffix == ".py" for path in paths),
        "variants": len({entry.variant_file for entry in entries} - {None}),
        "recipes": len({entry.recipe for entry in entries} - {None}) + len(orphans),
        "files": len(paths),
    }
    return Report(tuple(_in_order(problems)), counts)


def _made(entries: Sequence[Entry], catalog: Catalog) -> list[Entry]:
    """Have environments made, and return each with what that showed."""
    modules = {entry.module for entry in entries}
    every = (*catalog.entries, *catalog.test_only)
    # A class as it is tells which faults of its variants are theirs.
    alone = [entry for entry in every if entry.variant is None and entry.module in modules and entry not in entries]
    descriptions = request_descriptions([*entries, *alone])
    made = with_told_faults([*entries, *alone], descriptions)[: len(entries)]
    return [entry if entry.env_id in descriptions else _with(entry, _never_made(entry)) for entry in made]


def _never_made(entry: Entry) -> Problem:
    message = "could not be made: the process that made it ended or did not come back"
    return Problem(entry.name, message, path=entry.variant_file or entry.module or entry.recipe)


def with_told_faults(entries: Iterable[Entry], descriptions: Mapping[str, Description]) -> list[Entry]:
    """Return the entries, each with the faults that its description tells.

    Args:
        entries: Environments and variants.
        descriptions: By ID, as far as they are known.
    """
    given = list(entries)
    alone = {(entry.module, entry.class_name): entry for entry in given if entry.variant is None}
    return [_with(entry, *_told(entry, alone.get((entry.module, entry.class_name)), descriptions)) for entry in given]


def _told(entry: Entry, alone: Entry | None, descriptions: Mapping[str, Description]) -> Iterator[Problem]:
    """Yield what is wrong with an entry; what only its configuration brings about stands with its own file."""
    described = descriptions.get(entry.env_id)
    base = None if alone is None else descriptions.get(alone.env_id)
    known = {(problem.path, problem.key) for problem in entry.problems}
    of_class = [] if alone is None or base is None else fault_problems(alone, base)
    for problem in [] if described is None else fault_problems(entry, described):
        same = [item for item in of_class if alone and item.message == problem.message.replace(entry.name, alone.name)]
        if (problem.path, problem.key) in known:
            continue
        if same or entry.variant_file is None or base is None or problem.path != entry.module:
            yield from same or [problem]
        else:
            document = read_variant(entry.variant_file).document
            configured = Problem("env_cfg", f"does not work: {problem.message}", path=entry.variant_file)
            yield configured if document is None else document.at(configured)


def _with(entry: Entry, *problems: Problem) -> Entry:
    return replace(entry, problems=(*entry.problems, *problems)) if problems else entry


def _files(entry: Entry) -> list[str]:
    return [path.name for path in (entry.module, entry.variant_file, entry.recipe) if path is not None]


def matches(pattern: str | None, names: Iterable[str]) -> bool:
    """Say whether one of `names` is meant by `pattern`: a glob, or the beginning of the name; None means all."""
    if pattern is None:
        return True
    if any(sign in pattern for sign in GLOB_SIGNS):
        return any(fnmatch.fnmatchcase(name, pattern) for name in names)
    # A path that the shell completed names its file.
    wanted = Path(pattern).name.lower() if pattern.endswith((".py", ".json")) else pattern.lower()
    return any(name.lower().startswith(wanted) for name in names)


def _refuse(catalog: Catalog, pattern: str) -> None:
    try:
        catalog.find(pattern)
    except NotFoundError:
        raise
    except RequestError:
        pass
    raise NotFoundError(f"nothing to check matches `{pattern}`.", hint="Without a pattern everything is checked.")


def _in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Return each problem once, by file and line; one fault of a module is not told again for each of its variants."""
    once = {(problem.path, problem.key, problem.line, problem.message): problem for problem in problems}
    return sorted(once.values(), key=lambda problem: (str(problem.path or ""), problem.line or 0, problem.key))
