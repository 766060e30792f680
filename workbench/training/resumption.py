"""Where a run goes on that ended before its time, and what its folder must look like for that."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import WorkFailedError
from workbench.runs import CheckpointDirectory, EventTail, RunDirectory
from workbench.runs.events import Event
from workbench.runs.lineage import start_of
from workbench.runs.resuming import RESUME_NAME
from workbench.training import replay_log
from workbench.training.going_back import standing
from workbench.training.outputs import rewrite_progress
from workbench.training.plain import unpack
from workbench.training.retention import discard

RESUME_FORMAT = 1

FOLDED = ("metrics", "episode", "evaluation", "checkpoint")
"""Events that a resumed run writes again beyond the checkpoint it goes on from."""


@dataclass(frozen=True)
class Place:
    """A checkpoint from which a run can go on."""

    checkpoint: CheckpointDirectory
    state: dict[str, Any]
    """What its `resume.pt` holds, arrays as tensors."""
    events: list[Event]
    """The folded stream up to it."""
    passed: tuple[str, ...] = ()
    """Newer checkpoints from which it cannot go on, and why."""
    came_back: Event | None = None
    """How the run came back to it because of an anomaly; None where it did not."""

    @property
    def stirred(self) -> int:
        """By which number chance is moved on from what the checkpoint holds; 0 for not at all."""
        return 0 if self.came_back is None else int(self.came_back["stirred"])

    @property
    def wall_s(self) -> float:
        """Seconds of active training by then, what was done in vain among them."""
        told = None if self.came_back is None else self.came_back.get("wall_s")
        return float(self.state["trainer"]["wall_s"] if told is None else told)

    @property
    def rows_told(self) -> int:
        """How many rows of metrics the stream has."""
        return sum(event["kind"] == "metrics" for event in self.events)

    @property
    def is_announced(self) -> bool:
        """Whether the stream tells of the checkpoint."""
        return any(event["kind"] == "checkpoint" and event.get("path") == self.name for event in self.events)

    @property
    def evaluation(self) -> Event | None:
        """The scores of the checkpoint, where the stream has them."""
        scores = [event for event in self.events if event["kind"] == "evaluation"]
        return next((event for event in reversed(scores) if event.get("checkpoint") == self.name), None)

    @property
    def name(self) -> str:
        """The checkpoint's name."""
        return self.checkpoint.path.name


def find_place(run: RunDirectory) -> Place | None:
    """Return the newest checkpoint from which a run can go on; None for a run that has no checkpoint at all.

    Raises:
        WorkFailedError: It has checkpoints, and can go on from none of them without losing everything.
    """
    written = run.checkpoints()
    passed: list[str] = []
    for checkpoint in reversed(written):
        try:
            state = _read(run, checkpoint)
        except (OSError, ValueError, LookupError, TypeError) as error:
            passed.append(f"{checkpoint.path.name} {_why(error)}")
            continue
        if passed and checkpoint.steps == start_of(run.record())[0]:
            break
        steps = checkpoint.steps
        return Place(checkpoint, state, folded(run, steps), tuple(passed), standing(run, steps))
    if not written:
        return None
    raise WorkFailedError(f"the run cannot go on from any of its trained checkpoints: {'; '.join(passed)}.")


def folded(run: RunDirectory, steps: int) -> list[Event]:
    """Return the events of a run up to a step that were not dropped by an earlier resumption."""
    kept: list[Event] = []
    for event in EventTail(run.events_path).poll():
        if event["kind"] == "resumed":
            kept = _until(kept, event["from_steps"])
        elif event["kind"] in FOLDED:
            kept.append(event)
    return _until(kept, steps)


def tidy(run: RunDirectory, place: Place) -> None:
    """Make the folder what it was when the checkpoint was sealed; the event stream stays as it is.

    Raises:
        OSError: The disk is full or failed.
    """
    for checkpoint in run.checkpoints():
        if checkpoint.steps > place.checkpoint.steps:
            discard(checkpoint)
    for pattern in (".checkpoint_*.part", ".checkpoint_*.gone"):
        for left in run.path.glob(pattern):
            shutil.rmtree(left, ignore_errors=True)
    for name in ("latest", "best", "progress.csv"):
        for left in run.path.glob(f".{name}.*.part"):
            left.unlink(missing_ok=True)
    run.set_latest(place.name)
    best = place.state["keeper"]["best_name"]
    if best and (run.path / best).is_dir():
        run.set_best(best)
    else:
        (run.path / "best").unlink(missing_ok=True)
    if place.state["replay"] is not None:
        replay_log.drop_after(run.path / replay_log.FOLDER, place.state["replay"]["rows"])
    rows = [event.get("values") or {} for event in place.events if event["kind"] == "metrics"]
    rewrite_progress(run.path / "progress.csv", rows)


def _until(events: list[Event], steps: int) -> list[Event]:
    # Scores belong to the step of their checkpoint, and were taken in at a later one.
    return [event for event in events if int(event.get("taken") or event["steps"]) <= steps]


def _read(run: RunDirectory, checkpoint: CheckpointDirectory) -> dict[str, Any]:
    path: Path = checkpoint.path / RESUME_NAME
    state: dict[str, Any] = unpack(path)
    if state["format"] != RESUME_FORMAT:
        raise ValueError(f"was written in format {state['format']}, not {RESUME_FORMAT}")
    if state["replay"] is not None:
        replay_log.find_rows(run.path / replay_log.FOLDER, state["replay"])
    return state


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"has no {RESUME_NAME}"
    return f"cannot be used: {error}"
