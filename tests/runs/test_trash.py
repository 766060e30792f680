import errno
import shutil
from pathlib import Path

import pytest

from workbench.errors import NotFoundError, RequestError, WorkFailedError
from workbench.runs.directory import RunDirectory
from workbench.runs.references import find_run
from workbench.runs.state import StateFile
from workbench.runs.states import RunState
from workbench.runs.store import RunStore
from workbench.runs.trash import (
    delete_runs,
    empty_trash,
    restore,
    trash_size,
    trashed,
)


def make(root: Path, state: RunState = RunState.FINISHED, algorithm: str = "ppo") -> RunDirectory:
    record = {"spec": {"algorithm": algorithm, "env_id": "Ant-v5"}}
    run = RunDirectory.create(root, algorithm, "ant", files={"run.json": record})
    (run.path / "checkpoint_000000000100").mkdir()
    (run.path / "checkpoint_000000000100" / "policy.json").write_text("{}")
    if state is RunState.QUEUED:
        StateFile(run.state_path).write_queued(queued_ns=1)
    else:
        StateFile(run.state_path).write(state)
    return run


def names(root: Path) -> set[str]:
    return {row.name for row in RunStore(root).list()}


def contents(run: RunDirectory) -> dict[str, bytes]:
    return {str(path.relative_to(run.path)): path.read_bytes() for path in run.path.rglob("*") if path.is_file()}


def test_what_is_deleted_is_in_no_list_and_comes_back_as_it_was(tmp_path: Path) -> None:
    stays, gone, with_it = make(tmp_path), make(tmp_path, algorithm="sac"), make(tmp_path, RunState.FAILED)
    before = contents(gone)
    done = delete_runs([gone, with_it, gone])
    assert [item.name for item in done] == [gone.name, with_it.name]
    assert names(tmp_path) == {stays.name}
    with pytest.raises(NotFoundError):
        find_run(tmp_path, gone.short_id)
    assert {item.name for item in trashed(tmp_path)} == {gone.name, with_it.name}
    assert done[0].run.record()["spec"]["algorithm"] == "sac"
    # Deleted together, so they come back together.
    assert {run.name for run in restore(tmp_path)} == {gone.name, with_it.name}
    assert names(tmp_path) == {stays.name, gone.name, with_it.name}
    assert contents(gone) == before
    assert list((tmp_path / ".trash").iterdir()) == []
    with pytest.raises(NotFoundError, match="is empty"):
        restore(tmp_path)


def test_the_last_is_undone_first_or_one_by_its_name(tmp_path: Path) -> None:
    runs = [make(tmp_path) for _ in range(3)]
    for run in runs:
        delete_runs([run])
    assert [item.name for item in trashed(tmp_path)] == [run.name for run in reversed(runs)]
    assert restore(tmp_path, runs[0].short_id) == [runs[0]]
    assert restore(tmp_path) == [runs[2]]
    assert restore(tmp_path, runs[1].name) == [runs[1]]
    delete_runs(runs)
    with pytest.raises(NotFoundError, match="3 runs in the trash match"):
        restore(tmp_path, "ant_")
    with pytest.raises(NotFoundError, match="no run `zzzz`"):
        restore(tmp_path, "zzzz")


@pytest.mark.parametrize("state", [RunState.STARTING, RunState.RUNNING, RunState.PAUSED, RunState.STOPPING])
def test_a_live_run_is_refused_and_nothing_with_it_goes(tmp_path: Path, state: RunState) -> None:
    ended, live = make(tmp_path), make(tmp_path, state)
    with pytest.raises(RequestError, match=f"is {state}; end it first: `workbench stop {live.short_id}`"):
        delete_runs([ended, live])
    assert names(tmp_path) == {ended.name, live.name}
    assert trashed(tmp_path) == []


def test_a_queued_run_and_one_that_is_to_be_begun_from_are_refused(tmp_path: Path) -> None:
    parent, heir = make(tmp_path), make(tmp_path, RunState.QUEUED)
    with pytest.raises(RequestError, match="waits in the queue; take it out first"):
        delete_runs([heir])
    shutil.rmtree(heir.path / "checkpoint_000000000100")
    told = {"run": parent.name, "reference": f"{parent.name}:100", "checkpoint": "checkpoint_000000000100"}
    heir.spec_path.write_text(f'{{"spec": {{}}, "parent": {str(told).replace(chr(39), chr(34))}}}')
    with pytest.raises(RequestError, match=f"{heir.name} is about to begin from a checkpoint of {parent.name}"):
        delete_runs([parent])
    StateFile(heir.state_path).write_queued(state=RunState.STOPPED, queued_ns=1)
    assert len(delete_runs([parent])) == 1


def test_a_damaged_run_can_be_deleted(tmp_path: Path) -> None:
    run = make(tmp_path)
    run.spec_path.write_text("{")
    run.state_path.unlink()
    delete_runs([run])
    assert names(tmp_path) == set()
    assert restore(tmp_path) == [run]


def test_one_that_vanishes_meanwhile_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = make(tmp_path), make(tmp_path)
    rename = Path.rename

    def racing(path: Path, target: Path) -> Path:
        if path == first.path:
            shutil.rmtree(path)
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", racing)
    assert [item.name for item in delete_runs([first, second])] == [second.name]
    assert [item.name for item in trashed(tmp_path)] == [second.name]


def test_one_that_cannot_be_moved_stays_and_those_before_it_can_be_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = make(tmp_path), make(tmp_path)
    rename = Path.rename

    def refusing(path: Path, target: Path) -> Path:
        if path == second.path:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refusing)
    with pytest.raises(WorkFailedError) as caught:
        delete_runs([first, second])
    assert "cannot be moved to the trash: Permission denied" in caught.value.message
    assert "1 of them are in the trash already" in caught.value.hint
    assert names(tmp_path) == {second.name}
    assert restore(tmp_path) == [first]


def across_disks(monkeypatch: pytest.MonkeyPatch, run: RunDirectory) -> None:
    rename = Path.rename

    def crossing(path: Path, target: Path) -> Path:
        if path.name == run.name and ".gone" not in str(target):
            raise OSError(errno.EXDEV, "Invalid cross-device link", str(path))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", crossing)


def test_a_run_on_another_disk_is_copied_and_then_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make(tmp_path)
    before = contents(run)
    across_disks(monkeypatch, run)
    [item] = delete_runs([run])
    assert contents(item.run) == before
    assert [path.name for path in run.path.parent.iterdir()] == []
    assert restore(tmp_path) == [run]
    assert contents(run) == before


def test_a_full_disk_on_the_way_to_another_leaves_the_run_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make(tmp_path)
    before = contents(run)
    across_disks(monkeypatch, run)

    def full(source: str, target: str, **_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", target)

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(WorkFailedError, match="No space left on device"):
        delete_runs([run])
    assert contents(run) == before
    assert trash_size(tmp_path) == 0
    assert names(tmp_path) == {run.name}


def test_nothing_is_restored_onto_a_run_that_is_there(tmp_path: Path) -> None:
    run = make(tmp_path)
    delete_runs([run])
    run.path.mkdir()
    with pytest.raises(RequestError, match="is there already"):
        restore(tmp_path)
    assert len(trashed(tmp_path)) == 1


def test_the_trash_is_emptied_on_request_and_by_age(tmp_path: Path) -> None:
    old, new = make(tmp_path), make(tmp_path)
    size, other = (sum(len(content) for content in contents(run).values()) for run in (old, new))
    [item] = delete_runs([old])
    delete_runs([new])
    assert trash_size(tmp_path) == size + other
    # Ten days old, as its folder tells.
    batch = item.path.parent.parent
    batch.rename(batch.with_name(f"{item.deleted_ns - 10 * 86400 * 10**9:020d}"))
    assert empty_trash(tmp_path, older_than_days=11).runs == 0
    done = empty_trash(tmp_path, older_than_days=9)
    assert (done.runs, done.freed) == (1, size)
    assert [left.name for left in trashed(tmp_path)] == [new.name]
    assert empty_trash(tmp_path).runs == 1
    assert trash_size(tmp_path) == 0


def test_emptying_says_what_cannot_be_deleted_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = make(tmp_path), make(tmp_path)
    delete_runs([first, second])
    rmtree = shutil.rmtree

    def refusing(path: Path, **options: bool) -> None:
        if first.name in str(path) and not options:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        rmtree(path, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(shutil, "rmtree", refusing)
    with pytest.raises(WorkFailedError, match="Permission denied"):
        empty_trash(tmp_path)
    assert trashed(tmp_path) == []


def test_no_trash_is_an_empty_one(tmp_path: Path) -> None:
    assert trashed(tmp_path / "nowhere") == []
    assert trash_size(tmp_path / "nowhere") == 0
    assert empty_trash(tmp_path / "nowhere").runs == 0
