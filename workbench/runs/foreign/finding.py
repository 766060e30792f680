"""Which runs of other tools are in a folder, told by the names of folders and files alone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workbench.runs.foreign.rows import Facts

PROGRESS = "progress.csv"
MONITOR = "monitor.csv"
EVENTS = "events.out.tfevents"
EVALUATIONS = "evaluations.npz"
CONFIG, ARGUMENTS = "config.yml", "args.yml"

# fmt: off
ALGORITHMS = frozenset({
    "a2c", "ars", "c51", "crossq", "ddpg", "dqn", "maskableppo", "ppg", "ppo", "ppo_lstm", "qdagger", "qrdqn",
    "recurrentppo", "rpo", "sac", "td3", "tqc", "trpo",
})
# fmt: on
"""What Stable-Baselines3, its contributions, RL-Zoo and CleanRL call their algorithms."""

_DEEPEST = 8
_MOST_FOLDERS = 20_000
_CLEANRL = re.compile(r"(?P<env>.+)__(?P<experiment>.+)__(?P<seed>\d+)__(?P<time>\d{9,11})")
_ZOO = re.compile(r"(?P<env>.+)_\d+(?:_[0-9a-f-]{36})?")
_NUMBERED = re.compile(r"(?P<name>[A-Za-z0-9_]+?)_\d+")
_ENVIRONMENT = re.compile(r"[A-Za-z][\w.:-]*-v\d+")
_SEED = re.compile(r"(?:^|[^a-z])seed[_=-]?(\d+)", re.IGNORECASE)
_OTHER_COPIES = re.compile(r"eval|test", re.IGNORECASE)
_STEPS = re.compile(r"_(\d+)_steps\.zip$")


@dataclass(frozen=True)
class FoundRun:
    """A run of another tool, as its folder shows it."""

    folder: Path
    tool: str
    """`sb3`, `zoo`, `cleanrl` or `tensorboard`."""
    name: Facts
    """What the names of the folders say."""
    progress: Path | None = None
    monitors: tuple[Path, ...] = ()
    """One a copy of the environment."""
    events: tuple[Path, ...] = ()
    """Oldest first."""
    evaluations: Path | None = None
    settings: Path | None = None
    """RL-Zoo's folder of `config.yml` and `args.yml`."""

    @property
    def files(self) -> tuple[Path, ...]:
        """All files from which rows come."""
        single = (self.progress, self.evaluations)
        return (*self.monitors, *self.events, *(path for path in single if path is not None))


@dataclass(frozen=True)
class SavedPolicies:
    """The files in which a run saved its policies; none is opened here."""

    best: Path | None = None
    final: Path | None = None
    """What training ended with."""
    by_steps: tuple[tuple[int, Path], ...] = ()

    @property
    def latest(self) -> Path | None:
        """What training ended with, else what was saved last."""
        return self.final or (self.by_steps[-1][1] if self.by_steps else None)


def find_runs(folder: Path) -> Iterator[FoundRun]:
    """Yield the runs of other tools in a folder and below, by path; links to folders are not followed."""
    waiting = [(folder, 0)]
    seen = 0
    while waiting and seen < _MOST_FOLDERS:
        here, depth = waiting.pop()
        seen += 1
        files, folders = _entries(here)
        if "run.json" in files and "events.jsonl" in files:
            continue  # One of ours, which writes for users of the other tools too.
        found = _run_in(here, files, folders)
        if found is not None:
            yield found
        if depth < _DEEPEST and (found is None or found.tool != "zoo"):
            waiting += [(here / name, depth + 1) for name in sorted(folders, reverse=True)]


def saved_policies(found: FoundRun) -> SavedPolicies:
    """Return the policies that a run has saved so far."""
    return policies_in(found.folder)


def policies_in(folder: Path) -> SavedPolicies:
    """Return the policies that the run of another tool in a folder has saved so far."""
    files, folders = _entries(folder)
    best = next((folder / name for name in ("best_model.zip",) if name in files), None)
    if best is None and "best_model" in folders:
        inner = folder / "best_model" / "best_model.zip"
        best = inner if inner.is_file() else None
    final = None
    settings = _zoo_settings(folder, folders)
    if settings is not None and f"{settings.name}.zip" in files:
        final = folder / f"{settings.name}.zip"
    rungs = [(int(match[1]), folder / name) for name in files if (match := _STEPS.search(name))]
    return SavedPolicies(best, final, tuple(sorted(rungs)))


def settings_folder(folder: Path) -> Path | None:
    """Return the folder of the settings of the RL-Zoo run in a folder; None where there is no such run."""
    return _zoo_settings(folder, _entries(folder)[1])


def _entries(folder: Path) -> tuple[list[str], list[str]]:
    files: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.name == "__pycache__":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_file():
                    files.append(entry.name)
    except OSError:
        # Gone meanwhile, or not ours to read.
        pass
    return sorted(files), sorted(folders)


def _run_in(folder: Path, files: list[str], folders: list[str]) -> FoundRun | None:
    progress = folder / PROGRESS if PROGRESS in files else None
    monitors = [name for name in files if name.endswith(MONITOR)]
    # Copies that are only evaluated on count no training steps.
    monitors = [name for name in monitors if not _OTHER_COPIES.search(name.removesuffix(MONITOR))] or monitors
    events = tuple(folder / name for name in files if name.startswith(EVENTS))
    evaluations = folder / EVALUATIONS if EVALUATIONS in files else None
    settings = _zoo_settings(folder, folders)
    if settings is None and progress is None and not monitors and not events and evaluations is None:
        return None
    tool, name = _named(folder, settings, is_of_sb3=bool(progress or monitors or evaluations))
    return FoundRun(
        folder=folder,
        tool=tool,
        name=name,
        progress=progress,
        monitors=tuple(folder / one for one in monitors),
        # The logger writes the same into both.
        events=events if progress is None else (),
        evaluations=evaluations,
        settings=settings,
    )


def _zoo_settings(folder: Path, folders: list[str]) -> Path | None:
    """Return the folder of the settings of an RL-Zoo run, which is named like the run without its number."""
    match = _ZOO.fullmatch(folder.name)
    if match is None or match["env"] not in folders:
        return None
    inner = folder / match["env"]
    return inner if (inner / CONFIG).is_file() or (inner / ARGUMENTS).is_file() else None


def _named(folder: Path, settings: Path | None, *, is_of_sb3: bool) -> tuple[str, Facts]:
    if settings is not None:
        algorithm = folder.parent.name.lower()
        return "zoo", Facts(settings.name.replace("__", "/"), algorithm if algorithm in ALGORITHMS else "")
    match = _CLEANRL.fullmatch(folder.name)
    if match is not None and not is_of_sb3:
        began = float(match["time"])
        return "cleanrl", Facts(match["env"], _algorithm(match["experiment"]), int(match["seed"]), began=began)
    parts = folder.parts[::-1][:4]
    env_id = next((found[0] for part in parts if (found := _ENVIRONMENT.search(part))), "")
    numbered = _NUMBERED.fullmatch(folder.name)
    algorithm = _algorithm(numbered["name"] if numbered else folder.name)
    seed = next((int(found[1]) for part in parts if (found := _SEED.search(part))), None)
    is_of_sb3 = is_of_sb3 or (numbered is not None and numbered["name"].lower() in ALGORITHMS)
    return ("sb3" if is_of_sb3 else "tensorboard"), Facts(env_id.replace("__", "/"), algorithm, seed)


def _algorithm(name: str) -> str:
    """Return the algorithm that a name begins with: `ppo` of `ppo_continuous_action`; empty where it is none."""
    name = name.lower()
    if name in ALGORITHMS:
        return name
    first = name.partition("_")[0]
    return first if first in ALGORITHMS else ""
