"""`workbench export`: carry a policy away, as a program that proves itself."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.policies.export.formats import FORMATS
from workbench.project import Project
from workbench.verbs.signals import interrupted_by_sigterm
from workbench.verbs.writing import write_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `export`."""
    add = parser.add_argument
    add("checkpoint", metavar="CKPT", help="a path, RUN, RUN:best, RUN:latest, RUN:STEPS, or an environment's name")
    add(
        "--format",
        choices=FORMATS,
        required=True,
        help="one program with the normaliser and the action map inside, or the files that Stable-Baselines3 saves",
    )
    add(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help="the folder (default: exports/ENVIRONMENT_RUN_STEPS_FORMAT of the project)",
    )
    add("--env", metavar="ENV", help="the environment, where the policy is another tool's and does not say")
    add("--sampling", action="store_true", help="add a program that takes noise too, and gives samples")
    add("--force", action="store_true", help="replace an earlier export in that folder")
    add("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace, project: Project) -> int:
    """Export, print the folder, and return 0; 1 where the program acts otherwise than the policy."""
    from workbench.policies.export import export

    with interrupted_by_sigterm():
        exported = export(
            args.checkpoint,
            args.format,
            output=args.output,
            environment=args.env,
            sampling=args.sampling,
            force=args.force,
            project=project,
        )
    document = exported.manifest
    if args.json:
        write_json(
            {
                "folder": str(exported.folder),
                "format": exported.format,
                "files": list(exported.files),
                "program": str(exported.program),
                "opset": document["export"].get("opset"),
                "max_difference": exported.max_difference,
                "golden": document["golden"],
                "notes": document["export"]["notes"],
            }
        )
        return 0
    opset = document["export"].get("opset")
    about = f"{exported.program.name}{'' if opset is None else f', opset {opset}'}"
    difference = f"largest difference {exported.max_difference:.1e} over {document['golden']['count']} golden vectors"
    for line in (f"{about}: {difference}", *document["export"]["notes"]):
        sys.stderr.write(f"{line}\n")
    sys.stdout.write(f"{exported.folder}\n")
    return 0
