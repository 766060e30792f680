"""The chart of the list of runs: one entry a run or group, each with its colour and letter, groups as bands."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.ui.charts.model import ChartData
from workbench.ui.charts.overlay import Identity, Overlay
from workbench.ui.drawn_runs import Drawn
from workbench.ui.past import Past
from workbench.ui.run_charts import NO_PAST, RETURN, SeedGroup, Spec, overlay_chart
from workbench.ui.run_list import Line
from workbench.ui.seed_bands import SeedBands
from workbench.ui.watch import RunRow

if TYPE_CHECKING:
    from workbench.ui.screens.runs import RunsScreen


class RunOverlay:
    """Draws into the chart of a screen what its list says; nothing where nothing changed.

    Args:
        screen: Whose chart it is.
    """

    def __init__(self, screen: RunsScreen) -> None:
        self.empty = ChartData(RETURN, "return")
        self._screen = screen
        self._overlay = Overlay()
        self._bands: SeedBands | None = None
        self._key: object = None

    def identities(self, keys: Iterable[str]) -> Mapping[str, Identity]:
        """Return the colour and the letter of each entry that is drawn, by a run's name and a group's key."""
        return self._overlay.assign(keys)

    def draw(self, shown: Drawn, line: Line | None, current: RunRow | None, pasts: Mapping[Path, Past]) -> None:
        """Show the returns of what is drawn, what is under the cursor in front."""
        known = self.identities(shown.keys)
        groups = tuple(self._group(head, pasts) for head in shown.groups)
        if self._bands is not None:
            self._bands.forget([group.key for group in groups])
        leading = current or next(iter(shown.everyone), None)
        spec, playing = self._spec(leading, pasts), self._playing(current)
        own = None if line is None or line.is_head else current
        everyone = shown.everyone
        told = [(row.path, row.state, row.steps, row.best, pasts.get(row.path)) for row in everyone]
        drawn = {row.path for row in everyone}
        parents = [past for path, past in pasts.items() if path not in drawn]
        bands = [(group.key, group.label, id(group.band), len(group.rows)) for group in groups]
        key = (told, parents, bands, dict(known), None if line is None else line.key, spec, playing)
        if key != self._key:
            self._key = key
            self._screen.chart.data = overlay_chart(
                shown.rows,
                pasts,
                known,
                own or current,
                spec,
                groups=groups,
                current_group=line.group if line is not None and line.is_head else "",
                playing=playing,
            )

    def _group(self, head: Line, pasts: Mapping[Path, Past]) -> SeedGroup:
        if self._bands is None:
            self._bands = SeedBands(self._screen.app, self._screen.draw, clock=time.monotonic)
        known = [pasts.get(row.path, NO_PAST) for row in head.members]
        points = [past.series.get(RETURN) for past in known]
        weight, version = self._screen.chart_view.weight, tuple(past.version for past in known)
        band = self._bands.band(head.group, points, weight, version=version)
        return SeedGroup(head.group, f"{head.row.env_name} ×{len(head.members)}", head.members, band)

    def _spec(self, row: RunRow | None, pasts: Mapping[Path, Past]) -> Spec:
        if row is None:
            return Spec()
        library = self._screen.workbench.library
        description, entry = library.description(row.env_name), library.entry(row.env_name)
        recipe = None if entry is None else entry.training
        return Spec.of(
            pasts.get(row.path, NO_PAST).record,
            None if description is None else description.episode_steps,
            None if recipe is None else recipe.reference,
        )

    def _playing(self, row: RunRow | None) -> int | None:
        """Return the steps of the checkpoint of a run that the viewer plays."""
        playing = self._screen.workbench.viewer.playing
        if row is None or playing is None or playing.ready is None or playing.state is None:
            return None
        return playing.state.checkpoint if str(playing.ready.run) == str(row.path) else None
