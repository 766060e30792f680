"""A state recording played as a session: nothing acts and nothing is simulated, the states follow each other."""

from __future__ import annotations

import sys
from typing import Any

import mujoco

from workbench.errors import RequestError
from workbench.runs.recordings import EpisodeResult
from workbench.viewer.session import Session, control_period, longest_episode
from workbench.viewer.states import StateRecording, model_digest


class Replay(Session):
    """Plays the episodes of a recording over and over, in their order.

    Args:
        env: The environment they were recorded in; only its model is used, and it is closed.
        recording: Its states.
        name: What the environment is called.

    Raises:
        RequestError: The environment has another model than the one recorded, or none.
    """

    def __init__(self, env: Any, recording: StateRecording, *, name: str) -> None:
        try:
            check_model(env, recording, name)
            still = StillLife(env)
        finally:
            env.close()
        super().__init__(still, Nobody(), seed=recording.episodes[0].seed or 0)
        self.recording = recording
        self._row = 0

    @property
    def seed(self) -> int:
        """The seed that the episode was recorded with."""
        return self._recorded.seed or 0

    @property
    def last_number(self) -> int:
        """None is the last: behind the last one that is recorded comes the first."""
        return sys.maxsize

    @property
    def _place(self) -> int:
        return self.number % len(self.recording.episodes)

    @property
    def _recorded(self) -> EpisodeResult:
        return self.recording.episodes[self._place]

    def begin(self, number: int) -> None:
        """Go to the reset state of an episode; behind the last one comes the first."""
        self.number = number
        self.return_ = 0.0
        self._show(self.recording.starts[self._place])

    def step(self) -> EpisodeResult | None:
        """Go to the next state and return how the episode ended, or None while it goes on."""
        self._show(self._row + 1)
        self.return_ += self.reward
        return self.ended

    def _show(self, row: int) -> None:
        recording, last = self.recording, self.recording.starts[self._place + 1] - 1
        self._row = min(row, last)
        self.steps = int(recording.arrays["step"][self._row])
        self.terms = recording.terms(self._row)
        self.reward = float(recording.arrays["reward"][self._row]) if self.steps else 0.0
        self.ended = self._recorded if self._row == last else None
        recording.put(self.env.data, self._row)
        mujoco.mj_forward(self.env.model, self.env.data)


class StillLife:
    """What the viewer asks of an environment, of one that nobody steps."""

    def __init__(self, env: Any) -> None:
        core = env.unwrapped
        self.model = core.model
        self.data = mujoco.MjData(core.model)
        self.follow_body = getattr(core, "follow_body", None)
        self.dt = control_period(env)
        self.episode_steps = longest_episode(env)
        self.spec = env.spec
        self.action_space = env.action_space

    @property
    def unwrapped(self) -> StillLife:
        """Itself: nothing is wrapped."""
        return self

    def close(self) -> None:
        """Nothing to let go of."""


class Nobody:
    """Acts in a recording, where everything is done already."""

    deterministic = True

    def act(self, observations: Any) -> Any:
        """Not asked: a recording takes no actions."""
        raise NotImplementedError

    def reset(self, ids: Any = None, *, streams: Any = None) -> None:
        """Nothing to forget."""


def check_model(env: Any, recording: StateRecording, name: str) -> None:
    """Refuse a recording of another model.

    Raises:
        RequestError: It is of another one; names both.
    """
    core = env.unwrapped
    recorded, own = str(recording.about.get("model")), model_digest(core.model)
    if recorded != own:
        raise RequestError(
            f"{recording.path} was recorded with the model {recorded}, and {name} has the model {own} now: "
            "its states would show something else.",
            hint="Record it again.",
        )
