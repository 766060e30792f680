"""One figure: ours beside theirs, what it must reach, and the floor that no code goes below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from workbench.formatting import UNKNOWN, number

Unit = Literal["steps/s", "ms", "s", "MB"]

NAME_WIDTH = 62


@dataclass(frozen=True)
class Figure:
    """What one line of the table says."""

    name: str
    target: float | None = None
    """What `value` must reach; None where nothing is asked."""
    at_most: bool = False
    """Whether `value` must stay below its target, instead of reaching it."""
    value: float | None = None
    """How many times better ours is, unless `value_unit` says otherwise; None where it was not measured."""
    value_unit: Literal["×", "s"] = "×"
    best: float | None = None
    """The same of the fastest turns, which other work on the machine touches least."""
    unit: Unit = "steps/s"
    """Of the three that follow."""
    ours: float | None = None
    theirs: float | None = None
    floor: float | None = None
    """What arithmetic at the measured matrix rate and bare physics alone would take."""
    repeats: int = 0
    load: float | None = None
    """Of the machine when it was measured."""
    took_s: float | None = None
    """How long the measurement took, all told."""
    note: str = ""
    failed: bool = False
    """Whether the measurement broke down; a line that could not be measured here has not."""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def is_met(self) -> bool | None:
        """Whether the target is reached; None where there is no target or no value."""
        if self.value is None or self.target is None:
            return None
        return self.value <= self.target if self.at_most else self.value >= self.target

    @property
    def floor_share(self) -> float | None:
        """How close ours is to its floor, 1 being there."""
        if not self.ours or not self.floor:
            return None
        return self.ours / self.floor if self.unit == "steps/s" else self.floor / self.ours

    def to_json(self) -> dict[str, Any]:
        """Return it as a row of a document."""
        return {**asdict(self), "met": self.is_met, "floor_share": self.floor_share}

    @staticmethod
    def head() -> str:
        """Return what stands above the lines."""
        return (
            f"{'':<{NAME_WIDTH}}{'ours':>9}{'theirs':>9}  {'':<8}{'figure':>7}{'best':>8}{'target':>9}{'of floor':>10}"
        )

    def line(self) -> str:
        """Return it as a line of text."""
        start = f"{self.name:<{NAME_WIDTH}}"
        if self.value is None:
            return f"{start} {self.note}"
        speeds = f"{number(self.ours):>9}{number(self.theirs):>9}  {self.unit:<8}"
        cells = f"{_short(self.value, self.value_unit):>7}{_short(self.best, self.value_unit):>8}"
        rest = f"{self.target_text:>9}{share(self.floor_share):>10}  {self.mark} {self.note}"
        return f"{start}{speeds}{cells}{rest}".rstrip()

    @property
    def target_text(self) -> str:
        """The target with its sign."""
        return "" if self.target is None else f"{'≤' if self.at_most else '≥'} {self.target:g}{_space(self.value_unit)}"

    @property
    def mark(self) -> str:
        """One sign for whether the target is met."""
        return {None: " ", True: "✓", False: "✗"}[self.is_met]


def markdown_table(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as a table that Markdown renders."""
    lines = ["| figure | ours | theirs | measured | target | | of its floor | |", "|---|--:|--:|--:|--:|---|--:|---|"]
    names = Figure.__dataclass_fields__
    for row in rows:
        figure = Figure(**{name: row[name] for name in names if name in row})
        speeds = [UNKNOWN if one is None else f"{number(one)} {figure.unit}" for one in (figure.ours, figure.theirs)]
        measured = UNKNOWN if figure.value is None else f"**{_short(figure.value, figure.value_unit)}**"
        cells = [
            figure.name,
            *speeds,
            measured,
            figure.target_text,
            figure.mark,
            share(figure.floor_share),
            figure.note,
        ]
        lines.append(f"| {' | '.join(cell.strip() for cell in cells)} |")
    return "\n".join(lines) + "\n"


def share(fraction: float | None) -> str:
    """Return a share of the floor, which noise may put above one."""
    return "" if fraction is None else f"{100 * fraction:.0f} %"


def _short(value: float | None, unit: str) -> str:
    return "" if value is None else f"{value:.2f}{_space(unit)}"


def _space(unit: str) -> str:
    return f" {unit}"
