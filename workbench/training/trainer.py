"""The loop of a run, and all that happens between two iterations: metrics, checkpoints, requests, stopping."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from workbench.errors import ProblemsError, RequestError
from workbench.policies.checkpoint import checkpoint_name
from workbench.runs import Request, RequestInbox, RunDirectory, RunState
from workbench.simulation import Episode
from workbench.specs import Done, RunSpec
from workbench.training.clock import Clock
from workbench.training.honest_best import HonestBest
from workbench.training.keeper import CheckpointKeeper
from workbench.training.learner import Learner
from workbench.training.log import RunLog
from workbench.training.metrics import EpisodeMetrics
from workbench.training.pausing import Enter, Pause
from workbench.training.requests import STOP_REQUEST, StopSignal
from workbench.training.rescoring import Rescorer
from workbench.training.resumption import Place
from workbench.training.simulator_warnings import SimulatorWarnings
from workbench.training.steering import Steering, in_words
from workbench.training.stopping import Progress, StopRule
from workbench.training.watch import Watch
from workbench.training.words import grouped

ROW, BOUNDARY, ENDING = "row", "boundary", "ending"
"""What may be yet to come at the step of a checkpoint: a row of metrics, the end of an iteration, or of the run."""

PAUSE_POLL_S = 0.5
"""How often a paused run looks whether it is asked for something."""

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
        run: The run.
        steering: What the run does, and what changes that.
        learner: What learns; not started yet.
        venv: Where its episodes are recorded.
        keeper: What keeps its checkpoints.
        rule: What ends it.
        rescorer: Scores checkpoints for those who ask.
        honest_best: Settles which checkpoint is best, at the end.
        watch: Looks after its iterations.
        inbox: Requests to the run.
        log: What a person reads.
        stop: Tells when a signal asked to stop.
        enter: Called with every state the run enters.
        warned: Takes in what the simulator warns of.
        place: Where the run goes on; None for one that begins.
        waits: Why it waits there for a person first; empty where it does not.
    """

    def __init__(
        self,
        run: RunDirectory,
        steering: Steering,
        learner: Learner,
        venv: EpisodeSource,
        keeper: CheckpointKeeper,
        *,
        rule: StopRule,
        rescorer: Rescorer,
        honest_best: HonestBest,
        watch: Watch,
        inbox: RequestInbox,
        log: RunLog,
        stop: StopSignal,
        enter: Enter,
        warned: SimulatorWarnings,
        place: Place | None = None,
        waits: str = "",
    ) -> None:
        self._run = run
        self._steering = steering
        self._learner = learner
        self._venv = venv
        self._keeper = keeper
        self._rescorer = rescorer
        self._honest_best = honest_best
        self._watch = watch
        self._inbox = inbox
        self._log = log
        self._stop = stop
        self._enter = enter
        self._place = place
        self._waits = waits
        self._warned = warned
        self._rule = rule
        self._metrics = EpisodeMetrics()
        self._clock = Clock(is_detailed=steering.spec.profile)
        self._started = time.monotonic()
        self._rows = 0
        """Rows of metrics so far."""
        self._told: tuple[int, int] = (0, 0)
        """Where a resumed run went on, and how many rows the stream had then."""
        self._is_held = False
        """Whether a stop came while the scores were waited for that count at the end of this iteration."""
        self._pause = Pause(run, enter, log)

    @property
    def wall_s(self) -> float:
        """Seconds of active training."""
        return time.monotonic() - self._started

    def context(self) -> Mapping[str, Any]:
        """Return what every row of metrics carries besides its values."""
        return {"wall_s": self.wall_s, "episodes": self._metrics.episodes, "iteration": self._learner.iteration}

    def count_episodes_from(self, episodes: int) -> None:
        """Take it that so many episodes have ended already, in a parent."""
        self._metrics.episodes = episodes

    @property
    def _spec(self) -> RunSpec:
        return self._steering.spec

    def run(self) -> Ending:
        """Train to the end."""
        try:
            return self._train()
        finally:
            self._rescorer.close()

    def _train(self) -> Ending:
        if self._spec.profile:
            for method in ("step_arrays", "step_wait"):
                self._clock.watch(self._venv, method, "collection/environment")
            self._clock.watch(self._learner.model.logger, "dump", "idle/metrics")
        if self._place is None:
            self._save(evaluate=self._spec.eval_every > 0, then=ROW)
            self._write_metrics()
        else:
            self._go_on(self._place)
        self._enter(RunState.RUNNING)
        if self._waits:
            self._pause.begin_for(self._waits)
        ending = self._loop()
        if self._spec.profile:
            for line in self._clock.table(self._learner.steps):
                self._log.say(line)
        return ending

    def _loop(self) -> Ending:
        while True:
            self._steering.catch_up(self._learner.steps)
            goal = self._rule.reason(self._progress())
            if goal is not None and not self._pause.is_suspect:
                return self._finish(goal)
            applied = self._steering.applied
            asked = self._answer_requests() or self._stop.reason
            if asked is None and self._pause.is_on:
                asked = self._stay_paused()
            if asked is not None:
                return self._break_off(asked)
            # A value that changed may be what ends the run.
            if self._steering.applied == applied:
                self._iterate()

    def _iterate(self) -> None:
        learner = self._learner
        # Not elsewhere: evaluations may be played in this process too.
        with self._warned.listening():
            self._watch.iterate(self.wall_s)
        self._keeper.require_folder()
        self._clock.add("collection", learner.rollout_s)
        self._clock.add("update", learner.update_s)
        episodes = self._venv.drain_episodes()
        for episode in episodes:
            self._rule.add_episode(episode.ret)
        self._record(self._metrics.fold(episodes))
        waits = self._watch.conclude(self._metrics.episodes)
        self._record(self._warned.drain())
        learner.record_progress()
        with self._clock.spending("checkpoint"):
            self._keeper.keep_up()
        self._settle(wait=False)
        self._say_all((*self._rescorer.poll(), *self._keeper.poll_films()))
        self._pass_boundary(saves=not waits)
        if waits:
            self._pause.begin_for(waits)

    def _pass_boundary(self, *, saves: bool = True) -> None:
        """Write a checkpoint where one is due, and tell of the iteration."""
        # Scores count here and nowhere else, so that a run does not depend on how fast an evaluation was.
        if saves and (self._keeper.is_due or self._is_held):
            self._is_held = not self._take_evaluation()
            if self._is_held:
                return
            self._save(then=ROW)
        self._write_metrics()
        self._log.say(self._line())

    def _finish(self, goal: str) -> Ending:
        # What the run ends with is scored, however rarely checkpoints are.
        scores = self._spec.eval_every > 0
        known = self._keeper.evaluation
        if not self._take_evaluation():
            # What is asked for counts more: resumed, the run ends here as it would have.
            return self._break_off(self._answer_requests() or self._stop.reason or STOP_REQUEST)
        is_current = self._keeper.is_current
        if not is_current:
            self._save(evaluate=scores, then=ENDING)
        elif scores and not self._keeper.is_scored:
            self._keeper.begin_evaluation()
        if self._take_evaluation():
            self._discard_surplus()
        if not is_current or self._keeper.evaluation is not known:
            self._write_metrics()
        if not self._settle_best():
            # Resumed, the run ends here again, and settles it.
            return self._break_off(self._answer_requests() or self._stop.reason or STOP_REQUEST)
        self._say_all(self._rescorer.finish(self._is_asked_to_stop))
        return RunState.FINISHED, goal

    def _settle_best(self) -> bool:
        """Let new episodes decide which checkpoint is best, and return whether nobody asked to stop meanwhile."""
        candidates = self._keeper.candidates
        if not candidates or self._keeper.scorer.pending is not None:
            return True
        many, episodes = len(candidates), self._spec.rescore_episodes
        said = f"re-scoring the {f'{many} checkpoints with the best claims' if many > 1 else 'best checkpoint'}"
        self._enter(RunState.RUNNING, f"{said} on {episodes} new episodes")
        self._log.say(f"{said} on {episodes} new episodes")
        if not self._honest_best.settle(candidates, self._is_asked_to_stop):
            return False
        self._discard_surplus(is_settled=True)
        return True

    def _break_off(self, asked: str) -> Ending:
        # Whoever stops a run wants its slot back: the last checkpoint is saved, and no score is waited for.
        self._enter(RunState.STOPPING)
        if not self._keeper.is_current and not self._pause.is_suspect:
            self._save(evaluate=False)
        self._settle(wait=True)
        return RunState.STOPPED, asked

    def _save(self, *, evaluate: bool | None = None, then: str = "") -> None:
        """Begin to write a checkpoint, and to evaluate it once it is sealed: where the spec says so, unless told.

        Args:
            evaluate: Whether to, instead of what the spec says.
            then: What is yet to come at this step, and a resumed run catches up on; the end of the iteration where the
                scores were not waited for that count there.
        """
        then = then or (BOUNDARY if self._is_held else "")
        evaluates = self._keeper.is_evaluation_due if evaluate is None else evaluate
        self._settle(wait=True)
        if not self._keeper.is_current:
            with self._clock.spending("checkpoint"):
                self._keeper.write(self._state(evaluates, then), is_regular=then == ROW, evaluates=evaluates)
            return
        if then == ROW:
            self._keeper.count_in()
        if evaluates:
            self._keeper.begin_evaluation()

    def _settle(self, *, wait: bool) -> None:
        """Tell of the checkpoints that were sealed meanwhile, and let go of those that are too many now.

        Args:
            wait: Wait for what is still being written.
        """
        with self._clock.spending("checkpoint"):
            written = self._keeper.settle(wait=wait)
        for path in written:
            self._log.say(f"{path.name} written")
        if written:
            self._discard_surplus()

    def _state(self, evaluates: bool, then: str) -> dict[str, Any]:
        logger = self._learner.model.logger
        return {
            "evaluates": evaluates,
            "then": then,
            "rows": self._rows,
            "row": [[name, value, logger.name_to_excluded[name]] for name, value in logger.name_to_value.items()],
            "wall_s": self.wall_s,
            "rule": self._rule.state(),
            "watch": self._watch.state(),
            "metrics": self._metrics.state(),
            "sets": self._steering.applied,
        }

    def _go_on(self, place: Place) -> None:
        """Take up a run where a checkpoint was sealed, and do what was left undone after that."""
        state = place.state["trainer"]
        is_exact = self._keeper.go_on(place)
        self._started = time.monotonic() - place.wall_s
        if place.stirred:
            self._learner.stir(place.stirred)
        self._rows, self._told = state["rows"], (self._learner.steps, place.rows_told)
        self._rule.load_state(state["rule"])
        if "watch" in state:
            self._watch.load_state(state["watch"])
        self._metrics.load_state(state["metrics"])
        self._is_held = state["then"] == BOUNDARY
        for name, value, excluded in state["row"]:
            self._learner.model.logger.record(name, value, excluded)
        if not is_exact:
            self._log.say("episodes begin anew: a plain Gymnasium environment cannot be put back where it was")
        if state["evaluates"]:
            self._keeper.begin_evaluation()
        self._discard_surplus()
        if state["then"] == BOUNDARY:
            self._pass_boundary()
        elif state["then"] == ENDING:
            self._take_evaluation()
        if state["then"] in (ROW, ENDING):
            self._write_metrics()

    def _take_evaluation(self) -> bool:
        """Let the scores count that are due, and return whether none is due any more: a stop waits for none."""
        self._settle(wait=True)
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

    def _discard_surplus(self, *, is_settled: bool = False) -> None:
        for checkpoint in self._keeper.discard_surplus(self._rescorer.checkpoints, is_settled=is_settled):
            self._log.say(f"{checkpoint.path.name} deleted, beyond the last {self._spec.keep_last}")

    def _answer_requests(self) -> str | None:
        """Carry out what was asked for, and return why to stop where that was."""
        asked = None
        for request in self._inbox.take():
            try:
                said = self._act(request)
            except ProblemsError as error:
                self._inbox.answer(request, ok=False, reason=in_words(error))
            except RequestError as error:
                self._inbox.answer(request, ok=False, reason=str(error))
            else:
                self._inbox.answer(request, ok=True, reason=said)
                asked = STOP_REQUEST if request.verb == "stop" else asked
        return asked

    def _act(self, request: Request) -> str:
        """Carry a request out and return what was done, where that is worth a word.

        Raises:
            RequestError: It cannot be done; why not.
        """
        match request.verb:
            case "stop":
                return ""
            case "checkpoint":
                return self._write_now()
            case "evaluate":
                # What is being written may be what is meant.
                self._settle(wait=True)
                return self._rescorer.begin(request, self._keeper.scorer.pending)
            case "set":
                now = self._progress()
                return self._steering.set(request, Done(now.steps, now.iteration, now.wall_s))
            case "pause":
                return self._begin_pause()
            case "resume":
                return self._pause.ask_to_go_on()
        raise RequestError(f"a run understands no {request.verb}")

    def _write_now(self) -> str:
        if self._keeper.is_current:
            said = "has been written already"
        elif self._pause.is_suspect:
            raise RequestError("no checkpoint is written of what an anomaly left; the one before stays")
        else:
            self._save(evaluate=False)
            said = "written"
        self._settle(wait=True)
        return f"{checkpoint_name(self._learner.steps)} {said}"

    def _begin_pause(self) -> str:
        said = "" if self._pause.is_suspect else self._write_now()
        self._pause.begin()
        return said

    def _stay_paused(self) -> str | None:
        """Wait until it may go on, and return why to stop where that was asked for instead."""
        self._log.say(f"paused at {grouped(self._learner.steps)} steps")
        asked = None
        while asked is None and not self._pause.is_over:
            time.sleep(PAUSE_POLL_S)
            self._keeper.require_folder()
            self._say_all((*self._rescorer.poll(), *self._keeper.poll_films()))
            asked = self._answer_requests() or self._stop.reason
        paused_s = self._pause.end()
        self._started += paused_s
        self._learner.skip_time(paused_s)
        self._clock.skip(paused_s)
        if asked is None:
            self._pause.is_suspect = False
            self._log.say("goes on")
            self._enter(RunState.RUNNING)
        return asked

    def _say_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._log.say(line)

    def _progress(self) -> Progress:
        learner = self._learner
        return Progress(steps=learner.steps, iteration=learner.iteration, wall_s=self.wall_s)

    def _record(self, metrics: Mapping[str, float]) -> None:
        for name, value in metrics.items():
            self._learner.model.logger.record(name, value)

    def _write_metrics(self) -> None:
        self._record({"time/total_timesteps": self._learner.steps})
        self._record(self._clock.lap())
        self._rows += 1
        logger, (steps, rows) = self._learner.model.logger, self._told
        if steps == self._learner.steps and self._rows <= rows:
            # The run had told this before it was cut off.
            for content in (logger.name_to_value, logger.name_to_count, logger.name_to_excluded):
                content.clear()
        else:
            logger.dump(self._learner.steps)

    def _line(self) -> str:
        learner = self._learner
        mean = learner.mean_return
        told = "" if mean is None else f"  return {grouped(mean)}"
        return f"iteration {grouped(learner.iteration)}  {grouped(learner.steps)} steps{told}"


def _counts(endings: Mapping[str, int]) -> str:
    return ", ".join(f"{count} × {reason}" for reason, count in endings.items())
