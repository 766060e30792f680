"""What `run.json` holds: what a run was asked to do, and what it is done with."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import RequestError
from workbench.runs.machine import this_machine
from workbench.runs.processes import this_host

if TYPE_CHECKING:
    from workbench.specs import RunSpec

FORMAT = 1

LIBRARIES = ("workbench-rl", "mujoco", "gymnasium", "stable-baselines3", "torch", "numpy")
"""Whose versions are recorded, beside Python's."""


def surroundings(runs_root: Path) -> dict[str, Any]:
    """Return what runs made now in a runs root have in common: versions, git revision, host, machine and time."""
    return {
        "versions": _versions(),
        "git": _git(runs_root.parent),
        "host": this_host(),
        "machine": this_machine(),
        "created": time.time(),
    }


def run_record(
    spec: RunSpec,
    environment: Mapping[str, Any],
    command: Sequence[str],
    about: Mapping[str, Any],
    *,
    group: str | None = None,
    parent: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the content of a `run.json`.

    Args:
        spec: What the run shall do, every default filled in.
        environment: Where its environment comes from, as plain data.
        command: The command line that starts the same run again.
        about: Its `surroundings`.
        group: Shared by runs that were launched together; the spec's own by default.
        parent: The run and checkpoint that it starts from, see `Parent`.

    Raises:
        RequestError: The environment is in a folder whose name a checkpoint cannot hold.
    """
    require_text(environment.get("module") or "", "no run can train what is in")
    asked = spec.model_dump(mode="json")
    return {
        "format": FORMAT,
        "spec": asked,
        "environment": dict(environment),
        "command": list(command),
        "seed": asked.get("seed"),
        "group": group or asked.get("group"),
        "parent": None if parent is None else dict(parent),
        **about,
    }


def require_text(path: str | Path, what: str) -> None:
    """See to it that a path can be written as text, as every checkpoint and TensorBoard's files must hold it.

    Args:
        path: The path.
        what: What is refused where it cannot, to be read before the path.

    Raises:
        RequestError: It holds bytes that are no UTF-8.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        hint = "Rename the folder, or use another."
        raise RequestError(f"{what} {path}: the name is not UTF-8 text.", hint=hint) from None


def _versions() -> dict[str, str]:
    found = {"python": sys.version.split()[0]}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _git(folder: Path) -> dict[str, Any] | None:
    """Return the revision of the repository around a folder, or nothing where there is none or no git."""
    while not folder.is_dir():
        folder = folder.parent

    def ask(*words: str) -> str:
        environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=5, env=environment, stdin=subprocess.DEVNULL
        ).stdout.strip()

    try:
        return {"revision": ask("rev-parse", "HEAD"), "dirty": bool(ask("status", "--porcelain", "-uno"))}
    except (OSError, subprocess.SubprocessError):
        return None
