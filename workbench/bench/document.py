"""What a measurement is written down as: its rows, and the machine, versions, date and command they came from.

Every row has a `name`, a `value`, and `at_most` where less is better; whatever else it has, two documents of one kind
can be compared by these.
"""

from __future__ import annotations

import os
import platform
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import psutil

from workbench.durable import read_json
from workbench.errors import RequestError
from workbench.project import shipped_project
from workbench.runs.record import surroundings

FORMAT = 1

Kind = Literal["environments", "training", "check"]


def make_document(kind: Kind, rows: Sequence[Mapping[str, Any]], **more: Any) -> dict[str, Any]:
    """Return rows with all that must be known to read them.

    Args:
        kind: What was measured.
        rows: The figures.
        more: Whatever else the document says.
    """
    about = surroundings(shipped_project().runs)
    return {
        "format": FORMAT,
        "kind": kind,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(about["created"])),
        "command": _command(),
        "machine": {
            **about["machine"],
            "memory_bytes": psutil.virtual_memory().total,
            "system": f"{platform.system()} {platform.machine()}",
            "load": load(),
        },
        "versions": about["versions"],
        "git": about["git"],
        **more,
        "rows": [dict(row) for row in rows],
    }


def read_document(path: Path) -> dict[str, Any]:
    """Return a document that was written earlier.

    Raises:
        RequestError: The file is not one.
    """
    if not path.is_file():
        raise RequestError(f"there is no file {path}.")
    document = read_json(path)
    rows = document.get("rows") if isinstance(document, dict) else None
    if (
        not isinstance(document, dict)
        or not isinstance(rows, list)
        or not all(isinstance(row, dict) and isinstance(row.get("name"), str) for row in rows)
    ):
        raise RequestError(f"{path} holds no measurements.", hint="`workbench bench … -o FILE` writes such a file.")
    return {"kind": "", "machine": {}, **document}


def _command() -> str:
    """Return the command line of this process as a person would type it; a path of this machine by its name alone."""
    program = Path(sys.argv[0])
    if program.suffix != ".py":
        words = [program.name]
    elif program.stem == "__main__":
        words = ["workbench"]
    else:
        words = ["python", str(program)]
    return shlex.join([*words, *(Path(word).name if Path(word).is_absolute() else word for word in sys.argv[1:])])


def load() -> float | None:
    """Return how many processes wanted to run in the last minute, where the system tells."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
