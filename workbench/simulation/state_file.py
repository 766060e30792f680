"""The file that state recordings are kept in: its format, what of a state is in it, and which model it is of.

One `.npz`, arrays of one row a state, `n` of them, the reset states included:

    episode (n,), step (n,)         which episode, from 0, and the steps taken in it
    time (n,), qpos (n, nq), qvel (n, nv), act (n, na), ctrl (n, nu)
    mocap_pos (n, nmocap, 3), mocap_quat (n, nmocap, 4)
    reward (n,), reward_<term> (n,) not a number in a reset state, which has none
    about ()                        a JSON object: environment, model, period, what acted, episodes

More arrays of `n` rows may stand beside them.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

FORMAT = 1
SUFFIX = ".npz"

FIELDS = ("time", "qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat")
"""What is kept of an `MjData`."""

_SHAPING = (
    "body_parentid", "body_pos", "body_quat", "body_mocapid", "jnt_type", "jnt_bodyid", "jnt_pos", "jnt_axis", "qpos0",
    "geom_type", "geom_bodyid", "geom_size", "geom_pos", "geom_quat", "site_bodyid", "site_pos", "actuator_trnid",
    "mesh_vert", "mesh_face", "hfield_data", "names",
)  # fmt: skip
"""What of a model decides where things are in a state, and what they are called."""


def model_digest(model: Any) -> str:
    """Return twelve hex digits that models share whose states look alike; later versions of MuJoCo keep them."""
    digest = hashlib.sha256()
    for name in _SHAPING:
        value = getattr(model, name)
        digest.update(name.encode())
        digest.update(value if isinstance(value, bytes) else np.ascontiguousarray(value).tobytes())
    return digest.hexdigest()[:12]


def write_states(file: Path | IO[bytes], about: Mapping[str, Any], arrays: Iterable[tuple[str, Any]]) -> None:
    """Write a file; whoever shall never find half of one renames it afterwards.

    Args:
        file: Where.
        about: The JSON object.
        arrays: Name and rows of each, taken one by one, so that not all need be in memory.

    Raises:
        OSError: The disk is full or failed.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in (("about", np.array(json.dumps(about))), *arrays):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(values), allow_pickle=False)
