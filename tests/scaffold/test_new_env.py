"""The files that a new environment begins with."""

import json
import subprocess
import sys
from pathlib import Path

import mujoco
import pytest

from workbench.catalog import discover
from workbench.catalog.checking import check
from workbench.cli import main
from workbench.project import open_project
from workbench.scaffold import write_files
from workbench.simulation.mjcf import gymnasium_assets


def new(folder: Path, *words: str) -> int:
    return main(["--project", str(folder), "new", "env", *words])


@pytest.mark.parametrize("model", [None, "hopper.xml", "ant.xml"])
def test_what_is_written_has_no_fault_and_passes_its_own_test(tmp_path: Path, model: str | None) -> None:
    given = [] if model is None else ["--model", str(gymnasium_assets() / model)]
    assert new(tmp_path, "my_task", *given) == 0
    report = check(discover(open_project(tmp_path)), "my_task*")
    assert list(report.problems) == []
    names = {entry.name for entry in discover(open_project(tmp_path)).entries if entry.origin == "project"}
    assert names == {"my_task", "my_task_rough_start"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_its_text_is_complete(tmp_path: Path) -> None:
    from workbench.simulation import EnvSource
    from workbench.simulation.describe import describe

    new(tmp_path, "my_task")
    [entry] = [one for one in discover(open_project(tmp_path)).entries if one.name == "my_task"]
    told = describe(EnvSource.from_entry(entry))
    assert told["faults"] == []
    assert told["observation"]["names"] == ["slide", "slide_vel"]
    assert all(f"*{term}*" in told["docstring"] for term in told["reward_terms"])
    assert all(f"`{row['name']}`" in told["docstring"] for row in told["config"])


def test_a_model_within_the_assets_stays_where_it_is(tmp_path: Path) -> None:
    inside = tmp_path / "assets" / "robots" / "hop.xml"
    inside.parent.mkdir(parents=True)
    inside.write_bytes((gymnasium_assets() / "hopper.xml").read_bytes())
    assert new(tmp_path, "hop_on", "--model", str(inside)) == 0
    assert [path.name for path in (tmp_path / "assets").iterdir()] == ["robots"]
    assert "robots/hop.xml" in (tmp_path / "envs" / "hop_on_env.py").read_text()


BARE = '<mujoco><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>{}</mujoco>'


@pytest.mark.parametrize(
    ("words", "model", "said"),
    [
        (["MyTask"], None, "Perhaps my_task"),
        (["ant"], None, "there is an environment ant already"),
        (["my_env_task"], None, "`env`"),
        (["arm_2"], None, "digit"),
        (["fine", "--model", "nowhere.xml"], None, "no model nowhere.xml"),
        (["fine"], BARE.format(""), "no actuator"),
        (["fine"], BARE.format('<actuator><motor joint="j"/></actuator>'), "no ctrlrange"),
        (["fine"], "<mujoco><asset><mesh file='a.stl'/></asset></mujoco>", "must come along"),
        (["fine"], "<mujoco><worldbody>", "MuJoCo refuses the model"),
    ],
)
def test_what_will_not_do_is_refused_and_nothing_is_written(
    tmp_path: Path, words: list[str], model: str | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if model is not None:
        (tmp_path / "given.xml").write_text(model)
        words = [*words, "--model", str(tmp_path / "given.xml")]
    assert new(tmp_path, *words) in (1, 2)
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "recipes").mkdir()
    mine = tmp_path / "recipes" / "my_task_env.train.json"
    mine.write_text("{}")
    assert new(tmp_path, "my_task") == 2
    assert "exists already" in capsys.readouterr().err
    assert mine.read_text() == "{}"
    assert not (tmp_path / "envs").exists()


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench import durable

    write = durable.write_bytes

    def fill(path: Path, content: bytes) -> None:
        if path.name == "two":
            raise OSError(28, "No space left on device")
        write(path, content)

    monkeypatch.setattr(durable, "write_bytes", fill)
    with pytest.raises(OSError, match="No space"):
        write_files({tmp_path / "one": b"1", tmp_path / "two": b"2"})
    assert list(tmp_path.iterdir()) == []


def test_what_was_written_is_told_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert new(tmp_path, "my_task", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["env_id"] == "workbench/MyTask-v0"
    assert all((tmp_path / file).is_file() for file in told["files"])
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "assets" / "my_task.xml")).nu == 1
