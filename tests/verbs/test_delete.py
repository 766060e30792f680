import io
import json

import pytest

from tests.verbs.runs_on_disk import a_run
from workbench.cli import main
from workbench.project import Project
from workbench.runs.states import RunState
from workbench.runs.store import RunStore

Out = pytest.CaptureFixture[str]


def delete(project: Project, *words: str) -> int:
    return main(["delete", "--project", str(project.root), *words])


def names(project: Project) -> set[str]:
    return {row.name for row in RunStore(project.runs).list()}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_runs_are_deleted_and_come_back(project: Project, capsys: Out) -> None:
    first, second, third = (a_run(project) for _ in range(3))
    assert delete(project, first.short_id, second.name, "--yes") == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [f"ant {first.short_id} is in the trash", f"ant {second.short_id} is in the trash"]
    assert "--undo" in err
    assert names(project) == {third.name}
    assert delete(project, "--trash", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["runs"]
    assert {row["name"] for row in rows} == {first.name, second.name}
    assert delete(project, "--undo", first.short_id) == 0
    assert capsys.readouterr().out == f"ant {first.short_id} is back in {first.path}\n"
    assert delete(project, "--undo") == 0
    assert names(project) == {first.name, second.name, third.name}
    assert delete(project, "--undo") == 2
    assert "is empty" in capsys.readouterr().err


def test_a_person_is_asked(project: Project, capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    run = a_run(project)
    assert delete(project, run.short_id) == 2
    assert "nobody is there to ask" in capsys.readouterr().err
    for typed, expected in (("\n", 1), ("no\n", 1), ("", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", Terminal(typed))
        assert run.path.exists()
        assert delete(project, run.short_id) == expected
    assert f"move ant {run.short_id} to the trash" in capsys.readouterr().err
    assert not run.path.exists()


def test_what_is_live_or_misspelt_deletes_nothing(project: Project, capsys: Out) -> None:
    ended, live = a_run(project), a_run(project, RunState.RUNNING)
    queued = a_run(project, RunState.QUEUED)
    assert delete(project, ended.short_id, live.short_id, queued.short_id, "--yes") == 2
    err = capsys.readouterr().err
    assert f"{live.name} is running; end it first: `workbench stop {live.short_id}`." in err
    assert f"{queued.name} waits in the queue" in err
    assert delete(project, ended.short_id, "zzzz", "--yes") == 2
    assert delete(project, "--yes") == 2
    assert names(project) == {ended.name, live.name, queued.name}


def test_the_trash_is_emptied_only_when_asked(project: Project, capsys: Out) -> None:
    run = a_run(project)
    delete(project, run.short_id, "--yes")
    capsys.readouterr()
    assert delete(project, "--empty") == 2
    assert delete(project, "--empty", "1", "--yes") == 0
    assert "0 runs deleted for good" in capsys.readouterr().out
    assert delete(project, "--empty", "-1", "--yes") == 2
    assert delete(project, "--empty", "--yes", "--json") == 0
    assert json.loads(capsys.readouterr().out)["runs"] == 1
    assert delete(project, "--trash", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"runs": []}
    assert delete(project, run.short_id, "--trash") == 2
