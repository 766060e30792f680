"""Files of Stable-Baselines3, opened as data: the same actions as its own `predict`, and nothing of them is run."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from tests.policies.opening.conftest import (
    LOPSIDED,
    Payload,
    filled,
    make_model,
    make_normalizer,
    observations,
    old_zip,
    rewrite,
    serialized,
)
from workbench import load_policy
from workbench.errors import CheckpointError
from workbench.policies.actor import PolicyActor
from workbench.policies.opening.torch_policies import TorchActor

CHOICES = spaces.Discrete(4)
PERCEPTRONS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "ppo": ("ppo", {}),
    "ppo of choices": ("ppo", {"action_space": CHOICES}),
    "ppo from choices": ("ppo", {"action_space": CHOICES, "observation_space": spaces.Discrete(6)}),
    "ppo by dictionary": ("ppo", {"net_arch": {"pi": [16, 8], "vf": [4]}}),
    "ppo without layers": ("ppo", {"net_arch": []}),
    "ppo gsde squashed": ("ppo", {"use_sde": True, "policy_kwargs": {"squash_output": True}}),
    "a2c": ("a2c", {"policy_kwargs": {"activation_fn": torch.nn.ReLU}}),
    "sac": ("sac", {}),
    "sac gsde": ("sac", {"use_sde": True}),
    "td3": ("td3", {"policy_kwargs": {"activation_fn": torch.nn.ELU}}),
    "ddpg": ("ddpg", {"policy_kwargs": {"activation_fn": torch.nn.LeakyReLU}}),
    "dqn": ("dqn", {"action_space": CHOICES, "policy_kwargs": {"activation_fn": torch.nn.SiLU}}),
    "sac selu": ("sac", {"policy_kwargs": {"activation_fn": torch.nn.SELU}}),
    "sac sigmoid": ("sac", {"policy_kwargs": {"activation_fn": torch.nn.Sigmoid}}),
}


def saved(folder: Path, algorithm: str = "ppo", **keywords: Any) -> tuple[Any, Path]:
    model = make_model(algorithm, **keywords)
    path = folder / "model.zip"
    model.save(path)
    return model, path


def compare(actor: Any, wanted: Any, rows: Any) -> None:
    actions = actor.act(rows)
    assert np.ptp(wanted, axis=0).max() > 0.1, "the actions compared must differ"
    if wanted.dtype.kind == "i":
        np.testing.assert_array_equal(actions, wanted)
    else:
        reach = (LOPSIDED.high - LOPSIDED.low) / 2
        np.testing.assert_allclose(actions / reach, wanted / reach, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", PERCEPTRONS)
def test_perceptrons_act_on_numpy_as_predict_does(name: str, tmp_path: Path) -> None:
    algorithm, keywords = PERCEPTRONS[name]
    model, path = saved(tmp_path, algorithm, **keywords)
    rows = np.arange(1000) % 6 if isinstance(model.observation_space, spaces.Discrete) else observations()
    actor = load_policy(path)
    assert isinstance(actor, PolicyActor)
    assert actor.description.algorithm == algorithm
    assert actor.description.steps == 1234
    compare(actor, model.predict(rows, deterministic=True)[0], rows)


@pytest.mark.parametrize("place", ["beside", "rung", "named"])
def test_observations_go_through_the_normaliser_that_lies_with_the_policy(place: str, tmp_path: Path) -> None:
    model = make_model("sac")
    path = tmp_path / "rl_model_500_steps.zip"
    model.save(path)
    normalizer = make_normalizer(model.get_env(), clip_obs=2.0)
    names = {"beside": "vecnormalize.pkl", "rung": "rl_model_vecnormalize_500_steps.pkl", "named": "other.pkl"}
    normalizer.save(str(tmp_path / names[place]))
    rows = observations()
    wanted = model.predict(normalizer.normalize_obs(rows), deterministic=True)[0]
    actor = load_policy(path, normalizer=tmp_path / names[place] if place == "named" else None)
    compare(actor, wanted, rows)
    compare(load_policy(path, normalizer="none"), model.predict(rows, deterministic=True)[0], rows)


def test_a_normaliser_of_other_observations_is_refused_with_both_shapes(tmp_path: Path) -> None:
    _, path = saved(tmp_path)
    make_normalizer(make_model("ppo", observation_space=spaces.Box(-1, 1, (7,))).get_env()).save(
        str(tmp_path / "vecnormalize.pkl")
    )
    with pytest.raises(CheckpointError, match=r"\(7,\).*\(5,\)"):
        load_policy(path)


def picture_rows(space: spaces.Box, count: int) -> Any:
    return np.random.default_rng(0).integers(0, 255, (count, *space.shape), np.uint8)


def test_pictures_are_read_by_stable_baselines3s_own_network(tmp_path: Path) -> None:
    space = spaces.Box(0, 255, (36, 36, 3), np.uint8)
    model, path = saved(tmp_path, "ppo", observation_space=space, policy="CnnPolicy", net_arch=[])
    rows = picture_rows(space, 20)
    actor = load_policy(path)
    assert isinstance(actor, TorchActor)
    # One picture at a time, so that the sums are rounded as they are here.
    wanted = np.concatenate([model.predict(rows[index : index + 1], deterministic=True)[0] for index in range(20)])
    compare(actor, wanted, rows)


def test_observations_with_parts_are_read_by_stable_baselines3s_own_network(tmp_path: Path) -> None:
    space = spaces.Dict({"goal": spaces.Box(-1, 1, (2,)), "state": spaces.Box(-5, 5, (3,))})
    model, path = saved(tmp_path, "sac", observation_space=space, policy="MultiInputPolicy")
    normalizer = make_normalizer(model.get_env(), norm_obs_keys=["state"])
    normalizer.save(str(tmp_path / "vecnormalize.pkl"))
    rng = np.random.default_rng(1)
    parts = {"goal": rng.uniform(-1, 1, (1000, 2)), "state": rng.uniform(-5, 5, (1000, 3))}
    parts = {name: values.astype(np.float32) for name, values in parts.items()}
    rows = np.empty(1000, object)
    rows[:] = [{name: values[index] for name, values in parts.items()} for index in range(1000)]
    compare(load_policy(path), model.predict(normalizer.normalize_obs(parts), deterministic=True)[0], rows)


@pytest.mark.parametrize("action_space", [spaces.MultiDiscrete([3, 4]), spaces.MultiBinary(3)])
def test_several_choices_at_once_are_made_by_stable_baselines3s_own_network(
    action_space: spaces.Space[Any], tmp_path: Path
) -> None:
    model, path = saved(tmp_path, "ppo", action_space=action_space)
    rows = observations()
    np.testing.assert_array_equal(load_policy(path).act(rows), model.predict(rows, deterministic=True)[0])


def test_samples_of_a_torch_policy_depend_on_their_stream_alone(tmp_path: Path) -> None:
    model, path = saved(tmp_path, "ppo", policy_kwargs={"activation_fn": torch.nn.GELU})
    rows = observations(6)
    together = load_policy(path, stochastic=True, seed=1)
    together.reset(list(range(6)), streams=list(range(6)))
    alone = load_policy(path, stochastic=True, seed=1)
    alone.reset([0], streams=[4])
    wanted = together.act(rows)
    np.testing.assert_array_equal(alone.act(rows[4:5])[0], wanted[4])
    assert np.abs(wanted - model.predict(rows, deterministic=True)[0]).max() > 0.1


@pytest.mark.parametrize("algorithm", ["ppo", "sac", "dqn"])
def test_files_that_the_first_version_wrote_act_as_it_did(algorithm: str) -> None:
    files = Path(__file__).parent / "files"
    actor = load_policy(files / f"{algorithm}.zip")
    assert isinstance(actor, PolicyActor)
    assert actor.description.title == f"{algorithm.upper()} by Stable-Baselines3 1.0"
    assert actor.description.called == f"{files / algorithm}.zip ({actor.description.title})"
    assert (actor.description.normalizer is not None) == (algorithm == "sac")
    with np.load(files / "actions.npz") as wanted:
        compare(actor, wanted[algorithm], observations())


@pytest.mark.parametrize("protocol", [2, 4])
def test_a_file_of_the_first_version_with_spaces_of_gym(
    protocol: int, old_gym: Mapping[str, type], tmp_path: Path
) -> None:
    # 1.0 had layers that actor and critic shared, schedules as functions, and Gym's spaces with a random generator.
    torch.manual_seed(0)
    shared, own, head = torch.nn.Linear(5, 16), torch.nn.Linear(16, 8), torch.nn.Linear(8, 3)
    tensors = {"log_std": torch.zeros(3), "value_net.weight": torch.zeros(1, 8), "value_net.bias": torch.zeros(1)}
    for name, layer in (
        ("mlp_extractor.shared_net.0", shared),
        ("mlp_extractor.policy_net.0", own),
        ("mlp_extractor.value_net.0", own),
        ("action_net", head),
    ):
        tensors |= {f"{name}.weight": layer.weight.data, f"{name}.bias": layer.bias.data}
    box = {"np_random": np.random.RandomState(1), "dtype": np.dtype(np.float32)}
    observation = filled(
        old_gym["Box"], shape=(5,), low=np.full(5, -np.inf, np.float32), high=np.full(5, np.inf, np.float32), **box
    )
    action = filled(old_gym["Box"], shape=(3,), low=LOPSIDED.low, high=LOPSIDED.high, **box)
    function = b"\x80\x04\x8c\x17cloudpickle.cloudpickle\x8c\x0e_fill_function\x93)R."
    path = old_zip(
        tmp_path / "old.zip",
        tensors,
        {
            "policy_class": serialized(b"\x80\x04\x8c!stable_baselines3.common.policies\x8c\x11ActorCriticPolicy\x93."),
            "policy_kwargs": {"net_arch": [16, {"pi": [8], "vf": [8]}]},
            "observation_space": serialized(observation, protocol),
            "action_space": serialized(action, protocol),
            "clip_range": serialized(function),
            "lr_schedule": serialized(function),
            "num_timesteps": 77,
            "use_sde": False,
        },
    )
    rows = observations()
    with torch.no_grad():
        means = head(torch.tanh(own(torch.tanh(shared(torch.as_tensor(rows))))))
    wanted = np.clip(means.numpy(), LOPSIDED.low, LOPSIDED.high)
    actor = load_policy(path)
    compare(actor, wanted, rows)
    assert actor.description.title == "PPO by Stable-Baselines3 1.0"


@pytest.mark.parametrize("part", ["observation_space", "policy_class", "policy_kwargs"])
def test_a_pickle_that_would_run_something_is_refused_by_name_and_runs_nothing(part: str, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    _, path = saved(tmp_path)
    rewrite(path, **{part: serialized(Payload(marker))})
    with pytest.raises(CheckpointError) as caught:
        load_policy(path)
    assert part in caught.value.message
    assert "builtins.exec" in caught.value.message
    assert "--trust" in caught.value.hint
    assert not marker.exists()


def test_what_acts_without_them_is_not_even_read(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    model, path = saved(tmp_path)
    rewrite(path, lr_schedule=serialized(Payload(marker)), ep_info_buffer=serialized(Payload(marker)))
    rows = observations()
    compare(load_policy(path), model.predict(rows, deterministic=True)[0], rows)
    assert not marker.exists()


def test_a_normaliser_that_would_run_something_runs_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    _, path = saved(tmp_path)
    (tmp_path / "vecnormalize.pkl").write_bytes(pickle.dumps(Payload(marker)))
    with pytest.raises(CheckpointError, match=r"builtins\.exec"):
        load_policy(path)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("protocol", "said"),
    [(2, "they name exec, which could be any code"), (4, "they are no tensors")],
)
def test_weights_that_would_run_something_run_nothing(tmp_path: Path, protocol: int, said: str) -> None:
    marker = tmp_path / "ran"
    _, path = saved(tmp_path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["policy.pth"] = pickle.dumps(Payload(marker), protocol=protocol)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(CheckpointError, match=f"weights cannot be read: {said}") as refused:
        load_policy(path)
    assert "weights_only" not in str(refused.value)
    assert not marker.exists()


class OwnTanh(torch.nn.Tanh):
    """An activation of the user's own."""


def test_a_trusted_file_is_loaded_by_stable_baselines3_after_telling_what_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, path = saved(tmp_path, "sac", policy_kwargs={"activation_fn": OwnTanh})
    with pytest.raises(CheckpointError, match="OwnTanh"):
        load_policy(path)
    actor = load_policy(path, trust=True)
    rows = observations()
    compare(actor, model.predict(rows, deterministic=True)[0], rows)
    said = capsys.readouterr().err
    assert f"{OwnTanh.__module__}.OwnTanh" in said
    assert "stable_baselines3.SAC" in said


def nested(depth: int) -> dict[str, str]:
    """A pickle of `{"net_arch": [[[…]]]}`, which a pickler itself gives up on."""
    content = b"\x80\x04}\x8c\x08net_arch" + b"]" * depth + b"a" * (depth - 1) + b"s."
    return serialized(content)


class HalfAnArray:
    """Pickles as an array of which the numbers are missing."""

    def __reduce__(self) -> Any:
        return np.zeros(1).__reduce__()[:2]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:2000]), "no whole zip"),
        (lambda path: path.write_bytes(b""), "no whole zip"),
        (lambda path: _without(path, "policy.pth"), r"no policy\.pth"),
        (lambda path: _without(path, "data"), "no data"),
        (lambda path: rewrite(path, observation_space=serialized(b"\x80\x04")), "observation_space cannot be read"),
        (lambda path: rewrite(path, action_space=serialized({"a": 1})), "action_space is no space"),
        (lambda path: rewrite(path, policy_class=None), "what class"),
        (lambda path: rewrite(path, policy_kwargs={"activation_fn": "tanh"}), "activation"),
        (lambda path: rewrite(path, policy_kwargs=serialized(np.ones(2))), "not those of a policy"),
        (lambda path: rewrite(path, seed=True, num_timesteps=True), "not those of a policy"),
        (lambda path: rewrite(path, seed=serialized(HalfAnArray())), "not those of a policy"),
    ],
)
def test_a_damaged_file_is_one_clear_error(spoil: Any, said: str, tmp_path: Path) -> None:
    _, path = saved(tmp_path)
    spoil(path)
    with pytest.raises(CheckpointError, match=said) as caught:
        load_policy(path)
    assert str(path) in caught.value.message


def _without(path: Path, left_out: str) -> None:
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist() if name != left_out}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_layers_that_are_not_in_the_file_are_refused(tmp_path: Path) -> None:
    space = spaces.Box(0, 255, (36, 36, 3), np.uint8)
    _, path = saved(tmp_path, "ppo", observation_space=space, policy="CnnPolicy", net_arch=[])
    rewrite(path, policy_kwargs={"net_arch": [10**9]})
    with pytest.raises(CheckpointError, match="layers"):
        load_policy(path)


def test_more_choices_than_the_file_has_weights_for_are_refused(tmp_path: Path) -> None:
    _, path = saved(tmp_path, "ppo", observation_space=spaces.MultiBinary(6))
    load_policy(path)
    rewrite(path, observation_space=serialized(spaces.MultiBinary(10**9)))
    with pytest.raises(CheckpointError, match="layers"):
        load_policy(path)


def test_settings_that_are_nested_without_end_are_refused(tmp_path: Path) -> None:
    _, path = saved(tmp_path, "ppo", observation_space=spaces.MultiBinary(6))
    rewrite(path, policy_kwargs=nested(100_000))
    with pytest.raises(CheckpointError, match="not those of a policy"):
        load_policy(path)
