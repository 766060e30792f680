"""What of a run may change while it trains, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.errors import ProblemsError
from workbench.specs import Done, RunSpec, StopCriteria, amended, change, changeable, live_rows, weights_in

PPO = RunSpec(env_id="workbench/Ant-v0", algorithm="ppo", total_steps=1000)
SAC = RunSpec(env_id="workbench/Ant-v0", algorithm="sac", total_steps=1000)
TERMS = {"forward": 1.0, "ctrl": 1.0}


def words(spec: RunSpec, values: dict[str, Any], **more: Any) -> str:
    found = change(spec, values, weights=TERMS, **more)
    assert found.spec is None
    return "; ".join(map(str, found.problems))


def test_what_may_change_are_the_fields_of_the_run_s_own_algorithm_and_the_terms() -> None:
    rows = {item.key: item.value for item in changeable(PPO, TERMS)}
    assert rows["ppo.learning_rate"] == 3e-4 and rows["stop_criteria.wall_time_s"] == 0.0
    assert rows["reward.forward"] == 1.0 and rows["checkpoint_freq"] == 10
    assert not {"sac.ent_coef", "n_envs", "ppo.batch_size", "ppo.n_steps", "ppo.net_arch", "eval_seed"} & set(rows)
    assert next(iter(rows)).startswith("ppo.")
    assert {"sac.ent_coef", "sac.target_entropy", "td3.policy_delay"} <= set(live_rows())


def test_a_change_gives_the_new_spec_and_what_was() -> None:
    asked = {"ppo.learning_rate": "linear:1e-4", "reward.forward": 0.5, "total_steps": "2k", "keep_last": None}
    made = change(PPO, asked, weights=TERMS, done=Done(900))
    assert made.spec is not None and made.spec.ppo.learning_rate == "linear:1e-4" and made.spec.total_steps == 2000
    assert made.weights == {"forward": 0.5, "ctrl": 1.0}
    assert made.values == {"ppo.learning_rate": "linear:1e-4", "reward.forward": 0.5, "total_steps": 2000}
    assert made.old == {"ppo.learning_rate": 3e-4, "reward.forward": 1.0, "total_steps": 1000}
    assert "ppo.learning_rate 0.0003 → linear:1e-4" in made.text


def test_a_change_is_told_what_it_brings_and_not_what_was_so_before() -> None:
    idle = RunSpec(env_id="workbench/Ant-v0", total_steps=1000, stop_criteria=StopCriteria(consecutive=2))
    assert change(idle, {"ppo.learning_rate": 1e-4}).problems == ()
    [told] = change(PPO, {"stop_criteria.consecutive": 2}).problems
    assert "consecutive counts evaluations that reach evaluation_return_mean, which is not set" in str(told)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"ppo.batch_size": 32}, "ppo.batch_size is fixed once a run has begun"),
        ({"seed": 3}, "seed is fixed once a run has begun"),
        ({"ppo.learning_rat": 1e-4}, "nearest is ppo.learning_rate"),
        ({"learning_rate": 1e-4}, "nearest is ppo.learning_rate"),
        ({"sac.learning_rate": 1e-4}, "a field of SAC, and this run trains with PPO; nearest is ppo.learning_rate"),
        ({"ppo.learning_rate": -1.0}, "ppo.learning_rate must be a number greater than 0, or linear:START[:END]"),
        ({"ppo.clip_range": "wide"}, "ppo.clip_range must be"),
        ({"reward.forwrd": 0.5}, "nearest is reward.forward"),
        ({"reward.spin": 0.5}, "is no reward term of this environment; there are forward, ctrl"),
        ({"reward.forward": -0.5}, "reward.forward must be a number of at least 0"),
        ({"reward.forward": "much"}, "reward.forward must be a number of at least 0"),
        ({"total_steps": 0}, "nothing would ever stop it"),
        ({"ppo.learning_rate": 3e-4}, "nothing would change: ppo.learning_rate is 0.0003 already"),
        ({}, "no value is given"),
    ],
)
def test_what_cannot_be_is_refused_in_words(values: dict[str, Any], said: str) -> None:
    assert said in words(PPO, values)


def test_a_limit_that_is_passed_already_is_refused() -> None:
    assert "must be more than the 500 done, got 400" in words(PPO, {"total_steps": 400}, done=Done(500))
    assert "more than the 60 done" in words(PPO, {"stop_criteria.wall_time_s": 60.0}, done=Done(500, 5, 60.5))
    assert "training_iteration must be more" in words(PPO, {"stop_criteria.training_iteration": 5}, done=Done(500, 5))


def test_one_cadence_of_checkpoints_displaces_the_other() -> None:
    made = change(PPO, {"checkpoint_every_steps": 500}, weights=TERMS)
    assert made.spec is not None and made.spec.checkpoint_freq is None and made.spec.checkpoint_every_steps == 500
    back = change(made.spec, {"checkpoint_freq": 5}, weights=TERMS)
    assert back.spec is not None and back.spec.checkpoint_every_steps is None and back.spec.checkpoint_freq == 5


def test_terms_that_are_not_known_here_are_left_to_the_run() -> None:
    made = change(PPO, {"reward.spin": "0.5"})
    assert made.values == {"reward.spin": 0.5}
    assert "a plain Gymnasium environment" in str(change(PPO, {"reward.spin": 0.5}, weights={}).problems[0])


def test_values_are_laid_over_a_spec_again() -> None:
    values = {"ppo.learning_rate": 1e-4, "reward.forward": 0.5, "stop_criteria.training_iteration": 7}
    spec = amended(PPO, values)
    assert spec.ppo.learning_rate == 1e-4 and spec.stop_criteria.training_iteration == 7
    assert weights_in(values) == {"forward": 0.5}
    assert amended(spec, {"total_steps": 9000, "stop_criteria": {}}).stop_criteria == PPO.stop_criteria
    assert amended(PPO, {}) is PPO
    with pytest.raises(ProblemsError, match="ent_coef"):
        amended(SAC, {"sac.ent_coef": "much"})
