"""What every reader hands on: rows of metrics and scores, with the step, and the time where that is known."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

EPISODE_RETURN = "episode/return"
EPISODE_LENGTH = "episode/length"
RETURN_MEAN = "rollout/ep_rew_mean"
LENGTH_MEAN = "rollout/ep_len_mean"
WINDOW = 100
"""Episodes that the mean return is taken over, as Stable-Baselines3 does and we do."""


@dataclass(slots=True)
class Row:
    """What was written about one step."""

    steps: int
    values: dict[str, float | None]
    """Metrics by our names; None where the value was not finite."""
    time: float | None = None
    """Unix seconds."""
    wall_s: float | None = None
    """Since training began."""
    episodes: int | None = None
    """Ended so far."""
    iteration: int | None = None
    scores: dict[str, Any] | None = None
    """Fields of an `evaluation` event, where the row is one."""
    warning: str = ""
    """What is wrong with the file from here on."""


@dataclass
class Facts:
    """What files tell of a run besides its curves; what is not known is empty."""

    env_id: str = ""
    algorithm: str = ""
    """Lower case."""
    seed: int | None = None
    total_steps: int = 0
    n_envs: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    """Hyperparameters by the names that the tool gives them, as plain data."""
    command: tuple[str, ...] = ()
    began: float = 0.0
    """Unix seconds."""

    def filled_from(self, other: Facts) -> Facts:
        """Return these facts, and those of another source where there are none."""
        return Facts(
            self.env_id or other.env_id,
            self.algorithm or other.algorithm,
            other.seed if self.seed is None else self.seed,
            self.total_steps or other.total_steps,
            other.n_envs if self.n_envs is None else self.n_envs,
            self.settings or other.settings,
            self.command or other.command,
            self.began or other.began,
        )


class Source(Protocol):
    """A file, or several that belong together, from which rows come."""

    @property
    def facts(self) -> Facts:
        """What has been read of the run so far, besides rows."""
        ...

    def rows(self) -> Iterator[Row]:
        """Yield what was written since the last time, steps not falling.

        Raises:
            StartedOverError: What was read before no longer holds.
        """
        ...


class EpisodeWindow:
    """The mean return and length of the newest episodes."""

    def __init__(self) -> None:
        self._recent: dict[str, deque[float]] = {}

    def means(self, values: dict[str, float | None]) -> dict[str, float | None]:
        """Take in an episode and return the means over the last `WINDOW`, or over all while there are fewer."""
        found: dict[str, float | None] = {}
        for name, mean in ((EPISODE_RETURN, RETURN_MEAN), (EPISODE_LENGTH, LENGTH_MEAN)):
            value = values.get(name)
            if value is None:
                continue
            recent = self._recent.setdefault(name, deque(maxlen=WINDOW))
            recent.append(value)
            found[mean] = sum(recent) / len(recent)
        return found
