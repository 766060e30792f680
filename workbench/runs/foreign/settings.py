"""What an RL-Zoo run was asked for: `config.yml` (hyperparameters), `args.yml` (the command line), `command.txt`."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import Any

from workbench.runs.foreign.finding import ARGUMENTS, CONFIG
from workbench.runs.foreign.rows import Facts
from workbench.runs.foreign.yaml_data import read_yaml

_COMMAND = "command.txt"
_LONGEST_COMMAND = 65536
_OWN_FIELDS = frozenset({"n_timesteps", "n_envs"})
"""Settings that have a field of their own in every run."""


def read_settings(folder: Path) -> Facts:
    """Return what the settings folder of an RL-Zoo run tells; what is not there or not readable is left empty."""
    config, arguments = read_yaml(folder / CONFIG), read_yaml(folder / ARGUMENTS)
    env_id, algorithm = arguments.get("env"), arguments.get("algo")
    # -1 on the command line stands for what the hyperparameters say.
    asked = _whole(arguments.get("n_timesteps")) or 0
    seed = _whole(arguments.get("seed"))
    return Facts(
        env_id=env_id if isinstance(env_id, str) else "",
        algorithm=algorithm.lower() if isinstance(algorithm, str) else "",
        seed=seed if seed is not None and seed >= 0 else None,
        total_steps=asked if asked > 0 else max(0, _whole(config.get("n_timesteps")) or 0),
        n_envs=_whole(config.get("n_envs")),
        settings={name: value for name, value in config.items() if name not in _OWN_FIELDS},
        command=_command(folder.parent / _COMMAND) or _command(folder / _COMMAND),
    )


def _command(path: Path) -> tuple[str, ...]:
    try:
        with path.open("rb") as file:
            text = file.read(_LONGEST_COMMAND).decode(errors="replace")
        return tuple(shlex.split(text))
    except (OSError, ValueError):
        return ()


def _whole(value: Any) -> int | None:
    """Return the whole number that a setting means; `1e6` without a point is a text in YAML."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return int(value) if is_number else None
