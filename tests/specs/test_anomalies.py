"""The bounds of the anomaly watch: what is accepted, and what is refused in which words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.specs import AnomalyWatch, compose, field_table, spec_from_json, validate
from workbench.specs.run import RunSpec

RUN = {"env_id": "workbench/CartPole-v0", "total_steps": 10_000, "n_envs": 4, "ppo": {"n_steps": 100, "batch_size": 50}}


def problems(**watch: Any) -> list[str]:
    return [str(problem) for problem in validate({**RUN, "anomaly_watch": watch})]


def test_defaults() -> None:
    # Those of simulo's DebugOnAnomaly, and what it has not: what is done, and how often.
    assert AnomalyWatch().model_dump() == {
        "window_steps": 256,
        "env_indices": (0,),
        "check_observations": True,
        "observation_limit": 1e6,
        "check_every_n_steps": 1,
        "check_losses": True,
        "check_reward_collapse": True,
        "collapse_drop_fraction": 0.5,
        "collapse_patience": 2,
        "collapse_baseline_floor": 1e-6,
        "on_collapse": None,
        "max_captures": 1,
        "max_rollbacks": 3,
    }
    assert RunSpec(env_id="x").on_anomaly == "stop"


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("window_steps", 0, "from 1 to 10 000, got 0"),
        ("window_steps", 10_001, "from 1 to 10 000, got 10 001"),
        ("window_steps", True, "must be a whole number, got true"),
        ("window_steps", 256.0, "must be a whole number, got 256"),
        ("env_indices", [], "must be a list of whole numbers of at least 0"),
        ("env_indices", [-1], "must be a list of whole numbers of at least 0"),
        ("env_indices", [True], "must be a list of whole numbers of at least 0"),
        ("env_indices", 0, "must be a list of whole numbers of at least 0"),
        ("env_indices", [0, 4], "names copy 4, and n_envs 4 has copies 0 to 3"),
        ("observation_limit", 0.0, "must be greater than 0, got 0"),
        ("observation_limit", -1.0, "must be greater than 0, got -1"),
        ("observation_limit", float("inf"), "must be a finite number"),
        ("observation_limit", float("nan"), "must be a finite number"),
        ("observation_limit", "1e6", "must be a number"),
        ("check_every_n_steps", 0, "at least 1, got 0"),
        ("check_every_n_steps", True, "must be a whole number, got true"),
        ("collapse_drop_fraction", 0.0, "greater than 0 and at most 1, got 0"),
        ("collapse_drop_fraction", 1.1, "greater than 0 and at most 1, got 1.1"),
        ("collapse_drop_fraction", True, "must be a number, got true"),
        ("collapse_patience", 0, "at least 1, got 0"),
        ("collapse_baseline_floor", 0.0, "greater than 0, got 0"),
        ("collapse_baseline_floor", float("inf"), "must be a finite number"),
        ("max_captures", 0, "from 1 to 100, got 0"),
        ("max_captures", 101, "from 1 to 100, got 101"),
        ("max_rollbacks", 0, "at least 1, got 0"),
        ("check_losses", 1, "must be true or false, got 1"),
        ("check_observations", "yes", "must be true or false, got 'yes'"),
        ("check_reward_collapse", None, "must be true or false, got none"),
        ("on_collapse", "rollbak", "must be one of stop, pause, continue, rollback, or none"),
        ("window", 3, "is not a field of the anomaly watch"),
    ],
)
def test_what_is_out_of_bounds_is_refused(field: str, value: Any, said: str) -> None:
    [problem] = problems(**{field: value})
    assert problem.startswith(f"anomaly_watch.{field} ") and said in problem


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("window_steps", 1),
        ("window_steps", 10_000),
        ("env_indices", [3, 0, 3]),
        ("observation_limit", None),
        ("collapse_drop_fraction", 1.0),
        ("max_captures", 100),
        ("on_collapse", "rollback"),
    ],
)
def test_what_is_at_the_bounds_is_taken(field: str, value: Any) -> None:
    assert problems(**{field: value}) == []
    spec = spec_from_json({**RUN, "anomaly_watch": {field: value}})
    read = spec_from_json(json.loads(json.dumps(spec.model_dump(mode="json"))))
    assert read == spec
    taken = getattr(spec.anomaly_watch, field)
    assert taken == ((3, 0) if field == "env_indices" else value)


def test_an_action_nobody_knows_is_refused_with_the_nearest() -> None:
    [problem] = validate({**RUN, "on_anomaly": "rolback"})
    assert (
        str(problem) == "on_anomaly must be one of stop, pause, continue, rollback, got 'rolback'; nearest is rollback"
    )


def test_what_does_nothing_is_said() -> None:
    [problem] = validate({**RUN, "on_anomaly": "rollback", "checkpoint_freq": 0})
    assert problem.severity == "warning" and "goes back to the untrained policy" in str(problem)
    [problem] = validate({**RUN, "anomaly_watch": {"on_collapse": "stop", "check_reward_collapse": False}})
    assert problem.severity == "warning" and "check_reward_collapse is off" in str(problem)
    [problem] = validate({**RUN, "window_steps": 3})
    assert "belongs in anomaly_watch: anomaly_watch.window_steps" in str(problem)


def test_they_are_typed_and_written_as_they_are_read() -> None:
    overrides = ["anomaly_watch.env_indices=1,2", "anomaly_watch.observation_limit=none", "on_anomaly=rollback"]
    made = compose("workbench/CartPole-v0", algorithm="ppo", overrides=overrides, n_envs=4, total_steps=10_000)
    assert made.spec is not None
    assert (made.spec.anomaly_watch.env_indices, made.spec.anomaly_watch.observation_limit) == ((1, 2), None)
    rows = {row.name: row for row in field_table(RunSpec)}
    assert rows["anomaly_watch.env_indices"].render([1, 2]) == "1,2"
