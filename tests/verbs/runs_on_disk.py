"""Run folders, made by hand."""

from __future__ import annotations

from typing import Any

from workbench.project import Project
from workbench.runs.directory import RunDirectory
from workbench.runs.state import StateFile
from workbench.runs.states import RunState


def a_run(
    project: Project, state: RunState = RunState.FINISHED, short_name: str = "ant", *, queued_ns: int = 1, **spec: Any
) -> RunDirectory:
    told = {"algorithm": "ppo", "env_id": "Ant-v5", "seed": 1, "total_steps": 1000, **spec}
    run = RunDirectory.create(project.runs, "ppo", short_name, files={"run.json": {"spec": told}})
    if state is RunState.QUEUED:
        StateFile(run.state_path).write_queued(queued_ns=queued_ns)
    else:
        StateFile(run.state_path).write(state)
    return run


def with_checkpoints(run: RunDirectory, *steps: int) -> RunDirectory:
    for count in steps:
        folder = run.path / f"checkpoint_{count:012d}"
        folder.mkdir()
        (folder / "policy.safetensors").write_bytes(b"w" * 1000)
        run.set_latest(folder.name)
    return run
