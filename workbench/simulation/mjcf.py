"""Finding and compiling MuJoCo models, with MuJoCo's warnings sent to the log."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import mujoco

from workbench.errors import SimulationError
from workbench.project import shipped_project

_log = logging.getLogger(__name__)
# A library stays silent unless its user listens.
_log.addHandler(logging.NullHandler())


def route_warnings() -> None:
    """Send MuJoCo's warnings to the log of this module.

    Without this they are printed and appended to a MUJOCO_LOG.TXT in whatever folder the process runs in.
    """
    mujoco.set_mju_user_warning(_warn)


def _warn(message: str) -> None:
    _log.warning("MuJoCo: %s", message)


def find_asset(name: str, module: Path | None = None) -> Path:
    """Return a model file by name.

    Looked for in the `assets/` of the project that the environment's module lies in, then in those that workbench
    ships, then in those that Gymnasium installs: another project's files never stand in for an environment's own.

    Raises:
        SimulationError: There is none; the message lists where it was looked for.
    """
    given = Path(name).expanduser()
    if given.is_absolute():
        folders = [given.parent]
    else:
        above = [] if module is None else [parent / "assets" for parent in module.resolve().parents]
        own = next((folder for folder in above if (folder / given).is_file()), None)
        folders = [] if own is None else [own]
        folders += [shipped_project().assets, gymnasium_assets()]
    for folder in folders:
        path = folder / (given.name if given.is_absolute() else given)
        if path.is_file():
            return path
    places = ", ".join(str(folder) for folder in folders)
    raise SimulationError(f"there is no model {name} in {places}.", hint="Put it into the project's assets/.")


def gymnasium_assets() -> Path:
    """Return the folder of the MuJoCo models that Gymnasium installs."""
    return Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"


def load_spec(path: Path) -> Any:
    """Return an editable `MjSpec` of a model file.

    Raises:
        SimulationError: MuJoCo refuses the model.
    """
    route_warnings()
    try:
        return mujoco.MjSpec.from_file(str(path))
    except (ValueError, mujoco.FatalError) as error:
        raise _refusal(error, path) from error


def compile_model(model: Any, module: Path | None = None) -> Any:
    """Return an `MjModel` of a file name, a path, an `MjSpec`, or itself.

    Raises:
        SimulationError: The file is missing or MuJoCo refuses the model.
    """
    route_warnings()
    if isinstance(model, mujoco.MjModel):
        return model
    path: Path | None = None
    try:
        if isinstance(model, mujoco.MjSpec):
            with warnings.catch_warnings(record=True) as said:
                # The compiler of a spec warns through Python instead.
                warnings.simplefilter("always", UserWarning)
                compiled = model.compile()
            for warning in said:
                _warn(str(warning.message))
            return compiled
        path = model if isinstance(model, Path) else find_asset(model, module)
        return mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, mujoco.FatalError) as error:
        raise _refusal(error, path) from error


def _refusal(error: Exception, path: Path | None) -> SimulationError:
    # MuJoCo puts the element and its line on lines of their own.
    which = "the model" if path is None else f"the model {path}"
    return SimulationError(f"MuJoCo refuses {which}: {' '.join(str(error).split())}")


def actuator_name(model: Any, index: int) -> str:
    """Return an actuator's name, else its joint's, else its number."""
    name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, index)
    if not name and int(model.actuator_trntype[index]) == int(mujoco.mjtTrn.mjTRN_JOINT):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, int(model.actuator_trnid[index, 0]))
    return str(name or f"actuator_{index}")
