"""The algorithms' specs are Stable-Baselines3's own arguments: names, defaults, and the networks they build."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from workbench.specs import PPOSpec, SACSpec, TD3Spec

sb3 = pytest.importorskip("stable_baselines3")

RUNTIME = {
    "self",
    "policy",
    "env",
    "rollout_buffer_class",
    "rollout_buffer_kwargs",
    "replay_buffer_class",
    "replay_buffer_kwargs",
    "optimize_memory_usage",
    "stats_window_size",
    "tensorboard_log",
    "policy_kwargs",
    "verbose",
    "seed",
    "device",
    "_init_setup_model",
}
"""Arguments that belong to the process that trains, or that a run says once for every algorithm."""

POLICY = {"net_arch", "activation", "log_std_init", "ortho_init"}
"""Fields that become `policy_kwargs`."""

AS_DATA = {"action_noise": "action_noise_std"}
"""Arguments that are objects there and numbers here."""

PAIRS = [(PPOSpec, "PPO"), (SACSpec, "SAC"), (TD3Spec, "TD3")]


@pytest.mark.parametrize(("spec", "name"), PAIRS)
def test_fields_and_defaults_are_those_of_the_constructor(spec: type[Any], name: str) -> None:
    parameters = inspect.signature(getattr(sb3, name).__init__).parameters
    theirs = {AS_DATA.get(key, key): value.default for key, value in parameters.items() if key not in RUNTIME}
    ours = {key: field.default for key, field in spec.model_fields.items() if key not in POLICY}
    assert ours == theirs


@pytest.mark.parametrize(("spec", "name"), PAIRS)
def test_network_defaults_build_the_policy_the_library_builds(spec: type[Any], name: str) -> None:
    import gymnasium
    import torch

    box = gymnasium.spaces.Box(-1, 1, (3,))

    class Still(gymnasium.Env[Any, Any]):
        observation_space, action_space = box, box

        def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
            return box.sample(), {}

    algorithm = getattr(sb3, name)
    untouched = algorithm("MlpPolicy", Still(), device="cpu", **({} if name == "PPO" else {"buffer_size": 10})).policy
    block = spec()
    activations = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU, "elu": torch.nn.ELU}
    kwargs: dict[str, Any] = {"net_arch": block.layers, "activation_fn": activations[block.activation]}
    kwargs |= {key: getattr(block, key) for key in ("log_std_init", "ortho_init") if hasattr(block, key)}
    policy = type(untouched)(box, box, lambda _: 0.0, **kwargs)
    assert str(policy) == str(untouched)
    assert untouched.activation_fn is policy.activation_fn
    for key in ("log_std_init", "ortho_init"):
        if hasattr(block, key):
            theirs = inspect.signature(type(untouched).__init__).parameters[key].default
            assert getattr(block, key) == theirs


@pytest.mark.parametrize(("spec", "name"), PAIRS)
def test_every_field_says_in_one_sentence_what_it_is(spec: type[Any], name: str) -> None:
    for key, field in spec.model_fields.items():
        assert field.description, key
        assert field.description.endswith("."), key
