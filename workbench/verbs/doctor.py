"""`workbench doctor`: what works on this machine, and the line that mends what does not."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING

from workbench.project import Project
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.ui.graphics.terminal import Offered
    from workbench.viewer.diagnosis import Finding


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `doctor`."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.epilog = "Exit code 0 where training and recording work, else 1."


def run(args: argparse.Namespace, project: Project) -> int:
    """Try everything out; 1 where training or recording will not work."""
    from workbench.ui.graphics.terminal import ask
    from workbench.viewer.diagnosis import diagnose

    findings = [*diagnose(project.root), pictures_in_the_terminal(ask())]
    works = all(finding.state != "broken" for finding in findings)
    if args.json:
        document = {"works": works, "findings": [dataclasses.asdict(finding) for finding in findings]}
        write_json(document, indent=2)
        return 0 if works else 1
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        print(f"{finding.state:<6}  {finding.name:<{width}}  {finding.detail}")  # noqa: T201
        if finding.fix:
            print(f"{'':<6}  {'':<{width}}  {finding.fix}")  # noqa: T201
    missed = sum(finding.state == "absent" for finding in findings)
    if not works:
        print("Training or recording will not work until what is broken is mended.")  # noqa: T201
    else:
        print(f"Training and recording work{'' if not missed else '; what is absent is not needed for them'}.")  # noqa: T201
    return 0 if works else 1


def pictures_in_the_terminal(offered: Offered) -> Finding:
    """Return how this terminal can show previews, and what to write into the settings for it."""
    from workbench.viewer.diagnosis import Finding

    name = "previews"
    if not offered.answered:
        return Finding(name, "ok", "half blocks; here is no terminal that tells what else it can do")
    kinds = [kind for kind, has_it in (("kitty", offered.kitty), ("sixel", offered.sixel)) if has_it]
    if not kinds:
        return Finding(name, "ok", "half blocks; this terminal has neither kitty's pictures nor sixels")
    cell = "of unknown size" if offered.cell is None else f"of {offered.cell[0]}x{offered.cell[1]} pixels"
    detail = f"half blocks, and {' and '.join(kinds)}; cells {cell}"
    return Finding(name, "ok", detail, 'preview = "auto" in the settings (App: Settings) shows real pictures.')
