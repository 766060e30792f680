"""The folder of a run: where its parts are, how it is named, and how one is made.

`<runs root>/<PPO|SAC|TD3>/<short name>_<YYYYmmdd-HHMMSS>_<4 hex>/`, with checkpoints in `checkpoint_<steps>/`.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import durable
from workbench.durable import read_document
from workbench.errors import WorkFailedError
from workbench.runs.annotations import Annotations
from workbench.runs.record import require_text

if TYPE_CHECKING:
    from workbench.specs import RunSpec

FOREIGN_NAME = ".foreign"
"""Where in a runs root the mirrors of runs lie that other tools made, laid out as the root itself is."""

_RUN_NAME = re.compile(r"(?P<short>.+)_(?P<stamp>\d{8}-\d{6})_(?P<id>[0-9a-f]{4})")
_STAMP = "%Y%m%d-%H%M%S"
_CHECKPOINT_NAME = re.compile(r"checkpoint_(\d+)")


@dataclass(frozen=True)
class CheckpointDirectory:
    """A sealed checkpoint of a run."""

    path: Path
    steps: int
    """The true step count at which it was written."""

    @classmethod
    def at(cls, path: Path) -> CheckpointDirectory | None:
        """Return the checkpoint at `path`, or nothing where the folder is not one."""
        match = _CHECKPOINT_NAME.fullmatch(path.name)
        return cls(path, int(match[1])) if match and path.is_dir() else None

    @property
    def evaluation_path(self) -> Path:
        """Scores of this checkpoint."""
        return self.path / "evaluation.json"


def steps_of(checkpoint: Path) -> int:
    """Return the steps in the name of a checkpoint's folder."""
    return int(checkpoint.name.rpartition("_")[2])


@dataclass(frozen=True)
class RunDirectory:
    """The folder of one run."""

    path: Path

    @property
    def name(self) -> str:
        """The full name, unique in its runs root."""
        return self.path.name

    @property
    def short_name(self) -> str:
        """The environment's short name, as the folder carries it."""
        match = _RUN_NAME.fullmatch(self.name)
        return match["short"] if match else self.name

    @property
    def short_id(self) -> str:
        """The last four hex digits, which command lines take while they are unique."""
        return self.name[-4:]

    @property
    def stamp(self) -> str:
        """When the run was made, local time, sortable; empty where the folder was renamed."""
        match = _RUN_NAME.fullmatch(self.name)
        return match["stamp"] if match else ""

    @property
    def made(self) -> float:
        """When the run was made, as its name tells, unix seconds; 0 where the folder was renamed."""
        try:
            return datetime.strptime(self.stamp, _STAMP).timestamp()
        except ValueError:
            return 0.0

    @property
    def algorithm(self) -> str:
        """The algorithm, lower case."""
        return self.path.parent.name.lower()

    @property
    def runs_root(self) -> Path:
        """The folder that holds all runs beside this one."""
        return self.path.parent.parent

    @property
    def is_foreign(self) -> bool:
        """Whether another tool made the run: it can be looked at and nothing else."""
        return self.runs_root.name == FOREIGN_NAME

    @property
    def spec_path(self) -> Path:
        """`run.json`: what was asked for, written once."""
        return self.path / "run.json"

    @property
    def annotations_path(self) -> Path:
        """`annotations.json`: what a person added."""
        return self.path / "annotations.json"

    @property
    def state_path(self) -> Path:
        """`state.json`: written by the supervisor while the run is queued, then by the child alone."""
        return self.path / "state.json"

    @property
    def exit_path(self) -> Path:
        """`exit.json`: how the child's process ended, written by the supervisor that was its parent."""
        return self.path / "exit.json"

    @property
    def kill_path(self) -> Path:
        """`killed.json`: the mark of a kill by hand, and which process it was meant for."""
        return self.path / "killed.json"

    @property
    def events_path(self) -> Path:
        """`events.jsonl`: the event stream, appended by the child alone."""
        return self.path / "events.jsonl"

    @property
    def log_path(self) -> Path:
        """`output.log`: stdout and stderr of the child."""
        return self.path / "output.log"

    @property
    def control(self) -> Path:
        """Requests to the child, one file each."""
        return self.path / "control"

    def is_run(self) -> bool:
        """Return whether the folder holds a run at all."""
        return self.spec_path.is_file()

    def record(self) -> dict[str, Any]:
        """Return the content of `run.json`, empty where it cannot be read."""
        return read_document(self.spec_path)

    def spec(self) -> RunSpec:
        """Return what the run was asked to do.

        Raises:
            ProblemsError: `run.json` holds no valid spec.
        """
        from workbench.specs import spec_from_json

        return spec_from_json(self.record().get("spec", {}))

    def annotations(self) -> Annotations:
        """Return what a person added to the run."""
        return Annotations.read(self.annotations_path)

    def checkpoints(self) -> list[CheckpointDirectory]:
        """Return the sealed checkpoints, fewest steps first."""
        try:
            found = [CheckpointDirectory.at(path) for path in self.path.iterdir()]
        except OSError:
            return []
        return sorted((item for item in found if item is not None), key=lambda item: item.steps)

    def kept_steps(self) -> frozenset[int]:
        """Return the steps of the checkpoints that are there, by their names alone: it is asked twice a second."""
        with os.scandir(self.path) as entries:
            matches = [_CHECKPOINT_NAME.fullmatch(entry.name) for entry in entries]
        return frozenset(int(match[1]) for match in matches if match is not None)

    def latest(self) -> CheckpointDirectory | None:
        """Return the newest checkpoint."""
        named = self._named("latest")
        if named is not None:
            return named
        written = self.checkpoints()
        return written[-1] if written else None

    def best(self) -> CheckpointDirectory | None:
        """Return the checkpoint with the best evaluation, or nothing while none was evaluated."""
        return self._named("best")

    def set_latest(self, checkpoint: str) -> None:
        """Name the newest checkpoint, by its folder's name; for the child."""
        durable.write_text(self.path / "latest", f"{checkpoint}\n", makes_folder=False)

    def set_best(self, checkpoint: str) -> None:
        """Name the best checkpoint, by its folder's name; for the child."""
        durable.write_text(self.path / "best", f"{checkpoint}\n", makes_folder=False)

    def _named(self, pointer: str) -> CheckpointDirectory | None:
        try:
            name = (self.path / pointer).read_text().strip()
        except (OSError, UnicodeDecodeError):
            return None
        # A pointer names a sibling; anything else in it is not followed.
        return CheckpointDirectory.at(self.path / name) if _CHECKPOINT_NAME.fullmatch(name) else None

    @classmethod
    def create(
        cls, runs_root: Path, algorithm: str, short_name: str, *, files: Mapping[str, Any] | None = None
    ) -> RunDirectory:
        """Make a folder with a name that no other run has, whoever else makes one at the same time.

        Args:
            runs_root: The folder of all runs; made where missing.
            algorithm: `ppo`, `sac` or `td3`, in any case.
            short_name: The environment's short name.
            files: JSON documents, by file name, that the folder holds from the moment it can be seen.

        Raises:
            RequestError: The folder's name is not text.
            WorkFailedError: The folder cannot be written.
        """
        aside = cls.prepare(runs_root, algorithm, files or {})
        return cls.publish(aside, short_name)

    @classmethod
    def prepare(
        cls, runs_root: Path, algorithm: str, files: Mapping[str, Any], *, private: Mapping[str, Any] | None = None
    ) -> Path:
        """Write a run's first files into a hidden folder and return it; `publish` makes it a run.

        Args:
            runs_root: The folder of all runs; made where missing.
            algorithm: `ppo`, `sac` or `td3`, in any case.
            files: JSON documents, by file name.
            private: Those that only their owner may read.

        Raises:
            RequestError: The folder's name is not text.
            WorkFailedError: The folder cannot be written; nothing is left behind.
        """
        require_text(runs_root, "no run can be written in")
        parent = runs_root / algorithm.upper()
        aside: Path | None = None
        try:
            parent.mkdir(parents=True, exist_ok=True)
            aside = Path(tempfile.mkdtemp(dir=parent, prefix=".new-"))
            aside.chmod(0o755)
            # Never empty, so that renaming another folder onto it fails instead of replacing it.
            (aside / "control").mkdir()
            for name, content in files.items():
                durable.write_json(aside / name, content)
            for name, content in (private or {}).items():
                durable.write_json(aside / name, content, mode=0o600)
        except OSError as error:
            if aside is not None:
                shutil.rmtree(aside, ignore_errors=True)
            raise _unwritable(parent, error) from error
        return aside

    @classmethod
    def publish(cls, aside: Path, short_name: str) -> RunDirectory:
        """Give a prepared folder its name.

        Raises:
            WorkFailedError: The folder cannot be renamed.
        """
        parent = aside.parent
        safe_name = short_name.replace("/", "__")
        taken = {run.short_id for run in run_directories(parent.parent)}
        while True:
            run_id = secrets.token_hex(2)
            if run_id in taken and len(taken) < 0x8000:
                continue
            final = parent / f"{safe_name}_{datetime.now():{_STAMP}}_{run_id}"
            if final.exists():
                continue
            try:
                aside.rename(final)
            except OSError as error:
                if final.exists():
                    continue
                raise _unwritable(parent, error) from error
            return cls(final)


def run_directories(runs_root: Path) -> Iterator[RunDirectory]:
    """Yield every folder that is named like a run or holds one, in no order."""
    for algorithm in folders_in(runs_root):
        yield from runs_in(folders_in(algorithm))


def foreign_directories(runs_root: Path) -> Iterator[RunDirectory]:
    """Yield the mirrors of the runs that other tools made, in no order."""
    yield from run_directories(runs_root / FOREIGN_NAME)


def runs_in(paths: Iterable[Path]) -> Iterator[RunDirectory]:
    """Yield those of some folders that are named like a run or hold one."""
    for path in paths:
        if is_run_name(path.name) or (path / "run.json").is_file():
            yield RunDirectory(path)


def is_run_name(name: str) -> bool:
    """Return whether a folder is named like a run."""
    return _RUN_NAME.fullmatch(name) is not None


def folders_in(parent: Path) -> list[Path]:
    """Return the folders in a folder, but hidden ones; none where it cannot be read."""
    with contextlib.suppress(OSError):
        return [path for path in parent.iterdir() if not path.name.startswith(".") and path.is_dir()]
    return []


def _unwritable(folder: Path, error: OSError) -> WorkFailedError:
    return WorkFailedError(
        f"no run can be written in {folder}: {error.strerror or error}.",
        hint="Free some space, or name another folder with --output-dir.",
    )
