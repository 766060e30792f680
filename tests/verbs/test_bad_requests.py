"""Requests that nobody should make are answered in one sentence, before anything is begun."""

from __future__ import annotations

import pytest

from workbench.cli import main
from workbench.project import Project


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("record cart_pole -o /", "is a folder"),
        ("record cart_pole -o .", "is a folder"),
        ("train cart_pole --algorithm=", "algorithm must be one of ppo, sac, td3, got ''"),
        ("train cart_pole --set video_count=0", "video_count must be at least 1"),
        ("train cart_pole --seeds 1,,2", "nothing between commas"),
        ("train cart_pole --tag=\x1b[31m", "must be a list of words that can be shown"),
        ("train cart_pole --set ppo.gamma=1e400", "ppo.gamma must be a finite number"),
        ("train cart_pole --set env.mass=2", "make a variant"),
        ("stop 7f3a --timeout nan", "--timeout takes"),
    ],
)
def test_it_is_one_sentence_and_nothing_is_begun(
    project: Project, capsys: pytest.CaptureFixture[str], words: str, says: str
) -> None:
    assert main(["--project", str(project.root), *words.split()]) == 2
    shown = capsys.readouterr()
    assert says in shown.err
    assert shown.out == ""
    assert list(project.root.iterdir()) == []
