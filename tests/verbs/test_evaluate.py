from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.verbs.coins import with_coin
from workbench.cli import main
from workbench.errors import GraphicsError
from workbench.policies.chances import wilson
from workbench.project import Project


@pytest.fixture
def coin(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    # In a process of its own it stands back; this one goes on with other tests.
    monkeypatch.setattr("os.nice", lambda by: 0)
    return with_coin(project)


def evaluate(project: Project, *words: str) -> int:
    return main(["--project", str(project.root), "evaluate", *words])


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_it_says_how_good_the_policy_is_and_leaves_a_table(
    coin: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "table.csv"
    assert evaluate(coin, "coin", "--agent", "random", "--episodes", "40", "--json", "--csv", str(table)) == 0
    document = told(capsys)
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["seed"]) for row in rows] == list(range(100000, 100040))
    good = [row["success"] == "true" for row in rows]
    assert 5 < sum(good) < 35
    # The worth of an episode is the last digit of its number.
    returns = [(number % 10) * (1 if one else -1) for number, one in zip(range(40), good, strict=True)]
    assert [float(row["return"]) for row in rows] == document["returns"] == returns
    assert document["success_rate"] == sum(good) / 40 and document["success_measured"] is True
    expected = wilson(sum(good), 40)
    assert document["success_range"] == [expected.low, expected.high]
    assert document["failures"] == [{"ended_by": "terminated", "episodes": 40 - sum(good)}]
    assert document["worst"][0]["return"] == min(returns) and document["worst"][0]["success"] is False
    assert (document["finished"], document["agent"], document["num_episodes"]) == (True, "random", 40)


def test_words_tell_the_same(coin: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate(coin, "coin", "--agent", "zero", "--episodes", "20", "--seed", "3") == 0
    shown = capsys.readouterr().out
    assert "zero in coin: 20 episodes, 3 to 22" in shown
    assert "success    20 of 20, 95 % range 83 % to 100 %" in shown
    assert "4.5 ± 2.87" in shown


def test_progress_is_told_in_a_pipe_only_where_it_is_asked_for(
    coin: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(coin, "coin", "--agent", "zero", "--episodes", "20", "--json", "--progress") == 0
    shown = capsys.readouterr()
    assert "evaluating zero: 0 of 20 episodes" in shown.err and json.loads(shown.out)["finished"] is True
    assert evaluate(coin, "coin", "--agent", "zero", "--episodes", "20", "--json") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("agent", "bar", "code"), [("zero", "1", 0), ("zero", "90%", 0), ("random", "0.95", 1), ("random", "0", 0)]
)
def test_the_bar_decides_the_exit_code(
    agent: str, bar: str, code: int, coin: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("coin", "--agent", agent, "--episodes", "60", "--require-success", bar, "--json")
    assert evaluate(coin, *words) == code
    assert told(capsys)["verdict"]["passed"] is (code == 0)


def test_an_uncertain_verdict_is_told_with_how_to_settle_it(coin: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate(coin, "coin", "--agent", "zero", "--episodes", "10", "--require-success", "0.9") == 0
    shown = capsys.readouterr()
    assert "both sides of 0.9" in shown.err and "--episodes 40" in shown.err
    assert "passed: 100 % of the episodes succeeded, 90 % are required" in shown.out


def test_a_bar_where_success_is_not_measured_is_refused(coin: Project, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("coin_mute", "--agent", "zero", "--episodes", "5")
    assert evaluate(coin, *words, "--require-success", "0.5") == 2
    shown = capsys.readouterr()
    assert "does not say what success is" in shown.err and "5 episodes" in shown.out
    assert evaluate(coin, *words) == 0
    assert "not measured" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["coin", "--episodes", "0"], "--episodes"),
        (["coin", "--seed", "-1"], "--seed"),
        (["coin", "--batch", "0"], "--batch"),
        (["coin", "--require-success", "1.5"], "--require-success"),
        (["coin", "--require-success", "most"], "'most'"),
        (["coin", "--record-worst", "11"], "--record-worst"),
        (["coin", "--csv", "/"], "--csv"),
        (["coin", "--agent", "zero", "--normalizer", "x.pkl"], "--normalizer"),
        (["coin"], "--agent random"),
        (["cion"], "cion"),
        (["coin", "--agent", "zero", "--env", "cartpole_x"], "cartpole_x"),
    ],
)
def test_a_wrong_request_is_told_before_anything_is_played(
    words: list[str], named: str, coin: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert evaluate(coin, *words) == 2
    shown = capsys.readouterr()
    assert named in shown.err and shown.out == ""


def test_the_worst_episodes_are_filmed(coin: Project, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("coin", "--agent", "zero", "--episodes", "12", "--seed", "17", "--record-worst", "2", "--json")
    assert evaluate(coin, *words) == 0
    films = [Path(film) for film in told(capsys)["films"]]
    # The numbers that end in 0, of which there is one, and in 1, of which there is one.
    sidecars = [json.loads(film.with_name(f"{film.name}.json").read_text()) for film in films]
    assert [sidecar["episodes"][0]["seed"] for sidecar in sidecars] == [20, 21]
    assert [sidecar["episodes"][0]["return"] for sidecar in sidecars] == [0, 1]
    assert all(film.stat().st_size and film.parent == coin.recordings for film in films)


def test_figures_are_told_where_nothing_can_be_filmed(
    coin: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise GraphicsError("nothing can be drawn here.")

    monkeypatch.setattr("workbench.verbs.worst_films.film", broken)
    words = ("coin", "--agent", "zero", "--episodes", "12", "--record-worst", "1", "--json")
    assert evaluate(coin, *words) == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out)["num_episodes"] == 12 and "nothing can be drawn" in shown.err


def test_figures_are_told_where_the_table_cannot_be_written(
    coin: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    words = ("coin", "--agent", "zero", "--episodes", "12", "--require-success", "0.5", "--json")
    assert evaluate(coin, *words, "--csv", str(tmp_path / "file" / "table.csv")) == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out)["verdict"]["passed"] is True
    assert "table.csv cannot be written: Not a directory" in shown.err


def test_ctrl_c_leaves_a_word_and_no_verdict(coin: Project) -> None:
    words = ("coin_slow", "--agent", "zero", "--episodes", "200", "--batch", "1", "--json")
    process = subprocess.Popen(
        [sys.executable, "-c", _STARTED, "--project", str(coin.root), "evaluate", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "playing\n"
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=30)
    assert process.returncode == 3
    assert json.loads(out)["finished"] is False
    assert "no verdict" in error and "Traceback" not in error


_STARTED = """
import sys
from workbench import cli
from workbench.policies import playing

play = playing._Played._play
def started(*args):
    sys.stderr.write("playing\\n")
    sys.stderr.flush()
    return play(*args)
playing._Played._play = started
sys.exit(cli.main())
"""
"""The command, saying when it has begun."""
