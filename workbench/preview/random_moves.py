"""Does the environment keep its word under random actions?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from workbench.errors import SimulationError
from workbench.preview.findings import Finding
from workbench.preview.rig import Floats, Rig, Step

NAME = "random-actions"
STEPS = 500
"""Steps over all episodes."""
AGAIN = 60
"""Steps that are taken twice from one seed."""
MOST = 8
"""Numbers of an observation that are listed."""
WIDE = 100.0
"""Observations beyond this want a normaliser."""


def look(rig: Rig) -> Iterator[Finding]:
    """Act at random over some episodes, and the beginning of one twice."""
    generator = np.random.default_rng(0)
    steps: list[Step] = []
    endings: Counter[str] = Counter()
    shortest, length, seed = STEPS, 0, 0
    rig.reset(seed)
    try:
        for _ in range(STEPS):
            steps.append(rig.step(generator.uniform(rig.low, rig.high)))
            length += 1
            ending = steps[-1].ending
            if ending is not None:
                endings[ending] += 1
                shortest, length, seed = min(shortest, length), 0, seed + 1
                rig.reset(seed)
    except SimulationError as error:
        yield Finding(NAME, "fail", str(error), "mend what it names", "task", len(steps) * rig.control_dt)
        return
    yield from _look_at_numbers(steps)
    told = ", ".join(f"{reason} {count}" for reason, count in endings.most_common()) or "none"
    yield Finding(NAME, "pass", f"episodes that ended in {STEPS} steps: {told}")
    if endings and shortest <= 2:
        yield Finding(
            NAME, "warn", f"an episode ended after {shortest} steps", "let it start farther from its end", "task"
        )
    if not _repeats(rig):
        yield Finding(
            NAME,
            "fail",
            "the same seed and the same actions give another episode",
            "draw from what `initial_state` is given (or `self.np_random`), and forget the last episode at its end",
            "task",
        )


def _look_at_numbers(steps: list[Step]) -> Iterator[Finding]:
    observations = np.stack([step.observation for step in steps])
    rewards = np.array([step.reward for step in steps])
    if not (np.isfinite(observations).all() and np.isfinite(rewards).all()):
        what = "an observation" if not np.isfinite(observations).all() else "a reward"
        yield Finding(NAME, "fail", f"{what} is not finite", "guard the divisions and roots in it", "task")
        return
    if np.ptp(rewards) == 0:
        yield Finding(
            NAME,
            "warn",
            f"the reward is {rewards[0]:g} at every step",
            "reward something that random actions change, or nothing tells good from bad",
            "task",
        )
    for name in steps[0].terms:
        values = np.array([step.terms.get(name, 0.0) for step in steps])
        if np.ptp(values) == 0 and np.ptp(rewards) != 0:
            fix = "drop it, or look at its scale; a bonus that is rare is fine"
            yield Finding(NAME, "warn", f"the reward term {name} is {values[0]:g} at every step", fix, "task")
    still = np.flatnonzero(np.ptp(observations, axis=0) == 0)
    if len(still):
        listed = ", ".join(map(str, still[:MOST])) + (f" and {len(still) - MOST} more" if len(still) > MOST else "")
        numbers = "observation" if len(still) == 1 else "observations"
        yield Finding(NAME, "warn", f"{numbers} {listed} never changed", "leave out what tells nothing", "task")
    widest = np.abs(observations).max(axis=0)
    if (widest > WIDE).any():
        index = int(widest.argmax())
        yield Finding(
            NAME,
            "warn",
            f"observation {index} reaches {widest[index]:.3g}",
            "scale it, or set `normalize_observations` in the recipe",
            "task",
        )


def _repeats(rig: Rig) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(_episode(rig), _episode(rig), strict=True))


def _episode(rig: Rig) -> list[Floats]:
    generator = np.random.default_rng(1)
    seen = [rig.reset(seed=7)]
    for _ in range(AGAIN):
        told = rig.step(generator.uniform(rig.low, rig.high))
        seen.append(np.append(told.observation, told.reward))
        if told.ending is not None:
            break
    # Of equal number, so that an episode that is shorter shows as one that differs.
    return [*seen, *[np.empty(0)] * (AGAIN + 1 - len(seen))]
