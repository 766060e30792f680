"""`workbench resume`: a run that was stopped, killed or cut off goes on in its own folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.project import Project
from workbench.verbs.numbers import NUMBER_HINT, whole_number
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.runs import RunDirectory
    from workbench.runs.resuming import Resumption


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `resume`."""
    parser.add_argument("run", metavar="RUN", help="full name, last four digits, or a prefix into the date")
    parser.add_argument(
        "--max-steps",
        type=whole_number,
        metavar="N",
        help=f"train to N steps in all, {NUMBER_HINT}; schedules stretch to N; a finished run needs it",
    )
    parser.add_argument("--detach", action="store_true", help="print the run's folder and return; it trains on")
    parser.add_argument("-o", "--output-dir", type=Path, metavar="DIR", help="folder of runs (default: the project's)")
    parser.add_argument("--json", action="store_true", help="print one JSON document; progress goes to stderr")


def run(args: argparse.Namespace, project: Project) -> int:
    """Resume, and return 0 where the run ended as asked, 1 where it failed or crashed, 130 after a second Ctrl-C."""
    from workbench.runs import find_run
    from workbench.runs.resuming import resume_run
    from workbench.verbs.run_text import write_line

    found = find_run(args.output_dir or project.runs, args.run)
    if args.detach:
        resumed = resume_run(found, max_steps=args.max_steps)
        _tell(resumed)
        if args.json:
            write_json({"runs": [_as_json(resumed)]})
        else:
            write_line(str(found.path), sys.stdout)
        return 0
    return _follow(found, args.max_steps, as_json=args.json)


def _follow(found: RunDirectory, max_steps: int | None, *, as_json: bool) -> int:
    from workbench.runs import RunStore
    from workbench.runs.resuming import resume_run
    from workbench.verbs.following import Interrupts, follow
    from workbench.verbs.run_text import ending_lines, write_line

    with Interrupts() as interrupts:
        _tell(resume_run(found, max_steps=max_steps))
        followed = follow([found], RunStore(found.runs_root), interrupts, sys.stderr)
    if followed.was_left:
        write_line("Left stopping; `workbench runs` shows it.", sys.stderr)
    if as_json:
        write_json({"runs": [row.to_json() for row in followed.rows]})
    else:
        for row in followed.rows:
            if row.state.is_ended:
                for line in ending_lines(row):
                    write_line(line, sys.stdout)
    return 130 if followed.was_left else int(any(row.state.is_bad for row in followed.rows))


def _tell(resumed: Resumption) -> None:
    from workbench.verbs.run_text import write_line

    where = "from its beginning" if resumed.checkpoint is None else f"from {resumed.checkpoint.steps} steps"
    write_line(f"{resumed.run.name} goes on {where}", sys.stderr)
    for note in resumed.notes:
        write_line(note, sys.stderr)


def _as_json(resumed: Resumption) -> dict[str, object]:
    run, checkpoint = resumed.run, resumed.checkpoint
    return {
        "id": run.short_id,
        "name": run.name,
        "path": str(run.path),
        "from_steps": 0 if checkpoint is None else checkpoint.steps,
        "notes": list(resumed.notes),
    }
