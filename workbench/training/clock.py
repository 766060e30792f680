"""Where the time of a run goes, as metrics and as a table."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

PARTS = ("collection", "update", "evaluation", "checkpoint")
"""What time is told apart by; the rest is `idle`. Evaluation is what the run waits for it, not what it takes."""


class Clock:
    """Splits the time between two rows of metrics into parts.

    Args:
        is_detailed: Split the parts too.
    """

    def __init__(self, *, is_detailed: bool = False) -> None:
        self._is_detailed = is_detailed
        self._since = self._began = time.perf_counter()
        self._spent: dict[str, float] = {}
        self._totals: dict[str, float] = {}
        self._watching: set[str] = set()

    def add(self, part: str, seconds: float) -> None:
        """Count seconds for a part, or for a detail `part/detail` of one."""
        self._spent[part] = self._spent.get(part, 0.0) + seconds

    @contextmanager
    def spending(self, part: str) -> Iterator[None]:
        """Count a block for a part."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.add(part, time.perf_counter() - started)

    def lap(self) -> dict[str, float]:
        """Return the seconds since the last call, by metric."""
        now = time.perf_counter()
        spent = {part: self._spent.get(part, 0.0) for part in PARTS}
        spent["idle"] = max(0.0, now - self._since - sum(spent.values()))
        details = {name: seconds for name, seconds in self._spent.items() if name not in PARTS}
        for name, seconds in (spent | details).items():
            self._totals[name] = self._totals.get(name, 0.0) + seconds
        self._since, self._spent = now, {}
        metrics = {f"time/{part}_s": seconds for part, seconds in spent.items()}
        if self._is_detailed:
            metrics |= {f"timings/{name.rpartition('/')[2]}_s": seconds for name, seconds in details.items()}
        return metrics

    def skip(self, seconds: float) -> None:
        """Leave out a time in which nothing was done."""
        self._since += seconds

    def watch(self, owner: Any, method: str, part: str) -> None:
        """Count every call of a method of an object for a part from now on, where there is such a method."""
        watched = getattr(owner, method, None)
        if watched is None:
            return

        def call(*args: Any, **keywords: Any) -> Any:
            if part in self._watching:
                # One watched method calls another.
                return watched(*args, **keywords)
            self._watching.add(part)
            try:
                with self.spending(part):
                    return watched(*args, **keywords)
            finally:
                self._watching.discard(part)

        setattr(owner, method, call)

    def table(self, steps: int) -> list[str]:
        """Return the lines of a table of all time so far.

        Args:
            steps: Done in that time.
        """
        totals = self._totals
        whole = max(sum(totals.get(part, 0.0) for part in (*PARTS, "idle")), 1e-9)
        lines = [f"{'where the time went':24}{'seconds':>10}{'share':>8}{'µs a step':>12}"]
        for part in (*PARTS, "idle"):
            lines.append(_row(part, totals.get(part, 0.0), whole, steps))
            lines += [_row(f"  {name}", seconds, whole, steps) for name, seconds in _details(totals, part)]
        return [*lines, _row("all", whole, whole, steps)]


def _details(totals: Mapping[str, float], part: str) -> list[tuple[str, float]]:
    inside = [(name.removeprefix(f"{part}/"), each) for name, each in totals.items() if name.startswith(f"{part}/")]
    return sorted(inside, key=lambda item: -item[1])


def _row(name: str, seconds: float, whole: float, steps: int) -> str:
    a_step = f"{1e6 * seconds / steps:12.1f}" if steps else f"{'–':>12}"
    return f"{name:24}{seconds:10.2f}{seconds / whole:8.1%}{a_step}"
