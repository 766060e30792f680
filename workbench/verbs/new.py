"""`workbench new env`: the files of an environment of one's own, to begin with."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.project import Project
from workbench.verbs.writing import write_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `new`."""
    parser.add_argument("what", choices=["env"], help="env: module, variant, recipe, test, and a model")
    parser.add_argument("name", metavar="NAME", help="its short name, in snake_case: pole_arm")
    parser.add_argument(
        "--model", metavar="FILE", type=Path, help="your MJCF file; without one a small model is written"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace, project: Project) -> int:
    """Write the files and say what to do next."""
    from workbench.catalog import discover
    from workbench.scaffold import plan_environment, write_files

    taken = [entry.name for entry in discover(project).entries]
    new = plan_environment(project, args.name, args.model, taken)
    write_files(new.files)
    shown = [str(path.relative_to(project.root)) for path in new.files]
    if args.json:
        write_json({"name": new.name, "env_id": new.env_id, "files": shown})
        return 0
    for path in shown:
        print(path)  # noqa: T201
    print(  # noqa: T201
        f"\nNext:\n  workbench preview {new.name}   # does it rest, move and train?\n"
        f"  workbench train {new.name}     # then: workbench play {new.name}"
    )
    return 0
