from pathlib import Path
from typing import Any

import pytest

from tests.runs.rows import a_row
from workbench.runs.directory import RunDirectory
from workbench.runs.grouping import RunGroup, grouped, lineage
from workbench.runs.states import RunState
from workbench.runs.store import RunStore


def seeds_of_ant(*fields: dict[str, Any]) -> list[RunGroup]:
    rows = [a_row(f"000{seed}", seed=seed, group="g1", **each) for seed, each in enumerate(fields, start=1)]
    [group] = grouped(rows)
    assert isinstance(group, RunGroup)
    return [group]


def test_runs_of_one_launch_are_one_row_where_the_first_stood() -> None:
    rows = [
        a_row("b19e", "half_cheetah"),
        a_row("0002", seed=2, group="g1"),
        a_row("40ac", "half_cheetah", group="g2"),
        a_row("0001", seed=1, group="g1"),
        # The same launch, but another environment or algorithm: another group.
        a_row("0003", "half_cheetah", group="g1"),
        a_row("0004", group="g1", algorithm="sac"),
    ]
    first, group, *others = grouped(rows)
    assert first is rows[0]
    assert isinstance(group, RunGroup)
    assert [row.short_id for row in group.rows] == ["0001", "0002"]
    assert (group.id, group.seeds, group.title) == ("g1", (1, 2), "ant_no_contact ×2")
    assert others == [rows[2], rows[4], rows[5]]
    assert grouped([]) == []


def test_a_group_adds_up_what_its_runs_do() -> None:
    [group] = seeds_of_ant(
        {"steps": 9_000_000, "steps_per_s": 9800.0, "progress": 0.6, "eta_s": 500.0, "last_return": 1402.0,
         "best": (1688.0, 74.0), "tags": ("baseline", "x"), "anomalies": 1, "trend": (1.0, 2.0, 3.0, 4.0)},
        {"steps": 9_150_000, "steps_per_s": 9700.0, "progress": 0.61, "eta_s": 612.0, "last_return": 1274.0,
         "best": (1500.0, 10.0), "tags": ("baseline",), "trend": (3.0, 6.0)},
        {"steps": 9_300_000, "steps_per_s": 9900.0, "progress": 0.62, "eta_s": 580.0, "last_return": 1528.0,
         "tags": ("y", "baseline"), "eta_is_bound": True},
    )  # fmt: skip
    assert group.state is RunState.RUNNING
    assert (group.steps, group.total_steps, group.steps_per_s) == (27_450_000, 45_000_000, 29_400.0)
    assert group.progress == pytest.approx(0.61)
    assert (group.eta_s, group.eta_is_bound) == (612.0, True)
    assert group.best is not None
    assert (group.best.mean_return, group.best.std_return) == (1688.0, 74.0)
    assert (group.tags, group.anomalies) == (("baseline",), 1)
    # Of three none is left out: (1402 + 1274 + 1528) / 3.
    assert group.last_return == pytest.approx(4204.0 / 3)
    assert group.smoothed_return is None
    assert group.trend == (2.0, 4.5)


def test_its_return_is_the_interquartile_mean() -> None:
    # scipy.stats.trim_mean([1, 2, 3, 4, 100], 0.25) leaves out int(5 / 4) = 1 at each end: (2 + 3 + 4) / 3.
    [group] = seeds_of_ant(*({"last_return": value} for value in (100.0, 2.0, 1.0, 4.0, 3.0)))
    assert group.last_return == pytest.approx(3.0)
    # Eight lose two at each end: (3 + 4 + 5 + 6) / 4; what is not known is left out before.
    values = [8.0, 1.0, 2.0, 7.0, 3.0, 6.0, 4.0, 5.0, None, float("nan")]
    [group] = seeds_of_ant(*({"last_return": value} for value in values))
    assert group.last_return == pytest.approx(4.5)


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (("finished", "running", "failed"), "running"),
        (("paused", "queued"), "paused"),
        (("queued", "finished", "failed"), "queued"),
        (("finished", "failed", "finished"), "failed"),
        (("stopped", "finished"), "stopped"),
        (("failed", "crashed"), "crashed"),
        (("stopping", "starting"), "stopping"),
    ],
)
def test_its_state_is_that_of_the_liveliest(states: tuple[str, ...], expected: str) -> None:
    [group] = seeds_of_ant(*({"state": RunState(state)} for state in states))
    assert group.state == expected


def test_every_state_has_a_place() -> None:
    from workbench.runs.grouping import LIVELIEST

    assert set(LIVELIEST) == set(RunState)


def test_what_is_not_known_of_one_is_not_told_of_all() -> None:
    [group] = seeds_of_ant({"eta_s": 5.0, "progress": 0.5}, {"eta_s": None, "progress": None, "total_steps": 0})
    assert (group.eta_s, group.progress, group.total_steps, group.steps_per_s) == (None, None, 0, None)
    [group] = seeds_of_ant({"eta_s": 5.0}, {"state": RunState.FINISHED, "reason": "goal"})
    assert group.eta_s == 5.0
    ended = {"state": RunState.FINISHED, "reason": "goal"}
    [group] = seeds_of_ant(ended, ended, {"state": RunState.FINISHED, "reason": "steps"})
    assert group.reason == "goal ×2"


def make(root: Path, short_id: str, **spec: Any) -> RunDirectory:
    parent = spec.get("parent")
    spec = {"env_id": "Ant-v5", "algorithm": "ppo", "seed": 1, "total_steps": 10_000_000, "tags": ["t"], **spec}
    steps = int(parent.rpartition(":")[2]) if parent else 0
    told = {"reference": parent, "run": "", "checkpoint": "", "steps": steps, "iteration": 1} if parent else None
    run = RunDirectory.create(root, "ppo", "ant", files={"run.json": {"spec": spec, "parent": told}})
    named = run.path.with_name(f"ant_20261128-102600_{short_id}")
    run.path.rename(named)
    return RunDirectory(named)


def test_forks_stand_under_their_parent_with_what_changed(tmp_path: Path) -> None:
    block = {"learning_rate": 0.01, "gamma": 0.99, "n_steps": 512}
    first = make(tmp_path, "0001", ppo=block, sac={"gamma": 0.9})
    fork = make(
        tmp_path, "0002", ppo=block | {"learning_rate": 0.0003}, sac={"gamma": 0.8}, seed=9, tags=["u"],
        parent=f"{first.name}:3014656",
    )  # fmt: skip
    again = make(tmp_path, "0003", ppo=block, seed=2, parent=f"{fork.name}:212000", total_steps=20_000_000)
    same = make(tmp_path, "0004", ppo=block, seed=3, parent=f"{first.name}:0")
    many = make(
        tmp_path, "0005", ppo={"learning_rate": 1.0, "gamma": 0.5, "n_steps": 64}, n_envs=2, total_steps=7,
        stop_criteria={"wall_time_s": 5.0}, parent=f"{first.name}:5000000",
    )  # fmt: skip
    orphan = make(tmp_path, "0006", parent="ant_20200101-000000_dead:1000000")
    rows = sorted(RunStore(tmp_path).list(), key=lambda row: row.name)
    forest = lineage(rows)
    drawn = [
        (depth, item.row.short_id, item.change.replace("\u00a0", " ")) for root in forest for depth, item in root.walk()
    ]
    assert drawn == [
        (0, first.short_id, ""),
        (1, fork.short_id, "F 3.0 M, learning_rate 0.01 → 0.0003"),
        (2, again.short_id, "F 212 k, total_steps 10 M → 20 M, learning_rate 0.0003 → 0.01"),
        (1, same.short_id, "F 0, seed 1 → 3"),
        (1, many.short_id, "F 5.0 M, total_steps 10 M → 7, learning_rate 0.01 → 1, gamma 0.99 → 0.5, 1 more"),
        (0, orphan.short_id, "F 1.0 M"),
    ]


def test_a_tree_stands_where_its_first_run_stood_and_a_circle_ends() -> None:
    def row(short_id: str, parent: str = "") -> Any:
        reference = f"ant_20261128-102600_{parent}:5" if parent else None
        return a_row(short_id, "ant", parent=reference)

    rows = [row("0003", "0001"), row("0002"), row("0001")]
    forest = lineage(rows, record_of=lambda _: {})
    assert [[item.row.short_id for _, item in root.walk()] for root in forest] == [["0001", "0003"], ["0002"]]
    circle = [row("0001", "0002"), row("0002", "0001"), row("0003", "0002"), row("0004", "0004")]
    found = [item.row.short_id for root in lineage(circle, record_of=lambda _: {}) for _, item in root.walk()]
    assert sorted(found) == ["0001", "0002", "0003", "0004"]
