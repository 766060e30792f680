"""What a verb that takes a while makes of being told to end."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stop_on_signals() -> Iterator[list[int]]:
    """Collect the first Ctrl-C or SIGTERM, so that what is begun is seen through; a second one interrupts."""
    asked: list[int] = []

    def note(number: int, _frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    with _handling(note, signal.SIGINT, signal.SIGTERM):
        yield asked


@contextmanager
def interrupted_by_sigterm() -> Iterator[None]:
    """Let SIGTERM, which ends a job from outside, clean up as Ctrl-C does."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    with _handling(interrupt, signal.SIGTERM):
        yield


@contextmanager
def _handling(handler: Callable[[int, object], None], *numbers: signal.Signals) -> Iterator[None]:
    try:
        before = {number: signal.signal(number, handler) for number in numbers}
    except ValueError:  # Not the main thread, which alone hears signals.
        yield
        return
    try:
        yield
    finally:
        for number, handled_before in before.items():
            signal.signal(number, handled_before)
