"""Deleting runs so that it can be undone: they are moved to `<runs root>/.trash/`, which no list of runs looks into.

`.trash/<unix nanoseconds>/<PPO|SAC|TD3>/<run>`: what was deleted together lies together and comes back together.
Nothing in it is ever thrown away by itself.
"""

from __future__ import annotations

import contextlib
import errno
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import NotFoundError, RequestError, WorkFailedError
from workbench.runs import variables
from workbench.runs.directory import RunDirectory
from workbench.runs.foreign.origin import why_only_looking
from workbench.runs.heirs import heirs_of
from workbench.runs.holding import held
from workbench.runs.sizes import size_of
from workbench.runs.state import observe
from workbench.runs.states import RunState
from workbench.suggest import nearest

TRASH_NAME = ".trash"
_PARTIAL = ".partial-"
_DAY_S = 86400.0


@dataclass(frozen=True)
class Trashed:
    """A run in the trash."""

    path: Path
    """Where it lies now."""
    deleted_ns: int
    """When it was deleted, unix nanoseconds; shared by what was deleted together."""

    @property
    def run(self) -> RunDirectory:
        """The run as it lies there; it can be read like any other."""
        return RunDirectory(self.path)

    @property
    def name(self) -> str:
        """The run's full name."""
        return self.path.name

    @property
    def deleted(self) -> float:
        """When it was deleted, unix seconds."""
        return self.deleted_ns / 1e9


@dataclass(frozen=True)
class Emptied:
    """What was thrown away for good."""

    runs: int
    freed: int
    """Bytes."""


def why_not_deleted(run: RunDirectory) -> str:
    """Return why a run cannot be deleted now and what to do first; empty where it can."""
    if why := why_only_looking(run):
        return f"{why} `workbench import --remove DIR` takes its folder off the list."
    state = observe(run).state
    if state is RunState.QUEUED:
        return f"{run.name} waits in the queue; take it out first: `workbench stop {run.short_id}`."
    if state.is_live:
        return f"{run.name} is {state}; end it first: `workbench stop {run.short_id}`."
    for heir in heirs_of(run).values():
        if not observe(heir).state.is_ended:
            return f"{heir.name} is about to begin from a checkpoint of {run.name}; wait, or stop that one first."
    return ""


def delete_runs(runs: Sequence[RunDirectory]) -> list[Trashed]:
    """Move runs to the trash; none of them where one may not be deleted.

    Returns:
        Those that were moved; one that somebody else took away meanwhile is left out.

    Raises:
        RequestError: One is live, queued, or about to be begun from.
        WorkFailedError: One could not be moved; it is where it was, and those before it are in the trash.
    """
    runs = list(dict.fromkeys(runs))
    refused = [why for why in map(why_not_deleted, runs) if why]
    if refused:
        raise RequestError("\n".join(refused))
    now_ns = time.time_ns()
    moved: list[Trashed] = []
    for run in runs:
        target = run.runs_root / TRASH_NAME / f"{now_ns:020d}" / run.path.parent.name / run.name
        try:
            with held(run.path):
                # Looked at again while nobody can put it back into the queue.
                if why := why_not_deleted(run):
                    raise RequestError(f"{why}{_so_far(moved)}")
                variables.drop_all(run)
                _move(run.path, target)
        except OSError as error:
            _tidy(target)
            if not run.path.exists():
                continue
            hint = f"Its folder is {run.path}.{_so_far(moved)}"
            what = f"{run.name} cannot be moved to the trash: {error.strerror or error}."
            raise WorkFailedError(what, hint=hint) from error
        moved.append(Trashed(target, now_ns))
    return moved


def trashed(runs_root: Path) -> list[Trashed]:
    """Return what lies in the trash of a runs root, the last deleted first."""
    found = [
        Trashed(run, int(batch.name))
        for batch in _folders(runs_root / TRASH_NAME)
        if batch.name.isdigit()
        for algorithm in _folders(batch)
        for run in _folders(algorithm)
    ]
    return sorted(found, key=lambda item: (-item.deleted_ns, item.name))


def restore(runs_root: Path, name: str | None = None) -> list[RunDirectory]:
    """Bring back what was deleted last, or one run by its name.

    Args:
        runs_root: The folder of runs.
        name: Full name, last four digits, or the beginning of the name; None for what was deleted last.

    Raises:
        NotFoundError: The trash holds no such run.
        RequestError: A run of that name is there again.
        WorkFailedError: It cannot be moved back; it is still in the trash.
    """
    there = trashed(runs_root)
    chosen = _named(there, name) if name is not None else [item for item in there if item.deleted_ns == _last(there)]
    if not chosen:
        raise NotFoundError(f"the trash of {runs_root} is empty.")
    back: list[RunDirectory] = []
    for item in chosen:
        target = runs_root / item.path.parent.name / item.name
        if target.exists():
            raise RequestError(f"{target} is there already.", hint="Move it away first; the trash keeps the other.")
        try:
            _move(item.path, target)
        except OSError as error:
            hint = f"It lies in {item.path}."
            what = f"{item.name} cannot be brought back: {error.strerror or error}."
            raise WorkFailedError(what, hint=hint) from error
        _tidy(item.path)
        back.append(RunDirectory(target))
    return back


def trash_size(runs_root: Path) -> int:
    """Return the bytes that the trash takes."""
    return size_of(runs_root / TRASH_NAME)


def empty_trash(runs_root: Path, *, older_than_days: float = 0.0, now: float | None = None) -> Emptied:
    """Throw away for good what was deleted longer ago than some days; everything by default.

    Raises:
        WorkFailedError: Some of it cannot be deleted; the rest is gone.
    """
    limit = (time.time() if now is None else now) - older_than_days * _DAY_S
    freed, count, problems = 0, 0, []
    for item in trashed(runs_root):
        if item.deleted > limit:
            continue
        # Out of sight first, so that nobody brings half of it back.
        aside = item.path.with_name(f"{_PARTIAL}{item.name}")
        size = size_of(item.path)
        try:
            item.path.rename(aside)
            shutil.rmtree(aside)
        except FileNotFoundError:
            continue  # Another emptied it, or brought it back.
        except OSError as error:
            problems.append(f"{error.filename or aside}: {error.strerror or error}")
            continue
        count, freed = count + 1, freed + size
        _tidy(item.path)
    for left in (runs_root / TRASH_NAME).glob(f"*/*/{_PARTIAL}*"):
        freed += size_of(left)
        shutil.rmtree(left, ignore_errors=True)
        freed -= size_of(left)
        _tidy(left)
    if problems:
        raise WorkFailedError(f"{len(problems)} runs in the trash cannot be deleted: {problems[0]}.")
    return Emptied(count, freed)


def _named(there: Sequence[Trashed], name: str) -> list[Trashed]:
    whole = [item for item in there if item.name == name]
    by_id = [item for item in there if item.run.short_id == name.lower()]
    found = whole or by_id or [item for item in there if item.name.startswith(name)]
    if len({item.name for item in found}) == 1:
        # Deleted, brought back as a copy and deleted again: the last one is meant.
        return found[:1]
    if found:
        listed = ", ".join(item.name for item in found[:6])
        raise NotFoundError(f"{len(found)} runs in the trash match `{name}`: {listed}.", hint="Type one of them whole.")
    close = nearest(name, [word for item in there for word in (item.name, item.run.short_id)]) or [
        item.name for item in there[:6]
    ]
    hint = f"There are {', '.join(close)}." if close else "It is empty."
    raise NotFoundError(f"there is no run `{name}` in the trash.", hint=hint)


def _last(there: Sequence[Trashed]) -> int:
    return there[0].deleted_ns if there else 0


def _move(source: Path, target: Path) -> None:
    """Move a folder so that readers see it here or there, whole.

    Raises:
        OSError: It cannot be moved, and is where it was.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _move_across(source, target)


def _move_across(source: Path, target: Path) -> None:
    """Move a folder to another file system: one of the algorithms' folders may be a link to another disk."""
    aside = target.with_name(f"{_PARTIAL}{target.name}")
    try:
        shutil.copytree(source, aside, symlinks=True)
        aside.rename(target)
    except shutil.Error as error:
        shutil.rmtree(aside, ignore_errors=True)
        first = error.args[0][0] if error.args and error.args[0] else (source, target, str(error))
        raise OSError(errno.EIO, str(first[2]), str(first[0])) from error
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    emptied = source.with_name(f".{source.name}.gone")
    source.rename(emptied)
    shutil.rmtree(emptied, ignore_errors=True)


def _tidy(path: Path) -> None:
    """Remove the folders above a run in the trash where they hold nothing any more."""
    for folder in (path.parent, path.parent.parent):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _so_far(moved: Sequence[Trashed]) -> str:
    if not moved:
        return ""
    return f" {len(moved)} of them are in the trash already; `workbench delete --undo` brings them back."


def _folders(parent: Path) -> Iterator[Path]:
    try:
        found = [path for path in parent.iterdir() if not path.name.startswith(".") and path.is_dir()]
    except OSError:
        return
    yield from found
