"""TD3 with its gradients written out, for plain perceptrons; the maths of Stable-Baselines3, and its random numbers."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import stable_baselines3
import torch
from numpy.typing import NDArray
from stable_baselines3.td3 import policies

from workbench.training.fast import flat
from workbench.training.fast.asymmetric import AsymmetricTD3Policy
from workbench.training.fast.batch import Batch
from workbench.training.fast.flat import FlatParameters, bind_all
from workbench.training.fast.off_policy import Draw, OffPolicy, why_not_policy
from workbench.training.fast.perceptron import ATEN, Pass, Perceptrons, parameters_in_order, read_layers
from workbench.training.fast.threads import Pace, cpus, one_thread
from workbench.training.fast.twin import TwinCritics


class TD3(OffPolicy, stable_baselines3.TD3):
    """TD3 of Stable-Baselines3, faster where it recognises the networks and the environment."""

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """Take `gradient_steps` updates of the critics, and of actor and targets as often as `policy_delay` says."""
        updates = self._updates(batch_size)
        if not isinstance(updates, TD3Updates):
            super().train(gradient_steps, batch_size)
            return
        self._update_learning_rate(updates.optimizers)
        told = updates.run(self, gradient_steps)
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        for name, values in told.items():
            if values:
                self.logger.record(f"train/{name}", sum(values) / len(values))

    def _make_updates(self, batch_size: int) -> TD3Updates:
        return TD3Updates(self, batch_size)

    def _why_not(self) -> str | None:
        policy: Any = self.policy
        if type(policy) not in (policies.TD3Policy, AsymmetricTD3Policy) or type(policy.actor) is not policies.Actor:
            return f"the policy is a {type(policy).__name__}"
        *layers, squash = policy.actor.mu
        if type(squash) is not torch.nn.Tanh or read_layers(layers) is None or len(layers) % 2 == 0:
            return "the actor is no plain perceptron"
        optimizers = (policy.actor.optimizer, policy.critic.optimizer)
        reasons = (why_not_policy(policy), *(flat.why_not(optimizer) for optimizer in optimizers))
        return next((reason for reason in reasons if reason), None)


class TD3Updates:
    """The networks of a TD3 as flat buffers, and what its updates and its actions are computed in.

    Args:
        model: With networks that are recognised.
        batch_size: Of an update.
    """

    def __init__(self, model: TD3, batch_size: int) -> None:
        policy: Any = model.policy
        self.batch_size = batch_size
        self.n_envs = model.n_envs
        self._pace = Pace()
        self.policy = policy
        self.optimizers = [policy.actor.optimizer, policy.critic.optimizer]

        layers, activation = _actor_layers(policy.actor)
        target_layers, _ = _actor_layers(policy.actor_target)
        seen, size = policy.actor.features_dim, layers[-1][0].out_features
        self._batch = batch = Batch(batch_size, policy.critic.features_extractor.features_dim, size)
        self._actor = FlatParameters(parameters_in_order(layers), policy.actor.optimizer)
        self._target_actor = FlatParameters(parameters_in_order(target_layers))
        self._critics = TwinCritics(policy.critic, policy.critic_target, batch)
        self._flat = [self._actor, self._target_actor, self._critics.learned, self._critics.target]

        net = Perceptrons(self._actor, layers, activation)
        target_net = Perceptrons(self._target_actor, target_layers, activation)
        # The critics may see more than the actor, behind what it sees.
        self._act = Pass(net, batch.observations[:batch_size, :seen], learning=batch_size)
        self._next_act = Pass(target_net, batch.observations[batch_size:, :seen])
        self._first_critic = self._critics.first
        # Every action counts the same in the loss of the actor.
        self._first_critic.gradient.fill_(-1 / batch_size)

        # Slices are made once: at these sizes, making one takes as long as what is done with it.
        self._actions, self._next_actions = self._act.output[0], self._next_act.output[0]
        self._actions_grad, self._uphill = self._act.gradient[0], self._first_critic.input_gradient[0]
        self._noise = torch.zeros(batch_size, size)
        self._returns = torch.zeros(batch_size)

        self._seen = torch.zeros(model.n_envs, seen)
        self._explore = Pass(net, self._seen)

    def bind(self) -> str | None:
        """Take hold of parameters and moments again, and return why that cannot be, if so."""
        return bind_all(self._flat)

    def act(self, observations: NDArray[Any], noise: Draw) -> NDArray[Any]:
        """Return the policy's actions (n, a) for observations (n, …); the policy has no noise of its own."""
        with one_thread(), torch.inference_mode():
            rows = torch.from_numpy(observations).view(len(self._seen), -1)
            self._seen.copy_(rows[:, : self._seen.shape[1]])
            actions: NDArray[Any] = self._explore.forward()[0].tanh().numpy()
        return actions

    def run(self, model: TD3, gradient_steps: int) -> dict[str, list[float]]:
        """Take updates and return the losses of each."""
        told: dict[str, list[float]] = {"actor_loss": [], "critic_loss": []}
        workers = self._pace.choose(model.workers or cpus())
        started = time.perf_counter()
        with one_thread(), torch.inference_mode(), np.errstate(all="ignore"):
            self._batch.begin(model.get_vec_normalize_env())
            for _ in range(gradient_steps):
                model._n_updates += 1
                self._batch.draw(model.replay_buffer, model.gamma)  # type: ignore[arg-type]
                told["critic_loss"].append(self._improve_critics(model, workers))
                if model._n_updates % model.policy_delay == 0:
                    told["actor_loss"].append(self._improve_actor())
                    self._critics.follow(model.tau)
                    self._target_actor.values.lerp_(self._actor.values, model.tau)
        self._pace.note(workers, (time.perf_counter() - started) / max(1, gradient_steps))
        return told

    def _improve_critics(self, model: TD3, workers: int) -> float:
        """Step both critics towards the target and return their loss."""
        batch, critics = self._batch, self._critics
        self._noise.normal_(0, model.target_policy_noise).clamp_(-model.target_noise_clip, model.target_noise_clip)
        self._next_act.forward()
        self._next_actions.tanh_().add_(self._noise).clamp_(-1, 1)
        batch.next_actions.copy_(self._next_actions)
        critics.look_ahead(workers)
        torch.minimum(*critics.next_values, out=self._returns).mul_(batch.discounts).add_(batch.rewards)
        return critics.learn(self._returns, 1.0, workers)

    def _improve_actor(self) -> float:
        """Step the actor uphill on the first critic and return its loss."""
        self._act.forward()
        self._batch.write_own(self._actions.tanh_())
        value = self._first_critic.forward().mean().item()
        self._first_critic.backward_to_inputs()
        ATEN.tanh_backward.grad_input(self._uphill, self._actions, grad_input=self._actions_grad)
        self._act.backward()
        self._actor.require_finite("the actor")
        self._actor.step()
        return -value


def _actor_layers(actor: Any) -> tuple[list[list[torch.nn.Linear]], type[torch.nn.Module]]:
    layers, activation = read_layers(list(actor.mu)[:-1]) or ([], torch.nn.ReLU)
    return [[layer] for layer in layers], activation
