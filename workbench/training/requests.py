"""What others ask of a run while it trains: requests in its folder, and signals."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOP_REQUEST = "stopped by request"


class StopSignal:
    """Remembers that a signal asked the process to stop; a second Ctrl-C interrupts at once."""

    def __init__(self) -> None:
        self.reason: str | None = None
        """Why to stop, once a signal came."""

    @contextmanager
    def watching(self) -> Iterator[StopSignal]:
        """Take signals in for a while; only in the main thread."""
        before = {number: signal.signal(number, self._take) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and self.reason is not None:
            raise KeyboardInterrupt
        self.reason = f"stopped by {signal.Signals(number).name}"
