import io
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.cli import main
from workbench.project import Project
from workbench.runs.directory import RunDirectory
from workbench.runs.events import EventWriter
from workbench.runs.filtering import Filter
from workbench.runs.state import StateFile
from workbench.runs.states import RunState
from workbench.runs.store import RunStore
from workbench.verbs.run_text import steps_text
from workbench.verbs.runs import table


def make(project: Project, short_name: str, state: RunState, reason: str = "", **spec: Any) -> RunDirectory:
    algorithm = spec.setdefault("algorithm", "ppo")
    record = {
        "spec": {"env_id": f"workbench/{short_name}-v0", "seed": 1, "total_steps": 15_000_000, **spec},
        "environment": {"name": short_name},
        "created": time.time() - 3600,
    }
    run = RunDirectory.create(project.runs, algorithm, short_name, files={"run.json": record})
    if state is RunState.QUEUED:
        StateFile(run.state_path).write_queued(queued_ns=time.time_ns())
    else:
        StateFile(run.state_path).write(state, reason=reason)
    return run


@pytest.fixture
def runs(project: Project) -> dict[str, RunDirectory]:
    found = {
        "ant": make(project, "ant_no_contact", RunState.RUNNING, tags=["baseline"]),
        "failed": make(project, "half_cheetah", RunState.FAILED, "loss not finite", seed=2),
        "sac": make(project, "half_cheetah", RunState.FINISHED, "goal", algorithm="sac"),
        "queued": make(project, "cart_pole", RunState.QUEUED),
    }
    with EventWriter(found["ant"].events_path) as writer:
        now = time.time()
        for age in (40, 0):
            values = {"rollout/ep_rew_mean": 1402.0}
            steps = 9_150_000 - 9800 * age
            writer.append("metrics", time=now - age, steps=steps, wall_s=900 - age, iteration=1, values=values)
        writer.append("evaluation", mean_return=1688.4, std_return=74.2)
    return found


def listing(project: Project, *words: str) -> int:
    return main(["runs", "--project", str(project.root), *words])


def test_the_list_shows_what_each_run_is_and_how_far(
    project: Project, runs: dict[str, RunDirectory], capsys: pytest.CaptureFixture[str]
) -> None:
    assert listing(project) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].replace("Best eval", "Best").split()[:7] == [
        "State", "Run", "Algo", "Seed", "Progress", "Steps", "Return"
    ]  # fmt: skip
    assert lines[0].endswith("ETA or end")
    assert [line.split()[1] for line in lines[1:3]] == ["running", "queued"]
    ant = lines[1]
    for text in ("● running", f"ant_no_contact {runs['ant'].short_id}", "PPO", "61 %", "9.15 of 15 M", "1 402"):
        assert text in ant
    for text in ("1 688 ± 74", "9.8 k", "1h", "baseline", "10m"):
        assert text in ant
    assert "first in the queue" in lines[2]
    assert any("✗ failed" in line and "loss not finite" in line for line in lines)
    assert "without a supervisor" in err


def test_steps_stand_alone_where_another_limit_ends_the_run(project: Project, runs: dict[str, RunDirectory]) -> None:
    ant = next(row for row in RunStore(project.runs).list() if row.run == runs["ant"])
    assert steps_text(ant).replace("\u00a0", " ") == "9.15 of 15 M"
    assert steps_text(replace(ant, progress=0.9)).replace("\u00a0", " ") == "9.15 M"


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_narrow_terminal_keeps_the_columns_of_most_worth(
    project: Project, runs: dict[str, RunDirectory], width: int
) -> None:
    lines = table(RunStore(project.runs).list(), width, io.TextIOWrapper(io.BytesIO(), "utf-8"))
    assert max(map(len, lines)) <= width
    for title in ("State", "Run", "Progress"):
        assert title in lines[0]
    assert ("Tags" in lines[0]) is (width == 200)


def test_a_terminal_without_these_signs_gets_plain_ones(project: Project, runs: dict[str, RunDirectory]) -> None:
    lines = table(RunStore(project.runs).list(), None, io.TextIOWrapper(io.BytesIO(), "ascii"))
    assert "\n".join(lines).isascii()
    assert lines[1].startswith("> running")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {"ant", "failed", "sac", "queued"}),
        ("cheetah", {"failed", "sac"}),
        ("BASELINE", {"ant"}),
        ("state:live", {"ant"}),
        ("state:ended", {"failed", "sac"}),
        ("state:bad", {"failed"}),
        ("state:queued", {"queued"}),
        ("algo:sac", {"sac"}),
        ("env:half_* seed:2", {"failed"}),
        ("env:half", set()),
        ("tag:base*", {"ant"}),
        ("cheetah -state:bad", {"sac"}),
    ],
)
def test_a_filter_chooses_runs(project: Project, runs: dict[str, RunDirectory], text: str, expected: set[str]) -> None:
    chosen = Filter.parse(text)
    names = {row.name for row in RunStore(project.runs).list() if chosen.matches(row)}
    assert names == {runs[key].name for key in expected}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("stat:live", "Did you mean state"),
        ("state:runing", "Did you mean running"),
        ("return>5m", "did you mean 5M"),
        ('"open', "has no end"),
    ],
)
def test_a_filter_that_cannot_be_is_exit_two(
    project: Project, runs: dict[str, RunDirectory], capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    assert listing(project, text) == 2
    assert says in capsys.readouterr().err


def test_a_minus_is_no_option_and_a_list_is_sorted(
    project: Project, runs: dict[str, RunDirectory], capsys: pytest.CaptureFixture[str]
) -> None:
    assert listing(project, "cheetah", "-state:bad", "--json") == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)["runs"]] == [runs["sac"].name]
    assert listing(project, "-has:return", "--sort", "seed", "--json") == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["name"] == runs["failed"].name
    assert listing(project, "rollout/ep_rew_mean>1k", "--json") == 0
    [row] = json.loads(capsys.readouterr().out)["runs"]
    assert row["values"] == {"rollout/ep_rew_mean": 1402.0}
    assert listing(project, "--sort", "sed") == 2
    assert "Did you mean seed" in capsys.readouterr().err


def test_the_help_explains_the_filter(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["runs", "--help"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert "~return" in out
    assert "state:bad -tag:junk" in out


def test_json_is_one_document(
    project: Project, runs: dict[str, RunDirectory], capsys: pytest.CaptureFixture[str]
) -> None:
    assert listing(project, "state:live", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["hidden"] == 3
    [row] = document["runs"]
    assert row["path"] == str(runs["ant"].path)
    assert row["eta_s"] == pytest.approx((15_000_000 - 9_150_000) / 9800, rel=0.01)


def test_no_runs_is_said_and_is_no_error(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert listing(project) == 0
    assert "No runs" in capsys.readouterr().err


def test_watching_prints_a_line_a_change(project: Project, runs: dict[str, RunDirectory]) -> None:
    command = [sys.executable, "-m", "workbench", "runs", "--project", str(project.root), "--watch", "env:cart_pole"]
    watcher = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert watcher.stdout is not None
    assert "queued" in watcher.stdout.readline()
    StateFile(runs["queued"].state_path).write(RunState.FAILED, reason="no such file")
    line = watcher.stdout.readline()
    assert "failed: no such file" in line
    assert runs["queued"].short_id in line
    watcher.send_signal(signal.SIGINT)
    rest, _ = watcher.communicate(timeout=10)
    assert rest == ""
    assert watcher.returncode == 0


def test_watching_ends_with_whoever_reads_it(project: Project, runs: dict[str, RunDirectory]) -> None:
    command = [sys.executable, "-m", "workbench", "runs", "--project", str(project.root), "--watch", "env:cart_pole"]
    watcher = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert watcher.stdout is not None
    assert b"queued" in watcher.stdout.readline()
    watcher.stdout.close()
    assert watcher.wait(timeout=10) == 0
    assert watcher.stderr is not None
    assert watcher.stderr.read() == b""
    watcher.stderr.close()


def test_a_list_of_another_folder(project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(Project(tmp_path / "other"), "ant", RunState.FINISHED, "steps")
    assert listing(project, "--output-dir", str(tmp_path / "other" / "runs")) == 0
    assert "✓ finished" in capsys.readouterr().out


def test_a_folder_that_cannot_be_looked_into_is_not_an_empty_one(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    (project.root / "file").write_text("")
    assert listing(project, "--output-dir", str(project.root / "file")) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == f"workbench: Not a directory ({project.root / 'file'}).\n"
    assert listing(project, "--output-dir", str(project.root / "nowhere")) == 0
