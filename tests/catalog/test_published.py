"""The shipped table of published returns: its figures, and that no version of an environment stands for another."""

from __future__ import annotations

import gymnasium
import pytest

from workbench.catalog import discover
from workbench.catalog.published import published_table
from workbench.project import shipped_project

# Typed from what the sources publish: RL-Zoo's benchmark.md, CleanRL's and Tianshou's pages, SLM-Lab's BENCHMARKS.md,
# and the last ten evaluations in each evaluations.npz of the validation of Gymnasium's v5.
FIGURES = [
    ("rl-zoo", "HalfCheetah-v3", "ppo", 5819, 664, 1_000_000, 1),
    ("rl-zoo", "HalfCheetah-v3", "td3", 9656, 970, 1_000_000, 1),
    ("rl-zoo", "Ant-v3", "sac", 4616, 1354, 1_000_000, 1),
    ("rl-zoo", "Humanoid-v3", "sac", 6232, 280, 2_000_000, 1),
    ("rl-zoo", "Pendulum-v1", "ppo", -172, 104, 100_000, 1),
    ("rl-zoo", "MountainCarContinuous-v0", "td3", 93.5, None, 300_000, 1),
    ("cleanrl", "HalfCheetah-v4", "ppo", 1443, 46, 1_000_000, 3),
    ("cleanrl", "Walker2d-v4", "sac", 3591, 911, 1_000_000, 3),
    ("cleanrl", "Pusher-v4", "sac", -22, 0.5, 1_000_000, 3),
    ("tianshou", "HalfCheetah-v3", "sac", 12139, 1049, 1_000_000, 10),
    ("tianshou", "Swimmer-v3", "td3", 104, 34, 1_000_000, 10),
    ("tianshou", "Reacher-v2", "sac", -2.6, 0.2, 1_000_000, 10),
    ("sb3-v5", "Ant-v5", "sac", 5379, 945, 2_000_000, 10),
    ("sb3-v5", "Hopper-v5", "td3", 1666, 1470, 1_000_000, 10),
    ("sb3-v5", "InvertedPendulum-v4", "td3", 955, 103, 300_000, 10),
    ("sb3-v5", "Humanoid-v5", "ppo", 351, 46, 300_000, 10),
    ("slm-lab", "HalfCheetah-v5", "ppo", 6241, None, (4_000_000, 10_000_000), 4),
    ("slm-lab", "HumanoidStandup-v5", "sac", 137_357, None, (4_000_000, 10_000_000), 4),
]


@pytest.mark.parametrize(("source", "environment", "algorithm", "mean", "std", "steps", "seeds"), FIGURES)
def test_figures_are_those_of_their_sources(
    source: str, environment: str, algorithm: str, mean: float, std: float | None, steps: object, seeds: int
) -> None:
    ends = steps if isinstance(steps, tuple) else (steps, steps)
    found = [
        (item.mean, item.std, item.seeds)
        for item in published_table().returns
        if (item.source.key, item.environment, item.algorithm, item.steps) == (source, environment, algorithm, ends)
    ]
    assert found == [(mean, std, seeds)]


def test_no_figure_stands_twice_and_each_has_all_that_it_is_read_with() -> None:
    table = published_table()
    keys = [(item.source.key, item.environment, item.algorithm, item.steps) for item in table.returns]
    assert len(set(keys)) == len(keys)
    assert {item.algorithm for item in table.returns} == {"ppo", "sac", "td3"}
    for item in table.returns:
        assert item.seeds >= 1 and 0 < item.steps[0] <= item.steps[1] and item.environment[-3:-1] == "-v"
    for source in table.sources.values():
        assert source.name and source.where and source.protocol and source.spread_over in ("seeds", "episodes")


def test_ours_are_measured_against_the_same_version_alone() -> None:
    table = published_table()
    assert table.twin("workbench/Hopper-v0") == "Hopper-v5"
    best = table.best("workbench/Hopper-v0", "ppo")
    # SB3 on v5 after a million steps is above SLM-Lab's 1654; RL-Zoo's and Tianshou's are of v3.
    assert best is not None and (best.mean, best.environment, best.source.name) == (2714, "Hopper-v5", "SB3 on v5")
    assert {item.environment for item in table.of("workbench/Hopper-v0")} == {"Hopper-v5"}
    assert {item.environment for item in table.of_other_versions("workbench/Hopper-v0")} == {"Hopper-v3", "Hopper-v4"}
    assert table.of("Hopper-v3", "td3")[0].mean == 3606
    assert table.twin("workbench/AntNoContact-v0") is None and table.of("workbench/AntNoContact-v0") == []


def test_every_task_of_gymnasium_is_there_and_both_ids_exist() -> None:
    catalog, twins = discover(shipped_project()), published_table().same_task
    assert len(twins) == 11
    for ours, theirs in twins.items():
        entry = catalog.entry_for_id(ours)
        assert entry is not None and not entry.broken
        assert theirs.endswith("-v5") and theirs in gymnasium.registry
