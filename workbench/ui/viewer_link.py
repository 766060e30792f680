"""The viewer's process, started and heard through asyncio; what it says is read by `workbench.remote`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from workbench.project import Project
from workbench.remote.frames import FrameReader
from workbench.remote.lines import encode_command, parse_event
from workbench.ui.jobs import last_lines, new_log
from workbench.ui.playing import Ears

GRACE_S = 3.0
"""How long a process may take to end before it is killed."""

_LONGEST_EVENT = 1 << 20
_PIECE = 1 << 18


class ProcessPlayer:
    """`python -m workbench.viewer` as a child; it ends when the app does, because its stdin ends.

    Args:
        project: Where it looks up what it plays.
        words: `play TARGET …`.
        ears: Told what it tells.
        window: Whether it opens one at once.
    """

    def __init__(self, project: Project, words: Sequence[str], ears: Ears, *, window: bool) -> None:
        self._command = [
            sys.executable, "-m", "workbench.viewer", "--project", str(project.root), *words[1:],
            *([] if window else ["--no-window"]),
        ]  # fmt: skip
        self._ears = ears
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: list[bytes] = []
        self._ends = False
        self._task = asyncio.create_task(self._run())

    @property
    def pid(self) -> int | None:
        """The process, once it is there."""
        return None if self._process is None else self._process.pid

    def send(self, line: bytes) -> None:
        """Give an order; those that come before the process is there wait for it."""
        stdin = None if self._process is None else self._process.stdin
        if stdin is None:
            self._waiting.append(line)
        elif not stdin.is_closing():
            stdin.write(line)

    def end(self) -> None:
        """Let it end, and kill it where it does not."""
        self._ends = True
        self.send(encode_command("quit"))
        if self._process is not None:
            self._close_stdin(self._process)

    def _close_stdin(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is not None:
            process.stdin.close()
        asyncio.get_running_loop().call_later(GRACE_S, self._kill)

    def _kill(self) -> None:
        process = self._process
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()

    async def _run(self) -> None:
        try:
            log = new_log()
            code = await self._play(log)
            tail = last_lines(log)
        except OSError as error:
            code, tail = 1, (str(error),)
        self._ears.ended(code, tail)

    async def _play(self, log: Path) -> int:
        reader, writer = os.pipe()
        try:
            with log.open("wb") as errors:
                self._process = process = await asyncio.create_subprocess_exec(
                    *self._command, "--frames-fd", str(writer),
                    stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=errors,
                    pass_fds=[writer], start_new_session=True, limit=_LONGEST_EVENT,
                )  # fmt: skip
        except OSError:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        for line in self._waiting:
            self.send(line)
        self._waiting.clear()
        if self._ends:
            self._close_stdin(process)
        frames = _Frames(reader, self._ears)
        try:
            await self._hear(process)
            return await process.wait()
        finally:
            frames.close()

    async def _hear(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:  # Longer than any event; the stream has dropped it.
                continue
            if not line:
                return
            event = parse_event(line)
            if event is not None:
                self._ears.heard(*event)


class _Frames:
    """Reads frames as they come and hands over the newest."""

    def __init__(self, descriptor: int, ears: Ears) -> None:
        self._descriptor = descriptor
        self._ears = ears
        self._reader = FrameReader()
        os.set_blocking(descriptor, False)
        asyncio.get_running_loop().add_reader(descriptor, self._read)

    def close(self) -> None:
        """Read no more."""
        if self._descriptor >= 0:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self) -> None:
        try:
            piece = os.read(self._descriptor, _PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self.close()
        elif frames := self._reader.feed(piece):
            self._ears.framed(frames[-1])
