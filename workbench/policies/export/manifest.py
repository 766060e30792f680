"""Everything that is known of an exported policy, as one document; what nobody told is written as `unknown`."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.policies.export.golden import Golden, Surroundings
from workbench.policies.export.parts import Parts
from workbench.policies.export.units import UNKNOWN, element_texts
from workbench.policies.spaces import SpaceRecord
from workbench.runs.lineage import run_of

FORMAT = 1

ABSOLUTE = 1e-4
"""How far an action may be from the expected one, of half its range where that is smaller than one."""
RELATIVE = 1e-6
"""What single precision adds to that: a share of the largest action."""

UNBOUNDED = "unbounded"


def tolerance(parts: Parts, expected: NDArray[Any]) -> list[float]:
    """Return how far each element of an action may be from the expected one; choices must be the same.

    Args:
        parts: The policy.
        expected: The golden actions.
    """
    if parts.is_choice:
        return [0.0]
    half = np.minimum((parts.high.astype(np.float64) - parts.low) / 2, 1.0)
    largest = np.abs(expected.reshape(len(expected), -1).astype(np.float64)).max(axis=0)
    return [float(value) for value in ABSOLUTE * half + RELATIVE * largest]


def describe_policy(
    parts: Parts, around: Surroundings, golden: Golden, *, checkpoint: Path, libraries: Sequence[str]
) -> dict[str, Any]:
    """Return the part of a manifest that does not depend on the format.

    Args:
        parts: The policy.
        around: What its environment told.
        golden: Its golden vectors.
        checkpoint: Where it was read.
        libraries: Packages whose versions matter to the export.
    """
    record = parts.record
    run = run_of(checkpoint)
    period_s = record.control_period_s or around.period_s
    source = around.source
    normalizer: Any = "none"
    if parts.normalizer is not None and record.normalizer is not None:
        normalizer = {
            "formula": "clip((observation - mean) / sqrt(variance + epsilon), -clip, clip), in double precision",
            "mean": parts.normalizer.mean.tolist(),
            "variance": (np.square(parts.normalizer.scale) - record.normalizer.epsilon).tolist(),
            "epsilon": record.normalizer.epsilon,
            "clip": parts.normalizer.clip,
        }
    return {
        "format": FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "policy": {
            "algorithm": record.algorithm,
            "steps": record.steps,
            "iteration": record.iteration,
            "seed": record.seed,
            "run": UNKNOWN if run is None else run.name,
            "checkpoint": checkpoint.name,
            "weights_sha256": record.weights_sha256,
            "layers": [int(weight.shape[0]) for weight, _ in parts.trunk],
            "activation": parts.activation,
        },
        "environment": {
            "env_id": UNKNOWN if source is None else source.env_id,
            "name": UNKNOWN if source is None else source.name,
            "env_cfg": UNKNOWN if source is None else source.env_cfg,
            "config": UNKNOWN if around.config is None else dict(around.config),
        },
        "control": {
            "period_s": UNKNOWN if period_s is None else period_s,
            "rate_hz": UNKNOWN if period_s is None else 1 / period_s,
        },
        "observation": _describe_space(
            record.observation_space,
            parts.observation_dtype,
            record.observation_names or around.observation_names,
            "Observation Space",
            around,
        ),
        "action": _describe_space(
            record.action_space,
            parts.action_dtype,
            record.action_names or around.action_names,
            "Action Space",
            around,
        ),
        "normalizer": normalizer,
        "action_map": {
            "squash": parts.squash,
            "clip": parts.clip,
            "formula": _formula(parts),
            "low": _bounds(record.action_space.low),
            "high": _bounds(record.action_space.high),
        },
        "golden": {"file": "golden.npz", "count": len(golden.arrays["observation"]), "source": golden.source},
        "versions": {
            "trained_with": dict(record.versions) or UNKNOWN,
            "exported_with": {"python": platform.python_version(), **{name: _version(name) for name in libraries}},
        },
    }


def _describe_space(
    space: SpaceRecord, dtype: np.dtype[Any], names: Sequence[str], section: str, around: Surroundings
) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": space.kind, "shape": ["batch", *space.shape], "dtype": str(dtype)}
    if space.kind == "discrete":
        return {**told, "choices": space.n, "names": UNKNOWN}
    texts = element_texts(around.docstring, section, names, space.size)
    elements = zip(texts, _bounds(space.low), _bounds(space.high), strict=True)
    return {
        **told,
        "elements": [
            {
                "index": index,
                "name": names[index] if names else UNKNOWN,
                "unit": text.unit,
                "description": text.description,
                "low": low,
                "high": high,
            }
            for index, (text, low, high) in enumerate(elements)
        ],
    }


def _bounds(values: Sequence[float | None]) -> list[float | str]:
    return [UNBOUNDED if value is None else value for value in values]


def _formula(parts: Parts) -> str:
    if parts.is_choice:
        return "the choice with the largest output"
    squashed = "low + (tanh(output) + 1) / 2 * (high - low)" if parts.squash else "output"
    return f"clip({squashed}, low, high)" if parts.clip else squashed


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return UNKNOWN
