"""Copies of an environment that begin an episode when told to, and not before; batched, or plain ones in a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.errors import SimulationError, WorkbenchError
from workbench.policies.environments import EnvironmentFacts, facts_of
from workbench.simulation import BatchEnv, EnvSource, make_batch, make_single

UNNAMED = {True: "terminated", False: "time_limit"}
"""The reasons of endings that an environment does not name, by whether they are terminal."""

SIMULATION_PROBLEM = "simulation_problem"
"""The reason of an episode in which a number was not finite, or MuJoCo gave up."""

SUCCESS_KEYS = ("is_success", "success")
"""What Gymnasium's environments call it in `info`; the first is Stable-Baselines3's name too."""

_TERM = "reward_"


@dataclass(frozen=True)
class Ending:
    """How the episode of a copy ended."""

    copy: int
    terminated: bool
    reason: str
    success: bool | None = None
    """None where the environment does not say."""
    terms: Mapping[str, float] | None = None
    """The sum of each reward term over the episode."""
    problem: str = ""
    """What went wrong in the simulation, where that ended it."""


class Copies(Protocol):
    """Copies of an environment that play episodes."""

    count: int
    facts: EnvironmentFacts
    """What a policy must fit."""
    period_s: float | None
    """Simulated time of a step; None where the environment does not say."""

    def begin(self, ids: Sequence[int], seeds: Sequence[int]) -> list[int]:
        """Begin an episode in some copies, and return those of them that are successful before they have acted.

        Raises:
            SimulationError: The environment failed; `culprit` tells whether it was in one copy alone.
        """
        ...

    def observe(self) -> NDArray[Any]:
        """Return what all copies see."""
        ...

    def step(self, actions: NDArray[Any], playing: Sequence[int]) -> tuple[NDArray[Any], list[Ending]]:
        """Step, and return the rewards (count,), and the endings of copies that play.

        Raises:
            SimulationError: As in `begin`.
        """
        ...

    def terms(self, copy: int) -> Mapping[str, float]:
        """Return the sum of each reward term over the episode that a copy plays."""
        ...

    def close(self) -> None:
        """Let the environment go."""
        ...


def open_copies(source: EnvSource, count: int, threads: int) -> Copies:
    """Make copies of an environment.

    Args:
        source: The environment.
        count: How many.
        threads: Threads that step a batched one; 0 for one a CPU.
    """
    batch = make_batch(source, count, threads)
    return _GymCopies(source, count) if batch is None else _BatchCopies(batch, source, threads)


def culprit(error: SimulationError) -> int | None:
    """Return the copy whose simulation failed; None where the environment's own code did, for all copies alike."""
    copy = getattr(error, "copy", None)
    if copy is not None:
        return int(copy)
    # MuJoCo's own error tells of the copies that it concerns.
    ids: Sequence[int] = getattr(error.__cause__, "ids", ())
    return int(ids[0]) if len(ids) else None


class _BatchCopies:
    def __init__(self, batch: BatchEnv[Any], source: EnvSource, threads: int) -> None:
        self._batch = batch
        self._source, self._threads = source, threads
        self._probe: BatchEnv[Any] | None = None
        self.count = batch.n_envs
        self.facts = facts_of(batch, source.name)
        self.period_s: float | None = batch.control_dt
        self._observations = batch.reset(seed=0)

    def begin(self, ids: Sequence[int], seeds: Sequence[int]) -> list[int]:
        self._observations = self._batch.reset(seed=seeds, ids=ids)
        return self._successful_at_once(ids, seeds) if self._batch.successes else []

    def observe(self) -> NDArray[Any]:
        return self._observations

    def step(self, actions: NDArray[Any], playing: Sequence[int]) -> tuple[NDArray[Any], list[Ending]]:
        # Every copy starts anew where it ends, those without a further episode too: none is stepped from a state in
        # which its environment has told it to stop.
        result = self._batch.step_arrays(actions)
        self._observations = result.observations
        return result.rewards, [
            Ending(one.copy, one.terminated, one.reason, one.success, one.term_sums) for one in result.episodes
        ]

    def terms(self, copy: int) -> Mapping[str, float]:
        sums, _ = self._batch.statistics.arrays
        return dict(zip(self._batch.reward_names, sums[:, copy].tolist(), strict=False))

    def close(self) -> None:
        self._batch.close()
        if self._probe is not None:
            self._probe.close()

    def _successful_at_once(self, ids: Sequence[int], seeds: Sequence[int]) -> list[int]:
        # Asked of copies that play nothing: an author may count in `terminations` how long a goal is held.
        if self._probe is None:
            self._probe = make_batch(self._source, self.count, self._threads)
        probe = self._probe
        assert probe is not None
        try:
            with np.errstate(all="ignore"):
                probe.reset(seed=seeds, ids=ids)
                probe.before_step()
                flags = {**probe.terminations(), **probe.truncations()}
        except Exception:
            # It need not be made to be asked before a first step.
            return []
        met = [flags[name] for name in probe.successes if name in flags]
        return [copy for copy in ids if any(flag[copy] for flag in met)]


class _GymCopies:
    def __init__(self, source: EnvSource, count: int) -> None:
        self._name = source.name
        self._envs = [make_single(source) for _ in range(count)]
        self.count = count
        self.facts = facts_of(self._envs[0], source.name)
        self.period_s = self.facts.control_period_s or _frame_period(self._envs[0])
        self._observations: list[Any] = [np.zeros(self._envs[0].observation_space.shape or ())] * count
        self._terms: list[dict[str, float]] = [{} for _ in range(count)]

    def begin(self, ids: Sequence[int], seeds: Sequence[int]) -> list[int]:
        successful = []
        for copy, seed in zip(ids, seeds, strict=True):
            with self._named():
                self._observations[copy], info = self._envs[copy].reset(seed=seed)
            self._terms[copy] = {}
            if _success(info):
                successful.append(copy)
        return successful

    def observe(self) -> NDArray[Any]:
        return np.stack(self._observations)

    def step(self, actions: NDArray[Any], playing: Sequence[int]) -> tuple[NDArray[Any], list[Ending]]:
        rewards, endings = np.zeros(self.count), []
        for copy in playing:
            with self._named():
                observation, reward, terminated, truncated, info = self._envs[copy].step(actions[copy])
            self._observations[copy] = observation
            wrong = _not_finite(reward, observation)
            if wrong:
                problem = f"{self._name} gave {wrong}."
                endings.append(Ending(copy, False, SIMULATION_PROBLEM, None, self._terms[copy], problem))
                continue
            rewards[copy] = reward
            self._add_terms(copy, info)
            if terminated or truncated:
                named = info.get("terminated_reason" if terminated else "truncated_reason")
                reason = str(named or UNNAMED[bool(terminated)])
                endings.append(Ending(copy, bool(terminated), reason, _success(info), self._terms[copy]))
        return rewards, endings

    def terms(self, copy: int) -> Mapping[str, float]:
        return self._terms[copy]

    def close(self) -> None:
        for env in self._envs:
            env.close()

    def _add_terms(self, copy: int, info: Mapping[str, Any]) -> None:
        sums = self._terms[copy]
        for key, value in info.items():
            if key.startswith(_TERM) and isinstance(value, int | float | np.number):
                name = key[len(_TERM) :]
                sums[name] = sums.get(name, 0.0) + float(value)

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except WorkbenchError:
            raise
        except Exception as error:
            raise SimulationError(f"{self._name} raised {type(error).__name__}: {error}") from error


def _success(info: Mapping[str, Any]) -> bool | None:
    for key in SUCCESS_KEYS:
        if key in info:
            return bool(np.all(info[key]))
    return None


def _not_finite(reward: Any, observation: Any) -> str:
    if not np.isfinite(reward):
        return f"a reward of {reward}"
    seen = np.asarray(observation)
    return "" if seen.dtype.kind != "f" or np.isfinite(seen).all() else "an observation that is not finite"


def _frame_period(env: Any) -> float | None:
    """Return how long a step is by the rate at which it is drawn, as Gymnasium's own environments tell it."""
    rate = (getattr(env.unwrapped, "metadata", None) or {}).get("render_fps")
    return 1.0 / float(rate) if rate else None
