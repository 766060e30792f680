"""What a step of all copies returns, and the statistics of whole episodes, kept in arrays until a copy ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Episode:
    """One whole episode of one copy."""

    copy: int
    """The copy that lived it."""
    ret: float
    """The return: the sum of its rewards."""
    length: int
    """Its steps."""
    terminated: bool
    """Whether it ended by itself; a truncated one was cut."""
    reason: str
    """The ending's name: a termination of the environment, `time_limit`, or another truncation."""
    reward_square_sum: float = 0.0
    """The sum of the squared rewards, from which the spread per step follows."""
    term_sums: Mapping[str, float] = field(default_factory=dict)
    """The sum of each reward term."""
    term_square_sums: Mapping[str, float] = field(default_factory=dict)
    """The sum of the squares of each reward term."""
    info_sums: Mapping[str, float] = field(default_factory=dict)
    """The sum of each numeric info over the steps."""
    info_square_sums: Mapping[str, float] = field(default_factory=dict)
    """The sum of the squares of each numeric info."""
    success: bool | None = None
    """Whether the ending is one the environment counts as success; None where it names none."""

    def ending(self) -> dict[str, Any]:
        """Return how it ended, as the info of its last step says it."""
        told: dict[str, Any] = {"terminated_reason" if self.terminated else "truncated_reason": self.reason}
        return told if self.success is None else told | {"is_success": self.success}


@dataclass(slots=True)
class StepArrays:
    """One step of all copies as arrays, those that ended already started anew.

    Every array is the caller's to keep: none is written again by a later step.
    """

    observations: Any
    """(n, o): the first observation of the new episode where a copy ended."""
    rewards: Floats
    """(n,): the sum of the reward terms."""
    terminated: NDArray[np.bool_]
    """(n,): the episode ended by itself."""
    truncated: NDArray[np.bool_]
    """(n,): the episode was cut and did not also terminate: exactly where a value must be bootstrapped."""
    reward_terms: dict[str, Floats]
    """Each term (n,)."""
    infos: dict[str, NDArray[Any]]
    """Each info (n, …) of the environment."""
    ended: NDArray[np.intp]
    """The copies that ended, ascending."""
    final_observations: Any
    """(k, o): the last observation of each copy in `ended`."""
    episodes: list[Episode]
    """One record for each copy in `ended`, in that order."""


class EpisodeStatistics:
    """Running sums of what every copy's current episode gave.

    Args:
        n_envs: How many copies.
        terms: The names of the reward terms.
        infos: The names of the numeric infos.
    """

    def __init__(self, n_envs: int, terms: Sequence[str], infos: Sequence[str]) -> None:
        self._terms = tuple(terms)
        self._infos = tuple(infos)
        # One row a quantity: the terms, the reward, the infos.
        rows = len(self._terms) + 1 + len(self._infos)
        self._sums = np.zeros((rows, n_envs))
        self._squares = np.zeros((rows, n_envs))

    @property
    def arrays(self) -> tuple[Floats, Floats]:
        """All there is to know: the sums and the sums of squares, live."""
        return self._sums, self._squares

    def add(self, values: Floats) -> None:
        """Add one step: `values` (terms + 1 + infos, n), the reward after its terms; their squares may overflow."""
        self._sums += values
        self._squares += values * values

    def clear(self, ids: NDArray[np.intp] | slice) -> None:
        """Forget what the copies `ids` have gathered."""
        self._sums[:, ids] = 0.0
        self._squares[:, ids] = 0.0

    def returns(self) -> Floats:
        """Return the reward gathered so far (n,)."""
        gathered: Floats = self._sums[len(self._terms)].copy()
        return gathered

    def record(self, copy: int, *, length: int, terminated: bool, reason: str, success: bool | None = None) -> Episode:
        """Return the record of the copy's episode, which has ended."""
        sums, squares = self._sums[:, copy].tolist(), self._squares[:, copy].tolist()
        k = len(self._terms)
        return Episode(
            copy=copy,
            ret=sums[k],
            length=length,
            terminated=terminated,
            reason=reason,
            reward_square_sum=squares[k],
            term_sums=dict(zip(self._terms, sums, strict=False)),
            term_square_sums=dict(zip(self._terms, squares, strict=False)),
            info_sums=dict(zip(self._infos, sums[k + 1 :], strict=True)),
            info_square_sums=dict(zip(self._infos, squares[k + 1 :], strict=True)),
            success=success,
        )
