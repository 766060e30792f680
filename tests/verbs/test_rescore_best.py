from __future__ import annotations

import json

import pytest

from tests.training.conftest import make_run, train_here
from workbench.cli import main
from workbench.project import Project
from workbench.runs import RunDirectory


@pytest.fixture
def trained(project: Project) -> RunDirectory:
    return train_here(make_run(project.runs, "ppo", total_steps=200, checkpoint_freq=1, rescore_best=0)).run


def rescore(project: Project, *words: str) -> int:
    return main(["--project", str(project.root), "rescore", *words])


def test_it_settles_the_best_of_a_run_that_has_ended(
    project: Project, trained: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rescore(project, trained.short_id, "--best", "2", "--episodes", "6") == 0
    best = trained.best()
    shown = capsys.readouterr().out
    assert best is not None and f"best is {best.path.name}" in shown
    assert "over 6 episodes, 10003 to 10008; claimed was" in shown
    assert rescore(project, trained.short_id, "--best", "2", "--episodes", "6", "--json") == 0
    told = json.loads(capsys.readouterr().out)["best"]
    scores = json.loads(best.evaluation_path.read_text())["evaluations"]
    assert [item["kind"] for item in scores] == ["claimed", "rescored"], "what is known is not played again"
    assert (told["claimed"], told["mean_return"]) == (scores[0]["mean_return"], scores[1]["mean_return"])


@pytest.mark.parametrize(
    ("words", "named"),
    [(["--best", "0"], "1 or more"), (["--episodes", "4"], "--best"), (["--best", "1", "--episodes", "0"], "episodes")],
)
def test_a_wrong_request_is_one_sentence(
    words: list[str], named: str, project: Project, trained: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rescore(project, trained.short_id, *words) == 2
    assert named in capsys.readouterr().err
    assert rescore(project, f"{trained.short_id}:latest", "--best", "1") == 2
