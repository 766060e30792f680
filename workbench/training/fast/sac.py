"""SAC with its gradients written out, for plain perceptrons; the maths of Stable-Baselines3, and its random numbers."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import stable_baselines3
import torch
from numpy.typing import NDArray
from stable_baselines3.sac import policies
from stable_baselines3.sac.policies import LOG_STD_MAX, LOG_STD_MIN

from workbench.training.fast import flat
from workbench.training.fast.asymmetric import AsymmetricSACPolicy
from workbench.training.fast.batch import Batch
from workbench.training.fast.flat import FlatParameters, bind_all
from workbench.training.fast.noise import Kind
from workbench.training.fast.off_policy import Draw, OffPolicy, why_not_policy
from workbench.training.fast.perceptron import ATEN, Pass, Perceptrons, parameters_in_order, read_layers
from workbench.training.fast.threads import Pace, cpus, one_thread, run_pieces
from workbench.training.fast.twin import TwinCritics

SQUASH_EPSILON = 1e-6
"""What keeps Stable-Baselines3's logarithm of 1 - action² finite."""

LOG_NORMALIZER = 0.5 * math.log(2 * math.pi)


class SAC(OffPolicy, stable_baselines3.SAC):
    """SAC of Stable-Baselines3, faster where it recognises the networks and the environment."""

    def train(self, gradient_steps: int, batch_size: int = 64) -> None:
        """Take `gradient_steps` updates of critics, actor, entropy coefficient and targets."""
        updates = self._updates(batch_size)
        if not isinstance(updates, SACUpdates):
            super().train(gradient_steps, batch_size)
            return
        self._update_learning_rate(updates.optimizers)
        told = updates.run(self, gradient_steps)
        self._n_updates += gradient_steps
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        for name, values in told.items():
            if values:
                self.logger.record(f"train/{name}", sum(values) / len(values))

    def weigh_entropy(self, ent_coef: float | str) -> None:
        """Give the entropy another weight: a number, or one that is learned from a start, `auto` or `auto_0.1`.

        As Stable-Baselines3 makes it in the first place, its optimiser anew.
        """
        self.ent_coef = ent_coef
        if isinstance(ent_coef, str):
            start = float(ent_coef.partition("_")[2] or 1.0)
            self.log_ent_coef = torch.log(torch.ones(1, device=self.device) * start).requires_grad_(True)
            self.ent_coef_optimizer = torch.optim.Adam([self.log_ent_coef], lr=self.lr_schedule(1))
        else:
            self.log_ent_coef = self.ent_coef_optimizer = None
            self.ent_coef_tensor = torch.tensor(float(ent_coef), device=self.device)
        self.forget_updates()

    def _make_updates(self, batch_size: int) -> SACUpdates:
        return SACUpdates(self, batch_size)

    def _why_not(self) -> str | None:
        policy: Any = self.policy
        if type(policy) not in (policies.SACPolicy, AsymmetricSACPolicy) or type(policy.actor) is not policies.Actor:
            return f"the policy is a {type(policy).__name__}"
        if self.use_sde or policy.actor.use_sde:
            return "exploration is state-dependent"
        if read_layers(policy.actor.latent_pi) is None or len(policy.actor.latent_pi) % 2:
            return "the actor is no plain perceptron"
        learned = [] if self.ent_coef_optimizer is None else [self.ent_coef_optimizer]
        optimizers = [policy.actor.optimizer, policy.critic.optimizer, *learned]
        reasons = (why_not_policy(policy), *(flat.why_not(optimizer) for optimizer in optimizers))
        return next((reason for reason in reasons if reason), None)


class SACUpdates:
    """The networks of a SAC as flat buffers, and what its updates and its actions are computed in.

    Args:
        model: With networks that are recognised.
        batch_size: Of an update.
    """

    def __init__(self, model: SAC, batch_size: int) -> None:
        policy: Any = model.policy
        actor = policy.actor
        trunk, activation = read_layers(actor.latent_pi) or ([], torch.nn.ReLU)
        layers = [*([linear] for linear in trunk), [actor.mu, actor.log_std]]
        seen, width = actor.features_dim, actor.mu.out_features
        self.batch_size = batch_size
        self.n_envs = model.n_envs
        self._pace = Pace()
        self.policy = policy
        self._batch = batch = Batch(batch_size, policy.critic.features_extractor.features_dim, width)
        self._actor = FlatParameters(parameters_in_order(layers), actor.optimizer)
        self._critics = TwinCritics(policy.critic, policy.critic_target, batch)
        self._flat = [self._actor, self._critics.learned, self._critics.target]
        self.optimizers = [actor.optimizer, policy.critic.optimizer]
        self._ent_coef = None
        if model.log_ent_coef is not None and model.ent_coef_optimizer is not None:
            self._ent_coef = FlatParameters([model.log_ent_coef], model.ent_coef_optimizer)
            self._flat.append(self._ent_coef)
            self.optimizers.append(model.ent_coef_optimizer)

        net = Perceptrons(self._actor, layers, activation)
        self._output = torch.zeros(1, 2 * batch_size, 2 * width)
        now, after = torch.split(self._output, batch_size, dim=1)
        # The critics may see more than the actor, behind what it sees.
        self._act = Pass(net, batch.observations[:batch_size, :seen], learning=batch_size, output=now)
        self._next_act = Pass(net, batch.observations[batch_size:, :seen], output=after)

        # Slices are made once: at these sizes, making one takes as long as what is done with it.
        self._mean, self._raw_log_std = torch.split(self._output[0], width, dim=1)
        self._mean_grad, self._log_std_grad = torch.split(self._act.gradient[0], width, dim=1)
        self._noise, self._log_std, self._std, self._actions, self._slope, self._slack, self._work = (
            torch.zeros(2 * batch_size, width) for _ in range(7)
        )
        self._log_probs = torch.zeros(2 * batch_size)
        self._noise_now, self._noise_next = torch.split(self._noise, batch_size)
        self._actions_now, self._actions_next = torch.split(self._actions, batch_size)
        self._log_probs_now, self._log_probs_next = torch.split(self._log_probs, batch_size)
        self._std_now, self._slope_now, self._slack_now, self._along, self._raw_log_std_now = (
            wide[:batch_size] for wide in (self._std, self._slope, self._slack, self._work, self._raw_log_std)
        )
        self._least, self._returns = torch.zeros(batch_size), torch.zeros(batch_size)

        self._size = width
        self._seen = torch.zeros(model.n_envs, seen)
        self._explore = Pass(net, self._seen)

    def bind(self) -> str | None:
        """Take hold of parameters and moments again, and return why that cannot be, if so."""
        return bind_all(self._flat)

    def act(self, observations: NDArray[Any], noise: Draw) -> NDArray[Any]:
        """Return actions (n, a) within -1 and 1, drawn for observations (n, …)."""
        with one_thread(), torch.inference_mode():
            rows = torch.from_numpy(observations).view(len(self._seen), -1)
            self._seen.copy_(rows[:, : self._seen.shape[1]])
            mean, log_std = torch.split(self._explore.forward()[0], self._size, dim=1)
            std = log_std.clamp(LOG_STD_MIN, LOG_STD_MAX).exp_()
            actions: NDArray[Any] = std.mul_(torch.from_numpy(noise(Kind.POLICY))).add_(mean).tanh_().numpy()
        return actions

    def run(self, model: SAC, gradient_steps: int) -> dict[str, list[float]]:
        """Take updates and return the losses of each."""
        told: dict[str, list[float]] = {"ent_coef": [], "actor_loss": [], "critic_loss": [], "ent_coef_loss": []}
        workers = self._pace.choose(model.workers or cpus())
        started = time.perf_counter()
        with one_thread(), torch.inference_mode(), np.errstate(all="ignore"):
            self._batch.begin(model.get_vec_normalize_env())
            for step in range(gradient_steps):
                self._batch.draw(model.replay_buffer, model.gamma)  # type: ignore[arg-type]
                self._sample_actions(workers)
                mean_log_prob = self._log_probs_now.mean().item()
                if self._ent_coef is None:
                    ent_coef = model.ent_coef_tensor.item()
                else:
                    log_ent_coef, surplus = self._ent_coef.values.item(), mean_log_prob + float(model.target_entropy)
                    ent_coef = math.exp(log_ent_coef)
                    self._ent_coef.grads.fill_(-surplus)
                    self._ent_coef.require_finite("the entropy coefficient")
                    self._ent_coef.step()
                    told["ent_coef_loss"].append(-log_ent_coef * surplus)
                told["ent_coef"].append(ent_coef)
                told["critic_loss"].append(self._improve_critics(ent_coef, workers))
                told["actor_loss"].append(ent_coef * mean_log_prob - self._improve_actor(ent_coef, workers))
                if step % model.target_update_interval == 0:
                    self._critics.follow(model.tau)
        self._pace.note(workers, (time.perf_counter() - started) / max(1, gradient_steps))
        return told

    def _sample_actions(self, workers: int) -> None:
        """Draw an action and its log-probability for every observation and next observation."""
        run_pieces([self._act.forward, self._next_act.forward], workers if self._critics.is_large else 1)
        # Two draws, as Stable-Baselines3 asks for them: one draw of both would give other numbers.
        self._noise_now.normal_()
        self._noise_next.normal_()
        torch.clamp(self._raw_log_std, LOG_STD_MIN, LOG_STD_MAX, out=self._log_std)
        torch.exp(self._log_std, out=self._std)
        torch.mul(self._std, self._noise, out=self._actions).add_(self._mean).tanh_()
        torch.mul(self._actions, self._actions, out=self._slope).neg_().add_(1.0)
        torch.add(self._slope, SQUASH_EPSILON, out=self._slack)
        torch.log(self._slack, out=self._work).add_(self._log_std).addcmul_(self._noise, self._noise, value=0.5)
        torch.sum(self._work, 1, out=self._log_probs).add_(self._size * LOG_NORMALIZER).neg_()

    def _improve_critics(self, ent_coef: float, workers: int) -> float:
        """Step both critics towards the target and return their loss."""
        batch, critics = self._batch, self._critics
        batch.next_actions.copy_(self._actions_next)
        batch.write_own(self._actions_now)
        critics.look_ahead(workers)
        torch.minimum(*critics.next_values, out=self._least).add_(self._log_probs_next, alpha=-ent_coef)
        torch.addcmul(batch.rewards, batch.discounts, self._least, out=self._returns)
        return critics.learn(self._returns, 0.5, workers, look=True)

    def _improve_actor(self, ent_coef: float, workers: int) -> float:
        """Step the actor and return the mean value of its actions."""
        batch, critics = self._batch, self._critics
        value = torch.minimum(*critics.own_values, out=self._least).mean().item()
        # Only the lower critic of each row is followed.
        chosen, other = critics.gradients
        torch.le(*critics.own_values, out=chosen).mul_(-1 / batch.size)
        torch.neg(chosen, out=other).sub_(1 / batch.size)
        critics.climb(workers)
        along = torch.add(*critics.uphill, out=self._along)
        along.addcdiv_(self._actions_now, self._slack_now, value=2 * ent_coef / batch.size).mul_(self._slope_now)
        self._mean_grad.copy_(along)
        along.mul_(self._std_now).mul_(self._noise_now).sub_(ent_coef / batch.size)
        ATEN.hardtanh_backward.grad_input(
            along, self._raw_log_std_now, LOG_STD_MIN, LOG_STD_MAX, grad_input=self._log_std_grad
        )
        self._act.backward()
        self._actor.require_finite("the actor")
        self._actor.step()
        return value
