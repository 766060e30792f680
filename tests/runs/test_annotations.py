import json
import multiprocessing
import shutil
from pathlib import Path

import pytest

from workbench.errors import NotFoundError, RequestError, WorkFailedError
from workbench.runs.annotations import (
    Annotations,
    change_tags,
    pin_checkpoint,
    pin_run,
    set_note,
    set_tags,
)
from workbench.runs.directory import RunDirectory
from workbench.runs.store import RunStore


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "ppo", "ant", files={"run.json": {"spec": {"tags": ["launched", "x"]}}})


def tags(run: RunDirectory) -> tuple[str, ...]:
    [row] = RunStore(run.runs_root).list()
    return row.tags


def test_tags_are_put_on_and_taken_off_those_of_the_launch_too(run: RunDirectory) -> None:
    assert tags(run) == ("launched", "x")
    change_tags(run, add=["junk", "x"])
    assert tags(run) == ("launched", "x", "junk")
    change_tags(run, remove=["x", "no such"], add=["late"])
    assert tags(run) == ("launched", "junk", "late")
    change_tags(run, add=["x"])
    assert tags(run) == ("launched", "x", "junk", "late")
    set_tags(run, ["late", "launched", "two words"])
    assert tags(run) == ("launched", "late", "two words")
    set_tags(run, [])
    assert tags(run) == ()


@pytest.mark.parametrize("tag", ["", "  ", "a\nb", "x" * 61])
def test_what_cannot_be_a_tag_is_refused_and_changes_nothing(run: RunDirectory, tag: str) -> None:
    with pytest.raises(RequestError, match="cannot be a tag"):
        change_tags(run, add=["good", tag])
    assert not run.annotations_path.exists()


def test_pins_and_notes(run: RunDirectory) -> None:
    (run.path / "checkpoint_000000000500").mkdir()
    with pytest.raises(NotFoundError, match="no checkpoint of 700"):
        pin_checkpoint(run, 700)
    pin_checkpoint(run, 500)
    pin_checkpoint(run, 500)
    set_note(run, "  tried with friction\n")
    pin_run(run)
    assert run.annotations() == Annotations(note="tried with friction", pinned=(500,), is_on_top=True)
    shutil.rmtree(run.path / "checkpoint_000000000500")
    pin_checkpoint(run, 500, is_pinned=False)
    pin_run(run, is_pinned=False)
    assert run.annotations() == Annotations(note="tried with friction")


def test_what_others_keep_in_the_file_stays_and_a_damaged_one_is_replaced(run: RunDirectory) -> None:
    run.annotations_path.write_text('{"colour": "red", "tags": ["a", 3]}')
    set_note(run, "n")
    stored = json.loads(run.annotations_path.read_text())
    assert (stored["colour"], stored["tags"], stored["note"]) == ("red", ["a"], "n")
    run.annotations_path.write_text("{half")
    set_note(run, "again")
    assert run.annotations() == Annotations(note="again")


def _tag_many(path: Path, name: str) -> None:
    run = RunDirectory(path)
    for number in range(15):
        change_tags(run, add=[f"{name}{number}"])
        set_note(run, name)


def test_several_who_write_at_once_lose_nothing(run: RunDirectory) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_tag_many, args=(run.path, name)) for name in ("a", "b", "c")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(30)
        assert writer.exitcode == 0
    assert set(run.annotations().tags) == {f"{name}{number}" for name in "abc" for number in range(15)}


def test_a_run_that_is_gone_is_not_made_anew(run: RunDirectory) -> None:
    shutil.rmtree(run.path)
    with pytest.raises(WorkFailedError, match="cannot be annotated"):
        set_note(run, "n")
    assert not run.path.exists()


def test_a_full_disk_leaves_what_was(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    set_note(run, "before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(WorkFailedError, match="No space left"):
        set_note(run, "after")
    assert run.annotations().note == "before"
    assert [path.name for path in run.path.iterdir() if path.name.endswith(".part")] == []
