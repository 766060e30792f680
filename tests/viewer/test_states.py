from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest

from tests.viewer.fakes import Nodding
from workbench.errors import RequestError
from workbench.viewer.recorder import record
from workbench.viewer.replay import Replay
from workbench.viewer.session import Session
from workbench.viewer.states import StateLog, StateRecording, model_digest

MODEL = """
<mujoco>
  <worldbody>
    <body name="hand" mocap="true"><geom size=".1" contype="0"/></body>
    <body name="arm" pos="0 0 1"><joint name="elbow"/><geom type="capsule" size=".05 .2" pos="0 0 {pos}"/></body>
  </worldbody>
  <actuator><general joint="elbow" dyntype="integrator" gainprm="1"/></actuator>
</mujoco>
"""


class Arm(gymnasium.Env[Any, Any]):
    """Swings; a mocap body moves by itself. Its second term begins late."""

    observation_space = gymnasium.spaces.Box(-1, 1, (1,))
    action_space = gymnasium.spaces.Box(-1, 1, (1,))
    dt = 0.02

    def __init__(self, pos: float = 0.2) -> None:
        self.model = mujoco.MjModel.from_xml_string(MODEL.format(pos=pos))
        self.data = mujoco.MjData(self.model)
        self.closed = False

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[0] = self.np_random.normal()
        self.steps = 0
        mujoco.mj_forward(self.model, self.data)
        return np.zeros(1), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        self.data.ctrl[:] = 0.5
        self.data.mocap_pos[0, 0] = 0.1 * self.steps
        mujoco.mj_step(self.model, self.data, 10)
        info = {"reward_swing": 2.0} | ({"reward_late": -0.5} if self.steps > 2 else {})
        return np.zeros(1), sum(info.values()), self.steps == 4, False, info

    def close(self) -> None:
        self.closed = True


class Witness:
    """Copies what an `MjData` holds after each state."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def begin(self, session: Any) -> None:
        pass

    def see(self, session: Any) -> None:
        data = session.env.unwrapped.data
        self.seen.append(
            (
                session.steps,
                session.return_,
                dict(session.terms),
                *(np.copy(getattr(data, name)) for name in ("qpos", "qvel", "act", "ctrl", "mocap_pos", "time")),
            )
        )


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, Witness]:
    session, live = Session(Arm(), Nodding(), seed=7), Witness()
    path = tmp_path / "arm.npz"
    with StateLog(path, session, {"environment": {"env_id": "Arm"}}, period_s=0.02) as log:
        record(session, [log, live], numbers=range(2))
    assert [item.name for item in tmp_path.iterdir()] == ["arm.npz"]
    return path, live


def same(one: Any, other: Any) -> bool:
    return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in zip(one, other, strict=True))


def test_any_reader_finds_the_states_in_plain_arrays(recorded: tuple[Path, Witness]) -> None:
    path, live = recorded
    with np.load(path) as file:
        assert file["qpos"].shape == (10, 1)
        assert file["step"].tolist() == [0, 1, 2, 3, 4] * 2
        assert file["episode"].tolist() == [0] * 5 + [1] * 5
        assert file["qpos"][7] == live.seen[7][3]
        assert file["mocap_pos"][:5, 0, 0] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4])
        assert np.array_equal(file["reward"], [np.nan, 2, 2, 1.5, 1.5] * 2, equal_nan=True)
        assert np.array_equal(file["reward_late"], [np.nan, np.nan, np.nan, -0.5, -0.5] * 2, equal_nan=True)


def test_a_replay_shows_what_happened_over_and_over(recorded: tuple[Path, Witness]) -> None:
    path, live = recorded
    env = Arm()
    replay, seen = Replay(env, StateRecording.read(path), name="arm"), Witness()
    assert env.closed
    done = record(replay, [seen], numbers=range(2))
    assert len(seen.seen) == len(live.seen)
    assert all(same(one, other) for one, other in zip(live.seen, seen.seen, strict=True))
    assert [(episode.length, episode.seed, episode.return_) for episode in done.episodes] == [(4, 7, 7.0), (4, 8, 7.0)]
    replay.begin(2)
    assert (replay.seed, replay.env.data.qpos[0]) == (7, live.seen[0][3])


def test_a_recording_that_was_cut_short_holds_what_there_was(tmp_path: Path) -> None:
    session = Session(Arm(), Nodding(), seed=7)
    path = tmp_path / "arm.npz"
    with StateLog(path, session, {}, period_s=0.02) as log:
        record(session, [log], numbers=range(3), should_stop=lambda: session.number == 1 and session.steps == 2)
    recording = StateRecording.read(path)
    assert [episode.length for episode in recording.episodes] == [4, 2]
    assert recording.episodes[1].reason is None


def test_states_are_not_shown_on_another_model(recorded: tuple[Path, Witness]) -> None:
    path, _ = recorded
    other = Arm(pos=0.25)
    with pytest.raises(RequestError) as caught:
        Replay(other, StateRecording.read(path), name="arm")
    for model in (other.model, Arm().model):
        assert model_digest(model) in str(caught.value)
    assert model_digest(other.model) != model_digest(Arm().model)


def test_what_is_no_state_recording_is_refused(tmp_path: Path) -> None:
    names = "torn", "text", "empty", "array", "other", "mute", "bare"
    paths = {name: tmp_path / f"{name}.npz" for name in names}
    paths["torn"].write_bytes(b"PK not much of an archive")
    paths["text"].write_text("any text")
    paths["empty"].write_bytes(b"")
    with paths["array"].open("wb") as file:
        np.save(file, np.zeros(3))
    np.savez(paths["other"], qpos=np.zeros(3))
    np.savez(paths["mute"], about="no JSON")
    np.savez(paths["bare"], about="{}")
    reasons = {
        "other": "it holds no `about`",
        "mute": "what it says of itself cannot be read",
        "bare": "it holds no `format`",
    }
    for name, path in paths.items():
        with pytest.raises(RequestError) as caught:
            StateRecording.read(path)
        reason = reasons.get(name, "it is no whole archive of NumPy arrays")
        assert caught.value.message == f"{path} is no state recording: {reason}."
    with pytest.raises(RequestError, match=r"there is no file .*none\.npz"):
        StateRecording.read(tmp_path / "none.npz")


def test_an_error_leaves_no_recording(tmp_path: Path) -> None:
    session = Session(Arm(), Nodding(), seed=7)
    with pytest.raises(ZeroDivisionError), StateLog(tmp_path / "arm.npz", session, {}, period_s=0.02) as log:
        record(session, [log], should_stop=lambda: bool(1 / 0))
    assert list(tmp_path.iterdir()) == []
