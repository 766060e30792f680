"""`workbench train --from`: which checkpoint and environment are meant, what changed, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runs.fakes import with_fakes
from tests.training.conftest import make_run, train_here
from workbench.cli import main
from workbench.project import Project
from workbench.runs.directory import RunDirectory, run_directories
from workbench.verbs.rehearsing import Rehearsals


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """A run with checkpoints at 0, 100 and 200 steps; no test writes into it."""
    run = make_run(tmp_path_factory.mktemp("elsewhere"), "ppo", total_steps=200, checkpoint_freq=1, eval_every=0)
    train_here(run)
    # It names this process, which no test may end.
    run.state_path.unlink()
    return run


@pytest.fixture(autouse=True)
def parent(project: Project, trained: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunDirectory]:
    """The same run among those of the project, where trainers are fakes."""
    copied = RunDirectory(Path(shutil.copytree(trained.path, project.runs / "PPO" / trained.name)))
    for _ in with_fakes(project.runs, monkeypatch):
        yield copied


def workbench(project: Project, *words: str) -> int:
    return main(["train", "--project", str(project.root), *words])


def child_of(project: Project, parent: RunDirectory) -> RunDirectory:
    [child] = [run for run in run_directories(project.runs) if run.name != parent.name]
    return child


@pytest.mark.parametrize(
    "form", ["{id}", "{id}:latest", "{id}:200", "{name}", "{path}", "{path}/checkpoint_000000000200"]
)
def test_every_form_of_a_reference_starts_a_run(form: str, project: Project, parent: RunDirectory) -> None:
    reference = form.format(id=parent.short_id, name=parent.name, path=parent.path)
    words = ["--max-steps", "400", "--seed", "5", "--tag", "iterations=1", "--detach"]
    assert workbench(project, "--from", reference, *words) == 0
    record = child_of(project, parent).record()
    assert record["parent"] == {
        "reference": f"{parent.name}:200",
        "run": parent.name,
        "checkpoint": "checkpoint_000000000200",
        "steps": 200,
        "iteration": 2,
    }
    spec = {**parent.record()["spec"], "total_steps": 400, "seed": 5, "tags": ["iterations=1"]}
    assert record["spec"] == {**spec, "parent": f"{parent.name}:200"}
    assert record["environment"]["env_id"] == "workbench/CartPole-v0"


def test_what_changed_is_said_and_the_recorded_command_asks_for_the_same(
    project: Project, parent: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--set", "ppo.gamma=0.5", "--max-steps", "400", "--seed", "5", "--tag", "iterations=1", "--detach"]
    assert workbench(project, "cart_pole", "--from", f"{parent.short_id}:100", *words) == 0
    said = capsys.readouterr().err
    assert (
        f"goes on from {parent.name}:100, 100 steps; changed: total_steps 400 (was 200), ppo.gamma 0.5 (was 0.99)"
        in said
    )
    child = child_of(project, parent)
    _, _, *again = child.record()["command"]
    assert "ppo.n_steps" not in " ".join(again)
    assert workbench(project, *again, "--detach") == 0
    specs = [run.record()["spec"] for run in run_directories(project.runs) if run.name != parent.name]
    assert len(specs) == 2 and specs[0] == specs[1]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Where the runs that were to be measured begin; nothing is measured."""
    starts: list[tuple[int, int]] = []

    def measure(self: Rehearsals, spec: Any, environment: Any, start: tuple[int, int]) -> dict[str, Any]:
        starts.append(start)
        return {"reason": "this is a test"}

    monkeypatch.setattr(Rehearsals, "measure", measure)
    return starts


def test_a_dry_run_counts_what_is_done(
    project: Project,
    parent: RunDirectory,
    asked: list[tuple[int, int]],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    assert workbench(project, "--from", parent.short_id, "--max-steps", "400", "--dry-run", "--json") == 0
    [row] = json.loads(capsys.readouterr().out)["runs"]
    assert (row["spec"]["parent"], row["environment"]) == (f"{parent.name}:200", "cart_pole")
    assert row["command"][:7] == [
        "workbench",
        "train",
        "cart_pole",
        "--algorithm",
        "ppo",
        "--seed",
        str(row["spec"]["seed"]),
    ]
    others = ["--output-dir", str(tmp_path / "others")]
    assert workbench(project, "--from", parent.short_id, "--max-steps", "400", "--dry-run", "--json", *others) == 0
    [row] = json.loads(capsys.readouterr().out)["runs"]
    assert row["spec"]["parent"] == f"{parent.path}/checkpoint_000000000200"
    assert asked == [(200, 2), (200, 2)]
    assert [run.name for run in run_directories(project.runs)] == [parent.name]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--from", "{id}:150"], "has no checkpoint of 150 steps"),
        (["--from", "{id}:150"], "There are 0, 100, 200"),
        (["--from", "{id}:best"], "none was evaluated"),
        (["--from", "zzzz"], "there is no run `zzzz`"),
        (["--from", "{id}"], "total_steps is 200, and the checkpoint has 200 steps already"),
        (["--from", "{id}", "-a", "sac"], "was trained by ppo; type --algorithm ppo"),
        (
            ["--from", "{id}", "--set", "ppo.net_arch=16"],
            "ppo.net_arch is pi 16, vf 16, and the checkpoint's networks are",
        ),
        (["half_cheetah", "--from", "{id}"], "and those of half_cheetah are of shape (17,)"),
        (["nothing_like_it", "--from", "{id}"], "no environment matches"),
        (["cart_pole", "-p", "ant", "--from", "{id}"], "one pattern"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_launched(
    words: list[str], says: str, project: Project, parent: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workbench(project, *(word.format(id=parent.short_id) for word in words)) == 2
    err = capsys.readouterr().err
    assert says in err and "Traceback" not in err
    assert [run.name for run in run_directories(project.runs)] == [parent.name]


def test_a_checkpoint_that_was_altered_is_refused(
    project: Project, parent: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = parent.checkpoints()[-1].path / "policy.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\1")
    assert workbench(project, "--from", parent.short_id, "--max-steps", "400") == 2
    assert "is not the file that was written" in capsys.readouterr().err


def test_the_list_of_runs_shows_where_one_came_from(
    project: Project, parent: RunDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workbench(project, "--from", parent.short_id, "--max-steps", "400", "--tag", "iterations=1") == 0
    capsys.readouterr()
    assert main(["runs", "--project", str(project.root)]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert " From " in head
    assert any(f"{parent.short_id} 200" in row for row in rows)
    assert main(["runs", "--project", str(project.root), "--json", f"parent:{parent.short_id}"]) == 0
    [row] = json.loads(capsys.readouterr().out)["runs"]
    assert (row["parent"], row["start_steps"]) == (f"{parent.name}:200", 200)
