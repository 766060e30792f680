"""Playing an actor over numbered episodes.

Episode k begins from the state that `seed + k` gives, whichever copy plays it and however many play at once; so two
policies given the same numbers meet the same episodes, and the scores do not depend on the batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from workbench.errors import RequestError, SimulationError, WorkbenchError
from workbench.policies.actor import Actor
from workbench.policies.copies import SIMULATION_PROBLEM, Copies, Ending, culprit, open_copies
from workbench.policies.evaluation import Evaluation
from workbench.policies.fitting import require_fit
from workbench.policies.loading import load_policy
from workbench.policies.numbering import SEED
from workbench.project import Project
from workbench.simulation import EnvSource

BATCH = 32
"""Copies of a batched environment that play at once."""

STEP_LIMIT = 100_000
"""Steps after which an episode that does not end is given up, with the reason `step_limit`."""

OnProblem = Literal["raise", "count"]
"""Whether a simulation that fails in one episode ends everything, or that episode alone."""


class StoppedError(WorkbenchError):
    """Someone asked for an end before all episodes had ended.

    There are no scores then: the episodes that have ended are the short ones.

    Args:
        done: How many had ended.
        episodes: How many there were to be.
    """

    title = "Stopped before the end"
    exit_code = 3

    def __init__(self, done: int, episodes: int) -> None:
        super().__init__(
            f"stopped after {done} of {episodes} episodes: no verdict.",
            hint="The ones that have ended are the short ones, and say nothing of the others.",
        )
        self.done = done


def evaluate(
    reference: str | Path,
    *,
    episodes: int = 10,
    seed: int = SEED,
    deterministic: bool = True,
    environment: str | EnvSource | None = None,
    batch: int = BATCH,
    threads: int = 0,
    project: Project | None = None,
    on_problem: OnProblem = "raise",
    should_stop: Callable[[], bool] = lambda: False,
) -> Evaluation:
    """Play a checkpoint for some episodes and return the scores.

    Args:
        reference: A checkpoint, a run directory, or whatever else names a policy.
        episodes: How many.
        seed: The number of the first.
        deterministic: Take the policy's best action instead of sampling.
        environment: Where to play, if not where it was trained.
        batch: How many copies play at once; the scores do not depend on it.
        threads: Threads that step a batched environment; 0 for one a CPU.
        project: Where references are looked up; the current one by default.
        on_problem: What a simulation that fails in one episode ends; see `run_episodes`.
        should_stop: Asked before every step.

    Raises:
        NotFoundError: The reference names nothing.
        CheckpointError: The checkpoint is not whole, or does not fit the environment.
        SimulationError: The environment failed.
        StoppedError: Someone asked for an end.
    """
    # A sampling actor is seeded by the episodes' number too, so that a repetition gives the same scores.
    actor = load_policy(reference, environment=environment, stochastic=not deterministic, seed=seed, project=project)
    return run_episodes(
        actor,
        home_of(actor, reference),
        episodes=episodes,
        seed=seed,
        batch=batch,
        threads=threads,
        on_problem=on_problem,
        should_stop=should_stop,
    )


def home_of(actor: Actor, reference: str | Path) -> EnvSource:
    """Return the environment that a policy was trained in, or was opened for.

    Args:
        actor: The policy.
        reference: What a person calls it.

    Raises:
        RequestError: It does not say.
    """
    known = getattr(getattr(actor, "description", None), "environment", None)
    if isinstance(known, EnvSource):
        return known
    raise RequestError(f"{reference} does not say what environment it was trained in.", hint="Name one with --env ID.")


def run_episodes(
    actor: Actor,
    source: EnvSource,
    *,
    episodes: int = 10,
    seed: int = SEED,
    batch: int = BATCH,
    threads: int = 0,
    step_limit: int = STEP_LIMIT,
    on_problem: OnProblem = "raise",
    on_progress: Callable[[int], None] = lambda done: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Evaluation:
    """Play an actor for some episodes and return the scores.

    Args:
        actor: Who acts; told of every episode's beginning and number.
        source: Where.
        episodes: How many.
        seed: The number of the first.
        batch: How many copies play at once.
        threads: Threads that step a batched environment; 0 for one a CPU.
        step_limit: Steps after which an episode is given up.
        on_problem: What ends where a number is not finite or MuJoCo gives up: `raise` ends everything, `count` that
            episode alone, as `simulation_problem` and no success. Code of the environment that raises ends everything.
        on_progress: Told how many episodes have ended, after each step that ended some.
        should_stop: Asked before every step.

    Raises:
        RequestError: No episode was asked for, or the first has no number.
        CheckpointError: The actor's spaces are not the environment's.
        SimulationError: The environment failed.
        StoppedError: Someone asked for an end.
    """
    if episodes < 1:
        raise RequestError(f"an evaluation has at least one episode, and {episodes} were asked for.")
    if seed < 0:
        raise RequestError(f"episodes are numbered from 0 on, and {seed} is no such number.")
    played = _Played(actor, source, seed, episodes, step_limit, on_problem, on_progress, should_stop)
    open_some = partial(open_copies, source, threads=threads)
    cut_off = played.through(deque(range(episodes)), batch, open_some)
    # An episode is fixed by its number, so those that another's failure cut off are played anew: each by itself, where
    # none can be cut off again.
    played.through(deque(sorted(cut_off)), 1, open_some)
    return played.scores()


@dataclass
class _Score:
    value: float = 0.0
    length: int = 0
    reason: str = ""
    terminated: bool = False
    success: bool | None = None
    terms: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""


class _Played:
    """Episodes being played, and the scores of those that have ended."""

    def __init__(
        self,
        actor: Actor,
        source: EnvSource,
        seed: int,
        episodes: int,
        step_limit: int,
        on_problem: OnProblem,
        on_progress: Callable[[int], None],
        should_stop: Callable[[], bool],
    ) -> None:
        self._actor = actor
        self._source = source
        self._seed = seed
        self._scores = [_Score() for _ in range(episodes)]
        self._step_limit = step_limit
        self._counts_problems = on_problem == "count"
        self._on_progress = on_progress
        self._should_stop = should_stop
        self._done = 0
        self._successful_at_reset: set[int] = set()
        self._control_period_s: float | None = None

    def through(self, waiting: deque[int], count: int, open_some: Callable[[int], Copies]) -> list[int]:
        """Play all that wait, so many at once, and return those that were cut off in the middle."""
        cut_off: list[int] = []
        while waiting:
            copies = open_some(max(1, min(count, len(waiting))))
            try:
                description = getattr(self._actor, "description", None)
                if description is not None:
                    require_fit(description, copies.facts, description.called)
                self._control_period_s = copies.period_s
                cut_off += self._play(copies, waiting)
            finally:
                copies.close()
        return cut_off

    def scores(self) -> Evaluation:
        """Return the scores, once all episodes have ended."""
        scores = self._scores
        measured = any(score.success is not None for score in scores)
        names = dict.fromkeys(name for score in scores for name in score.terms)
        return Evaluation(
            environment=self._source.env_id,
            checkpoint=_path_of(self._actor),
            seed=self._seed,
            deterministic=self._actor.deterministic,
            returns=tuple(score.value for score in scores),
            lengths=tuple(score.length for score in scores),
            reasons=tuple(score.reason for score in scores),
            terminated=tuple(score.terminated for score in scores),
            # An episode that was cut before the environment could say is no success.
            successes=tuple(bool(score.success) for score in scores) if measured else None,
            successful_at_reset=len(self._successful_at_reset),
            terms={name: tuple(score.terms.get(name, 0.0) for score in scores) for name in names},
            problems={place: score.problem for place, score in enumerate(scores) if score.problem},
            control_period_s=self._control_period_s,
        )

    def _play(self, copies: Copies, waiting: deque[int]) -> list[int]:
        playing: dict[int, int] = {}
        returns, lengths = np.zeros(copies.count), np.zeros(copies.count, np.int64)

        def begin(ids: Sequence[int]) -> None:
            started = {copy: waiting.popleft() for copy in ids if waiting}
            if not started:
                return
            playing.update(started)
            returns[list(started)], lengths[list(started)] = 0.0, 0
            numbers = [self._seed + episode for episode in started.values()]
            at_once = copies.begin(list(started), numbers)
            self._successful_at_reset.update(started[copy] for copy in at_once)
            self._actor.reset(list(started), streams=numbers)

        def end(ending: Ending) -> None:
            score = self._scores[playing.pop(ending.copy)]
            score.value, score.length = float(returns[ending.copy]), int(lengths[ending.copy])
            score.reason, score.terminated, score.success = ending.reason, ending.terminated, ending.success
            score.terms, score.problem = dict(ending.terms or {}), ending.problem
            self._done += 1

        try:
            begin(range(copies.count))
            while playing:
                if self._should_stop():
                    raise StoppedError(self._done, len(self._scores))
                rewards, endings = copies.step(self._actor.act(copies.observe()), list(playing))
                returns += rewards
                lengths += 1
                over = [ending for ending in endings if ending.copy in playing]
                over += self._given_up(copies, lengths, set(playing) - {ending.copy for ending in over})
                for ending in over:
                    if ending.problem and not self._counts_problems:
                        raise SimulationError(ending.problem)
                    end(ending)
                if over:
                    self._on_progress(self._done)
                begin(sorted(ending.copy for ending in over))
        except SimulationError as error:
            copy = culprit(error)
            if copy is None or not self._counts_problems:
                raise
            if copy in playing:
                terms = copies.terms(copy)
                end(Ending(copy, False, SIMULATION_PROBLEM, None, terms, problem=str(error)))
                self._on_progress(self._done)
            return list(playing.values())
        return []

    def _given_up(self, copies: Copies, lengths: Any, playing: set[int]) -> list[Ending]:
        late = [copy for copy in sorted(playing) if lengths[copy] >= self._step_limit]
        return [Ending(copy, False, "step_limit", None, copies.terms(copy)) for copy in late]


def _path_of(actor: Actor) -> Path | None:
    path = getattr(getattr(actor, "description", None), "path", None)
    return path if isinstance(path, Path) else None
