"""`workbench resume`: a paused run goes on, and one that was stopped, killed or cut off does in its own folder."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import RequestError
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
    from workbench.runs import RunState, find_run, observe
    from workbench.runs.resuming import resume_run
    from workbench.verbs.run_text import write_line

    found = find_run(args.output_dir or project.runs, args.run)
    if observe(found).state is RunState.PAUSED:
        return _let_on(found, args)
    if args.detach:
        resumed = resume_run(found, max_steps=args.max_steps)
        _tell(resumed)
        if args.json:
            write_json({"runs": [_as_json(resumed)]})
        else:
            write_line(str(found.path), sys.stdout)
        return 0
    return _follow(found, args.max_steps, as_json=args.json)


def _let_on(found: RunDirectory, args: argparse.Namespace) -> int:
    """Let a paused run go on; it was followed by whoever started it, so nobody follows it from here."""
    from workbench.runs.steering import unpause_run
    from workbench.verbs.steering import TIMEOUT_S, Outcome, ask, tell

    if args.max_steps is not None:
        hint = f"`workbench set {found.short_id} total_steps={args.max_steps}` gives it another budget."
        raise RequestError(f"{found.name} is paused, and --max-steps is for one that has ended.", hint=hint)

    def done(outcome: Outcome) -> str:
        return outcome.reason or "goes on"

    return tell(ask([found], unpause_run, TIMEOUT_S), done, as_json=args.json)


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
