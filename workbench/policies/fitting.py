"""Whether a policy fits an environment: what it reads and gives, in which order, how often, against what there is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Protocol

from workbench.errors import CheckpointError
from workbench.policies.environments import EnvironmentFacts
from workbench.policies.record import PolicyRecord
from workbench.policies.spaces import SpaceRecord

PERIOD_TOLERANCE = 1e-6
"""How far, of itself, a control period may be off: what is left of a number written in decimals."""


class PolicyFacts(Protocol):
    """What of a policy an environment must fit: a `PolicyRecord`, or a `Description`."""

    @property
    def observation_space(self) -> Any:
        """What it reads; None where that is not known."""

    @property
    def action_space(self) -> Any:
        """What it gives; None where that is not known."""

    @property
    def control_period_s(self) -> float | None:
        """Simulated time between two actions; None where that is not known."""

    @property
    def observation_names(self) -> tuple[str, ...]:
        """One name an observation element; empty where they are not known."""

    @property
    def action_names(self) -> tuple[str, ...]:
        """One name an action element; empty where they are not known."""


def require_fit(policy: PolicyFacts, environment: EnvironmentFacts, what: str) -> None:
    """See to it that a policy acts in an environment as it did where it was trained.

    Args:
        policy: What is known of it.
        environment: Where it is to act.
        what: What the policy is called.

    Raises:
        CheckpointError: Shapes, order, bounds or the control period differ; all that do are named, both sides of each.
    """
    faults = why_unfit(policy, environment)
    if not faults:
        return
    hint = ""
    if len(faults) == 1 and not _same_period(policy, environment):
        hint = "Give the environment the same control period, or train the policy on in this one (`train --from`)."
    raise CheckpointError(f"{what} does not fit {environment.name}: {'; '.join(faults)}.", hint=hint)


def why_unfit(policy: PolicyFacts, environment: EnvironmentFacts) -> list[str]:
    """Return why a policy would not act in an environment as it did where it was trained; nothing where it would."""
    name = environment.name
    faults = []
    sides = (
        ("observations", "observation", policy.observation_space, environment.observation_space),
        ("actions", "action", policy.action_space, environment.action_space),
    )
    for what, one, theirs, mine in sides:
        own, there = getattr(policy, f"{one}_names"), getattr(environment, f"{one}_names")
        if theirs is not None and not _alike(theirs, mine):
            named = [listed(names) for names in (own, there)]
            faults.append(
                f"it was trained on {what} of {in_words(theirs)}{named[0]}, and those of {name} are of "
                f"{in_words(mine)}{named[1]}"
            )
        elif own and there and own != there:
            pairs = enumerate(zip_longest(own, there, fillvalue="nothing"))
            at, was, now = next((index, was, now) for index, (was, now) in pairs if was != now)
            faults.append(f"its {what} come in another order: {one} {at} was {was} in training, and is {now} in {name}")
    if not faults:
        faults += _bounds(policy.action_space, environment.action_space, name)
    mine_s, theirs_s = environment.control_period_s, policy.control_period_s
    if mine_s and theirs_s and not _same_period(policy, environment):
        faults.append(
            f"it was trained to act every {theirs_s:g} s ({1 / theirs_s:.4g} Hz), and {name} takes an action every "
            f"{mine_s:g} s ({1 / mine_s:.4g} Hz)"
        )
    return faults


def _same_period(policy: PolicyFacts, environment: EnvironmentFacts) -> bool:
    mine_s, theirs_s = environment.control_period_s, policy.control_period_s
    return mine_s is None or theirs_s is None or math.isclose(mine_s, theirs_s, rel_tol=PERIOD_TOLERANCE)


def misfits(
    record: PolicyRecord,
    observations: SpaceRecord,
    actions: SpaceRecord,
    name: str,
    observation_names: Sequence[str] = (),
) -> list[str]:
    """Return why a policy cannot be trained on in an environment, both sides named; nothing where it can.

    How often it acts may change then: it learns what comes of that.

    Args:
        record: What its checkpoint says of it.
        observations: What the environment gives.
        actions: What the environment takes.
        name: What the environment is called.
        observation_names: One name an observation element; empty where it names none.
    """
    facts = EnvironmentFacts(name, observations, actions, observation_names=tuple(observation_names))
    return why_unfit(record, facts)


def in_words(space: Any) -> str:
    """Return the size of a space: `shape (17,)`, `5 choices`, and of one with parts that of each."""
    parts = getattr(space, "spaces", None)
    if isinstance(parts, dict):
        return f"parts {', '.join(f'{name} of {in_words(part)}' for name, part in parts.items())}"
    if isinstance(parts, list | tuple):
        return f"parts of {', '.join(map(in_words, parts))}"
    if getattr(space, "nvec", None) is not None:
        return f"{' × '.join(str(int(count)) for count in space.nvec.ravel())} choices"
    choices = getattr(space, "n", None)
    if type(space).__name__ == "MultiBinary":
        return f"{choices} switches"
    return f"{choices} choices" if choices is not None else f"shape {tuple(space.shape or ())}"


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return the first names in brackets, to stand behind a size; nothing where there are none."""
    if not names:
        return ""
    shown = [*names[:most], "…"] if len(names) > most else names
    return f" ({', '.join(shown)})"


def _alike(theirs: Any, mine: Any) -> bool:
    if in_words(theirs) == in_words(mine):
        return True
    # Stable-Baselines3 turns pictures so that the channels come first, and does so again when it acts.
    shape, there = getattr(theirs, "shape", None), getattr(mine, "shape", None)
    if shape is None or there is None or not len(shape) == len(there) == 3:
        return False
    return bool(shape == (there[2], there[0], there[1]))


def _bounds(theirs: Any, mine: Any, name: str) -> list[str]:
    if not isinstance(theirs, SpaceRecord) or not isinstance(mine, SpaceRecord):
        return []
    if _singles(theirs.low) == _singles(mine.low) and _singles(theirs.high) == _singles(mine.high):
        return []
    return [
        f"its actions go from {_list(theirs.low)} to {_list(theirs.high)}, and those of {name} from "
        f"{_list(mine.low)} to {_list(mine.high)}"
    ]


def _singles(bounds: Sequence[float | None]) -> list[float | None]:
    """Return bounds as an action has them, in single precision."""
    import numpy as np

    return [None if bound is None else float(np.float32(bound)) for bound in bounds]


def _list(bounds: Sequence[float | None]) -> str:
    texts = list(dict.fromkeys("∞" if bound is None else f"{bound:g}" for bound in bounds))
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
