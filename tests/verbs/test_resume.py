"""`workbench resume`: what it refuses and why, and a run that goes on under a supervisor."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runs.fakes import until, with_fakes
from tests.training.conftest import make_run
from workbench.cli import main
from workbench.policies.checkpoint import checkpoint_name
from workbench.project import Project
from workbench.runs import EventWriter, RunDirectory, RunState, RunStore, StateFile, observe
from workbench.runs.resuming import ORDER_NAME, take_order


@pytest.fixture(autouse=True)
def runs_root(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    yield from with_fakes(project.runs, monkeypatch)


def ended(project: Project, state: RunState = RunState.STOPPED, *, steps: int = 200) -> RunDirectory:
    run = make_run(project.runs, "ppo", total_steps=500)
    StateFile(run.state_path).write_queued(state=state, reason="as it was asked to", queued_ns=1)
    (run.path / checkpoint_name(steps)).mkdir()
    (run.path / checkpoint_name(steps) / "resume.pt").touch()
    return run


def resume(project: Project, *words: str) -> int:
    return main(["resume", "--project", str(project.root), *words])


def refusal(project: Project, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert resume(project, *words) == 2
    return capsys.readouterr().err


def test_only_a_run_that_has_ended_is_resumed(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    run = ended(project)
    StateFile(run.state_path).write(RunState.RUNNING)
    assert f"{run.name} is running; there is nothing to resume." in refusal(project, capsys, run.short_id)
    StateFile(run.state_path).write_queued(queued_ns=1)
    assert "waits in the queue" in refusal(project, capsys, run.short_id)


def test_a_finished_run_needs_a_larger_budget(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    run = ended(project, RunState.FINISHED, steps=500)
    told = refusal(project, capsys, run.short_id)
    assert f"{run.name} is finished: as it was asked to." in told
    assert f"`workbench resume {run.short_id} --max-steps N`" in told
    assert "has done 500 steps already" in refusal(project, capsys, run.short_id, "--max-steps", "500")
    assert not (run.path / ORDER_NAME).exists()
    assert resume(project, run.short_id, "--max-steps", "900", "--detach") == 0
    assert take_order(run) == {"total_steps": 900, "stop_criteria": {}}


def test_a_run_with_nothing_to_go_on_from_is_refused(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    run = ended(project)
    (run.path / checkpoint_name(200) / "resume.pt").unlink()
    assert "none of its checkpoints has a resume.pt" in refusal(project, capsys, run.short_id)


def test_what_can_differ_is_said(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    run = ended(project)
    record = run.record() | {"versions": {"torch": "1.0"}, "host": "elsewhere"}
    run.spec_path.write_text(json.dumps(record))
    assert resume(project, run.short_id, "--detach", "--json") == 0
    out, err = capsys.readouterr()
    [row] = json.loads(out)["runs"]
    assert row["from_steps"] == 200 and row["path"] == str(run.path)
    assert row["notes"][0].startswith("torch 1.0 is now ")
    assert "it began on elsewhere" in row["notes"][1] and row["notes"][1] in err


def test_the_supervisor_takes_it_up(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    run = ended(project)
    assert resume(project, run.short_id, "--detach") == 0
    assert capsys.readouterr().out.strip() == str(run.path)
    until(lambda: observe(run).state.is_ended)


def test_a_row_shows_the_new_budget(project: Project) -> None:
    run = ended(project)
    with EventWriter(run.events_path) as writer:
        writer.append("set", steps=200, values={"total_steps": 900, "stop_criteria": {}})
    assert RunStore(project.runs).summary(run).total_steps == 900
