"""Does a learner get through the environment?"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.preview.findings import Finding
from workbench.preview.rig import Rig
from workbench.project import Project

NAME = "training-loop"
STEPS = 500
COPIES = 4


def look(rig: Rig, project: Project) -> Iterator[Finding]:
    """Train with PPO for 500 steps, checkpoint and evaluation included, in a folder that goes again."""
    from workbench.runs import RunState
    from workbench.specs import PPOSpec, RunSpec
    from workbench.training import train

    spec = RunSpec(
        env_id=rig.source.env_id,
        seed=0,
        n_envs=COPIES,
        total_steps=STEPS,
        eval_episodes=1,
        ppo=PPOSpec(n_steps=25, batch_size=100, n_epochs=2, net_arch=(16, 16)),
    )
    with tempfile.TemporaryDirectory(prefix="workbench-preview-") as folder:
        try:
            result = train(spec, project, runs_root=Path(folder))
        except WorkbenchError as error:
            yield Finding(NAME, "fail", f"no training could begin: {error}", "mend what it names", "task")
            return
    if result.state is RunState.FINISHED:
        yield Finding(NAME, "pass", f"PPO took {result.steps} steps, wrote its checkpoints and evaluated them")
    else:
        yield Finding(NAME, "fail", f"PPO ended as {result.state.value}: {result.reason}", "mend what it names", "task")
