"""Everything wrong with a run is said at once, and nothing that is given makes validation raise."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from workbench.errors import Problem, ProblemsError
from workbench.specs import RunSpec, spec_from_json, validate

NAN, INF = math.nan, math.inf


def run(**fields: Any) -> dict[str, Any]:
    return {"env_id": "workbench/Ant-v0", "total_steps": 1_000_000, **fields}


def errors(data: object) -> dict[str, Problem]:
    return {problem.key: problem for problem in validate(data) if problem.severity == "error"}


def warnings(data: object) -> dict[str, Problem]:
    return {problem.key: problem for problem in validate(data) if problem.severity == "warning"}


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__


@pytest.mark.parametrize(
    "data", [None, "a run", [], ["env_id"], 3, 2.5, True, b"x", object(), Hostile(), {1: 2}, {Hostile(): 1}, {}]
)
def test_anything_at_all_gives_a_list_with_an_error(data: object) -> None:
    assert any(problem.severity == "error" for problem in validate(data))


@pytest.mark.parametrize("value", [None, "x", [], {}, NAN, INF, True, 10**400, Hostile(), {"a": {"b": []}}])
@pytest.mark.parametrize("key", list(RunSpec.model_fields))
def test_no_value_of_any_field_makes_validation_raise(key: str, value: object) -> None:
    assert isinstance(validate(run(**{key: value})), list)


REFUSED: list[tuple[str, Any]] = [
    # Counts are true whole numbers of at least one.
    *[("ppo.n_steps", value) for value in (0, -1, 2.0, 512.5, True, "24", None)],
    *[("ppo.n_epochs", value) for value in (0, -5, 1.0, True, None)],
    *[("ppo.batch_size", value) for value in (0, -1, 4.0, "4", None, True)],
    *[("n_envs", value) for value in (0, -1, 1.0, True, "1", None, 65_537, 10**30)],
    *[("sac.buffer_size", value) for value in (0, 1e6, True)],
    *[("td3.batch_size", value) for value in (0, 256.0, False)],
    *[("td3.policy_delay", value) for value in (0, 2.0, True)],
    *[("sac.gradient_steps", value) for value in (0, -2, 1.0, True)],
    *[("sac.train_freq", value) for value in (0, "1 episode", [1, "episode"], 1.0)],
    *[("eval_episodes", value) for value in (0, True)],
    *[("video_count", value) for value in (0, 1.5)],
    *[("tb_log_every", value) for value in (0, -1)],
    *[("keep_last", value) for value in (0, -1, True)],
    *[("threads", value) for value in (0, 1.0)],
    # Cadences.
    *[("checkpoint_freq", value) for value in (-1, 2.5, True, "10")],
    *[("checkpoint_every_steps", value) for value in (0, -3, 2.5, True)],
    # Discounts and traces.
    *[("ppo.gamma", value) for value in (1.1, -0.1, NAN, INF, True, "0.99", None)],
    *[("ppo.gae_lambda", value) for value in (1.01, -1, NAN, True)],
    # Bounds of clipping; infinity means none.
    *[("ppo.clip_range", value) for value in (0, -0.2, NAN, True, None)],
    *[("ppo.max_grad_norm", value) for value in (0, -1, NAN, True, None, "none")],
    *[("ppo.clip_range_vf", value) for value in (0, -1, NAN, True)],
    *[("td3.target_noise_clip", value) for value in (0, -1, NAN)],
    *[("td3.target_policy_noise", value) for value in (0, -0.2, NAN)],
    *[("td3.action_noise_std", value) for value in (0, -0.1, NAN, True)],
    # Weights are finite.
    *[("ppo.ent_coef", value) for value in (NAN, INF, True, "0")],
    *[("ppo.vf_coef", value) for value in (NAN, -INF, True)],
    *[("ppo.log_std_init", value) for value in (NAN, INF, True)],
    # Rates.
    *[("ppo.learning_rate", value) for value in (0, -3e-4, NAN, INF, True, "3e-4", None)],
    *[("sac.learning_rate", value) for value in ("linear", "linear:", "linear:x", "linear:0", "linear:1:2:3", "cos:1")],
    *[("sac.tau", value) for value in (0, 1.01, True, NAN)],
    *[("sac.ent_coef", value) for value in (-0.1, NAN, True, "auto_", "auto_0", "auto_-1", "auto_nan", "learn")],
    *[("sac.target_entropy", value) for value in (NAN, INF, True, "minus", None)],
    *[("sac.learning_starts", value) for value in (-1, 1.0, True)],
    # Networks.
    *[
        ("td3.net_arch", value)
        for value in ("64", 64, [0], [64, -1], [64.0], [True], {"pi": [64]}, {"pi": [], "vf": []})
    ],
    ("ppo.net_arch", {"pi": [64], "qf": [64]}),
    ("ppo.activation", "gelu"),
    # Flags are true or false, never read by truthiness.
    *[("normalize_observations", value) for value in ("false", 0, 1, None)],
    *[("ppo.normalize_advantage", value) for value in ("true", 1)],
    *[("profile", value) for value in ("yes", 1)],
    # Seeds, devices, names.
    *[("seed", value) for value in (-1, 1.0, True, "1", 2**32)],
    *[("device", value) for value in ("gpu", "cuda:abc", "", 0, None)],
    ("algorithm", "dqn"),
    ("env_id", ""),
    ("on_anomaly", "shrug"),
    ("tags", "baseline"),
    ("tags", [""]),
    ("stop_criteria.episode_return_mean", NAN),
    ("stop_criteria.consecutive", 0),
    ("stop_criteria.wall_time_s", -1),
    ("stop_criteria.training_iteration", 1.5),
]


@pytest.mark.parametrize(("key", "value"), REFUSED)
def test_refused(key: str, value: object) -> None:
    block, _, name = key.partition(".")
    data = run(**{block: {name: value} if name else value})
    assert key in errors(data)


def test_more_copies_than_any_memory_holds_are_refused_with_the_reason() -> None:
    assert str(errors(run(n_envs=100_000_000))["n_envs"]) == (
        "n_envs must be from 1 to 65 536, got 100 000 000: every copy is a simulation of its own, and all are in memory"
        " at once"
    )
    assert str(errors(run(n_envs=0))["n_envs"]) == "n_envs must be from 1 to 65 536, got 0"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("n_envs", 65_536),
        ("ppo.max_grad_norm", INF),
        ("ppo.max_grad_norm", "inf"),
        ("ppo.clip_range", INF),
        ("ppo.ent_coef", -0.5),
        ("ppo.vf_coef", 0),
        ("ppo.gamma", 1),
        ("ppo.net_arch", []),
        ("ppo.net_arch", {"pi": [], "vf": [8]}),
        ("ppo.clip_range", "linear:0.2"),
        ("ppo.learning_rate", "linear:1e-3:1e-5"),
        ("sac.gradient_steps", -1),
        ("sac.ent_coef", "auto_0.1"),
        ("sac.ent_coef", 0.2),
        ("sac.target_entropy", -6),
        ("sac.tau", 1),
        ("seed", 2**32 - 1),
        ("seed", None),
        ("checkpoint_freq", 0),
        ("device", "cuda:1"),
    ],
)
def test_accepted(key: str, value: object) -> None:
    block, _, name = key.partition(".")
    assert not errors(run(**{block: {name: value} if name else value}))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"ppo": {"gamma": 1.1}}, "ppo.gamma must be from 0 to 1, got 1.1"),
        ({"ppo": {"n_steps": 512.5}}, "ppo.n_steps must be a whole number, got 512.5"),
        ({"ppo": {"n_steps": 0}}, "ppo.n_steps must be at least 1, got 0"),
        ({"ppo": {"learning_rat": 1}}, "ppo.learning_rat is not a PPO field; nearest is learning_rate"),
        ({"ppo": {"lambda_": 0.9}}, "ppo.lambda_ is RLlib's name; here it is ppo.gae_lambda"),
        ({"normalize_observations": "false"}, "normalize_observations must be true or false, got 'false'"),
        (
            {"stop_criteria": {"episode_reward_mean": 1}},
            "stop_criteria.episode_reward_mean is not a stop criterion; nearest is episode_return_mean",
        ),
        (
            {"total_steps": 100_000, "algorithm": "sac", "sac": {"learning_starts": 200_000}},
            "sac.learning_starts 200 000 exceeds the 100 000 steps of this run: it would never learn. Lower it or raise"
            " total steps",
        ),
        (
            {"n_envs": 64, "ppo": {"n_steps": 512, "batch_size": 5000}},
            "ppo.batch_size 5 000 does not divide one rollout, 512 × 64 = 32 768 steps: the last mini-batch would hold"
            " 2 768; nearest is 4096",
        ),
    ],
)
def test_messages_say_what_is_wrong_and_what_is_accepted(fields: dict[str, Any], said: str) -> None:
    assert said in [str(problem) for problem in validate(run(**fields))]


def test_all_problems_come_at_once_from_every_block() -> None:
    data = run(
        seed=-1,
        ppo={"gamma": 2, "n_steps": 0},
        sac={"tau": 0, "batch_size": 512, "buffer_size": 100},
        td3={"policy_delay": 0},
        checkpoint_freq=5,
        checkpoint_every_steps=5,
    )
    expected = {"seed", "ppo.gamma", "ppo.n_steps", "sac.tau", "sac.buffer_size", "td3.policy_delay"}
    assert expected | {"checkpoint_every_steps"} == set(errors(data))


def test_a_wrong_value_is_not_told_again_by_what_would_follow_from_it() -> None:
    assert set(errors(run(n_envs=0, ppo={"batch_size": 63}))) == {"n_envs"}
    assert set(errors({"env_id": "x", "stop_criteria": {"steps": 3}})) == {"stop_criteria.steps"}


def test_misplaced_fields_say_where_they_belong() -> None:
    found = errors(run(gamma=0.9, episode_return_mean=3, ppo={"n_envs": 4}))
    assert found["gamma"].message == "belongs in a block: ppo.gamma or sac.gamma or td3.gamma"
    assert found["episode_return_mean"].message == "belongs in stop_criteria: stop_criteria.episode_return_mean"
    assert "ppo.n_envs" in found


def test_traps_of_the_library_are_refused() -> None:
    assert "ppo.n_steps" in errors(run(ppo={"n_steps": 1}))
    assert "ppo.batch_size" in errors(run(ppo={"batch_size": 1}))
    assert not errors(run(ppo={"batch_size": 1, "normalize_advantage": False}))
    assert "ppo.batch_size" in errors(run(ppo={"n_steps": 32, "batch_size": 64}))
    assert "sac.buffer_size" in errors(run(algorithm="sac", n_envs=500, sac={"buffer_size": 400}))
    assert "sac.buffer_size" in errors(run(sac={"buffer_size": 128}))
    assert "td3.learning_starts" in errors(run(td3={"learning_starts": 5000, "buffer_size": 4000}))


@pytest.mark.parametrize(("batch", "nearest"), [(100, "64"), (65, "64"), (20_000, "2048")])
def test_the_nearest_batch_size_divides_the_rollout(batch: int, nearest: str) -> None:
    assert errors(run(ppo={"batch_size": batch}))["ppo.batch_size"].nearest in (nearest, "128")


def test_the_batch_of_ppo_does_not_stop_a_run_of_sac() -> None:
    assert not errors(run(algorithm="sac", ppo={"n_steps": 4, "batch_size": 256}))


def test_a_run_without_an_end_is_refused_and_one_with_only_a_goal_is_warned_of() -> None:
    assert "total_steps" in errors({"env_id": "x"})
    assert "total_steps" in errors({"env_id": "x", "total_steps": 0, "stop_criteria": {"wall_time_s": 0}})
    goal = {"env_id": "x", "stop_criteria": {"episode_return_mean": 2000}}
    assert not errors(goal)
    assert "stop_criteria" in warnings(goal)
    for end in ("num_env_steps_sampled_lifetime", "training_iteration", "wall_time_s"):
        assert not validate({"env_id": "x", "stop_criteria": {end: 100_000}})


def test_zero_and_none_are_no_limit() -> None:
    spec = spec_from_json(run(stop_criteria={"episode_return_mean": 0, "training_iteration": None, "wall_time_s": 0}))
    assert spec.stop_criteria.episode_return_mean is None
    assert spec.stop_criteria.training_iteration == 0
    assert spec.stop_criteria.wall_time_s == 0


def test_a_goal_that_is_never_evaluated_is_refused() -> None:
    goal = {"evaluation_return_mean": 10.0}
    assert "stop_criteria.evaluation_return_mean" in errors(run(stop_criteria=goal, eval_every=0))
    assert "stop_criteria.evaluation_return_mean" in errors(run(stop_criteria=goal, checkpoint_freq=0))


def test_checkpoints_that_will_never_be_written_are_warned_of() -> None:
    assert "checkpoint_every_steps" in warnings(run(checkpoint_every_steps=1_000_000))
    assert "keep_last" in warnings(run(checkpoint_freq=0, keep_last=3))
    assert not validate(run(checkpoint_every_steps=999_999, keep_last=3))


def test_a_schedule_needs_to_know_where_the_run_ends() -> None:
    timed = {"env_id": "x", "stop_criteria": {"wall_time_s": 60}, "ppo": {"learning_rate": "linear:1e-3"}}
    assert "ppo.learning_rate" in errors(timed)
    assert not errors({**timed, "total_steps": 100_000})


def test_a_budget_below_one_rollout_is_warned_of() -> None:
    assert "2 048" in warnings(run(total_steps=1000))["total_steps"].message


def test_exploration_that_td3_lacks_by_default_is_warned_of_only_when_it_runs() -> None:
    assert "td3.action_noise_std" in warnings(run(algorithm="td3"))
    assert not warnings(run(algorithm="td3", td3={"action_noise_std": 0.1}))
    assert not validate(run())


def test_a_warm_up_shorter_than_a_batch_is_warned_of_unless_it_is_the_librarys_own() -> None:
    assert "sac.learning_starts" in warnings(run(algorithm="sac", sac={"learning_starts": 10}))
    assert "sac.learning_starts" in warnings(run(algorithm="sac", sac={"batch_size": 512}))
    assert not validate(run(algorithm="sac"))


@pytest.mark.parametrize("algorithm", ["ppo", "sac", "td3"])
def test_the_defaults_of_the_library_are_no_error(algorithm: str) -> None:
    assert not errors(run(algorithm=algorithm))


def test_one_cadence_displaces_the_default_of_the_other() -> None:
    assert RunSpec(env_id="x").checkpoint_freq == 10
    spec = spec_from_json(run(checkpoint_every_steps=5000))
    assert (spec.checkpoint_freq, spec.checkpoint_every_steps) == (None, 5000)


def test_a_run_survives_json() -> None:
    spec = spec_from_json(
        run(
            seed=3,
            tags=["a", "b"],
            checkpoint_every_steps=7,
            ppo={"max_grad_norm": INF, "net_arch": {"pi": [8], "vf": [16, 16]}, "clip_range": "linear:0.2:0.1"},
        )
    )
    text = json.dumps(spec.model_dump(mode="json"), allow_nan=False)
    assert spec_from_json(json.loads(text)) == spec


def test_a_run_is_frozen() -> None:
    with pytest.raises(Exception, match="frozen"):
        RunSpec(env_id="x").seed = 3


def test_spec_from_json_lists_every_problem() -> None:
    with pytest.raises(ProblemsError) as caught:
        spec_from_json(run(seed=-1, ppo={"gamma": 7}))
    assert [problem.key for problem in caught.value.problems] == ["seed", "ppo.gamma"]


def test_step_budget_is_the_first_limit_in_steps() -> None:
    assert RunSpec(env_id="x").step_budget == 0
    assert spec_from_json(run(stop_criteria={"num_env_steps_sampled_lifetime": 500_000})).step_budget == 500_000
