import json
import math
import os
from pathlib import Path

import numpy as np
import pytest

from workbench.runs.events import EventTail, EventWriter


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


def test_an_event_is_one_line_with_kind_time_and_steps(stream: Path) -> None:
    with EventWriter(stream) as writer:
        writer.append("metrics", steps=512, values={"rollout/ep_rew_mean": 1.5}, note="zwölf\nLinien")
        writer.append("state", state="running")
    lines = stream.read_bytes().splitlines()
    assert len(lines) == 2
    first, second = map(json.loads, lines)
    assert (first["kind"], first["steps"], first["note"]) == ("metrics", 512, "zwölf\nLinien")
    assert second["steps"] == 512  # that of the event before
    assert first["time"] > 1.6e9


def test_numbers_that_are_not_finite_become_null_and_are_counted(stream: Path) -> None:
    with EventWriter(stream) as writer:
        writer.append(
            "metrics", values={"a": math.nan, "b": -math.inf, "c": 1.0}, returns=np.array([1.0, np.inf]), n=np.int64(3)
        )
    event = json.loads(stream.read_text())
    assert event["values"] == {"a": None, "b": None, "c": 1.0}
    assert event["returns"] == [1.0, None]
    assert event["n"] == 3
    assert event["not_finite"] == 3


def test_a_file_name_that_is_no_text_is_read_back_as_it_was(stream: Path) -> None:
    reason = os.fsdecode(b"there is no /tmp/\xff")
    with EventWriter(stream) as writer:
        writer.append("state", reason=reason)
    (event,) = EventTail(stream).poll()
    assert event["reason"] == reason


def test_a_line_half_written_is_not_yet(stream: Path) -> None:
    tail = EventTail(stream)
    assert tail.poll() == []
    stream.write_bytes(b'{"kind":"state","state":"running"}\n{"kind":"metr')
    assert [event["kind"] for event in tail.poll()] == ["state"]
    assert tail.poll() == []
    with stream.open("ab") as file:
        file.write(b'ics"}\n')
    assert [event["kind"] for event in tail.poll()] == ["metrics"]
    assert tail.skipped == 0


def test_every_split_of_a_stream_gives_the_same_events(stream: Path) -> None:
    """Multi-byte characters included: a reader may come between any two bytes."""
    content = '{"kind":"state","reason":"größer ✓ 🤖"}\n{"kind":"metrics","steps":2}\n'.encode()
    for split in range(len(content) + 1):
        stream.unlink(missing_ok=True)
        tail = EventTail(stream)
        stream.write_bytes(content[:split])
        events = tail.poll()
        with stream.open("ab") as file:
            file.write(content[split:])
        events += tail.poll()
        assert [event.get("reason", event.get("steps")) for event in events] == ["größer ✓ 🤖", 2], split
        assert tail.skipped == 0


def test_garbage_is_skipped_and_counted(stream: Path) -> None:
    stream.write_bytes(b'\x00\x00\x00\n{"no kind": 1}\n[1]\nnot json\n\xff\xfe\n\n{"kind":"state"}\n')
    tail = EventTail(stream)
    assert [event["kind"] for event in tail.poll()] == ["state"]
    assert tail.skipped == 5


def test_not_finite_numbers_of_another_writer_read_as_null(stream: Path) -> None:
    stream.write_text('{"kind":"metrics","values":{"a":NaN,"b":-Infinity}}\n')
    assert EventTail(stream).poll()[0]["values"] == {"a": None, "b": None}


def test_a_writer_that_comes_after_a_torn_line_does_not_lose_its_own(stream: Path) -> None:
    stream.write_bytes(b'{"kind":"state","state":"running"}\n{"kind":"metrics","val')
    with EventWriter(stream) as writer:
        writer.append("resumed", from_steps=0)
    tail = EventTail(stream)
    assert [event["kind"] for event in tail.poll()] == ["state", "resumed"]
    assert tail.skipped == 1


def test_a_write_that_fails_halfway_does_not_spoil_the_next_line(stream: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = EventWriter(stream)
    real_write, calls = os.write, 0

    def full_disk(handle: int, data: bytes) -> int:
        nonlocal calls
        calls += 1
        if calls == 1:
            return real_write(handle, data[:5])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full_disk)
        with pytest.raises(OSError, match="No space left"):
            writer.append("metrics", steps=1)
    writer.append("metrics", steps=2)
    tail = EventTail(stream)
    assert [event["steps"] for event in tail.poll()] == [2]
    assert tail.skipped == 1
    writer.close()


@pytest.mark.parametrize("how", ["replaced", "cut", "rewritten in place"])
def test_another_file_under_the_name_is_read_from_its_beginning(stream: Path, how: str) -> None:
    stream.write_text('{"kind":"metrics","steps":1}\n{"kind":"metrics","steps":2}\n')
    tail = EventTail(stream)
    assert len(tail.poll()) == 2
    new = '{"kind":"metrics","steps":7}\n' * (1 if how == "cut" else 3)
    if how == "replaced":
        aside = stream.with_suffix(".new")
        aside.write_text(new)
        aside.replace(stream)
    else:
        stream.write_text(new)
    assert {event["steps"] for event in tail.poll()} == {7}
    assert tail.restarts == 1


def test_a_stream_that_vanishes_is_silence(stream: Path) -> None:
    stream.write_text('{"kind":"metrics","steps":1}\n')
    tail = EventTail(stream)
    tail.poll()
    stream.unlink()
    assert tail.poll() == []


def test_a_long_stream_can_be_taken_in_parts(stream: Path) -> None:
    with EventWriter(stream) as writer:
        for step in range(500):
            writer.append("metrics", steps=step, values={"a": 1.0})
        writer.append("metrics", steps=500, values={"long": "x" * 5000})
    tail = EventTail(stream)
    parts = []
    while events := tail.poll(max_bytes=1000):
        parts.append([event["steps"] for event in events])
    assert len(parts) > 20
    assert [steps for part in parts for steps in part] == list(range(501))
    assert tail.poll(max_bytes=1000) == []
