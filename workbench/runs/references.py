"""From what a person types to the run or checkpoint that is meant.

In this order: an existing path; `RUN:best`, `RUN:latest`, `RUN:<steps>`; an environment's exact name; a run's full
name, its last four hex digits while they are unique, or a unique prefix that reaches into its date. A run alone means
its best checkpoint, else its latest; so does a folder in which Stable-Baselines3 or RL-Zoo saved policies, which may
stand before the colon too. A miss lists what is there and what to type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import NotFoundError
from workbench.project import Project
from workbench.runs.directory import CheckpointDirectory, RunDirectory, foreign_directories, run_directories
from workbench.runs.foreign.finding import SavedPolicies, policies_in
from workbench.suggest import nearest

if TYPE_CHECKING:
    from workbench.runs.foreign.origin import Policies

POLICY_SUFFIXES = frozenset({".zip", ".onnx", ".pt", ".pth", ".ts", ".jit"})
"""How files of policies end that other tools save."""

_SHOWN = 6
_PICK = re.compile(r"(?P<run>.+):(?P<which>best|latest|[\d_]+)")


def find_run(runs_root: Path, text: str) -> RunDirectory:
    """Return the run that `text` names: a path, a full name, four hex digits, or a prefix that reaches into the date.

    Raises:
        NotFoundError: None or several; the message lists what is there and what to type.
    """
    at_path = _run_at(Path(text).expanduser())
    if at_path is not None:
        return at_path
    runs = _newest_first(runs_root)
    found = _match(runs, text)
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFoundError(f"{len(found)} runs match `{text}`: {_listing(found)}.", hint="Type one of them whole.")
    raise NotFoundError(f"there is no run `{text}` in {runs_root}.", hint=_hint(runs, text))


def resolve_checkpoint(project: Project, text: str, runs_root: Path | None = None) -> Path:
    """Return the folder of the checkpoint that `text` names; an existing file is returned as it is.

    Args:
        project: Where runs are looked for.
        text: A path, `RUN:best|latest|<steps>`, an environment's exact name, or a run.
        runs_root: Another folder of runs than the project's own.

    Raises:
        NotFoundError: It names nothing, several things, or a run without that checkpoint.
    """
    return find_checkpoint(runs_root or project.runs, text)


def find_checkpoint(runs_root: Path, text: str) -> Path:
    """Return the folder of the checkpoint that `text` names, among the runs of a runs root; see `resolve_checkpoint`.

    Raises:
        NotFoundError: It names nothing, several things, or a run without that checkpoint.
    """
    if not text.strip():
        # A variable of a shell that is not set; as a path it would be the folder one is in.
        raise NotFoundError("no policy is named.", hint="Type a run, its last four digits, or a path.")
    at_path = _checkpoint_at(Path(text).expanduser())
    if at_path is not None:
        return at_path
    picked = _PICK.fullmatch(text)
    if picked is not None:
        folder = Path(picked["run"]).expanduser()
        saved = _saved_at(folder)
        if saved is not None:
            return _saved_policy(folder.name, saved, picked["which"])
        return _pick(_run_or_environment(runs_root, picked["run"]), picked["which"])
    try:
        return _best_or_latest(_run_or_environment(runs_root, text))
    except NotFoundError as miss:
        raise _miss_of_path(text) or miss from None


def _miss_of_path(text: str) -> NotFoundError | None:
    """Return what is wrong with what can only be meant as a path; None where it may be a name."""
    path = Path(text).expanduser()
    try:
        if path.is_dir():
            programs = sorted(one for one in path.iterdir() if one.suffix.lower() in POLICY_SUFFIXES)
            if programs:
                return NotFoundError(f"{text} is a folder.", hint=f"Name the policy in it: {programs[0]}.")
            return NotFoundError(
                f"{text} is a folder without a policy.",
                hint=f"`workbench import {text}` shows the runs below it; name the folder or the file of one.",
            )
    except OSError:
        return None
    return NotFoundError(f"there is no file {text}.") if path.suffix.lower() in POLICY_SUFFIXES else None


def _run_or_environment(runs_root: Path, text: str) -> RunDirectory:
    # An environment's name means what was trained here; a run of another tool is called by its own name.
    trained = [run for run in _sorted(run_directories(runs_root)) if text in (run.short_name, _env_id(run, text))]
    if trained:
        # One that has only just begun has nothing to show; the one before it has.
        return next((run for run in trained if run.latest() is not None), trained[0])
    return find_run(runs_root, text)


def _env_id(run: RunDirectory, text: str) -> str | None:
    # Only an ID has a slash or a version: for a short name no file need be read.
    if "/" not in text and "-v" not in text:
        return None
    spec = run.record().get("spec")
    return str(spec.get("env_id", "")) if isinstance(spec, dict) else None


def _match(runs: Sequence[RunDirectory], text: str) -> list[RunDirectory]:
    whole = [run for run in runs if run.name == text]
    by_id = [run for run in runs if run.short_id == text.lower()]
    by_prefix = [run for run in runs if run.name.startswith(text) and run.stamp and len(text) > len(run.short_name) + 1]
    return whole or by_id or by_prefix


def _run_at(path: Path) -> RunDirectory | None:
    try:
        return RunDirectory(path.resolve()) if RunDirectory(path).is_run() else None
    except OSError:
        return None


def _checkpoint_at(path: Path) -> Path | None:
    try:
        if path.is_file():
            return _checkpoint_of_file(path.resolve())
        run = _run_at(path)
        if run is not None:
            return _best_or_latest(run)
        if CheckpointDirectory.at(path) or (path / "policy.json").is_file():
            return path.resolve()
        saved = _saved_at(path)
        return None if saved is None else _saved_policy(path.name, saved, "")
    except OSError:
        # Longer than a file name can be, say: then it is no path.
        return None


def _checkpoint_of_file(path: Path) -> Path:
    if path.name in ("best", "latest"):
        run = RunDirectory(path.parent)
        named = run.best() if path.name == "best" else run.latest()
        return named.path if named else path
    return path.parent if path.name in ("policy.json", "policy.safetensors") else path


def _best_or_latest(run: RunDirectory) -> Path:
    if run.is_foreign:
        return _foreign_policy(run, "")
    checkpoint = run.best() or run.latest()
    if checkpoint is None:
        raise NotFoundError(
            f"{run.name} has no checkpoint yet.", hint="Its first one comes with the start of training."
        )
    return checkpoint.path


def _foreign_policy(run: RunDirectory, which: str) -> Path:
    """Return the file in which another tool saved a policy: `best`, `latest`, that of some steps, or what there is."""
    from workbench.runs.foreign.origin import policies_of

    return _saved_policy(run.name, policies_of(run), which)


def _saved_at(folder: Path) -> SavedPolicies | None:
    """Return the policies that another tool saved in a folder; None where there are none."""
    try:
        if not folder.is_dir() or RunDirectory(folder).is_run():
            return None
        saved = policies_in(folder.resolve())
    except OSError:
        # Longer than a file name can be, say.
        return None
    return saved if saved.best or saved.latest else None


def _saved_policy(name: str, saved: SavedPolicies | Policies, which: str) -> Path:
    named = {"best": saved.best, "latest": saved.latest, "": saved.best or saved.latest}
    by_steps = dict(saved.by_steps)
    path = named[which] if which in named else by_steps.get(int(which.replace("_", "") or 0))
    if path is not None:
        return path
    there = [word for word in ("best", "latest") if named[word] is not None] + [str(steps) for steps in by_steps]
    if not there:
        raise NotFoundError(f"{name} has saved no policy.", hint="Its curves can be looked at.")
    raise NotFoundError(f"{name} has no policy `{which}`.", hint=f"There are {', '.join(there)}.")


def _pick(run: RunDirectory, which: str) -> Path:
    if run.is_foreign:
        return _foreign_policy(run, which)
    if which == "best":
        best = run.best()
        if best is None:
            raise NotFoundError(f"{run.name} has no best checkpoint: none was evaluated.", hint=_ladder(run))
        return best.path
    if which == "latest":
        return _best_or_latest(run) if (latest := run.latest()) is None else latest.path
    steps = int(which.replace("_", "") or 0)
    for checkpoint in run.checkpoints():
        if checkpoint.steps == steps:
            return checkpoint.path
    raise NotFoundError(f"{run.name} has no checkpoint of {steps} steps.", hint=_ladder(run))


def _ladder(run: RunDirectory) -> str:
    steps = [str(checkpoint.steps) for checkpoint in run.checkpoints()]
    if not steps:
        return "It has no checkpoint yet."
    shown = steps if len(steps) <= 2 * _SHOWN else [*steps[:_SHOWN], "…", *steps[-_SHOWN:]]
    return f"There are {', '.join(shown)}; type {run.short_id}:{steps[-1]}, {run.short_id}:latest."


def _hint(runs: Sequence[RunDirectory], text: str) -> str:
    if not runs:
        return "There are no runs yet; `workbench train ENVIRONMENT` makes one."
    names = [word for run in runs for word in (run.name, run.short_id, run.short_name)]
    close = nearest(text.partition(":")[0], names, count=_SHOWN)
    likely = [run for run in runs if {run.name, run.short_id, run.short_name} & set(close)] or runs
    return f"There are {_listing(likely)}. Type the name, its last four digits, or an environment's name."


def _listing(runs: Sequence[RunDirectory]) -> str:
    more = f" and {len(runs) - _SHOWN} more" if len(runs) > _SHOWN else ""
    return ", ".join(run.name for run in runs[:_SHOWN]) + more


def _newest_first(runs_root: Path) -> list[RunDirectory]:
    return _sorted([*run_directories(runs_root), *foreign_directories(runs_root)])


def _sorted(runs: Iterable[RunDirectory]) -> list[RunDirectory]:
    return sorted(runs, key=lambda run: (run.stamp, run.name), reverse=True)
