"""What a chart shows and how it is looked at: frozen values handed to the drawing."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from workbench.runs.statistics import SeedBand

Floats = NDArray[np.float64]


class XAxis(StrEnum):
    """What runs along the bottom."""

    STEPS = "steps"
    WALL = "wall time"
    EPISODES = "episodes"


class SeedView(StrEnum):
    """How a group of seeds is drawn."""

    BAND = "band"
    """The interquartile mean in its 95 % bootstrap interval."""
    RANGE = "range"
    """The median, from the lowest to the highest."""
    LINES = "lines"
    """Each seed, thin."""


@dataclass(frozen=True, eq=False)
class Curve:
    """One series of one run, with the three positions of each of its points."""

    key: str
    """The run it belongs to, or the term or ending in a chart of one run."""
    label: str
    """Its name in the readout."""
    steps: Floats
    wall_s: Floats
    """Of active training, as rows of metrics carry it: pauses count for nothing."""
    episodes: Floats
    values: Floats
    letter: str = ""
    """Stands at the end of the line and in the readout."""
    slot: int | None = None
    """Which of the eight series colours; none is muted."""
    bold: bool = False
    """Drawn last and heavier: the one under the list's cursor."""
    budget: float | None = None
    """The steps this run may take while it is live; the axis reaches that far once the data does nearly."""
    reached: float = 0.0
    """The steps done so far, where the run is further than its newest point."""
    parent: Curve | None = None
    """The same metric of the run it was forked from: drawn thin up to the joint, over steps."""

    def x(self, axis: XAxis, start: int = 0) -> Floats:
        """Return the positions along an axis, those of the points from `start` on."""
        if axis is XAxis.STEPS:
            return self.steps[start:]
        if axis is XAxis.EPISODES:
            return self.episodes[start:]
        return self.wall_s[start:]


@dataclass(frozen=True, eq=False)
class Group:
    """Runs that differ in their seed only, as one entry of a chart."""

    key: str
    label: str
    members: tuple[Curve, ...]
    """Each with a key of its own; letter, slot and bold are the group's."""
    letter: str = ""
    slot: int | None = None
    bold: bool = False
    band: SeedBand | None = None
    """What they say together; without it they are drawn as lines."""
    weight: float = 0.9
    """How the members were smoothed for the band."""
    shows_members: bool = False
    """Whether its members are drawn thin behind the band too."""


@dataclass(frozen=True)
class Reference:
    """A dotted line at a value that has a name: the goal, a measured return, a published one."""

    value: float
    name: str
    """Stands on the line."""
    spread: float | None = None
    """Its standard deviation over seeds."""
    seeds: int | None = None
    """How many it was measured with."""
    steps: float | None = None
    """After how many steps it was measured."""
    source: str = ""
    """Who says so: the recipe, a paper."""
    compared: bool = False
    """Whether the readout gives the value of the curve in front as a share of it."""


@dataclass(frozen=True)
class Point:
    """A single value at a step, such as an evaluation."""

    steps: float
    value: float
    spread: float = 0.0


@dataclass(frozen=True)
class Ladder:
    """A checkpoint under the axis."""

    steps: int
    sign: str = "◇"


@dataclass(frozen=True)
class Flag:
    """A letter at the top edge: something happened at this step."""

    steps: float
    sign: str


@dataclass(frozen=True, eq=False)
class Bar:
    """One part of a whole."""

    letter: str
    name: str
    share: float | None
    """Of the whole, 1 for all of it; below nothing where it takes from it. None where the whole is nothing."""
    slot: int | None = None
    """Which of the series colours; none is muted."""
    facts: tuple[str, ...] = ()
    """What is said of it, one for each head of the bars."""
    trend: Floats | None = None
    """Its course, `(n,)`."""


@dataclass(frozen=True, eq=False)
class Bars:
    """All parts of a whole."""

    heads: tuple[str, ...]
    """What the facts are called."""
    bars: tuple[Bar, ...]
    note: str = ""
    """Stands below: what the whole comes to, and what of it is not known."""


@dataclass(frozen=True, eq=False)
class ChartData:
    """All that one chart may show."""

    metric: str
    """The name the log scale is remembered by."""
    title: str
    curves: tuple[Curve, ...] = ()
    references: tuple[Reference, ...] = ()
    points: tuple[Point, ...] = ()
    checkpoints: tuple[Ladder, ...] = ()
    flags: tuple[Flag, ...] = ()
    note: str = ""
    """Stands behind the title."""
    legend: bool = False
    """Whether the title names the curves, each in its colour."""
    empty: str = "No points yet."
    """Why there is nothing to see."""
    groups: tuple[Group, ...] = ()
    """Drawn together with the curves, a bold one last."""
    playing: int | None = None
    """The steps of the checkpoint that the viewer plays."""
    bars: Bars | None = None
    """What stands in place of a table of numbers."""


@dataclass(frozen=True)
class ChartView:
    """How all charts of one screen are looked at."""

    weight: float = 0.9
    """Of the exponential mean; 0 draws raw values."""
    x_axis: XAxis = XAxis.STEPS
    log: frozenset[str] = field(default_factory=frozenset)
    """The metrics whose y axis is logarithmic."""
    window: tuple[float, float] | None = None
    """The visible stretch of x; none shows everything."""
    following: bool = True
    """Whether a window moves on with the newest point."""
    cursor: float | None = None
    """The step the crosshair was set to; it stays there."""
    hovered: float | None = None
    """The step under the pointer: the crosshair while none is set."""
    seeds: SeedView = SeedView.BAND
    numbers: bool = False
    """Whether charts are tables of numbers."""

    @property
    def at(self) -> float | None:
        """The step of the crosshair, set or under the pointer."""
        return self.hovered if self.cursor is None else self.cursor
