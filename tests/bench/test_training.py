"""The figures of training: how they are judged, written down and kept apart from each other's failures."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import stable_baselines3
import torch
from torch.utils.flop_counter import FlopCounterMode

from tests.training.fast.learners import THEIRS
from workbench.bench import floors, of_recipes, off_policy, on_policy, table
from workbench.bench.figures import Figure
from workbench.bench.turns import ratio, take_turns
from workbench.catalog import discover
from workbench.cli import main
from workbench.project import shipped_project


@pytest.fixture(autouse=True)
def known_floors(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of one gigaflop and ten thousand steps a second."""
    for module in (floors, off_policy):
        monkeypatch.setattr(module, "matrix_rate", lambda threads: 1e9)
        monkeypatch.setattr(module, "bare_speed", lambda copies, threads: 1e4)


def test_turns_alternate_and_the_first_does_not_count() -> None:
    done: list[str] = []
    ticks = itertools.count()
    seconds = take_turns(
        [lambda: done.append("theirs"), lambda: done.append("ours")], 2, clock=lambda: float(next(ticks))
    )
    assert done == ["theirs", "ours"] * 3
    assert [len(each) for each in seconds] == [2, 2]
    assert ratio([6.0, 8.0, 100.0], [2.0, 2.0, 2.0]) == 4.0


@pytest.mark.parametrize(
    ("fields", "met"),
    [
        ({"value": 2.0, "target": 2.0}, True),
        ({"value": 1.9, "target": 2.0}, False),
        ({"value": 1.9, "target": 2.0, "at_most": True}, True),
        ({"value": 2.1, "target": 2.0, "at_most": True}, False),
        ({"value": None, "target": 2.0}, None),
        ({"value": 2.0}, None),
    ],
)
def test_a_target_is_reached_or_kept_below(fields: dict[str, Any], met: bool | None) -> None:
    assert Figure("some", **fields).is_met is met


def test_the_floor_is_a_speed_not_exceeded_or_a_time_not_undercut() -> None:
    assert Figure("speed", unit="steps/s", ours=50.0, floor=100.0).floor_share == 0.5
    assert Figure("time", unit="ms", ours=4.0, floor=1.0).floor_share == 0.25


@pytest.mark.parametrize("algorithm", ["SAC", "TD3"])
def test_operations_of_an_update_are_those_that_torch_counts(algorithm: str) -> None:
    case = off_policy.Case(algorithm, (32, 48), 64, 1, 1.0)
    model = off_policy._filled(off_policy.THEIRS[algorithm], case)
    with FlopCounterMode(display=False) as counter:
        model.train(2, case.batch)
    counted = counter.get_total_flops() / 2
    sizes = (off_policy.OBSERVATIONS, off_policy.ACTIONS)
    floor = floors.off_policy_operations(algorithm, *sizes, case.layers, case.batch)
    # Stable-Baselines3 also computes gradients of the critics that the actor's step does not need.
    assert 0.7 * counted < floor <= counted
    assert set(off_policy.THEIRS.values()) == set(THEIRS.values())


def test_operations_of_ppo_are_those_that_torch_counts() -> None:
    policy = torch.nn.Sequential(torch.nn.Linear(17, 32), torch.nn.Tanh(), torch.nn.Linear(32, 6))
    value = torch.nn.Sequential(torch.nn.Linear(17, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
    with FlopCounterMode(display=False) as counter:
        rows = torch.rand(1, 17)
        (policy(rows).sum() + value(rows).sum()).backward()
    rollout, update = floors.ppo_operations(17, 6, (32,), epochs=10)
    assert update == 10 * counter.get_total_flops()
    assert rollout == 2 * (17 * 32 + 32 * 6) + 2 * (17 * 32 + 32)


def test_an_update_is_measured() -> None:
    figure = off_policy.measure_updates(off_policy.Case("TD3", (8, 8), 16, 1, 1.0), 1)
    assert figure.name == "TD3 update, [8, 8] batch 16, 1 thread"
    assert figure.value is not None and figure.ours is not None and figure.theirs is not None
    assert figure.value == pytest.approx(figure.theirs / figure.ours)
    assert figure.floor == pytest.approx(
        1e3 * floors.off_policy_operations("TD3", off_policy.OBSERVATIONS, off_policy.ACTIONS, (8, 8), 16) / 1e9
    )


def test_an_iteration_of_ppo_is_measured() -> None:
    case = on_policy.Case("tiny", 2, 1.0, {"n_steps": 16, "batch_size": 16, "n_epochs": 1})
    figure = on_policy.measure(case, 1)
    assert figure.value is not None and figure.value > 0
    # Ten thousand steps a second, and then the arithmetic.
    assert figure.floor is not None and 0 < figure.floor < 1e4
    assert set(figure.details) == {"rollout_ms", "update_ms"}


def test_one_measurement_that_breaks_down_stops_no_other() -> None:
    def breaks() -> Figure:
        raise ZeroDivisionError("division by zero")

    chosen = [table.Measurement("bad", breaks), table.Measurement("good", lambda: Figure("good", 1.0, value=2.0))]
    bad, good = table.run_measurements(chosen)
    assert (bad.failed, bad.value, bad.name) == (True, None, "bad")
    assert "division by zero" in bad.note
    assert good.is_met


def test_measurements_are_chosen_by_text() -> None:
    everything = table.measurements(table.Effort(), everything=True)
    names = [one.name for one in everything]
    assert len(set(names)) == len(names)
    assert [one.name for one in table.measurements(table.Effort(), texts=("td3 update", "Plain"))] == [
        "PPO, plain Gymnasium, 1 copy",
        *(name for name in names if name.startswith("TD3 update")),
    ]
    assert table.measurements(table.Effort(), texts=("memory",)) == []
    (sbx,) = table.measurements(table.Effort(), everything=True, texts=("SBX",))
    (figure,) = table.run_measurements([sbx])
    assert figure.note.startswith("not measured: ") and not figure.failed


def test_the_table_is_written_with_its_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = [
        Figure("fast", 2.0, value=3.0, ours=300.0, theirs=100.0, floor=600.0, load=0.5),
        Figure("start", 3.0, at_most=True, value=4.0, value_unit="s", unit="s", ours=4.0, load=1.5),
        Figure("rival", 1.0, note="not measured: there is none"),
    ]
    chosen = [table.Measurement(figure.name, lambda figure=figure: figure) for figure in figures]  # type: ignore[misc]
    monkeypatch.setattr(table, "measurements", lambda *_, **__: chosen)
    output = tmp_path / "table.json"
    assert main(["bench", "training", "--table", "--short", "-o", str(output)]) == 0
    assert re.search(r"fast .* 3\.00 × .* 50 % +✓", capsys.readouterr().out)
    document = json.loads(output.read_text())
    assert document["kind"] == "training" and document["short"] is True
    assert [(row["met"], row["floor_share"]) for row in document["rows"]] == [(True, 0.5), (False, None), (None, None)]
    page = output.with_suffix(".md").read_text()
    assert "| fast | 300 steps/s | 100 steps/s | **3.00 ×** | ≥ 2 × | ✓ | 50 % |  |" in page
    assert "| start | 4 s | – | **4.00 s** | ≤ 3 s | ✗ |  |  |" in page
    assert "not measured: there is none" in page
    assert "1 of 2 targets are met" in page
    assert document["machine"]["cpu"] in page and document["date"] in page and document["command"] in page


def test_no_line_with_a_text_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "training", "DQN"]) == 2
    assert "DQN" in capsys.readouterr().err


def test_help_loads_nothing_heavy() -> None:
    code = """
import sys
from workbench.catalog import discover
from workbench.cli import main
from workbench.project import shipped_project
try:
    main(["bench", "training", "--help"])
except SystemExit:
    print(sorted({"torch", "numpy", "mujoco", "gymnasium", "psutil"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_environments_that_are_named_are_measured_as_their_recipes_say(
    project: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(of_recipes, "measure_recipe", lambda case, repeats: Figure(case.name, value=2.0, best=2.5))
    words = ["--project", str(project.root), "bench", "training", "--json"]
    assert main([*words, "cart_pole"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["name"] for row in rows] == [f"cart_pole {name}, as its recipe says" for name in ("PPO", "SAC", "TD3")]
    assert main([*words, "cart_pole", "sac"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)["rows"]] == [rows[1]["name"]]
    assert main([*words, "cart_pole", "dqn"]) == 2
    assert "cart_pole has no recipe for dqn" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_both_learners_get_the_recipes_copies_and_hyperparameters(
    algorithm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    make_model = of_recipes.make_model

    def keep(*asked: Any, **keywords: Any) -> Any:
        made.append(make_model(*asked, **keywords))
        return made[-1]

    monkeypatch.setattr(of_recipes, "make_model", keep)
    entry = discover(shipped_project()).find("cart_pole")
    figure = of_recipes.measure_recipe(of_recipes.RecipeCase(entry, algorithm), 1)
    ours, theirs = made
    block = entry.training.data[algorithm]  # type: ignore[union-attr]
    for model in made:
        assert model.n_envs == block["n_envs"] and model.batch_size == block["batch_size"]
        assert model.learning_rate == block["learning_rate"]
    assert type(theirs) is getattr(stable_baselines3, algorithm.upper()) and type(ours) is not type(theirs)
    assert figure.value is not None and figure.value > 0 and figure.unit == "steps/s"
    assert "cart_pole as a gymnasium.Env" in figure.note
