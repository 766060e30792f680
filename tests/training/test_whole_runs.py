"""Real runs of a few hundred steps, by the child process, as they lie on disk afterwards."""

from __future__ import annotations

import csv
import json
import re

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.training.conftest import events, metrics
from workbench.policies import evaluate, load_policy, read_checkpoint
from workbench.runs import History, RunDirectory, RunState, observe

ALGORITHMS = ("ppo", "sac", "td3")


@pytest.fixture(params=ALGORITHMS)
def run(request: pytest.FixtureRequest, whole_runs: dict[str, RunDirectory]) -> RunDirectory:
    return whole_runs[request.param]


def test_a_run_finishes_on_its_budget_and_says_so(run: RunDirectory) -> None:
    observed = observe(run)
    assert observed.state is RunState.FINISHED
    assert observed.reason == "500 of 500 steps are done"
    assert observed.stored is not None and observed.stored.exit == 0
    states = [(event["state"], event["reason"]) for event in events(run, "state")]
    assert [state for state, _ in states] == ["starting", "running", "running", "finished"]
    assert "re-scoring" in states[2][1] and "on 32 new episodes" in states[2][1]


def test_checkpoints_are_untrained_regular_and_last(run: RunDirectory) -> None:
    steps = [checkpoint.steps for checkpoint in run.checkpoints()]
    assert steps[0] == 0 and steps[-1] == 500
    if run.algorithm == "ppo":
        assert steps == [0, 200, 400, 500]
    latest, best = run.latest(), run.best()
    assert latest is not None and latest.steps == 500
    assert best is not None and best in run.checkpoints()
    assert [event["path"] for event in events(run, "checkpoint")] == [item.path.name for item in run.checkpoints()]


def test_a_checkpoint_says_what_it_is(run: RunDirectory) -> None:
    record = read_checkpoint(run.checkpoints()[-1].path).record
    assert (record.algorithm, record.steps, record.seed) == (run.algorithm, 500, 3)
    assert record.environment["env_id"] == "workbench/HalfCheetah-v0"
    assert record.control_period_s == pytest.approx(0.05)
    assert len(record.observation_names) == 17 and len(record.action_names) == 6
    assert record.normalizer is not None
    assert record.action_map.squash == (run.algorithm != "ppo")


def test_the_normaliser_in_a_checkpoint_is_the_one_of_that_step(run: RunDirectory) -> None:
    first, last = (read_checkpoint(run.checkpoints()[index].path).tensors for index in (0, -1))
    # The untrained policy has seen the first observations of four copies, the last one 500 steps more.
    assert float(first["normalizer.count"]) == pytest.approx(4, abs=0.01)
    assert float(last["normalizer.count"]) == pytest.approx(504, abs=0.01)
    assert (first["normalizer.mean"] != last["normalizer.mean"]).any()


def test_training_changes_the_policy(run: RunDirectory) -> None:
    first, last = (read_checkpoint(run.checkpoints()[index].path) for index in (0, -1))
    head = first.record.network.head[0]
    assert (first.tensors[head] != last.tensors[head]).any()


def test_evaluations_are_those_of_the_checkpoint_on_disk(run: RunDirectory) -> None:
    last = run.checkpoints()[-1]
    document = json.loads(last.evaluation_path.read_text())
    [claimed] = [scores for scores in document["evaluations"] if scores["kind"] == "claimed"]
    again = evaluate(last.path, episodes=3, seed=claimed["seed"])
    assert list(again.returns) == claimed["returns"]
    event = events(run, "evaluation")[-1]
    assert event["returns"] == claimed["returns"] and event["checkpoint"] == last.path.name
    assert event["endings"] == {"time_limit": 3}
    assert metrics(run)[-1]["eval/mean_return"] == claimed["mean_return"] == pytest.approx(again.mean)


def test_best_is_the_evaluation_with_the_highest_lower_bound(run: RunDirectory) -> None:
    claimed = {event["checkpoint"]: event["lower_bound"] for event in events(run, "evaluation")}
    again = {event["checkpoint"]: event["lower_bound"] for event in events(run, "scores")}
    assert set(again) == set(sorted(claimed, key=lambda name: -claimed[name])[:3])
    best = run.best()
    assert best is not None and again[best.path.name] == max(again.values())
    history = History(run)
    history.refresh()
    assert history.best_evaluation is not None and history.best_evaluation.checkpoint == best.path.name


def test_metrics_have_all_families(run: RunDirectory) -> None:
    names = {name for values in metrics(run) for name in values}
    assert {
        "reward/forward_mean",
        "reward/forward_std",
        "reward/forward_sum",
        "rollout/reward_mean",
        "rollout/reward_std",
        "rollout/ep_rew_mean",
        "rollout/ep_len_mean",
        "info/x_velocity_mean",
        "info/x_velocity_std",
        "truncated/time_limit",
        "eval/mean_return",
        "eval/std_return",
        "eval/mean_length",
        "eval/lower_bound",
        "time/collection_s",
        "time/update_s",
        "time/evaluation_s",
        "time/checkpoint_s",
        "time/idle_s",
        "time/fps",
        "time/total_timesteps",
        "train/learning_rate",
    } <= names
    assert {"ppo": "train/value_loss", "sac": "train/ent_coef", "td3": "train/critic_loss"}[run.algorithm] in names


def test_whole_episode_reward_terms_add_up_to_the_return(run: RunDirectory) -> None:
    # As long as fewer than a hundred episodes have ended, Stable-Baselines3's mean is over all of them.
    rows = [row for row in metrics(run) if "rollout/reward_mean" in row]
    first = rows[0]
    terms = [value for name, value in first.items() if re.fullmatch(r"reward/\w+_sum", name)]
    assert len(terms) >= 2
    assert sum(terms) == pytest.approx(first["rollout/ep_rew_mean"], abs=1e-5)
    assert sum(terms) == pytest.approx(first["rollout/reward_mean"] * 20)


def test_every_metrics_event_carries_its_axes(run: RunDirectory) -> None:
    rows = events(run, "metrics")
    for axis in ("steps", "wall_s", "episodes", "iteration"):
        values = [row[axis] for row in rows]
        assert values == sorted(values)
    # 500 steps of episodes of 20, in four copies: the last ones are not whole yet.
    assert rows[-1]["episodes"] == 24


def test_csv_and_tensorboard_hold_the_same_numbers(run: RunDirectory) -> None:
    with (run.path / "progress.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(metrics(run))
    returns = {
        int(row["time/total_timesteps"]): float(row["eval/mean_return"]) for row in rows if row["eval/mean_return"]
    }
    board = EventAccumulator(str(run.path))
    board.Reload()
    scalars = {scalar.step: scalar.value for scalar in board.Scalars("eval/mean_return")}
    assert scalars.keys() == returns.keys()
    assert [scalars[step] for step in returns] == pytest.approx(list(returns.values()), rel=1e-6)


def test_readers_fold_the_stream(run: RunDirectory) -> None:
    history = History(run)
    assert history.refresh()
    assert history.steps == 500 and history.skipped_lines == 0
    assert len(history.evaluations) == len(history.checkpoints)


def test_the_log_has_one_line_an_iteration(run: RunDirectory) -> None:
    log = run.log_path.read_text()
    iterations = {event["iteration"] for event in events(run, "metrics")} - {0}
    assert len(re.findall(r"^\d\d:\d\d:\d\d iteration \d+  \d+ steps", log, re.MULTILINE)) == len(iterations)
    assert "Traceback" not in log and "Warning" not in log


def test_the_policy_of_a_run_loads_by_its_folder(run: RunDirectory) -> None:
    actor = load_policy(str(run.path))
    assert actor.record.algorithm == run.algorithm
