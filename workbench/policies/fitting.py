"""Whether a policy fits an environment: what it reads and gives, against what there is."""

from __future__ import annotations

from workbench.policies.record import PolicyRecord
from workbench.policies.spaces import SpaceRecord


def misfits(record: PolicyRecord, observations: SpaceRecord, actions: SpaceRecord, name: str) -> list[str]:
    """Return why a policy cannot be trained on in an environment, both sides named; nothing where it can.

    Args:
        record: What its checkpoint says of it.
        observations: What the environment gives.
        actions: What the environment takes.
        name: What the environment is called.
    """
    faults = [
        f"it was trained on {what} of {in_words(theirs)}, and those of {name} are of {in_words(mine)}"
        for what, theirs, mine in (
            ("observations", record.observation_space, observations),
            ("actions", record.action_space, actions),
        )
        if (theirs.kind, theirs.shape, theirs.n) != (mine.kind, mine.shape, mine.n)
    ]
    bounds = (record.action_map.low, record.action_map.high)
    if not faults and bounds != (actions.low, actions.high):
        faults.append(
            f"its actions go from {_list(bounds[0])} to {_list(bounds[1])}, and those of {name} from "
            f"{_list(actions.low)} to {_list(actions.high)}"
        )
    return faults


def in_words(space: SpaceRecord) -> str:
    """Return the size of a space: `shape (17,)`, `5 choices`."""
    return f"{space.n} choices" if space.n is not None else f"shape {space.shape}"


def _list(bounds: tuple[float | None, ...]) -> str:
    texts = list(dict.fromkeys("∞" if bound is None else f"{bound:g}" for bound in bounds))
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
