"""Foreign runs from end to end: what other tools left in a folder, as every reader of runs sees it."""

from __future__ import annotations

import csv
import json
import os
import pickle
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.runs.foreign.files import age, contents, write_monitor, write_scalars, write_zoo
from workbench.errors import RequestError
from workbench.project import Project
from workbench.runs.annotations import Annotations
from workbench.runs.directory import RunDirectory
from workbench.runs.foreign import mirror
from workbench.runs.foreign.converter import Converter
from workbench.runs.foreign.watch_list import unwatch, watch, watch_list_path, watched
from workbench.runs.history import History
from workbench.runs.pruning import plan_pruning
from workbench.runs.queueing import Move, move_in_queue
from workbench.runs.references import find_checkpoint
from workbench.runs.resuming import resume_run
from workbench.runs.states import RunState
from workbench.runs.steering import change_run, pause_run, request_checkpoint, request_evaluation, unpause_run
from workbench.runs.stopping import kill_run, stop_run
from workbench.runs.store import RunStore
from workbench.runs.summary import RunSummary
from workbench.runs.trash import delete_runs

NOW = 1_800_000_000.0


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    return Project(root)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


def convert(project: Project, *folders: Path) -> list[RunSummary]:
    """Put folders on the list, convert, and return the rows of the list of runs."""
    watch(project, folders)
    with Converter(project, clock=lambda: NOW) as converter:
        assert converter.refresh().problems == []
    return RunStore(project.runs, clock=lambda: NOW).list()


def history_of(run: RunDirectory) -> History:
    history = History(run)
    history.refresh()
    return history


def test_a_run_of_stable_baselines_shows_what_its_files_say(project: Project, logs: Path) -> None:
    import gymnasium as gym
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import EvalCallback
    from stable_baselines3.common.logger import configure
    from stable_baselines3.common.monitor import Monitor

    env = Monitor(gym.make("CartPole-v1"), str(logs / "0"))
    model = PPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=1, seed=1, device="cpu")
    model.set_logger(configure(str(logs), ["csv", "tensorboard"]))
    scored = EvalCallback(Monitor(gym.make("CartPole-v1")), log_path=str(logs), eval_freq=100, verbose=0)
    model.learn(300, callback=scored)
    model.logger.close()
    env.close()
    before = contents(logs)
    [row] = convert(project, logs)
    assert (row.tool, row.env_id, row.algorithm, row.source) == ("sb3", "CartPole-v1", "ppo", str(logs))
    series = history_of(row.run).series
    with (logs / "progress.csv").open(newline="") as file:
        written = list(csv.DictReader(file))
    for name in ("rollout/ep_rew_mean", "train/loss", "time/fps"):
        points = [(float(one["time/total_timesteps"]), float(one[name])) for one in written if one[name]]
        assert points, name
        assert list(zip(series[name].steps, series[name].values, strict=True)) == points
    with (logs / "0.monitor.csv").open() as file:
        file.readline()
        returns = [float(one["r"]) for one in csv.DictReader(file)]
    assert series["episode/return"].values.tolist() == returns
    with np.load(logs / "evaluations.npz") as arrays:
        means = arrays["results"].mean(axis=1).tolist()
        steps = arrays["timesteps"].tolist()
    assert [(item.steps, item.mean_return) for item in history_of(row.run).evaluations] == list(
        zip(steps, means, strict=True)
    )
    assert contents(logs) == before


def test_a_run_of_rl_zoo_with_dangerous_files_runs_none_of_them(project: Project, logs: Path, tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    marker = tmp_path / "marker"

    class Touch:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, (f"touch {marker}",)

    folder = write_zoo(logs, seed=7, steps=1000)
    (folder / "Hopper-v4" / "config.yml").write_text(
        f"gamma: 0.9\nn_timesteps: 400\nx: !!python/object/apply:os.system ['touch {marker}']\n"
    )
    np.savez(folder / "evaluations.npz", timesteps=[1], results=np.array([Touch()], dtype=object))
    with zipfile.ZipFile(folder / "best_model.zip", "w") as archive:
        archive.writestr("data", pickle.dumps(Touch()))
    (folder / "vecnormalize.pkl").write_bytes(pickle.dumps(Touch()))
    [row] = convert(project, logs)
    assert (row.tool, row.seed, row.total_steps, row.steps, row.anomalies) == ("zoo", 7, 400, 300, 1)
    assert row.run.record()["spec"]["ppo"] == {"gamma": 0.9, "x": "os.system"}
    assert not marker.exists()


def test_a_run_of_rl_zoo_tells_its_settings_scores_and_policies(project: Project, logs: Path) -> None:
    pytest.importorskip("yaml")
    folder = write_zoo(logs, seed=7, steps=1000)
    write_zoo(logs, number=2, seed=8)
    rows = sorted(convert(project, logs), key=lambda row: row.seed or 0)
    row = rows[0]
    assert (row.env_id, row.algorithm, row.seed, row.total_steps) == ("Hopper-v4", "ppo", 7, 1000)
    spec = row.run.record()["spec"]
    assert (spec["n_envs"], spec["ppo"]) == (
        2,
        {"gamma": 0.99, "normalize": True, "policy_kwargs": "dict(net_arch=[64])"},
    )
    assert row.run.record()["command"] == ["python", "train.py", "--algo", "ppo", "--env", "Hopper-v4", "--seed", "7"]
    assert row.last_return == 20.0
    assert row.best is not None and (row.best.steps, row.best.mean_return, row.best.std_return) == (200, 6.0, 1.0)
    assert history_of(row.run).series["episode/return"].values.tolist() == [10.0, 20.0, 30.0]
    assert row.group is not None and row.group == rows[1].group
    assert find_checkpoint(project.runs, f"{row.name}:best") == folder / "best_model.zip"


def test_a_run_of_cleanrl_shows_its_scalars(project: Project, logs: Path) -> None:
    folder = logs / "Hopper-v4__ppo_continuous_action__5__1700000000"
    points = [("charts/episodic_return", float(step), step * 10) for step in range(1, 20)]
    told = {"env_id": "Hopper-v4", "seed": 5, "total_timesteps": 190, "gamma": 0.99}
    write_scalars(folder, [*points, ("losses/value_loss", 0.5, 190)], text=told)
    [row] = convert(project, logs)
    assert (row.tool, row.env_id, row.algorithm, row.seed, row.total_steps) == ("cleanrl", "Hopper-v4", "ppo", 5, 190)
    assert (row.state, row.reason, row.progress, row.last_return) == (RunState.FINISHED, "steps", 1.0, 10.0)
    series = history_of(row.run).series
    assert series["episode/return"].values.tolist() == [float(step) for step in range(1, 20)]
    assert series["losses/value_loss"].steps.tolist() == [190.0]


def test_a_run_is_live_while_its_files_grow_then_stalled_then_ended(project: Project, logs: Path) -> None:
    write_monitor(logs / "monitor.csv", [(1.0, 10, 1.0)])
    age(logs, 5.0, NOW)
    [row] = convert(project, logs)
    seen = {}
    for later in (0.0, 50.0, 56.0, 3594.0, 3596.0):
        [row] = RunStore(project.runs, clock=lambda later=later: NOW + later).list()
        seen[later] = (row.state, row.is_stalled)
        assert row.pid is None
    assert seen == {
        0.0: (RunState.RUNNING, False),
        50.0: (RunState.RUNNING, False),
        56.0: (RunState.RUNNING, True),
        3594.0: (RunState.RUNNING, True),
        3596.0: (RunState.STOPPED, False),
    }


def test_a_growing_run_is_followed_and_nothing_is_read_twice(project: Project, logs: Path) -> None:
    path = write_monitor(logs / "monitor.csv", [(1.0, 10, 1.0)])
    watch(project, [logs])
    with Converter(project) as converter:
        [run] = converter.refresh().runs
        inode = run.events_path.stat().st_ino
        history = history_of(run)
        for value in (2.0, 3.0):
            with path.open("a") as file:
                file.write(f"{value},10,{value}\n7.0,1")
            converter.refresh()
            history.refresh()
            assert history.series["episode/return"].last == value
            # The rest of the torn line.
            path.write_text(path.read_text().removesuffix("7.0,1"))
        assert run.events_path.stat().st_ino == inode
        assert history.series["episode/return"].values.tolist() == [1.0, 2.0, 3.0]


def test_a_file_that_started_over_is_shown_as_it_is_now(project: Project, logs: Path) -> None:
    path = write_monitor(logs / "monitor.csv", [(1.0, 10, 1.0), (2.0, 10, 2.0)])
    watch(project, [logs])
    with Converter(project) as converter:
        [run] = converter.refresh().runs
        history = history_of(run)
        path.unlink()
        write_monitor(path, [(5.0, 7, 1.0)])
        [again] = converter.refresh().runs
        history.refresh()
    assert again == run
    assert history.series["episode/return"].values.tolist() == [5.0]
    assert history.steps == 7


def test_a_mirror_that_shows_the_files_as_they_are_is_left_alone(project: Project, logs: Path) -> None:
    path = write_monitor(logs / "monitor.csv", [(1.0, 10, 1.0)])
    [row] = convert(project, logs)
    Annotations(tags=("good",)).write(row.run.annotations_path)
    before = contents(row.run.path)
    [row] = convert(project, logs)
    assert contents(row.run.path) == before
    with path.open("a") as file:
        file.write("2.0,10,2.0\n")
    [row] = convert(project, logs)
    assert (row.steps, row.tags) == (20, ("good",))


def test_a_run_keeps_its_name_when_it_is_forgotten_and_named_again(project: Project, logs: Path) -> None:
    write_monitor(logs / "monitor.csv", [(1.0, 10, 1.0)])
    [row] = convert(project, logs)
    unwatch(project, [logs])
    assert convert(project) == []
    [again] = convert(project, logs)
    assert again.name == row.name


def test_a_run_whose_folder_is_gone_can_still_be_looked_at(project: Project, logs: Path) -> None:
    write_monitor(logs / "a" / "monitor.csv", [(1.0, 10, 1.0)])
    convert(project, logs)
    shutil.rmtree(logs / "a")
    [row] = convert(project, logs)
    assert (row.state, row.reason, row.steps) == (RunState.STOPPED, "the folder it was made in is gone", 10)


def test_a_list_that_cannot_be_read_forgets_nothing(project: Project, logs: Path) -> None:
    write_monitor(logs / "monitor.csv", [(1.0, 10, 1.0)])
    convert(project, logs)
    watch_list_path(project).write_text("{ torn")
    with Converter(project) as converter:
        converter.refresh()
    assert len(RunStore(project.runs).list()) == 1


def test_one_run_that_cannot_be_read_hides_no_other(
    project: Project, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        write_monitor(logs / name / "monitor.csv", [(1.0, 10, 1.0)])
    broken = logs / "a"
    whole = mirror.saved_policies
    monkeypatch.setattr(mirror, "saved_policies", lambda found: 1 / 0 if found.folder == broken else whole(found))
    watch(project, [logs])
    with Converter(project) as converter:
        done = converter.refresh()
    assert done.problems == [f"{broken} cannot be read: division by zero."]
    assert [row.source for row in RunStore(project.runs).list()] == [str(logs / "b")]


def test_two_converters_never_write_at_once(project: Project, logs: Path) -> None:
    write_monitor(logs / "monitor.csv", [(1.0, 10, 1.0)])
    watch(project, [logs])
    with Converter(project) as first:
        assert len(first.refresh().runs) == 1
        with Converter(project) as second:
            assert second.refresh().is_busy
    with Converter(project) as third:
        assert not third.refresh().is_busy


def test_a_folder_in_the_project_is_found_when_the_project_has_moved(project: Project, tmp_path: Path) -> None:
    write_monitor(project.root / "logs" / "monitor.csv", [(1.0, 10, 1.0)])
    watch(project, [project.root / "logs"])
    moved = Project(project.root.rename(tmp_path / "elsewhere"))
    assert watched(moved) == (moved.root / "logs",)


@pytest.mark.parametrize(
    "act",
    [
        stop_run,
        kill_run,
        resume_run,
        pause_run,
        unpause_run,
        request_checkpoint,
        request_evaluation,
        lambda run: change_run(run, {"ppo.gamma": 0.9}),
        plan_pruning,
        lambda run: delete_runs([run]),
        lambda run: move_in_queue([run], Move.FIRST),
    ],
    ids=["stop", "kill", "resume", "pause", "unpause", "checkpoint", "evaluate", "change", "prune", "delete", "queue"],
)
def test_whatever_would_act_on_it_refuses(act: Callable[[RunDirectory], object], project: Project, logs: Path) -> None:
    write_monitor(logs / "monitor.csv", [(1.0, 10, 1.0)])
    [row] = convert(project, logs)
    before = contents(row.run.path)
    with pytest.raises(RequestError, match="was made by Stable-Baselines3; it can only be looked at"):
        act(row.run)
    assert contents(row.run.path) == before


def test_the_process_follows_until_its_input_ends_and_loads_no_training_library(project: Project, logs: Path) -> None:
    write_scalars(logs, [("a", 1.0, 1)])
    watch(project, [logs])
    code = (
        "import sys, json; from workbench.runs.foreign.__main__ import main; code = main(sys.argv[1:]); "
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules}))); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(project.root), "--follow"],
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "tensorboard" in loaded
    assert loaded & {"torch", "tensorflow", "stable_baselines3", "gymnasium", "mujoco", "textual"} == set()
    assert [row.steps for row in RunStore(project.runs).list()] == [1]


def test_two_hundred_thousand_episodes_are_read_in_one_go(project: Project, logs: Path) -> None:
    count = 200_000
    rows = "".join(f"{index % 977}.5,10,{index * 0.01:.2f}\n" for index in range(count))
    path = write_monitor(logs / "monitor.csv", [])
    with path.open("a") as file:
        file.write(rows)
    began = time.process_time()
    [row] = convert(project, logs)
    # A million take some ten seconds; the bound leaves room for a slow machine and none for anything quadratic.
    assert time.process_time() - began < 20
    assert row.steps == 10 * count
    lines = row.run.events_path.read_bytes().splitlines()
    assert [json.loads(line)["values"]["episode/return"] for line in (lines[0], lines[976], lines[-1])] == [
        0.5,
        976.5,
        (count - 1) % 977 + 0.5,
    ]
    assert len(lines) == count


def test_settings_that_are_written_after_the_first_curves_are_taken_in(project: Project, logs: Path) -> None:
    pytest.importorskip("yaml")
    folder = write_zoo(logs, seed=7, steps=1000)
    arguments = folder / "Hopper-v4" / "args.yml"
    told = arguments.read_text()
    arguments.write_text("")
    watch(project, [logs])
    with Converter(project) as converter:
        [run] = converter.refresh().runs
        assert run.record()["spec"]["seed"] is None
        arguments.write_text(told)
        converter.refresh()
        assert run.record()["spec"]["seed"] == 7


def test_a_run_is_of_the_tool_that_its_files_show_in_the_end(project: Project, logs: Path) -> None:
    pytest.importorskip("yaml")
    folder = logs / "ppo" / "Hopper-v4_1"
    write_monitor(folder / "0.monitor.csv", [(1.0, 10, 1.0)])
    [row] = convert(project, logs)
    assert row.tool == "sb3"
    (folder / "Hopper-v4").mkdir()
    (folder / "Hopper-v4" / "config.yml").write_text("gamma: 0.9\n")
    [row] = convert(project, logs)
    assert row.tool == "zoo"
    assert len(list((project.runs / ".foreign").glob("*/*"))) == 1
