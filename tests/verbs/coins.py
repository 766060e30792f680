"""A project with an environment of one step, in which action 0 succeeds and 1 fails."""

from __future__ import annotations

from workbench.project import Project

COIN = """
import time

import gymnasium
import numpy as np
from gymnasium import spaces


class CoinEnv(gymnasium.Env):
    '''Guesses.'''

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}
    observation_space = spaces.Box(-1, 1, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, render_mode=None, pause_s=0.0, tells=True):
        self.render_mode, self.pause_s, self.tells = render_mode, pause_s, tells

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.worth = (seed or 0) % 10
        return np.zeros(1, np.float32), {}

    def step(self, action):
        time.sleep(self.pause_s)
        good = int(action) == 0
        info = {"is_success": good} if self.tells else {}
        return np.zeros(1, np.float32), float(self.worth if good else -self.worth), True, False, info

    def render(self):
        return None if self.render_mode is None else np.zeros((48, 64, 3), np.uint8)
"""


def with_coin(project: Project) -> Project:
    """Add the environment, one that does not say what success is, and a slow one."""
    project.envs.mkdir()
    (project.envs / "coin_env.py").write_text(COIN)
    (project.envs / "coin_env_mute.json").write_text('{"description": "Mute.", "env_cfg": {"tells": false}}')
    (project.envs / "coin_env_slow.json").write_text('{"description": "Slow.", "env_cfg": {"pause_s": 0.2}}')
    return project
