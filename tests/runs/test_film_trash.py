"""Films go to a trash and come back, and the job that makes one is ended by whoever finds it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from workbench.errors import NotFoundError, RequestError
from workbench.runs import ProcessIdentity
from workbench.runs.film_trash import cancel_job, delete_recordings, restore_recordings
from workbench.runs.recordings import Job, Sidecar, list_recordings, write_sidecar


def film(folder: Path, name: str, **fields: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"film")
    write_sidecar(folder / name, Sidecar(**fields))  # type: ignore[arg-type]
    return folder / name


def names(folder: Path) -> set[str]:
    return {item.path.name for item in list_recordings(folder)}


def test_a_film_and_its_sidecar_go_and_come_back(tmp_path: Path) -> None:
    film(tmp_path, "a.mp4", seed=7)
    film(tmp_path, "b.mp4")
    delete_recordings([item for item in list_recordings(tmp_path) if item.path.name == "a.mp4"])
    assert names(tmp_path) == {"b.mp4"}
    assert [path.name for path in restore_recordings(tmp_path)] == ["a.mp4"]
    assert names(tmp_path) == {"a.mp4", "b.mp4"}
    back = next(item for item in list_recordings(tmp_path) if item.path.name == "a.mp4")
    assert back.sidecar is not None and back.sidecar.seed == 7
    with pytest.raises(NotFoundError, match="is empty"):
        restore_recordings(tmp_path)


def test_the_last_deleted_come_back_first_and_never_over_another(tmp_path: Path) -> None:
    for name in ("a.mp4", "b.mp4"):
        film(tmp_path, name)
        delete_recordings(list_recordings(tmp_path))
    film(tmp_path, "b.mp4")
    with pytest.raises(RequestError, match="is there again"):
        restore_recordings(tmp_path)
    (tmp_path / "b.mp4").unlink()
    (tmp_path / "b.mp4.json").unlink()
    assert [path.name for path in restore_recordings(tmp_path)] == ["b.mp4"]
    assert [path.name for path in restore_recordings(tmp_path)] == ["a.mp4"]


def test_what_is_being_made_is_not_deleted_but_cancelled(tmp_path: Path) -> None:
    code = (
        "import signal, sys\n"
        "try:\n    print('ready', flush=True); signal.pause()\n"
        "except KeyboardInterrupt:\n    sys.exit(130)"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
    assert child.stdout is not None and child.stdout.readline() == b"ready\n"
    process = ProcessIdentity.of(child.pid)
    assert process is not None
    job = Job(process.pid, process.started, process.host)
    film(tmp_path, "a.mp4", job=job)
    with pytest.raises(RequestError, match="is being made"):
        delete_recordings(list_recordings(tmp_path))
    cancel_job(job)
    assert child.wait(10) == 130
    child.stdout.close()
    with pytest.raises(RequestError, match="has ended"):
        cancel_job(job)


def test_a_reused_pid_and_another_machine_are_left_alone() -> None:
    me = ProcessIdentity.current()
    with pytest.raises(RequestError, match="has ended"):
        cancel_job(Job(me.pid, me.started - 1000, me.host))
    with pytest.raises(RequestError, match="only there"):
        cancel_job(Job(me.pid, me.started, "elsewhere"))
