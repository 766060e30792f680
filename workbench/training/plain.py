"""State as plain data: what `torch.load(weights_only=True)` reads back, and nothing that runs code."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch


def copied(value: Any) -> Any:
    """Return nested state as it is now: arrays, tensors, numbers, strings, None, lists, tuples, dicts.

    Raises:
        TypeError: Something in it is no plain data.
    """
    if isinstance(value, torch.Tensor):
        # A tensor of its own: a view would bring all that it is a view of.
        return value.detach().cpu().clone()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.array(value, order="C"))
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    if isinstance(value, tuple):
        return tuple(copied(item) for item in value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a {type(value).__name__} is no plain data")


def pack(value: Any) -> bytes:
    """Return what `copied` returned as the bytes of a file."""
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def unpack(path: Path) -> Any:
    """Return the state in a file, arrays as tensors.

    Raises:
        ValueError: The file is damaged or holds something else.
        OSError: It cannot be read.
    """
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, pickle.UnpicklingError, EOFError) as error:
        raise ValueError(f"{path.name} is damaged") from error


def arrays(value: Any) -> Any:
    """Return nested state with its tensors as arrays."""
    if isinstance(value, torch.Tensor):
        return value.numpy()
    if isinstance(value, Mapping):
        return {key: arrays(item) for key, item in value.items()}
    return [arrays(item) for item in value] if isinstance(value, list) else value
