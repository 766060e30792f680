"""The description process: what a browser wants to know of an environment, written as JSON.

`python -m workbench.simulation.describe` reads a JSON list of requests `{"entry": {…}, "output": PATH}` on standard
input and writes each description to its path; a broken environment is described by its faults and stops no other.
`--registry OUTPUT` writes every Gymnasium ID that is installed. Never imports textual, polyscope or torch.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import json
import logging
import platform
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from workbench.durable import write_json
from workbench.errors import Problem, ProblemsError, WorkbenchError
from workbench.simulation.batch_env import BatchEnv
from workbench.simulation.config import build_config, config_class, config_fields, field_line, plain, type_name
from workbench.simulation.elsewhere import register_elsewhere
from workbench.simulation.factory import make_single
from workbench.simulation.source import EnvSource, line_in, load_class, locate_module
from workbench.suggest import nearest_one

_log = logging.getLogger(__name__)

LISTED_BOUNDS = 4096
SPACES = ("observation_space", "action_space")
VERSIONED = ("workbench-rl", "mujoco", "gymnasium", "numpy")


def describe(source: EnvSource) -> dict[str, Any]:
    """Return the description of an environment; what is wrong with it is in `faults`, and nothing is raised.

    Bounds that are not finite are null, as is what is not known.
    """
    told: dict[str, Any] = {
        "env_id": source.env_id,
        "name": source.name,
        "kind": "gymnasium",
        "docstring": "",
        "observation": None,
        "action": None,
        "control_hz": None,
        "simulation_hz": None,
        "episode_steps": None,
        "reward_terms": [],
        "infos": [],
        "terminated": [],
        "truncated": [],
        "successes": [],
        "config": [],
        "model": None,
        "faults": [],
        "versions": versions(),
    }
    cls: type | None = None
    try:
        with _stage("import"):
            cls = None if source.module is None else load_class(source)
        if cls is not None:
            told["docstring"] = inspect.cleandoc(cls.__doc__ or "")
        if cls is not None and issubclass(cls, BatchEnv):
            told["kind"] = "batch"
            _describe_batch(cls, source, told)
        else:
            _describe_plain(cls, source, told)
    except WorkbenchError as error:
        problems = error.problems if isinstance(error, ProblemsError) else [Problem("class", str(error))]
        line = _line(source, cls, error)
        told["faults"] += [_fault(problem, line) for problem in problems]
    return told


def describe_registry() -> list[dict[str, Any]]:
    """Return every Gymnasium ID installed, but for our own; none is made, so spaces are not known."""
    register_elsewhere()
    return [
        {
            "env_id": spec.id,
            "name": spec.id,
            "entry_point": spec.entry_point if isinstance(spec.entry_point, str) else None,
            "max_episode_steps": spec.max_episode_steps,
            "reward_threshold": spec.reward_threshold,
            "observation": None,
            "action": None,
        }
        for spec in gymnasium.registry.values()
        if spec.namespace != "workbench"
    ]


def versions() -> dict[str, str]:
    """Return the versions a description depends on."""
    found = {"python": platform.python_version()}
    for package in VERSIONED:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def describe_space(space: spaces.Space[Any], names: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a space as plain data; only boxes and discrete ones have bounds."""
    told: dict[str, Any] = {
        "kind": type(space).__name__,
        "shape": None if space.shape is None else list(space.shape),
        "dtype": None if space.dtype is None else str(space.dtype),
        "low": None,
        "high": None,
        "names": list(names),
    }
    if isinstance(space, spaces.Box):
        # A picture's bounds are one number, not a hundred thousand.
        few = space.low.size <= LISTED_BOUNDS
        told["low"] = _bounds(space.low if few else space.low.min())
        told["high"] = _bounds(space.high if few else space.high.max())
    elif isinstance(space, spaces.Discrete):
        told |= {"low": [int(space.start)], "high": [int(space.start + space.n) - 1]}
    return told


def main(arguments: list[str] | None = None) -> int:
    """Run the description process."""
    parser = argparse.ArgumentParser(prog="python -m workbench.simulation.describe", description=__doc__)
    parser.add_argument("--registry", metavar="OUTPUT", type=Path, help="write every Gymnasium ID installed, and end")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if options.registry is not None:
        write_json(options.registry, describe_registry(), indent=None)
        return 0
    requests = json.load(sys.stdin)
    failed = 0
    for request in requests:
        try:
            told = describe(EnvSource.from_json(_source_fields(request["entry"])))
            write_json(Path(request["output"]), told, indent=None)
        except Exception:
            _log.exception("request %r could not be answered", request)
            failed += 1
    return 1 if failed else 0


def _describe_batch(cls: type[BatchEnv[Any]], source: EnvSource, told: dict[str, Any]) -> None:
    with _stage("configuration"):
        config_cls = config_class(cls)
        told["config"] = [dataclasses.asdict(row) for row in config_fields(config_cls)]
        if not config_cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            line = _line_of(config_cls, source)
            told["faults"].append(_fault(Problem(config_cls.__name__, "must be a frozen dataclass"), line))
        config, problems = build_config(config_cls, source.env_cfg)
        told["faults"] += [_fault(item, field_line(config_cls, item.key, _module(source))) for item in problems]
        if config is None:
            # The defaults still tell spaces and terms; where they are wrong themselves, that has just been said.
            config, more = build_config(config_cls, {})
            told["faults"] += [
                _fault(item, field_line(config_cls, item.key, _module(source))) for item in more if item not in problems
            ]
    if config is None:
        return
    if inspect.isabstract(cls):
        missing = ", ".join(sorted(cls.__abstractmethods__))
        raise ProblemsError(cls.__name__, [Problem("class", f"lacks {missing}")])
    with _stage("construction"):
        env = cls(config, name=source.name)
    try:
        told |= {
            "observation": describe_space(env.observation_space, env.observation_names),
            "critic": list(env.critic_names),
            "action": describe_space(env.action_space, env.action_names),
            "control_hz": env.control_hz,
            "simulation_hz": env.simulation_hz,
            "episode_steps": env.episode_steps or None,
            "reward_terms": list(env.reward_names),
            "infos": list(env.info_names),
            "terminated": list(env.termination_names),
            "truncated": list(env.truncation_names),
            "successes": list(env.successes),
            "model": _describe_model(env.model),
        }
        # What only running shows: a start state of the wrong shape, a term that is not finite.
        if env.critic_names:
            env.add_critic_observations()
        with _stage("reset"):
            env.reset(seed=0)
        with _stage("step"):
            env.step_arrays(np.zeros((1, *env.action_space.shape), dtype=np.float32))
    finally:
        env.close()


def _describe_plain(cls: type | None, source: EnvSource, told: dict[str, Any]) -> None:
    if cls is not None:
        problems = [*_describe_constructor(cls, source, told), *_missing_methods(cls)]
        if problems:
            raise ProblemsError(source.name, problems)
    with _stage("construction"):
        env = make_single(source)
    try:
        bare: Any = env.unwrapped
        missing = [name for name in SPACES if not isinstance(getattr(env, name, None), spaces.Space)]
        if missing:
            raise ProblemsError(source.name, [Problem(name, "is missing: a space is due") for name in missing])
        if cls is None:
            told["docstring"] = inspect.cleandoc(type(bare).__doc__ or "")
        told["observation"] = describe_space(env.observation_space)
        told["action"] = describe_space(env.action_space)
        told["episode_steps"] = None if env.spec is None else env.spec.max_episode_steps
        told["truncated"] = ["time_limit"] if told["episode_steps"] else []
        period = getattr(bare, "dt", None)
        rate = 1.0 / period if isinstance(period, float) and period > 0 else env.metadata.get("render_fps")
        told["control_hz"] = None if rate is None else float(rate)
        model: Any = getattr(bare, "model", None)
        if hasattr(model, "opt") and hasattr(model, "nq"):
            told["simulation_hz"] = 1.0 / float(model.opt.timestep)
            told["model"] = _describe_model(model)
        with _stage("reset"):
            env.reset(seed=0)
        env.action_space.seed(0)
        with _stage("step"):
            info = env.step(env.action_space.sample())[4]
        told["reward_terms"] = [key.removeprefix("reward_") for key in info if key.startswith("reward_")]
        told["infos"] = [key for key in info if not key.startswith("reward_")]
    finally:
        env.close()


def _describe_constructor(cls: type, source: EnvSource, told: dict[str, Any]) -> list[Problem]:
    """List the keywords of a plain class as its configuration, and say which of the given ones it lacks."""
    parameters = [item for item in inspect.signature(cls).parameters.values() if item.name != "render_mode"]
    named = [item for item in parameters if item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)]
    told["config"] = [
        {
            "name": item.name,
            "type": "" if item.annotation is item.empty else type_name(item.annotation),
            "default": None if item.default is item.empty else plain(item.default),
            "doc": "",
        }
        for item in named
    ]
    if any(item.kind is item.VAR_KEYWORD for item in parameters):
        return []
    names = [item.name for item in named]
    return [
        Problem(key, f"is not an argument of {cls.__name__}", nearest=nearest_one(key, names))
        for key in source.env_cfg
        if key not in names
    ]


def _missing_methods(cls: type) -> list[Problem]:
    """Say which methods a plain environment inherits empty from Gymnasium's class."""
    if not issubclass(cls, gymnasium.Env) or issubclass(cls, gymnasium.Wrapper):
        return []
    missing = [name for name in ("reset", "step") if getattr(cls, name) is getattr(gymnasium.Env, name)]
    return [Problem("class", f"lacks {', '.join(missing)}")] if missing else []


def _describe_model(model: Any) -> dict[str, int]:
    return {name: int(getattr(model, name)) for name in ("nq", "nv", "nu", "nbody")}


def _bounds(values: Any) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in np.asarray(values).reshape(-1)]


def _source_fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    fields = dict(entry)
    return fields if fields.get("module") else fields | {"module": None, "class_name": None}


@contextmanager
def _stage(name: str) -> Iterator[None]:
    """Turn whatever an author's code raises into a problem of the stage it was raised in."""
    try:
        yield
    except WorkbenchError:
        raise
    except (Exception, SystemExit) as error:
        raise ProblemsError(name, [Problem(name, f"fails with {type(error).__name__}: {error}")]) from error


def _fault(problem: Problem, line: int | None = None) -> dict[str, Any]:
    known = line if problem.line is None else problem.line
    return {"key": problem.key, "message": problem.message, "nearest": problem.nearest, "line": known}


def _module(source: EnvSource) -> Path:
    return Path(source.module or ".") if source.module is None else locate_module(source)


def _line(source: EnvSource, cls: type | None, error: WorkbenchError) -> int | None:
    """Return the line of the author's file an error leads to: where it came up, else where the class begins."""
    if source.module is None:
        return None
    try:
        path = _module(source)
    except WorkbenchError:
        return None
    line = line_in(path, error)
    return _line_of(cls, source) if line is None and cls is not None else line


def _line_of(cls: type, source: EnvSource) -> int | None:
    try:
        return inspect.getsourcelines(cls)[1] if Path(inspect.getfile(cls)) == _module(source) else None
    except (OSError, TypeError):
        return None


if __name__ == "__main__":
    sys.exit(main())
