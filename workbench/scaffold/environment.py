"""What the files of a new environment say, made from its name and its model."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from workbench import durable
from workbench.catalog.names import RESERVED_SEGMENTS, environment_id, variant_to_pascal
from workbench.errors import RequestError
from workbench.project import Project

CONTROL_S = 0.02
"""How often a new environment acts, about: a simulation step is repeated until so much time is over."""
EPISODE_S = 10.0
"""How long its episodes last."""
VARIANT = "rough_start"
DEFAULT_NOISE, MODEL_NOISE = 1.0, 0.1
"""Noise of the start with the model that is written, and with one that was given."""


@dataclass(frozen=True)
class NewEnvironment:
    """Files to write, and what came of them."""

    name: str
    """The short name."""
    env_id: str
    """The Gymnasium ID."""
    files: Mapping[Path, bytes]
    """Contents by path."""


def plan_environment(project: Project, name: str, model: Path | None, taken: Sequence[str]) -> NewEnvironment:
    """Return the files of a new environment, none of them written yet.

    Args:
        project: Where they go.
        name: Its short name, in snake case.
        model: Its MJCF file; None writes a bead on a rail to begin with.
        taken: Short names that exist.

    Raises:
        RequestError: The name or the model will not do, or a file is there already.
    """
    _check_name(name, taken)
    class_name = variant_to_pascal(name)
    if model is None:
        asset, content = f"{name}.xml", _template("model.xml").substitute(name=name).encode()
        files = {project.assets / asset: content}
        noise = DEFAULT_NOISE
        compiled = _compile_text(content)
    else:
        asset, files = _adopt(project, model)
        noise = MODEL_NOISE
        compiled = _compile_file(model)
    _check_model(compiled)
    files |= {
        project.envs / f"{name}_env.py": _module(name, class_name, asset, noise, compiled).encode(),
        project.envs / f"{name}_env_{VARIANT}.json": _document(
            {
                "description": "Starts twice as far from where its joints are to be.",
                "env_cfg": {"start_noise": 2 * noise},
            }
        ),
        project.recipes / f"{name}_env.train.json": _document(_recipe(name)),
        project.root / "tests" / f"test_{name}_env.py": _template("test.py")
        .substitute(name=name, Class=class_name)
        .encode(),
    }
    there = [path for path in files if path.exists()]
    if there:
        raise RequestError(
            f"{', '.join(str(path) for path in there)} exists already.", hint="Take another name, or move it away."
        )
    return NewEnvironment(name, environment_id(f"{class_name}Env"), files)


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write each file whole; folders are made where they are missing.

    Raises:
        OSError: The disk failed; what was written is taken away again.
    """
    written: list[Path] = []
    try:
        for path, content in files.items():
            durable.write_bytes(path, content)
            written.append(path)
    except OSError:
        for path in written:
            path.unlink(missing_ok=True)
        raise


def _check_name(name: str, taken: Sequence[str]) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        suggestion = re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()).strip("_")
        hint = f"Perhaps {suggestion}." if re.match("[a-z]", suggestion) else ""
        raise RequestError(
            f"{name!r} is no name of an environment: lower-case letters and digits, words joined by underscores.",
            hint=hint,
        )
    reserved = [word for word in name.split("_") if word in (*RESERVED_SEGMENTS, "test")]
    if reserved:
        raise RequestError(f"no word of an environment's name may be `{reserved[0]}`.", hint="Leave it out.")
    if re.search(r"_\d", name):
        raise RequestError(f"a word of {name} begins with a digit, which its class could not tell.")
    if name in taken:
        raise RequestError(
            f"there is an environment {name} already.", hint="`workbench list` shows them; take another name."
        )


def _adopt(project: Project, model: Path) -> tuple[str, dict[Path, bytes]]:
    """Return how a given model is named from the assets, and the file to write for that, if one is needed."""
    path = model.expanduser().resolve()
    if not path.is_file():
        raise RequestError(f"there is no model {model}.", hint="Name an MJCF file.")
    assets = project.assets.resolve()
    if path.is_relative_to(assets):
        return path.relative_to(assets).as_posix(), {}
    content = path.read_bytes()
    if re.search(rb"\bfile\s*=|<include\b", content):
        raise RequestError(
            f"{model} uses files beside it, meshes or others, which must come along.",
            hint=f"Copy its folder into {project.assets}/ and name it there.",
        )
    return path.name, {project.assets / path.name: content}


def _compile_file(path: Path) -> Any:
    from workbench.simulation.mjcf import compile_model

    return compile_model(path.expanduser())


def _compile_text(content: bytes) -> Any:
    import mujoco

    return mujoco.MjModel.from_xml_string(content.decode())


def _check_model(model: Any) -> None:
    from workbench.simulation.mjcf import actuator_name

    if not model.nu:
        raise RequestError(
            "the model has no actuator.", hint="Add an <actuator> with a motor or position for each joint."
        )
    for index in range(model.nu):
        if not model.actuator_ctrllimited[index]:
            raise RequestError(
                f"actuator {actuator_name(model, index)} has no ctrlrange, so its actions would have no bounds.",
                hint='Give it ctrlrange="-1 1", in units of its gear.',
            )


def _module(name: str, class_name: str, asset: str, noise: float, model: Any) -> str:
    from workbench.simulation.mjcf import actuator_name

    timestep = float(model.opt.timestep)
    frame_skip = max(1, round(CONTROL_S / timestep))
    is_simple = model.nq == model.nv == model.njnt and all(model.joint(index).name for index in range(model.njnt))
    actions = [
        f"    | {index} | {actuator_name(model, index)} | control of {actuator_name(model, index)} "
        f"| {model.actuator_ctrlrange[index, 0]:g} | {model.actuator_ctrlrange[index, 1]:g} | – |"
        for index in range(model.nu)
    ]
    return _template("env.py").substitute(
        name=name,
        Class=class_name,
        Title=name.replace("_", " ").capitalize(),
        summary="All joints come to their places and stay there.",
        sequence=", Sequence" if is_simple else "",
        model=asset,
        timestep=f"{timestep:g}",
        frame_skip=frame_skip,
        episode_steps=round(EPISODE_S / (frame_skip * timestep)),
        noise=noise,
        control_hz=f"{1 / (frame_skip * timestep):.3g}",
        simulation_hz=f"{1 / timestep:.3g}",
        action_rows="\n".join(actions),
        observation_rows="\n".join(_observation_rows(model, is_simple)),
        names=_template("names.py").template if is_simple else "",
    )


def _observation_rows(model: Any, is_simple: bool) -> list[str]:
    if not is_simple:
        return [
            f"    | 0–{model.nq - 1} | position_0 … | positions of all joints, as MuJoCo's `qpos` | m, rad |",
            f"    | {model.nq}–{model.nq + model.nv - 1} | velocity_0 … | their velocities, as `qvel` | m/s, rad/s |",
        ]
    rows = []
    names = [(model.joint(index).name, "rad" if model.jnt_type[index] == 3 else "m") for index in range(model.njnt)]
    for index, (joint, unit) in enumerate(names):
        rows.append(f"    | {index} | {joint} | place of {joint} | {unit} |")
    for index, (joint, unit) in enumerate(names, model.njnt):
        rows.append(f"    | {index} | {joint}_vel | velocity of {joint} | {unit}/s |")
    return rows


def _recipe(name: str) -> dict[str, Any]:
    return {
        "description": f"A first recipe for {name}: short, with settings that do for small tasks.",
        "total_steps": 200_000,
        "normalize_observations": True,
        "normalize_rewards": True,
        "ppo": {
            "n_envs": 32,
            "n_steps": 64,
            "batch_size": 512,
            "n_epochs": 10,
            "learning_rate": 0.001,
            # Motors driven from end to end at first swing most models about until returns teach nothing.
            "log_std_init": -1.0,
            "checkpoint_freq": 10,
        },
    }


def _document(value: Any) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _template(name: str) -> Template:
    return Template((resources.files(__package__) / "templates" / f"{name}.txt").read_text("utf-8"))
