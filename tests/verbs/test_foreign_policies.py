"""Policies of other tools at the command line: played where they are named to be, and refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from tests.policies.opening.conftest import LOPSIDED, Payload, make_model, rewrite, serialized
from tests.runs.foreign.files import write_monitor
from workbench.cli import main
from workbench.project import Project
from workbench.runs.directory import foreign_directories
from workbench.runs.foreign.converter import Converter
from workbench.runs.foreign.watch_list import watch

CART = {"observation_space": spaces.Box(-np.inf, np.inf, (4,)), "action_space": spaces.Box(-3, 3, (1,))}


def saved(path: Path, **keywords: Any) -> Path:
    make_model("ppo", **{**CART, **keywords}).save(path)
    return path


def record(project: Project, *words: str) -> int:
    return main(["--project", str(project.root), "record", *words, "--seconds", "0.2"])


def test_a_policy_of_stable_baselines3_is_recorded_in_the_environment_that_is_named(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy, states = saved(tmp_path / "model.zip"), tmp_path / "states.npz"
    words = [str(policy), "--env", "cart_pole", "--normalizer", "none", "--trust"]
    assert record(project, *words, "-o", str(states)) == 0
    told = json.loads((tmp_path / "states.npz.json").read_text())
    assert told["checkpoint"] == str(policy)
    assert told["command"][3:5] == ["--env", "cart_pole"]
    assert {"--normalizer", "none", "--trust"} < set(told["command"])


@pytest.mark.parametrize(
    ("keywords", "words", "said"),
    [
        ({}, [], ["does not say what environment", "--env ID"]),
        ({}, ["--env", "cart_polle"], ["no environment `cart_polle`", "cart_pole"]),
        ({}, ["--env", "half_cheetah"], ["shape (4,)", "shape (17,) (rootz", "PPO by Stable-Baselines3", "gymnasium"]),
        (
            {"action_space": spaces.Box(-1, 1, (1,))},
            ["--env", "cart_pole"],
            ["actions go from -1 to 1", "cart_pole from -3 to 3"],
        ),
        ({"action_space": LOPSIDED}, ["--env", "cart_pole"], ["actions of shape (3,)", "shape (1,) (cart_force)"]),
        ({}, ["--env", "cart_pole", "--normalizer", "gone.pkl"], ["gone.pkl cannot be read"]),
    ],
)
def test_what_does_not_fit_is_said_in_one_sentence(
    keywords: dict[str, Any],
    words: list[str],
    said: list[str],
    project: Project,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    policy = saved(tmp_path / "model.zip", **keywords)
    assert record(project, str(policy), *words, "-o", str(tmp_path / "states.npz")) == 2
    told = capsys.readouterr().err
    assert all(part in told for part in said), told
    assert "Traceback" not in told
    assert sorted(path.name for path in tmp_path.glob("states*")) == []


def test_what_could_run_is_refused_and_runs_nothing(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = rewrite(saved(tmp_path / "model.zip"), policy_kwargs=serialized(Payload(tmp_path / "ran")))
    assert record(project, str(policy), "--env", "cart_pole", "-o", str(tmp_path / "states.npz")) == 2
    told = capsys.readouterr().err
    assert "policy_kwargs names builtins.exec" in told and "--trust" in told
    assert not (tmp_path / "ran").exists()


def test_a_foreign_run_is_played_where_it_says(project: Project, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    write_monitor(logs / "monitor.csv", [(1.0, 10, 0.1)])
    text = (logs / "monitor.csv").read_text()
    (logs / "monitor.csv").write_text(text.replace("Hopper-v4", "InvertedPendulum-v5"))
    saved(logs / "best_model.zip")
    watch(project, [logs])
    with Converter(project) as converter:
        assert converter.refresh().problems == []
    [run] = foreign_directories(project.runs)
    states = tmp_path / "states.npz"
    assert record(project, f"{run.short_id}:best", "-o", str(states)) == 0
    assert json.loads((tmp_path / "states.npz.json").read_text())["environment"] == "InvertedPendulum-v5"
