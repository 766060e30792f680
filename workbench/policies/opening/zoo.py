"""What an RL-Zoo run says of the environment in which its policies were trained."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.errors import CheckpointError
from workbench.runs.foreign.finding import ARGUMENTS, CONFIG, settings_folder
from workbench.runs.foreign.yaml_data import read_yaml

_WRAPPERS = ("env_wrapper", "vec_env_wrapper")


@dataclass(frozen=True)
class ZooSettings:
    """The settings of a run, as far as its policies need them to act."""

    folder: Path
    """Where `config.yml` and `args.yml` lie."""
    env_id: str
    """The environment."""
    env_kwargs: dict[str, Any] = field(default_factory=dict)
    """What its constructor was given."""
    normalizes: bool = False
    """Whether observations went through a VecNormalize."""
    obstacles: tuple[str, ...] = ()
    """What was put between policy and environment that is not here, as parts of a sentence."""

    def require_bare(self, policy: Path) -> None:
        """See to it that the environment is all there is between the policy's actions and its observations.

        Raises:
            CheckpointError: There was more.
        """
        if self.obstacles:
            raise CheckpointError(
                f"{policy} was trained through {' and '.join(self.obstacles)}, as {self.folder / CONFIG} says; "
                "what that does to observations and actions is not known here.",
                hint="--env ID plays it in an environment that does the same.",
            )


def read_zoo(policy: Path) -> ZooSettings | None:
    """Return the settings of the RL-Zoo run that a policy lies in; None where it lies in none.

    Args:
        policy: The `.zip`.
    """
    folder = settings_folder(policy.parent)
    if folder is None and policy.parent.name == "best_model":
        folder = settings_folder(policy.parent.parent)
    if folder is None:
        return None
    config, arguments = read_yaml(folder / CONFIG), read_yaml(folder / ARGUMENTS)
    env_id = arguments.get("env")
    kwargs = arguments.get("env_kwargs") or config.get("env_kwargs") or {}
    obstacles = [f"{name.replace('_', ' ')} {_named(config[name])}" for name in _WRAPPERS if config.get(name)]
    stacked = config.get("frame_stack")
    if stacked and stacked != 1:
        obstacles.append(f"a stack of {stacked} frames")
    if not _is_plain(kwargs):
        obstacles.append("environment keywords that are no plain data")
        kwargs = {}
    return ZooSettings(
        folder=folder,
        env_id=env_id if isinstance(env_id, str) and env_id else folder.name.replace("__", "/"),
        env_kwargs=kwargs,
        normalizes=_normalizes(config.get("normalize")),
        obstacles=tuple(obstacles),
    )


def _normalizes(value: Any) -> bool:
    """Tell whether observations were normalised: `true`, or the text of a dictionary that does not say otherwise."""
    if isinstance(value, dict):
        return bool(value.get("norm_obs", True))
    text = "".join(str(value or "").split()).replace('"', "'")
    return bool(value) and "norm_obs=False" not in text and "'norm_obs':False" not in text


def _named(value: Any) -> str:
    """Return the names of wrappers: one, or those of a list in which each may have keywords."""
    if isinstance(value, list):
        return ", ".join(map(_named, value))
    return ", ".join(map(str, value)) if isinstance(value, dict) else str(value)


def _is_plain(value: Any) -> bool:
    try:
        return isinstance(value, dict) and json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError, RecursionError):
        return False
