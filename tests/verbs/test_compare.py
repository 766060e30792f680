from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.policies.test_evaluation import CART_POLE, GYMNASIUM, checkpoint
from tests.verbs.coins import with_coin
from workbench.cli import main
from workbench.project import Project


@pytest.fixture
def coin(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr("os.nice", lambda by: 0)
    return with_coin(project)


def compare(project: Project, *words: str) -> int:
    return main(["--project", str(project.root), "compare", *words])


@pytest.mark.parametrize(("first", "second", "code"), [("zero", "random", 0), ("random", "zero", 1)])
def test_a_new_policy_that_is_clearly_worse_is_told_by_the_exit_code(
    first: str, second: str, code: int, coin: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (first, second, "--env", "coin", "--episodes", "40", "--json", "--csv", str(tmp_path / "table.csv"))
    assert compare(coin, *words, "--fail-if-worse") == code
    document = json.loads(capsys.readouterr().out)
    [duel] = document["comparisons"]
    assert duel["outcome"] == ("did_worse" if code else "did_better")
    with (tmp_path / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    missed = sum(row["success random"] == "false" for row in rows)
    assert {duel["improved"], duel["regressed"]} == {missed, 0}
    assert duel["p_value"] == pytest.approx(2 / 2**missed)
    assert compare(coin, *words) == 0


def test_returns_decide_where_success_is_not_measured(coin: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(coin, "random", "zero", "--env", "coin_mute", "--episodes", "40", "--fail-if-worse") == 1
    shown = capsys.readouterr().out
    assert "did worse" in shown and "not measured" in shown


def test_too_few_episodes_for_any_verdict_are_told(coin: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(coin, "random", "zero", "--env", "coin", "--episodes", "5", "--fail-if-worse") == 0
    assert "fewer than 6 episodes no difference is clear" in capsys.readouterr().err
    assert compare(coin, "random", "zero", "--env", "coin", "--episodes", "6") == 0
    assert capsys.readouterr().err == ""


def test_policies_of_one_environment_meet_the_same_episodes(
    coin: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (str(checkpoint(_folder(tmp_path, name), CART_POLE)) for name in ("a", "b"))
    assert compare(coin, first, second, "random", "--episodes", "8") == 0
    shown = capsys.readouterr().out
    # The two hold the same weights, so they do the same.
    assert "no clear difference  return 0 (0 to 0) on the same episode, higher in 0, lower in 0" in shown
    assert "cart_pole: the same 8 episodes for each, 100000 to 100007" in shown


def test_policies_of_different_environments_are_refused(
    coin: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = (
        str(checkpoint(_folder(tmp_path, "a"), CART_POLE)),
        str(checkpoint(_folder(tmp_path, "b"), GYMNASIUM)),
    )
    assert compare(coin, first, second) == 2
    assert "do not meet the same episodes" in capsys.readouterr().err
    assert compare(coin, first, second, "--env", "cart_pole", "--episodes", "2") == 2
    assert "does not fit cart_pole" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "named"), [(["zero"], "2 to 20"), (["zero", "zero"], "twice"), (["zero", "random"], "--env")]
)
def test_a_wrong_request_is_one_sentence(
    words: list[str], named: str, coin: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(coin, *words) == 2
    assert named in capsys.readouterr().err


def _folder(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder
