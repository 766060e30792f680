"""Which folders are runs of other tools, and what their names tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runs.foreign.files import write_monitor, write_zoo
from workbench.runs.foreign.finding import FoundRun, find_runs, saved_policies


def found_in(folder: Path) -> dict[str, FoundRun]:
    return {str(run.folder.relative_to(folder)): run for run in find_runs(folder)}


def touch(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()


@pytest.mark.parametrize(
    ("folder", "tool", "env_id", "algorithm", "seed"),
    [
        ("runs/Hopper-v4__ppo_continuous_action__3__1700000000", "cleanrl", "Hopper-v4", "ppo", 3),
        ("ALE/Breakout-v5__dqn_atari__1__1700000000", "cleanrl", "Breakout-v5", "dqn", 1),
        ("a__b__sac_continuous_action__12__1700000000", "cleanrl", "a__b", "sac", 12),
        ("tb/CartPole-v1/PPO_1", "sb3", "CartPole-v1", "ppo", None),
        ("tb/CartPole-v1/seed_4/TD3_12", "sb3", "CartPole-v1", "td3", 4),
        ("tb/anything", "tensorboard", "", "", None),
    ],
)
def test_names_of_tensorboard_folders(
    folder: str, tool: str, env_id: str, algorithm: str, seed: int | None, tmp_path: Path
) -> None:
    touch(tmp_path / folder / "events.out.tfevents.1.host.2.0")
    [run] = find_runs(tmp_path)
    assert (run.tool, run.name.env_id, run.name.algorithm, run.name.seed) == (tool, env_id, algorithm, seed)


def test_a_run_of_rl_zoo_is_one_run_with_all_its_files(tmp_path: Path) -> None:
    folder = write_zoo(tmp_path, algorithm="sac")
    (folder / "rl_model_20000_steps.zip").touch()
    (folder / "rl_model_5000_steps.zip").touch()
    [run] = find_runs(tmp_path)
    assert (run.tool, run.folder, run.name.algorithm) == ("zoo", folder, "sac")
    assert [path.name for path in run.monitors] == ["0.monitor.csv", "1.monitor.csv"]
    saved = saved_policies(run)
    assert saved.best == folder / "best_model.zip"
    assert saved.final is None
    assert [steps for steps, _ in saved.by_steps] == [5000, 20000]


def test_the_run_itself_may_be_named(tmp_path: Path) -> None:
    folder = write_zoo(tmp_path)
    assert [run.tool for run in find_runs(folder)] == ["zoo"]


def test_copies_that_are_evaluated_on_count_no_steps(tmp_path: Path) -> None:
    for name in ("0", "eval"):
        write_monitor(tmp_path / f"{name}.monitor.csv", [])
    write_monitor(tmp_path / "only" / "eval.monitor.csv", [])
    found = found_in(tmp_path)
    assert [path.name for path in found["."].monitors] == ["0.monitor.csv"]
    assert [path.name for path in found["only"].monitors] == ["eval.monitor.csv"]


def test_the_same_in_two_formats_is_read_once(tmp_path: Path) -> None:
    touch(tmp_path / "progress.csv")
    touch(tmp_path / "events.out.tfevents.1.host.2.0")
    [run] = find_runs(tmp_path)
    assert (run.progress, run.events) == (tmp_path / "progress.csv", ())


def test_our_own_runs_hidden_folders_and_links_are_left_out(tmp_path: Path) -> None:
    for folder in ("runs/PPO/ant_1", ".hidden", "real"):
        touch(tmp_path / folder / "progress.csv")
    for name in ("run.json", "events.jsonl"):
        touch(tmp_path / "runs/PPO/ant_1" / name)
    (tmp_path / "circle").symlink_to(tmp_path)
    assert set(found_in(tmp_path)) == {"real"}


def test_a_folder_that_is_gone_holds_nothing(tmp_path: Path) -> None:
    assert list(find_runs(tmp_path / "gone")) == []
