"""One iteration at a time of Stable-Baselines3's own rollouts and updates.

`learn()` of Stable-Baselines3 only hands back control between two steps of the environment; here the same parts are
called one after another, so that everything else acts where weights, statistics and counters belong together.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from workbench.errors import SimulationError
from workbench.policies.sb3 import actor_tensors, describe_action_map, describe_network, policy_tensors
from workbench.policies.spaces import describe_space
from workbench.runs.anomalies import NON_FINITE_ACTION, NON_FINITE_GRADIENT
from workbench.specs import RunSpec
from workbench.training import learner_state
from workbench.training.anomalies import (
    AnomalyError,
    check_gradients,
    check_losses,
    check_weights,
    forget_gradients,
    guard_updates,
)
from workbench.training.model import (
    actor_space,
    change_model,
    critic_names,
    critics_differ,
    make_model,
    normalize,
)
from workbench.training.replay_log import is_kept

OFF_POLICY_STEPS = 1000
"""Steps of an iteration of SAC and TD3, where one update's worth of steps is not more."""

NO_HORIZON = 2**62
"""Steps that a run without a budget is taken to have, so that its schedules stay where they start."""


class Learner:
    """A learner of Stable-Baselines3 with its environment and normaliser.

    Args:
        spec: What the run was asked to do.
        venv: All copies of the environment; closed with the learner.
        seed: Of everything random.
        workers: Threads of an update at most; 0 for one a CPU.
        off_policy_steps: See `OFF_POLICY_STEPS`.
    """

    def __init__(
        self,
        spec: RunSpec,
        venv: VecEnv,
        *,
        seed: int,
        workers: int = 0,
        off_policy_steps: int = OFF_POLICY_STEPS,
    ) -> None:
        self._spec = spec
        self._off_policy_steps = off_policy_steps
        self.venv = venv
        self.env = normalize(venv, spec)
        self.model: BaseAlgorithm = make_model(spec, self.env, seed=seed, workers=workers)
        guard_updates(self.model)
        self.observation_space = describe_space(actor_space(venv), "observations")
        self.critic_names = critic_names(venv)
        """What only its critic sees, behind what its actor sees."""
        self.action_space = describe_space(venv.action_space, "actions")
        self.network = describe_network(self.model.policy, spec.algorithm)
        self.action_map = describe_action_map(self.model.policy, self.action_space)
        self.iteration = 0
        self.rollout_s = 0.0
        """Seconds that the last iteration spent in the environment and the policy."""
        self.update_s = 0.0
        """Seconds that the last iteration spent on updates."""
        self.checks_losses = True
        """Whether a loss that is not finite is an anomaly."""
        self.skips_updates = False
        """Whether an iteration goes on without what is left of an update whose gradients are not finite."""
        self._skipped: AnomalyError | None = None
        """The first that was left out in this iteration."""
        self._callback: BaseCallback = self.model._init_callback(None)
        self._has_started = False
        self._replay_origin = (0, 0)
        """How many vector steps the replay buffer had seen at how many steps."""

    @property
    def steps(self) -> int:
        """Steps of all copies so far."""
        return int(self.model.num_timesteps)

    @property
    def mean_return(self) -> float | None:
        """Mean return of the last whole episodes, at most a hundred; None before the first."""
        infos = self.model.ep_info_buffer
        return float(np.mean([info["r"] for info in infos])) if infos else None

    @property
    def iteration_steps(self) -> int:
        """Steps of one iteration."""
        n_envs = self.env.num_envs
        if isinstance(self.model, OnPolicyAlgorithm):
            return self.model.n_steps * n_envs
        train_freq = self._spec.hyperparameters.train_freq  # type: ignore[union-attr]
        return math.ceil(max(self._off_policy_steps, train_freq * n_envs) / n_envs) * n_envs

    @property
    def horizon(self) -> int:
        """Steps at which schedules end, those of a parent included."""
        iterations = self._spec.stop_criteria.training_iteration
        left = max(iterations - self.iteration, 0) * self.iteration_steps
        budgets = [self._spec.step_budget, self.steps + left if iterations else 0]
        return min((budget for budget in budgets if budget), default=NO_HORIZON)

    @property
    def learning_starts(self) -> int:
        """Steps that come into the replay buffer before the first update."""
        return self.model.learning_starts if isinstance(self.model, OffPolicyAlgorithm) else 0

    def start(self, outputs: list[KVWriter], *, steps: int = 0, iteration: int = 0) -> None:
        """Reset the environment and open the metrics.

        Args:
            outputs: Where the metrics go.
            steps: Steps that were done already, by a parent.
            iteration: Iterations that were done already.
        """
        model = self.model
        model.set_logger(Logger(folder=None, output_formats=outputs))
        self.iteration = iteration
        _, self._callback = model._setup_learn(NO_HORIZON, None, True, "", False)
        model.num_timesteps = model._num_timesteps_at_start = steps
        model._total_timesteps = self.horizon
        model._update_current_progress_remaining(steps, model._total_timesteps)
        self._callback.on_training_start({}, {})
        self._has_started = True

    def iterate(self) -> None:
        """Collect one iteration's steps and learn from them.

        Raises:
            AnomalyError: A loss, a gradient or a weight is not finite any more. Where it is sound, the iteration is
                done, and nothing of what was not finite was learnt.
            NotFiniteError: A number of the environment is not.
        """
        self.rollout_s = self.update_s = 0.0
        self._skipped = None
        try:
            if isinstance(self.model, OnPolicyAlgorithm):
                self._iterate_on_policy(self.model)
            elif isinstance(self.model, OffPolicyAlgorithm):
                self._iterate_off_policy(self.model)
        except FloatingPointError as error:
            raise self._of_gradient(error) from error
        except (ValueError, SimulationError) as error:
            # Torch's distributions and the environment refuse such numbers before anything here sees them.
            check_weights(self.model, self.steps)
            if "invalid values" in str(error):
                message = f"the policy's actions are not finite after {self.steps} steps"
                raise AnomalyError(message, NON_FINITE_ACTION) from error
            raise
        self.iteration += 1
        for check in (check_gradients, check_weights):
            check(self.model, self.steps)
        if self._skipped is not None:
            raise self._skipped
        if self.checks_losses:
            check_losses(self.model, self.steps)

    def record_progress(self) -> None:
        """Record what Stable-Baselines3 itself would of the rollouts, under its names, without writing it out yet."""
        model = self.model
        elapsed_s = max((time.time_ns() - model.start_time) / 1e9, 1e-9)
        if self.mean_return is not None and model.ep_info_buffer is not None:
            model.logger.record("rollout/ep_rew_mean", self.mean_return)
            model.logger.record("rollout/ep_len_mean", float(np.mean([info["l"] for info in model.ep_info_buffer])))
        if model.ep_success_buffer:
            model.logger.record("rollout/success_rate", float(np.mean(model.ep_success_buffer)))
        model.logger.record("time/iterations", self.iteration, exclude="tensorboard")
        model.logger.record("time/fps", int((self.steps - model._num_timesteps_at_start) / elapsed_s))
        model.logger.record("time/time_elapsed", int(elapsed_s), exclude="tensorboard")
        model.logger.record("time/total_timesteps", self.steps, exclude="tensorboard")

    def change(self, spec: RunSpec) -> None:
        """Learn with the values of another spec from the next iteration on."""
        change_model(self.model, self._spec, spec)
        guard_updates(self.model)
        self._spec = spec
        self.model._total_timesteps = self.horizon

    def skip_time(self, seconds: float) -> None:
        """Leave a time in which nothing was learned out of what is told of speed."""
        self.model.start_time += int(seconds * 1e9)

    @property
    def replay(self) -> ReplayBuffer | None:
        """What it learns from again and again, where it does and that can be kept on disk."""
        buffer = self.model.replay_buffer if isinstance(self.model, OffPolicyAlgorithm) else None
        return buffer if buffer is not None and is_kept(buffer) else None

    @property
    def replay_rows(self) -> int:
        """How many vector steps came into the replay buffer so far."""
        rows, steps = self._replay_origin
        return rows + (self.steps - steps) // self.env.num_envs

    def count_replay_from(self, rows: int) -> None:
        """Take it that the replay buffer has seen so many vector steps by now."""
        self._replay_origin = (rows, self.steps)

    def stir(self, number: int) -> None:
        """Let everything random go on elsewhere than it would; the same number leads to the same place."""
        learner_state.stir(self.model, self.venv, number)

    def state(self) -> dict[str, Any]:
        """Return all that it is but for what it replays, as plain data; at the end of an iteration."""
        own = {"iteration": self.iteration, "critic_names": list(self.critic_names)}
        return own | learner_state.take(self.model, self.env, self.venv)

    def load_state(self, state: dict[str, Any]) -> bool:
        """Go on from what `state` returned, once started; return whether the environment is where it was too.

        Raises:
            ValueError: The state is that of another learner.
            SimulationError: The state is that of another environment.
        """
        names = tuple(state.get("critic_names", ()))
        if names != self.critic_names:
            raise ValueError(critics_differ(names, self.critic_names))
        self.iteration = state["iteration"]
        is_exact = learner_state.put_back(state, self.model, self.env, self.venv)
        self.model._total_timesteps = self.horizon
        return is_exact

    def checkpoint_tensors(self) -> dict[str, Any]:
        """Return the weights and the statistics of the normaliser as they are now: all that the actor needs.

        The critic's are there too, but for one that sees what the actor does not.
        """
        policy = self.model.policy
        tensors = dict(actor_tensors(policy, self.network) if self.critic_names else policy_tensors(policy))
        if isinstance(self.env, VecNormalize) and isinstance(self.env.obs_rms, RunningMeanStd) and self.env.norm_obs:
            statistics = self.env.obs_rms
            seen = len(statistics.mean) - len(self.critic_names)
            tensors["normalizer.mean"] = statistics.mean[:seen]
            tensors["normalizer.var"] = statistics.var[:seen]
            tensors["normalizer.count"] = np.array(statistics.count, np.float64)
        return tensors

    def normalizer_fields(self) -> dict[str, float] | None:
        """Return what `policy.json` says of the normaliser, or nothing where observations go in as they are."""
        if isinstance(self.env, VecNormalize) and self.env.norm_obs:
            return {"epsilon": self.env.epsilon, "clip": self.env.clip_obs}
        return None

    def close(self) -> None:
        """Close the metrics and the environment."""
        if self._has_started:
            self._callback.on_training_end()
            self.model.logger.close()
        self.env.close()

    def _iterate_on_policy(self, model: OnPolicyAlgorithm) -> None:
        started = time.perf_counter()
        model.collect_rollouts(self.env, self._callback, model.rollout_buffer, n_rollout_steps=model.n_steps)
        collected = time.perf_counter()
        model._update_current_progress_remaining(model.num_timesteps, model._total_timesteps)
        self._update(model.train)
        self.rollout_s, self.update_s = collected - started, time.perf_counter() - collected

    def _iterate_off_policy(self, model: OffPolicyAlgorithm) -> None:
        until = self.steps + self.iteration_steps
        if self._spec.step_budget:
            until = min(until, self._spec.step_budget)
        while self.steps < until:
            started = time.perf_counter()
            rollout = model.collect_rollouts(
                self.env,
                self._callback,
                train_freq=model.train_freq,  # type: ignore[arg-type]
                replay_buffer=model.replay_buffer,  # type: ignore[arg-type]
                action_noise=model.action_noise,
                learning_starts=model.learning_starts,
            )
            collected = time.perf_counter()
            self.rollout_s += collected - started
            updates = model.gradient_steps if model.gradient_steps >= 0 else rollout.episode_timesteps
            # What a buffer has seen, not what the policy has: one that goes on with an empty buffer fills it first.
            if self.replay_rows * self.env.num_envs > model.learning_starts and updates > 0:
                self._update(partial(model.train, gradient_steps=updates, batch_size=model.batch_size))
            self.update_s += time.perf_counter() - collected

    def _update(self, train: Callable[[], None]) -> None:
        try:
            train()
        except FloatingPointError as error:
            if not self.skips_updates:
                raise
            self._skipped = self._skipped or self._of_gradient(error)
            forget_gradients(self.model)

    def _of_gradient(self, error: FloatingPointError) -> AnomalyError:
        """Return the anomaly of a gradient that no step was taken with, its layer named where that is known."""
        try:
            check_gradients(self.model, self.steps)
        except AnomalyError as found:
            return AnomalyError(str(found), found.kind, is_sound=self.skips_updates, **found.where)
        return AnomalyError(f"{error} after {self.steps} steps", NON_FINITE_GRADIENT, is_sound=self.skips_updates)
