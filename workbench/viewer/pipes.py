"""The pipes of a player that is driven from outside: commands in, events and frames out, none of which it waits for."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import threading
from collections.abc import Iterator
from typing import Protocol

from workbench.errors import RequestError
from workbench.remote.lines import LONGEST_LINE, Command, parse_command

MOST_HELD = 1 << 20
"""Bytes kept for a reader that does not read; what comes after that is dropped."""


class Outlet:
    """A descriptor that is written to only as far as it takes bytes at once.

    Whether it does is asked before each write of at most `PIPE_BUF` bytes, which never blocks then; its flags, which
    others may share, stay as they are.

    Args:
        descriptor: Open for writing; None swallows everything.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._held = bytearray()
        self._poll = select.poll()
        if descriptor is not None:
            self._poll.register(descriptor, select.POLLOUT)

    @property
    def is_clear(self) -> bool:
        """Whether someone may still read, and has taken everything."""
        return self._descriptor is not None and not self._held

    def send(self, data: bytes) -> None:
        """Write, or keep for later what does not go at once."""
        if self._descriptor is not None and len(self._held) < MOST_HELD:
            self._held += data
        self.flush()

    def offer(self, data: bytes) -> bool:
        """Write only if everything before was taken; return whether it was accepted."""
        self.flush()
        if self._descriptor is None or self._held:
            return False
        self.send(data)
        return True

    def flush(self) -> None:
        """Write what is held as far as it is taken."""
        while self._held and self._descriptor is not None and self._takes(0):
            try:
                written = os.write(self._descriptor, self._held[: select.PIPE_BUF])
            except OSError:
                self._forget()
                return
            del self._held[:written]

    def finish(self, wait_s: float = 1.0) -> None:
        """Write what is held, waiting a little for a reader that is slow."""
        while self._held and self._descriptor is not None and self._takes(round(1000 * wait_s)):
            self.flush()

    def _takes(self, wait_ms: int) -> bool:
        ready = self._poll.poll(wait_ms)
        if ready and ready[0][1] & (select.POLLERR | select.POLLHUP | select.POLLNVAL):
            self._forget()
            return False
        return bool(ready)

    def _forget(self) -> None:
        """The reader is gone."""
        self._descriptor = None
        self._held.clear()


class Lines(Protocol):
    """What lines are read from."""

    def readline(self, size: int, /) -> bytes | None:
        """Return the next line with its end, at most `size` bytes of it; nothing at the end of all."""


class Inbox:
    """Commands that arrive line by line, read on a thread of their own.

    Args:
        source: Where the lines come from.
    """

    def __init__(self, source: Lines) -> None:
        self._source = source
        self._arrived: queue.SimpleQueue[Command | RequestError | None] = queue.SimpleQueue()
        # A daemon: a read cannot be taken back when the player ends for another reason.
        threading.Thread(target=self._read, name="commands", daemon=True).start()

    def drain(self) -> Iterator[Command | RequestError | None]:
        """Yield what arrived since the last call: a command, an error for a line that is none, None at the end."""
        with contextlib.suppress(queue.Empty):
            while True:
                yield self._arrived.get_nowait()

    def _read(self) -> None:
        # Whatever breaks is an end, and told: a player that listens to a thread that is gone could not be ended.
        with contextlib.suppress(Exception):
            while line := self._source.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                    self._discard_rest()
                if line.strip():
                    self._arrived.put(_parsed(line))
        self._arrived.put(None)

    def _discard_rest(self) -> None:
        while (rest := self._source.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
            continue


def _parsed(line: bytes) -> Command | RequestError:
    try:
        return parse_command(line)
    except RequestError as error:
        return error
    except Exception as error:  # One bad line must not make the player deaf to those after it.
        return RequestError(f"the line cannot be read: {type(error).__name__}: {error}.")
