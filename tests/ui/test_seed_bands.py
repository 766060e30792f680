"""When the band of a group of seeds is computed, and when not."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from textual.app import App
from textual.pilot import Pilot

from workbench.ui.past import Points
from workbench.ui.seed_bands import SeedBands


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class BandApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.ready = 0
        self.bands = SeedBands(self, self._heard, clock=self.clock)

    def _heard(self) -> None:
        self.ready += 1


def points(height: float, count: int = 50) -> Points:
    steps = np.arange(1, count + 1) * 10.0
    return Points(steps, steps, steps, np.full(count, height))


GROUP = (points(1.0), points(2.0), points(6.0))


async def computed(pilot: Pilot[None], times: int) -> None:
    app = pilot.app
    assert isinstance(app, BandApp)
    async with asyncio.timeout(10):
        while app.ready < times:
            await pilot.pause(0.005)


@pytest.fixture
def app() -> BandApp:
    return BandApp()


async def test_a_band_is_computed_once_a_version_and_no_more_often_than_it_may(app: BandApp) -> None:
    async with app.run_test() as pilot:
        assert app.bands.band("g", GROUP, 0.9, version=1) is None
        assert app.bands.band("g", GROUP, 0.9, version=1) is None
        await computed(pilot, 1)
        first = app.bands.band("g", GROUP, 0.9, version=1)
        assert first is not None and first.iqm == pytest.approx(np.full(len(first.steps), 3.0))
        app.clock.now += 1
        assert app.bands.band("g", GROUP, 0.9, version=2) is first
        app.clock.now += 5
        assert app.bands.band("g", GROUP, 0.9, version=2) is first
        await computed(pilot, 2)
        assert app.bands.band("g", GROUP, 0.9, version=2) is not first
        assert app.ready == 2


async def test_another_smoothing_is_computed_at_once(app: BandApp) -> None:
    async with app.run_test() as pilot:
        app.bands.band("g", GROUP, 0.9, version=1)
        await computed(pilot, 1)
        app.bands.band("g", GROUP, 0.6, version=1)
        await computed(pilot, 2)


async def test_a_run_without_the_metric_counts_as_one_without_data(app: BandApp) -> None:
    async with app.run_test() as pilot:
        app.bands.band("g", (*GROUP[:2], None), 0.0, version=1)
        await computed(pilot, 1)
        band = app.bands.band("g", (*GROUP[:2], None), 0.0, version=1)
        assert band is not None and (band.runs, set(band.count.tolist())) == (3, {2})


async def test_what_may_not_be_computed_yet_is_asked_for_again_by_itself() -> None:
    app = BandApp()
    app.bands = SeedBands(app, app._heard, clock=app.clock, interval_s=0.05)
    async with app.run_test() as pilot:
        app.bands.band("g", GROUP, 0.9, version=1)
        await computed(pilot, 1)
        app.bands.band("g", GROUP, 0.9, version=2)
        await computed(pilot, 2)


async def test_what_is_forgotten_is_computed_anew(app: BandApp) -> None:
    async with app.run_test() as pilot:
        app.bands.band("g", GROUP, 0.9, version=1)
        await computed(pilot, 1)
        app.bands.forget(())
        assert app.bands.band("g", GROUP, 0.9, version=1) is None
        await computed(pilot, 2)


async def test_runs_that_tell_nothing_yet_have_no_band_and_get_one_as_soon_as_they_do(app: BandApp) -> None:
    async with app.run_test() as pilot:
        nothing = points(0.0, 0)
        assert app.bands.band("g", (None, nothing, None), 0.9, version=(0, 0, 0)) is None
        await pilot.pause(0.05)
        assert app.ready == 0
        app.bands.band("g", (GROUP[0], nothing, None), 0.9, version=(1, 0, 0))
        await computed(pilot, 1)
        # The clock stands still: the others' first words do not wait for the interval to pass.
        app.bands.band("g", GROUP, 0.9, version=(1, 1, 1))
        await computed(pilot, 2)
        band = app.bands.band("g", GROUP, 0.9, version=(1, 1, 1))
        assert band is not None and set(band.count.tolist()) == {3}
