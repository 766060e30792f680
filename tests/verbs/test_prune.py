import json
from pathlib import Path

import pytest

from tests.verbs.runs_on_disk import a_run, with_checkpoints
from workbench.cli import main
from workbench.project import Project
from workbench.runs.directory import RunDirectory

Out = pytest.CaptureFixture[str]


def prune(project: Project, *words: str) -> int:
    return main(["prune", "--project", str(project.root), *words])


@pytest.fixture
def run(project: Project) -> RunDirectory:
    return with_checkpoints(a_run(project), 0, 100, 200, 300, 400)


def left(run: RunDirectory) -> list[int]:
    return [item.steps for item in run.checkpoints()]


def test_a_dry_run_says_what_would_go_and_deletes_nothing(project: Project, run: RunDirectory, capsys: Out) -> None:
    assert prune(project, run.short_id, "--keep", "2", "--dry-run") == 0
    out = capsys.readouterr().out.replace("\u00a0", " ").splitlines()
    assert out[:2] == [f"ant {run.short_id}: 2 of 5 checkpoints would go, 2.0 kB", "  goes   100, 200"]
    assert out[2:] == ["  stays  0: where it began", "  stays  300: among the newest", "  stays  400: latest"]
    assert left(run) == [0, 100, 200, 300, 400]


def test_checkpoints_are_deleted(project: Project, run: RunDirectory, capsys: Out) -> None:
    other = with_checkpoints(a_run(project), 0, 50, 60)
    assert prune(project, run.short_id, other.short_id, "--every", "3", "--json") == 0
    first, second = json.loads(capsys.readouterr().out)["runs"]
    assert (first["gone"], first["bytes"], first["is_dry_run"]) == ([100, 200], 2000, False)
    assert first["stays"] == {"0": "where it began", "300": "every 3rd", "400": "latest"}
    assert second["gone"] == [50]
    assert (left(run), left(other)) == ([0, 300, 400], [0, 60])


def test_what_cannot_be_deleted_is_exit_one(
    project: Project, run: RunDirectory, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(path: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "rename", refusing)
    assert prune(project, run.short_id) == 1
    assert "checkpoint_000000000100 cannot be deleted: Permission denied" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--keep", "-1"], ["--every", "0"], ["--keep", "some"], ["zzzz"]])
def test_a_wrong_request_deletes_nothing(project: Project, run: RunDirectory, words: list[str]) -> None:
    assert prune(project, run.short_id, *words) == 2
    assert left(run) == [0, 100, 200, 300, 400]
