"""Scores of an actor over numbered episodes.

Episode k begins from the state that `seed + k` gives, whichever copy plays it and however many play at once; so two
policies given the same numbers meet the same episodes, and the scores do not depend on the batch.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.errors import CheckpointError, RequestError, SimulationError, WorkbenchError
from workbench.policies.actor import Actor, PolicyActor
from workbench.policies.checkpoint import read_checkpoint
from workbench.policies.loading import find_checkpoint
from workbench.policies.spaces import describe_space
from workbench.project import Project
from workbench.simulation import BatchEnv, EnvSource, make_batch, make_single

SEED = 10_000
"""The number of the first episode where none is given."""

BATCH = 32
"""Copies of a batched environment that play at once."""

STEP_LIMIT = 100_000
"""Steps after which an episode that does not end is given up, with the reason `step_limit`."""

Z_95 = 1.96
"""Standard errors within which the mean of a normal distribution lies in 95 % of samples."""

UNNAMED = {True: "terminated", False: "time_limit"}
"""The reasons of endings that an environment does not name, by whether they are terminal."""


@dataclass(frozen=True)
class Evaluation:
    """The scores of some episodes, in the order of their numbers."""

    environment: str
    """The Gymnasium ID."""
    checkpoint: Path | None
    """The folder of the policy; None for an agent without one."""
    seed: int
    """The number of the first episode."""
    deterministic: bool
    """Whether the actor took its best action, or sampled."""
    returns: tuple[float, ...]
    """The sum of each episode's rewards."""
    lengths: tuple[int, ...]
    """Steps of each episode."""
    reasons: tuple[str, ...]
    """Why each episode ended."""
    terminated: tuple[bool, ...]
    """Whether each episode ended by itself; the others were cut."""

    @property
    def endings(self) -> dict[str, int]:
        """How many episodes ended for each reason, the most frequent first."""
        return dict(Counter(self.reasons).most_common())

    @property
    def mean(self) -> float:
        """Mean return."""
        return float(np.mean(self.returns))

    @property
    def std(self) -> float:
        """Standard deviation of the returns, of these episodes and no others."""
        return float(np.std(self.returns))

    @property
    def lower_bound(self) -> float:
        """The lower end of the 95 % confidence interval of the mean return, by the normal approximation.

        One episode tells nothing of the spread; its return stands for the bound then.
        """
        if len(self.returns) < 2:
            return self.mean
        return self.mean - Z_95 * float(np.std(self.returns, ddof=1)) / math.sqrt(len(self.returns))

    @property
    def min(self) -> float:
        """Lowest return."""
        return min(self.returns)

    @property
    def max(self) -> float:
        """Highest return."""
        return max(self.returns)

    @property
    def mean_length(self) -> float:
        """Mean steps of an episode."""
        return float(np.mean(self.lengths))

    def to_json(self) -> dict[str, Any]:
        """Return the scores as `evaluation.json` holds them."""
        return {
            "environment": self.environment,
            "seed": self.seed,
            "episodes": len(self.returns),
            "deterministic": self.deterministic,
            "mean_return": self.mean,
            "std_return": self.std,
            "lower_bound": self.lower_bound,
            "min_return": self.min,
            "max_return": self.max,
            "mean_length": self.mean_length,
            "returns": list(self.returns),
            "lengths": list(self.lengths),
            "reasons": list(self.reasons),
            "terminated": list(self.terminated),
            "endings": self.endings,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], checkpoint: Path | None) -> Evaluation:
        """Return the scores that `evaluation.json` holds of a checkpoint.

        Raises:
            KeyError: Something is missing.
        """
        return cls(
            environment=data["environment"],
            checkpoint=checkpoint,
            seed=data["seed"],
            deterministic=data["deterministic"],
            returns=tuple(data["returns"]),
            lengths=tuple(data["lengths"]),
            reasons=tuple(data["reasons"]),
            terminated=tuple(data["terminated"]),
        )


def evaluate(
    reference: str | Path,
    *,
    episodes: int = 10,
    seed: int = SEED,
    deterministic: bool = True,
    environment: EnvSource | None = None,
    batch: int = BATCH,
    threads: int = 0,
    project: Project | None = None,
) -> Evaluation:
    """Play a checkpoint for some episodes and return the scores.

    Args:
        reference: A checkpoint, a run directory, or whatever else names a checkpoint.
        episodes: How many.
        seed: The number of the first.
        deterministic: Take the policy's best action instead of sampling.
        environment: Where to play, if not where it was trained.
        batch: How many copies play at once; the scores do not depend on it.
        threads: Threads that step a batched environment; 0 for one a CPU.
        project: Where references are looked up; the current one by default.

    Raises:
        NotFoundError: The reference names nothing.
        CheckpointError: The checkpoint is not whole, or does not fit the environment.
        SimulationError: The environment failed.
    """
    checkpoint = read_checkpoint(find_checkpoint(reference, project))
    # A sampling actor is seeded by the episodes' number too, so that a repetition gives the same scores.
    actor = PolicyActor(checkpoint, stochastic=not deterministic, seed=seed)
    source = environment or EnvSource.from_json(checkpoint.record.environment)
    return run_episodes(actor, source, episodes=episodes, seed=seed, batch=batch, threads=threads)


def run_episodes(
    actor: Actor,
    source: EnvSource,
    *,
    episodes: int = 10,
    seed: int = SEED,
    batch: int = BATCH,
    threads: int = 0,
    step_limit: int = STEP_LIMIT,
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

    Raises:
        RequestError: No episode was asked for.
        CheckpointError: The actor's spaces are not the environment's.
        SimulationError: The environment failed.
    """
    if episodes < 1:
        raise RequestError(f"an evaluation has at least one episode, and {episodes} were asked for.")
    copies = _open(source, max(1, min(episodes, batch)), threads)
    try:
        if isinstance(actor, PolicyActor):
            _require_fit(actor, copies, source)
        scores = _play(actor, copies, episodes, seed, step_limit)
    finally:
        copies.close()
    return Evaluation(
        environment=source.env_id,
        checkpoint=actor.checkpoint.path if isinstance(actor, PolicyActor) else None,
        seed=seed,
        deterministic=actor.deterministic,
        returns=tuple(score.value for score in scores),
        lengths=tuple(score.length for score in scores),
        reasons=tuple(score.reason for score in scores),
        terminated=tuple(score.terminated for score in scores),
    )


@dataclass
class _Score:
    value: float = 0.0
    length: int = 0
    reason: str = ""
    terminated: bool = False


@dataclass(frozen=True)
class _Ending:
    copy: int
    terminated: bool
    reason: str


class _Copies(Protocol):
    """Copies of an environment that begin an episode when told to, and not before."""

    count: int
    observation_space: Any
    action_space: Any

    def begin(self, ids: Sequence[int], seeds: Sequence[int]) -> None: ...

    def observe(self) -> NDArray[Any]: ...

    def step(self, actions: NDArray[Any], playing: Sequence[int]) -> tuple[NDArray[Any], list[_Ending]]: ...

    def close(self) -> None: ...


def _play(actor: Actor, copies: _Copies, episodes: int, seed: int, step_limit: int) -> list[_Score]:
    scores = [_Score() for _ in range(episodes)]
    playing: dict[int, int] = {}
    following = iter(range(episodes))

    def begin(ids: Sequence[int]) -> None:
        started = dict(zip(ids, following, strict=False))
        playing.update(started)
        if started:
            copies.begin(list(started), [seed + episode for episode in started.values()])
            actor.reset(list(started), streams=list(started.values()))

    begin(range(copies.count))
    while playing:
        rewards, endings = copies.step(actor.act(copies.observe()), list(playing))
        for copy, episode in playing.items():
            scores[episode].value += float(rewards[copy])
            scores[episode].length += 1
        over = {ending.copy: ending for ending in endings if ending.copy in playing}
        for copy, episode in playing.items():
            if copy not in over and scores[episode].length >= step_limit:
                over[copy] = _Ending(copy, False, "step_limit")
        for copy, ending in over.items():
            score = scores[playing.pop(copy)]
            score.reason, score.terminated = ending.reason, ending.terminated
        begin(sorted(over))
    return scores


def _open(source: EnvSource, count: int, threads: int) -> _Copies:
    batch = make_batch(source, count, threads)
    return _BatchCopies(batch) if batch is not None else _GymCopies(source, count)


class _BatchCopies:
    def __init__(self, batch: BatchEnv[Any]) -> None:
        self._batch = batch
        self.count = batch.n_envs
        self.observation_space = batch.observation_space
        self.action_space = batch.action_space
        self._observations = batch.reset(seed=0)

    def begin(self, ids: Sequence[int], seeds: Sequence[int]) -> None:
        self._observations = self._batch.reset(seed=seeds, ids=ids)

    def observe(self) -> NDArray[Any]:
        return self._observations

    def step(self, actions: NDArray[Any], playing: Sequence[int]) -> tuple[NDArray[Any], list[_Ending]]:
        # Every copy starts anew where it ends, those without a further episode too: none is stepped from a state in
        # which its environment has told it to stop.
        result = self._batch.step_arrays(actions)
        self._observations = result.observations
        return result.rewards, [_Ending(one.copy, one.terminated, one.reason) for one in result.episodes]

    def close(self) -> None:
        self._batch.close()


class _GymCopies:
    def __init__(self, source: EnvSource, count: int) -> None:
        self._name = source.name
        self._envs = [make_single(source) for _ in range(count)]
        self.count = count
        self.observation_space = self._envs[0].observation_space
        self.action_space = self._envs[0].action_space
        self._observations: list[Any] = [np.zeros(self.observation_space.shape or ())] * count

    def begin(self, ids: Sequence[int], seeds: Sequence[int]) -> None:
        for copy, seed in zip(ids, seeds, strict=True):
            with self._named():
                self._observations[copy], _ = self._envs[copy].reset(seed=seed)

    def observe(self) -> NDArray[Any]:
        return np.stack(self._observations)

    def step(self, actions: NDArray[Any], playing: Sequence[int]) -> tuple[NDArray[Any], list[_Ending]]:
        rewards, endings = np.zeros(self.count), []
        for copy in playing:
            with self._named():
                observation, reward, terminated, truncated, info = self._envs[copy].step(actions[copy])
            self._observations[copy], rewards[copy] = observation, reward
            if not np.isfinite(rewards[copy]):
                raise SimulationError(f"{self._name} gave a reward of {rewards[copy]}.")
            if terminated or truncated:
                named = info.get("terminated_reason" if terminated else "truncated_reason")
                endings.append(_Ending(copy, bool(terminated), str(named or UNNAMED[bool(terminated)])))
        return rewards, endings

    def close(self) -> None:
        for env in self._envs:
            env.close()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except WorkbenchError:
            raise
        except Exception as error:
            raise SimulationError(f"{self._name} raised {type(error).__name__}: {error}") from error


def _require_fit(actor: PolicyActor, copies: _Copies, source: EnvSource) -> None:
    record = actor.record
    faults = []
    for what, wanted, space in (
        ("observations", record.observation_space, copies.observation_space),
        ("actions", record.action_space, copies.action_space),
    ):
        found = describe_space(space, what)
        if (found.kind, found.shape, found.n) != (wanted.kind, wanted.shape, wanted.n):
            faults.append(
                f"it was trained on {what} of {_size(wanted)}, and those of {source.name} are of {_size(found)}"
            )
    if faults:
        raise CheckpointError(f"{actor.checkpoint.path} does not fit {source.name}: {'; '.join(faults)}.")


def _size(space: Any) -> str:
    return f"{space.n} choices" if space.kind == "discrete" else f"shape {space.shape}"
