"""The viewer's process seen from the app, with stand-ins that need no graphics."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from workbench.project import Project
from workbench.remote.frames import Frame
from workbench.remote.lines import encode_command
from workbench.ui import viewer_link
from workbench.ui.viewer_link import ProcessPlayer

SPEAKING = """
import os, sys
from workbench.remote.frames import Frame
from workbench.remote.lines import encode_event
words = sys.argv[1:]
out = os.fdopen(1, "wb", buffering=0)
out.write(b"hello from a library\\n" + b"x" * 2_000_000 + b"\\n")
out.write(encode_event("error", about="command", message=" ".join(words), hint="", fatal=False))
frames = int(words[words.index("--frames-fd") + 1])
for sequence in range(3):
    data = Frame(4, 2, sequence, sequence, bytes([sequence]) * 24).encode()
    os.write(frames, data[:20])
    os.write(frames, data[20:])
for line in sys.stdin.buffer:
    out.write(encode_event("error", about="command", message=line.decode().strip(), hint="", fatal=False))
    if b"quit" in line:
        out.write(encode_event("closed", reason="quit"))
        print("last words", file=sys.stderr)
        sys.exit(0)
"""


class Listener:
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Mapping[str, Any]]] = []
        self.frames: list[Frame] = []
        self.end: tuple[int, tuple[str, ...]] | None = None

    def heard(self, event: str, values: Mapping[str, Any]) -> None:
        self.events.append((event, values))

    def framed(self, frame: Frame) -> None:
        self.frames.append(frame)

    def ended(self, code: int, tail: tuple[str, ...]) -> None:
        self.end = (code, tail)

    @property
    def messages(self) -> list[str]:
        return [str(values["message"]) for event, values in self.events if event == "error"]


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not done():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Run a piece of Python in place of the viewer."""

    def put(body: str) -> None:
        script = tmp_path / "body.py"
        script.write_text(body)
        shell = tmp_path / "python"
        shell.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')
        shell.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(shell))

    return put


async def test_orders_events_and_frames_go_through(project: Project, stand_in: Callable[[str], None]) -> None:
    stand_in(SPEAKING)
    listener = Listener()
    player = ProcessPlayer(project, ["play", "7f3a:best", "--seed", "3"], listener, window=False)
    player.send(encode_command("pause"))
    await until(lambda: len(listener.messages) == 2 and bool(listener.frames))
    started, first = listener.messages
    assert started.startswith(
        f"-m workbench.viewer --project {project.root} 7f3a:best --seed 3 --no-window --frames-fd"
    )
    assert first == '{"do": "pause"}'
    await until(lambda: listener.frames[-1].sequence == 2)
    assert listener.frames[-1] == Frame(4, 2, 2, 2, bytes([2]) * 24)
    player.end()
    await until(lambda: listener.end is not None)
    assert listener.end == (0, ("last words",))
    assert listener.events[-1] == ("closed", {"reason": "quit"})
    player.send(encode_command("play"))


async def test_a_window_is_asked_for_by_the_command(project: Project, stand_in: Callable[[str], None]) -> None:
    stand_in(SPEAKING)
    listener = Listener()
    player = ProcessPlayer(project, ["play", "ant"], listener, window=True)
    await until(lambda: bool(listener.messages))
    assert "--no-window" not in listener.messages[0]
    player.end()
    await until(lambda: listener.end is not None)


async def test_one_that_is_ended_before_it_is_there_ends(project: Project, stand_in: Callable[[str], None]) -> None:
    stand_in(SPEAKING)
    listener = Listener()
    ProcessPlayer(project, ["play", "ant"], listener, window=True).end()
    await until(lambda: listener.end is not None)
    assert listener.end is not None
    assert listener.end[0] == 0


async def test_one_that_does_not_end_is_killed(
    project: Project, stand_in: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewer_link, "GRACE_S", 0.2)
    stand_in("import time\nprint('deaf', flush=True)\ntime.sleep(60)")
    listener = Listener()
    player = ProcessPlayer(project, ["play", "ant"], listener, window=True)
    await until(lambda: player.pid is not None)
    player.end()
    await until(lambda: listener.end is not None)
    assert listener.end is not None
    assert listener.end[0] == -9


async def test_a_failure_ends_with_its_last_words(project: Project, stand_in: Callable[[str], None]) -> None:
    stand_in("import sys\nsys.exit('no GL here')")
    listener = Listener()
    ProcessPlayer(project, ["play", "ant"], listener, window=True)
    await until(lambda: listener.end is not None)
    assert listener.end == (1, ("no GL here",))


async def test_what_cannot_be_started_says_why(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    before = open_files()
    listener = Listener()
    ProcessPlayer(project, ["play", "ant"], listener, window=True)
    await until(lambda: listener.end is not None)
    assert listener.end is not None
    assert "/nowhere/python" in listener.end[1][0]
    assert open_files() <= before


async def test_it_ends_when_the_app_is_killed(project: Project, tmp_path: Path) -> None:
    """The child sees its stdin end, whatever became of the app."""
    body = tmp_path / "app.py"
    body.write_text(
        "import asyncio, os, sys\n"
        "from pathlib import Path\n"
        "from workbench.project import Project\n"
        "from workbench.ui.viewer_link import ProcessPlayer\n"
        "class Deaf:\n"
        "    def heard(self, event, values): pass\n"
        "    def framed(self, frame): pass\n"
        "    def ended(self, code, tail): pass\n"
        "async def main():\n"
        f"    player = ProcessPlayer(Project(Path({str(project.root)!r})), ['play', 'x'], Deaf(), window=False)\n"
        "    while player.pid is None: await asyncio.sleep(0.01)\n"
        "    print(player.pid, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        f"Path({str(tmp_path / 'stand_in.py')!r}).write_text('import sys; sys.stdin.read()')\n"
        f"real = sys.executable\n"
        f"shell = Path({str(tmp_path / 'python')!r})\n"
        f"shell.write_text(f'#!/bin/sh\\nexec {{real}} {tmp_path}/stand_in.py')\n"
        "shell.chmod(0o755)\n"
        "sys.executable = str(shell)\n"
        "asyncio.run(main())\n"
    )
    app = await asyncio.create_subprocess_exec(sys.executable, str(body), stdout=asyncio.subprocess.PIPE)
    out, _ = await app.communicate()
    pid = int(out)

    def is_gone() -> bool:
        with contextlib.suppress(OSError):
            return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
        return True

    await until(is_gone)
