"""The cards of evaluations and comparisons read what the commands print."""

from __future__ import annotations

import pytest

from tests.verbs.coins import with_coin
from workbench.cli import main
from workbench.project import Project
from workbench.ui.judged_text import comparison_text, document_in, evaluation_text, worst_episodes


def printed(project: Project, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    main(["--project", str(project.root), *words, "--json", "--progress"])
    shown = capsys.readouterr()
    document = document_in(reversed([*shown.err.splitlines(), *shown.out.splitlines()]))
    assert document is not None
    return document


@pytest.fixture
def coin(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    # In a process of its own it stands back; this one goes on with other tests.
    monkeypatch.setattr("os.nice", lambda by: 0)
    return with_coin(project)


def test_an_evaluation(coin: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the agent that does nothing every coin shows heads; an episode is worth the last digit of its number."""
    words = ("evaluate", "coin", "--agent", "zero", "--episodes", "20", "--seed", "3", "--require-success", "1")
    found = printed(coin, capsys, *words)
    shown = evaluation_text(found).plain.replace("\u00a0", " ")
    assert "20 episodes, 3 to 22, greedy" in shown
    assert "return    4.5 ± 2.87, from 0 to 9" in shown
    # 20 of 20: the lower end is n / (n + z²) = 20 / 23.84.
    assert "success   20 of 20, 95 % 83.9 – 100 %" in shown
    assert "verdict   ✓ passed" in shown
    assert [seed for seed, _ in worst_episodes(found)][:2] == [10, 20]


def test_a_comparison(coin: Project, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(coin, capsys, "compare", "zero", "random", "--env", "coin", "--episodes", "60")
    shown = comparison_text(found, 70).plain.replace("\u00a0", " ")
    assert "60 episodes, 100000 to 100059" in shown
    assert "60 of 60 (94 – 100 %)" in shown
    assert "zero against random: did better" in shown
    assert "missed 0 that it did" in shown
