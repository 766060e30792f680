"""An environment in which something goes wrong as a test says: which number, in which copy, at which of all steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.training.conftest import events, make_run, train_here
from workbench.simulation import EnvSource
from workbench.training import RunResult

FIELDS: dict[str, Any] = {"checkpoint_freq": 1, "eval_every": 0}

MODEL = """<mujoco><option timestep="0.01"/><worldbody><body name="cart"><joint name="j" type="slide" damping="1"/>
<geom size="1"/></body></worldbody><actuator><motor joint="j" ctrlrange="-1 1" gear="5"/></actuator></mujoco>"""

MODULE = f'''
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from workbench.simulation import BatchEnv, BatchEnvConfig

MODEL = """{MODEL}"""


@dataclass(frozen=True)
class PlantedEnvConfig(BatchEnvConfig):
    frame_skip: int = 2
    fails: str = ""
    at: int = 31
    copy: int = 2
    once: str = ""


class PlantedEnv(BatchEnv[PlantedEnvConfig]):
    def setup(self):
        # One look at the environment is no step.
        self.done = -1

    def load(self):
        return mujoco.MjModel.from_xml_string(MODEL)

    def initial_state(self, noise):
        return noise.uniform(-1, 1, 1), noise.uniform(-1, 1, 1)

    def before_step(self):
        self.done += 1

    def bad(self, what, value):
        found = np.zeros(self.n_envs)
        once = self.config.once
        if self.config.fails == what and self.done >= self.config.at and not (once and Path(once).exists()):
            if once:
                Path(once).touch()
            found[self.config.copy] = value
        return found

    def observe(self):
        seen = np.concatenate([self.qpos, self.qvel], axis=1)
        seen[:, 0] += self.bad("observation", np.nan) + self.bad("explosion", -2e6)
        return seen

    def name_observations(self):
        return ["place", "speed"]

    def reward_terms(self, actions):
        fallen = self.config.fails == "collapse" and self.done > self.config.at
        return {{"still": np.full(self.n_envs, 0.2 if fallen else 1.0), "lift": self.bad("reward", np.inf)}}
'''


def planted(folder: Path, fails: str, **config: Any) -> EnvSource:
    """Write the environment and return it; it makes the file that `once` names as it fails, and never fails again."""
    module = folder / "planted_env.py"
    module.write_text(MODULE)
    fields = {"episode_steps": 10, "fails": fails, **config}
    return EnvSource("workbench/Planted-v0", "planted", str(module), "PlantedEnv", fields)


def train(folder: Path, fails: str, *, algorithm: str = "ppo", env: dict[str, Any] | None = None, **fields: Any) -> Any:
    run = make_run(folder / "runs", algorithm, planted(folder, fails, **(env or {})), **{**FIELDS, **fields})
    return train_here(run)


def the_anomaly(result: RunResult) -> dict[str, Any]:
    [anomaly] = events(result.run, "anomaly")
    return anomaly
