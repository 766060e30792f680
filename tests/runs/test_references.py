from pathlib import Path

import pytest

from workbench.errors import NotFoundError
from workbench.project import Project
from workbench.runs.directory import RunDirectory
from workbench.runs.references import find_run, resolve_checkpoint


def make(project: Project, name: str, *steps: int, algorithm: str = "PPO", env_id: str = "") -> RunDirectory:
    run = RunDirectory(project.runs / algorithm / name)
    run.path.mkdir(parents=True)
    run.spec_path.write_text(f'{{"spec": {{"env_id": "{env_id}"}}}}')
    for count in steps:
        (run.path / f"checkpoint_{count:012d}").mkdir()
    return run


@pytest.fixture
def runs(project: Project) -> dict[str, RunDirectory]:
    found = {
        "old": make(project, "ant_20260101-080000_7f3a", 0, 5000, env_id="workbench/Ant-v0"),
        "new": make(project, "ant_20260202-080000_1c08", 0, 5000, 9000, env_id="workbench/Ant-v0"),
        "begun": make(project, "ant_20260303-080000_beef", env_id="workbench/Ant-v0"),
        "other": make(project, "ant_no_contact_20260101-090000_0b72", 0, algorithm="SAC"),
    }
    found["new"].set_best("checkpoint_000000005000")
    return found


def steps(path: Path) -> tuple[str, int]:
    return path.parent.name[-4:], int(path.name.split("_")[1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1c08:best", ("1c08", 5000)),
        ("1c08:latest", ("1c08", 9000)),
        ("1c08:9000", ("1c08", 9000)),
        ("1c08:9_000", ("1c08", 9000)),
        ("ant_20260202-080000_1c08:0", ("1c08", 0)),
        ("ant", ("1c08", 5000)),  # the newest run of it that has a checkpoint: its best
        ("ant:latest", ("1c08", 9000)),
        ("workbench/Ant-v0", ("1c08", 5000)),
        ("7f3a", ("7f3a", 5000)),  # no best: the latest
        ("7F3A", ("7f3a", 5000)),
        ("ant_20260101-080000_7f3a", ("7f3a", 5000)),
        ("ant_202601", ("7f3a", 5000)),
        ("ant_no_contact", ("0b72", 0)),
        ("ant_no_contact_2", ("0b72", 0)),
    ],
)
def test_a_reference_names_a_checkpoint(
    project: Project, runs: dict[str, RunDirectory], text: str, expected: tuple[str, int]
) -> None:
    assert steps(resolve_checkpoint(project, text)) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1c08:8000", ["no checkpoint of 8000", "0, 5000, 9000", "1c08:latest"]),
        ("7f3a:best", ["no best", "0, 5000"]),
        ("beef", ["no checkpoint yet"]),
        ("beef:latest", ["no checkpoint yet"]),
        ("ant_20", ["3 runs match", "ant_20260202-080000_1c08"]),
        ("ant_no", ["no run `ant_no`", "ant_no_contact_20260101-090000_0b72"]),  # does not reach into the date
        ("1c09", ["no run `1c09`", "1c08"]),
        ("", ["no policy is named"]),
        (":best", ["no run `:best`"]),
        ("x" * 5000, ["no run"]),
        ("x" * 5000 + ":best", ["no run"]),
    ],
)
def test_a_miss_says_what_is_there_and_what_to_type(
    project: Project, runs: dict[str, RunDirectory], text: str, says: list[str]
) -> None:
    with pytest.raises(NotFoundError) as caught:
        resolve_checkpoint(project, text)
    for words in says:
        assert words in str(caught.value)


def test_without_runs_a_miss_says_how_to_make_one(project: Project) -> None:
    with pytest.raises(NotFoundError, match="workbench train"):
        resolve_checkpoint(project, "ant")


def test_four_digits_of_two_runs_must_be_told_apart(project: Project, runs: dict[str, RunDirectory]) -> None:
    make(project, "cart_pole_20260101-080000_7f3a", 0)
    with pytest.raises(NotFoundError, match="2 runs match"):
        find_run(project.runs, "7f3a")


def test_an_existing_path_comes_first(
    project: Project, runs: dict[str, RunDirectory], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs["new"].path
    monkeypatch.chdir(tmp_path)
    zipped = tmp_path / "best_model.zip"
    zipped.write_bytes(b"PK")
    policy = run / "checkpoint_000000000000" / "policy.json"
    policy.write_text("{}")
    assert resolve_checkpoint(project, str(run)) == run / "checkpoint_000000005000"
    assert resolve_checkpoint(project, str(run / "best")) == run / "checkpoint_000000005000"
    assert resolve_checkpoint(project, str(policy)) == policy.parent
    assert resolve_checkpoint(project, str(policy.parent)) == policy.parent
    assert resolve_checkpoint(project, "best_model.zip") == zipped
    (tmp_path / "ant").mkdir()  # a folder that holds neither run nor checkpoint hides nothing
    assert resolve_checkpoint(project, "ant") == run / "checkpoint_000000005000"
    assert find_run(project.runs, str(run)) == runs["new"]


def test_another_folder_of_runs(project: Project, tmp_path: Path) -> None:
    elsewhere = Project(tmp_path / "elsewhere")
    make(elsewhere, "ant_20260101-080000_7f3a", 0)
    assert steps(resolve_checkpoint(project, "ant", elsewhere.runs)) == ("7f3a", 0)


def test_what_can_only_be_a_path_is_missed_as_one(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotFoundError, match=r"no file policy\.onnx"):
        resolve_checkpoint(project, "policy.onnx")
    (tmp_path / "logs").mkdir()
    with pytest.raises(NotFoundError, match="logs is a folder without a policy") as caught:
        resolve_checkpoint(project, "logs")
    assert "workbench import logs" in caught.value.hint
    (tmp_path / "logs" / "policy.onnx").touch()
    with pytest.raises(NotFoundError, match="logs is a folder") as caught:
        resolve_checkpoint(project, "logs")
    assert "logs/policy.onnx" in caught.value.hint
