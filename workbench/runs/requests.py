"""Requests to a run: small files in its `control` folder, answered by an event in its stream.

Whoever wants something writes `control/<time_ns>_<verb>.json` aside and renames it in. The child takes them in name
order at iteration boundaries; the supervisor does for runs that are still queued. A run that is not there to read a
request never acts on it later: one from before the run was last put into the queue is answered `expired`.
"""

from __future__ import annotations

import os
import secrets
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench import durable
from workbench.durable import read_document
from workbench.runs.directory import RunDirectory
from workbench.runs.events import EventTail, EventWriter
from workbench.runs.state import StateFile

EXPIRED = "expired"


@dataclass(frozen=True)
class Request:
    """One request as it lies in the folder."""

    path: Path
    id: str
    """What the answer names."""
    verb: str
    """`stop`, `pause`, `resume`, `checkpoint`, `evaluate` or `set`."""
    args: dict[str, Any] = field(default_factory=dict)
    time_ns: int = 0
    """When it was asked, unix nanoseconds."""


@dataclass(frozen=True)
class Answer:
    """What became of a request."""

    ok: bool
    reason: str = ""
    """Why it was refused; or what was done, where that is worth a word."""


def send(run: RunDirectory, verb: str, **args: Any) -> str:
    """Leave a request for the run and return its id.

    Raises:
        OSError: The folder cannot be written.
    """
    now_ns = time.time_ns()
    request_id = new_id(now_ns)
    # Two requests of one nanosecond keep both their files; a name in use is never written over.
    while (path := run.control / f"{now_ns:020d}_{verb}.json").exists():
        now_ns += 1
    durable.write_json(path, {"id": request_id, "verb": verb, "args": args, "time_ns": now_ns})
    return request_id


def new_id(now_ns: int | None = None) -> str:
    """Return an id that no other request has."""
    return f"{time.time_ns() if now_ns is None else now_ns}-{secrets.token_hex(3)}"


def pending(run: RunDirectory) -> list[Request]:
    """Return the requests that nobody has answered yet, in the order in which they count."""
    try:
        names = sorted(entry.name for entry in os.scandir(run.control) if not entry.name.startswith("."))
    except OSError:
        return []
    found = []
    for name in names:
        path = run.control / name
        stamp, _, rest = name.partition("_")
        verb = rest.removesuffix(".json")
        if not (stamp.isdigit() and verb and rest.endswith(".json")):
            continue
        # Where another hand wrote it, the name says enough to answer it.
        data = read_document(path)
        args = data.get("args")
        request_id = str(data.get("id") or name)
        found.append(Request(path, request_id, verb, args if isinstance(args, dict) else {}, int(stamp)))
    return found


def answer(request: Request, writer: EventWriter, *, ok: bool, reason: str = "") -> None:
    """Append the answer to the stream, then take the request away.

    Raises:
        OSError: The stream cannot be written; the request then stays.
    """
    writer.append("request", id=request.id, verb=request.verb, ok=ok, reason=reason)
    request.path.unlink(missing_ok=True)


class RequestInbox:
    """The child's side: hands out what counts, answers what came too early for this process.

    Args:
        run: The run that the calling process carries.
        writer: Its event stream.
    """

    def __init__(self, run: RunDirectory, writer: EventWriter) -> None:
        self._run = run
        self._writer = writer
        stored = StateFile(run.state_path).read()
        self._since_ns = stored.queued_ns if stored else 0

    def take(self) -> list[Request]:
        """Return the requests to act on now; each is to be answered with `answer`."""
        wanted = []
        for request in pending(self._run):
            if request.time_ns < self._since_ns:
                self.answer(request, ok=False, reason=EXPIRED)
            else:
                wanted.append(request)
        return wanted

    def holds(self, verb: str) -> bool:
        """Return whether a request of this kind waits to be taken."""
        return any(request.verb == verb and request.time_ns >= self._since_ns for request in pending(self._run))

    def answer(self, request: Request, *, ok: bool, reason: str = "") -> None:
        """Append the answer to the stream, then take the request away."""
        answer(request, self._writer, ok=ok, reason=reason)


def await_answer(run: RunDirectory, request_id: str, *, timeout_s: float, poll_s: float = 0.1) -> Answer | None:
    """Wait for the answer to a request; nothing where none came in time."""
    tail = EventTail(run.events_path)
    deadline = time.monotonic() + timeout_s
    while True:
        for event in tail.poll():
            if event["kind"] == "request" and event.get("id") == request_id:
                return Answer(bool(event.get("ok")), str(event.get("reason") or ""))
        if time.monotonic() >= deadline:
            return None
        time.sleep(poll_s)
