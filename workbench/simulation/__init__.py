"""Batched MuJoCo: the base class of environments, their adapters, their registration and their description.

`BatchEnv` is what an author subclasses; `make_single`, `make_vector` and `make_sb3` make an environment for whoever
steps it, from an `EnvSource`. Never imports textual or polyscope; Stable-Baselines3, and torch with it, only in
`workbench.simulation.sb3_env`. The names below are imported when first used, so that reading a source stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.simulation.batch_env import TIME_LIMIT, BatchEnv
    from workbench.simulation.body_blocks import BodyBlocks
    from workbench.simulation.config import BatchEnvConfig, build_config
    from workbench.simulation.contacts import ContactWrenches
    from workbench.simulation.episodes import Episode, StepArrays
    from workbench.simulation.factory import make_batch, make_sb3, make_single, make_vector
    from workbench.simulation.mjcf import find_asset, gymnasium_assets, load_spec
    from workbench.simulation.noise import Noise
    from workbench.simulation.registration import register_envs
    from workbench.simulation.source import EnvSource, load_class

_HOMES = {
    "TIME_LIMIT": "batch_env",
    "BatchEnv": "batch_env",
    "BatchEnvConfig": "config",
    "BodyBlocks": "body_blocks",
    "ContactWrenches": "contacts",
    "EnvSource": "source",
    "Episode": "episodes",
    "Noise": "noise",
    "StepArrays": "episodes",
    "build_config": "config",
    "find_asset": "mjcf",
    "gymnasium_assets": "mjcf",
    "load_class": "source",
    "load_spec": "mjcf",
    "make_batch": "factory",
    "make_sb3": "factory",
    "make_single": "factory",
    "make_vector": "factory",
    "register_envs": "registration",
}

__all__ = [
    "TIME_LIMIT",
    "BatchEnv",
    "BatchEnvConfig",
    "BodyBlocks",
    "ContactWrenches",
    "EnvSource",
    "Episode",
    "Noise",
    "StepArrays",
    "build_config",
    "find_asset",
    "gymnasium_assets",
    "load_class",
    "load_spec",
    "make_batch",
    "make_sb3",
    "make_single",
    "make_vector",
    "register_envs",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
