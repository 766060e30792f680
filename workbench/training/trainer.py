"""The loop of a run, and all that happens between two iterations: metrics, checkpoints, requests, stopping."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from workbench.runs import EventWriter, RequestInbox, RunState
from workbench.simulation import Episode
from workbench.specs import RunSpec
from workbench.training.clock import Clock
from workbench.training.keeper import CheckpointKeeper
from workbench.training.learner import Learner
from workbench.training.log import RunLog
from workbench.training.metrics import EpisodeMetrics
from workbench.training.requests import NOT_BUILT, STOP_REQUEST, StopSignal
from workbench.training.stopping import Progress, StopRule
from workbench.training.words import grouped

Ending = tuple[RunState, str]
"""`finished` or `stopped`, and why in words."""


class EpisodeSource(Protocol):
    """A vector environment that keeps the record of every whole episode."""

    def drain_episodes(self) -> list[Episode]:
        """Return the episodes that ended since the last call."""
        ...


class Trainer:
    """Trains until a criterion is met or someone asks to stop.

    Args:
        spec: What the run was asked to do.
        learner: What learns; not started yet.
        venv: Where its episodes are recorded.
        keeper: What keeps its checkpoints.
        events: The run's event stream.
        inbox: Requests to the run.
        log: What a person reads.
        stop: Tells when a signal asked to stop.
        enter: Called with every state the run enters.
    """

    def __init__(
        self,
        spec: RunSpec,
        learner: Learner,
        venv: EpisodeSource,
        keeper: CheckpointKeeper,
        *,
        events: EventWriter,
        inbox: RequestInbox,
        log: RunLog,
        stop: StopSignal,
        enter: Callable[[RunState], None],
    ) -> None:
        self._spec = spec
        self._learner = learner
        self._venv = venv
        self._keeper = keeper
        self._events = events
        self._inbox = inbox
        self._log = log
        self._stop = stop
        self._enter = enter
        self._rule = StopRule(spec)
        self._metrics = EpisodeMetrics()
        self._clock = Clock(is_detailed=spec.profile)
        self._started = time.monotonic()

    @property
    def wall_s(self) -> float:
        """Seconds of active training."""
        return time.monotonic() - self._started

    def context(self) -> Mapping[str, Any]:
        """Return what every row of metrics carries besides its values."""
        return {"wall_s": self.wall_s, "episodes": self._metrics.episodes, "iteration": self._learner.iteration}

    def run(self) -> Ending:
        """Train to the end."""
        if self._spec.profile:
            for method in ("step_arrays", "step_wait"):
                self._clock.watch(self._venv, method, "collection/environment")
            self._clock.watch(self._learner.model.logger, "dump", "idle/metrics")
        self._save(evaluate=self._spec.eval_every > 0)
        self._write_metrics()
        self._enter(RunState.RUNNING)
        ending = self._loop()
        if self._spec.profile:
            for line in self._clock.table(self._learner.steps):
                self._log.say(line)
        return ending

    def _loop(self) -> Ending:
        while True:
            goal = self._rule.reason(self._progress())
            if goal is not None:
                return self._finish(goal)
            asked = self._answer_requests() or self._stop.reason
            if asked is not None:
                return self._break_off(asked)
            self._iterate()

    def _iterate(self) -> None:
        learner = self._learner
        learner.iterate()
        self._keeper.require_folder()
        self._clock.add("collection", learner.rollout_s)
        self._clock.add("update", learner.update_s)
        episodes = self._venv.drain_episodes()
        for episode in episodes:
            self._rule.add_episode(episode.ret)
        self._record(self._metrics.fold(episodes))
        # Scores count here and nowhere else, so that a run does not depend on how fast an evaluation was.
        if self._keeper.is_due and self._take_evaluation():
            self._save()
        learner.record_progress()
        self._write_metrics()
        self._log.say(self._line())

    def _finish(self, goal: str) -> Ending:
        # What the run ends with is scored, however rarely checkpoints are.
        scores = self._spec.eval_every > 0
        known = self._keeper.evaluation
        self._take_evaluation()
        is_current = self._keeper.is_current
        if not is_current:
            self._save(evaluate=scores)
        elif scores and not self._keeper.is_scored:
            self._evaluate()
        if self._take_evaluation():
            self._discard_surplus()
        if not is_current or self._keeper.evaluation is not known:
            self._write_metrics()
        return RunState.FINISHED, goal

    def _break_off(self, asked: str) -> Ending:
        # Whoever stops a run wants its slot back: the last checkpoint is saved, and no score is waited for.
        self._enter(RunState.STOPPING)
        if not self._keeper.is_current:
            self._save(evaluate=False)
        return RunState.STOPPED, asked

    def _save(self, *, evaluate: bool | None = None) -> None:
        """Write a checkpoint and begin to evaluate it: where the spec says so, unless told."""
        with self._clock.spending("checkpoint"):
            path = self._keeper.write()
        self._log.say(f"{path.name} written")
        if self._keeper.is_evaluation_due if evaluate is None else evaluate:
            self._evaluate()
        self._discard_surplus()

    def _evaluate(self) -> None:
        with self._clock.spending("evaluation"):
            self._keeper.begin_evaluation()

    def _take_evaluation(self) -> bool:
        """Let the scores count that are due, and return whether none is due any more: a stop waits for none."""
        with self._clock.spending("evaluation"):
            outcome = self._keeper.take_evaluation(self._is_asked_to_stop)
        if outcome is None:
            return self._keeper.scorer.pending is None
        scores, name = outcome.evaluation, outcome.checkpoint.name
        if scores is None:
            self._log.say(f"evaluation of {name} failed: {outcome.failure}")
            return True
        self._rule.add_evaluation(scores.mean)
        self._record(
            {
                "eval/mean_return": scores.mean,
                "eval/std_return": scores.std,
                "eval/lower_bound": scores.lower_bound,
                "eval/mean_length": scores.mean_length,
            }
        )
        self._log.say(
            f"evaluation of {name}  return {grouped(scores.mean)} ± {grouped(scores.std)}"
            f" over {len(scores.returns)} episodes  {_counts(scores.endings)}"
        )
        return True

    def _is_asked_to_stop(self) -> bool:
        return self._stop.reason is not None or self._inbox.holds("stop")

    def _discard_surplus(self) -> None:
        for checkpoint in self._keeper.discard_surplus():
            self._log.say(f"{checkpoint.path.name} deleted, beyond the last {self._spec.keep_last}")

    def _answer_requests(self) -> str | None:
        """Carry out what was asked for, and return why to stop where that was."""
        asked = None
        for request in self._inbox.take():
            if request.verb == "stop":
                asked = STOP_REQUEST
                self._inbox.answer(request, ok=True)
            elif request.verb == "checkpoint":
                if not self._keeper.is_current:
                    self._save(evaluate=False)
                self._inbox.answer(request, ok=True)
            elif request.verb in NOT_BUILT:
                self._inbox.answer(request, ok=False, reason=f"{request.verb} is not built yet")
            else:
                self._inbox.answer(request, ok=False, reason=f"a run understands no {request.verb}")
        return asked

    def _progress(self) -> Progress:
        learner = self._learner
        return Progress(
            steps=learner.steps, lifetime_steps=learner.steps, iteration=learner.iteration, wall_s=self.wall_s
        )

    def _record(self, metrics: Mapping[str, float]) -> None:
        for name, value in metrics.items():
            self._learner.model.logger.record(name, value)

    def _write_metrics(self) -> None:
        self._record({"time/total_timesteps": self._learner.steps})
        self._record(self._clock.lap())
        self._learner.model.logger.dump(self._learner.steps)

    def _line(self) -> str:
        learner = self._learner
        mean = learner.mean_return
        told = "" if mean is None else f"  return {grouped(mean)}"
        return f"iteration {grouped(learner.iteration)}  {grouped(learner.steps)} steps{told}"


def _counts(endings: Mapping[str, int]) -> str:
    return ", ".join(f"{count} × {reason}" for reason, count in endings.items())
