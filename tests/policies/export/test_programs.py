"""Exported programs, run by their own runtimes, against Stable-Baselines3's `predict` on the same observations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import stable_baselines3
import torch
from gymnasium import spaces
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from tests.policies.conftest import LOPSIDED, Learnt, Still
from tests.policies.export.conftest import REACH, observations, without_normalizer
from workbench.policies.export import FORMATS, export

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.load:DeprecationWarning")


def run_onnx(path: Path, **inputs: Any) -> Any:
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(["action"], inputs)[0]


def run_torchscript(path: Path, *inputs: Any) -> Any:
    return torch.jit.load(str(path))(*(torch.as_tensor(value) for value in inputs)).numpy()


def run_sb3(folder: Path, algorithm: str, rows: Any, env: Any) -> Any:
    model = getattr(stable_baselines3, algorithm.upper()).load(folder / "model.zip", device="cpu")
    if (folder / "vecnormalize.pkl").exists():
        rows = VecNormalize.load(str(folder / "vecnormalize.pkl"), DummyVecEnv([lambda: env])).normalize_obs(rows)
    return model.predict(rows, deterministic=True)[0]


def run_program(kind: str, folder: Path, learnt: Learnt, rows: Any) -> Any:
    if kind == "onnx":
        return run_onnx(folder / "policy.onnx", observation=rows)
    if kind == "torchscript":
        return run_torchscript(folder / "policy.pt", rows)
    env = Still(learnt.model.observation_space, learnt.model.action_space)
    return run_sb3(folder, learnt.fields["algorithm"], rows, env)


@pytest.mark.parametrize("normalizes", [True, False], ids=["normalised", "as they are"])
@pytest.mark.parametrize("kind", FORMATS)
def test_programs_act_as_stable_baselines3(learnt: Learnt, kind: str, normalizes: bool, tmp_path: Path) -> None:
    if not normalizes:
        without_normalizer(learnt)
    exported = export(learnt.write(tmp_path), kind, output=tmp_path / "out")
    rows = observations(1000)
    wanted = learnt.predict(rows)
    given = run_program(kind, exported.folder, learnt, rows)
    assert given.dtype == np.float32
    np.testing.assert_allclose(given / REACH, wanted / REACH, rtol=1e-5, atol=2e-6)
    assert np.ptp(wanted, axis=0).max() > 0.1, "the actions compared must differ"


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    ("algorithm", "keywords"),
    [
        ("ppo", {"policy_kwargs": {"activation_fn": torch.nn.ELU, "net_arch": {"pi": [9], "vf": [7, 8]}}}),
        ("ppo", {"policy_kwargs": {"net_arch": []}, "use_sde": True}),
        ("ppo", {"policy_kwargs": {"squash_output": True}, "use_sde": True}),
        ("sac", {"policy_kwargs": {"clip_mean": 0.5, "net_arch": [16]}, "use_sde": True}),
        ("td3", {"policy_kwargs": {"activation_fn": torch.nn.Tanh, "net_arch": {"pi": [16, 7], "qf": [9]}}}),
        ("ppo", {"policy_kwargs": {"activation_fn": torch.nn.SiLU}}),
        ("ppo", {"policy_kwargs": {"activation_fn": torch.nn.SELU}}),
        ("td3", {"policy_kwargs": {"activation_fn": torch.nn.Sigmoid}}),
    ],
    ids=["elu", "linear", "squashed", "limited", "uneven", "silu", "selu", "sigmoid"],
)
def test_every_shape_of_network(algorithm: str, keywords: dict[str, Any], kind: str, tmp_path: Path) -> None:
    learnt = Learnt(algorithm, **keywords)
    exported = export(learnt.write(tmp_path), kind, output=tmp_path / "out")
    rows = observations(50)
    given = run_program(kind, exported.folder, learnt, rows)
    np.testing.assert_allclose(given / REACH, learnt.predict(rows) / REACH, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("kind", FORMATS)
def test_choices_from_choices(kind: str, tmp_path: Path) -> None:
    learnt = Learnt("ppo", spaces.Discrete(4), spaces.Discrete(6))
    exported = export(learnt.write(tmp_path), kind, output=tmp_path / "out")
    numbers = np.arange(6, dtype=np.int64).repeat(3)
    wanted = learnt.model.predict(numbers, deterministic=True)[0]
    np.testing.assert_array_equal(run_program(kind, exported.folder, learnt, numbers), wanted)


@pytest.mark.parametrize("kind", FORMATS)
def test_spaces_of_several_dimensions_keep_their_shape(kind: str, tmp_path: Path) -> None:
    action = spaces.Box(-2, 2, (2, 2))
    learnt = Learnt("sac", action, spaces.Box(-9, 9, (5,), np.float64))
    exported = export(learnt.write(tmp_path), kind, output=tmp_path / "out")
    rows = observations(8).astype(np.float64)
    given = run_program(kind, exported.folder, learnt, rows)
    assert given.shape == (8, 2, 2)
    np.testing.assert_allclose(given, learnt.predict(rows), atol=5e-6)


@pytest.mark.parametrize("kind", ["onnx", "torchscript"])
@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_samples_are_those_of_the_distribution(algorithm: str, kind: str, tmp_path: Path) -> None:
    learnt = Learnt(algorithm)
    exported = export(learnt.write(tmp_path), kind, output=tmp_path / "out", sampling=True)
    rows = observations(40)
    noise = np.random.default_rng(1).standard_normal((40, 3)).astype(np.float32)
    inputs = torch.as_tensor(learnt.normalizer.normalize_obs(rows))
    policy: Any = learnt.model.policy
    with torch.no_grad():
        if algorithm == "ppo":
            distribution = policy.get_distribution(inputs).distribution
            drawn = distribution.mean + distribution.stddev * torch.as_tensor(noise)
            wanted = np.clip(drawn.numpy(), LOPSIDED.low, LOPSIDED.high)
        else:
            mean, log_std, _ = policy.actor.get_action_dist_params(inputs)
            wanted = policy.unscale_action(torch.tanh(mean + log_std.exp() * torch.as_tensor(noise)).numpy())
    if kind == "onnx":
        given = run_onnx(exported.folder / "policy_sampling.onnx", observation=rows, noise=noise)
    else:
        given = run_torchscript(exported.folder / "policy_sampling.pt", rows, noise)
    np.testing.assert_allclose(given / REACH, wanted / REACH, rtol=1e-5, atol=5e-6)


@pytest.mark.parametrize("kind", ["onnx", "torchscript"])
@pytest.mark.parametrize("sde", [True, False], ids=["held noise", "choices"])
def test_samples_of_other_kinds_pass_their_golden_vectors(sde: bool, kind: str, tmp_path: Path) -> None:
    learnt = Learnt("ppo", use_sde=True) if sde else Learnt("ppo", spaces.Discrete(3))
    exported = export(learnt.write(tmp_path), kind, output=tmp_path / "out", sampling=True)
    vectors = np.load(exported.folder / "golden.npz")
    assert (vectors["sampled_action"] != vectors["action"]).any()
    assert exported.manifest["sampling"]["shape"] == (["batch", 64, 3] if sde else ["batch", 3])


def test_the_same_checkpoint_gives_the_same_bytes(tmp_path: Path) -> None:
    checkpoint = Learnt("ppo").write(tmp_path)
    one, other = (export(checkpoint, "onnx", output=tmp_path / name).program.read_bytes() for name in ("a", "b"))
    assert one == other


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("algorithm", ["a2c", "ddpg", "dqn"])
def test_files_of_stable_baselines3_become_programs_too(algorithm: str, kind: str, tmp_path: Path) -> None:
    env_id = "CartPole-v1" if algorithm == "dqn" else "Pendulum-v1"
    small: dict[str, Any] = {} if algorithm == "a2c" else {"buffer_size": 10}
    if algorithm == "ddpg":
        small["policy_kwargs"] = {"activation_fn": torch.nn.LeakyReLU, "net_arch": [32, 32]}
    model = getattr(stable_baselines3, algorithm.upper())("MlpPolicy", env_id, seed=0, device="cpu", **small)
    model.save(tmp_path / "theirs.zip")
    exported = export(tmp_path / "theirs.zip", kind, output=tmp_path / "out", environment=env_id)
    rows = np.stack([model.observation_space.sample() for _ in range(200)])
    rows = np.clip(rows, -5, 5)
    wanted = model.predict(rows, deterministic=True)[0]
    if kind == "onnx":
        given = run_onnx(exported.folder / "policy.onnx", observation=rows)
    elif kind == "torchscript":
        given = run_torchscript(exported.folder / "policy.pt", rows)
    else:
        given = run_sb3(exported.folder, algorithm, rows, None)
    np.testing.assert_allclose(given, wanted, atol=5e-6)
    assert exported.manifest["environment"]["env_id"] == env_id
    assert exported.manifest["golden"]["source"].startswith("80 visited")


@pytest.mark.parametrize("kind", FORMATS)
def test_what_has_no_critics_is_exported_without(learnt: Learnt, kind: str, tmp_path: Path) -> None:
    for name in list(learnt.tensors):
        if "critic" in name or "value_net" in name:
            del learnt.tensors[name]
    exported = export(learnt.write(tmp_path), kind, output=tmp_path / "out")
    rows = observations(50)
    given = run_program(kind, exported.folder, learnt, rows)
    np.testing.assert_allclose(given / REACH, learnt.predict(rows) / REACH, rtol=1e-5, atol=2e-6)
    assert any("critics" in note for note in exported.manifest["export"]["notes"]) == (kind == "sb3")


def test_whole_numbers_go_in_as_they_are(tmp_path: Path) -> None:
    learnt = Learnt("ppo", observation_space=spaces.Box(0, 255, (5,), np.uint8))
    exported = export(learnt.write(tmp_path), "onnx", output=tmp_path / "out")
    rows = np.random.default_rng(0).integers(0, 256, (50, 5)).astype(np.uint8)
    given = run_onnx(exported.program, observation=rows)
    np.testing.assert_allclose(given / REACH, learnt.predict(rows) / REACH, rtol=1e-5, atol=2e-6)
