from __future__ import annotations

import io
import os
import time
from collections.abc import Iterator

import pytest

from workbench.errors import RequestError
from workbench.remote.lines import Command
from workbench.viewer import pipes
from workbench.viewer.pipes import MOST_HELD, Inbox, Outlet

Pipe = tuple[int, int]


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


def drained(inbox: Inbox, count: int) -> list[Command | RequestError | None]:
    """Return the next `count` orders; reading happens on a thread."""
    got: list[Command | RequestError | None] = []
    end = time.monotonic() + 10
    while len(got) < count and time.monotonic() < end:
        got += inbox.drain()
    return got


def test_orders_arrive_in_turn_and_their_end_is_told() -> None:
    inbox = Inbox(io.BytesIO(b'{"do": "play"}\n\n  \nnonsense\n{"do": "step"}'))
    play, wrong, step, end = drained(inbox, 4)
    assert play == Command("play", {})
    assert isinstance(wrong, RequestError)
    assert step == Command("step", {"n": 1})
    assert end is None


def test_a_line_without_end_is_refused_and_the_next_one_heard() -> None:
    inbox = Inbox(io.BytesIO(b"x" * 300_000 + b'\n{"do": "quit"}\n'))
    wrong, quit_, end = drained(inbox, 3)
    assert isinstance(wrong, RequestError)
    assert "at most" in wrong.message
    assert quit_ == Command("quit", {})
    assert end is None


def test_a_number_beyond_every_float_is_refused_and_the_next_line_heard() -> None:
    inbox = Inbox(io.BytesIO(b'{"do": "speed", "value": 1' + b"0" * 400 + b'}\n{"do": "quit"}\n'))
    wrong, quit_, end = drained(inbox, 3)
    assert isinstance(wrong, RequestError)
    assert (quit_, end) == (Command("quit", {}), None)


def test_a_line_that_nobody_foresaw_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(line: bytes) -> Command:
        raise ArithmeticError("odd") if b"odd" in line else RequestError("even.")

    monkeypatch.setattr(pipes, "parse_command", parse)
    odd, even, end = drained(Inbox(io.BytesIO(b"odd\neven\n")), 3)
    assert isinstance(odd, RequestError) and "ArithmeticError: odd" in odd.message
    assert isinstance(even, RequestError) and even.message == "even."
    assert end is None


def test_a_source_that_breaks_is_the_end_of_all() -> None:
    class Broken(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            raise MemoryError

    assert drained(Inbox(Broken()), 1) == [None]


def test_a_reader_that_sleeps_never_holds_the_writer(pipe: Pipe) -> None:
    reader, writer = pipe
    outlet = Outlet(writer)
    frame = bytes(range(256)) * 100
    accepted = sum(outlet.offer(frame) for _ in range(50))
    # What a pipe holds, and the one frame that is on its way.
    assert 1 <= accepted <= 65_536 // len(frame) + 2
    assert not outlet.is_clear
    got = b""
    while len(got) < accepted * len(frame):
        got += os.read(reader, 65_536)
        outlet.flush()
    assert got == frame * accepted
    assert outlet.is_clear
    assert outlet.offer(frame)


def test_what_must_be_told_is_kept_for_a_slow_reader_up_to_a_bound(pipe: Pipe) -> None:
    reader, writer = pipe
    outlet = Outlet(writer)
    told = b"e" * 10_000
    for _ in range(500):
        outlet.send(told)
    got = 0
    while not outlet.is_clear:
        got += len(os.read(reader, 65_536))
        outlet.flush()
    assert MOST_HELD < got < MOST_HELD + 65_536 + len(told)


def test_a_reader_that_is_gone_is_no_error(pipe: Pipe) -> None:
    reader, writer = pipe
    os.close(reader)
    outlet = Outlet(writer)
    outlet.send(b"hello\n")
    assert not outlet.offer(b"again\n")
    outlet.finish(0.1)


def test_without_a_descriptor_everything_is_swallowed() -> None:
    outlet = Outlet(None)
    outlet.send(b"hello\n")
    assert not outlet.offer(b"again\n")
    assert not outlet.is_clear
