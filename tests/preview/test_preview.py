"""Faults that a preview must find: each is planted in an environment that is otherwise in order."""

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.cli import main
from workbench.preview import CHECKS, Finding, preview, worst
from workbench.project import open_project
from workbench.simulation import EnvSource

MODEL = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 0.1"/>
    <body name="link" pos="0 0 1">
      <joint name="swing" type="hinge" axis="0 1 0" range="{range}" limited="true" damping="0.2"/>
      <geom name="rod" type="capsule" fromto="0 0 0 0 0 -0.4" size="0.04"/>
      {more}
    </body>
    {bodies}
  </worldbody>
  <actuator>
    <motor name="turn" joint="swing" gear="5" ctrlrange="-1 1" ctrllimited="true"/>
    {actuators}
  </actuator>
</mujoco>
"""

MODULE = '''
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.simulation import BatchEnv, BatchEnvConfig, find_asset, load_spec


@dataclass(frozen=True)
class RodEnvConfig(BatchEnvConfig):
    """Nothing to differ."""

    frame_skip: int = 4
    """Steps."""
    episode_steps: int = 100
    """Steps."""


class RodEnv(BatchEnv[RodEnvConfig]):
    """A rod."""

    def load(self) -> Any:
        return load_spec(find_asset("rod.xml", Path(__file__)))

    def initial_state(self, noise: Any) -> Any:
        qpos = np.tile(self.model.qpos0, (len(noise), 1)) + {start}
        return qpos + noise.uniform(-0.05, 0.05, self.model.nq), np.zeros((len(noise), self.model.nv))

    def observe(self) -> Any:
        return {observe}

    def reward_terms(self, actions: Any) -> Any:
        return {{"near": {reward}}}

    def terminations(self) -> Any:
        return {terminations}

    {more}
'''

DEFAULTS = {
    "range": "-100 100",
    "bodies": "",
    "actuators": "",
    "more_model": "",
    "start": "0.0",
    "observe": "np.concatenate([self.qpos, self.qvel], axis=1)",
    "reward": "-np.square(self.qpos).sum(axis=1)",
    "terminations": "{}",
    "more": "",
}

SECOND = (
    '<body name="other" pos="0 1 1"><joint name="free_swing" type="hinge" axis="0 1 0"/>'
    '<geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.04"/></body>'
)


def plant(folder: Path, **faults: str) -> tuple[Path, EnvSource]:
    """Write the environment with faults into a project."""
    words = DEFAULTS | faults
    for name in ("envs", "assets"):
        (folder / name).mkdir()
    model = MODEL.format(
        range=words["range"], bodies=words["bodies"], actuators=words["actuators"], more=words["more_model"]
    )
    (folder / "assets" / "rod.xml").write_text(model)
    module = folder / "envs" / "rod_env.py"
    keys = ("start", "observe", "reward", "terminations", "more")
    module.write_text(MODULE.format(**{key: words[key] for key in keys}))
    return folder, EnvSource("workbench/Rod-v0", "rod", str(module), "RodEnv")


def look(folder: Path, source: EnvSource, *checks: str) -> list[Finding]:
    return list(preview(source, open_project(folder), checks))


def test_an_environment_in_order_passes_every_check(tmp_path: Path) -> None:
    findings = look(*plant(tmp_path), *CHECKS)
    assert {finding.check for finding in findings} == set(CHECKS)
    assert worst(findings) == "pass", findings


FAULTS: list[tuple[str, dict[str, str], str, str, str]] = [
    # check, the fault, status, owner, what is said
    (
        "settle",
        {"bodies": '<geom name="block" type="box" size="0.2 0.2 0.2" pos="0 0 0.7"/>'},
        "fail",
        "task",
        "inside",
    ),
    ("settle", {"start": "3.0"}, "warn", "task", "outside its range"),
    ("settle", {"terminations": '{"gone": self.lengths >= 3}'}, "fail", "task", "ends after 3 steps: gone"),
    (
        "settle",
        {"range": "-99999 99999", "more": "def before_step(self) -> None:\n        self.qvel[:] = 150.0"},
        "fail",
        "model",
        "moves at",
    ),
    (
        "joint-sweep",
        {
            "bodies": SECOND.replace("0 1 1", "0.3 0 1"),
            "range": "-100 100",
        },
        "warn",
        "model",
        "inside",
    ),
    ("random-actions", {"reward": "np.ones(self.n_envs)"}, "warn", "task", "reward is 1 at every step"),
    ("random-actions", {"reward": "self.qpos[:, 0] * np.nan"}, "fail", "task", "near is nan"),
    (
        "settle",
        {"more_model": '<joint name="kick" type="slide" axis="1 0 0" stiffness="1e9" springref="5"/>'},
        "fail",
        "model",
        "the simulation breaks",
    ),
    ("random-actions", {"observe": "1000 * self.qpos"}, "warn", "task", "observation 0 reaches"),
    (
        "random-actions",
        {"observe": "np.concatenate([self.qpos, np.ones((self.n_envs, 1))], axis=1)"},
        "warn",
        "task",
        "observation 1 never changed",
    ),
    (
        "random-actions",
        {"more": "def measure(self) -> None:\n        self.qvel[:] += np.random.default_rng().normal() * 1e-3"},
        "fail",
        "task",
        "give another episode",
    ),
    (
        "action-map",
        {"actuators": '<motor name="dead" joint="swing" gear="0" ctrlrange="-1 1"/>'},
        "fail",
        "task",
        "dead",
    ),
    (
        "action-map",
        {"actuators": '<motor name="twin" joint="swing" gear="5" ctrlrange="-1 1"/>'},
        "warn",
        "task",
        "turn and twin do the same",
    ),
    (
        "action-map",
        {"more": "def apply_action(self, actions: Any) -> None:\n        self.ctrl[:] = 0.1 * actions"},
        "warn",
        "task",
        "10 % of the control range of turn",
    ),
    ("training-loop", {"reward": "1 / (self.lengths < 50)"}, "fail", "task", "near"),
]


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(("check", "faults", "status", "owner", "said"), FAULTS, ids=[one[4] for one in FAULTS])
def test_a_planted_fault_is_found_and_told_whose_it_is(
    tmp_path: Path, check: str, faults: dict[str, str], status: str, owner: str, said: str
) -> None:
    bad = [finding for finding in look(*plant(tmp_path, **faults), check) if finding.status in ("warn", "fail")]
    assert any(
        (finding.status, finding.owner) == (status, owner) and said in finding.said and finding.fix for finding in bad
    ), bad


def test_the_exit_code_is_for_ci(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = plant(tmp_path, terminations='{"gone": self.lengths >= 3}')
    words = ["--project", str(folder), "preview", "rod"]
    assert main([*words, "--checks", "settle", "--json"]) == 1
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert told["status"] == "fail"
    assert main([*words, "--checks", "joint-sweep"]) == 0
    assert main([*words, "--checks", "setle"]) == 2
    assert "settle" in capsys.readouterr().err


def test_an_environment_without_a_model_is_tried_as_far_as_it_goes(tmp_path: Path) -> None:
    source = EnvSource("Pendulum-v1", "Pendulum-v1")
    findings = look(tmp_path, source, "settle", "action-map", "random-actions")
    assert worst(findings) == "skip"
