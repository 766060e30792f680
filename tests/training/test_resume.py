"""A run that was cut off and goes on ends as one that never was, bit for bit."""

from __future__ import annotations

import csv
import hashlib
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.training.conftest import HALF_CHEETAH, TINY, events, make_run, start_child, wait_for
from workbench import durable
from workbench.policies import read_checkpoint
from workbench.runs import EventWriter, RunDirectory, RunState, StateFile, pending, send
from workbench.runs.events import Event
from workbench.runs.resuming import ORDER_NAME
from workbench.simulation import EnvSource
from workbench.training import RunResult
from workbench.training.circumstances import circumstances
from workbench.training.evaluations import ScorerInTurn
from workbench.training.learner import Learner
from workbench.training.log import RunLog
from workbench.training.plain import unpack
from workbench.training.replay_log import ReplayLog
from workbench.training.requests import StopSignal
from workbench.training.resumption import folded
from workbench.training.session import Session
from workbench.training.trainer import Trainer

ALGORITHMS = ("ppo", "sac", "td3")
FIELDS: dict[str, Any] = {
    "checkpoint_every_steps": 200,
    "total_steps": 900,
    "normalize_observations": True,
    "normalize_rewards": True,
}
"""Long enough for a replay buffer of 300 steps to go round."""
NOT_THE_SAME = ("time", "t", "wall_s", "elapsed_s")


def make(folder: Path, algorithm: str, **fields: Any) -> RunDirectory:
    block = {} if algorithm == "ppo" else {algorithm: {**TINY[algorithm][algorithm], "buffer_size": 300}}
    return make_run(folder, algorithm, HALF_CHEETAH, **{**FIELDS, **block, **fields})


def digest(run: RunDirectory) -> dict[str, str]:
    """Return a hash of each thing that must be the same: weights and statistics, learner, replay, and the stream."""
    last = run.checkpoints()[-1]
    tensors = read_checkpoint(last.path).tensors
    state = unpack(last.path / "resume.pt")
    return {
        "weights": _hash({name: tensors[name] for name in sorted(tensors)}),
        "learner": _hash(_timeless(state["learner"])),
        "rest": _hash(_timeless({name: state[name] for name in ("replay", "keeper", "trainer")})),
        "metrics": _hash([_timeless(event) for event in stream(run, "metrics")]),
        "evaluations": _hash([_timeless(event) for event in stream(run, "evaluation")]),
        "checkpoints": _hash([_timeless(event) for event in stream(run, "checkpoint")]),
    }


def stream(run: RunDirectory, kind: str) -> list[Event]:
    return [event for event in folded(run, 10**12) if event["kind"] == kind]


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _timeless(item)
            for key, item in sorted(value.items(), key=str)
            if key not in NOT_THE_SAME and not str(key).startswith(("time/", "timings/"))
        }
    if isinstance(value, list):
        # Rows of metrics yet to come, and episodes.
        return [_timeless(item) for item in value if not (isinstance(item, list) and str(item[0]).startswith("time/"))]
    return value


def _hash(value: Any) -> str:
    return hashlib.sha256(_bytes(value)).hexdigest()


def _bytes(value: Any) -> bytes:
    if isinstance(value, torch.Tensor | np.ndarray):
        array = np.asarray(value)
        return f"{array.dtype}{array.shape}".encode() + array.tobytes()
    if isinstance(value, dict):
        return b"{" + b",".join(_bytes(key) + b":" + _bytes(item) for key, item in value.items()) + b"}"
    if isinstance(value, list | tuple):
        return b"[" + b",".join(map(_bytes, value)) + b"]"
    return repr(value).encode()


def train(run: RunDirectory, stop: StopSignal | None = None) -> RunResult:
    with RunLog(run.log_path) as log:
        return Session(run, log, stop, off_policy_steps=100).run()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What a run of each algorithm ends with that nobody cut off."""
    found = {}
    for algorithm in ALGORITHMS:
        run = make(tmp_path_factory.mktemp("whole"), algorithm)
        assert train(run).state is RunState.FINISHED
        found[algorithm] = digest(run)
    return found


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_run_twice_is_the_same(tmp_path: Path, algorithm: str, whole: dict[str, dict[str, str]]) -> None:
    run = make(tmp_path, algorithm)
    train(run)
    assert digest(run) == whole[algorithm]


class Cut(BaseException):
    """The power is gone: nothing of ours catches this."""


class Knife:
    """Cuts a run off at the n-th of all the moments at which its files change."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.moments = 0
        self.cuts_at = 0
        for owner, name in (
            (EventWriter, "_write"),
            (durable, "seal_directory"),
            (durable, "write_bytes"),
            (ReplayLog, "write"),
            (ReplayLog, "sync"),
            (ReplayLog, "forget"),
            (Learner, "iterate"),
            (RunDirectory, "set_best"),
        ):
            patch.setattr(owner, name, self._watched(getattr(owner, name)))

    def _watched(self, function: Any) -> Any:
        def call(*args: Any, **keywords: Any) -> Any:
            self._pass()
            result = function(*args, **keywords)
            self._pass()
            return result

        return call

    def _pass(self) -> None:
        self.moments += 1
        # No thread goes on without power.
        if 0 < self.cuts_at <= self.moments:
            raise Cut


@pytest.fixture
def knife(monkeypatch: pytest.MonkeyPatch) -> Knife:
    return Knife(monkeypatch)


def cut(knife: Knife, run: RunDirectory, moment: int) -> bool:
    """Train until a moment and return whether the run was cut off there: it may have ended before."""
    knife.moments, knife.cuts_at = 0, moment
    try:
        train(run)
    except Cut:
        return True
    finally:
        knife.cuts_at = 0
    return False


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("moments", [(40, 41), (77, 90), (103, 60), (130,), (151, 20), (180, 3)])
def test_a_run_that_was_cut_off_ends_as_one_that_was_not(
    tmp_path: Path, knife: Knife, algorithm: str, moments: tuple[int, ...], whole: dict[str, dict[str, str]]
) -> None:
    run = make(tmp_path, algorithm)
    for moment in moments:
        cut(knife, run, moment)
    assert train(run).state is RunState.FINISHED
    assert digest(run) == whole[algorithm]


def stop_after(run: RunDirectory, iterations: int, patch: pytest.MonkeyPatch) -> None:
    """Train until someone asks to stop, in the middle of an iteration."""
    stop, iterate = StopSignal(), Learner.iterate

    def watched(learner: Learner) -> None:
        iterate(learner)
        if learner.iteration == iterations:
            stop.reason = "stopped"

    with patch.context() as own:
        own.setattr(Learner, "iterate", watched)
        assert train(run, stop).state is RunState.STOPPED


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("iterations", [2, 5])
def test_a_stop_changes_nothing_but_that_there_is_a_checkpoint_of_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    algorithm: str,
    iterations: int,
    whole: dict[str, dict[str, str]],
) -> None:
    run = make(tmp_path, algorithm)
    stop_after(run, iterations, monkeypatch)
    assert run.latest().steps == 100 * iterations  # type: ignore[union-attr]
    assert train(run).state is RunState.FINISHED
    same = ("weights", "learner", "rest", "metrics", "evaluations")
    assert {name: digest(run)[name] for name in same} == {name: whole[algorithm][name] for name in same}


def test_a_stop_while_scores_are_waited_for_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: dict[str, dict[str, str]]
) -> None:
    take = ScorerInTurn.take
    monkeypatch.setattr(ScorerInTurn, "take", lambda self, give_up: None if give_up() else take(self, give_up))
    run = make(tmp_path, "ppo")
    stop_after(run, 4, monkeypatch)
    assert [event["taken"] for event in stream(run, "evaluation")] == [200]
    assert train(run).state is RunState.FINISHED
    assert digest(run) == whole["ppo"]


@pytest.mark.parametrize("verb", ["checkpoint", "pause"])
@pytest.mark.parametrize("iteration", [4, 9])
def test_what_is_asked_for_before_such_a_stop_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, iteration: int, whole: dict[str, dict[str, str]]
) -> None:
    take, iterate = ScorerInTurn.take, Learner.iterate
    monkeypatch.setattr(ScorerInTurn, "take", lambda self, give_up: None if give_up() else take(self, give_up))

    def watched(learner: Learner) -> None:
        iterate(learner)
        if learner.iteration == iteration:
            send(run, verb)
            send(run, "stop")

    run = make(tmp_path, "ppo")
    with monkeypatch.context() as patch:
        patch.setattr(Learner, "iterate", watched)
        assert train(run).state is RunState.STOPPED
    assert [event["ok"] for event in events(run, "request")] == [True, True]
    # The ninth is the last.
    assert run.latest().steps == 100 * iteration  # type: ignore[union-attr]
    assert train(run).state is RunState.FINISHED
    same = ("weights", "learner", "metrics", "evaluations", "checkpoints")
    assert {name: digest(run)[name] for name in same} == {name: whole["ppo"][name] for name in same}


def test_the_files_for_others_are_those_of_a_whole_run(tmp_path: Path, knife: Knife) -> None:
    whole, run = make(tmp_path / "whole", "ppo"), make(tmp_path / "cut", "ppo")
    train(whole)
    cut(knife, run, 100)
    assert train(run).state is RunState.FINISHED
    rows = [_rows(each) for each in (whole, run)]
    assert rows[0] == rows[1] and len(rows[0]) == 11
    names = [{path.name for path in each.path.iterdir() if "tfevents" not in path.name} for each in (whole, run)]
    assert names[0] == names[1]
    assert [(each.best() or each.latest()).steps for each in (whole, run)] == [whole.best().steps] * 2  # type: ignore[union-attr]
    [resumed] = events(run, "resumed")
    shown = EventAccumulator(str(run.path)).Reload().Scalars("time/total_timesteps")
    assert [point.step for point in shown] == [0, *range(100, 1000, 100), 900]
    assert resumed["changed"] == [] and resumed["from_steps"] % 200 == 0


def test_what_an_earlier_start_told_others_is_not_told_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make(tmp_path, "ppo", total_steps=300)

    def die_once_it_is_told(*_: Any) -> None:
        wait_for(lambda: _rows(run))
        raise Cut

    with monkeypatch.context() as patch, pytest.raises(Cut):
        patch.setattr(durable, "seal_directory", die_once_it_is_told)
        train(run)
    # The cut may come an iteration after the row that it waits for.
    assert run.checkpoints() == [] and _rows(run)
    assert train(run).state is RunState.FINISHED
    shown = EventAccumulator(str(run.path)).Reload().Scalars("time/total_timesteps")
    assert [point.step for point in shown] == [0, 100, 200, 300, 300]
    assert [row["iteration"] for row in stream(run, "metrics")] == [0, 1, 2, 3, 3]
    assert len(_rows(run)) == 5


def _rows(run: RunDirectory) -> list[dict[str, str]]:
    with (run.path / "progress.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [{name: value for name, value in row.items() if not name.startswith("time/")} for row in rows]


@pytest.mark.parametrize("what", ["resume.pt", "rows"])
def test_what_is_torn_is_passed_over(tmp_path: Path, knife: Knife, what: str, whole: dict[str, dict[str, str]]) -> None:
    run = make(tmp_path, "sac")
    cut(knife, run, 170)
    torn = run.checkpoints()[-1].path / "resume.pt"
    if what == "rows":
        torn = max(run.path.glob("replay/*.rows"))
    torn.write_bytes(torn.read_bytes()[:-100])
    left = [run.path / ".checkpoint_000000000900.part", run.path / ".latest.x1.part"]
    left[0].mkdir()
    left[1].touch()
    assert train(run).state is RunState.FINISHED
    assert digest(run) == whole["sac"]
    assert not any(path.exists() for path in left)


def test_a_run_without_a_place_to_go_on_from_keeps_what_it_has(tmp_path: Path, knife: Knife) -> None:
    run = make(tmp_path, "ppo")
    cut(knife, run, 100)
    written = run.checkpoints()
    for checkpoint in written[1:]:
        (checkpoint.path / "resume.pt").unlink()
    result = train(run)
    assert result.state is RunState.FAILED
    assert "cannot go on from any of its trained checkpoints: checkpoint_" in result.reason
    assert run.checkpoints() == written


STEERED: dict[str, dict[int, dict[str, Any]]] = {
    "ppo": {
        3: {"ppo.learning_rate": "linear:0.01:0.001", "ppo.clip_range": 0.1, "reward.forward": 0.5},
        6: {"total_steps": 1100, "checkpoint_every_steps": 300, "reward.ctrl": 0.0, "ppo.ent_coef": 0.01},
    },
    "sac": {
        3: {"sac.ent_coef": 0.2, "reward.forward": 0.5, "sac.tau": 0.1},
        4: {"sac.ent_coef": "auto_0.1", "sac.target_entropy": -1.0, "sac.learning_rate": 1e-3},
        7: {"total_steps": 1100, "sac.ent_coef": 0.05},
    },
}
"""Values given at the end of an iteration; that of the fourth has a checkpoint."""


def steer(algorithm: str, run: RunDirectory, patch: pytest.MonkeyPatch) -> None:
    """Ask for other values in the middle of iterations, in each life of the run until they are told of."""
    iterate = Learner.iterate

    def watched(learner: Learner) -> None:
        iterate(learner)
        wanted = STEERED[algorithm].get(learner.iteration)
        if wanted and not any(event["values"].keys() == wanted.keys() for event in events(run, "set")):
            send(run, "set", values=wanted, steps=learner.steps)

    patch.setattr(Learner, "iterate", watched)


@pytest.fixture(scope="module")
def steered(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    found = {}
    for algorithm in STEERED:
        run = make(tmp_path_factory.mktemp("steered"), algorithm)
        with pytest.MonkeyPatch.context() as patch:
            steer(algorithm, run, patch)
            assert train(run).reason == "1 100 of 1 100 steps are done"
        assert [event["steps"] for event in events(run, "set")] == [100 * number for number in STEERED[algorithm]]
        found[algorithm] = digest(run)
    return found


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
@pytest.mark.parametrize("moments", [(90,), (110,), (124, 60), (140, 77), (160,), (200, 100, 40)])
def test_values_that_were_given_are_met_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    algorithm: str,
    moments: tuple[int, ...],
    steered: dict[str, dict[str, str]],
    whole: dict[str, dict[str, str]],
) -> None:
    run = make(tmp_path, algorithm)
    steer(algorithm, run, monkeypatch)
    knife = Knife(monkeypatch)
    for moment in moments:
        cut(knife, run, moment)
        for left in pending(run):
            # It is asked again where the run comes by there once more; else it counts where the run goes on.
            if left.args["steps"] > run.checkpoints()[-1].steps:
                left.path.unlink()
    assert train(run).state is RunState.FINISHED
    assert digest(run) == steered[algorithm]
    assert digest(run)["weights"] != whole[algorithm]["weights"]


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_a_run_that_was_killed_while_it_was_paused_goes_on_as_if_it_had_never_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    values = {f"{algorithm}.ent_coef": 0.05, "reward.forward": 0.5}
    whole, run = make(tmp_path / "whole", algorithm), make(tmp_path / "paused", algorithm)
    iterate = Learner.iterate

    def watched(learner: Learner) -> None:
        iterate(learner)
        if learner.iteration == 5:
            for verb, wanted in asked:
                send(target, verb, **wanted)

    monkeypatch.setattr(Learner, "iterate", watched)
    target, asked = whole, [("set", {"values": values})]
    assert train(whole).state is RunState.FINISHED
    target, asked = run, [("pause", {}), ("set", {"values": values})]
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_stay_paused", _cut)
        with pytest.raises(Cut):
            train(run)
    assert StateFile(run.state_path).read().state is RunState.PAUSED  # type: ignore[union-attr]
    assert run.latest().steps == 500  # type: ignore[union-attr]
    assert train(run).state is RunState.FINISHED
    same = ("weights", "learner", "rest", "metrics", "evaluations")
    assert {name: digest(run)[name] for name in same} == {name: digest(whole)[name] for name in same}
    assert len(events(run, "set")) == 1


def _cut(*_: Any) -> None:
    raise Cut


def test_a_larger_budget_trains_a_finished_run_on(tmp_path: Path, whole: dict[str, dict[str, str]]) -> None:
    run = make(tmp_path, "sac", total_steps=500, stop_criteria={"training_iteration": 5})
    train(run)
    durable.write_json(run.path / ORDER_NAME, {"format": 1, "values": {"total_steps": 900, "stop_criteria": {}}})
    result = train(run)
    assert (result.state, result.reason) == (RunState.FINISHED, "900 of 900 steps are done")
    assert {name: digest(run)[name] for name in ("weights", "learner")} == {
        name: whole["sac"][name] for name in ("weights", "learner")
    }
    [change] = events(run, "set")
    assert change["steps"] == 500 and change["values"]["total_steps"] == 900
    assert not (run.path / ORDER_NAME).exists()


def test_changed_versions_are_said(tmp_path: Path, knife: Knife, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make(tmp_path, "ppo")
    cut(knife, run, 60)
    monkeypatch.setattr("workbench.training.session.circumstances", lambda: {**circumstances(), "torch": "9.9"})
    assert train(run).state is RunState.FINISHED
    [resumed] = events(run, "resumed")
    assert [what.split()[0] for what in resumed["changed"]] == ["torch"]
    assert "is now 9.9: numbers may differ in their last digits" in run.log_path.read_text()


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_a_plain_environment_begins_its_episodes_anew_and_says_so(tmp_path: Path, knife: Knife, algorithm: str) -> None:
    run = make_run(tmp_path, algorithm, EnvSource("Pendulum-v1", "Pendulum-v1"), checkpoint_every_steps=200)
    cut(knife, run, 70)
    result = train(run)
    assert (result.state, result.steps) == (RunState.FINISHED, 500)
    assert "a plain Gymnasium environment cannot be put back where it was" in run.log_path.read_text()
    assert events(run, "resumed")[0]["from_steps"] > 0


def killed(run: RunDirectory, kills: int, chance: random.Random) -> int:
    """Train with children that are killed at random moments, then with one that is not; return how many were."""
    done = 0
    for number in range(kills):
        # One in four dies while it starts or takes the run up, the others when they have told of an iteration.
        kind = "state" if number % 4 == 3 else "metrics"
        told = len(events(run, kind))
        child = start_child(run)
        _await_end_or_event(run, child, kind, told)
        time.sleep(chance.random() * 0.5)
        done += child.poll() is None
        child.kill()
        child.wait()
    assert start_child(run).wait(timeout=120) == 0, run.log_path.read_text()
    return done


def _await_end_or_event(run: RunDirectory, child: subprocess.Popen[bytes], kind: str, told: int) -> None:
    wait_for(lambda: child.poll() is not None or len(events(run, kind)) > told)


KILLED = {"total_steps": 40_000, "checkpoint_every_steps": 1000, "eval_every": 4, "keep_last": 3}


def compare_killed(folder: Path, algorithm: str, kills: int, seed: int) -> None:
    whole, run = (make(folder / name, algorithm, **KILLED) for name in ("whole", "killed"))
    child = start_child(whole)
    assert killed(run, kills, random.Random(seed)) == kills
    assert child.wait(timeout=120) == 0
    assert digest(run) == digest(whole)
    assert len(events(run, "resumed")) > kills // 2
    kept, expected = ([item.steps for item in each.checkpoints()] for each in (run, whole))
    assert kept == expected


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_run_survives_three_kills(tmp_path: Path, algorithm: str) -> None:
    compare_killed(tmp_path, algorithm, 3, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(10))
def test_a_run_survives_fifty_kills_in_ten_lots(tmp_path: Path, algorithm: str, seed: int) -> None:
    compare_killed(tmp_path, algorithm, 5, seed)


@pytest.mark.long
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_run_survives_a_cut_at_any_moment(
    tmp_path: Path, knife: Knife, algorithm: str, whole: dict[str, dict[str, str]]
) -> None:
    moment = 1
    while cut(knife, run := make(tmp_path / str(moment), algorithm), moment):
        assert train(run).state is RunState.FINISHED
        assert digest(run) == whole[algorithm], f"cut at moment {moment}"
        moment += 1
    assert moment > 100
