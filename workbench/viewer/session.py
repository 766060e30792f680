"""An environment played by an actor, episode after episode; knows nothing of pictures or of time."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import SimulationError, WorkbenchError
from workbench.policies import Actor
from workbench.remote.declaration import HIGHEST_SEED
from workbench.runs.recordings import EpisodeResult

_TERM = "reward_"
"""How the names of reward terms begin in `info`, here and in Gymnasium's environments."""


class Session:
    """Plays episodes whose number alone fixes how they begin: episode k is seeded `seed + k`.

    Args:
        env: The plain Gymnasium environment.
        actor: What acts.
        seed: The seed of episode 0.
    """

    def __init__(self, env: Any, actor: Actor, *, seed: int) -> None:
        self.env = env
        self.actor = actor
        self.first_seed = seed
        self.number = 0
        """The episode being played, from 0."""
        self.steps = 0
        """Steps taken in it."""
        self.return_ = 0.0
        """The sum of its rewards so far."""
        self.reward = 0.0
        """The last reward."""
        self.terms: dict[str, float] = {}
        """Its terms by name, where the environment tells them as `reward_<term>`."""
        self.ended: EpisodeResult | None = None
        """How the episode ended; None while it goes on."""
        self.observation: Any = None
        """What acts sees next."""
        self.action: Any = None
        """The last action; None before the first."""
        self.by_hand: NDArray[Any] | None = None
        """The action of the steps to come, whatever acts; None to let it act."""
        self.info: dict[str, Any] = {}
        """What the last step or the reset told besides."""
        self.before_step: Callable[[], None] = lambda: None
        """Called before each step, with the state still the old one."""
        self._discrete = type(env.action_space).__name__ == "Discrete"

    @property
    def seed(self) -> int:
        """The seed of the episode being played."""
        return self.first_seed + self.number

    @property
    def last_number(self) -> int:
        """The last episode there is: seeds go no further."""
        return HIGHEST_SEED - self.first_seed

    def begin(self, number: int) -> None:
        """Reset the environment to the start of an episode.

        Raises:
            SimulationError: The environment raised.
        """
        self.number = number
        self.steps = 0
        self.return_ = self.reward = 0.0
        self.terms = {}
        self.ended = self.action = self.by_hand = None
        self.actor.reset([0], streams=[self.seed])
        self.observation, self.info = self._ask("reset", seed=self.seed)

    def step(self) -> EpisodeResult | None:
        """Act once and return how the episode ended, or None while it goes on.

        Raises:
            SimulationError: The environment raised.
        """
        self.before_step()
        # What acts is asked even where its answer is not taken: its random stream goes on as in any other episode.
        action = self.actor.act(_row(self.observation))[0]
        if self.by_hand is not None:
            action = self.by_hand
        self.action = int(np.asarray(action).item()) if self._discrete else action
        outcome = self._ask("step", self.action)
        self.observation, reward, terminated, truncated, info = outcome
        self.info = info
        self.steps += 1
        self.reward = float(reward)
        self.return_ += self.reward
        self.terms = _terms(info)
        if terminated or truncated:
            reason = _reason(info, terminated=bool(terminated))
            self.ended = EpisodeResult(return_=self.return_, length=self.steps, reason=reason, seed=self.seed)
        return self.ended

    def so_far(self) -> EpisodeResult:
        """Return the episode as it stands, whether it ended or was cut short."""
        return self.ended or EpisodeResult(return_=self.return_, length=self.steps, reason=None, seed=self.seed)

    def _ask(self, method: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return getattr(self.env, method)(*args, **kwargs)
        except WorkbenchError:
            raise
        except Exception as error:
            name = type(self.env.unwrapped).__name__
            raise SimulationError(
                f"{name}.{method} raised {type(error).__name__} in the episode with seed {self.seed}, "
                f"step {self.steps}: {error}"
            ) from error


def _row(observation: Any) -> NDArray[Any]:
    """Return one observation as a batch of one; one of many parts stays whole, for agents that look at none."""
    if isinstance(observation, dict | tuple):
        row = np.empty(1, dtype=object)
        row[0] = observation
        return row
    return np.asarray(observation)[None]


def _reason(info: Any, *, terminated: bool) -> str:
    kind = "terminated" if terminated else "truncated"
    return str(info.get(f"{kind}_reason") or kind)


def _terms(info: Any) -> dict[str, float]:
    """Return the reward terms that an `info` tells, in its order."""
    named = ((str(key), value) for key, value in info.items() if str(key).startswith(_TERM) and key != _TERM)
    return {name[len(_TERM) :]: float(value) for name, value in named if isinstance(value, Real)}


def has_mujoco_model(env: Any) -> bool:
    """Tell whether an environment carries a MuJoCo model and its state."""
    return hasattr(env.unwrapped, "model") and hasattr(env.unwrapped, "data")


def control_period(env: Any) -> float:
    """Return the simulated seconds between two actions."""
    from workbench.policies import control_rate

    core = env.unwrapped
    for name in ("control_dt", "dt"):
        period = getattr(core, name, None)
        if isinstance(period, int | float) and period > 0:
            return float(period)
    return 1 / control_rate(env)


def longest_episode(env: Any) -> int | None:
    """Return after how many steps an episode is cut, or None where that is not known."""
    spec = getattr(env, "spec", None)
    limit = getattr(env.unwrapped, "episode_steps", None) or getattr(spec, "max_episode_steps", None)
    return int(limit) if limit and limit > 0 else None


def describe(number: int, episode: EpisodeResult) -> str:
    """Return one line about an episode."""
    ending = episode.reason or "cut short"
    # A window of states that a run saved was begun by no seed of its own.
    seed = "" if episode.seed is None else f"  seed {episode.seed}"
    return f"episode {number + 1}  return {episode.return_ or 0.0:.2f}  length {episode.length}  {ending}{seed}"
