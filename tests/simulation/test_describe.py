"""The description process."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.simulation.conftest import SLIDER_MODULE
from workbench.project import shipped_project
from workbench.simulation import EnvSource
from workbench.simulation.describe import describe, describe_registry

ENVS = shipped_project().envs
ODD = SLIDER_MODULE.replace("SlideEnv", "OddEnv")


def shipped(name: str, class_name: str, **env_cfg: Any) -> EnvSource:
    return EnvSource(f"workbench/{class_name[:-3]}-v0", name, str(ENVS / f"{name}_env.py"), class_name, env_cfg)


def written(folder: Path, text: str) -> EnvSource:
    path = folder / "odd_env.py"
    path.write_text(text)
    return EnvSource("workbench/Odd-v0", "odd", str(path), "OddEnv")


def test_a_batched_environment_tells_all_of_itself() -> None:
    told = describe(shipped("cart_pole", "CartPoleEnv"))
    assert told["faults"] == []
    assert told["kind"] == "batch"
    assert told["docstring"].startswith("A cart on a rail keeps a pole upright.\n\n## Description\n")
    assert told["observation"]["names"] == ["angular_vel", "linear_vel", "position", "vertical_ang"]
    assert (told["observation"]["shape"], told["observation"]["low"]) == ([4], [None] * 4)
    assert told["action"] == {
        "kind": "Box",
        "shape": [1],
        "dtype": "float32",
        "low": [-3.0],
        "high": [3.0],
        "names": ["cart_force"],
    }
    assert (told["control_hz"], told["simulation_hz"], told["episode_steps"]) == pytest.approx((25, 50, 1000))
    assert (told["reward_terms"], told["terminated"], told["truncated"]) == (
        ["upright"],
        ["pole_angle"],
        ["time_limit"],
    )
    assert told["model"] == {"nq": 2, "nv": 2, "nu": 1, "nbody": 3}
    fields = {row["name"]: row for row in told["config"]}
    assert fields["reset_noise_scale"]["default"] == 0.1
    assert fields["actuate_on_pole"]["type"] == "bool"
    assert all(row["doc"] for row in told["config"])
    json.dumps(told, allow_nan=False)


def test_a_variant_is_described_as_configured() -> None:
    told = describe(shipped("ant", "AntEnv", include_contact_in_observation=False))
    assert told["observation"]["shape"] == [27]
    assert told["reward_terms"] == ["forward", "ctrl", "contact", "survive"]


def test_a_gymnasium_id_tells_what_it_can() -> None:
    told = describe(EnvSource("Hopper-v5", "Hopper-v5"))
    assert told["faults"] == []
    assert told["kind"] == "gymnasium"
    assert (told["control_hz"], told["simulation_hz"], told["episode_steps"]) == pytest.approx((125, 500, 1000))
    assert told["reward_terms"] == ["forward", "ctrl", "survive"]
    assert told["observation"]["shape"] == [11]
    assert "## Action Space" in told["docstring"]


def test_every_fault_of_a_configuration_is_told_and_the_rest_still_is() -> None:
    told = describe(shipped("half_cheetah", "HalfCheetahEnv", ctrl_cost_wieght=1, use_gravity="no"))
    assert {fault["key"]: fault["nearest"] for fault in told["faults"]} == {
        "ctrl_cost_wieght": "ctrl_cost_weight",
        "use_gravity": None,
    }
    assert told["observation"]["shape"] == [17]


PLAIN = '''
import gymnasium, numpy as np
class OddEnv(gymnasium.Env):
    """Plain.

    ## Description
    Raw *text*.
    """
    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Discrete(2)
    def __init__(self, size: float = 2.0, render_mode: str | None = None):
        self.size = size
    def reset(self, *, seed=None, options=None):
        return np.zeros(2, np.float32), {}
    def step(self, action):
        return np.zeros(2, np.float32), 1.0, False, False, {"reward_alive": 1.0, "far": 2}
'''


def test_a_plain_environment_of_a_project_lists_its_arguments(tmp_path: Path) -> None:
    told = describe(written(tmp_path, PLAIN))
    assert told["faults"] == []
    assert told["docstring"] == "Plain.\n\n## Description\nRaw *text*."
    assert told["config"] == [{"name": "size", "type": "float", "default": 2.0, "doc": ""}]
    assert (told["reward_terms"], told["infos"]) == (["alive"], ["far"])
    assert (told["action"]["low"], told["action"]["high"]) == ([0], [1])


def test_an_argument_a_plain_environment_lacks_is_a_fault(tmp_path: Path) -> None:
    source = written(tmp_path, PLAIN)
    source.env_cfg["sise"] = 3
    fault = describe(source)["faults"][0]
    assert (fault["key"], fault["nearest"]) == ("sise", "size")


@pytest.mark.parametrize(
    ("text", "key", "message", "line"),
    [
        ("x = (\n", "syntax", "never closed", 1),
        ("\nimport no_such_thing_here\n", "import", "no_such_thing_here", 2),
        ("import sys\nsys.exit(3)\n", "import", "SystemExit", 2),
        ("class OtherEnv: pass\n", "class", "no class OddEnv", None),
        ("class OddEnv: pass\n", "OddEnv", "neither a BatchEnv nor a gymnasium.Env", None),
        (
            ODD + "    def load(self):\n        return 1 / 0\n",
            "class",
            "ZeroDivision",
            17,
        ),
        (
            ODD + "    def initial_state(self, noise):\n        return [1, 2], 0\n",
            "class",
            "could not",
            None,
        ),
        (
            "from workbench.simulation import BatchEnv, BatchEnvConfig\n"
            "class OddEnvConfig(BatchEnvConfig): pass\n"
            "class OddEnv(BatchEnv[OddEnvConfig]):\n    def load(self): return ''\n",
            "class",
            "lacks initial_state, observe, reward_terms",
            None,
        ),
        (
            ODD + "    def load(self):\n        return 'none.xml'\n",
            "class",
            "none.xml",
            None,
        ),
    ],
    ids=["syntax", "import", "exit", "no-class", "no-environment", "no-model", "start", "abstract", "no-asset"],
)
def test_a_broken_environment_is_described_by_its_fault(
    tmp_path: Path, text: str, key: str, message: str, line: int | None
) -> None:
    faults = describe(written(tmp_path, text))["faults"]
    assert len(faults) == 1
    assert faults[0]["key"] == key
    assert message in faults[0]["message"]
    if line is not None:
        assert faults[0]["line"] == line


STILL = ODD.replace(
    "class OddEnvConfig(toys.SliderEnvConfig):\n",
    "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass OddEnvConfig(toys.SliderEnvConfig):\n"
    "    frame_skip: int = 0\n",
)
UNCONFIGURED = "from workbench.simulation import BatchEnv\n\nclass OddEnv(BatchEnv):\n    def load(self): return ''\n"
PLAIN_ROWS = PLAIN.splitlines(keepends=True)


def without(word: str) -> str:
    """`PLAIN` with one method, or one line, taken out."""
    kept, skipping = [], False
    for row in PLAIN_ROWS:
        skipping = word in row or (skipping and row.startswith("        "))
        kept += [] if skipping else [row]
    return "".join(kept)


@pytest.mark.parametrize(
    ("text", "key", "message", "at"),
    [
        (PLAIN.replace("self.size = size", "raise KeyError('arm')"), "class", "cannot be made: KeyError", "raise"),
        (PLAIN.replace("return np.zeros(2, np.float32), {}", "return self.arm, {}"), "reset", "AttributeError", "arm"),
        (PLAIN.replace('{"reward_alive": 1.0, "far": 2}', "1 / 0"), "step", "ZeroDivisionError", "1 / 0"),
        (without("observation_space"), "observation_space", "is missing", "class OddEnv"),
        (without("action_space"), "action_space", "is missing", "class OddEnv"),
        (without("def step"), "class", "lacks step", "class OddEnv"),
        (ODD.replace("(toys.SliderEnvConfig)", "(Slider)"), "import", "NameError", "(Slider)"),
        (STILL, "frame_skip", "must be at least 1, and is 0", "frame_skip"),
        (UNCONFIGURED, "class", "has no configuration", "class OddEnv"),
        (ODD + "    def load(self):\n        return 'none.xml'\n", "class", "none.xml", "class OddEnv"),
        (ODD + "    def load(self):\n        raise SystemExit('no')\n", "construction", "SystemExit: no", "raise"),
    ],
    ids=["init", "reset", "step", "observations", "actions", "no-step", "import", "still", "config", "asset", "exit"],
)
def test_a_fault_names_its_stage_and_its_line(tmp_path: Path, text: str, key: str, message: str, at: str) -> None:
    (fault,) = describe(written(tmp_path, text))["faults"]
    assert (fault["key"], message in fault["message"]) == (key, True), fault
    assert at in text.splitlines()[fault["line"] - 1]


def test_only_classes_of_the_file_itself_are_offered(tmp_path: Path) -> None:
    (fault,) = describe(written(tmp_path, ODD.replace("OddEnv", "CartPoleEnv")))["faults"]
    assert fault["message"].endswith("It has CartPoleEnv.")


def test_the_registry_lists_gymnasiums_environments() -> None:
    told = {row["env_id"]: row for row in describe_registry()}
    assert told["Ant-v5"]["entry_point"] == "gymnasium.envs.mujoco.ant_v5:AntEnv"
    assert told["Ant-v5"]["max_episode_steps"] == 1000
    assert not any(name.startswith("workbench/") for name in told)


def test_the_process_answers_each_request_and_loads_no_learner(tmp_path: Path) -> None:
    sources = [shipped("cart_pole", "CartPoleEnv"), written(tmp_path, "x = (\n")]
    requests = [
        {"entry": source.to_json() | {"origin": "project"}, "output": str(tmp_path / f"{source.name}.json")}
        for source in sources
    ]
    script = (
        "import sys; from workbench.simulation.describe import main; code = main([]);"
        "print(sorted({'torch', 'stable_baselines3', 'textual', 'polyscope'} & set(sys.modules))); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], input=json.dumps(requests), capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
    assert json.loads((tmp_path / "cart_pole.json").read_text())["faults"] == []
    assert json.loads((tmp_path / "odd.json").read_text())["faults"][0]["key"] == "syntax"


def test_the_process_writes_the_registry(tmp_path: Path) -> None:
    output = tmp_path / "registry.json"
    command = [sys.executable, "-m", "workbench.simulation.describe", "--registry", str(output)]
    subprocess.run(command, check=True, capture_output=True)
    assert any(row["env_id"] == "Ant-v5" for row in json.loads(output.read_text()))
