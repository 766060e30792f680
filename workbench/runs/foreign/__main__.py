"""`python -m workbench.runs.foreign PROJECT`: bring the mirrors of foreign runs up to date, or keep them so.

With `--follow` it goes on until its standard input ends, so that it never outlives the app that started it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import sys
from collections.abc import Sequence

from workbench.errors import WorkbenchError
from workbench.project import Project, open_project
from workbench.runs.foreign.converter import Converter

POLL_S = 1.0
_NICENESS = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Convert and return 0, or 1 where a run could not be read."""
    parser = argparse.ArgumentParser(prog="python -m workbench.runs.foreign", description=__doc__)
    parser.add_argument("project", metavar="PROJECT")
    parser.add_argument("--follow", action="store_true", help="go on until standard input ends")
    options = parser.parse_args(arguments)
    try:
        project = open_project(options.project)
        with Converter(project) as converter:
            return _follow(converter, project) if options.follow else _tell(converter.refresh().problems, set())
    except (OSError, WorkbenchError) as error:
        print(f"{error}", file=sys.stderr)  # noqa: T201
        return 1
    except KeyboardInterrupt:
        return 130


def _follow(converter: Converter, project: Project) -> int:
    # Training comes first on a machine that has few cores.
    with contextlib.suppress(OSError):
        os.nice(_NICENESS)
    told: set[str] = set()
    while project.root.is_dir():
        try:
            _tell(converter.refresh().problems, told)
        except OSError as error:
            # A disk that is full now may not be in a moment.
            _tell([str(error)], told)
        ready, _, _ = select.select([sys.stdin], [], [], POLL_S)
        if ready and not os.read(sys.stdin.fileno(), 4096):
            return 0
    return 0


def _tell(problems: Sequence[str], told: set[str]) -> int:
    for problem in problems:
        if problem not in told:
            told.add(problem)
            print(problem, file=sys.stderr)  # noqa: T201
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
