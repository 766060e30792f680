"""Every fault of every file, at once: what the names and the syntax show, and what making the environments shows."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from workbench.catalog.catalogue import GLOB_SIGNS, Catalog
from workbench.catalog.descriptions import fault_problems, request_descriptions
from workbench.catalog.entries import Entry
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
    problems = [problem for entry in entries for problem in entry.problems]
    problems += [problem for file in broken for problem in file.problems]
    problems += [file.problem("error") for file in orphans] + [file.problem() for file in ignored]
    if pattern is None:
        problems += catalog.problems
    if make:
        problems += _found_by_making(entries)
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


def _found_by_making(entries: Iterable[Entry]) -> list[Problem]:
    made = list(entries)
    descriptions = request_descriptions(made)
    problems: list[Problem] = []
    for entry in made:
        description = descriptions.get(entry.env_id)
        if description is not None:
            problems += fault_problems(entry, description)
        else:
            message = "could not be made: the process that made it ended or did not come back"
            problems.append(Problem(entry.name, message, path=entry.variant_file or entry.module or entry.recipe))
    return problems


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
    once = {(problem.path, problem.key, problem.line): problem for problem in reversed(list(problems))}
    return sorted(once.values(), key=lambda problem: (str(problem.path or ""), problem.line or 0, problem.key))
