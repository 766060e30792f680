"""Checkpoints of ours from strangers: what they name is data, and what came along with them is not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.policies.conftest import Learnt
from workbench import evaluate
from workbench.errors import CheckpointError, NotFoundError, WorkbenchError
from workbench.runs import RunDirectory

NAME = "checkpoint_000000001000"


def given_away(folder: Path, module: str) -> Path:
    """A checkpoint that names a file as its environment, with a file that leaves a marker where it is imported."""
    learnt = Learnt("ppo")
    learnt.fields["environment"] |= {"module": module, "class_name": "StillEnv"}
    folder.mkdir(exist_ok=True)
    checkpoint = learnt.write(folder)
    assert checkpoint.name == NAME
    for place in (checkpoint, folder):
        (place / "still_env.py").write_text(f"open({str(folder / 'ran')!r}, 'w').close()")
    return checkpoint


def test_code_that_lies_with_a_checkpoint_is_not_run(tmp_path: Path) -> None:
    checkpoint = given_away(tmp_path, str(tmp_path / NAME / "still_env.py"))
    with pytest.raises(CheckpointError, match="came along with it") as caught:
        evaluate(checkpoint, episodes=1)
    assert "--env" in caught.value.hint
    assert not (tmp_path / "ran").exists()


def test_code_that_lies_with_its_run_is_not_run(tmp_path: Path) -> None:
    checkpoint = given_away(tmp_path, str(tmp_path / "still_env.py"))
    RunDirectory(tmp_path).spec_path.write_text("{}")
    with pytest.raises(CheckpointError, match="came along with it"):
        evaluate(checkpoint, episodes=1)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("module", ["still_env.py", f"{NAME}/still_env.py", "./still_env.py"])
def test_a_path_that_is_not_whole_is_looked_for_among_the_environments_here(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoint = given_away(tmp_path, module)
    with pytest.raises(NotFoundError, match=r"still_env\.py, which holds"):
        evaluate(checkpoint, episodes=1)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("package", ["still_package", "still_folder.still_package"])
def test_a_package_that_an_id_names_is_not_imported_from_where_one_is(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt = Learnt("ppo")
    learnt.fields["environment"] |= {"env_id": f"{package}:Still-v0"}
    checkpoint = learnt.write(tmp_path)
    (tmp_path / "still_folder").mkdir()
    for place in (tmp_path, tmp_path / "still_folder"):
        (place / "still_package.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CheckpointError, match="came along with it"):
        evaluate(checkpoint, episodes=1)
    assert not (tmp_path / "ran").exists()


def test_code_elsewhere_is_that_of_the_environment(tmp_path: Path) -> None:
    module = tmp_path / "envs" / "still_env.py"
    checkpoint = given_away(tmp_path / "runs", str(module))
    module.parent.mkdir()
    module.write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    with pytest.raises(WorkbenchError, match="no class StillEnv"):
        evaluate(checkpoint, episodes=1)
    assert (tmp_path / "ran").exists()
