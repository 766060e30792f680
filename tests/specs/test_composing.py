"""Layers over each other: defaults, recipe, the algorithm's block, overrides, flags; and the words that ask for it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from workbench.specs import Recipe, RunSpec, command_for, compose, parse_overrides, read_recipe


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    path = tmp_path / "ant_env.train.json"
    content = {
        "n_envs": 16,
        "total_steps": 1_000_000,
        "stop_criteria": {"episode_return_mean": 2000, "wall_time_s": 600},
        "ppo": {"n_steps": 128, "batch_size": 256, "learning_rate": "linear:1e-3"},
        "sac": {
            "n_envs": 4,
            "checkpoint_every_steps": 5000,
            "stop_criteria": {"episode_return_mean": 3000},
            "net_arch": [64, 64],
        },
    }
    path.write_text(json.dumps(content))
    return read_recipe(path)


def test_the_recipe_lies_over_the_defaults(recipe: Recipe) -> None:
    spec = compose("workbench/Ant-v0", recipe=recipe).require()
    assert (spec.n_envs, spec.ppo.n_steps, spec.ppo.n_epochs) == (16, 128, 10)
    assert spec.env_id == "workbench/Ant-v0"


def test_fields_of_a_run_in_the_block_of_the_algorithm_win(recipe: Recipe) -> None:
    spec = compose("x", algorithm="SAC", recipe=recipe).require()
    assert (spec.algorithm, spec.n_envs, spec.checkpoint_every_steps, spec.checkpoint_freq) == ("sac", 4, 5000, None)
    assert spec.stop_criteria.episode_return_mean == 3000
    assert spec.stop_criteria.wall_time_s == 600
    assert compose("x", algorithm="ppo", recipe=recipe).require().n_envs == 16


def test_overrides_win_over_the_recipe_and_flags_over_both(recipe: Recipe) -> None:
    words = ["ppo.learning_rate=1e-3", "n_envs=32", "stop_criteria.episode_return_mean=none", "total_steps=2M"]
    spec = compose("x", recipe=recipe, overrides=words, n_envs=8, seed=None).require()
    assert spec.ppo.learning_rate == 1e-3
    assert spec.ppo.n_steps == 128
    assert (spec.n_envs, spec.total_steps) == (8, 2_000_000)
    assert spec.stop_criteria.episode_return_mean is None
    assert spec.stop_criteria.wall_time_s == 600


def test_a_cadence_displaces_the_other_of_a_lower_layer(recipe: Recipe) -> None:
    spec = compose("x", algorithm="sac", recipe=recipe, checkpoint_freq=3).require()
    assert (spec.checkpoint_freq, spec.checkpoint_every_steps) == (3, None)
    both = compose("x", recipe=recipe, overrides=["checkpoint_freq=3", "checkpoint_every_steps=5"])
    assert [problem.key for problem in both.problems] == ["checkpoint_every_steps"]


def test_without_a_recipe_it_says_so_and_wants_a_budget() -> None:
    composed = compose("ant")
    assert composed.spec is None
    assert composed.notes == ["ant has no recipe: Stable-Baselines3's defaults are filled in, give a budget"]
    assert compose("ant", total_steps=10_000).require().ppo.n_steps == 2048


def test_an_override_may_mend_what_lies_between_fields_of_the_recipe(tmp_path: Path) -> None:
    path = tmp_path / "ant_env.train.json"
    path.write_text('{"total_steps": 100000, "ppo": {"batch_size": 100}}')
    faulty = read_recipe(path)
    (problem,) = compose("x", recipe=faulty).problems
    assert (problem.key, problem.path, problem.line) == ("ppo.batch_size", path, 1)
    assert compose("x", recipe=faulty, overrides=["ppo.batch_size=128"]).problems == []


def test_a_budget_that_the_recipe_leaves_to_the_launch_is_wanted_then(tmp_path: Path) -> None:
    path = tmp_path / "ant_env.train.json"
    path.write_text('{"n_envs": 8, "ppo": {"learning_rate": "linear:1e-3"}}')
    endless = read_recipe(path)
    assert {problem.severity for problem in endless.problems} == {"warning"}
    composed = compose("x", recipe=endless)
    assert [(problem.key, problem.severity) for problem in composed.problems] == [
        ("total_steps", "error"),
        ("ppo.learning_rate", "error"),
    ]
    assert compose("x", recipe=endless, total_steps=1_000_000).problems == []


def test_a_broken_block_of_another_algorithm_stops_the_launch(tmp_path: Path) -> None:
    path = tmp_path / "ant_env.train.json"
    path.write_text('{"total_steps": 100000, "ppo": {}, "sac": {"tau": 0}}')
    composed = compose("x", algorithm="ppo", recipe=read_recipe(path))
    assert composed.spec is None
    assert [(problem.key, problem.path) for problem in composed.problems] == [("sac.tau", path)]


@pytest.mark.parametrize(
    ("word", "key", "said"),
    [
        ("env.mass=3", "env.mass", "ant_env_NAME.json"),
        ("env_cfg.mass=3", "env_cfg.mass", '"mass": 3'),
        ("ppo.learning_rat=1", "ppo.learning_rat", "is not a PPO field"),
        ("ppo.lambda_=1", "ppo.lambda_", "here it is ppo.gae_lambda"),
        ("learning_rate=1", "learning_rate", "belongs in a block: ppo.learning_rate"),
        ("stop_criteria.return=1", "stop_criteria.return", "is not a stop criterion"),
        ("stop_criteria=1", "stop_criteria", "set one of them"),
        ("ppo=1", "ppo", "set one of them"),
        ("algorithm=sac", "algorithm", "--algorithm"),
        ("seed=3", "seed", "--seed"),
        ("parent=x", "parent", "--from"),
        ("n_env=3", "n_env", "is not a field of a run"),
        ("nothing", "--set nothing", "must be KEY=VALUE"),
        ("=3", "--set =3", "must be KEY=VALUE"),
    ],
)
def test_overrides_that_are_refused(recipe: Recipe, word: str, key: str, said: str) -> None:
    _, (problem,) = parse_overrides([word], recipe=recipe)
    assert problem.key == key
    assert said in problem.message
    assert compose("x", recipe=recipe, overrides=[word]).spec is None


def test_a_key_set_twice_is_refused() -> None:
    _, (problem,) = parse_overrides(["n_envs=2", "n_envs=3"])
    assert (problem.key, problem.message) == ("n_envs", "is set twice")


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("ppo.gamma=1.1", "ppo.gamma must be from 0 to 1, got 1.1"),
        ("n_envs=2.5", "n_envs must be a whole number, got 2.5"),
        ("normalize_rewards=yes", "normalize_rewards must be true or false, got 'yes'"),
        ("ppo.n_steps=", "ppo.n_steps must be a whole number, got ''"),
    ],
)
def test_values_of_overrides_are_read_strictly(recipe: Recipe, word: str, said: str) -> None:
    assert said in [str(problem) for problem in compose("x", recipe=recipe, overrides=[word]).problems]


def test_an_unknown_algorithm_is_a_problem(recipe: Recipe) -> None:
    (problem,) = compose("x", algorithm="a2c", recipe=recipe).problems
    assert problem.key == "algorithm"


def follow(words: list[str], env_id: str, recipe: Recipe | None) -> RunSpec:
    """Read the words as `workbench train` does."""
    assert words[:2] == ["workbench", "train"]
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern")
    parser.add_argument("--algorithm")
    for flag, kind in (("--seed", int), ("--max-steps", int), ("--n-envs", int), ("--checkpoint-freq", int)):
        parser.add_argument(flag, type=kind)
    parser.add_argument("--from", dest="parent")
    parser.add_argument("--tag", action="append", default=[])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--video-on-checkpoint", action="store_true", default=None)
    parser.add_argument("--profile", action="store_true", default=None)
    args = parser.parse_args(words[2:])
    return compose(
        env_id,
        algorithm=args.algorithm,
        recipe=recipe,
        overrides=args.set,
        seed=args.seed,
        total_steps=args.max_steps,
        n_envs=args.n_envs,
        checkpoint_freq=args.checkpoint_freq,
        parent=args.parent,
        tags=args.tag or None,
        video_on_checkpoint=args.video_on_checkpoint,
        profile=args.profile,
    ).require()


CHANGES: list[dict[str, Any]] = [
    {},
    {"seed": 3, "tags": ["a b", "c"], "profile": True, "video_on_checkpoint": True},
    {"total_steps": 0, "n_envs": 32, "checkpoint_freq": 0, "stop_criteria": {"num_env_steps_sampled_lifetime": 70_000}},
    {"checkpoint_every_steps": 700, "keep_last": 3, "eval_every": 0, "video_fps": 25, "device": "cpu", "threads": 2},
    {"stop_criteria": {"episode_return_mean": None, "training_iteration": 50, "consecutive": 2}},
    {"parent": "/runs/a b/checkpoint_000000001000", "normalize_observations": True},
    {
        "ppo": {"net_arch": {"pi": [8], "vf": [16, 16]}, "clip_range": "linear:0.2:0.1", "max_grad_norm": "inf"},
        "sac": {"net_arch": [], "ent_coef": "auto_0.1", "target_entropy": -3.5, "action_noise_std": 0.1},
        "td3": {"gradient_steps": -1, "learning_rate": 1e-05},
    },
    {"ppo": {"target_kl": 0.02, "learning_rate": 0.1 + 0.2, "ortho_init": False, "activation": "elu"}},
]


@pytest.mark.parametrize("algorithm", ["ppo", "sac", "td3"])
@pytest.mark.parametrize("fields", CHANGES)
@pytest.mark.parametrize("with_recipe", [True, False])
def test_the_command_asks_for_the_same_run(
    recipe: Recipe, algorithm: str, fields: dict[str, Any], with_recipe: bool
) -> None:
    found = recipe if with_recipe else None
    given = dict(fields) if with_recipe or "total_steps" in fields else {**fields, "total_steps": 100_000}
    spec = compose("x", algorithm=algorithm, recipe=found, **given).require()
    assert follow(command_for(spec, "ant", found), "x", found) == spec


def test_the_command_holds_only_what_differs(recipe: Recipe) -> None:
    spec = compose("x", recipe=recipe).require()
    assert command_for(spec, "ant", recipe) == ["workbench", "train", "ant", "--algorithm", "ppo"]
    changed = compose("x", recipe=recipe, overrides=["ppo.learning_rate=0.001"], seed=1, tags=["baseline"]).require()
    assert command_for(changed, "ant", recipe, seeds=(1, 2, 3)) == [
        *("workbench", "train", "ant", "--algorithm", "ppo", "--seeds", "1,2,3", "--tag", "baseline"),
        *("--set", "ppo.learning_rate=0.001"),
    ]
