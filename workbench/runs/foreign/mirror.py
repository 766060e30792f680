"""One foreign run in the shape of ours: `run.json`, `state.json`, `events.jsonl`, written from the other tool's files.

`<runs root>/.foreign/<tool>/<environment>_<YYYYmmdd-HHMMSS>_<4 hex>/`. The last four digits come from the path of the
tool's folder, so that a run that is taken off the list and named again is called what it was called before. What a
person adds (tags, a note) lies in the mirror and survives its being written anew.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench import durable
from workbench.runs.directory import FOREIGN_NAME, RunDirectory, run_directories
from workbench.runs.foreign.evaluations import EvaluationsSource
from workbench.runs.foreign.finding import ARGUMENTS, CONFIG, FoundRun, SavedPolicies, saved_policies
from workbench.runs.foreign.following import StartedOverError
from workbench.runs.foreign.monitor import MonitorSource
from workbench.runs.foreign.origin import POLICIES_NAME, TITLES, origin_of
from workbench.runs.foreign.progress import ProgressSource
from workbench.runs.foreign.rows import Facts, Source
from workbench.runs.foreign.settings import read_settings
from workbench.runs.foreign.stream import MirrorStream
from workbench.runs.foreign.tensorboard import TensorBoardSource
from workbench.runs.state import OTHERS_STALL_S, StateFile, StoredState
from workbench.runs.states import RunState

FORMAT = 1
PLACE_NAME = "sources.json"
"""Which version of the tool's files the mirror shows, and how far these are."""
BEAT_S = 5.0
"""How often a run that grows is noted to live."""
_ALL_BUT = 0.99
"""So much of its budget is all of it: the last rollout that fits ends before, and so does the last whole episode."""

FOLDER_GONE = "the folder it was made in is gone"


class Mirror:
    """Keeps the mirror of one foreign run as its files grow.

    Args:
        runs_root: The folder of our runs.
        found: The run.
        clock: Unix seconds.
    """

    def __init__(self, runs_root: Path, found: FoundRun, *, clock: Callable[[], float] = time.time) -> None:
        self.found = found
        self.run: RunDirectory | None = None
        """The mirror, once it is there."""
        self._root = runs_root / FOREIGN_NAME
        self._clock = clock
        self._sources: list[Source] = []
        self._stream: MirrorStream | None = None
        self._stamps: dict[str, list[int]] = {}
        self._steps = 0
        self._settings = Facts()
        self._record: dict[str, Any] = {}
        self._saved = SavedPolicies()
        self._policies: SavedPolicies | None = None

    @property
    def is_quiet(self) -> bool:
        """Whether nothing was written for so long that looking now and then is enough."""
        return self.run is not None and self._clock() - self._heartbeat > OTHERS_STALL_S

    @property
    def _heartbeat(self) -> float:
        """When the newest of the tool's files was written, unix seconds."""
        return max((stamp[0] / 1e9 for stamp in self._stamps.values()), default=0.0)

    def refresh(self) -> bool:
        """Bring the mirror up to date and return whether anything was new.

        Raises:
            OSError: The mirror cannot be written.
        """
        self._saved = saved_policies(self.found)
        stamps = dict(_stamps(self.found, self._saved))
        if self.run is not None and not self.run.is_run():
            # Somebody threw it away.
            self.run, self._stream, self._stamps, self._record, self._policies = None, None, {}, {}, None
        if self.run is None:
            self.run = self._existing()
            if self.run is not None:
                self._read_place(self.run)
        if self.run is not None and stamps == self._stamps:
            self._write_state(self.run)
            return False
        self._read_settings(stamps)
        try:
            is_new = self._extend_or_begin()
        except StartedOverError:
            # It is being written anew at this moment: another time.
            self._stream = None
            return False
        except OSError:
            # What was half-written is no beginning to go on from.
            self._stream = None
            raise
        assert self.run is not None and self._stream is not None
        self._stamps, self._steps = stamps, self._stream.steps
        self._write_about(self.run.path)
        self._write_state(self.run)
        place = {"format": FORMAT, "files": stamps, "steps": self._steps}
        durable.write_json(self.run.path / PLACE_NAME, place, makes_folder=False)
        return is_new

    def _read_settings(self, stamps: dict[str, list[int]]) -> None:
        """Read RL-Zoo's settings where they are not known yet, or were written since."""
        folder = self.found.settings
        if folder is None:
            return
        paths = [os.fspath(folder / name) for name in (CONFIG, ARGUMENTS)]
        if not self._sources or any(stamps.get(path) != self._stamps.get(path) for path in paths):
            self._settings = read_settings(folder)

    def _extend_or_begin(self) -> bool:
        try:
            return self._extend()
        except StartedOverError:
            self._stream = None
            return self._extend()

    def _extend(self) -> bool:
        """Append what is new, or write the stream from its beginning where there is none that can be gone on with."""
        if self._stream is not None and self.run is not None and self._stream.path == self.run.events_path:
            return self._stream.extend()
        self._sources = list(_sources(self.found))
        began = self.found.name.began or min(_times(self.found), default=self._clock())
        has_scores = self.found.evaluations is not None
        parent = self._root / self.found.tool
        parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(dir=parent, prefix=".new-"))
        try:
            aside.chmod(0o755)
            self._stream = MirrorStream(aside / "events.jsonl", self._sources, began=began, has_scores=has_scores)
            self._stream.extend()
            if self.run is None:
                self.run = self._publish(aside)
            else:
                # Whoever follows the old stream sees that it is another one.
                (aside / "events.jsonl").replace(self.run.events_path)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
        self._stream.path = self.run.events_path
        return True

    def _publish(self, aside: Path) -> RunDirectory:
        self._write_about(aside)
        facts = self._facts()
        began = datetime.fromtimestamp(facts.began or self._clock())
        name = _short_name(self.found, facts).replace("/", "__")
        final = aside.parent / f"{name}_{began:%Y%m%d-%H%M%S}_{short_id(self.found.folder)}"
        if final.exists():
            # Another folder with the same digits, whose run began in the same second.
            final = final.with_name(f"{self.found.folder.name}-{final.name}")
        StateFile(aside / "state.json").store(StoredState(RunState.RUNNING, updated=facts.began))
        aside.rename(final)
        return RunDirectory(final)

    def _existing(self) -> RunDirectory | None:
        digits = short_id(self.found.folder)
        for run in run_directories(self._root):
            origin = origin_of(run) if run.short_id == digits else None
            if origin is not None and origin.folder == self.found.folder:
                return RunDirectory(self._moved(run.path))
        return None

    def _read_place(self, run: RunDirectory) -> None:
        told = durable.read_document(run.path / PLACE_NAME)
        files, steps = told.get("files"), told.get("steps")
        if told.get("format") == FORMAT and isinstance(files, dict) and isinstance(steps, int):
            self._stamps, self._steps = files, steps
            self._record = run.record()

    def _moved(self, path: Path) -> Path:
        """Return the mirror below the tool that the run is of: settings may have come after the first curves."""
        right = self._root / self.found.tool / path.name
        if right == path or right.exists():
            return path
        right.parent.mkdir(exist_ok=True)
        return path.rename(right)

    def _facts(self) -> Facts:
        """Return what is known, settings first, then what the files say, then what the names of folders say."""
        facts = self._settings
        for source in self._sources:
            facts = facts.filled_from(source.facts)
        return facts.filled_from(self.found.name)

    def _write_about(self, path: Path) -> None:
        """Write `run.json` and the list of saved policies, where they are other than they were."""
        if self._sources:
            record = _record(self.found, self._facts())
            if record != self._record:
                self._record = record
                durable.write_json(path / "run.json", record, makes_folder=False)
        if self._saved != self._policies:
            self._policies = self._saved
            durable.write_json(path / POLICIES_NAME, _policies_document(self._saved), makes_folder=False)

    def _write_state(self, run: RunDirectory) -> None:
        heartbeat = self._heartbeat
        stored = StateFile(run.state_path).read()
        state, reason = self._ending(heartbeat)
        is_same = stored is not None and (stored.state, stored.reason) == (state, reason)
        if stored is not None and is_same and heartbeat - stored.heartbeat < BEAT_S:
            return
        _store(run, state, reason, heartbeat)

    def _ending(self, heartbeat: float) -> tuple[RunState, str]:
        """Return how far a run seems to be: its tool writes nowhere that it has ended."""
        steps, total = self._steps, int(self._record.get("spec", {}).get("total_steps") or 0)
        is_silent = self._clock() - heartbeat > OTHERS_STALL_S
        is_saved = self._saved.final is not None
        enough = _ALL_BUT * total if is_silent or is_saved else total
        if total and steps >= enough:
            return RunState.FINISHED, "steps"
        if is_saved:
            return (RunState.STOPPED, f"ended at {steps} steps") if total else (RunState.FINISHED, "")
        return RunState.RUNNING, ""


def mark_folder_gone(run: RunDirectory) -> None:
    """Note that the folder of a run's tool is gone; what was read of it stays.

    Raises:
        OSError: The mirror cannot be written.
    """
    stored = StateFile(run.state_path).read()
    if stored is not None and stored.reason != FOLDER_GONE:
        _store(run, RunState.STOPPED, FOLDER_GONE, stored.heartbeat)


def short_id(folder: Path) -> str:
    """Return the four hex digits of a run in a folder: always the same."""
    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:4]


def _store(run: RunDirectory, state: RunState, reason: str, heartbeat: float) -> None:
    StateFile(run.state_path).store(StoredState(state, reason, heartbeat=heartbeat, updated=heartbeat))


def _sources(found: FoundRun) -> Iterator[Source]:
    if found.progress is not None:
        yield ProgressSource(found.progress)
    if found.events:
        yield TensorBoardSource(found.events)
    if found.monitors:
        yield MonitorSource(found.monitors, with_means=found.progress is None and not found.events)
    if found.evaluations is not None:
        yield EvaluationsSource(found.evaluations)


def _times(found: FoundRun) -> Iterator[float]:
    for path in found.files:
        try:
            yield path.stat().st_mtime
        except OSError:
            continue


def _stamps(found: FoundRun, saved: SavedPolicies) -> Iterator[tuple[str, list[int]]]:
    """Yield which version of each file there is."""
    paths = list(found.files)
    if found.settings is not None:
        paths += [found.settings / name for name in (CONFIG, ARGUMENTS)]
    paths += [path for path in (saved.best, saved.final) if path is not None] + [
        path for _, path in saved.by_steps[-1:]
    ]
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        yield os.fspath(path), [status.st_mtime_ns, status.st_size, status.st_ino]


def _short_name(found: FoundRun, facts: Facts) -> str:
    return facts.env_id or found.folder.name


def _record(found: FoundRun, facts: Facts) -> dict[str, Any]:
    """Return a `run.json` that says what is known and leaves out what is not."""
    env_id = _short_name(found, facts)
    spec: dict[str, Any] = {"env_id": env_id, "seed": facts.seed, "total_steps": facts.total_steps}
    if facts.algorithm:
        spec |= {"algorithm": facts.algorithm, facts.algorithm: facts.settings}
    if facts.n_envs is not None:
        spec["n_envs"] = facts.n_envs
    return {
        "format": FORMAT,
        "spec": spec,
        "environment": {"name": env_id},
        "command": list(facts.command),
        "seed": facts.seed,
        "group": _group(found, facts),
        "parent": None,
        "versions": {},
        "git": None,
        "host": "",
        "created": facts.began or None,
        "foreign": {"tool": found.tool, "title": TITLES[found.tool], "folder": str(found.folder)},
    }


def _group(found: FoundRun, facts: Facts) -> str | None:
    """Return what runs share that lie beside each other and differ in seed alone; None where settings are unknown."""
    if facts.seed is None or not facts.settings:
        return None
    alike = [found.tool, str(found.folder.parent), facts.env_id, facts.algorithm, facts.total_steps, facts.n_envs]
    text = durable.to_json([*alike, {name: str(value) for name, value in sorted(facts.settings.items())}])
    return f"{found.tool}-{hashlib.sha256(text).hexdigest()[:8]}"


def _policies_document(policies: SavedPolicies) -> dict[str, Any]:
    latest = policies.final or (policies.by_steps[-1][1] if policies.by_steps else None)
    return {
        "format": FORMAT,
        "best": None if policies.best is None else str(policies.best),
        "latest": None if latest is None else str(latest),
        "by_steps": [[steps, str(path)] for steps, path in policies.by_steps],
    }
