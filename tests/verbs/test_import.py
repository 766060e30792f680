"""`workbench import`, and the verbs that show what it found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.runs.foreign.files import age, contents, write_monitor, write_scalars
from workbench.cli import main
from workbench.project import Project

Out = pytest.CaptureFixture[str]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two runs, both long done: one of Stable-Baselines3, one of CleanRL."""
    folder = tmp_path / "logs"
    write_monitor(folder / "hopper" / "monitor.csv", [(1.0, 10, 1.0), (3.0, 10, 2.0)])
    scalars = [("charts/episodic_return", 5.0, 50), ("charts/episodic_return", 7.0, 100)]
    write_scalars(folder / "Ant-v4__sac_continuous_action__2__1700000000", scalars, text={"total_timesteps": 100})
    age(folder, 7200.0)
    return folder


def workbench(project: Project, verb: str, *words: str) -> int:
    return main([verb, "--project", str(project.root), *words])


def rows(project: Project, out: Out, *words: str) -> list[dict[str, object]]:
    assert workbench(project, "runs", "--json", *words) == 0
    found: list[dict[str, object]] = json.loads(out.readouterr().out)["runs"]
    return found


def test_runs_of_other_tools_are_listed_and_nothing_is_written_among_them(
    project: Project, logs: Path, capsys: Out
) -> None:
    before = contents(logs)
    assert workbench(project, "import", str(logs)) == 0
    assert capsys.readouterr().out == f"{logs}: 2 runs: 1 CleanRL, 1 Stable-Baselines3\n"
    assert workbench(project, "runs") == 0
    listed = capsys.readouterr().out
    assert "SAC cleanrl" in listed and "sb3" in listed and "Hopper-v4" in listed
    [row] = rows(project, capsys, "tool:cleanrl")
    assert (row["tool"], row["state"], row["steps"], row["last_return"]) == ("cleanrl", "finished", 100, 6.0)
    [row] = rows(project, capsys, "tool:sb3")
    assert (row["state"], row["reason"], row["source"]) == (
        "stopped",
        "nothing was written for an hour",
        str(logs / "hopper"),
    )
    assert contents(logs) == before


def test_what_is_written_later_is_shown_by_the_next_list(project: Project, logs: Path, capsys: Out) -> None:
    workbench(project, "import", str(logs))
    with (logs / "hopper" / "monitor.csv").open("a") as file:
        file.write("9.0,30,5.0\n")
    write_monitor(logs / "new" / "monitor.csv", [])
    capsys.readouterr()
    found = {Path(str(row["source"])).name: row for row in rows(project, capsys, "tool:sb3")}
    assert set(found) == {"hopper", "new"}
    assert (found["hopper"]["steps"], found["hopper"]["state"]) == (50, "running")


def test_it_is_reported_like_one_of_ours(project: Project, logs: Path, capsys: Out) -> None:
    workbench(project, "import", str(logs))
    capsys.readouterr()
    [row] = rows(project, capsys, "tool:cleanrl")
    assert workbench(project, "report", str(row["id"]), "--format", "md") == 0
    text = Path(capsys.readouterr().out.strip()).read_text()
    assert "Ant-v4" in text and "SAC" in text


def test_folders_are_listed_and_forgotten(project: Project, logs: Path, tmp_path: Path, capsys: Out) -> None:
    other = tmp_path / "other"
    write_monitor(other / "monitor.csv", [])
    assert workbench(project, "import", str(logs), str(other)) == 0
    capsys.readouterr()
    assert workbench(project, "import", "--list") == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{logs}: 2 runs: 1 CleanRL, 1 Stable-Baselines3",
        f"{other}: 1 run: 1 Stable-Baselines3",
    ]
    assert workbench(project, "import", "--remove", str(logs)) == 0
    capsys.readouterr()
    assert [row["source"] for row in rows(project, capsys)] == [str(other)]
    assert workbench(project, "import", "--list", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["folders"], [run["folder"] for run in document["runs"]]) == ([str(other)], [str(other)])


def test_a_folder_may_be_named_before_it_holds_a_run(project: Project, tmp_path: Path, capsys: Out) -> None:
    assert workbench(project, "import", "--ahead", str(tmp_path)) == 0
    assert capsys.readouterr().out == f"{tmp_path}: no runs yet\n"
    write_monitor(tmp_path / "later" / "monitor.csv", [])
    assert len(rows(project, capsys)) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gone",), "there is no folder gone."),
        ((".",), "there is no run of another tool in"),
        ((), "name a folder with runs of another tool."),
        (("--remove", "."), ". is not watched."),
        (("--list", "."), "takes no DIR"),
    ],
)
def test_what_makes_no_sense_is_one_sentence(
    words: tuple[str, ...], said: str, project: Project, tmp_path: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    assert workbench(project, "import", *words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err.splitlines()[0]
    assert not (project.root / "foreign.json").exists()


def test_a_run_of_another_tool_is_not_deleted(project: Project, logs: Path, capsys: Out) -> None:
    workbench(project, "import", str(logs))
    capsys.readouterr()
    [row] = rows(project, capsys, "tool:cleanrl")
    assert workbench(project, "delete", "--yes", str(row["id"])) == 2
    assert "was made by CleanRL; it can only be looked at" in capsys.readouterr().err
