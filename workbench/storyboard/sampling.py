"""Which checkpoints a montage shows, by position alone.

The last checkpoint is always shown, the first one too where there is room for two. In between, positions are spread
evenly or ever more widely: an exponential schedule dwells on early training, where behaviour changes fastest.
"""

from __future__ import annotations

import math
from typing import Literal

from workbench.errors import RequestError

Schedule = Literal["linear", "exponential"]


def sample(available: int, wanted: int, *, schedule: Schedule = "linear", base: float = 2.0) -> list[int]:
    """Return the positions of `wanted` of `available` checkpoints, rising and all different.

    Where the schedule would show one position twice, the later clip moves on to the next free one, and each leaves
    room for those after it. More than there are is all there are.

    Args:
        available: How many checkpoints there are, at least one.
        wanted: How many to show, at least one; a single one is the last.
        schedule: `linear`, or `exponential` in `base`.
        base: How strongly an exponential schedule prefers early checkpoints; above 1.

    Raises:
        RequestError: A count below one, or a base that is not a finite number above 1.
    """
    if available < 1:
        raise RequestError("there is no checkpoint to choose from.")
    if wanted < 1:
        raise RequestError(f"--num-videos is {wanted}; it must be at least 1.")
    if schedule == "exponential" and not (math.isfinite(base) and base > 1):
        raise RequestError(f"--base is {base:g}; it must be a number above 1.")
    last, count = available - 1, min(wanted, available)
    if count == 1:
        return [last]
    chosen: list[int] = []
    for place in range(count):
        share = place / (count - 1)
        if schedule == "exponential":
            share = (base**share - 1) / (base - 1)
        earliest = chosen[-1] + 1 if chosen else 0
        latest = last - (count - 1 - place)
        chosen.append(min(max(round(share * last), earliest), latest))
    return chosen
