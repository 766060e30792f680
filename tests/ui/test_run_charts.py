"""Which charts a run has, and what is in them."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from workbench.runs import EventWriter, History, RunDirectory
from workbench.runs.states import RunState
from workbench.ui.chart_sections import SECTIONS
from workbench.ui.charts.model import XAxis
from workbench.ui.charts.overlay import Identity
from workbench.ui.past import Past, Points, take
from workbench.ui.run_charts import (
    RETURN,
    RunCharts,
    SeedGroup,
    Spec,
    distinct_letters,
    measured_reference,
    overlay_chart,
)
from workbench.ui.run_marks import shares
from workbench.ui.watch import RunRow


def points(*values: float, start: int = 1) -> Points:
    steps = np.arange(start, start + len(values)) * 1000.0
    return Points(steps, steps / 10, steps / 100, np.array(values))


def test_endings_are_shares_of_the_episodes_that_ended_together() -> None:
    found = shares(
        {"terminated/fell": points(3, 1, 0), "truncated/time": points(1, 1, 0), "truncated/far": points(2, start=2)}
    )
    assert found["terminated/fell"].values == pytest.approx([75, 25, np.nan], nan_ok=True)
    assert found["truncated/time"].values == pytest.approx([25, 25, np.nan], nan_ok=True)
    assert found["truncated/far"].values == pytest.approx([50])


def test_letters_are_the_first_that_are_free() -> None:
    assert distinct_letters(["forward", "survive", "ctrl", "contact", "forward", "_"]) == ["f", "s", "c", "o", "r", "a"]
    many = distinct_letters(["x"] * 40)
    assert len(set(many[:36])) == 36 and many[-1] == "·"


def test_every_section_of_a_run_without_history_says_why_it_is_empty() -> None:
    charts = RunCharts(None, Past(()), (), Spec())
    for section in SECTIONS:
        found = charts.section(section)
        assert found and all(chart.empty for chart in found)
        assert not any(len(curve.values) for chart in found for curve in chart.curves)


def test_a_spec_of_any_shape_is_read() -> None:
    assert Spec.of({}) == Spec()
    assert Spec.of({"spec": [1]}) == Spec()
    assert Spec.of({"spec": {"stop_criteria": {"episode_return_mean": "much"}, "algorithm": 3}}) == Spec()
    record = {
        "spec": {"algorithm": "sac", "sac": {"learning_starts": 10_000}, "stop_criteria": {"episode_return_mean": 7}}
    }
    assert Spec.of(record, 1000) == Spec(7.0, 10_000, 1000)


def test_metrics_nobody_knows_are_shown_with_the_system() -> None:
    past = Past((1,), {"rollout/ep_rew_mean": points(1), "mine/odd": points(2), "time/fps": points(3)})
    titles = [chart.title for chart in RunCharts(None, past, (), Spec()).section("System")]
    assert titles == ["time/fps", "mine/odd"]


def row(run: RunDirectory, **more: object) -> RunRow:
    unknown = dict.fromkeys(field.name for field in fields(RunRow))
    known = {"run": run, "state": RunState.RUNNING, "steps": 3000, "total_steps": 9000, "env_id": "workbench/Ant-v0"}
    return RunRow(**unknown | known | {"env_name": "ant"} | more)  # type: ignore[arg-type]


def told(run: RunDirectory, *, shift: int = 0) -> Past:
    """A run that was paused for thirty seconds, changed, and resumed."""
    run.path.mkdir(parents=True, exist_ok=True)
    with EventWriter(run.events_path) as stream:
        stream.append("state", state="running", steps=0, time=1000.0)
        for place in range(1, 4):
            clock = 1000.0 + place + (30 if place > 2 else 0)
            if place == 3:
                stream.append("state", state="paused", steps=2000, time=1002.0)
                stream.append("state", state="running", steps=2000, time=1032.0)
                stream.append("set", steps=2000, time=1032.0, values={"gamma": 0.9})
            stream.append(
                "metrics", steps=place * 1000, time=clock, wall_s=float(place), episodes=place,
                values={RETURN: place + shift},
            )  # fmt: skip
    history = History(run)
    history.refresh()
    return take(history, {})


def test_a_pause_is_marked_and_takes_no_wall_time(tmp_path: Path) -> None:
    past = told(RunDirectory(tmp_path / "run"))
    chart = RunCharts(None, past, (), Spec()).section("Return")[0]
    assert chart.curves[0].x(XAxis.WALL).tolist() == [1, 2, 3]
    assert [(flag.steps, flag.sign) for flag in chart.flags] == [(2000, "P"), (2000, "R"), (2000, "C")]


def test_an_overlay_holds_runs_and_groups_with_what_they_have_in_common(tmp_path: Path) -> None:
    runs = [RunDirectory(tmp_path / f"ant_2026-11-28_10-26-31_{name}") for name in ("7f3a", "1c08", "e5d2", "b19e")]
    pasts = {run.path: told(run, shift=place) for place, run in enumerate(runs)}
    rows = [row(run) for run in runs]
    identities = {rows[3].name: Identity(0, "b"), "group": Identity(None, "a")}
    group = SeedGroup("group", "ant ×3", tuple(rows[:3]))
    data = overlay_chart(
        rows[3:], pasts, identities, rows[3], Spec(2000.0), groups=[group], current_group="group", playing=1000
    )
    assert [curve.letter for curve in data.curves] == ["b"] and data.curves[0].bold
    assert [member.values.tolist() for member in data.groups[0].members] == [[1, 2, 3], [2, 3, 4], [3, 4, 5]]
    assert data.groups[0].bold and data.note == "+1 in grey" and data.playing == 1000
    assert [reference.name for reference in data.references] == ["goal"]
    other = row(runs[3], env_id="Ant-v5")
    apart = overlay_chart([other], pasts, identities, None, Spec(2000.0), groups=[group])
    assert "returns are not comparable" in apart.note and apart.references == ()


def test_a_forked_run_has_the_curve_of_its_parent_where_that_was_read(tmp_path: Path) -> None:
    parent, child = RunDirectory(tmp_path / "parent"), RunDirectory(tmp_path / "child")
    past = told(child)
    record = {"parent": {"run": "parent", "reference": "parent:2000", "steps": 2000, "checkpoint": "c", "iteration": 1}}
    pasts = {parent.path: told(parent, shift=7), child.path: Past(past.version, past.series, record=record)}
    identities = {"child": Identity(0, "a")}
    data = overlay_chart([row(child)], pasts, identities, None, Spec())
    assert data.curves[0].parent is not None and data.curves[0].parent.values.tolist() == [8, 9, 10]
    del pasts[parent.path]
    assert overlay_chart([row(child)], pasts, identities, None, Spec()).curves[0].parent is None
    sections = RunCharts(None, past, (), Spec(), parent=told(parent, shift=7)).section("Return")
    assert sections[0].curves[0].parent is not None


def test_everything_comes_in_the_order_of_pages_and_only_what_there_is(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    past = told(run)
    assert [chart.metric for chart in RunCharts(None, past, (), Spec()).everything()] == [RETURN, "rollout/ep_len_mean"]
    with EventWriter(run.events_path) as stream:
        values = {"train/loss": 1.0, "reward/ctrl_sum": 2.0, "terminated/fell": 1.0, "time/fps": 9.0, "mine/odd": 3.0}
        stream.append("metrics", steps=4000, wall_s=40.0, episodes=9, values=values)
        stream.append("evaluation", steps=3000, mean_return=12.0, std_return=2.0)
    history = History(run)
    history.refresh()
    charts = RunCharts(None, take(history, {}), (), Spec(2000.0)).everything()
    assert [chart.title for chart in charts[2:]] == [
        "evaluation", "reward terms, an episode", "endings, % of episodes", "train/loss", "time/fps", "mine/odd",
    ]  # fmt: skip
    assert charts[2].curves[0].values.tolist() == [12] and charts[2].points[0].spread == 2


def test_the_measured_return_of_a_recipe_is_a_reference() -> None:
    recipe = {"about": "x", "ppo": {"return": 4744.0, "std": 737.8, "seeds": 3, "steps": 1001472}, "sac": {"std": 1}}
    found = measured_reference(recipe, "ppo")
    assert found is not None and found.compared
    assert (found.value, found.spread, found.seeds, found.steps) == (4744, 737.8, 3, 1001472)
    assert measured_reference(recipe, "sac") is None and measured_reference(recipe, "td3") is None
    spec = Spec.of({"spec": {"algorithm": "ppo", "stop_criteria": {"episode_return_mean": 9800}}}, None, recipe)
    assert [reference.name for reference in spec.references] == ["goal", "reference"]


def test_what_others_published_of_the_same_version_is_a_reference_with_its_source() -> None:
    told = {"env_id": "workbench/Hopper-v0", "algorithm": "td3", "stop_criteria": {"evaluation_return_mean": 9.0}}
    goal, published = Spec.of({"spec": told}).references
    assert goal.name == "goal" and published.compared
    # RL-Zoo's 3606 and Tianshou's 3472 are of v3.
    assert (published.name, published.source) == ("published SB3 on v5", "Hopper-v5")
    assert (published.value, published.spread, published.seeds, published.steps) == (1666, 1470, 10, 1e6)
    [range_of_steps] = Spec.of({"spec": {**told, "algorithm": "sac", "stop_criteria": {}}}).references
    assert range_of_steps.steps is None and "4 M to 10 M steps" in range_of_steps.source.replace("\u00a0", " ")
    variant = {"env_id": "workbench/HopperNeverEnds-v0", "algorithm": "td3"}
    assert Spec.of({"spec": variant}).references == Spec.of({}).references == ()
