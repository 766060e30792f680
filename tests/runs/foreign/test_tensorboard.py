"""TensorBoard's event files, written with the writers of torch and of TensorBoard itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2
from tensorboard.summary.writer.record_writer import RecordWriter

from tests.runs.foreign.files import write_scalars
from workbench.runs.foreign.names import OURS
from workbench.runs.foreign.tensorboard import TensorBoardSource


def test_scalars_of_one_step_are_one_row_under_our_names(tmp_path: Path) -> None:
    path = write_scalars(
        tmp_path,
        [
            ("charts/episodic_return", 10.5, 100),
            ("charts/episodic_length", 20, 100),
            ("losses/approx_kl", 0.25, 100),
            ("losses/value_loss", 4.0, 100),
            ("charts/episodic_return", 20.5, 100),
            ("charts/SPS", 1000, 200),
        ],
    )
    rows = list(TensorBoardSource([path]).rows())
    assert [(row.steps, row.episodes) for row in rows] == [(100, 1), (100, 2), (200, 2)]
    assert rows[0].values == {
        "episode/return": 10.5,
        "rollout/ep_rew_mean": 10.5,
        "episode/length": 20.0,
        "rollout/ep_len_mean": 20.0,
        "train/approx_kl": 0.25,
        "losses/value_loss": 4.0,
    }
    assert rows[1].values == {"episode/return": 20.5, "rollout/ep_rew_mean": 15.5}
    assert rows[2].values == {"time/fps": 1000.0}


def test_hyperparameters_that_cleanrl_writes_are_read(tmp_path: Path) -> None:
    told = {"exp_name": "ppo_continuous_action", "seed": 3, "env_id": "ALE/Breakout-v5", "total_timesteps": 1000000}
    told |= {"num_envs": 8, "learning_rate": 3e-4, "cuda": True, "target_kl": None, "batch": "a|b"}
    source = TensorBoardSource([write_scalars(tmp_path, [("a", 1.0, 1)], text=told)])
    list(source.rows())
    facts = source.facts
    assert (facts.env_id, facts.seed, facts.total_steps, facts.n_envs) == ("ALE/Breakout-v5", 3, 1_000_000, 8)
    assert facts.settings == {
        "exp_name": "ppo_continuous_action",
        "learning_rate": 3e-4,
        "cuda": True,
        "target_kl": None,
        "batch": "a|b",
    }


def test_scores_of_stable_baselines_are_evaluations(tmp_path: Path) -> None:
    path = write_scalars(tmp_path, [("eval/mean_reward", 5.5, 10), ("eval/mean_ep_length", 8.0, 10)])
    [row] = TensorBoardSource([path]).rows()
    assert (row.scores, row.values) == ({"mean_return": 5.5, "mean_length": 8.0}, {})


@pytest.mark.parametrize("in_content", [True, False])
def test_scalars_as_newer_writers_put_them(in_content: bool, tmp_path: Path) -> None:
    tensor = tensor_pb2.TensorProto(dtype=1)
    if in_content:
        tensor.tensor_content = np.array(1.5, "<f4").tobytes()
    else:
        tensor.float_val.append(1.5)
    value = summary_pb2.Summary.Value(tag="a", tensor=tensor)
    path = tmp_path / "events"
    with path.open("wb") as file:
        writer = RecordWriter(file)
        for step, item in ((1, value), (2, summary_pb2.Summary.Value(tag="a", simple_value=float("nan")))):
            event = event_pb2.Event(wall_time=100.0 + step, step=step, summary=summary_pb2.Summary(value=[item]))
            writer.write(event.SerializeToString())
        writer.write(b"\xff\xff no event")
    rows = list(TensorBoardSource([path]).rows())
    assert [(row.steps, row.time, row.values) for row in rows] == [(1, 101.0, {"a": 1.5}), (2, 102.0, {"a": None})]


def test_a_damaged_file_is_told_once(tmp_path: Path) -> None:
    path = write_scalars(tmp_path, [("a", 1.0, 1), ("a", 2.0, 2)])
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(bytes(data))
    source = TensorBoardSource([path])
    rows = list(source.rows())
    assert [row.values for row in rows] == [{"a": 1.0}, {}]
    assert "is damaged from byte" in rows[-1].warning
    assert list(source.rows()) == []


def test_no_name_is_given_twice_by_one_tool() -> None:
    named = [ours for theirs, ours in OURS.items() if "/" in theirs]
    assert len(set(named)) == len(named)
