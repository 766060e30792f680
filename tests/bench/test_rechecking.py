"""Recipes trained again: which, and when what they reach is still what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.bench import rechecking
from workbench.catalog import discover
from workbench.cli import main
from workbench.errors import NotFoundError, RequestError
from workbench.project import Project, shipped_project

BLOCK = {
    "return": 500.0, "std": 20.0, "seeds": 2, "steps": 1000, "wall_s": 20.0, "episodes": 3, "first_episode": 50,
    "return_by_seed": {"4": 480.0, "5": 520.0}, "changed": {"total_steps": 64, "ppo.net_arch": [8, 8]},
}  # fmt: skip
TINY = {
    "total_steps": 10_000, "eval_episodes": 1, "rescore_best": 0, "n_envs": 4,
    "ppo": {"n_steps": 8, "batch_size": 32, "n_epochs": 1},
}  # fmt: skip


@pytest.fixture
def poles(project: Project) -> Project:
    """A project with a cart-pole under another name, whose recipe has references of PPO and SAC."""
    project.envs.mkdir(exist_ok=True)
    project.recipes.mkdir(exist_ok=True)
    module = (shipped_project().envs / "cart_pole_env.py").read_text()
    (project.envs / "pole_env.py").write_text(module.replace("CartPoleEnv", "PoleEnv"))
    write(project, ppo=BLOCK, sac={**BLOCK, "wall_s": 31.0})
    return project


def write(project: Project, **blocks: Any) -> None:
    recipe = {**TINY, "reference": blocks}
    (project.recipes / "pole_env.train.json").write_text(json.dumps(recipe))


def reference(project: Project) -> rechecking.Reference:
    return rechecking.choose(discover(project), ["pole"], ["ppo"])[0]


@pytest.mark.parametrize(
    ("std", "mean", "steps", "verdict"),
    [
        # Three deviations of 20 below 500.
        (20.0, 441.0, 1000, "as before"),
        (20.0, 439.0, 1000, "worse"),
        (20.0, 561.0, 1000, "better"),
        # One percent of 500, where all seeds reached the same.
        (0.0, 495.5, 1000, "as before"),
        (0.0, 494.5, 1000, "worse"),
        (20.0, 500.0, 2000, "as before"),
        (20.0, 500.0, 2001, "slower"),
        (20.0, 400.0, 9000, "worse"),
        (20.0, float("nan"), 1000, "worse"),
    ],
)
def test_a_return_is_judged_by_the_spread_of_seeds(
    poles: Project, std: float, mean: float, steps: int, verdict: str
) -> None:
    write(poles, ppo={**BLOCK, "std": std})
    assert reference(poles).judge(mean, steps) == verdict


def test_returns_below_nothing_have_room_below_them(poles: Project) -> None:
    write(poles, ppo={**BLOCK, "return": -200.0, "std": 0.0})
    assert [reference(poles).judge(mean, 1) for mean in (-201.5, -202.5, -197.5)] == ["as before", "worse", "better"]


def test_short_references_are_checked_where_none_is_named(poles: Project) -> None:
    catalog = discover(poles)
    of_pole = [item for item in rechecking.choose(catalog, []) if item.entry.name == "pole"]
    assert [item.algorithm for item in of_pole] == ["ppo"]
    assert [item.algorithm for item in rechecking.choose(catalog, ["pole"])] == ["ppo", "sac"]
    with pytest.raises(NotFoundError, match="pole"):
        rechecking.choose(catalog, ["pole"], ["td3"])
    write(poles, ppo={**BLOCK, "return_by_seed": {"one": 1.0}})
    with pytest.raises(RequestError, match="pole"):
        reference(poles)


@pytest.mark.parametrize("words", [["check"], ["--check"], ["check", "pole", "--algorithm", "ppo"]])
@pytest.mark.parametrize(("mean", "code"), [(450.0, 0), (400.0, 1)])
def test_the_command_fails_where_a_recipe_is_worse(
    poles: Project, words: list[str], mean: float, code: int, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.setattr(rechecking, "train_again", lambda *_: (mean, 900, 12.0))
    choose = rechecking.choose
    monkeypatch.setattr(
        rechecking, "choose", lambda *asked: [item for item in choose(*asked) if item.entry.name == "pole"]
    )
    file = tmp_path / "check.json"
    assert main(["--project", str(poles.root), "bench", *words, "-o", str(file), "--json"]) == code
    told = capsys.readouterr()
    document = json.loads(told.out)
    assert document["rows"] == json.loads(file.read_text())["rows"]
    [row] = document["rows"]
    assert (row["name"], row["seed"], row["value"], row["steps"]) == ("pole PPO", 4, mean, 900)
    assert row["verdict"] == ("worse" if code else "as before") and row["verdict"] in told.err
    assert row["reference"]["allowed"] == 60.0


@pytest.mark.slow
def test_a_recipe_is_trained_as_its_reference_was(poles: Project) -> None:
    [row] = rechecking.recheck([reference(poles)], poles)
    assert "error" not in row, row
    # Two iterations of four copies and eight steps, instead of the recipe's ten thousand.
    assert row["steps"] == 64
    assert 0 < row["value"] < 500 and row["verdict"] == "worse"
    write(poles, ppo={**BLOCK, "changed": {"total_steps": -1}})
    [row] = rechecking.recheck([reference(poles)], poles)
    assert row["verdict"] == "failed" and "total_steps" in row["error"]
