"""What a new run is like before anything is typed: the recipe, another run, or a checkpoint that it goes on from.

Reads files, so it is called off the event loop.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.catalog import Entry
from workbench.errors import Problem, RequestError, WorkbenchError
from workbench.runs import Launch, RunDirectory
from workbench.runs.forking import Fork, fork_from
from workbench.runs.references import find_checkpoint
from workbench.specs import RunSpec, spec_from_json
from workbench.ui.draft import START, Draft

if TYPE_CHECKING:
    from workbench.specs import Algorithm


def find_start(text: str, runs_root: Path) -> tuple[Fork | None, Problem | None]:
    """Return what a run starts with that goes on from the checkpoint that `text` names, or what is wrong with it."""
    wanted = text.strip()
    if not wanted:
        return None, None
    try:
        return fork_from(find_checkpoint(runs_root, wanted), runs_root), None
    except WorkbenchError as error:
        return None, Problem(START, f"names no checkpoint: {error.message} {error.hint}".strip())


def draft_of_fork(entry: Entry, fork: Fork) -> Draft:
    """Return the form of a run that goes on from a checkpoint, nothing of it changed."""
    return Draft(entry, _algorithm(fork.algorithm), start=_short(fork), fork=fork)


def draft_of_run(entry: Entry, run: RunDirectory, *, seeds: str = "") -> Draft:
    """Return the form of a run like another one: what that one has otherwise than the recipe counts as typed.

    Args:
        entry: Its environment.
        run: The other run.
        seeds: Seeds to fill in; that of the run by default.

    Raises:
        RequestError: It has no spec that can be read.
    """
    spec = read_spec(run)
    draft = Draft(
        entry,
        spec.algorithm,
        seeds=seeds or ("" if spec.seed is None else str(spec.seed)),
        tags=" ".join(spec.tags),
        like=run.short_id,
    )
    if spec.parent:
        fork, fault = find_start(spec.parent, run.runs_root)
        draft = replace(draft, start=spec.parent, fork=fork, start_fault=fault)
    data = spec.model_dump(mode="json")
    return draft.with_data(data)


def read_spec(run: RunDirectory) -> RunSpec:
    """Return what a run was asked to do.

    Raises:
        RequestError: It has no spec that can be read: it was made by another program, or by a later version.
    """
    try:
        return spec_from_json(run.record()["spec"])
    except (LookupError, TypeError, WorkbenchError) as error:
        said = error.message if isinstance(error, WorkbenchError) else "its run.json holds no spec."
        raise RequestError(f"{run.name} cannot be run again: {said}") from error


def launch_again(run: RunDirectory) -> Launch:
    """Return the launch of a run that does the same as another one, its seed included.

    Raises:
        RequestError: That one cannot be read, or the file of its environment is gone.
    """
    record = run.record()
    spec = read_spec(run).model_copy(update={"group": None})
    environment = record.get("environment")
    if not isinstance(environment, Mapping) or not environment.get("env_id"):
        raise RequestError(f"{run.name} cannot be run again: its run.json does not say of which environment it is.")
    module = environment.get("module")
    if module and not Path(str(module)).is_file():
        raise RequestError(
            f"{run.name} cannot be run again: {module} is gone.",
            hint="n opens the form of a run of another environment.",
        )
    command = [str(word) for word in record.get("command") or ()]
    name = str(environment.get("name") or run.short_name)
    return Launch(spec, dict(environment), command, name)


def _short(fork: Fork) -> str:
    """Return the shortest text that names a checkpoint: the form has a narrow field for it."""
    if fork.run is not None:
        short = f"{fork.run.short_id}:{fork.steps}"
        with contextlib.suppress(WorkbenchError):
            if find_checkpoint(fork.run.runs_root, short) == fork.checkpoint:
                return short
    return fork.reference


def _algorithm(name: str) -> Algorithm:
    known: dict[str, Algorithm] = {"ppo": "ppo", "sac": "sac", "td3": "td3"}
    return known.get(name, "ppo")
