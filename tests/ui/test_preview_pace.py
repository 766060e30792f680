"""Fewer pictures while the terminal does not take them, and more again once it does."""

from __future__ import annotations

import os
import sys

import pytest

from workbench.ui.preview_pace import QUICK_FPS, SLOW_FPS, PreviewPace, terminal_takes


class Line:
    """A terminal at the end of a line, and a clock."""

    def __init__(self) -> None:
        self.takes = True
        self.time = 0.0
        self.pace = PreviewPace(lambda: self.takes, lambda: self.time)

    def after(self, seconds: float, *, takes: bool) -> bool:
        """Let time pass, and return whether a picture may be drawn then."""
        self.time += seconds
        self.takes = takes
        return self.pace.may_draw()


def test_a_terminal_that_takes_everything_gets_every_picture() -> None:
    line = Line()
    assert all(line.after(0.03, takes=True) for _ in range(100))
    assert line.pace.fps == QUICK_FPS == 30


def test_one_that_does_not_gets_five_a_second_until_it_has_kept_up_for_a_while() -> None:
    line = Line()
    assert not line.after(0.1, takes=False)
    assert line.pace.fps == SLOW_FPS == 5
    assert line.after(2.9, takes=True)
    assert line.pace.fps == SLOW_FPS
    line.after(0.2, takes=True)
    assert line.pace.fps == QUICK_FPS


def test_one_that_keeps_getting_stuck_is_tried_less_and_less_often() -> None:
    line, waits = Line(), []
    for _ in range(7):
        line.after(0.5, takes=False)
        began = line.time
        while line.pace.fps == SLOW_FPS:
            line.after(0.5, takes=True)
        waits.append(line.time - began)
    assert waits == [3, 6, 12, 24, 48, 48, 48]


def test_what_nobody_reads_does_not_take_more(monkeypatch: pytest.MonkeyPatch) -> None:
    # A pipe: what a terminal was written goes on into another buffer a moment later.
    mine, theirs = os.pipe()
    try:
        with open(theirs, "w", closefd=False) as terminal:
            monkeypatch.setattr(sys, "__stderr__", terminal)
            assert terminal_takes()
            os.set_blocking(theirs, False)
            with pytest.raises(BlockingIOError):
                for _ in range(1000):
                    os.write(theirs, b"x" * 4096)
            assert not terminal_takes()
    finally:
        os.close(mine)
        os.close(theirs)
