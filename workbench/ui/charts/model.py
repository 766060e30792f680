"""What a chart shows and how it is looked at: frozen values handed to the drawing."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class XAxis(StrEnum):
    """What runs along the bottom."""

    STEPS = "steps"
    WALL = "wall time"
    EPISODES = "episodes"


@dataclass(frozen=True, eq=False)
class Curve:
    """One series of one run, with the three positions of each of its points."""

    key: str
    """The run it belongs to, or the term or ending in a chart of one run."""
    label: str
    """Its name in the readout."""
    steps: Floats
    wall_s: Floats
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

    def x(self, axis: XAxis) -> Floats:
        """Return the positions along an axis."""
        return {XAxis.STEPS: self.steps, XAxis.WALL: self.wall_s, XAxis.EPISODES: self.episodes}[axis]


@dataclass(frozen=True)
class Reference:
    """A dotted line at a value that has a name: the goal, a published return."""

    value: float
    name: str


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
    """The step the crosshair stands at."""
