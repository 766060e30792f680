"""Making environments from their source, for whoever steps them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import gymnasium

from workbench.errors import Problem, ProblemsError, RequestError, SimulationError, WorkbenchError
from workbench.simulation.batch_env import BatchEnv
from workbench.simulation.config import build_config, config_class
from workbench.simulation.elsewhere import register_elsewhere
from workbench.simulation.gym_env import GymEnv
from workbench.simulation.mjcf import route_warnings
from workbench.simulation.registration import make_spec
from workbench.simulation.source import EnvSource, load_class
from workbench.simulation.vector_env import BatchVectorEnv

if TYPE_CHECKING:
    from workbench.simulation.sb3_env import BatchVecEnv, GymVecEnv


def make_batch(source: EnvSource, n_envs: int = 1, threads: int = 0) -> BatchEnv[Any] | None:
    """Return the batched environment of a source, or None where it is a plain Gymnasium one.

    Raises:
        ProblemsError: Its configuration has problems, all of them listed, or its module cannot be imported.
        SimulationError: It cannot be built.
    """
    if source.module is None:
        return None
    cls = load_class(source)
    if not issubclass(cls, BatchEnv):
        return None
    config, problems = build_config(config_class(cls), source.env_cfg)
    if config is None:
        raise ProblemsError(f"the configuration of {source.name}", problems)
    made: BatchEnv[Any] = _instantiate(
        source, functools.partial(cls, config, n_envs=n_envs, threads=threads, name=source.name)
    )
    return made


def make_single(source: EnvSource, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Return a plain `gymnasium.Env`; a source without a module is made by `gymnasium.make`.

    Raises:
        WorkbenchError: It cannot be made; see `make_batch`.
    """
    batch = make_batch(source)
    if batch is not None:
        env = GymEnv(batch, "rgb_array" if render_mode == "human" else render_mode)
        env.spec = make_spec(source)
        return gymnasium.wrappers.HumanRendering(env) if render_mode == "human" else env
    # Gymnasium's own environments load their models by themselves.
    route_warnings()
    keywords = dict(source.env_cfg) | ({} if render_mode is None else {"render_mode": render_mode})
    made: gymnasium.Env[Any, Any]
    if source.module is None:
        register_elsewhere(source.env_id)
        made = _instantiate(source, functools.partial(gymnasium.make, source.env_id, **keywords))
        return made
    cls = load_class(source)
    if not issubclass(cls, gymnasium.Env):
        problem = Problem(cls.__name__, "is neither a BatchEnv nor a gymnasium.Env")
        raise ProblemsError(f"{source.name} is no environment", [problem])
    made = _instantiate(source, functools.partial(cls, **keywords))
    made.unwrapped.spec = make_spec(source)
    return made


def make_vector(
    source: EnvSource, n_envs: int, threads: int = 0, render_mode: str | None = None
) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Return a `gymnasium.vector.VectorEnv`, batched where the environment is; it restarts copies in the same step."""
    batch = make_batch(source, n_envs, threads)
    if batch is not None:
        return BatchVectorEnv(batch, render_mode)
    from gymnasium.vector import AutoresetMode, SyncVectorEnv

    make = functools.partial(make_single, source, render_mode)
    return SyncVectorEnv([make] * n_envs, autoreset_mode=AutoresetMode.SAME_STEP)


def make_sb3(source: EnvSource, n_envs: int = 1, seed: int | None = None, threads: int = 0) -> BatchVecEnv | GymVecEnv:
    """Return a vector environment for Stable-Baselines3, with `step_arrays` and `drain_episodes` besides.

    Its observations end with what only a critic sees, where the environment tells such a thing: `actor_space` is the
    space of the rest, and a policy of Stable-Baselines3's own would read all.

    Args:
        source: The environment.
        n_envs: How many copies.
        seed: Copy i is seeded with `seed + i` at the first reset.
        threads: How many threads step a batched environment; 0 for one a CPU.
    """
    from workbench.simulation.sb3_env import BatchVecEnv, GymVecEnv

    batch = make_batch(source, n_envs, threads)
    made: BatchVecEnv | GymVecEnv
    if batch is not None:
        made = BatchVecEnv(batch)
    else:
        made = GymVecEnv([functools.partial(make_single, source)] * n_envs, name=source.name)
    if seed is not None:
        made.seed(seed)
    return made


def single_entry_point(
    source: Mapping[str, Any], render_mode: str | None = None, **env_cfg: Any
) -> gymnasium.Env[Any, Any]:
    """Make what `gymnasium.make` asks for; further keywords of its call override the configuration."""
    return make_single(_override(source, env_cfg), render_mode)


def vector_entry_point(
    num_envs: int, source: Mapping[str, Any], render_mode: str | None = None, **env_cfg: Any
) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Make what `gymnasium.make_vec` asks for."""
    return make_vector(_override(source, env_cfg), num_envs, render_mode=render_mode)


def _override(source: Mapping[str, Any], env_cfg: Mapping[str, Any]) -> EnvSource:
    given = EnvSource.from_json(source)
    return EnvSource(given.env_id, given.name, given.module, given.class_name, {**given.env_cfg, **env_cfg})


def _instantiate(source: EnvSource, make: Any) -> Any:
    try:
        return make()
    except WorkbenchError:
        raise
    except gymnasium.error.UnregisteredEnv as error:
        raise RequestError(f"there is no environment {source.env_id}: {error}") from error
    except Exception as error:
        said = " ".join(str(error).split())
        raise SimulationError(f"{source.name} cannot be made: {type(error).__name__}: {said}") from error
