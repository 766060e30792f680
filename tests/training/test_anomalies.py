"""What a run watches for: each kind planted, what is told and saved of it, and what is done then."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.vec_env import DummyVecEnv, VecCheckNan

from tests.training.conftest import events, make_run, train_here
from tests.training.fast.learners import parameters
from tests.training.planted import FIELDS, MODEL, planted, the_anomaly, train
from workbench.policies import read_checkpoint
from workbench.runs import RunState
from workbench.runs.anomalies import play_command, windows
from workbench.simulation import EnvSource, make_single
from workbench.training.fast.rollout import Rollout
from workbench.training.learner import Learner
from workbench.viewer.replay import Replay
from workbench.viewer.states import StateRecording


@pytest.mark.parametrize(
    ("fails", "kind", "term", "value"),
    [
        ("reward", "non_finite_reward", "the reward term lift", "inf"),
        ("observation", "observation_explosion", "the observation place", "nan"),
    ],
)
def test_a_number_that_is_not_finite_ends_the_run(tmp_path: Path, fails: str, kind: str, term: str, value: str) -> None:
    result = train(tmp_path, fails)
    assert result.state is RunState.FAILED
    # The 31st step is the first of the fourth episode, and 120 steps of four copies were done.
    said = f"planted, copy 2, step 1: {term} is {value}"
    assert result.reason == f"{said}; the last checkpoint is checkpoint_000000000100"
    anomaly = the_anomaly(result)
    assert (anomaly["what"], anomaly["message"], anomaly["action"]) == (kind, said, "stop")
    assert (anomaly["steps"], anomaly["iteration"], anomaly["copies"], anomaly["value"]) == (120, 2, [2], value)
    assert anomaly["window"] == f"anomalies/000000000120_{kind}.npz"
    recording = StateRecording.read(result.run.path / anomaly["window"])
    assert recording.about["anomaly"]["kind"] == kind and recording.about["copies"] == [2, 0]
    # Three whole episodes and the step at fault, each with the state it began in; of the other copy the same.
    assert recording.arrays["step"].tolist() == 2 * [*(3 * list(range(11))), 0, 1]
    assert recording.episodes[3].reason == kind.replace("_", " ")
    check_against_mujoco(recording)


def check_against_mujoco(recording: StateRecording) -> None:
    """Let MuJoCo alone take the actions of each episode, and compare every state."""
    model = mujoco.MjModel.from_xml_string(MODEL)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    rows = recording.arrays
    for number in range(len(recording.episodes)):
        data = mujoco.MjData(model)
        first, last = recording.starts[number], recording.starts[number + 1]
        begins = int(rows["step"][first])
        data.qpos[:], data.qvel[:] = rows["qpos"][first], rows["qvel"][first]
        for row in range(first + 1, last):
            data.ctrl[:] = np.clip(rows["action"][row], -1, 1)
            mujoco.mj_step(model, data, 2)
            assert np.array_equal(rows["qpos"][row], data.qpos) and np.array_equal(rows["qvel"][row], data.qvel)
            assert np.array_equal(rows["ctrl"][row], data.ctrl)
            assert rows["time"][row] == pytest.approx(0.02 * (row - first + begins))
            if not math.isnan(rows["reward"][row]):
                assert np.allclose(rows["observation"][row], [data.qpos[0], data.qvel[0]])
                assert (rows["reward"][row], rows["reward_still"][row], rows["reward_lift"][row]) == (1.0, 1.0, 0.0)


def test_a_window_plays(tmp_path: Path) -> None:
    result = train(tmp_path, "reward")
    anomaly = the_anomaly(result)
    assert play_command(result.run, anomaly) == f"workbench play {result.run.short_id}:anomaly:120"
    recording = StateRecording.read(result.run.path / anomaly["window"])
    source = EnvSource.from_json(recording.about["environment"])
    replay = Replay(make_single(source), recording, name=source.name)
    lengths = []
    for number in range(len(recording.episodes)):
        replay.begin(number)
        while (ended := replay.step()) is None:
            pass
        lengths.append((ended.length, ended.reason))
    assert lengths == 2 * [*(3 * [(10, "time_limit")]), (1, "non finite reward")]


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_a_large_observation_ends_the_run(tmp_path: Path, algorithm: str) -> None:
    result = train(tmp_path, "explosion", algorithm=algorithm)
    assert result.state is RunState.FAILED
    anomaly = the_anomaly(result)
    assert anomaly["message"] == (
        "planted, copy 2, step 1: the observation place is -2e+06, beyond observation_limit 1e+06"
    )
    assert anomaly["value"] == pytest.approx(-2e6, abs=2) and anomaly["baseline"] == 1e6
    recording = StateRecording.read(result.run.path / anomaly["window"])
    assert recording.arrays["step"][recording.arrays["copy"] == 2][-1] == 1
    assert recording.arrays["observation"][recording.arrays["copy"] == 2][-1, 0] == anomaly["value"]


@pytest.mark.parametrize(
    ("watch", "found"),
    [
        ({}, [120]),
        ({"check_observations": False}, []),
        ({"observation_limit": None}, []),
        ({"observation_limit": 3e6}, []),
        ({"check_every_n_steps": 50}, [196, 396]),
    ],
)
def test_how_often_and_how_far_observations_are_looked_at(
    tmp_path: Path, watch: dict[str, Any], found: list[int]
) -> None:
    result = train(tmp_path, "explosion", on_anomaly="continue", anomaly_watch=watch)
    assert result.state is RunState.FINISHED
    told = events(result.run, "anomaly")
    assert [event["steps"] for event in told] == found
    # What lasts is told once, and again where an iteration passed without it; there is no more than one window.
    assert [event["action"] for event in told] == len(found) * ["continue"]
    assert len(windows(result.run)) == sum("window" in event for event in told) == min(1, len(found))


class Cut(BaseException):
    """The power is gone: nothing of ours catches this."""


@pytest.mark.parametrize("cut", [None, 1, 2])
def test_a_run_that_was_cut_off_looks_at_the_same_steps(
    cut: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = {"on_anomaly": "continue", "anomaly_watch": {"check_every_n_steps": 50}}
    run = make_run(tmp_path / "runs", "ppo", planted(tmp_path, "explosion", at=0), **FIELDS, **watch)
    iterate = Learner.iterate

    def cutting(self: Learner) -> None:
        if self.iteration == cut:
            raise Cut
        iterate(self)

    if cut is not None:
        monkeypatch.setattr(Learner, "iterate", cutting)
        with pytest.raises(Cut):
            train_here(run)
        monkeypatch.setattr(Learner, "iterate", iterate)
    assert train_here(run).state is RunState.FINISHED
    assert [event["steps"] for event in events(run, "anomaly")] == [196, 396]


def test_nothing_is_left_to_continue_with_after_a_reward_that_is_none(tmp_path: Path) -> None:
    result = train(tmp_path, "reward", on_anomaly="continue")
    assert result.state is RunState.FAILED
    assert "lift is inf; nothing is left to continue with; the last checkpoint is" in result.reason
    assert the_anomaly(result)["action"] == "stop"


@pytest.mark.parametrize(
    ("watch", "found"),
    [
        ({}, (600, 0.4)),
        ({"collapse_patience": 1}, (500, 0.432)),
        ({"collapse_drop_fraction": 0.1}, (500, 0.432)),
        ({"collapse_drop_fraction": 0.81}, None),
        ({"collapse_baseline_floor": 100.0}, None),
        ({"check_reward_collapse": False}, None),
    ],
)
def test_a_return_that_collapses_is_recorded(tmp_path: Path, watch: dict[str, Any], found: Any) -> None:
    # Episodes of two steps return 2 until the 75th step and 0.4 after; a hundred take fifty steps of four copies. So
    # the mean is 2 at 300 steps, about 1.2 at 400, (96 × 0.4 + 4 × 1.2) / 100 at 500, and 0.4 from 600 on.
    env = {"episode_steps": 2, "at": 75}
    result = train(tmp_path, "collapse", env=env, total_steps=800, checkpoint_freq=10, anomaly_watch=watch)
    assert result.state is RunState.FINISHED
    told = events(result.run, "anomaly")
    assert [event["steps"] for event in told] == ([] if found is None else [found[0]])
    for event in told:
        assert (event["what"], event["action"]) == ("reward_collapse", "continue")
        assert event["value"] == pytest.approx(found[1]) and event["baseline"] == pytest.approx(2)
        assert event["window"] == f"anomalies/{found[0]:012d}_reward_collapse.npz"


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"anomaly_watch": {"on_collapse": "stop"}}, RunState.FAILED),
        ({"on_anomaly": "pause", "anomaly_watch": {"on_collapse": "continue"}}, RunState.FINISHED),
    ],
)
def test_what_happens_at_a_collapse_can_be_said_apart(tmp_path: Path, fields: Any, state: RunState) -> None:
    env = {"episode_steps": 2, "at": 75}
    result = train(tmp_path, "collapse", env=env, total_steps=800, **fields)
    assert result.state is state
    assert the_anomaly(result)["message"] == "the mean return fell to 0.4 from 2, 2 iterations in a row"


def test_the_window_is_as_long_as_asked_and_of_the_copies_that_are_watched(tmp_path: Path) -> None:
    watch = {"window_steps": 7, "env_indices": [3, 1]}
    result = train(tmp_path, "explosion", env={"at": 45}, on_anomaly="continue", anomaly_watch=watch)
    recording = StateRecording.read(windows(result.run)[0])
    assert list(dict.fromkeys(recording.arrays["copy"].tolist())) == [2, 3, 1]
    # The 45th step is the fifth of its episode; the state that one began in is told too.
    assert recording.arrays["step"].tolist() == 3 * [9, 10, 0, 1, 2, 3, 4, 5]
    assert [episode.length for episode in recording.episodes] == 3 * [10, 5]


def test_memory_bounds_the_copies_that_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.simulation.tape.KEPT_BYTES", 1)
    result = train(tmp_path, "reward", anomaly_watch={"env_indices": [1]})
    recording = StateRecording.read(windows(result.run)[0])
    assert set(recording.arrays["copy"].tolist()) == {1}
    check_against_mujoco(recording)


# ---- updates that are not finite


def poison(monkeypatch: pytest.MonkeyPatch, *, rollout: int = 2) -> list[int]:
    """Make the returns of one rollout not finite, whoever learns from them: the fast path or Stable-Baselines3."""
    seen: list[int] = []

    def spoiled(method: Any) -> Any:
        def call(self: Any, *args: Any, **rest: Any) -> None:
            method(self, *args, **rest)
            buffer = getattr(self, "_buffer", self)
            seen.append(len(seen) + 1)
            if len(seen) == rollout:
                buffer.returns[7, 1] = math.nan

        return call

    monkeypatch.setattr(Rollout, "finish", spoiled(Rollout.finish))
    method = RolloutBuffer.compute_returns_and_advantage
    monkeypatch.setattr(RolloutBuffer, "compute_returns_and_advantage", spoiled(method))
    return seen


# Stable-Baselines3 clips the gradients before its optimiser steps, and with one of them all are no number then.
PATHS = {"fast": ({}, "mlp_extractor.value_net.0.weight"), "stable_baselines3": ({"use_sde": True}, "log_std")}


@pytest.mark.parametrize("path", PATHS)
def test_an_update_that_is_not_finite_is_left_out_where_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    poison(monkeypatch)
    block = {"n_steps": 25, "batch_size": 100, "n_epochs": 1, "net_arch": (8,), **PATHS[path][0]}
    before: list[Any] = []
    iterate = Learner.iterate

    def watched(self: Learner) -> None:
        before.append(parameters(self.model))
        iterate(self)

    monkeypatch.setattr(Learner, "iterate", watched)
    result = train(tmp_path, "", on_anomaly="continue", ppo=block)
    assert result.state is RunState.FINISHED and result.steps == 500
    anomaly = the_anomaly(result)
    assert (anomaly["what"], anomaly["action"], anomaly["steps"]) == ("non_finite_gradient", "continue", 200)
    assert anomaly["layer"] == PATHS[path][1]
    # Nothing of the second rollout was learnt, of the others everything was.
    assert [torch.equal(a, b) for a, b in pairwise(before)] == [False, True, False, False]
    assert result.latest is not None
    assert all(np.isfinite(tensor).all() for tensor in read_checkpoint(result.latest).tensors.values())


@pytest.mark.parametrize("path", PATHS)
def test_an_update_that_is_not_finite_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    poison(monkeypatch)
    result = train(tmp_path, "", ppo={"n_steps": 25, "batch_size": 50, "net_arch": (8,), **PATHS[path][0]})
    assert result.state is RunState.FAILED
    assert result.reason.startswith(f"the gradients {PATHS[path][1]} and")
    assert the_anomaly(result)["action"] == "stop"


@pytest.mark.parametrize(("checks", "found"), [(True, ["non_finite_loss"]), (False, [])])
def test_a_loss_that_is_not_finite_is_looked_at_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checks: bool, found: list[str]
) -> None:
    iterate = Learner.iterate

    def infinite(self: Learner) -> None:
        self.model.logger.record("train/value_loss", math.inf)
        with monkeypatch.context() as patch:
            # Only the report is wrong: what was learnt is finite.
            patch.setattr(type(self.model), "_record", lambda *args: None)
            iterate(self)

    monkeypatch.setattr(Learner, "iterate", infinite)
    result = train(tmp_path, "", on_anomaly="continue", anomaly_watch={"check_losses": checks})
    assert result.state is RunState.FINISHED
    assert [event["what"] for event in events(result.run, "anomaly")] == found


# ---- plain environments


def test_a_plain_environment_with_a_model_is_kept_with_its_states(tmp_path: Path) -> None:
    source = EnvSource("InvertedPendulum-v5", "InvertedPendulum-v5")
    fields = {"on_anomaly": "continue", "anomaly_watch": {"observation_limit": 1e-9, "env_indices": [1]}}
    result = train_here(make_run(tmp_path, "ppo", source, total_steps=100, **FIELDS, **fields))
    anomaly = the_anomaly(result)
    assert anomaly["window_holds"] == "states" and anomaly["copies"] == [0]
    recording = StateRecording.read(result.run.path / anomaly["window"])
    env = make_single(source)
    env.reset(seed=3)
    core: Any = env.unwrapped
    data = core.data
    replay = Replay(make_single(source), recording, name=source.name)
    replay.begin(0)
    assert np.array_equal(replay.env.data.qpos, data.qpos)
    env.step(recording.arrays["action"][1].astype(np.float32))
    replay.step()
    assert np.allclose(replay.env.data.qpos, data.qpos) and np.allclose(
        recording.arrays["observation"][1][:2], data.qpos
    )
    env.close()


def test_of_an_environment_without_a_model_observations_are_kept(tmp_path: Path) -> None:
    source = EnvSource("CartPole-v1", "CartPole-v1")
    fields = {"on_anomaly": "continue", "anomaly_watch": {"observation_limit": 1e-9}}
    result = train_here(make_run(tmp_path, "ppo", source, total_steps=100, **FIELDS, **fields))
    anomaly = the_anomaly(result)
    assert anomaly["window_holds"] == "observations" and play_command(result.run, anomaly) == ""
    with np.load(result.run.path / anomaly["window"], allow_pickle=False) as file:
        assert {"observation", "action", "reward", "step"} <= set(file.files) and "qpos" not in file.files
    assert "there are no states" in result.run.log_path.read_text()


class Failing(gymnasium.Env[Any, Any]):
    """Rewards that are no number from the 70th step on."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, **_: Any) -> None:
        self.done = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self.done += 1
        reward = math.nan if self.done >= 70 else float(self.done)
        return np.full(2, self.done / 100, np.float32), reward, False, self.done % 8 == 0, {}


@pytest.fixture
def failing() -> Iterator[EnvSource]:
    gymnasium.register("Failing-v0", entry_point=Failing)
    yield EnvSource("Failing-v0", "Failing-v0")
    del gymnasium.registry["Failing-v0"]


def test_it_is_found_where_stable_baselines3_finds_it(tmp_path: Path, failing: EnvSource) -> None:
    model = PPO(
        "MlpPolicy", VecCheckNan(DummyVecEnv([Failing]), raise_exception=True), n_steps=50, batch_size=50, device="cpu"
    )
    with pytest.raises(ValueError, match="nan in rewards"):
        model.learn(500)
    block = {"n_steps": 50, "batch_size": 50, "net_arch": (8,)}
    result = train_here(make_run(tmp_path, "ppo", failing, n_envs=1, ppo=block, **FIELDS))
    assert result.state is RunState.FAILED
    anomaly = the_anomaly(result)
    assert (anomaly["what"], anomaly["steps"]) == ("non_finite_reward", model.num_timesteps)
    with np.load(result.run.path / anomaly["window"], allow_pickle=False) as file:
        # Every eighth step ends an episode, and the 70th is the sixth of its own.
        steps = [step for episode in range(9) for step in range(9 if episode < 8 else 7)]
        assert file["step"].tolist() == steps
        taken = file["step"] > 0
        assert np.array_equal(file["reward"][taken], [*map(float, range(1, 70)), math.nan], equal_nan=True)
        assert np.allclose(file["observation"][taken][:, 0], np.arange(1, 71) / 100)
