"""Every shipped recipe: right in every block, a learner for each, and the quick one to its goal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from workbench.catalog import discover
from workbench.policies import evaluate
from workbench.project import Project, shipped_project
from workbench.runs import RunState
from workbench.simulation import EnvSource, make_sb3
from workbench.specs import ALGORITHMS, Algorithm, compose, read_recipe
from workbench.training import train
from workbench.training.learner import Learner

RECIPES = {path.name.removesuffix(".train.json"): path for path in shipped_project().recipes.glob("*.train.json")}
CASES = [(stem, algorithm) for stem in sorted(RECIPES) for algorithm in ALGORITHMS]


def test_every_task_has_a_recipe() -> None:
    stems = {path.stem for path in shipped_project().envs.glob("*_env.py")}
    # An ant that observes contacts has none: what it observes is noise to a small network.
    assert set(RECIPES) == stems - {"ant_env"} | {"ant_env_no_contact"}


@pytest.mark.parametrize("stem", sorted(RECIPES))
def test_a_recipe_has_no_problems_and_no_warnings(stem: str) -> None:
    recipe = read_recipe(RECIPES[stem])
    assert not recipe.problems and not recipe.notes
    assert recipe.algorithms == ALGORITHMS
    assert recipe.description


@pytest.mark.parametrize(("stem", "algorithm"), CASES)
def test_a_recipe_makes_a_learner_that_takes_an_iteration(
    stem: str, algorithm: Algorithm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = read_recipe(RECIPES[stem])
    entry = next(entry for entry in discover(Project(tmp_path)).entries if entry.recipe == RECIPES[stem])
    # A small buffer and no updates: that they run is tested elsewhere, with smaller networks.
    small = [] if algorithm == "ppo" else [f"{algorithm}.buffer_size=10000", f"{algorithm}.learning_starts=5000"]
    composed = compose(entry.env_id, algorithm=algorithm, recipe=recipe, overrides=small, seed=1)
    assert composed.spec is not None, composed.problems
    spec = composed.spec
    assert spec.step_budget, "a recipe has a budget beside its goal"
    assert spec.stop_criteria.evaluation_return_mean or spec.stop_criteria.episode_return_mean
    learner = Learner(spec, make_sb3(EnvSource.from_entry(entry), spec.n_envs, 1, 1), seed=1)
    learner.start([])
    if algorithm != "ppo":
        learner.iterate()
        assert learner.steps == learner.iteration_steps
    learner.close()


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_cart_pole_reaches_its_goal(algorithm: Algorithm, project: Project) -> None:
    recipe = read_recipe(RECIPES["cart_pole_env"])
    composed = compose("workbench/CartPole-v0", algorithm=algorithm, recipe=recipe, seed=1)
    assert composed.spec is not None
    echo = io.StringIO()
    result = train(composed.spec, project, echo=echo)
    assert result.state is RunState.FINISHED
    assert result.reason == "the evaluation return 1 000 reached 1 000, 2 evaluations in a row"
    assert result.latest is not None
    assert evaluate(result.latest, episodes=20, seed=77_000).mean >= 990
    assert "finished: the evaluation return" in echo.getvalue()
