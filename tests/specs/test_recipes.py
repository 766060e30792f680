"""Recipe files: every problem with its line, RLlib's shape translated, nothing about the environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.errors import Problem
from workbench.specs import Recipe, compose, read_recipe

HALF_CHEETAH_OF_RLLIB = {
    "normalize_observations": True,
    "stop_criteria": {"episode_return_mean": 9800, "num_env_steps_sampled_lifetime": 50_000_000},
    "ppo": {
        "env_runners": {"batch_mode": "truncate_episodes"},
        "training": {
            "clip_param": 0.2,
            "gamma": 0.99,
            "grad_clip": 0.5,
            "kl_coeff": 1.0,
            "lambda_": 0.95,
            "lr": 3e-4,
            "minibatch_size": 4096,
            "num_epochs": 32,
            "train_batch_size": 65_536,
            "vf_loss_coeff": 0.5,
        },
    },
}


def recipe(folder: Path, content: object, name: str = "ant_env.train.json") -> Recipe:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return read_recipe(path)


def by_key(found: Recipe) -> dict[str, Problem]:
    return {problem.key: problem for problem in found.problems}


def test_a_recipe_is_read_with_its_words(tmp_path: Path) -> None:
    found = recipe(
        tmp_path,
        {
            "$schema": "recipe.schema.json",
            "description": "walks",
            "reference": {"ppo": {"return_mean": 2214}},
            "total_steps": 1000000,
            "ppo": {"gamma": 0.98},
        },
    )
    assert found.problems == ()
    assert (found.description, found.algorithms, found.stem) == ("walks", ("ppo",), "ant_env")
    assert found.data == {"total_steps": 1000000, "ppo": {"gamma": 0.98}}
    assert found.reference["ppo"]["return_mean"] == 2214


def test_every_problem_of_every_block_comes_at_once_with_its_line(tmp_path: Path) -> None:
    found = recipe(
        tmp_path,
        """{
  "total_steps": 1000000,
  "stop_criteria": {"episode_reward_mean": 1},
  "normalize_observation": true, "learning_rat": 1,
  "ppo": {
    "gamma": 1.1,
    "lambda_": 0.9
  },
  "sac": {"learning_rat": 1},
  "td3": {"tau": 0}
}""",
    )
    assert {key: problem.line for key, problem in by_key(found).items() if problem.severity == "error"} == {
        "stop_criteria.episode_reward_mean": 3,
        "normalize_observation": 4,
        "learning_rat": 4,
        "ppo.gamma": 6,
        "ppo.lambda_": 7,
        "sac.learning_rat": 9,
        "td3.tau": 10,
    }
    assert by_key(found)["normalize_observation"].nearest == "normalize_observations"
    assert by_key(found)["learning_rat"].nearest == "ppo.learning_rate"
    assert by_key(found)["ppo.lambda_"].message == "is RLlib's name; here it is ppo.gae_lambda"
    assert {problem.path for problem in found.problems} == {found.path}


@pytest.mark.parametrize("name", ["ant_env.train.json", "ant_env_no_contact.train.json"])
def test_environment_configuration_names_the_variant_file_to_make(tmp_path: Path, name: str) -> None:
    found = recipe(tmp_path, {"total_steps": 1, "env_config": {"use_rotation_vector": True}}, name)
    message = by_key(found)["env_config"].message
    stem = name.removesuffix(".train.json")
    assert f"{stem}_NAME.json" in message
    assert f"{stem}_NAME.train.json" in message


@pytest.mark.parametrize("key", ["seed", "device", "threads", "tags", "group", "profile", "algorithm", "env_id"])
def test_what_belongs_to_a_launch_is_refused(tmp_path: Path, key: str) -> None:
    found = recipe(tmp_path, {"total_steps": 1000000, key: 1})
    assert by_key(found)[key].message == "belongs to one launch, not to a recipe"


@pytest.mark.parametrize(
    "content", ["[]", "3", "null", "", "{", '{"ppo": 3}', '{"ppo": null}', '{"reference": 3}', '{"description": 3}']
)
def test_a_file_of_another_shape_is_a_problem_and_never_raises(tmp_path: Path, content: str) -> None:
    assert any(problem.severity == "error" for problem in recipe(tmp_path, content).problems)


def test_an_empty_recipe_trains_nothing(tmp_path: Path) -> None:
    found = recipe(tmp_path, {})
    assert found.algorithms == ()
    assert "sets nothing" in found.problems[0].message


def test_a_recipe_without_blocks_is_for_every_algorithm(tmp_path: Path) -> None:
    assert recipe(tmp_path, {"total_steps": 100_000}).algorithms == ("ppo", "sac", "td3")


def test_a_recipe_without_an_end_warns(tmp_path: Path) -> None:
    assert by_key(recipe(tmp_path, {"n_envs": 4}))["total_steps"].severity == "warning"
    goal = by_key(recipe(tmp_path, {"stop_criteria": {"episode_return_mean": 10}}))
    assert "may never end" in goal["stop_criteria"].message


def test_problems_between_fields_are_judged_with_the_fields_of_the_block(tmp_path: Path) -> None:
    good = {"total_steps": 1000000, "ppo": {"n_envs": 64, "n_steps": 4, "batch_size": 256}}
    assert recipe(tmp_path, good).problems == ()
    bad = {"total_steps": 1000000, "ppo": {"n_envs": 64, "n_steps": 4, "batch_size": 100}}
    assert by_key(recipe(tmp_path, bad))["ppo.batch_size"].nearest == "128"
    late = {"total_steps": 1000000, "sac": {"total_steps": 500, "learning_starts": 1000}}
    assert "never learn" in by_key(recipe(tmp_path, late))["sac.learning_starts"].message
    short = {"total_steps": 1000000, "ppo": {"total_steps": 500}}
    assert by_key(recipe(tmp_path, short))["total_steps"].line == 4


def test_rllib_recipe_is_translated(tmp_path: Path) -> None:
    found = recipe(tmp_path, HALF_CHEETAH_OF_RLLIB)
    assert found.problems == ()
    assert found.data["ppo"] == {
        "clip_range": 0.2,
        "gamma": 0.99,
        "max_grad_norm": 0.5,
        "gae_lambda": 0.95,
        "learning_rate": 3e-4,
        "batch_size": 4096,
        "n_epochs": 32,
        "vf_coef": 0.5,
        "n_steps": 65_536,
    }
    assert any("kl_coeff is dropped" in note for note in found.notes)
    assert any("batch_mode is dropped" in note for note in found.notes)


def test_rollout_of_rllib_is_shared_by_the_copies(tmp_path: Path) -> None:
    found = recipe(tmp_path, {"n_envs": 64, **HALF_CHEETAH_OF_RLLIB})
    assert found.data["ppo"]["n_steps"] == 1024
    composed = compose("x", recipe=found, n_envs=32)
    assert composed.require().ppo.n_steps == 2048
    uneven = compose("x", recipe=found, n_envs=48, overrides=["ppo.batch_size=4098"])
    assert any("rounded up to ppo.n_steps 1 366" in note for note in uneven.notes)
    assert uneven.require().ppo.n_steps == 1366


def test_batch_per_runner_counts_the_runners(tmp_path: Path) -> None:
    block: dict[str, Any] = {
        "env_runners": {"num_env_runners": 4, "num_envs_per_env_runner": 2},
        "train_batch_size_per_runner": 512,
    }
    found = recipe(tmp_path, {"total_steps": 1000000, "ppo": block})
    assert found.problems == ()
    assert found.data["ppo"] == {"n_envs": 8, "n_steps": 256}


def test_no_clipping_of_rllib_is_written_out(tmp_path: Path) -> None:
    found = recipe(tmp_path, {"total_steps": 1000000, "ppo": {"training": {"grad_clip": None}}})
    assert found.data["ppo"] == {"max_grad_norm": "inf"}


@pytest.mark.parametrize(
    ("block", "key", "said"),
    [
        (
            {"train_batch_size_per_runner": 1, "training": {"train_batch_size": 1}},
            "ppo.train_batch_size_per_runner",
            "are the same setting",
        ),
        ({"training": {"learning_rat": 1}}, "ppo.training.learning_rat", "has no translation"),
        ({"env_runners": {"num_workers": 1}}, "ppo.env_runners.num_workers", "has no translation"),
        ({"training": 3}, "ppo.training", "must be an object"),
        ({"training": {"train_batch_size": 2.5}}, "ppo.training.train_batch_size", "whole number"),
        ({"training": {"lr": 0.1}, "learning_rate": 0.2}, "ppo.training.lr", "sets already"),
        ({"training": {"gamma": 2}}, "ppo.gamma", "from 0 to 1"),
    ],
)
def test_what_cannot_be_translated_is_said(tmp_path: Path, block: dict[str, Any], key: str, said: str) -> None:
    found = by_key(recipe(tmp_path, {"total_steps": 1000000, "ppo": block}))
    assert said in found[key].message
    assert found[key].line is not None


@pytest.mark.parametrize(
    ("algorithm", "name", "ours"),
    [
        ("ppo", "lr", "ppo.learning_rate"),
        ("ppo", "clip_param", "ppo.clip_range"),
        ("ppo", "vf_loss_coeff", "ppo.vf_coef"),
        ("ppo", "grad_clip", "ppo.max_grad_norm"),
        ("ppo", "minibatch_size", "ppo.batch_size"),
        ("ppo", "num_epochs", "ppo.n_epochs"),
        ("ppo", "train_batch_size", "ppo.n_steps"),
        ("sac", "train_batch_size", "sac.batch_size"),
        ("sac", "n_step", "sac.n_steps"),
    ],
)
def test_names_of_rllib_in_a_flat_block_are_errors_that_give_ours(
    tmp_path: Path, algorithm: str, name: str, ours: str
) -> None:
    found = by_key(recipe(tmp_path, {"total_steps": 1000000, algorithm: {name: 1}}))
    assert f"here it is {ours}" in found[f"{algorithm}.{name}"].message
