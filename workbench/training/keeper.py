"""The checkpoints of a run: when one is due, what is in it, how it scores, and which one is best."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from workbench.policies import Evaluation, write_checkpoint
from workbench.policies.checkpoint import checkpoint_name
from workbench.runs import CheckpointDirectory, EventWriter, RunDirectory
from workbench.runs.directory import steps_of
from workbench.runs.resuming import RESUME_NAME
from workbench.runs.state import FOLDER_GONE
from workbench.simulation import EnvSource
from workbench.specs import RunSpec
from workbench.training.background import Background
from workbench.training.circumstances import circumstances
from workbench.training.evaluations import Outcome, Scorer
from workbench.training.films import Films
from workbench.training.learner import Learner
from workbench.training.plain import copied, pack
from workbench.training.replay_log import FOLDER, ReplayLog, refill
from workbench.training.resumption import RESUME_FORMAT, Place
from workbench.training.retention import discard, surplus

ADOPTED = 4096
"""Rows that are written at a time where a buffer is taken over: a copy of them all would take as much memory again."""


class CheckpointKeeper:
    """Writes the checkpoints of one run and has them scored.

    A checkpoint is taken at the end of an iteration, and written while the run goes on; the next one waits for that.

    Args:
        run: The run.
        spec: What it was asked to do.
        source: Its environment.
        learner: What is saved.
        events: Its event stream.
        scorer: What plays the evaluations.
        fields: What every `policy.json` of the run says besides what changes: seed, versions, names, period.
        background: What writes beside the training.
    """

    def __init__(
        self,
        run: RunDirectory,
        spec: RunSpec,
        source: EnvSource,
        learner: Learner,
        events: EventWriter,
        scorer: Scorer,
        fields: dict[str, Any],
        background: Background,
    ) -> None:
        self._run = run
        self._spec = spec
        self._learner = learner
        self._events = events
        self.scorer = scorer
        """What plays the evaluations."""
        self.films: Films | None = None
        """What films checkpoints, where that is asked for."""
        self._fields = {
            **fields,
            "algorithm": spec.algorithm,
            "environment": source.to_json(),
            "observation_space": learner.observation_space,
            "action_space": learner.action_space,
            "action_map": learner.action_map,
            "network": learner.network,
            "normalizer": learner.normalizer_fields(),
        }
        self._background = background
        self._circumstances = circumstances()
        self._written: list[Path] = []
        """What was sealed and not handed out by `settle` yet."""
        self._newest_steps = -1
        self._scored_steps = -1
        self._count = 0
        self._best: float | None = None
        """The lower bound of the best evaluation."""
        self._best_name = ""
        self._told: set[str] = set()
        self._claims: dict[str, float] = {}
        """The lower bound of every evaluation that counts, by the checkpoint's name."""
        replay = learner.replay
        self._replay = None if replay is None else ReplayLog(run.path / FOLDER, replay)
        self.evaluation: Evaluation | None = None
        """The last evaluation."""

    @property
    def is_current(self) -> bool:
        """Whether the newest checkpoint holds the learner as it is now."""
        return self._newest_steps == self._learner.steps

    @property
    def is_scored(self) -> bool:
        """Whether the newest checkpoint was evaluated and the scores were taken."""
        return self._scored_steps == self._newest_steps

    @property
    def is_due(self) -> bool:
        """Whether the spec asks for a checkpoint at the end of this iteration."""
        if self.is_current:
            return False
        every = self._spec.checkpoint_every_steps
        if every is not None:
            return self._learner.steps // every > max(self._newest_steps, 0) // every
        freq = self._spec.checkpoint_freq or 0
        return freq > 0 and self._learner.iteration % freq == 0

    @property
    def is_evaluation_due(self) -> bool:
        """Whether the spec asks for an evaluation of the regular checkpoint that is written next."""
        every = self._spec.eval_every
        return every > 0 and self._count % every == 0

    @property
    def candidates(self) -> list[Path]:
        """The checkpoints among which the best is settled at the end of the run, the best by claim first."""
        ranked = sorted(self._claims, key=lambda name: (-self._claims[name], name))
        paths = [self._run.path / name for name in ranked[: self._spec.rescore_best]]
        return [path for path in paths if path.is_dir()]

    def change(self, spec: RunSpec) -> None:
        """Write, keep and score checkpoints as another spec says."""
        self._spec = spec

    def require_folder(self) -> None:
        """See to it that nothing is written where the run's folder is gone: it is not made anew.

        Raises:
            FileNotFoundError: The folder was moved or deleted.
        """
        if not self._run.is_run():
            raise FileNotFoundError(errno.ENOENT, FOLDER_GONE, str(self._run.path))

    def write(self, trainer_state: Mapping[str, Any], *, is_regular: bool, evaluates: bool) -> None:
        """Begin to write a checkpoint of the learner as it is now; the one before is settled by then.

        Args:
            trainer_state: What the trainer goes on from.
            is_regular: Whether it counts among those that are evaluated every so often.
            evaluates: Whether to have it scored as soon as it is sealed.
        """
        learner = self._learner
        fields = {**self._fields, "steps": learner.steps, "iteration": learner.iteration}
        if is_regular:
            self.count_in()
        self.keep_up()
        resume = {
            "format": RESUME_FORMAT,
            "circumstances": self._circumstances,
            "learner": learner.state(),
            "replay": None if self._replay is None else self._replay.place,
            "keeper": self._state(),
            "trainer": trainer_state,
        }
        tensors = {name: np.array(value) for name, value in learner.checkpoint_tensors().items()}
        self._newest_steps = learner.steps
        self._background.add(partial(self._seal, fields, tensors, copied(resume), evaluates))
        # The stream takes it in behind the work just handed in, and not at all where that fails.
        self._announce(self._run.path / checkpoint_name(learner.steps))

    def _seal(self, fields: dict[str, Any], tensors: dict[str, Any], resume: Any, evaluates: bool) -> None:
        """Seal a checkpoint and name it the latest; in the background."""
        # The rows that it counts on lie on the disk before it does.
        if self._replay is not None:
            self._replay.sync()
        path = write_checkpoint(self._run.path, fields, tensors, {RESUME_NAME: pack(resume)})
        self._run.set_latest(path.name)
        if self._replay is not None:
            self._replay.forget()
        if evaluates:
            self.scorer.begin(path)
        if self.films is not None:
            self.films.begin(path)
        self._written.append(path)

    def settle(self, *, wait: bool) -> list[Path]:
        """Return the checkpoints sealed since the last call.

        Args:
            wait: Wait for what is being written.

        Raises:
            OSError: Something could not be written.
        """
        if wait:
            self._background.drain()
        self._background.check()
        written = self._written[:]
        del self._written[: len(written)]
        return written

    def poll_films(self) -> list[str]:
        """Tell of the films that are made, and return lines for the log."""
        return [] if self.films is None else self.films.poll()

    def count_in(self) -> None:
        """Count the newest checkpoint among those that are evaluated every so often."""
        self._count += 1

    def _announce(self, path: Path) -> None:
        learner = self._learner
        self._events.append("checkpoint", steps=learner.steps, path=path.name, iteration=learner.iteration)

    def _state(self) -> dict[str, Any]:
        pending = self.scorer.pending
        return {
            "scored_steps": self._scored_steps,
            "count": self._count,
            "best": self._best,
            "best_name": self._best_name,
            "pending": "" if pending is None else pending.name,
        }

    def keep_up(self) -> None:
        """Begin to put what was collected since into the files for replay; a checkpoint has less to wait for then."""
        if self._replay is not None and (rows := self._replay.take(self._learner.replay_rows)):
            self._background.add(partial(self._replay.write, rows))

    def go_on(self, place: Place) -> bool:
        """Make learner and checkpoints what they were at a place; return whether the environment is where it was too.

        Raises:
            ValueError: The place is one of another run.
            OSError: A file cannot be read.
        """
        state, learner = place.state, self._learner
        is_exact = learner.load_state(state["learner"])
        replay = learner.replay
        if replay is not None:
            refill(self._run.path / FOLDER, replay, state["replay"])
            learner.count_replay_from(state["replay"]["rows"])
            self._replay = ReplayLog(self._run.path / FOLDER, replay, learner.replay_rows)
        own = state["keeper"]
        self._newest_steps, self._scored_steps, self._count = learner.steps, own["scored_steps"], own["count"]
        self._best, self._best_name = own["best"], own["best_name"]
        scored = [event for event in place.events if event["kind"] == "evaluation"]
        self._told = {event["checkpoint"] for event in scored}
        self._claims = {event["checkpoint"]: float(event["lower_bound"]) for event in scored}
        if not place.is_announced:
            self._announce(place.checkpoint.path)
        pending = self._run.path / own["pending"]
        if own["pending"] and pending.is_dir():
            self.scorer.begin(pending)
        return is_exact

    def begin_replay(self) -> None:
        """Begin the files for replay with what the buffer holds from a parent, and with nothing else."""
        replay, rows = self._learner.replay, self._learner.replay_rows
        if replay is None:
            return
        folder, first = self._run.path / FOLDER, max(0, rows - replay.buffer_size)
        # A start that was killed may have left some.
        shutil.rmtree(folder, ignore_errors=True)
        self._replay = ReplayLog(folder, replay, first)
        for until in range(first, rows, ADOPTED):
            self._replay.write(self._replay.take(min(until + ADOPTED, rows)))

    def begin_evaluation(self) -> None:
        """Have the newest checkpoint scored as it lies on disk, greedily, on the run's numbered episodes.

        It is settled by then, as is everything where scores are taken.
        """
        self.scorer.begin(self._run.path / checkpoint_name(self._newest_steps))

    def take_evaluation(self, give_up: Callable[[], bool]) -> Outcome | None:
        """Wait for the scores that are due, if any, and let them count: as an event, and for which one is best.

        Args:
            give_up: Asked while it waits; the scores then stay due.
        """
        outcome = self.scorer.take(give_up)
        if outcome is None:
            return None
        path, steps, evaluation = outcome.checkpoint, steps_of(outcome.checkpoint), outcome.evaluation
        self._scored_steps = steps
        if evaluation is None:
            message = f"the evaluation of {path.name} failed: {outcome.failure}"
            self._events.append("anomaly", what="evaluation_failed", message=message, checkpoint=path.name)
            return outcome
        if path.name not in self._told:
            self._events.append(
                "evaluation",
                steps=steps,
                checkpoint=path.name,
                mean_return=evaluation.mean,
                std_return=evaluation.std,
                lower_bound=evaluation.lower_bound,
                mean_length=evaluation.mean_length,
                returns=evaluation.returns,
                endings=evaluation.endings,
                seed=evaluation.seed,
                taken=self._learner.steps,
            )
        self._claims[path.name] = evaluation.lower_bound
        # On a tie the earlier one stays: it needed fewer steps for the same.
        if self._best is None or evaluation.lower_bound > self._best:
            self._best, self._best_name = evaluation.lower_bound, path.name
            self._run.set_best(path.name)
        self.evaluation = evaluation
        return outcome

    def discard_surplus(self, scored: Collection[Path] = (), *, is_settled: bool = False) -> list[CheckpointDirectory]:
        """Delete what `keep_last` does not keep, and return it; what is being scored or filmed stays.

        Args:
            scored: What others than the run have scored just now.
            is_settled: Whether the best one is settled; until then all among which it will be stay too.
        """
        needed = {self.scorer.pending, None if self.films is None else self.films.current, *scored}
        needed |= set() if is_settled else set(self.candidates)
        gone = [item for item in surplus(self._run, self._spec.keep_last) if item.path not in needed]
        for checkpoint in gone:
            discard(checkpoint)
        return gone
