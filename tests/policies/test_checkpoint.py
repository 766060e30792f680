"""The checkpoint format: sealed, complete, refused by name when it is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from tests.policies.conftest import Learnt
from workbench.errors import CheckpointError, RequestError
from workbench.policies.checkpoint import read_checkpoint
from workbench.policies.record import PolicyRecord
from workbench.policies.sb3 import describe_network
from workbench.policies.spaces import describe_space


def test_what_was_written_is_read(learnt: Learnt, tmp_path: Path) -> None:
    path = learnt.write(tmp_path)
    assert path.name == "checkpoint_000000001000"
    assert sorted(file.name for file in path.iterdir()) == ["policy.json", "policy.safetensors"]
    checkpoint = read_checkpoint(path)
    assert checkpoint.record.network == learnt.fields["network"]
    assert checkpoint.record.action_space.bounds()[1].tolist() == [2.0, 3.0, 4.0]
    assert set(checkpoint.tensors) == set(learnt.tensors)
    for name, tensor in learnt.tensors.items():
        np.testing.assert_array_equal(checkpoint.tensors[name], tensor)


def test_a_checkpoint_is_whole_or_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("workbench.durable.seal_directory", fail)
    with pytest.raises(OSError, match="No space"):
        Learnt("ppo").write(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("field", sorted(set(PolicyRecord.model_fields)))
def test_a_missing_field_is_refused_by_name(field: str, tmp_path: Path) -> None:
    path = Learnt("ppo").write(tmp_path)
    record = json.loads((path / "policy.json").read_text())
    del record[field]
    (path / "policy.json").write_text(json.dumps(record))
    with pytest.raises(CheckpointError, match=f"{field} is missing"):
        read_checkpoint(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("steps", "1000"),
        ("steps", -1),
        ("format", 2),
        ("algorithm", "cem"),
        ("network", {"trunk": []}),
        ("action_map", {"low": [], "high": [], "squash": 1, "clip": True}),
        ("weights_sha256", "abc"),
        ("control_period_s", "fast"),
        ("normalizer", {"epsilon": 0.0, "clip": 10.0}),
    ],
)
def test_an_ill_typed_field_is_refused_by_name(field: str, value: Any, tmp_path: Path) -> None:
    path = Learnt("ppo").write(tmp_path)
    record = json.loads((path / "policy.json").read_text())
    (path / "policy.json").write_text(json.dumps({**record, field: value}))
    with pytest.raises(CheckpointError, match=field):
        read_checkpoint(path)


def test_altered_weights_are_refused(tmp_path: Path) -> None:
    path = Learnt("ppo").write(tmp_path)
    content = bytearray((path / "policy.safetensors").read_bytes())
    content[-1] ^= 1
    (path / "policy.safetensors").write_bytes(content)
    with pytest.raises(CheckpointError, match="SHA-256"):
        read_checkpoint(path)


def test_missing_files_are_told_apart(tmp_path: Path) -> None:
    path = Learnt("ppo").write(tmp_path)
    (path / "policy.safetensors").unlink()
    with pytest.raises(CheckpointError, match="weights are missing"):
        read_checkpoint(path)
    (path / "policy.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"policy\.json"):
        read_checkpoint(path)
    (path / "policy.json").unlink()
    with pytest.raises(CheckpointError, match="no checkpoint"):
        read_checkpoint(path)


def test_tensors_that_do_not_make_the_network_are_named(tmp_path: Path) -> None:
    learnt = Learnt("sac")
    del learnt.tensors["actor.mu.weight"], learnt.tensors["normalizer.var"]
    learnt.tensors["actor.log_std.bias"] = np.zeros(9, np.float32)
    with pytest.raises(CheckpointError) as refusal:
        learnt.write(tmp_path)
    for name in ("actor.mu.weight", "normalizer.var", "actor.log_std.bias"):
        assert name in refusal.value.message
    assert list(tmp_path.iterdir()) == []


def test_infinite_bounds_survive(tmp_path: Path) -> None:
    record = read_checkpoint(Learnt("ppo").write(tmp_path)).record
    low, high = record.observation_space.bounds()
    assert np.isneginf(low).all() and np.isposinf(high).all()


@pytest.mark.parametrize(
    ("space", "word"),
    [
        (spaces.Box(0, 255, (84, 84, 3), np.uint8), "images"),
        (spaces.Dict({"a": spaces.Discrete(2)}), "Dict"),
        (spaces.MultiBinary(3), "MultiBinary"),
        (spaces.Discrete(3, start=1), "from 1 on"),
    ],
)
def test_a_space_no_policy_can_read_is_refused_in_a_sentence(space: Any, word: str) -> None:
    with pytest.raises(RequestError, match=word):
        describe_space(space, "observations")


def test_a_network_numpy_cannot_run_is_refused_in_a_sentence() -> None:
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    from tests.policies.conftest import Still

    images = spaces.Box(0, 255, (36, 36, 3), np.uint8)
    model = PPO("CnnPolicy", DummyVecEnv([lambda: Still(images, spaces.Discrete(2))]), n_steps=8, batch_size=8)
    with pytest.raises(RequestError, match="NatureCNN"):
        describe_network(model.policy, "ppo")
