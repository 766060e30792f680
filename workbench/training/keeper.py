"""The checkpoints of a run: when one is due, what is in it, how it scores, and which one is best."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.policies import Evaluation, write_checkpoint
from workbench.policies.checkpoint import checkpoint_name
from workbench.runs import CheckpointDirectory, EventWriter, RunDirectory
from workbench.runs.state import FOLDER_GONE
from workbench.simulation import EnvSource
from workbench.specs import RunSpec
from workbench.training.evaluations import Outcome, Scorer
from workbench.training.learner import Learner
from workbench.training.retention import discard, surplus


class CheckpointKeeper:
    """Writes the checkpoints of one run and has them scored.

    Args:
        run: The run.
        spec: What it was asked to do.
        source: Its environment.
        learner: What is saved.
        events: Its event stream.
        scorer: What plays the evaluations.
        fields: What every `policy.json` of the run says besides what changes: seed, versions, names, period.
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
    ) -> None:
        self._run = run
        self._spec = spec
        self._learner = learner
        self._events = events
        self.scorer = scorer
        """What plays the evaluations."""
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
        self._newest_steps = -1
        self._scored_steps = -1
        self._count = 0
        self._best: float | None = None
        """The lower bound of the best evaluation."""
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
        """Whether the spec asks for an evaluation of the newest checkpoint."""
        every = self._spec.eval_every
        return every > 0 and (self._count - 1) % every == 0

    def require_folder(self) -> None:
        """See to it that nothing is written where the run's folder is gone: it is not made anew.

        Raises:
            FileNotFoundError: The folder was moved or deleted.
        """
        if not self._run.is_run():
            raise FileNotFoundError(errno.ENOENT, FOLDER_GONE, str(self._run.path))

    def write(self) -> Path:
        """Seal a checkpoint of the learner as it is now, name it the latest and return its folder."""
        learner = self._learner
        fields = {**self._fields, "steps": learner.steps, "iteration": learner.iteration}
        path = write_checkpoint(self._run.path, fields, learner.checkpoint_tensors())
        self._run.set_latest(path.name)
        self._events.append("checkpoint", steps=learner.steps, path=path.name, iteration=learner.iteration)
        self._newest_steps = learner.steps
        self._count += 1
        return path

    def begin_evaluation(self) -> None:
        """Have the newest checkpoint scored as it lies on disk, greedily, on the run's numbered episodes."""
        self.scorer.begin(self._run.path / checkpoint_name(self._newest_steps))

    def take_evaluation(self, give_up: Callable[[], bool]) -> Outcome | None:
        """Wait for the scores that are due, if any, and let them count: as an event, and for which one is best.

        Args:
            give_up: Asked while it waits; the scores then stay due.
        """
        outcome = self.scorer.take(give_up)
        if outcome is None:
            return None
        path, steps, evaluation = outcome.checkpoint, _steps_of(outcome.checkpoint), outcome.evaluation
        self._scored_steps = steps
        if evaluation is None:
            message = f"the evaluation of {path.name} failed: {outcome.failure}"
            self._events.append("anomaly", what="evaluation_failed", message=message, checkpoint=path.name)
            return outcome
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
        # On a tie the earlier one stays: it needed fewer steps for the same.
        if self._best is None or evaluation.lower_bound > self._best:
            self._best = evaluation.lower_bound
            self._run.set_best(path.name)
        self.evaluation = evaluation
        return outcome

    def discard_surplus(self) -> list[CheckpointDirectory]:
        """Delete what `keep_last` does not keep, and return it; what is being scored stays."""
        gone = [item for item in surplus(self._run, self._spec.keep_last) if item.path != self.scorer.pending]
        for checkpoint in gone:
            discard(checkpoint)
        return gone


def _steps_of(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("_")[2])
