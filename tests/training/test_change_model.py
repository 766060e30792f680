"""A learner that is given other values while it trains is as one that was made with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.training.conftest import CART_POLE, TINY, tiny_spec
from workbench.simulation import make_sb3
from workbench.specs import RunSpec, amended, live_rows
from workbench.training.learner import Learner
from workbench.training.model import change_model

VALUES: dict[str, Any] = {
    "learning_rate": "linear:0.01:0.001",
    "n_epochs": 3,
    "clip_range": "linear:0.4:0.2",
    "clip_range_vf": 0.7,
    "ent_coef": 0.03,
    "vf_coef": 0.3,
    "max_grad_norm": 2.0,
    "target_kl": 0.5,
    "tau": 0.1,
    "gradient_steps": 2,
    "action_noise_std": 0.3,
    "target_update_interval": 2,
    "target_entropy": -0.5,
    "policy_delay": 3,
    "target_policy_noise": 0.1,
    "target_noise_clip": 0.25,
}
"""Another value for every field of an algorithm that may change."""


def made(spec: RunSpec) -> Any:
    learner = Learner(spec, make_sb3(CART_POLE, spec.n_envs, 3, 1), seed=3)
    learner.start([])
    return learner.model


def seen(model: Any, name: str) -> Any:
    """What the algorithm reads of a value, as plain data."""
    if name == "action_noise_std":
        return model.action_noise is not None and np.asarray(model.action_noise()).shape
    if name == "learning_rate":
        return [model.lr_schedule(left) for left in (1.0, 0.5, 0.0)]
    value = getattr(model, name)
    return [value(left) for left in (1.0, 0.5, 0.0)] if callable(value) else value


@pytest.mark.parametrize("algorithm", ["ppo", "sac", "td3"])
def test_every_value_that_may_change_reaches_the_learner(algorithm: str) -> None:
    names = [key.partition(".")[2] for key in live_rows() if key.startswith(f"{algorithm}.")]
    block = {**TINY[algorithm][algorithm]}
    block.pop("action_noise_std", None)
    before = tiny_spec(algorithm, **{algorithm: block})
    after = amended(before, {f"{algorithm}.{name}": VALUES[name] for name in names})
    changed, whole = made(before), made(after)
    change_model(changed, before, after)
    told = {name: seen(changed, name) for name in names}
    assert told == {name: seen(whole, name) for name in names}
    assert told != {name: seen(made(before), name) for name in names}
    change_model(changed, after, before)
    assert {name: seen(changed, name) for name in names} == {name: seen(made(before), name) for name in names}


def test_the_weight_of_the_entropy_is_learned_or_not_as_it_is_told() -> None:
    before = tiny_spec("sac")
    model = made(before)
    fixed = amended(before, {"sac.ent_coef": 0.2})
    learned = amended(before, {"sac.ent_coef": "auto_0.1"})
    for step, spec in enumerate((fixed, learned, fixed)):
        change_model(model, (before, fixed, learned)[step], spec)
        model.learn(200, reset_num_timesteps=False)
        told = model.logger.name_to_value
        if spec is fixed:
            assert model.log_ent_coef is None and model.ent_coef_tensor.item() == pytest.approx(0.2)
            assert "ent_coef_optimizer" not in model.get_parameters()
            assert told.get("train/ent_coef", 0.2) == pytest.approx(0.2)
        else:
            assert model.log_ent_coef.exp().item() != pytest.approx(0.1)
            assert model.log_ent_coef.exp().item() == pytest.approx(0.1, rel=0.2)
            assert "ent_coef_optimizer" in model.get_parameters()
