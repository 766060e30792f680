from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import Problem, ProblemsError, RequestError
from workbench.project import PROJECT_VARIABLE, open_project, shipped_project
from workbench.suggest import nearest, nearest_one


def test_the_current_folder_is_the_project_unless_another_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, variable, named = (tmp_path / name for name in ("here", "variable", "named"))
    for folder in (here, variable, named):
        folder.mkdir()
    monkeypatch.chdir(here)
    assert open_project().root == here.resolve()
    monkeypatch.setenv(PROJECT_VARIABLE, str(variable))
    assert open_project().root == variable.resolve()
    assert open_project(named).root == named.resolve()


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no folder"):
        open_project(tmp_path / "absent")


def test_an_empty_name_is_not_the_current_folder() -> None:
    with pytest.raises(RequestError, match="names no folder"):
        open_project("")


def test_the_shipped_catalogue_has_environments() -> None:
    assert list(shipped_project().envs.glob("*_env.py"))


def test_a_problem_reads_as_one_line() -> None:
    problem = Problem(
        "ppo.learning_rat", "is not a PPO field", nearest="ppo.learning_rate", path=Path("a.json"), line=4
    )
    assert str(problem) == "a.json:4: ppo.learning_rat is not a PPO field; nearest is ppo.learning_rate"
    assert str(ProblemsError("the recipe has 1 problem", [problem])).count("\n") == 1


@pytest.mark.parametrize(
    ("word", "expected"),
    [("half_cheeta", "half_cheetah"), ("CART_POLE", "cart_pole"), ("ant", "ant_no_contact"), ("zebra", None)],
)
def test_the_nearest_name(word: str, expected: str | None) -> None:
    assert nearest_one(word, ["cart_pole", "half_cheetah", "ant_no_contact"]) == expected


def test_nearest_names_are_few_and_distinct() -> None:
    assert nearest("ant", ["ant_a", "ant_b", "ant_c", "ant_a", "ant_d"], count=3) == ["ant_a", "ant_b", "ant_c"]
