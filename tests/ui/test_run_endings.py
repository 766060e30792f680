"""Why a run ended, in the few words a list has room for."""

from __future__ import annotations

import pytest

from tests.ui import fakes
from workbench.project import Project
from workbench.runs import RunState, StateFile
from workbench.runs.store import RunStore
from workbench.ui.run_rows import ending
from workbench.ui.watch import RunRow


def row(project: Project, state: RunState, reason: str) -> RunRow:
    run = fakes.fake_run(project, "ant", "aaaa", state="finished")
    StateFile(run.state_path).write(state, reason=reason)
    [summary] = RunStore(project.runs, clock=lambda: fakes.NOW).list()
    return RunRow(**vars(summary))


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("cart_pole, copy 0, step 65: the action cart_force is inf; the last checkpoint is x", "action cart_force"),
        ("train/value_loss is nan after 900000 steps; the last checkpoint is x", "value_loss"),
        ("the weights mlp.0 and 1 more are not finite after 500 steps", "weights mlp.0 and 1 more"),
        ("the policy's actions are not finite after 500 steps", "policy's actions"),
    ],
)
def test_what_was_not_finite_comes_before_where(project: Project, reason: str, said: str) -> None:
    assert ending(row(project, RunState.FAILED, reason)) == f"not finite: {said}"


def test_a_run_taken_out_of_the_queue_never_started(project: Project) -> None:
    assert ending(row(project, RunState.STOPPED, "stopped before it started")) == "never started"
