"""`workbench prune`: throw checkpoints away that nobody needs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.project import Project
from workbench.verbs.numbers import whole_number
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.runs.pruning import Pruned, PrunePlan


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `prune`."""
    parser.description = (
        "Throw checkpoints away. Best, latest, pinned ones and where the run began always stay, and so does what "
        "another run is to begin from."
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="full name, last four digits, or a prefix into the date")
    parser.add_argument("--keep", type=whole_number, default=0, metavar="N", help="keep the N newest too")
    parser.add_argument("--every", type=whole_number, metavar="K", help="keep every K-th too")
    parser.add_argument("--dry-run", action="store_true", help="say what would go, and delete nothing")
    parser.add_argument("-o", "--output-dir", type=Path, metavar="DIR", help="folder of runs (default: the project's)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace, project: Project) -> int:
    """Prune, and return 0, or 1 where a checkpoint could not be deleted."""
    from workbench.runs import find_run
    from workbench.runs.pruning import plan_pruning, prune
    from workbench.verbs.run_text import write_line

    runs_root: Path = args.output_dir or project.runs
    found = dict.fromkeys(find_run(runs_root, name) for name in args.runs)
    plans = [plan_pruning(one, keep=args.keep, every=args.every) for one in found]
    done = [None if args.dry_run else prune(plan) for plan in plans]
    if args.json:
        write_json({"runs": [_as_json(plan, after) for plan, after in zip(plans, done, strict=True)]})
    else:
        for plan, after in zip(plans, done, strict=True):
            for line in _lines(plan, after):
                write_line(line, sys.stdout)
    return int(any(after is not None and after.failed for after in done))


def _lines(plan: PrunePlan, done: Pruned | None) -> list[str]:
    from workbench.formatting import amount, plural, size

    title = f"{plan.run.short_name} {plan.run.short_id}"
    total = len(plan.goes) + len(plan.stays)
    if done is not None:
        lines = [f"{title}: {len(done.gone)} of {plural(total, 'checkpoint')} deleted, {size(done.freed)} freed"]
        lines += [f"  {item.path.name} stays: {why}" for item, why in done.spared]
        return lines + [f"  {item.path.name} cannot be deleted: {why}" for item, why in done.failed]
    lines = [f"{title}: {len(plan.goes)} of {plural(total, 'checkpoint')} would go, {size(plan.frees)}"]
    if plan.goes:
        lines.append(f"  goes   {', '.join(amount(item.steps) for item in plan.goes)}")
    return lines + [f"  stays  {amount(item.steps)}: {why}" for item, why in plan.stays]


def _as_json(plan: PrunePlan, done: Pruned | None) -> dict[str, object]:
    gone = plan.goes if done is None else done.gone
    spared = () if done is None else done.spared
    return {
        "id": plan.run.short_id,
        "name": plan.run.name,
        "is_dry_run": done is None,
        "gone": [item.steps for item in gone],
        "stays": {str(item.steps): why for item, why in sorted((*plan.stays, *spared), key=lambda pair: pair[0].steps)},
        "failed": {} if done is None else {str(item.steps): why for item, why in done.failed},
        "bytes": plan.frees if done is None else done.freed,
    }
