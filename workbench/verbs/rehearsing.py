"""What a dry run measures, and how it tells it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.formatting import amount, duration, percent, size

if TYPE_CHECKING:
    from workbench.specs import RunSpec

TRAINING_S = 5.5
"""When measuring is to be over, processes to be started included."""
LATE_S = 8.0
"""Nothing is waited for longer, so that the answer comes within ten seconds, the start of the command included."""
ESTIMATE_S = 0.5
"""So long before that, memory and disk are enough."""

Measured = dict[str, Any]
"""The fields of `workbench.training.rehearsal.Rehearsal`; `reason` instead where nothing could be measured."""


@dataclass
class Rehearsals:
    """Measures one spec after another, as long as there is time."""

    _began: float = field(default_factory=time.monotonic)

    def measure(self, spec: RunSpec, environment: dict[str, Any], start: tuple[int, int] = (0, 0)) -> Measured:
        """Train a spec for a moment, in a process of its own, and return what the whole would take.

        Args:
            spec: What would be trained.
            environment: Where it comes from, as `run.json` has it.
            start: Steps and iterations that were done before.
        """
        spent = time.monotonic() - self._began
        if spent > TRAINING_S / 2:
            return {"reason": "no time was left; name this environment alone"}
        now, left = time.time(), LATE_S - spent
        request = {
            "spec": spec.model_dump(mode="json"),
            "environment": environment,
            "ends": now + TRAINING_S - spent,
            "late": now + left - ESTIMATE_S,
            "start": list(start),
        }
        try:
            done = subprocess.run(
                [sys.executable, "-m", "workbench.training.rehearsal"],
                input=json.dumps(request),
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=left,
                check=False,
            )
            answer: Measured = json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            return {"reason": f"nothing came within {duration(LATE_S)}; this machine is busy"}
        except ValueError:
            said = done.stderr.strip().splitlines()
            return {"reason": said[-1] if said else f"the process ended with code {done.returncode}"}
        return answer


def lines_of(measured: Measured) -> list[str]:
    """Return what was measured as a person reads it."""
    if "reason" in measured:
        return [f"not measured: {measured['reason']}"]
    share = measured["collection_share"]
    lines = []
    if share is None:
        lines.append("speed: none came in time; this machine is busy, or one iteration is long")
    else:
        lines.append(
            f"speed: {amount(measured['steps_per_s'])} steps/s now and here,"
            f" {percent(share)} of it rollouts, {percent(1 - share)} updates"
        )
    if share is None:
        lines.append("time: not known without a speed")
    elif measured["seconds"] is None:
        lines.append("time: no budget of steps says when it ends")
    else:
        lines.append(f"time: {duration(measured['seconds'])} at most, evaluations and checkpoints left out")
    replay = measured["replay_bytes"]
    of = f", {size(replay)} of it for replay" if replay else ""
    least = "at least " if share is None else ""
    lines.append(f"memory: {least}{size(measured['memory_bytes'])}{of}")
    each = f"{size(measured['checkpoint_bytes'])} each"
    if measured["checkpoints"] is None:
        lines.append(f"disk: {least}{each} for checkpoints")
    else:
        lines.append(f"disk: {least}{size(measured['disk_bytes'])} for {measured['checkpoints']} checkpoints, {each}")
    return lines
