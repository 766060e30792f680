"""One thing that a check found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["pass", "skip", "warn", "fail"]
"""From best to worst; only `fail` makes a preview fail."""
Owner = Literal["task", "model", "tool"]
"""Whose a finding is: the environment's code, its MJCF, or workbench itself."""

ORDER: tuple[Status, ...] = ("pass", "skip", "warn", "fail")


@dataclass(frozen=True)
class Finding:
    """What a check found, as a person reads it."""

    check: str
    """The check that found it."""
    status: Status
    """How bad it is."""
    said: str
    """What was found: the problem, where it is one."""
    fix: str = ""
    """What to change; empty where nothing need be."""
    owner: Owner | None = None
    """Whose it is; None where nothing is wrong."""
    time_s: float | None = None
    """The simulated time within the check at which it showed, where it has one."""

    def to_json(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return asdict(self)


def worst(findings: Iterable[Finding]) -> Status:
    """Return the worst status among findings; `pass` where there are none."""
    return max((finding.status for finding in findings), key=ORDER.index, default="pass")
