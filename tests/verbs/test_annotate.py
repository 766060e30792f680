import json

import pytest

from tests.verbs.runs_on_disk import a_run, with_checkpoints
from workbench.cli import main
from workbench.project import Project

Out = pytest.CaptureFixture[str]


def annotate(project: Project, *words: str) -> int:
    return main(["annotate", "--project", str(project.root), *words])


def test_tags_note_and_pins_are_set_and_shown(project: Project, capsys: Out) -> None:
    run = with_checkpoints(a_run(project, tags=["old"]), 0, 100)
    other = a_run(project)
    assert (
        annotate(project, run.short_id, other.short_id, "--tag", "junk", "--untag", "old", "--note", "two words") == 0
    )
    assert capsys.readouterr().out.splitlines() == [
        f"ant {one.short_id}  tags junk  note two words" for one in (run, other)
    ]
    assert annotate(project, run.short_id, "--pin", "100", "--top", "--json") == 0
    [row] = json.loads(capsys.readouterr().out)["runs"]
    assert (row["tags"], row["note"], row["pinned"], row["is_on_top"]) == (["junk"], "two words", [100], True)
    assert annotate(project, run.short_id, "--unpin", "100", "--no-top", "--note", "") == 0
    assert capsys.readouterr().out == f"ant {run.short_id}  tags junk  note –\n"
    assert annotate(project, run.short_id) == 0
    assert capsys.readouterr().out == f"ant {run.short_id}  tags junk  note –\n"


def test_a_wrong_request_changes_nothing(project: Project, capsys: Out) -> None:
    run, other = a_run(project), a_run(project)
    for words, says in (
        ([run.short_id, "--pin", "100", "--tag", "t"], "no checkpoint of 100"),
        ([run.short_id, "--tag", ""], "cannot be a tag"),
        ([run.short_id, other.short_id, "--pin", "0"], "in one run at a time"),
        ([run.short_id, "zzzz", "--tag", "t"], "no run `zzzz`"),
    ):
        assert annotate(project, *words) == 2
        assert says in capsys.readouterr().err
    assert not run.annotations_path.exists()
