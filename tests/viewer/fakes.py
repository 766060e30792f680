"""An environment, an actor, a picture source and a film that cost nothing."""

from __future__ import annotations

from typing import Any, Self

import gymnasium
import numpy as np
from gymnasium import spaces

from workbench.viewer.frames import PixelFormat


class Counting(gymnasium.Env[Any, Any]):
    """Counts its steps, ends after `length`, and renders its count as a grey level; no MuJoCo model."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 20}
    observation_space = spaces.Box(-np.inf, np.inf, (1,))
    action_space = spaces.Box(-1, 1, (1,))

    def __init__(self, length: int = 5, *, truncates: bool = False, fails_at: int | None = None) -> None:
        self.render_mode = "rgb_array"
        self.length = length
        self.truncates = truncates
        self.fails_at = fails_at
        self.steps = 0
        self.seeds: list[int | None] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.seeds.append(seed)
        self.steps = 0
        return np.zeros(1), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        if self.steps == self.fails_at:
            raise ValueError("a wheel came off")
        over = self.steps >= self.length
        info = {"truncated_reason": "time_limit"} if self.truncates else {"terminated_reason": "fell"}
        return np.full(1, self.steps), 0.5, over and not self.truncates, over and self.truncates, info if over else {}

    def render(self) -> Any:
        return np.full((49, 65, 3), 40 * self.steps % 256, dtype=np.uint8)


class Nodding:
    """Always does the same; notes the streams it was given."""

    deterministic = True

    def __init__(self) -> None:
        self.streams: list[Any] = []

    def act(self, observations: Any) -> Any:
        return np.zeros((len(observations), 1))

    def reset(self, ids: Any = None, *, streams: Any = None) -> None:
        self.streams.append(streams)


class Sketch:
    """A picture source that notes when it drew."""

    format = PixelFormat((16, 16), "rgba", bottom_up=True)

    def __init__(self) -> None:
        self.elapsed: list[float] = []
        self.restarts = 0

    def restart(self) -> None:
        self.restarts += 1

    def draw(self, elapsed_s: float) -> Any:
        self.elapsed.append(elapsed_s)
        return np.full(16 * 16 * 4, len(self.elapsed), dtype=np.uint8)

    def close(self) -> None:
        pass


class Reel:
    """A film kept in memory."""

    def __init__(self) -> None:
        self.kept: list[int] = []

    @property
    def frames(self) -> int:
        return len(self.kept)

    def add(self, frame: Any) -> None:
        self.kept.append(int(frame.flat[0]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: Any) -> None:
        pass
