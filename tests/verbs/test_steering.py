"""`workbench pause`, `set`, `checkpoint`, `rescore`, and `resume` of a paused run: what is asked, and what is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.training.conftest import make_run
from workbench.cli import main
from workbench.policies.checkpoint import checkpoint_name
from workbench.project import Project
from workbench.runs import EventWriter, Request, RequestInbox, RunDirectory, RunState, StateFile

Answer = tuple[bool, str]
Verb = Callable[..., int]


@pytest.fixture
def run(project: Project) -> RunDirectory:
    made = make_run(project.runs, "ppo", total_steps=500)
    StateFile(made.state_path).write(RunState.RUNNING)
    with EventWriter(made.events_path) as writer:
        values = {"reward/upright_mean": 0.5, "rollout/ep_rew_mean": 9.0}
        writer.append("metrics", steps=200, iteration=2, values=values)
    (made.path / checkpoint_name(200)).mkdir()
    return made


@pytest.fixture
def verb(project: Project) -> Verb:
    def call(name: str, *words: str) -> int:
        return main([name, "--project", str(project.root), *words])

    return call


@contextmanager
def answering(run: RunDirectory, answer: Callable[[Request, EventWriter], Answer]) -> Iterator[list[Request]]:
    """Answer requests as a run would, from a thread."""
    over, taken = threading.Event(), list[Request]()

    def answer_all() -> None:
        with EventWriter(run.events_path) as writer:
            inbox = RequestInbox(run, writer)
            while not over.wait(0.01):
                for request in inbox.take():
                    taken.append(request)
                    ok, reason = answer(request, writer)
                    inbox.answer(request, ok=ok, reason=reason)

    thread = threading.Thread(target=answer_all)
    thread.start()
    try:
        yield taken
    finally:
        over.set()
        thread.join()


def test_a_pause_says_what_was_saved_and_how_to_go_on(
    run: RunDirectory, verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(run, lambda *_: (True, "checkpoint_000000000200 written")) as taken:
        assert verb("pause", run.short_id) == 0
    assert [request.verb for request in taken] == ["pause"]
    told = f"cart_pole {run.short_id} paused; checkpoint_000000000200 written. `workbench resume {run.short_id}`"
    assert capsys.readouterr().out.startswith(told)


def test_a_paused_run_is_let_on_and_not_queued(
    run: RunDirectory, verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    StateFile(run.state_path).write(RunState.PAUSED)
    assert verb("resume", run.short_id, "--max-steps", "900") == 2
    assert f"workbench set {run.short_id} total_steps=900" in capsys.readouterr().err
    with answering(run, lambda *_: (True, "all 2 places are taken: it goes on when one is free")) as taken:
        assert verb("resume", run.short_id) == 0
    assert [request.verb for request in taken] == ["resume"]
    assert "all 2 places are taken" in capsys.readouterr().out


def test_values_are_sent_as_plain_data(run: RunDirectory, verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(run, lambda *_: (True, "as told")) as taken:
        assert verb("set", run.short_id, "ppo.learning_rate=1e-4", "reward.upright=0.5", "total_steps=2k") == 0
    assert taken[0].args == {"values": {"ppo.learning_rate": 1e-4, "reward.upright": 0.5, "total_steps": 2000}}
    assert f"cart_pole {run.short_id} changed: as told" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ppo.learnin_rate=1"], "nearest is ppo.learning_rate"),
        (["ppo.n_steps=10"], "ppo.n_steps is fixed once a run has begun"),
        (["reward.uprigt=0.5"], "nearest is reward.upright"),
        (["total_steps=100"], "more than the 200 done"),
        (["ppo.learning_rate"], "no KEY=VALUE"),
        (["keep_last=3", "keep_last=4"], "given twice"),
    ],
)
def test_a_wrong_value_is_exit_two_and_asks_for_nothing(
    run: RunDirectory, verb: Verb, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert verb("set", run.short_id, *words) == 2
    assert said in capsys.readouterr().err
    assert not list(run.control.iterdir())


def test_without_values_what_can_change_is_listed(
    run: RunDirectory, verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verb("set", run.short_id) == 0
    lines = {line.split()[0]: line.split()[1] for line in capsys.readouterr().out.splitlines()}
    assert lines["ppo.learning_rate"] == "0.0003" and lines["reward.upright"] == "1.0"
    assert "ppo.n_steps" not in lines and "sac.ent_coef" not in lines
    assert verb("set", run.short_id, "--json") == 0
    fields = {field["key"]: field for field in json.loads(capsys.readouterr().out)["fields"]}
    assert fields["total_steps"]["value"] == 500 and "whole number" in fields["total_steps"]["accepts"]


def test_a_refusal_is_exit_one_and_says_why(run: RunDirectory, verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(run, lambda *_: (False, "it would break")):
        assert verb("set", run.short_id, "keep_last=3") == 1
        assert f"cart_pole {run.short_id} refused: it would break" in capsys.readouterr().out
        assert verb("checkpoint", run.short_id, "--json") == 1
    [row] = json.loads(capsys.readouterr().out)["runs"]
    assert (row["ok"], row["reason"], row["state"]) == (False, "it would break", "running")


def test_a_run_that_does_not_answer_in_time_is_exit_one(
    run: RunDirectory, verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verb("checkpoint", run.short_id, "--timeout", "0.2") == 1
    assert "has not answered within 0.2 s" in capsys.readouterr().out
    assert verb("checkpoint", run.short_id, "--timeout", "-1") == 2


def test_of_several_runs_each_is_told(
    project: Project, run: RunDirectory, verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = make_run(project.runs, "ppo", total_steps=500)
    StateFile(ended.state_path).write(RunState.FINISHED)
    with answering(run, lambda *_: (True, "written")):
        assert verb("checkpoint", run.short_id, ended.short_id) == 1
    out = capsys.readouterr().out
    assert f"{run.short_id} written" in out and f"{ended.short_id} refused: {ended.name} cannot write" in out
    assert verb("pause", ended.short_id) == 2
    assert "it has ended, finished" in capsys.readouterr().err


def test_scores_are_waited_for(run: RunDirectory, verb: Verb, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(request: Request, writer: EventWriter) -> Answer:
        told = {"mean_return": 12.0, "std_return": 1.0, "returns": [11.0, 13.0], "seed": 10_003}
        if request.args["steps"] == 200:
            told = {"failure": "the disk is full"}  # type: ignore[dict-item]
        writer.append("scores", id=request.id, checkpoint=checkpoint_name(200), **told)
        return True, "begun"

    with answering(run, answer):
        assert verb("rescore", run.short_id) == 0
        assert "return 12 ± 1 over 2 episodes, 10003 to 10004" in capsys.readouterr().out
        assert verb("rescore", f"{run.short_id}:200", "--json") == 1
        assert json.loads(capsys.readouterr().out)["scores"]["failure"] == "the disk is full"
    assert verb("rescore", f"{run.short_id}:300") == 2
    assert "no checkpoint of 300 steps; the nearest have 200" in capsys.readouterr().err
    assert verb("rescore", f"{run.short_id}:best") == 2
    assert verb("rescore", f"{run.short_id}:first") == 2
