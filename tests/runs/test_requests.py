import threading
import time
from pathlib import Path

import pytest

from workbench.runs.directory import RunDirectory
from workbench.runs.events import EventTail, EventWriter
from workbench.runs.requests import RequestInbox, await_answer, pending, send
from workbench.runs.state import StateFile


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    made = RunDirectory.create(tmp_path, "ppo", "cart_pole")
    StateFile(made.state_path).write_queued(queued_ns=time.time_ns())
    return made


def test_requests_come_in_the_order_they_were_made(run: RunDirectory) -> None:
    ids = [send(run, "set", key="ppo.learning_rate", value=value) for value in range(20)]
    ids.append(send(run, "stop"))
    (run.control / ".half.json").write_text("{")
    (run.control / "notes.txt").write_text("hello")
    found = pending(run)
    assert [item.id for item in found] == ids
    assert found[3].args == {"key": "ppo.learning_rate", "value": 3}
    assert found[-1].verb == "stop"


def test_an_answer_is_an_event_and_takes_the_request_away(run: RunDirectory) -> None:
    request_id = send(run, "stop")
    with EventWriter(run.events_path) as writer:
        inbox = RequestInbox(run, writer)
        [request] = inbox.take()
        inbox.answer(request, ok=True)
        assert inbox.take() == []
    [event] = EventTail(run.events_path).poll()
    assert (event["kind"], event["id"], event["verb"], event["ok"]) == ("request", request_id, "stop", True)
    answer = await_answer(run, request_id, timeout_s=1)
    assert answer is not None
    assert answer.ok


def test_a_request_to_an_earlier_life_of_the_run_is_expired(run: RunDirectory) -> None:
    old = send(run, "stop")
    StateFile(run.state_path).write_queued(queued_ns=time.time_ns())
    new = send(run, "pause")
    with EventWriter(run.events_path) as writer:
        assert [item.id for item in RequestInbox(run, writer).take()] == [new]
    answer = await_answer(run, old, timeout_s=1)
    assert answer is not None
    assert (answer.ok, answer.reason) == (False, "expired")


def test_waiting_ends_when_the_answer_comes_or_the_time_is_up(run: RunDirectory) -> None:
    request_id = send(run, "pause")
    assert await_answer(run, request_id, timeout_s=0.05) is None

    def child() -> None:
        with EventWriter(run.events_path) as writer:
            inbox = RequestInbox(run, writer)
            inbox.answer(inbox.take()[0], ok=False, reason="saving")

    thread = threading.Thread(target=child)
    thread.start()
    answer = await_answer(run, request_id, timeout_s=5)
    thread.join()
    assert answer is not None
    assert answer.reason == "saving"


def test_a_request_with_damaged_content_can_still_be_answered(run: RunDirectory) -> None:
    (run.control / f"{time.time_ns():020d}_stop.json").write_text("{torn")
    [request] = pending(run)
    assert request.verb == "stop"
    with EventWriter(run.events_path) as writer:
        RequestInbox(run, writer).answer(request, ok=True)
    assert pending(run) == []
