"""PPO of Stable-Baselines3 with less work around the same maths."""

from __future__ import annotations

import logging
import time
from typing import Any, cast

import numpy as np
import stable_baselines3
import torch
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback, CallbackList, ConvertCallback
from stable_baselines3.common.utils import explained_variance
from stable_baselines3.common.vec_env import VecEnv

from workbench.simulation import Episode
from workbench.training.fast.actor_critic import ActorCritic, why_not
from workbench.training.fast.noise import SeededNoise, draw_noise
from workbench.training.fast.normalize import ArrayEnv, steps_arrays
from workbench.training.fast.rollout import Rollout
from workbench.training.fast.surrogate import Losses, Terms, Update
from workbench.training.fast.threads import cpus, one_thread

logger = logging.getLogger(__name__)


class PPO(SeededNoise, stable_baselines3.PPO):
    """PPO that computes the gradients of plain perceptrons by itself and reads rollouts as arrays.

    Takes the arguments of Stable-Baselines3's, saves and loads what it does, and runs its code, with one line in the
    log that says why, for everything it does not recognise.
    """

    workers = 0
    """Threads of an update at most; 0 for one a CPU. They change nothing but the time."""

    _network: ActorCritic | None = None
    _update: Update | None = None
    _told: set[str]

    def collect_rollouts(
        self, env: VecEnv, callback: BaseCallback, rollout_buffer: RolloutBuffer, n_rollout_steps: int
    ) -> bool:
        """Fill the buffer with steps of the policy; see Stable-Baselines3's."""
        network = self._find_network()
        if network is None or not self._can_collect(env, callback):
            return super().collect_rollouts(env, callback, rollout_buffer, n_rollout_steps)
        self.policy.set_training_mode(False)
        callback.on_rollout_start()
        arrays = cast(ArrayEnv, env)
        with one_thread(), torch.inference_mode():
            noise = draw_noise(self.noise_seed, self.noise_steps, n_rollout_steps, env.num_envs, network.action_size)
            self.noise_steps += n_rollout_steps
            rollout = Rollout(network, rollout_buffer, noise)
            observations, starts = np.asarray(self._last_obs), np.asarray(self._last_episode_starts)
            for step in range(n_rollout_steps):
                result = arrays.step_arrays(rollout.act(step, observations))
                self.num_timesteps += env.num_envs
                if not callback.on_step():
                    return False
                starts = rollout.record(step, starts, result)
                observations = result.observations
                if result.episodes:
                    self._take_episodes(result.episodes)
            self._last_obs, self._last_episode_starts = observations, starts
            rollout.finish(observations, starts, self.gamma)
        callback.on_rollout_end()
        return True

    def train(self) -> None:
        """Learn from the rollout in the buffer."""
        network = self._find_network()
        if network is None:
            super().train()
            return
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        terms = self._terms()
        rows = self.rollout_buffer.buffer_size * self.rollout_buffer.n_envs
        update = self._update
        if update is None or (update.network, update.rows, update.batch_size) != (network, rows, self.batch_size):
            update = self._update = Update(network, rows, self.batch_size)
        epochs: list[Losses] = []
        with one_thread(), torch.inference_mode(), np.errstate(all="ignore"):
            update.read(self.rollout_buffer)
            for epoch in range(self.n_epochs):
                epochs.append(update.epoch(np.random.permutation(rows), terms, self.workers or cpus()))
                self._n_updates += 1
                if epochs[-1].broken_off:
                    if self.verbose >= 1:
                        kl = epochs[-1].approx_kl[-1]
                        print(f"Early stopping at step {epoch} due to reaching max kl: {kl:.2f}")  # noqa: T201
                    break
        self._record(terms, epochs)

    def _setup_model(self) -> None:
        # The first weights come out of a decomposition whose bits depend on the threads.
        with one_thread():
            super()._setup_model()
        self._network = self._update = None
        self._told = set()

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_network", "_update", "_told", "workers"]

    def _find_network(self) -> ActorCritic | None:
        """Return the networks with their parameters tied to the flat buffers, or None where they are not known."""
        network = self._network
        if network is None or not network.belongs_to(self.policy):
            reason = why_not(self.policy)
            if type(self.rollout_buffer) is not RolloutBuffer:
                reason = f"rollouts are kept in a {type(self.rollout_buffer).__name__}"
            if reason:
                self._network = None
                self._tell(f"PPO runs in Stable-Baselines3's own code: {reason}.")
                return None
            network = self._network = ActorCritic(self.policy)
        network.flat.bind()
        if not network.flat.in_step:
            self._tell("PPO runs in Stable-Baselines3's own code: some parameters have had more updates than others.")
            return None
        return network

    def _can_collect(self, env: VecEnv, callback: BaseCallback) -> bool:
        if not steps_arrays(env):
            self._tell(f"Rollouts run in Stable-Baselines3's own code: a {type(env).__name__} steps no arrays.")
            return False
        if not _is_idle(callback):
            self._tell("Rollouts run in Stable-Baselines3's own code: a callback may want to see every step.")
            return False
        return True

    def _take_episodes(self, episodes: list[Episode]) -> None:
        assert self.ep_info_buffer is not None and self.ep_success_buffer is not None, "learn() makes them"
        elapsed = round((time.time_ns() - self.start_time) / 1e9, 6)
        for episode in episodes:
            self.ep_info_buffer.append({"r": round(episode.ret, 6), "l": episode.length, "t": elapsed})
            if episode.success is not None:
                self.ep_success_buffer.append(episode.success)

    def _terms(self) -> Terms:
        remaining = self._current_progress_remaining
        return Terms(
            clip_range=_at(self.clip_range, remaining),
            clip_range_vf=None if self.clip_range_vf is None else _at(self.clip_range_vf, remaining),
            normalize_advantage=self.normalize_advantage,
            ent_coef=self.ent_coef,
            vf_coef=self.vf_coef,
            max_grad_norm=self.max_grad_norm,
            target_kl=self.target_kl,
        )

    def _record(self, terms: Terms, epochs: list[Losses]) -> None:
        last = epochs[-1]
        loss = (
            last.policy_gradient_loss[-1] + terms.ent_coef * last.entropy_loss[-1] + terms.vf_coef * last.value_loss[-1]
        )
        buffer = self.rollout_buffer

        def mean(name: str, of: list[Losses]) -> float:
            return float(np.concatenate([getattr(losses, name) for losses in of]).mean(dtype=np.float64))

        means = {name: mean(name, epochs) for name in ("entropy_loss", "policy_gradient_loss", "value_loss")}
        means |= {
            "approx_kl": mean("approx_kl", [last]),
            "clip_fraction": mean("clip_fraction", epochs),
            "loss": float(loss),
            "explained_variance": float(explained_variance(buffer.values.flatten(), buffer.returns.flatten())),
            "std": float(self.policy.log_std.detach().exp().mean()),
        }
        for name, value in means.items():
            self.logger.record(f"train/{name}", value)
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record("train/clip_range", terms.clip_range)
        if terms.clip_range_vf is not None:
            self.logger.record("train/clip_range_vf", terms.clip_range_vf)

    def _tell(self, message: str) -> None:
        if message not in self._told:
            self._told.add(message)
            logger.warning(message)


def _is_idle(callback: BaseCallback) -> bool:
    """Return whether a callback does nothing at a step: `learn` makes such a one of None."""
    if type(callback) is CallbackList:
        return all(_is_idle(each) for each in callback.callbacks)
    return type(callback) is ConvertCallback and callback.callback is None


def _at(schedule: Any, progress_remaining: float) -> float:
    return float(schedule(progress_remaining))
