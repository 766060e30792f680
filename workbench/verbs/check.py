"""`workbench check`: every fault of every environment, variant and recipe file."""

from __future__ import annotations

import argparse

from workbench.project import Project
from workbench.verbs.writing import write_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `check`."""
    parser.add_argument("pattern", nargs="?", metavar="PATTERN", help="a name, the beginning of one, a file, or a glob")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace, project: Project) -> int:
    """Print the faults; 1 where there is an error among them."""
    from workbench.catalog import discover
    from workbench.catalog.checking import check
    from workbench.verbs.list import problem_json, problem_line

    report = check(discover(project), args.pattern)
    if args.json:
        problems = [problem_json(problem) for problem in report.problems]
        totals = {"errors": report.errors, "warnings": report.warnings}
        write_json({"checked": report.counts, **totals, "problems": problems}, indent=2)
        return 1 if report.errors else 0
    for problem in report.problems:
        print(f"{problem.severity:<7}  {problem_line(problem, project)}")  # noqa: T201
    looked = ", ".join(f"{count} {_counted(name, count)}" for name, count in report.counts.items())
    found = f"{report.errors} {_counted('errors', report.errors)}, {report.warnings} "
    print(f"{looked} checked: {found}{_counted('warnings', report.warnings)}.")  # noqa: T201
    return 1 if report.errors else 0


def _counted(plural: str, count: int) -> str:
    return plural.removesuffix("s") if count == 1 else plural
