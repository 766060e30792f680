"""The sweep over environments, and one configuration of it."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from workbench.bench import probe
from workbench.bench.document import make_document
from workbench.bench.environments import Sweep, choose, run_sweep
from workbench.catalog import discover
from workbench.cli import main
from workbench.errors import NotFoundError, ProblemsError, RequestError
from workbench.project import Project
from workbench.simulation import EnvSource

TOYS = Path(__file__).parents[1] / "simulation" / "toys.py"
SLIDER = EnvSource("test/Slider-v0", "slider", str(TOYS), "SliderEnv", {"frame_skip": 3})

MODULE = '''
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise

@dataclass(frozen=True)
class SlideEnvConfig(BatchEnvConfig):
    mass: float = 1.0

class SlideEnv(BatchEnv[SlideEnvConfig]):
    """Slides."""

    def load(self) -> Any:
        print("made")
        joint = '<joint name="x" type="slide"/>'
        geom = f'<geom size="0.1" mass="{self.config.mass}"/>'
        actuator = '<actuator><motor joint="x" ctrlrange="-1 1"/></actuator>'
        return mujoco.MjModel.from_xml_string(
            f"<mujoco><worldbody><body>{joint}{geom}</body></worldbody>{actuator}</mujoco>"
        )

    def initial_state(self, noise: Noise) -> Any:
        return np.zeros((len(noise.ids), 1)), np.zeros((len(noise.ids), 1))

    def observe(self) -> Any:
        return self.qpos

    def reward_terms(self, actions: Any) -> Any:
        return {"still": np.zeros(self.n_envs)}
'''


class Ticking:
    """A clock on which a millisecond passes between two looks."""

    def __init__(self) -> None:
        self._ticks = itertools.count()

    def __call__(self) -> float:
        return next(self._ticks) * 1e-3


@pytest.fixture
def slides(project: Project) -> Project:
    files = {
        "envs/slide_env.py": MODULE,
        "envs/slide_env_heavy.json": json.dumps({"env_cfg": {"mass": 5.0, "frame_skip": 2}}),
        "recipes/slide_env_heavy.benchmark.json": json.dumps({"description": "", "env_cfg": {"frame_skip": 4}}),
    }
    for name, text in files.items():
        (project.root / name).parent.mkdir(exist_ok=True)
        (project.root / name).write_text(text)
    return project


def test_speeds_are_steps_over_the_seconds_of_stepping() -> None:
    measured = probe.measure(SLIDER, 8, 1, min_time_s=0.0025, repeats=3, clock=Ticking())
    # A turn takes one tick of the clock for ours and one for the bare simulation.
    per_second = 8 * probe.STEPS / 1e-3
    assert measured["control_steps_per_s"] == pytest.approx(per_second)
    assert measured["simulation_steps_per_s"] == pytest.approx(3 * per_second)
    assert measured["bare_share"] == pytest.approx(1.0)
    assert measured["spread"] == pytest.approx(0.0, abs=1e-6)
    assert measured["init_s"] == pytest.approx(1e-3)
    assert measured["threads"] == 1
    # Three turns last 2.5 ms or more, and there are three repeats.
    assert measured["steps"] == 3 * 3 * probe.STEPS * 8


def test_plain_environments_have_no_bare_simulation() -> None:
    measured = probe.measure(EnvSource("Pendulum-v1", "pendulum"), 2, 2, min_time_s=0.001, repeats=1, clock=Ticking())
    assert measured["control_steps_per_s"] == pytest.approx(2 * probe.STEPS / 1e-3)
    assert measured["bare_share"] is measured["simulation_steps_per_s"] is None
    assert measured["threads"] == 1


def test_the_bare_simulation_repeats_the_steps() -> None:
    from workbench.simulation import make_batch

    env = make_batch(EnvSource(**{**SLIDER.to_json(), "env_cfg": {"episode_steps": 0}}), 3, 1)
    assert env is not None
    subject = probe.Batched(env)
    subject.turn(Ticking())
    assert subject._bare.state == pytest.approx(env.batch.state)
    env.close()


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("cart_pole", "free_pole", True),
        ("half_cheetah", "episode_steps", 1000),
        ("ant", "terminate_when_unhealthy", False),
    ],
)
def test_what_is_shipped_is_measured_as_its_benchmark_file_says(
    project: Project, capsys: pytest.CaptureFixture[str], name: str, field: str, value: object
) -> None:
    words = ["bench", "environments", name, "--copies", "2", "--threads", "1", "--min-time", "0.001", "--repeats", "1"]
    assert main([*words, "--project", str(project.root), "--json"]) == 0
    said = capsys.readouterr()
    assert f"as {name}_env.benchmark.json says" in said.err
    (row,) = json.loads(said.out)["rows"]
    assert row["environment"] == name and row["env_cfg"][field] == value
    assert Path(row["configured_by"]).name == f"{name}_env.benchmark.json"


def test_the_benchmark_file_configures_over_the_variant(slides: Project) -> None:
    catalog = discover(slides)
    (heavy,) = choose(catalog, "slide_heavy")
    assert heavy.source.env_cfg == {"mass": 5.0, "frame_skip": 4}
    assert heavy.configured_by == slides.recipes / "slide_env_heavy.benchmark.json"
    (base,) = choose(catalog, "slide")
    assert (base.source.env_cfg, base.configured_by) == ({}, None)
    assert [subject.source.name for subject in choose(catalog, "slide*")] == ["slide", "slide_heavy"]


def test_a_wrong_benchmark_file_or_name_is_refused(slides: Project) -> None:
    (slides.recipes / "slide_env_heavy.benchmark.json").write_text('{"env_cfg": {"mss": 1}}')
    with pytest.raises(ProblemsError, match="nearest is mass"):
        choose(discover(slides), "slide_heavy")
    with pytest.raises(NotFoundError):
        choose(discover(slides), "nothing_like*")
    (slides.envs / "slide_env_heavy.json").write_text("{")
    with pytest.raises(RequestError, match="broken"):
        choose(discover(slides), "slide_heavy")


def test_more_threads_than_copies_are_measured_once(slides: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.bench.environments._probe", lambda asked: {})
    rows = list(run_sweep(choose(discover(slides), "slide"), Sweep((1, 8), (1, 2))))
    assert [(row["copies"], row["threads"]) for row in rows] == [(1, 1), (8, 1), (8, 2)]


def test_the_command_writes_one_document_and_fails_where_an_environment_does(
    slides: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "speeds.json"
    flags = ["--copies", "4", "--threads", "1", "--min-time", "0.001", "--repeats", "1", "--json", "-o", str(output)]
    words = ["--project", str(slides.root), "bench", "environments"]
    assert main([*words, "slide_heavy", *flags]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kind"] == "environments"
    assert told["machine"]["cpu"] and told["machine"]["cores"] >= 1
    assert {"python", "mujoco", "numpy"} <= told["versions"].keys()
    assert told["date"].endswith("Z") and told["command"]
    (row,) = told["rows"]
    assert row["name"] == "slide_heavy, 4 copies, 1 thread"
    assert row["env_cfg"] == {"mass": 5.0, "frame_skip": 4}
    assert row["value"] == row["control_steps_per_s"] > 0
    assert row["simulation_steps_per_s"] == pytest.approx(4 * row["value"])
    assert row["memory_bytes"] >= 0 and row["init_s"] > 0 and row["bare_share"] > 0
    assert json.loads(output.read_text())["rows"] == told["rows"]
    (slides.envs / "slide_env.py").write_text(MODULE.replace('type="slide"', 'type="slip"'))
    assert main([*words, "slide", *flags[:-2]]) == 1
    shown: Any = json.loads(capsys.readouterr().out)["rows"][0]
    assert shown["value"] is None
    assert "slide" in shown["error"]


@pytest.mark.parametrize(
    ("flags", "named"),
    [(["--copies", "1,none"], "'none'"), (["--copies", ","], "','"), (["--min-time", "0"], "'0'"), ([], "nowhere")],
)
def test_a_wrong_request_is_one_sentence(
    flags: list[str], named: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--project", str(project.root), "bench", "environments", "nowhere", *flags]) == 2
    assert named in capsys.readouterr().err


def test_the_command_that_is_kept_names_no_folder_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks/table.py", "--sbx", "/home/me/venv/bin/python", "SAC", "envs/mine"])
    assert make_document("training", [])["command"] == "python benchmarks/table.py --sbx python SAC envs/mine"
