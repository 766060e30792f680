"""Settling which checkpoint is best once a run has done its training; see `workbench.policies.honest_best`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench.policies.honest_best import GivenUpError, Scored, settle_best
from workbench.runs import EventWriter, RunDirectory
from workbench.training.evaluations import Scorer
from workbench.training.log import RunLog

LIMIT_S = 600.0
"""So long may all of it take: whoever waits for the run's place waits no longer than that."""


class HonestBest:
    """Has the checkpoints with the best claims scored on new episodes, and lets the best of them be the run's best.

    Args:
        run: The run.
        events: Its event stream.
        scorer: What plays the episodes.
        log: What a person reads.
        limit_s: How long it may take.
    """

    def __init__(
        self, run: RunDirectory, events: EventWriter, scorer: Scorer, log: RunLog, *, limit_s: float = LIMIT_S
    ) -> None:
        self._run = run
        self._events = events
        self._scorer = scorer
        self._log = log
        self._limit_s = limit_s

    def settle(self, candidates: Sequence[Path], give_up: Callable[[], bool]) -> bool:
        """Settle it, and return whether that was seen through: False where someone gave up.

        The best stays what it was where someone gave up, time ran out, or none could be scored.

        Args:
            candidates: The checkpoints, the best by claim first.
            give_up: Asked while they are scored.
        """
        until = time.monotonic() + self._limit_s

        def score(path: Path) -> Scored:
            outcome = self._scorer.score_afresh(path, lambda: give_up() or time.monotonic() > until)
            if outcome is None:
                raise GivenUpError
            return Scored(outcome.evaluation, outcome.failure)

        try:
            settle_best(self._run, self._events, candidates, score, say=self._log.say)
        except GivenUpError:
            if give_up():
                return False
            self._log.say(
                f"re-scoring took more than {self._limit_s:g} s and was given up: the best stays the one with the best "
                f"claim; `workbench rescore {self._run.short_id} --best {len(candidates)}` settles it"
            )
        return True
