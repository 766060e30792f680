"""Runs that go on from a checkpoint: which one is meant, whether it fits, and what a person should know of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import NotFoundError, Problem
from workbench.project import Project

if TYPE_CHECKING:
    from workbench.catalog import Catalog, Entry
    from workbench.runs.forking import Fork
    from workbench.specs import RunSpec


def find_fork(reference: str, project: Project, output_dir: Path | None) -> Fork:
    """Return what runs start with that go on from a checkpoint, which is whole.

    Args:
        reference: What a person typed.
        project: Where it is looked for.
        output_dir: Another folder of runs, where the new ones will be; it is looked for there first.

    Raises:
        NotFoundError: It names nothing; what is there, and what to type, is said.
        CheckpointError: It names no whole checkpoint.
    """
    from workbench.policies import read_checkpoint
    from workbench.runs import resolve_checkpoint
    from workbench.runs.forking import fork_from

    runs_root = (output_dir or project.runs).expanduser().absolute()
    try:
        path = resolve_checkpoint(project, reference, runs_root)
    except NotFoundError:
        if output_dir is None:
            raise
        path = resolve_checkpoint(project, reference)
    read_checkpoint(path)
    return fork_from(path, runs_root)


def entry_of(fork: Fork, catalog: Catalog) -> Entry:
    """Return the environment that a checkpoint was trained on.

    Raises:
        NotFoundError: This project does not have it.
    """
    entry = catalog.entry_for_id(fork.env_id)
    if entry is None:
        raise NotFoundError(
            f"{fork.reference} was trained on {fork.env_id}, which this project does not have.",
            hint="Name an environment to train it on: `workbench train PATTERN --from CKPT`.",
        )
    return entry


def misfit(fork: Fork, entry: Entry) -> Problem | None:
    """Return why a checkpoint cannot be trained on in an environment, which is made for that; None where it can."""
    from workbench.policies import read_record
    from workbench.policies.environments import facts_of
    from workbench.policies.fitting import misfits
    from workbench.policies.spaces import describe_space
    from workbench.simulation import EnvSource
    from workbench.simulation.factory import make_batch, make_single

    source = EnvSource.from_entry(entry)
    env = make_batch(source) or make_single(source)
    try:
        spaces = (describe_space(env.observation_space, "observations"), describe_space(env.action_space, "actions"))
        names = facts_of(env, entry.name).observation_names
    finally:
        env.close()
    faults = misfits(read_record(fork.checkpoint), *spaces, entry.name, names)
    if not faults:
        return None
    message = f"{fork.reference} does not fit {entry.name}: {'; '.join(faults)}"
    return Problem("--from", f"{message}; name the environment it was trained on, {fork.env_name}, or none")


def summary_of(fork: Fork, entry: Entry, changed: list[str]) -> str:
    """Return one line on what a run goes on from, and what it does otherwise."""
    from workbench.specs import show

    where = f"goes on from {fork.reference}, {show(fork.steps)} steps"
    if entry.env_id != fork.env_id:
        return f"{where} on {fork.env_name}, as the recipe of {entry.name} says"
    configured, before = dict(entry.env_cfg), fork.environment.get("env_cfg") or {}
    if configured != before:
        changed = [*changed, f"env_cfg {configured} (was {before})"]
    return f"{where}; {'unchanged' if not changed else 'changed: ' + ', '.join(changed)}"


def problems_of(fork: Fork, entry: Entry, spec: RunSpec) -> list[Problem]:
    """Return everything about a run that does not fit the checkpoint it would go on from."""
    found = fork.problems(spec)
    if any(problem.key == "algorithm" for problem in found):
        return found
    wrong = misfit(fork, entry)
    return found if wrong is None else [*found, wrong]
