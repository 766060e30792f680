"""What of a Stable-Baselines3 policy goes into a checkpoint: its tensors, and which of them make the actor.

Torch and Stable-Baselines3 are there already when a policy of theirs is; nothing here imports them to read one.
"""

from __future__ import annotations

from typing import Any, get_args

from workbench.errors import RequestError
from workbench.policies.checkpoint import Tensors
from workbench.policies.network import Activation
from workbench.policies.record import ActionMapRecord, LayerNames, NetworkRecord
from workbench.policies.spaces import SpaceRecord

FLAT = ("FlattenExtractor", "ActorExtractor")
"""What gives an actor its observations as they are; the second leaves out what only its critic sees."""

LOG_STD_BOUNDS = (-20.0, 2.0)
"""What SAC clamps its log standard deviations to."""


def policy_tensors(policy: Any) -> Tensors:
    """Return all parameters of a policy, critics too, under Stable-Baselines3's own names."""
    return {name: tensor.detach().cpu().numpy() for name, tensor in policy.state_dict().items()}


def actor_tensors(policy: Any, network: NetworkRecord) -> Tensors:
    """Return the parameters of a policy's actor alone."""
    names = {name for layer in (*network.trunk, network.head) for name in layer}
    if network.log_std is not None:
        names |= {network.log_std} if isinstance(network.log_std, str) else set(network.log_std)
    return {name: tensor for name, tensor in policy_tensors(policy).items() if name in names}


def describe_network(policy: Any, algorithm: str) -> NetworkRecord:
    """Return which tensors of a policy make its actor.

    Raises:
        RequestError: The policy is not a plain perceptron, so that NumPy could not run it.
    """
    return _describe_actor_critic(policy) if algorithm == "ppo" else _describe_squashed(policy, algorithm)


def describe_action_map(policy: Any, action_space: SpaceRecord) -> ActionMapRecord:
    """Return how a policy's output becomes an action, as Stable-Baselines3's `predict` does it."""
    box = action_space.kind == "box"
    return ActionMapRecord(
        low=action_space.low,
        high=action_space.high,
        squash=box and bool(policy.squash_output),
        clip=box and not policy.squash_output,
    )


def _describe_actor_critic(policy: Any) -> NetworkRecord:
    _require_flat(policy)
    trunk, activation = _read_layers(policy.mlp_extractor.policy_net, "mlp_extractor.policy_net")
    gaussian = hasattr(policy, "log_std")
    if not gaussian and type(policy.action_dist).__name__ != "CategoricalDistribution":
        raise RequestError(f"a policy with a {type(policy.action_dist).__name__} cannot be run without torch.")
    return NetworkRecord(
        trunk=trunk,
        activation=activation,
        head=("action_net.weight", "action_net.bias"),
        distribution="gaussian" if gaussian else "categorical",
        log_std="log_std" if gaussian else None,
        log_std_bounds=None,
        noise="state_dependent" if gaussian and policy.use_sde else "independent",
        head_limit=None,
    )


def _describe_squashed(policy: Any, algorithm: str) -> NetworkRecord:
    actor = policy.actor
    _require_flat(actor)
    if algorithm == "td3":
        # Its last layer stands in the same sequence, before a tanh that the action map does.
        layers, activation = _read_layers(actor.mu, "actor.mu")
        return NetworkRecord(
            trunk=layers[:-1],
            activation=activation,
            head=layers[-1],
            distribution="deterministic",
            log_std=None,
            log_std_bounds=None,
            noise="independent",
            head_limit=None,
        )
    trunk, activation = _read_layers(actor.latent_pi, "actor.latent_pi")
    clipped = actor.use_sde and actor.clip_mean > 0
    head = "actor.mu.0" if clipped else "actor.mu"
    return NetworkRecord(
        trunk=trunk,
        activation=activation,
        head=(f"{head}.weight", f"{head}.bias"),
        distribution="gaussian",
        log_std="actor.log_std" if actor.use_sde else ("actor.log_std.weight", "actor.log_std.bias"),
        log_std_bounds=None if actor.use_sde else LOG_STD_BOUNDS,
        noise="state_dependent" if actor.use_sde else "independent",
        head_limit=float(actor.clip_mean) if clipped else None,
    )


def _read_layers(modules: Any, prefix: str) -> tuple[tuple[LayerNames, ...], Activation]:
    layers: list[LayerNames] = []
    activations: set[str] = set()
    for index, module in enumerate(modules):
        kind = type(module).__name__
        if kind == "Linear":
            layers.append((f"{prefix}.{index}.weight", f"{prefix}.{index}.bias"))
        elif index < len(modules) - 1 or prefix != "actor.mu":
            activations.add(kind.lower())
    activation = activations.pop() if activations else "relu"
    if activations or activation not in get_args(Activation):
        raise RequestError(f"a network with {activation} layers cannot be run without torch.")
    return tuple(layers), activation  # type: ignore[return-value]


def _require_flat(policy: Any) -> None:
    extractor = type(policy.features_extractor).__name__
    if extractor not in FLAT:
        raise RequestError(
            f"a policy that reads its observations through a {extractor} cannot be run without torch; "
            "workbench trains on vectors of numbers."
        )
