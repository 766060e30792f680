"""The clips of a montage: those that exist, and making those that are missing.

A clip is a recording of one checkpoint. It is looked for among the recordings and the cached clips, by their
sidecars, and in the checkpoint itself; what is missing is filmed by `workbench record`, which lowers its own priority,
and cached, so that the next montage finds it.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from workbench.errors import NotFoundError, WorkFailedError
from workbench.montage.ffmpeg import FilmInfo, probe
from workbench.montage.labels import steps_text
from workbench.runs.recordings import JobState, Sidecar, job_alive, read_sidecar, sidecar_path
from workbench.storyboard.arrangement import Take
from workbench.storyboard.finding import CHECKPOINT_FILM, Wanted, find_leftovers, find_recorded
from workbench.storyboard.selection import Shown
from workbench.storyboard.trial_labels import is_of_rllib

POLL_S = 0.05
STOP_PATIENCE_S = 3.0


@dataclass(frozen=True)
class Clip:
    """A film of one checkpoint."""

    shown: Shown
    film: Path
    info: FilmInfo
    sidecar: Sidecar | None
    made: bool
    """Whether it was filmed for this montage."""

    @property
    def return_(self) -> float | None:
        """Mean return of the filmed episodes."""
        returns = [] if self.sidecar is None else [item.return_ for item in self.sidecar.episodes]
        known = [value for value in returns if value is not None]
        return math.fsum(known) / len(known) if known else None

    @property
    def ending(self) -> str | None:
        """Why its one episode ended."""
        episodes = () if self.sidecar is None else self.sidecar.episodes
        return episodes[0].reason if len(episodes) == 1 else None


def common_seed(clips: Sequence[Clip]) -> int | None:
    """Return the seed of all clips; None where they differ or one is unknown."""
    seeds = {None if clip.sidecar is None else clip.sidecar.seed for clip in clips}
    return seeds.pop() if len(seeds) == 1 else None


RecordCommand = Callable[[Shown, Wanted, Path], Sequence[str]]
"""Returns the words that film a checkpoint into a file."""


def record_command(project_root: Path) -> RecordCommand:
    """Return how this interpreter films a checkpoint of a project."""

    def words(shown: Shown, wanted: Wanted, film: Path) -> list[str]:
        width, height = wanted.size
        start = [sys.executable, "-m", "workbench", "--project", str(project_root), "record", str(shown.path)]
        how = ["--episodes", str(wanted.episodes), "--seed", str(wanted.seed), "--size", f"{width}x{height}"]
        how += ["--stochastic"] if wanted.stochastic else []
        return [*start, *how, "--theme", wanted.theme, "-o", str(film)]

    return words


def find_clips(recordings: Path, takes: Sequence[Take], wanted: Wanted, *, own: str | None = None) -> dict[Take, Path]:
    """Return the films that exist; those missing are left out.

    Where nothing was asked for in particular and every checkpoint holds a film of the same size that training made,
    those are taken rather than filming any; and whatever their sizes, where none can be filmed.

    Args:
        recordings: Where recordings and cached clips lie.
        takes: What is shown.
        wanted: What all have in common but the seed.
        own: The name of the film in the checkpoints that is shown, and no other.
    """
    chosen = list(dict.fromkeys(take.shown for take in takes))
    if own is not None:
        left = find_leftovers(chosen, own)
        return {take: left[take.shown] for take in takes if take.shown in left}
    found: dict[Take, Path] = {}
    for seed in dict.fromkeys(take.seed for take in takes):
        films = find_recorded(recordings, chosen, replace(wanted, seed=seed))
        found |= {take: films[take.shown] for take in takes if take.seed == seed and take.shown in films}
    if len(found) < len(takes) and not wanted.exact:
        left = find_leftovers(chosen)
        if len(left) == len(chosen) and (_are_alike(left.values()) or not any(map(can_be_filmed, takes))):
            return {take: left[take.shown] for take in takes}
    return found


def can_be_filmed(take: Take) -> bool:
    """Tell whether there is a policy to film: checkpoints may be gone, and RLlib's open nowhere else."""
    return take.shown.path.is_dir() and not is_of_rllib(take.shown.path)


def missing_clip(take: Take, wanted: Wanted, *, own: str | None = None) -> NotFoundError:
    """Return the error for a checkpoint without a film that may not be made, or can no longer be made."""
    shown = take.shown
    which = (
        f"no recording shows the checkpoint at {steps_text(shown.steps)} steps of {shown.run.directory.name} "
        f"with seed {take.seed} at {wanted.size[0]}x{wanted.size[1]}"
    )
    if not shown.path.is_dir():
        return NotFoundError(f"{shown.path} is gone, and {which}.", hint="Choose among the checkpoints that are left.")
    film = shown.path / (own or CHECKPOINT_FILM)
    if not can_be_filmed(take):
        return NotFoundError(
            f"{film} is missing, and the checkpoint is RLlib's, which cannot be filmed here.",
            hint="Film it where it was trained, or name a film it has: --video-name FILE.",
        )
    if own is not None:
        return NotFoundError(f"{film} is missing.", hint="Leave out --no-generate-missing to film the checkpoint.")
    return NotFoundError(f"{film} is missing, and {which}.", hint="Leave out --no-generate-missing to film it.")


def _are_alike(films: Iterable[Path]) -> bool:
    try:
        return len({(info.size, info.fps) for info in map(probe, films)}) == 1
    except WorkFailedError:
        return False


@dataclass
class _Filming:
    film: Path
    shown: Shown
    child: subprocess.Popen[bytes]
    errors: IO[bytes]
    progress: float = 0.0
    whole: bool = False

    def look(self) -> bool:
        """Take in how far the recorder is and return whether it ended."""
        ended = self.child.poll() is not None
        sidecar = read_sidecar(self.film)
        if sidecar is not None and sidecar.job is not None:
            self.progress = sidecar.job.progress
        return ended

    def finish(self) -> None:
        """Check what an ended recorder left.

        Raises:
            WorkFailedError: It failed; its last words are in the message.
        """
        self.errors.seek(0)
        said = [line.strip() for line in self.errors.read().decode(errors="replace").splitlines() if line.strip()]
        if self.child.returncode != 0 or not self.film.is_file():
            why = " / ".join(said[-3:]).removeprefix("workbench: ") or f"it ended with {self.child.returncode}"
            raise WorkFailedError(f"the checkpoint {self.shown.path} could not be filmed: {why}")
        self.progress, self.whole = 1.0, True

    def end(self) -> None:
        """End the recorder and whatever it started, and leave no half clip."""
        for number in (signal.SIGINT, signal.SIGKILL):
            if self.child.poll() is not None:
                break
            with suppress(ProcessLookupError):
                os.killpg(self.child.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self.child.wait(STOP_PATIENCE_S)
        self.errors.close()
        if not self.whole:
            # Only what is its own: another montage may be filming the same clip.
            sidecar = read_sidecar(self.film)
            is_own = sidecar is None or sidecar.job is None or sidecar.job.pid == self.child.pid
            own = (self.film, sidecar_path(self.film)) if is_own else ()
            for path in (*own, *self.film.parent.glob(f".{self.film.stem}.{self.child.pid}.part*")):
                path.unlink(missing_ok=True)


def film_clips(
    jobs: Sequence[tuple[Take, Path]],
    command: Callable[[Take, Path], Sequence[str]],
    *,
    on_progress: Callable[[float, int], None] = lambda done, finished: None,
    at_once: int | None = None,
) -> None:
    """Film checkpoints, some side by side; all or an error, and no recorder outlives this call.

    What another montage films at this moment is waited for, and what it has filmed meanwhile is taken.

    Args:
        jobs: What is filmed, and into which file.
        command: Returns the words that film one.
        on_progress: Called with how many clips are done, parts counted, and how many are finished.
        at_once: How many recorders run side by side; half the processors, up to four.

    Raises:
        WorkFailedError: A recorder failed; clips that were finished stay.
    """
    limit = at_once or max(1, min(4, (os.cpu_count() or 1) // 2))
    waiting, running, finished = list(jobs), list[_Filming](), 0
    try:
        while waiting or running:
            states = {film: _state(film) for _, film in waiting}
            made = [job for job in waiting if states[job[1]] == "done"]
            waiting = [job for job in waiting if job not in made]
            finished += len(made)
            for job in [job for job in waiting if states[job[1]] != "running"][: limit - len(running)]:
                waiting.remove(job)
                take, film = job
                running.append(_start(take.shown, film, command(take, film)))
            for filming in [item for item in running if item.look()]:
                filming.finish()
                filming.end()
                running.remove(filming)
                finished += 1
            on_progress(finished + math.fsum(item.progress for item in running), finished)
            if running or waiting:
                time.sleep(POLL_S)
    finally:
        for filming in running:
            filming.end()


def _state(film: Path) -> JobState | None:
    """Return how far another recorder is with a film; None where it is to be filmed."""
    sidecar = read_sidecar(film)
    if sidecar is None or sidecar.job is None:
        return None
    if sidecar.job.state == "done":
        return "done" if film.is_file() else None
    return "running" if sidecar.job.state == "running" and job_alive(sidecar.job) else None


def _start(shown: Shown, film: Path, words: Sequence[str]) -> _Filming:
    film.parent.mkdir(parents=True, exist_ok=True)
    film.unlink(missing_ok=True)
    sidecar_path(film).unlink(missing_ok=True)
    errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by `end`, however filming ends)
    # A session of its own: Ctrl-C reaches this process, which then ends the recorder and its encoder together.
    child = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
    )
    return _Filming(film=film, shown=shown, child=child, errors=errors)
