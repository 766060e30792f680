"""A dry run: what a run would take, measured in a process of its own, and how that is told.

The process trains for a few seconds at low priority and throws it away; the app goes on meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import signal
import sys
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from workbench.formatting import amount, clock, digits, duration, eta, number, percent, plural, size
from workbench.runs.rehearsal import Rehearsal

if TYPE_CHECKING:
    from workbench.specs import RunSpec

TRAINING_S = 5.5
"""When measuring is to be over, the start of the process included."""
ESTIMATE_S = 8.5
"""From when on memory and disk are enough."""
LIMIT_S = 9.5
"""What has not answered by then is ended."""
REHEARSAL = (sys.executable, "-m", "workbench.training.rehearsal")


class Rehearse(Protocol):
    """Measures; tests have one that starts no process."""

    def __call__(
        self, spec: RunSpec, environment: Mapping[str, Any], start: tuple[int, int]
    ) -> Awaitable[Rehearsal | str]:
        """Return what was measured, or why nothing was."""
        ...


async def rehearse(spec: RunSpec, environment: Mapping[str, Any], start: tuple[int, int]) -> Rehearsal | str:
    """Train a spec for a moment and return what the whole would take, or why that is not known.

    Cancelling ends the process.

    Args:
        spec: What would be trained.
        environment: Where it comes from, as `run.json` has it.
        start: Steps and iterations that were done before.
    """
    request = {
        "spec": spec.model_dump(mode="json"),
        "environment": dict(environment),
        "ends": time.time() + TRAINING_S,
        "late": time.time() + ESTIMATE_S,
        "start": list(start),
    }
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *REHEARSAL, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
    except OSError as error:
        return f"no process could be started: {error.strerror or error}"
    try:
        answer, said = await asyncio.wait_for(process.communicate(json.dumps(request).encode()), LIMIT_S)
    except TimeoutError:
        return f"nothing came within {duration(LIMIT_S)}; this machine is busy, or one iteration is long"
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    try:
        told = json.loads(answer)
        return str(told["reason"]) if "reason" in told else Rehearsal.of(told)
    except (ValueError, LookupError, TypeError):
        words = said.decode(errors="replace").strip().splitlines()
        return words[-1] if words else f"the process ended with code {process.returncode}"


@dataclass(frozen=True)
class Circumstances:
    """What a forecast rests on beside the measurement."""

    runs: int
    """How many are launched."""
    places: int
    """How many run at once here."""
    free: int
    """How many of these are free now."""
    now: float
    """Unix seconds."""
    reference: Mapping[str, Any] | None = None
    """What the recipe's authors measured with its algorithm: `return`, `steps`."""


def forecast(found: Rehearsal, around: Circumstances) -> list[str]:
    """Return what launching would take, one thing in each phrase, the most important first."""
    share = found.collection_share
    if found.steps_per_s is None or share is None:
        timing: list[str] = ["no speed came in time: this machine is busy, or one iteration is long"]
    else:
        speed = f"{amount(found.steps_per_s)} steps/s: {percent(share)} rollouts, {percent(1 - share)} updates"
        timing = [speed, *_time(found, around)]
    # Nothing has learnt: what an optimiser keeps is missing.
    least = "at least " if share is None else ""
    memory = size(found.memory_bytes * min(around.runs, around.places))
    return [
        *timing,
        *_reference(found, around),
        *([] if found.iterations is None else [plural(found.iterations, "iteration")]),
        f"{least}{memory} memory{_times(around, found.memory_bytes)}",
        *(f"{least}{each}" for each in _disk(found, around)),
    ]


def _time(found: Rehearsal, around: Circumstances) -> Sequence[str]:
    if found.seconds is None:
        return ["no budget of steps says when it ends"]
    each = f"{duration(found.seconds)}{' each' if around.runs > 1 else ' at most'}"
    beside = f", {min(around.runs, around.places)} side by side" if around.runs > 1 else ""
    if not around.free:
        return [f"{each}{beside}, when its turn comes"]
    turns = math.ceil(around.runs / max(1, min(around.free, around.places)))
    return [f"{each}{beside}, done by {clock(around.now + turns * found.seconds)}"]


def _times(around: Circumstances, each: int) -> str:
    together = min(around.runs, around.places)
    return f" ({together} × {size(each)})" if together > 1 else ""


def _disk(found: Rehearsal, around: Circumstances) -> Sequence[str]:
    one = size(found.checkpoint_bytes)
    replay = f", replay {size(found.replay_bytes)}" if found.replay_bytes else ""
    if found.disk_bytes is None or found.checkpoints is None:
        return [f"{one} disk a checkpoint{replay}"]
    runs = f" × {around.runs} runs" if around.runs > 1 else ""
    return [f"{size(found.disk_bytes * around.runs)} disk ({digits(found.checkpoints)} × {one}{replay}{runs})"]


def _reference(found: Rehearsal, around: Circumstances) -> Sequence[str]:
    told = around.reference or {}
    steps, reached = told.get("steps"), told.get("return")
    speed = found.steps_per_s or 0.0
    if not isinstance(steps, int | float) or not isinstance(reached, int | float) or speed <= 0:
        return []
    likely = eta(steps / speed)
    return [f"the reference reached {number(reached)} at {amount(steps)}: perhaps {likely}"]
