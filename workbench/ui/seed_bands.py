"""Bands of groups of seeds, computed beside the app and kept until the runs have more to say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textual.app import App

from workbench.runs.statistics import SeedBand, seed_band
from workbench.ui.charts.smoothing import smooth
from workbench.ui.past import Points

Steps = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The steps and the values of one run, `(n,)` each."""

INTERVAL_S = 5.0
"""A band is computed no more often; its group may have grown twenty times meanwhile."""


@dataclass
class _Known:
    """What is known of one group."""

    version: object = None
    band: SeedBand | None = None
    computed: float = float("-inf")
    """When it was last begun, in seconds of the clock."""
    is_busy: bool = False
    is_waiting: bool = False
    """Whether it will be asked for again by itself."""
    weight: float = 0.0
    told: int = 0
    """How many of its runs had something to say."""


class SeedBands:
    """The bands of the groups a screen shows.

    Args:
        app: Whose workers compute them.
        on_ready: Called when a band is another one.
        clock: Seconds.
        interval_s: How often a band may be computed.
    """

    def __init__(
        self,
        app: App[Any],
        on_ready: Callable[[], None],
        *,
        clock: Callable[[], float],
        interval_s: float = INTERVAL_S,
    ) -> None:
        self._app, self._on_ready = app, on_ready
        self._clock, self._interval_s = clock, interval_s
        self._known: dict[str, _Known] = {}

    def band(self, key: str, members: Sequence[Points | None], weight: float, *, version: object) -> SeedBand | None:
        """Return the newest band of a group, and have a newer one computed where it has grown.

        A group that has nothing to say yet has no band: computed, it would stand there empty for seconds.

        Args:
            key: The group and the metric.
            members: The metric of each run; one that has none yet counts as a run without data.
            weight: Of the smoothing of each run. Another one is computed at once, and so is a run that joins in.
            version: What differs where the runs have more to say.
        """
        known = self._known.setdefault(key, _Known())
        wanted = (version, weight)
        if wanted == known.version or known.is_busy:
            return known.band
        told = sum(item is not None and len(item.values) > 0 for item in members)
        if not told:
            return None
        is_new = (known.weight, known.told) != (weight, told)
        wait = 0.0 if is_new else known.computed + self._interval_s - self._clock()
        if wait <= 0:
            known.is_busy, known.computed, known.weight, known.told = True, self._clock(), weight, told
            nothing = np.empty(0)
            series = [(nothing, nothing) if item is None else (item.steps, item.values) for item in members]
            self._app.run_worker(self._compute(known, wanted, series, weight), group="bands")
        elif not known.is_waiting:
            known.is_waiting = True
            self._app.set_timer(wait, partial(self._ask_again, known))
        return known.band

    def forget(self, keys: Collection[str]) -> None:
        """Forget all groups but some."""
        self._known = {key: known for key, known in self._known.items() if key in keys}

    def _ask_again(self, known: _Known) -> None:
        known.is_waiting = False
        self._on_ready()

    async def _compute(self, known: _Known, version: object, series: list[Steps], weight: float) -> None:
        try:
            known.band = await asyncio.to_thread(_smoothed_band, series, weight)
            known.version = version
        finally:
            known.is_busy = False
        self._on_ready()


def _smoothed_band(series: list[Steps], weight: float) -> SeedBand:
    return seed_band([(steps, smooth(values, weight)) for steps, values in series])
