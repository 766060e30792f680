"""What SAC and TD3 share: rows for replay, collection without info dicts, and who makes the updates."""

from __future__ import annotations

import functools
import logging
import math
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, overload

from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.noise import ActionNoise
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.policies import ContinuousCritic
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.type_aliases import RolloutReturn, TrainFreq, TrainFrequencyUnit
from stable_baselines3.common.utils import should_collect_more_steps
from stable_baselines3.common.vec_env import VecEnv

from workbench.simulation import StepArrays
from workbench.training.fast.asymmetric import ActorExtractor
from workbench.training.fast.noise import Kind, SeededNoise, StepNoise, add_noise
from workbench.training.fast.normalize import Normalizer, steps_arrays
from workbench.training.fast.perceptron import read_layers
from workbench.training.fast.replay import RowReplayBuffer

logger = logging.getLogger(__name__)


Draw = Callable[[Kind], NDArray[Any]]
"""Noise (n, a) of a kind for the step that is being taken."""


class Updates(Protocol):
    """Recognised networks as flat buffers, with the updates written out for one size of batch."""

    batch_size: int
    n_envs: int
    policy: Any

    def bind(self) -> str | None:
        """Take hold of parameters and moments again, and return why that cannot be, if so."""
        ...

    def act(self, observations: NDArray[Any], noise: Draw) -> NDArray[Any]:
        """Return what the policy does within -1 and 1, before any action noise."""
        ...


class OffPolicy(SeededNoise, OffPolicyAlgorithm):
    """A learner from replay, faster where it recognises its networks, its buffer and its environment.

    The three are judged apart: what is not recognised is left to Stable-Baselines3's own code, and said once.

    With networks that are recognised, what a copy draws to explore does not depend on how many copies there are: the
    actions of the warm-up, the spread of the policy and normal action noise. All else that is drawn follows
    Stable-Baselines3's order of global draws: whatever networks that are not recognised do, action noise of other
    kinds, and updates.
    """

    workers = 0
    """Threads of an update; 0 for one a CPU. They change nothing but the time."""

    _made: Updates | None = None
    _noise: StepNoise | None = None
    _judged: tuple[Any, str | None] | None = None
    _said: frozenset[str] = frozenset()

    @abstractmethod
    def _why_not(self) -> str | None:
        """Return why the updates of this policy are not written out, or None where they are."""

    @abstractmethod
    def _make_updates(self, batch_size: int) -> Updates:
        """Return the updates for batches of a size; the policy is recognised."""

    def _setup_model(self) -> None:
        chosen = self.replay_buffer_class
        if chosen is None and self.n_steps == 1 and not self.optimize_memory_usage and _is_vector(self):
            self.replay_buffer_class = RowReplayBuffer
        super()._setup_model()
        # A saved file says what was asked for, so that Stable-Baselines3 alone can load it.
        self.replay_buffer_class = chosen

    def forget_updates(self) -> None:
        """Judge and take hold of the networks anew: one of their optimisers is another now."""
        self._made = self._judged = None

    def _updates(self, batch_size: int) -> Updates | None:
        """Return the updates for the networks as they are now, or None where they are Stable-Baselines3's to make."""
        if self._judged is None or self._judged[0] is not self.policy:
            self._judged = (self.policy, self._why_not())
        reason = self._judged[1]
        if reason is None:
            made = self._made
            if made is None or (made.policy, made.batch_size, made.n_envs) != (self.policy, batch_size, self.n_envs):
                made = self._made = self._make_updates(batch_size)
            reason = made.bind()
            if reason is None:
                return made
        self._say(f"{type(self).__name__} updates in Stable-Baselines3's own code: {reason}.")
        return None

    def _sample_action(
        self, learning_starts: int, action_noise: ActionNoise | None = None, n_envs: int = 1
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        updates = self._updates(self.batch_size)
        if updates is None or updates.n_envs != n_envs:
            return super()._sample_action(learning_starts, action_noise, n_envs)
        draw = self._next_noise(n_envs)
        is_warming_up = self.num_timesteps < learning_starts
        scaled = draw(Kind.WARM_UP) if is_warming_up else updates.act(self._last_obs, draw)  # type: ignore[arg-type]
        if action_noise is not None:
            scaled = add_noise(scaled, action_noise, draw(Kind.ACTION))
        return self.policy.unscale_action(scaled), scaled

    def _next_noise(self, n_envs: int) -> Draw:
        """Return the noise of the next step."""
        noise = self._noise
        if noise is None or (noise.seed, noise.n_envs) != (self.noise_seed, n_envs):
            noise = self._noise = StepNoise(self.noise_seed, n_envs, math.prod(self.action_space.shape or ()))
        self.noise_steps += 1
        return functools.partial(noise.draw, self.noise_steps - 1)

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        train_freq: TrainFreq,
        replay_buffer: ReplayBuffer,
        action_noise: ActionNoise | None = None,
        learning_starts: int = 0,
        log_interval: int | None = None,
    ) -> RolloutReturn:
        """Collect steps into the replay buffer, as arrays where the environment gives them.

        Callbacks find what they find with Stable-Baselines3; infos are made when one reads them.
        """
        reason = self._why_no_arrays(env)
        if reason is not None:
            self._say(f"{type(self).__name__} collects in Stable-Baselines3's own code: {reason}.")
            return super().collect_rollouts(
                env, callback, train_freq, replay_buffer, action_noise, learning_starts, log_interval
            )
        n_envs = env.num_envs
        if n_envs > 1 and train_freq.unit is not TrainFrequencyUnit.STEP:
            raise ValueError("You must use only one env when doing episodic training.")
        if self.policy.training:
            self.policy.set_training_mode(False)
        steps = episodes = 0
        callback.on_rollout_start()
        while should_collect_more_steps(train_freq, steps, episodes):
            actions, buffer_actions = self._sample_action(learning_starts, action_noise, n_envs)
            result: StepArrays = env.step_arrays(actions)  # type: ignore[attr-defined]
            self.num_timesteps += n_envs
            steps += 1
            callback.update_locals(_locals_of(self, env, actions, buffer_actions, result))
            if not callback.on_step():
                return RolloutReturn(steps * n_envs, episodes, continue_training=False)
            self._note_episodes(result)
            self._store(replay_buffer, buffer_actions, result)
            self._update_current_progress_remaining(self.num_timesteps, self._total_timesteps)
            self._on_step()
            for copy in result.ended:
                episodes += 1
                self._episode_num += 1
                if action_noise is not None:
                    action_noise.reset(**({"indices": [int(copy)]} if n_envs > 1 else {}))
                if log_interval is not None and self._episode_num % log_interval == 0:
                    self.dump_logs()
        callback.on_rollout_end()
        return RolloutReturn(steps * n_envs, episodes, continue_training=True)

    def _why_no_arrays(self, env: VecEnv) -> str | None:
        if not steps_arrays(env):
            return f"a {type(env).__name__} steps no arrays"
        if self.use_sde:
            return "exploration is state-dependent"
        return None if isinstance(self.observation_space, spaces.Box) else "observations are no vectors"

    def _note_episodes(self, result: StepArrays) -> None:
        if not result.episodes or self.ep_info_buffer is None or self.ep_success_buffer is None:
            return
        elapsed_s = round((time.time_ns() - self.start_time) / 1e9, 6)
        for episode in result.episodes:
            self.ep_info_buffer.append({"r": round(episode.ret, 6), "l": episode.length, "t": elapsed_s})
            if episode.success is not None:
                self.ep_success_buffer.append(episode.success)

    def _store(self, buffer: ReplayBuffer, actions: NDArray[Any], result: StepArrays) -> None:
        """Keep the transition with observations and rewards as the environment gave them, not normalised."""
        before: Any = self._last_obs
        after, final, rewards = result.observations, result.final_observations, result.rewards
        normalizer = self._vec_normalize_env
        if isinstance(normalizer, Normalizer):
            before = self._last_original_obs
            after, final, rewards = normalizer.old_obs, normalizer.old_final_observations, normalizer.old_reward
        self._last_obs, self._last_original_obs = result.observations, after
        if len(result.ended):
            after = after.copy()
            after[result.ended] = final
        done = result.terminated | result.truncated
        if isinstance(buffer, RowReplayBuffer):
            buffer.add_arrays(before, after, actions, rewards, done, result.truncated)
        else:
            cut = [{"TimeLimit.truncated": bool(cut)} for cut in result.truncated]
            buffer.add(before, after, actions, rewards, done, cut)

    def _say(self, line: str) -> None:
        if line not in self._said:
            self._said |= {line}
            logger.warning(line)

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_made", "_noise", "_judged", "_said", "workers"]


class Infos(Sequence[Mapping[str, Any]]):
    """The infos of a step, each made when it is read.

    Args:
        result: The step.
    """

    def __init__(self, result: StepArrays) -> None:
        self._result = result

    def __len__(self) -> int:
        """Return how many copies there are."""
        return len(self._result.rewards)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        """Return the info of a copy."""
        if isinstance(index, slice):
            return [self[copy] for copy in range(*index.indices(len(self)))]
        copy, result = range(len(self))[index], self._result
        info = {f"reward_{name}": value[copy] for name, value in result.reward_terms.items()}
        info |= {name: value[copy] for name, value in result.infos.items()}
        for row, episode in enumerate(result.episodes):
            if episode.copy == copy:
                info |= episode.ending()
                info["episode"] = {"r": round(episode.ret, 6), "l": episode.length}
                info["terminal_observation"] = result.final_observations[row]
                info["TimeLimit.truncated"] = not episode.terminated
        return info


def why_not_policy(policy: Any) -> str | None:
    """Return what of a policy of SAC or TD3 is not recognised, its actor's layers apart."""
    extractors = [part.features_extractor for part in (policy.critic, policy.critic_target)]
    if type(policy.actor.features_extractor) is not ActorExtractor:
        extractors.append(policy.actor.features_extractor)
    if any(type(extractor) is not FlattenExtractor for extractor in extractors) or not _is_vector(policy):
        return "observations are not plain vectors"
    if policy.share_features_extractor:
        return "actor and critic share their features extractor"
    if any(type(critic) is not ContinuousCritic for critic in (policy.critic, policy.critic_target)):
        return f"the critic is a {type(policy.critic).__name__}"
    if policy.critic.n_critics != 2:
        return f"there are {policy.critic.n_critics} critics, not 2"
    if any(read_layers(net) is None or len(net) % 2 == 0 for net in policy.critic.q_networks):
        return "the critics are no plain perceptrons"
    return None


def _is_vector(owner: Any) -> bool:
    """Whether observations and actions are arrays of floating-point numbers."""
    return all(
        isinstance(space, spaces.Box) and space.dtype.kind == "f"
        for space in (owner.observation_space, owner.action_space)
    )


def _locals_of(
    model: OffPolicy, env: VecEnv, actions: NDArray[Any], buffer_actions: NDArray[Any], result: StepArrays
) -> dict[str, Any]:
    """Return the names under which callbacks of Stable-Baselines3 look for the step."""
    return {
        "self": model,
        "env": env,
        "actions": actions,
        "buffer_actions": buffer_actions,
        "new_obs": result.observations,
        "rewards": result.rewards,
        "dones": result.terminated | result.truncated,
        "infos": Infos(result),
    }
