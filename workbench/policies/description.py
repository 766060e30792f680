"""What is known of a policy that was opened, whoever trained it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from workbench.simulation import EnvSource

PolicyKind = Literal["workbench", "sb3", "torchscript", "onnx"]

TITLES: Mapping[PolicyKind, str] = {
    "workbench": "workbench",
    "sb3": "Stable-Baselines3",
    "torchscript": "TorchScript",
    "onnx": "ONNX",
}
"""What people call a kind."""

_PACKAGES: Mapping[PolicyKind, str] = {"workbench": "workbench-rl", "sb3": "stable_baselines3"}
"""What a kind was made with, as `versions` has it."""


@dataclass(frozen=True)
class Description:
    """What a policy reads and gives, where it comes from, and what it was made with."""

    path: Path
    """The checkpoint's folder, or the file."""
    kind: PolicyKind
    """Who wrote the file."""
    sha256: str
    """Of the weights, or of the whole file of another tool."""
    algorithm: str
    """What trained it; empty where that is not known."""
    steps: int | None
    """Environment steps it was trained for; None where that is not known."""
    environment: EnvSource | None
    """The environment it was trained in, or the one that was named; None where neither is known."""
    observation_space: Any = None
    """A `SpaceRecord`, or a `gymnasium.Space` where that has several parts; None where it is not known."""
    action_space: Any = None
    """The same of what it gives."""
    control_period_s: float | None = None
    """Simulated time between two actions; None where it is not known."""
    observation_names: tuple[str, ...] = ()
    """One name an observation element, in the order in which they are read; empty where they are not known."""
    action_names: tuple[str, ...] = ()
    """One name an action element; empty where they are not known."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of the libraries it was trained with."""
    normalizer: Path | None = None
    """The file of its normaliser, where that is not the same."""

    @property
    def called(self) -> str:
        """Where it lies, and its title: what a sentence about it begins with."""
        return f"{self.path} ({self.title})"

    @property
    def title(self) -> str:
        """Who made it with what: `SAC by Stable-Baselines3 1.0 and gym 0.21`."""
        tool = _PACKAGES.get(self.kind, "")
        by = " ".join(part for part in (TITLES[self.kind], self.versions.get(tool, "")) if part)
        simulators = [name for name in ("gymnasium", "gym") if name in self.versions]
        with_ = f" and {simulators[0]} {self.versions[simulators[0]]}" if simulators and tool else ""
        return f"{self.algorithm.upper()} by {by}{with_}" if self.algorithm else f"{by}{with_}"
