"""Evaluations of a run's checkpoints: begun at one moment, and their scores taken at another.

What a run does must not depend on how fast an evaluation was. So scores are made beside the training, and count only
where the trainer takes them; it waits there for those that are not ready.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from workbench.policies import Evaluation
from workbench.policies.numbering import after_claims
from workbench.policies.playing import StoppedError
from workbench.policies.scoring import read_claim, score, score_afresh
from workbench.specs import RunSpec
from workbench.training.scoring_process import ScoringProcess
from workbench.training.words import in_one_sentence

POLL_S = 0.1
"""How often someone who waits for scores looks whether he still should."""


@dataclass(frozen=True)
class Outcome:
    """What became of an evaluation."""

    checkpoint: Path
    """The folder of what was scored."""
    evaluation: Evaluation | None
    """The scores; None where it failed."""
    failure: str = ""
    """Why it failed."""


class Scorer(Protocol):
    """Scores checkpoints, one at a time.

    Another thread may call `begin`, while nobody calls anything else.
    """

    @property
    def pending(self) -> Path | None:
        """The checkpoint whose scores were not taken yet."""
        ...

    def begin(self, checkpoint: Path) -> None:
        """Begin to score a checkpoint; the scores of the one before are taken by then."""
        ...

    def take(self, give_up: Callable[[], bool]) -> Outcome | None:
        """Wait for the scores and return them; None where there are none to wait for, or someone gave up."""
        ...

    def score_afresh(self, checkpoint: Path, give_up: Callable[[], bool]) -> Outcome | None:
        """Score a checkpoint on the episodes behind those of all claims, and wait for that; nothing else is pending.

        None where someone gave up; what was begun is of no use then, and `close` ends it.
        """
        ...

    def close(self) -> None:
        """End whatever still runs."""
        ...


class ScorerInTurn:
    """Scores checkpoints in this process, which does nothing else meanwhile, where their scores are taken.

    Args:
        spec: What the run was asked to do.
    """

    def __init__(self, spec: RunSpec) -> None:
        self._spec = spec
        self._checkpoint: Path | None = None

    @property
    def pending(self) -> Path | None:
        """See `Scorer`."""
        return self._checkpoint

    def begin(self, checkpoint: Path) -> None:
        """Remember which checkpoint to score."""
        self._checkpoint = checkpoint

    def take(self, give_up: Callable[[], bool]) -> Outcome | None:
        """Score it, unless someone gave up already; see `Scorer`."""
        checkpoint, spec = self._checkpoint, self._spec
        if checkpoint is None or give_up():
            return None
        self._checkpoint = None
        try:
            evaluation = score(checkpoint, episodes=spec.eval_episodes, seed=spec.eval_seed)
        except Exception as error:
            return Outcome(checkpoint, None, in_one_sentence(error))
        return Outcome(checkpoint, evaluation)

    def score_afresh(self, checkpoint: Path, give_up: Callable[[], bool]) -> Outcome | None:
        """See `Scorer`."""
        try:
            evaluation = score_afresh(checkpoint, should_stop=give_up, **_fresh(self._spec))
        except StoppedError:
            return None
        except Exception as error:
            return Outcome(checkpoint, None, in_one_sentence(error))
        return Outcome(checkpoint, evaluation)

    def close(self) -> None:
        """See `Scorer`."""


class ScorerApart:
    """Scores checkpoints in a process of its own, which stands back behind this one and ends with it.

    Args:
        spec: What the run was asked to do.
        log_path: Where what that process says goes.
    """

    def __init__(self, spec: RunSpec, log_path: Path) -> None:
        self._spec = spec
        self._process = ScoringProcess(log_path)
        self._checkpoint: Path | None = None

    @property
    def pending(self) -> Path | None:
        """See `Scorer`."""
        return self._checkpoint

    def begin(self, checkpoint: Path) -> None:
        """Hand a checkpoint to the process, started where none lives; see `Scorer`."""
        self._checkpoint = checkpoint
        spec = self._spec
        self._process.ask({"checkpoint": str(checkpoint), "episodes": spec.eval_episodes, "seed": spec.eval_seed})

    def take(self, give_up: Callable[[], bool]) -> Outcome | None:
        """Wait for the process; see `Scorer`."""
        checkpoint = self._checkpoint
        if checkpoint is None:
            return None
        while (answer := self._process.answer(POLL_S)) is None:
            if give_up():
                return None
        self._checkpoint = None
        evaluation = read_claim(checkpoint) if answer["ok"] else None
        return Outcome(checkpoint, evaluation, "" if evaluation else answer["reason"] or "its scores cannot be read")

    def score_afresh(self, checkpoint: Path, give_up: Callable[[], bool]) -> Outcome | None:
        """See `Scorer`."""
        self._process.ask({"checkpoint": str(checkpoint), "afresh": True, **_fresh(self._spec)})
        while (answer := self._process.answer(POLL_S)) is None:
            if give_up():
                return None
        if not answer["ok"]:
            return Outcome(checkpoint, None, answer["reason"])
        return Outcome(checkpoint, Evaluation.from_json(answer["scores"], checkpoint))

    def close(self) -> None:
        """End the process, in the middle of an evaluation too."""
        self._checkpoint = None
        self._process.close()


def _fresh(spec: RunSpec) -> dict[str, int]:
    """Return which episodes nothing was chosen by."""
    return {"episodes": spec.rescore_episodes, "seed": after_claims(spec.eval_seed, spec.eval_episodes)}
