"""Scores of checkpoints that someone asked for while the run trains.

They are played beside the training and told when they come, and count for nothing that the run does: neither for
which checkpoint is best nor for a stop, for a run must not depend on who looks at it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import RequestError
from workbench.policies.honest_best import scores_of
from workbench.policies.rescoring import BEGUN
from workbench.runs import EventWriter, Request, RunDirectory
from workbench.runs.steering import find_checkpoint
from workbench.specs import RunSpec
from workbench.training.scoring_process import ScoringProcess
from workbench.training.words import grouped

POLL_S = 0.1
TOO_SOON = "the run ended before the scores came"


@dataclass(frozen=True)
class _Job:
    request: str
    checkpoint: Path
    steps: int


class Rescorer:
    """Scores checkpoints on request, one at a time, in a process that it starts when one is needed.

    Args:
        run: The run.
        spec: What it was asked to do.
        events: Its event stream.
    """

    def __init__(self, run: RunDirectory, spec: RunSpec, events: EventWriter) -> None:
        self._run = run
        self._spec = spec
        self._events = events
        self._process = ScoringProcess(run.log_path)
        self._jobs: deque[_Job] = deque()

    @property
    def checkpoints(self) -> set[Path]:
        """The folders that are being scored or will be; they must stay."""
        return {job.checkpoint for job in self._jobs}

    def begin(self, request: Request, beside: Path | None) -> str:
        """Take a request on and return what is done about it, in words.

        Args:
            request: What was asked.
            beside: The checkpoint that the run itself has scored just now.

        Raises:
            RequestError: There is no such checkpoint, or it is being scored.
        """
        steps = request.args.get("steps")
        if steps is not None and type(steps) is not int:
            raise RequestError(f"steps is a whole number, not {steps!r}")
        checkpoint = find_checkpoint(self._run, steps)
        if checkpoint.path in {beside, *self.checkpoints}:
            raise RequestError(f"{checkpoint.path.name} is being scored already")
        self._jobs.append(_Job(request.id, checkpoint.path, checkpoint.steps))
        if len(self._jobs) == 1:
            self._ask()
        return BEGUN.format(checkpoint=checkpoint.path.name, episodes=self._spec.eval_episodes)

    def poll(self, timeout_s: float = 0.0) -> list[str]:
        """Tell of the scores that have come, and return lines for the log."""
        lines = []
        while self._jobs and (answer := self._process.answer(timeout_s)) is not None:
            lines.append(self._tell(self._jobs.popleft(), answer))
            if self._jobs:
                self._ask()
            else:
                # Nothing is kept in memory for a wish that may never come again.
                self._process.close()
        return lines

    def finish(self, give_up: Callable[[], bool]) -> list[str]:
        """Wait for all that was asked for, and return lines for the log."""
        lines = []
        while self._jobs and not give_up():
            lines += self.poll(POLL_S)
        return lines

    def close(self) -> None:
        """Give up what has not come."""
        self._process.close()
        # Where the disk is full nobody can be told.
        with suppress(OSError):
            while self._jobs:
                self._tell(self._jobs.popleft(), {"ok": False, "reason": TOO_SOON})

    def _ask(self) -> None:
        job, spec = self._jobs[0], self._spec
        request = {"checkpoint": str(job.checkpoint), "episodes": spec.eval_episodes, "seed": spec.eval_seed}
        self._process.ask({**request, "again": job.request})

    def _tell(self, job: _Job, answer: dict[str, Any]) -> str:
        name = job.checkpoint.name
        told = scores_of(answer["scores"]) if answer["ok"] else {"failure": answer["reason"]}
        # The stream goes on at the step where the run is, whatever the scores are of.
        self._events.append("scores", id=job.request, checkpoint=name, of_steps=job.steps, **told)
        if "failure" in told:
            return f"{name} was asked to be scored, and that failed: {told['failure']}"
        mean, std, episodes = grouped(told["mean_return"]), grouped(told["std_return"]), len(told["returns"])
        return f"{name} scored on request  return {mean} ± {std} over {episodes} episodes from {told['seed']}"
