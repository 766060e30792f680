"""Several policies in step: each in an environment of its own, all begun with the same seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError
from workbench.runs.recordings import EpisodeResult
from workbench.viewer.history import EpisodeHistory, Moment
from workbench.viewer.session import Session, has_mujoco_model

MOST = 9
"""Policies that are still told apart side by side."""

COLOURS = (
    (0.16, 0.47, 0.86), (0.90, 0.49, 0.13), (0.18, 0.63, 0.38), (0.80, 0.27, 0.42), (0.50, 0.38, 0.78),
    (0.10, 0.63, 0.67), (0.72, 0.56, 0.12), (0.45, 0.47, 0.52), (0.62, 0.36, 0.24),
)  # fmt: skip
"""What tells the policies apart, in order; the first is the panel's own."""


class Lane:
    """One session and the states of its episode.

    Args:
        session: The environment and what acts in it.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.past = EpisodeHistory(session.env.unwrapped.model) if has_mujoco_model(session.env) else None

    @property
    def now(self) -> Moment:
        """The numbers of the newest state."""
        session = self.session
        return Moment(session.steps, session.return_, session.reward, session.terms)

    def begin(self, first_seed: int, number: int) -> None:
        """Begin an episode.

        Raises:
            SimulationError: The environment raised.
        """
        self.session.first_seed = first_seed
        self.session.begin(number)
        if self.past is not None:
            self.past.begin()
        self.keep()

    def step(self) -> EpisodeResult | None:
        """Take one step and return how the episode ended with it, or None; one that has ended stays as it is.

        Raises:
            SimulationError: The environment raised.
        """
        if self.session.ended:
            return None
        ended = self.session.step()
        self.keep()
        return ended

    def keep(self) -> None:
        """Keep the state as it is now."""
        if self.past is not None:
            self.past.add(self.session.env.unwrapped.data, self.now)

    def keep_again(self) -> None:
        """Keep the state in place of the newest kept one, because it was changed by hand."""
        if self.past is not None:
            self.past.replace(self.session.env.unwrapped.data)

    def data(self, step: int | None) -> Any:
        """Return the `MjData` after a step, or of now; an episode that ended before it stays in its last state."""
        if self.past is None or step is None or step >= self.past.last:
            return self.session.env.unwrapped.data
        return self.past.data(max(step, self.past.first))

    def moment(self, step: int | None) -> Moment:
        """Return the numbers after a step, or of now."""
        if self.past is None or step is None or step >= self.past.last:
            return self.now
        return self.past.moment(max(step, self.past.first))


def check_count(count: int) -> None:
    """Refuse more policies than can be told apart.

    Raises:
        RequestError: There are too many.
    """
    if count > MOST:
        raise RequestError(f"at most {MOST} policies play side by side, not {count}.", hint="Leave some out.")


def columns_of(count: int) -> int:
    """Return in how many columns so many stand: up to three in one row, else as square as can be."""
    return count if count <= 3 else math.ceil(math.sqrt(count))


def mosaic(pictures: Sequence[NDArray[np.uint8]], columns: int) -> NDArray[np.uint8]:
    """Return pictures of one size `(h, w, c)` in rows of so many; the last row is filled up with its darkest tone."""
    rows = math.ceil(len(pictures) / columns)
    height, width, channels = pictures[0].shape
    whole = np.zeros((rows * height, columns * width, channels), dtype=np.uint8)
    for index, picture in enumerate(pictures):
        row, column = divmod(index, columns)
        whole[row * height : (row + 1) * height, column * width : (column + 1) * width] = picture
    return whole
