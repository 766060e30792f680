import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runs.fakes import until, with_fakes
from tests.terminals import Terminal
from workbench.cli import main
from workbench.project import Project
from workbench.runs.directory import RunDirectory, run_directories
from workbench.runs.state import observe
from workbench.runs.states import RunState
from workbench.runs.stopping import wait_for_end
from workbench.specs import RunSpec
from workbench.verbs import train
from workbench.verbs.rehearsing import Rehearsals


@pytest.fixture(autouse=True)
def runs_root(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    yield from with_fakes(project.runs, monkeypatch)


def workbench(project: Project, *words: str) -> int:
    return main(["train", "--project", str(project.root), *words])


def all_runs(root: Path) -> list[RunDirectory]:
    return sorted(run_directories(root), key=lambda run: run.record()["seed"])


def test_a_run_is_followed_to_its_end(project: Project, runs_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert workbench(project, "cart_pole", "--seed", "7", "--max-steps", "1k", "--tag", "iterations=3") == 0
    [run] = all_runs(runs_root)
    spec = run.record()["spec"]
    assert (spec["seed"], spec["total_steps"], spec["tags"]) == (7, 1000, ["iterations=3"])
    assert run.record()["environment"]["class_name"] == "CartPoleEnv"
    out, err = capsys.readouterr()
    assert "finished: steps" in out
    assert f"best    {run.path}/checkpoint_000000000300  (12.5 ± 0.5)" in out
    assert f"folder  {run.path}" in out
    assert "cart_pole" in err


def test_the_recorded_command_asks_for_the_same_run(project: Project, runs_root: Path) -> None:
    words = ["--seed", "1", "--max-steps", "1000", "--set", "ppo.gamma=0.5", "--tag", "iterations=1"]
    assert workbench(project, "cart_pole", *words) == 0
    [first] = all_runs(runs_root)
    _, _, *again = first.record()["command"]
    assert workbench(project, *again) == 0
    specs = [run.record()["spec"] for run in run_directories(runs_root)]
    assert len(specs) == 2
    assert specs[0] == specs[1]
    assert specs[0]["ppo"]["gamma"] == 0.5


def test_seeds_make_a_group_that_differs_in_nothing_else(
    project: Project, runs_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workbench(project, "cart_pole", "--seeds", "1-2,5", "--detach", "--json", "--tag", "iterations=1") == 0
    printed = json.loads(capsys.readouterr().out)["runs"]
    runs = all_runs(runs_root)
    assert {row["path"] for row in printed} == {str(run.path) for run in runs}
    specs = [run.record()["spec"] for run in runs]
    assert [spec.pop("seed") for spec in specs] == [1, 2, 5]
    assert specs[0]["group"]
    assert specs[0] == specs[1] == specs[2]
    for run in runs:
        assert wait_for_end(run, 20).state is RunState.FINISHED


def test_without_a_seed_one_is_drawn_and_recorded(project: Project, runs_root: Path) -> None:
    for _ in range(2):
        assert workbench(project, "cart_pole", "--tag", "iterations=1") == 0
    one, other = (run.record() for run in all_runs(runs_root))
    assert one["seed"] == one["spec"]["seed"] != other["seed"]
    assert one["group"] is None
    assert str(one["seed"]) in one["command"]


def test_a_run_that_crashes_is_exit_one_with_its_last_words(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workbench(project, "cart_pole", "--tag", "crash") == 1
    out, _ = capsys.readouterr()
    assert "crashed" in out
    assert "RuntimeError: loss is not finite" in out


def test_json_is_one_document_and_nothing_else(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert workbench(project, "cart_pole", "--json", "--tag", "iterations=2") == 0
    out, err = capsys.readouterr()
    [row] = json.loads(out)["runs"]
    assert (row["state"], row["steps"], row["algorithm"]) == ("finished", 200, "ppo")
    assert row["best_evaluation"]["mean_return"] == 12.5
    assert "cart_pole" in err


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was asked to be measured; nothing is."""
    asked: list[dict[str, Any]] = []

    def measure(self: Rehearsals, spec: RunSpec, environment: dict[str, Any], start: tuple[int, int]) -> dict[str, Any]:
        asked.append({"env_id": spec.env_id, "start": start, **environment})
        return {"reason": "this is a test"}

    monkeypatch.setattr(Rehearsals, "measure", measure)
    return asked


def test_a_dry_run_measures_what_the_run_would_take(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A machine that runs other tests beside this one may take longer than a person would wait.
    monkeypatch.setattr("workbench.verbs.rehearsing.LATE_S", 60.0)
    words = ["--max-steps", "1M", "--checkpoint-freq", "100", "--set", "n_envs=16", "--seeds", "1,2"]
    assert workbench(project, "cart_pole", "--dry-run", "--json", *words) == 0
    rows = json.loads(capsys.readouterr().out)["runs"]
    assert rows[0]["measured"] == rows[1]["measured"]
    found = rows[0]["measured"]
    assert found["steps_per_s"] > 100 and 0 < found["collection_share"] < 1
    assert found["seconds"] == pytest.approx(1e6 / found["steps_per_s"])
    assert found["memory_bytes"] > 100e6 and found["checkpoints"] > 2
    assert found["disk_bytes"] == found["checkpoints"] * found["checkpoint_bytes"]
    assert not all_runs(project.runs)


def test_what_cannot_be_measured_is_said_and_the_plan_stands(
    project: Project, capsys: pytest.CaptureFixture[str], measured: list[dict[str, Any]]
) -> None:
    assert workbench(project, "cart_pole", "--dry-run") == 0
    assert "  not measured: this is a test" in capsys.readouterr().out
    assert measured[0]["class_name"] == "CartPoleEnv"


@pytest.mark.usefixtures("measured")
def test_a_dry_run_starts_nothing(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert workbench(project, "cart_pole", "-a", "SAC", "--max-steps", "15M", "--dry-run", "--json") == 0
    [row] = json.loads(capsys.readouterr().out)["runs"]
    assert row["spec"]["algorithm"] == "sac"
    assert row["spec"]["total_steps"] == 15_000_000
    assert row["command"][:5] == ["workbench", "train", "cart_pole", "--algorithm", "sac"]
    assert workbench(project, "cart_pole", "--dry-run") == 0
    out = capsys.readouterr().out
    assert "  ppo.gamma = " in out
    assert "  sac." not in out
    assert not project.runs.exists()


def test_everything_that_is_wrong_is_said_at_once(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["-a", "ppo2", "--set", "ppo.learning_rat=1", "--set", "ppo.gamma=1.5", "--set", "env.mass=2"]
    assert workbench(project, "cart_pole", *words, "--seeds", "3-1") == 2
    out, err = capsys.readouterr()
    assert out == ""
    for words_of_it in (
        "nearest is ppo",
        "nearest is learning_rate",
        "from 0 to 1, got 1.5",
        "variant",
        "count upwards",
    ):
        assert words_of_it in err
    assert "Traceback" not in err
    assert not project.runs.exists()


def test_a_problem_of_all_environments_is_said_once(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert workbench(project, "*", "--set", "ppo.gamma=1.5") == 2
    err = capsys.readouterr().err
    assert "ppo.gamma must be from 0 to 1, got 1.5" in err


@pytest.mark.usefixtures("measured")
def test_an_environment_without_a_recipe_must_be_given_a_budget(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workbench(project, "ant", "--dry-run") == 2
    assert "budget" in capsys.readouterr().err
    assert workbench(project, "ant", "--dry-run", "--max-steps", "1000") == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "name an environment"),
        (["cart_pole", "-p", "ant"], "one pattern"),
        (["nothing_like_it"], "no environment matches"),
        (["zzz*"], "no environment matches"),
        (["cart_pole", "--from", "7f3a"], "there is no run `7f3a`"),
        (["cart_pole", "--video-on-checkpoint", "--set", "tb_log_every=0"], "tb_log_every must be at least 1"),
    ],
)
def test_a_wrong_request_is_one_sentence_and_exit_two(
    project: Project, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert workbench(project, *words) == 2
    assert says in capsys.readouterr().err


def test_a_number_that_is_none_is_exit_two(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("many", "1.5", "1e400", ""):
        assert workbench(project, "cart_pole", "--max-steps", text) == 2
    assert "whole number" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_one_sentence(
    project: Project, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    assert workbench(project, "cart_pole", "--output-dir", str(tmp_path / "file")) == 1
    err = capsys.readouterr().err
    assert "no run can be written" in err
    assert "Traceback" not in err


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="workbench train")
    train.add_arguments(parser)
    return parser.parse_args(words)


def test_the_spellings_of_superdex_mean_the_same() -> None:
    theirs = parse("--algorithm", "PPO", "--num_env_runners", "8", "--checkpoint_freq", "5", "--max_iterations", "3")
    ours = parse("-a", "PPO", "--n-envs", "8", "--checkpoint-freq", "5", "--max-iterations", "3")
    assert theirs == ours
    assert parse("-n", "8", "-cf", "5", "-mi", "3", "--output_path", "d") == parse(
        "--n-envs", "8", "--checkpoint-freq", "5", "--max-iterations", "3", "--output-dir", "d"
    )
    assert parse("--pattern", "ant").pattern_flag == "ant"
    assert parse("--video_on_checkpoint").video is parse("-vid").video is True


def test_the_help_has_no_spellings_of_others(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse("--help")
    text = capsys.readouterr().out
    assert "--max-steps" in text
    assert "--from" in text
    assert "--video-on-checkpoint" in text
    assert "_" not in text.replace("PATTERN", "").replace("learning_rate", "").replace("20_000", "").replace("1e-3", "")


@pytest.fixture
def terminal(project: Project) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def open_one(*words: str) -> Terminal:
        words = ("train", "--project", str(project.root), "cart_pole", "--tag", "iterations=100000", *words)
        opened.append(Terminal(*words))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def test_the_first_ctrl_c_stops_and_saves(terminal: Callable[..., Terminal], runs_root: Path) -> None:
    shown = terminal()
    shown.read_until("return")
    [run] = all_runs(runs_root)
    shown.interrupt()
    assert shown.wait() == 0
    assert observe(run).state is RunState.STOPPED
    assert run.latest() is not None
    assert "\x1b[1A" in shown.text  # redrawn in place
    assert "Traceback" not in shown.text


def test_the_second_ctrl_c_leaves_the_run_stopping(terminal: Callable[..., Terminal], runs_root: Path) -> None:
    shown = terminal("--tag", "deaf")
    shown.read_until("return")
    [run] = all_runs(runs_root)
    shown.interrupt()
    shown.read_until("Stopping")
    shown.interrupt()
    assert shown.wait() == 130
    assert observe(run).state is RunState.RUNNING
    assert "workbench runs" in shown.text


def test_a_killed_terminal_leaves_the_run_training(terminal: Callable[..., Terminal], runs_root: Path) -> None:
    shown = terminal()
    shown.read_until("return")
    [run] = all_runs(runs_root)
    shown.close()
    seen = run.events_path.stat().st_size
    until(lambda: run.events_path.stat().st_size > seen)
    assert observe(run).state is RunState.RUNNING
