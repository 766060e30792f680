"""What the manifest beside an exported program says of it, so that it is checked as a checkpoint is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.durable import read_document
from workbench.policies.spaces import SpaceRecord

NAME = "manifest.json"


@dataclass(frozen=True)
class Told:
    """What is told of a program; what nobody told is left empty."""

    algorithm: str = ""
    steps: int | None = None
    env_id: str = ""
    env_cfg: dict[str, Any] = field(default_factory=dict)
    observation_space: SpaceRecord | None = None
    action_space: SpaceRecord | None = None
    control_period_s: float | None = None
    observation_names: tuple[str, ...] = ()
    action_names: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)


def read_manifest(program: Path, sha256: str) -> Told:
    """Return what the manifest beside a program says of it; nothing where there is none, or it is of another file.

    Args:
        program: The file.
        sha256: Its digest, which the manifest must name.
    """
    document = read_document(program.parent / NAME)
    try:
        return _told(document) if document["files"][program.name]["sha256"] == sha256 else Told()
    except (LookupError, TypeError, ValueError, AttributeError):
        return Told()


def _told(document: Mapping[str, Any]) -> Told:
    policy, environment = document["policy"], document["environment"]
    observation, action = document["observation"], document["action"]
    period, versions, cfg = (
        document["control"]["period_s"],
        document["versions"]["trained_with"],
        environment["env_cfg"],
    )
    # Where something is not known, the manifest has a word instead of it.
    return Told(
        algorithm=str(policy["algorithm"]),
        steps=int(policy["steps"]),
        env_id=str(environment["env_id"]) if isinstance(cfg, dict) else "",
        env_cfg=dict(cfg) if isinstance(cfg, dict) else {},
        observation_space=_space(observation),
        action_space=_space(action),
        control_period_s=float(period) if isinstance(period, int | float) and period > 0 else None,
        observation_names=_names(observation),
        action_names=_names(action),
        versions={str(name): str(one) for name, one in versions.items()} if isinstance(versions, dict) else {},
    )


def _space(told: Mapping[str, Any]) -> SpaceRecord:
    dtype = str(told["dtype"])
    if told["kind"] == "discrete":
        return SpaceRecord(kind="discrete", dtype=dtype, n=int(told["choices"]))
    elements = told["elements"]
    return SpaceRecord(
        kind="box",
        shape=tuple(int(side) for side in told["shape"][1:]),
        low=tuple(_bound(one["low"]) for one in elements),
        high=tuple(_bound(one["high"]) for one in elements),
        dtype=dtype,
    )


def _bound(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _names(told: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of elements: those of a box are all known, or none is."""
    from workbench.policies.export.units import UNKNOWN

    names = tuple(str(one["name"]) for one in told.get("elements", ()))
    return () if UNKNOWN in names else names
