"""Writing beside the training: pieces of work that one thread does in order, while the run goes on.

A disk may take seconds to promise that something lies on it. Only the run's own thread hands work in, so what it finds
done stays done until it hands in more.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.runs import EventWriter

WAITING = 100
"""So many pieces may wait, each of an iteration's rows at most: the memory they take has a bound."""

Work = Callable[[], object]


class Background:
    """Does one piece of work after the other; once one has failed, none is done any more."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[Work | None] = queue.Queue(WAITING)
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._is_closed = False

    @property
    def is_idle(self) -> bool:
        """Whether everything handed in is done, and well."""
        return self._failure is None and self._waiting.unfinished_tasks == 0

    @property
    def is_closed(self) -> bool:
        """Whether it takes no more work."""
        return self._is_closed

    def add(self, work: Work) -> None:
        """Hand a piece of work in; waits while too many wait already."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="background writer", daemon=True)
            self._thread.start()
        self._waiting.put(work)

    def check(self) -> None:
        """Raise what a piece of work has raised, whichever that was."""
        if self._failure is not None:
            raise self._failure

    def drain(self) -> None:
        """Wait until everything handed in is done, and raise what a piece of it has raised."""
        self._waiting.join()
        self.check()

    def close(self) -> None:
        """Wait until everything handed in is done, well or not, and take no more."""
        self._is_closed = True
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while (work := self._waiting.get()) is not None:
            try:
                if self._failure is None:
                    work()
            except BaseException as error:
                self._failure = error
            finally:
                self._waiting.task_done()


class EventsInOrder(EventWriter):
    """An event stream that tells of nothing before what was handed in earlier is done.

    So the stream is the same however long a disk takes, and what it tells of lies there.

    Args:
        path: The stream.
        background: What does the work.
    """

    SURE = ("request", "set")
    """Kinds that are on file when `append` returns: whoever answers a request throws it away."""

    def __init__(self, path: Path, background: Background) -> None:
        super().__init__(path)
        self._background = background

    def follow(self, background: Background) -> None:
        """Tell behind what something else does from now on; what did the work before is closed."""
        self._background = background

    def append(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Append one event, behind the work that is still to do; see `EventWriter.append`."""
        if kind in self.SURE and not self._background.is_closed:
            self._background.drain()
        return super().append(kind, **fields)

    def _write(self, line: bytes) -> None:
        if self._background.is_idle or self._background.is_closed:
            super()._write(line)
        else:
            write = super()._write
            self._background.add(lambda: write(line))
