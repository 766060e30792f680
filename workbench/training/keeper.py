"""The checkpoints of a run: when one is due, what is in it, how it scores, and which one is best."""

from __future__ import annotations

import errno
import time
from pathlib import Path
from typing import Any

from workbench import durable
from workbench.policies import Evaluation, evaluate, write_checkpoint
from workbench.policies.checkpoint import EVALUATION_NAME, checkpoint_name
from workbench.runs import CheckpointDirectory, EventWriter, RunDirectory
from workbench.runs.state import FOLDER_GONE
from workbench.simulation import EnvSource
from workbench.specs import RunSpec
from workbench.training.learner import Learner
from workbench.training.retention import discard, surplus


class CheckpointKeeper:
    """Writes and scores the checkpoints of one run.

    Args:
        run: The run.
        spec: What it was asked to do.
        source: Its environment.
        learner: What is saved.
        events: Its event stream.
        fields: What every `policy.json` of the run says besides what changes: seed, versions, names, period.
    """

    def __init__(
        self,
        run: RunDirectory,
        spec: RunSpec,
        source: EnvSource,
        learner: Learner,
        events: EventWriter,
        fields: dict[str, Any],
    ) -> None:
        self._run = run
        self._spec = spec
        self._learner = learner
        self._events = events
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
        self.evaluation: Evaluation | None = None
        """The last evaluation."""

    @property
    def is_current(self) -> bool:
        """Whether the newest checkpoint holds the learner as it is now."""
        return self._newest_steps == self._learner.steps

    @property
    def is_scored(self) -> bool:
        """Whether the newest checkpoint was evaluated."""
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

    def evaluate(self) -> Evaluation:
        """Score the newest checkpoint as it lies on disk, greedily, on the run's numbered episodes."""
        spec, path = self._spec, self._run.path / checkpoint_name(self._newest_steps)
        evaluation = evaluate(path, episodes=spec.eval_episodes, seed=spec.eval_seed, threads=spec.threads or 0)
        scores = {"kind": "claimed", "time": time.time(), "steps": self._newest_steps, **evaluation.to_json()}
        durable.write_json(path / EVALUATION_NAME, {"format": 1, "evaluations": [scores]})
        self._events.append(
            "evaluation",
            steps=self._newest_steps,
            checkpoint=path.name,
            mean_return=evaluation.mean,
            std_return=evaluation.std,
            mean_length=evaluation.mean_length,
            returns=evaluation.returns,
            endings=evaluation.endings,
            seed=evaluation.seed,
        )
        # On a tie the earlier one stays: it needed fewer steps for the same.
        if self._best is None or evaluation.mean > self._best:
            self._best = evaluation.mean
            self._run.set_best(path.name)
        self.evaluation = evaluation
        self._scored_steps = self._newest_steps
        return evaluation

    def discard_surplus(self) -> list[CheckpointDirectory]:
        """Delete what `keep_last` does not keep, and return it."""
        gone = surplus(self._run, self._spec.keep_last)
        for checkpoint in gone:
            discard(checkpoint)
        return gone
