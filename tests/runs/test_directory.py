import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from workbench.errors import RequestError, WorkFailedError
from workbench.runs.annotations import Annotations
from workbench.runs.directory import RunDirectory, run_directories
from workbench.runs.record import run_record
from workbench.specs import RunSpec


def test_the_folder_is_named_as_documented(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "sac", "half_cheetah", files={"run.json": {"format": 1}})
    assert run.path.parent == tmp_path / "SAC"
    assert re.fullmatch(r"half_cheetah_\d{8}-\d{6}_[0-9a-f]{4}", run.name)
    assert (run.algorithm, run.short_name, run.short_id) == ("sac", "half_cheetah", run.name[-4:])
    assert run.runs_root == tmp_path
    assert run.record() == {"format": 1}
    assert run.control.is_dir()


def test_many_at_once_all_get_a_folder_of_their_own(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda index: RunDirectory.create(tmp_path, "ppo", "a", files={"n": index}), range(60)))
    assert len({run.path for run in made}) == 60
    assert sorted(int((run.path / "n").read_text()) for run in made) == list(range(60))
    assert set(run_directories(tmp_path)) == set(made)


def test_a_name_with_a_slash_stays_one_folder(tmp_path: Path) -> None:
    assert RunDirectory.create(tmp_path, "ppo", "ALE/Pong-v5").short_name == "ALE__Pong-v5"


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(WorkFailedError, match="no run can be written"):
        RunDirectory.create(tmp_path / "runs", "ppo", "a")


def test_checkpoints_best_and_latest(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "ppo", "a")
    assert run.latest() is None
    for steps in (5000, 0, 12_000):
        (run.path / f"checkpoint_{steps:012d}").mkdir()
    (run.path / "checkpoint_000000099999.part").mkdir()
    (run.path / "checkpoint_000000099999").write_text("not a folder")
    assert [item.steps for item in run.checkpoints()] == [0, 5000, 12_000]
    assert (run.latest(), run.best()) == (run.checkpoints()[2], None)
    run.set_latest("checkpoint_000000005000")
    run.set_best("checkpoint_000000000000")
    assert run.latest() == run.checkpoints()[1]
    assert run.best() == run.checkpoints()[0]


@pytest.mark.parametrize("content", ["../../elsewhere", "checkpoint_000000000001", "", "\x00"])
def test_a_pointer_that_names_no_checkpoint_is_not_followed(tmp_path: Path, content: str) -> None:
    run = RunDirectory.create(tmp_path, "ppo", "a")
    (run.path / "best").write_text(content)
    assert run.best() is None


def test_annotations_survive_what_others_wrote(tmp_path: Path) -> None:
    path = tmp_path / "annotations.json"
    assert Annotations.read(path) == Annotations()
    path.write_text('{"tags": ["a", 3], "note": 5, "pinned": "no"}')
    assert Annotations.read(path) == Annotations(tags=("a",))
    Annotations(("b",), "why", (100,)).write(path)
    assert Annotations.read(path) == Annotations(("b",), "why", (100,))


@pytest.mark.skipif(sys.platform == "darwin", reason="file names of macOS are always UTF-8")
def test_a_folder_whose_name_is_no_text_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    with pytest.raises(RequestError, match="the name is not UTF-8 text"):
        RunDirectory.create(odd / "runs", "ppo", "cart_pole")
    assert not odd.exists()
    with pytest.raises(RequestError, match=r"no run can train what is in .*envs/a_env.py"):
        run_record(RunSpec(env_id="a", total_steps=1), {"module": str(odd / "envs/a_env.py")}, [], {})
