"""Training from Python: the same run directory and the same loop, in the calling process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO

from workbench.catalog import discover
from workbench.errors import NotFoundError
from workbench.project import Project, open_project
from workbench.runs import RunDirectory
from workbench.runs.lineage import read_parent
from workbench.runs.record import run_record, surroundings
from workbench.runs.seeds import draw_seed
from workbench.simulation import EnvSource
from workbench.specs import RunSpec
from workbench.training.log import RunLog
from workbench.training.session import RunResult, Session


def train(
    spec: RunSpec, project: Project | None = None, *, runs_root: Path | None = None, echo: TextIO | None = None
) -> RunResult:
    """Train a spec in this process and return how it ended.

    The run gets a directory among the project's runs, and shows in every list of them while it trains. A failure
    while training is a result with its reason, not an exception; the log in the directory has the traceback.

    Args:
        spec: What to do; a seed is drawn and recorded where it has none.
        project: Where its environment is found and its run is kept; the current one by default.
        runs_root: The folder of runs, where it is not the project's.
        echo: Where the lines of the log go too.

    Raises:
        NotFoundError: There is no such environment, or no such checkpoint to start from.
        WorkFailedError: The run's folder cannot be written.
    """
    project = project or open_project()
    root = (project.runs if runs_root is None else runs_root).expanduser().resolve()
    source = find_source(spec.env_id, project)
    if spec.seed is None:
        spec = spec.model_copy(update={"seed": draw_seed()})
    parent = None if spec.parent is None else read_parent(root, spec.parent).to_json()
    record = run_record(spec, source.to_json(), sys.argv, surroundings(root), parent=parent)
    run = RunDirectory.create(root, spec.algorithm, source.name, files={"run.json": record})
    with RunLog(run.log_path, echo=echo) as log:
        return Session(run, log).run()


def find_source(env_id: str, project: Project) -> EnvSource:
    """Return where an environment comes from; an ID the catalogue does not have is taken for one of Gymnasium's.

    Raises:
        NotFoundError: Neither has it.
    """
    entry = discover(project).entry_for_id(env_id)
    if entry is not None:
        return EnvSource.from_entry(entry)
    import gymnasium

    if env_id not in gymnasium.registry:
        raise NotFoundError(f"there is no environment {env_id}.", hint="`workbench list --all` shows what there is.")
    return EnvSource(env_id, env_id)
