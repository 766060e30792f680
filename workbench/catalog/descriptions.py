"""What an environment says of itself when it is made: read from a cache, written by the description process.

The terminal never imports an environment. It asks `python -m workbench.simulation.describe`, in a process of its own
and at low priority, and reads the answers from files that are named after everything they depend on.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from workbench.catalog.entries import Entry
from workbench.catalog.registry import GymnasiumRegistry, library_version, registry_path
from workbench.catalog.syntax import SIMULATION
from workbench.catalog.variants import read_variant
from workbench.durable import read_json
from workbench.errors import Problem, WorkFailedError
from workbench.project import CACHE_VARIABLE, cache_folder

DESCRIBE = (sys.executable, "-m", "workbench.simulation.describe")
LIBRARIES = ("workbench-rl", "mujoco", "gymnasium", "numpy")
NICENESS = 10
PROBED_BYTES = 16384
"""More than a description is long."""

_Seen = dict[tuple[Path, str], list[tuple[str, int, int]]]


@dataclass(frozen=True)
class Space:
    """An observation or action space, as a reader sees it."""

    shape: tuple[int, ...] | None = None
    low: Any = None
    high: Any = None
    names: tuple[str, ...] = ()
    dtype: str | None = None
    kind: str = "Box"

    @classmethod
    def from_json(cls, data: object) -> Space | None:
        """Read a space, or return None where it is not known."""
        if not isinstance(data, Mapping):
            return None
        shape, names = data.get("shape"), data.get("names") or ()
        return cls(
            None if shape is None else tuple(shape),
            data.get("low"),
            data.get("high"),
            tuple(names),
            data.get("dtype"),
            str(data.get("kind") or "Box"),
        )

    @property
    def size(self) -> str:
        """`27`, `64×64×3`, or the kind of a space that has no shape."""
        return self.kind if self.shape is None else "×".join(map(str, self.shape)) or self.kind


@dataclass(frozen=True)
class Description:
    """An environment as the description process found it."""

    env_id: str
    kind: str = "gymnasium"
    """`batch` for one of ours, `gymnasium` for any other."""
    docstring: str = ""
    observation: Space | None = None
    critic: tuple[str, ...] = ()
    """Names of what only a critic sees besides, while it trains."""
    action: Space | None = None
    control_hz: float | None = None
    simulation_hz: float | None = None
    episode_steps: int | None = None
    reward_terms: tuple[str, ...] = ()
    terminated: tuple[str, ...] = ()
    """Reasons for which an episode terminates."""
    truncated: tuple[str, ...] = ()
    """Reasons for which an episode is truncated."""
    successes: tuple[str, ...] = ()
    """Reasons that are a success; empty where none is, or where it is not said so."""
    config: tuple[Mapping[str, Any], ...] = ()
    """Fields of its configuration: name, type, default, doc."""
    model: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[Mapping[str, Any], ...] = ()
    """What is wrong with it: key, message, line."""
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Everything that was written."""

    @classmethod
    def from_json(cls, data: object) -> Description | None:
        """Read a description; None for anything else."""
        if not isinstance(data, Mapping) or not isinstance(data.get("env_id"), str):
            return None
        lists = {
            name: tuple(data.get(name) or ())
            for name in ("critic", "reward_terms", "terminated", "truncated", "successes", "config", "faults")
        }
        return cls(
            env_id=data["env_id"],
            kind=str(data.get("kind") or "gymnasium"),
            docstring=str(data.get("docstring") or ""),
            observation=Space.from_json(data.get("observation")),
            action=Space.from_json(data.get("action")),
            control_hz=data.get("control_hz"),
            simulation_hz=data.get("simulation_hz"),
            episode_steps=data.get("episode_steps"),
            model=data.get("model") or {},
            data=data,
            **lists,
        )


def description_path(entry: Entry, seen: _Seen | None = None) -> Path:
    """Return where an entry's description is cached; another file for everything that it depends on.

    Args:
        entry: The entry.
        seen: What was already looked at, where several entries are asked for at one moment.
    """
    seen = {} if seen is None else seen
    facts = {
        "entry": entry.to_request(),
        "module": None if entry.module is None else _digest(entry.module),
        "beside": [] if entry.module is None else _folder_facts(entry.module.parent, "*.py", seen),
        "assets": [] if entry.assets is None else _folder_facts(entry.assets, "*", seen),
        "simulation": _folder_facts(SIMULATION, "*.py", seen),
        "libraries": {name: library_version(name) for name in LIBRARIES},
        "python": sys.version,
    }
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:20]
    return cache_folder() / "descriptions" / f"{entry.name}-{digest}.json"


def read_description(entry: Entry) -> Description | None:
    """Return an entry's description from the cache, or None where it was not asked for yet."""
    return Description.from_json(read_json(description_path(entry)))


def read_descriptions(entries: Iterable[Entry]) -> dict[str, Description]:
    """Return by ID the descriptions that are cached."""
    seen: _Seen = {}
    found = {entry.env_id: Description.from_json(read_json(description_path(entry, seen))) for entry in entries}
    return {env_id: description for env_id, description in found.items() if description is not None}


def missing_descriptions(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries whose description is not cached."""
    seen: _Seen = {}
    return [entry for entry in entries if not description_path(entry, seen).is_file()]


def request_descriptions(entries: Iterable[Entry], *, timeout_s: float = 120.0) -> dict[str, Description]:
    """Have what is missing described, wait for it, and return the descriptions there are by ID.

    An environment that ends the process, or never comes back, takes no other with it: they are described in order, so
    it is the first that is still missing, and the rest are asked for again. Such an environment has no description.

    Raises:
        WorkFailedError: The cache cannot be written, so that nothing an environment says would be heard.
    """
    wanted = list(entries)
    missing = missing_descriptions(wanted)
    if missing:
        _require_cache()
    while missing:
        _wait(start_describing(missing), timeout_s)
        missing = missing_descriptions(missing)[1:]
    return read_descriptions(wanted)


def _require_cache() -> None:
    """Find out before a process is started for it whether what it writes will be there."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"\0" * PROBED_BYTES)
    except OSError as error:
        raise WorkFailedError(
            f"what environments say of themselves cannot be kept in {folder}: {error.strerror or error}.",
            hint=f"Free some space, or name another folder in ${CACHE_VARIABLE}.",
        ) from error


def _wait(process: subprocess.Popen[bytes], timeout_s: float) -> None:
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


async def describe_in_background(entries: Iterable[Entry], *, timeout_s: float = 120.0) -> dict[str, Description]:
    """Do as `request_descriptions` does, without blocking; cancelling ends the process."""
    wanted = list(entries)
    missing = missing_descriptions(wanted)
    while missing:
        await _describe(missing, timeout_s)
        missing = missing_descriptions(missing)[1:]
    return read_descriptions(wanted)


async def _describe(entries: Sequence[Entry], timeout_s: float) -> None:
    import asyncio

    with _requests(entries) as requests:
        process = await asyncio.create_subprocess_exec(
            *DESCRIBE, stdin=requests, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
        )
    _make_nice(process.pid)
    try:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), timeout_s)
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def start_describing(entries: Sequence[Entry]) -> subprocess.Popen[bytes]:
    """Start the description process for `entries`; each answer is in the cache as soon as it is written."""
    with _requests(entries) as requests:
        process = subprocess.Popen(
            DESCRIBE, stdin=requests, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
    _make_nice(process.pid)
    return process


def request_registry(*, timeout_s: float = 120.0) -> GymnasiumRegistry:
    """Return Gymnasium's IDs, asked for now where they are not cached; empty where that fails.

    Raises:
        WorkFailedError: The cache cannot be written.
    """
    registry = GymnasiumRegistry.cached()
    if not registry.known:
        _require_cache()
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                [*DESCRIBE, "--registry", str(registry_path())],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout_s,
                check=False,
            )
        registry = GymnasiumRegistry.cached()
    return registry


def fault_problems(entry: Entry, description: Description) -> list[Problem]:
    """Place what the description process found wrong in the files of an entry."""
    return [_placed(entry, fault) for fault in description.faults]


def _placed(entry: Entry, fault: Mapping[str, Any]) -> Problem:
    key, message = str(fault.get("key") or ""), " ".join(str(fault.get("message") or "is wrong").split())
    nearest = fault.get("nearest")
    near = None if nearest is None else str(nearest)
    configured = key.removeprefix("env_cfg.")
    if entry.variant_file is not None and configured.partition(".")[0] in entry.env_cfg:
        document = read_variant(entry.variant_file).document
        problem = Problem(f"env_cfg.{configured}", message, near, entry.variant_file)
        return problem if document is None else document.at(problem)
    line = fault.get("line")
    return Problem(key, message, near, entry.module or entry.recipe, line if isinstance(line, int) else None)


def _requests(entries: Iterable[Entry]) -> IO[bytes]:
    """Write what is asked for into a file without a name: a pipe would fill up while the process still starts."""
    seen: _Seen = {}
    asked = [{"entry": entry.to_request(), "output": str(description_path(entry, seen))} for entry in entries]
    file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it, when the process has it
    file.write(json.dumps(asked).encode())
    file.seek(0)
    return file


def _make_nice(pid: int) -> None:
    """Let trainers go first; a process that has already ended needs no priority."""
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, NICENESS)


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "unreadable"


def _folder_facts(folder: Path, pattern: str, seen: _Seen) -> list[tuple[str, int, int]]:
    """Return names, sizes and times of the files that an environment may read, without reading them."""
    if (folder, pattern) not in seen:
        facts: list[tuple[str, int, int]] = []
        for path in sorted(folder.rglob(pattern)) if folder.is_dir() else ():
            with contextlib.suppress(OSError):
                stat = path.stat()
                if path.is_file() and "__pycache__" not in path.parts:
                    facts.append((str(path.relative_to(folder)), stat.st_size, stat.st_mtime_ns))
        seen[folder, pattern] = facts
    return seen[folder, pattern]
