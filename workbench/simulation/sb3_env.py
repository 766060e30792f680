"""Vector environments for Stable-Baselines3; the one module of this package that imports it.

`BatchVecEnv` steps a batched environment, `GymVecEnv` plain Gymnasium ones in a loop. Both have `step_arrays` beside
`step_wait`, for learners that read arrays and need no info dicts, and both keep `Episode` records until they are
drained.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from workbench.errors import RequestError, SimulationError, WorkbenchError
from workbench.simulation.batch_env import TIME_LIMIT, BatchEnv
from workbench.simulation.episodes import Episode, StepArrays
from workbench.simulation.guard import NotFiniteError
from workbench.simulation.snapshot import Snapshot, move_on

VecEnvIndices = None | int | Iterable[int]

KEPT_EPISODES = 100_000
"""Records kept for a caller that never drains them; the oldest go first."""


class EpisodeLog:
    """Records of whole episodes since they were last drained."""

    def __init__(self) -> None:
        self._episodes: deque[Episode] = deque(maxlen=KEPT_EPISODES)
        self._began = time.monotonic()

    def add(self, episodes: Iterable[Episode]) -> None:
        """Keep the records of a step."""
        self._episodes.extend(episodes)

    def drain(self) -> list[Episode]:
        """Return the records, oldest first, and forget them."""
        drained = list(self._episodes)
        self._episodes.clear()
        return drained

    def last_info(self, episode: Episode, final_observation: Any) -> dict[str, Any]:
        """Return what Stable-Baselines3 expects in the info of an episode's last step, and how it ended."""
        elapsed = round(time.monotonic() - self._began, 6)
        return {
            "episode": {"r": round(episode.ret, 6), "l": episode.length, "t": elapsed},
            "terminal_observation": final_observation,
            "TimeLimit.truncated": not episode.terminated,
            **episode.ending(),
        }


class BatchVecEnv(VecEnv):
    """All copies of a batched environment; observations end with what only a critic sees, where there is such a thing.

    The infos of a step are empty dicts but for copies that ended, unless `every_info` is set: a dict of numbers a copy
    and step costs more than the step.

    Args:
        env: The environment.
        every_info: Put reward terms and infos of every step into the infos of every copy.
    """

    def __init__(self, env: BatchEnv[Any], *, every_info: bool = False) -> None:
        self.env = env
        self.every_info = every_info
        self._log = EpisodeLog()
        self._actions: NDArray[Any] | None = None
        space = env.observation_space
        if env.critic_names:
            env.add_critic_observations()
            space = spaces.Box(-np.inf, np.inf, (math.prod(space.shape) + len(env.critic_names),), np.float64)
        super().__init__(env.n_envs, space, env.action_space)

    @property
    def actor_space(self) -> spaces.Box:
        """The space of what a policy sees: the first numbers of an observation."""
        return self.env.observation_space

    @property
    def critic_names(self) -> tuple[str, ...]:
        """What only a critic sees: the last numbers of an observation."""
        return self.env.critic_names

    def reset(self) -> NDArray[np.float64]:
        """Begin a new episode in every copy, seeded if `seed` was called since the last reset."""
        seeded = any(seed is not None for seed in self._seeds)
        observations = self.env.reset(seed=self._seeds if seeded else None)
        self.reset_infos = [{} for _ in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float64], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Step every copy."""
        if self._actions is None:
            raise RequestError("step_wait was called before step_async.")
        result = self.step_arrays(self._actions)
        self._actions = None
        columns = {f"reward_{name}": value for name, value in result.reward_terms.items()} | result.infos
        if self.every_info:
            infos = [{name: value[copy] for name, value in columns.items()} for copy in range(self.num_envs)]
        else:
            infos = [{} for _ in range(self.num_envs)]
        for row, episode in enumerate(result.episodes):
            infos[episode.copy] |= {name: value[episode.copy] for name, value in columns.items()}
            infos[episode.copy] |= self._log.last_info(episode, result.final_observations[row])
        dones = result.terminated | result.truncated
        return result.observations, result.rewards.astype(np.float32), dones, infos

    def step_arrays(self, actions: NDArray[Any]) -> StepArrays:
        """Step every copy and return arrays instead of infos."""
        result = self.env.step_arrays(actions)
        self._log.add(result.episodes)
        return result

    def drain_episodes(self) -> list[Episode]:
        """Return the episodes that ended since the last call, however they were stepped."""
        return self._log.drain()

    @property
    def reward_weights(self) -> dict[str, float]:
        """What each reward term counts in the reward; see `BatchEnv.weigh`."""
        return self.env.reward_weights

    def weigh(self, weights: Mapping[str, float]) -> None:
        """Let reward terms count more or less from the next step on; see `BatchEnv.weigh`."""
        self.env.weigh(weights)

    def snapshot(self) -> Snapshot:
        """Return the state of all copies; see `BatchEnv.snapshot`. Episodes that were not drained are no part of it."""
        return self.env.snapshot()

    def restore(self, state: Mapping[str, Any]) -> bool:
        """Make all copies what they were, and return that they are."""
        self.env.restore(state)
        return True

    def stir(self, number: int) -> None:
        """Let every copy draw on elsewhere than it would; the same number leads to the same place."""
        for generator in self.env.generators:
            move_on(generator, number)

    def close(self) -> None:
        """Let the simulations go."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of the environment, once a copy; all share it."""
        # Gymnasium's environments have these and ours has no use for them.
        absent = {"render_mode": None, "spec": None}
        value = absent[attr_name] if attr_name in absent else getattr(self.env, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of the environment, which all copies share.

        Raises:
            RequestError: Only some copies are to have it.
        """
        if len(set(self._get_indices(indices))) != self.num_envs:
            raise RequestError(f"{self.env.name} is one object for all copies: {attr_name} cannot differ among them.")
        setattr(self.env, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the environment, once for all copies, and return its result once a copy."""
        result = getattr(self.env, method_name)(*method_args, **method_kwargs)
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Answer yes for `Monitor`: returns and lengths are recorded as it records them."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Return no pictures: a viewer draws one copy from `env.data`."""
        return [None for _ in range(self.num_envs)]


class GymVecEnv(DummyVecEnv):
    """Plain Gymnasium environments, stepped one after another, with the records that batched ones keep.

    Infos whose name starts with `reward_` count as reward terms, other numbers as infos. An ending without a name of
    its own is called `terminated`, a cut `time_limit`.

    Args:
        env_fns: One maker a copy.
        name: What errors call the environment.
    """

    def __init__(self, env_fns: list[Callable[[], gymnasium.Env[Any, Any]]], *, name: str) -> None:
        super().__init__(env_fns)
        self.name = name
        self._log = EpisodeLog()
        self._sums = [_Sums() for _ in range(self.num_envs)]

    def reset(self) -> Any:
        """Begin a new episode in every copy."""
        self._sums = [_Sums() for _ in range(self.num_envs)]
        return super().reset()

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Step every copy."""
        result, infos = self._step(self.actions)
        return result.observations, result.rewards.astype(np.float32), result.terminated | result.truncated, infos

    def step_arrays(self, actions: NDArray[Any]) -> StepArrays:
        """Step every copy and return arrays; continuous actions are clipped to their bounds."""
        space = self.action_space
        taken = np.clip(actions, space.low, space.high) if isinstance(space, spaces.Box) else actions
        return self._step(taken)[0]

    def drain_episodes(self) -> list[Episode]:
        """Return the episodes that ended since the last call, however they were stepped."""
        return self._log.drain()

    @property
    def reward_weights(self) -> dict[str, float]:
        """Nothing: a plain environment gives its reward as one number."""
        return {}

    def weigh(self, weights: Mapping[str, float]) -> None:
        """Refuse weights, for there are no terms.

        Raises:
            RequestError: There are weights.
        """
        if weights:
            raise RequestError(f"{self.name} gives one reward and not its terms: none can be weighed.")

    def snapshot(self) -> Snapshot:
        """Return what the copies draw their random numbers from; of the rest of them nothing can be known."""
        return {"generators": [env.unwrapped.np_random.bit_generator.state for env in self.envs]}

    def restore(self, state: Mapping[str, Any]) -> bool:
        """Let the copies draw on where they were, and return that their episodes must begin anew."""
        for env, generator in zip(self.envs, state["generators"], strict=True):
            own = env.unwrapped.np_random.bit_generator
            if own.state["bit_generator"] == generator["bit_generator"]:
                own.state = generator
        return False

    def stir(self, number: int) -> None:
        """Let every copy draw on elsewhere than it would; the same number leads to the same place."""
        for env in self.envs:
            move_on(env.unwrapped.np_random, number)

    def env_is_wrapped(self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: Any = None) -> Any:
        """Answer yes for `Monitor`: returns and lengths are recorded as it records them."""
        if wrapper_class is Monitor:
            return [True for _ in self._get_indices(indices)]
        return super().env_is_wrapped(wrapper_class, indices)

    def _step(self, actions: NDArray[Any]) -> tuple[StepArrays, list[dict[str, Any]]]:
        if isinstance(self.action_space, spaces.Box) and not np.isfinite(actions).all():
            copy = int(np.argwhere(~np.isfinite(np.asarray(actions)))[0][0])
            self._refuse(copy, "the action", actions[copy])
        rewards = np.zeros(self.num_envs)
        terminated, truncated = np.zeros(self.num_envs, dtype=bool), np.zeros(self.num_envs, dtype=bool)
        infos: list[dict[str, Any]] = []
        final: list[Any] = []
        episodes: list[Episode] = []
        for copy, env in enumerate(self.envs):
            try:
                seen, reward, ended, cut, told = env.step(actions[copy])
            except WorkbenchError:
                raise
            except Exception as error:
                self._raise(copy, f"it raised {type(error).__name__}: {error}", error)
            info = dict(told)
            rewards[copy], terminated[copy], truncated[copy] = float(reward), ended, cut and not ended
            self._check(copy, seen, float(reward))
            self._sums[copy].add(float(reward), info)
            if ended or cut:
                episode = self._sums[copy].record(copy, bool(ended), info)
                info |= self._log.last_info(episode, seen)
                self._sums[copy] = _Sums()
                episodes.append(episode)
                final.append(seen)
                seen, self.reset_infos[copy] = env.reset()
            self._save_obs(copy, seen)
            infos.append(info)
        self._log.add(episodes)
        result = StepArrays(
            observations=self._obs_from_buf(),
            rewards=rewards,
            terminated=terminated,
            truncated=truncated,
            reward_terms=_columns(infos, "reward_"),
            infos={},
            ended=np.flatnonzero(terminated | truncated),
            final_observations=_stack(final),
            episodes=episodes,
        )
        return result, infos

    def _check(self, copy: int, seen: Any, reward: float) -> None:
        if not math.isfinite(reward):
            self._refuse(copy, "the reward", reward)
        for name, part in seen.items() if isinstance(seen, dict) else [("", seen)]:
            values = np.asarray(part)
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                index = tuple(int(at) for at in np.argwhere(~np.isfinite(values))[0])
                self._refuse(copy, f"the observation {name}{list(index)}", values[index])

    def _refuse(self, copy: int, term: str, value: object) -> NoReturn:
        raise NotFiniteError(self.name, copy, self._sums[copy].length + 1, term, value)

    def _raise(self, copy: int, what: str, cause: Exception | None = None) -> NoReturn:
        # The step at fault is not counted yet.
        raise SimulationError(f"{self.name}, copy {copy}, step {self._sums[copy].length + 1}: {what}.") from cause


class _Sums:
    """What one copy's current episode has given."""

    def __init__(self) -> None:
        self.length = 0
        self._reward = [0.0, 0.0]
        self._terms: dict[str, list[float]] = {}
        self._infos: dict[str, list[float]] = {}

    def add(self, reward: float, info: Mapping[str, Any]) -> None:
        self.length += 1
        _accumulate(self._reward, reward)
        for key, value in info.items():
            if isinstance(value, (bool, int, float, np.bool_, np.number)) and not isinstance(value, complex):
                term = key.startswith("reward_")
                kept = self._terms if term else self._infos
                _accumulate(kept.setdefault(key.removeprefix("reward_"), [0.0, 0.0]), float(value))

    def record(self, copy: int, terminated: bool, info: Mapping[str, Any]) -> Episode:
        reason = info.get("terminated_reason", "terminated") if terminated else info.get("truncated_reason", TIME_LIMIT)
        success = info.get("is_success")
        return Episode(
            copy=copy,
            ret=self._reward[0],
            length=self.length,
            terminated=terminated,
            reason=str(reason),
            reward_square_sum=self._reward[1],
            term_sums={name: sums[0] for name, sums in self._terms.items()},
            term_square_sums={name: sums[1] for name, sums in self._terms.items()},
            info_sums={name: sums[0] for name, sums in self._infos.items()},
            info_square_sums={name: sums[1] for name, sums in self._infos.items()},
            success=None if success is None else bool(success),
        )


def _accumulate(sums: list[float], value: float) -> None:
    sums[0] += value
    sums[1] += value * value


def _columns(infos: Sequence[Mapping[str, Any]], prefix: str) -> dict[str, NDArray[np.float64]]:
    """Return the numbers under names with a prefix that every copy gave, each (n,)."""
    names = [name for name in infos[0] if name.startswith(prefix) and all(name in info for info in infos)]
    return {name.removeprefix(prefix): np.array([float(info[name]) for info in infos]) for name in names}


def _stack(observations: Sequence[Any]) -> Any:
    if observations and isinstance(observations[0], dict):
        return {key: np.stack([one[key] for one in observations]) for key in observations[0]}
    return np.stack(observations) if observations else np.zeros((0,))
