"""What PPO, SAC and TD3 are told: Stable-Baselines3's arguments as frozen, strict data.

Field names and defaults are those of the libraries' constructors, so that a recipe reads like a call of them.
Networks and schedules are data too; what belongs to one process (the environment, loggers, buffer classes) is not here.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from workbench.specs.kinds import (
    LIVE,
    Activation,
    ActorCriticLayers,
    ActorQLayers,
    Bound,
    ClipRange,
    CountOrMinusOne,
    EntropyCoefficient,
    Schedule,
    TargetEntropy,
    layers_by_head,
)

Algorithm = Literal["ppo", "sac", "td3"]
ALGORITHMS: tuple[Algorithm, ...] = ("ppo", "sac", "td3")

Count = Annotated[int, Field(ge=1)]
Fraction = Annotated[float, Field(ge=0, le=1)]


class Spec(BaseModel):
    """Strict, frozen data: unknown fields are refused and nothing is converted."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="forbid",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )
    noun: ClassVar[str] = "a field"
    """What one field of this model is called in a message."""


class PPOSpec(Spec):
    """Proximal policy optimisation."""

    noun: ClassVar[str] = "a PPO field"

    learning_rate: Annotated[Schedule, LIVE] = 3e-4
    """Step size of the optimiser; a number, or `linear:START[:END]` over the run."""
    n_steps: Count = 2048
    """Steps of each copy in one rollout; a rollout is n_steps × n_envs steps."""
    batch_size: Count = 64
    """Steps in one mini-batch; divides a rollout."""
    n_epochs: Annotated[Count, LIVE] = 10
    """Passes over each rollout."""
    gamma: Fraction = 0.99
    """Discount of later rewards; 0 looks one step ahead, 1 does not discount."""
    gae_lambda: Fraction = 0.95
    """Bias against variance of the advantage estimate; 1 takes whole returns."""
    clip_range: Annotated[ClipRange, LIVE] = 0.2
    """How far the new policy's ratio may leave 1; a number, or `linear:START[:END]`, or inf."""
    clip_range_vf: Annotated[ClipRange | None, LIVE] = None
    """The same for the value function, in units of the return; none does not clip."""
    normalize_advantage: bool = True
    """Give the advantages of a mini-batch mean 0 and deviation 1."""
    ent_coef: Annotated[float, LIVE] = 0.0
    """Weight of the entropy bonus in the loss."""
    vf_coef: Annotated[float, LIVE] = 0.5
    """Weight of the value loss."""
    max_grad_norm: Annotated[Bound, LIVE] = 0.5
    """Longest gradient; longer ones are shortened to it. inf does not clip."""
    use_sde: bool = False
    """State-dependent exploration instead of independent noise at each step."""
    sde_sample_freq: CountOrMinusOne = -1
    """Steps between new exploration matrices; -1 draws one a rollout. Needs use_sde."""
    target_kl: Annotated[Annotated[float, Field(gt=0)] | None, LIVE] = None
    """Leave the epochs of a rollout early beyond 1.5 × this divergence; none never does."""
    net_arch: ActorCriticLayers = (64, 64)
    """Hidden widths of the policy and of the value network: one list for both, or pi and vf."""
    activation: Activation = "tanh"
    """Function between the layers."""
    log_std_init: float = 0.0
    """Logarithm of the first standard deviation of the actions."""
    ortho_init: bool = True
    """Start from orthogonal weights."""

    @property
    def layers(self) -> dict[str, list[int]]:
        """Hidden widths of the policy (`pi`) and the value network (`vf`)."""
        return layers_by_head(self.net_arch, "pi", "vf")


class OffPolicySpec(Spec):
    """What algorithms that learn from a replay buffer have in common."""

    learning_rate: Annotated[Schedule, LIVE] = 3e-4
    """Step size of all optimisers; a number, or `linear:START[:END]` over the run."""
    buffer_size: Count = 1_000_000
    """Steps kept for replay, all copies together."""
    learning_starts: Annotated[int, Field(ge=0)] = 100
    """Steps taken with random actions before the first update."""
    batch_size: Count = 256
    """Steps in one mini-batch."""
    tau: Annotated[float, Field(gt=0, le=1), LIVE] = 0.005
    """Share of the networks that moves into their targets each time; 1 copies them."""
    gamma: Fraction = 0.99
    """Discount of later rewards."""
    train_freq: Count = 1
    """Vector steps (each n_envs steps) between updates."""
    gradient_steps: Annotated[CountOrMinusOne, LIVE] = 1
    """Updates each time; -1 makes as many as steps were taken."""
    n_steps: Count = 1
    """Rewards summed before the critic is asked."""
    action_noise_std: Annotated[Annotated[float, Field(gt=0)] | None, LIVE] = None
    """Deviation of Gaussian noise on actions scaled to -1…1, beside a policy's own; none adds nothing."""
    net_arch: ActorQLayers = (256, 256)
    """Hidden widths of the policy and of the critics: one list for both, or pi and qf."""
    activation: Activation = "relu"
    """Function between the layers."""

    @property
    def layers(self) -> dict[str, list[int]]:
        """Hidden widths of the policy (`pi`) and the critics (`qf`)."""
        return layers_by_head(self.net_arch, "pi", "qf")


class SACSpec(OffPolicySpec):
    """Soft actor-critic."""

    noun: ClassVar[str] = "a SAC field"

    ent_coef: Annotated[EntropyCoefficient, LIVE] = "auto"
    """Weight of the entropy: a number, auto (learned from 1), or auto_0.1 (learned from 0.1)."""
    target_update_interval: Annotated[Count, LIVE] = 1
    """Updates between moves of the target critics."""
    target_entropy: Annotated[TargetEntropy, LIVE] = "auto"
    """Entropy that a learned weight aims at; auto is minus the number of actions."""
    use_sde: bool = False
    """State-dependent exploration instead of independent noise at each step."""
    sde_sample_freq: CountOrMinusOne = -1
    """Vector steps between new exploration matrices; -1 draws one a rollout. Needs use_sde."""
    use_sde_at_warmup: bool = False
    """Explore so before learning starts too, instead of uniformly. Needs use_sde."""
    log_std_init: float = -3.0
    """Logarithm of the first standard deviation under state-dependent exploration."""


class TD3Spec(OffPolicySpec):
    """Twin delayed deep deterministic policy gradient."""

    noun: ClassVar[str] = "a TD3 field"

    learning_rate: Annotated[Schedule, LIVE] = 1e-3
    """Step size of all optimisers; a number, or `linear:START[:END]` over the run."""
    net_arch: ActorQLayers = (400, 300)
    """Hidden widths of the policy and of the critics: one list for both, or pi and qf."""
    policy_delay: Annotated[Count, LIVE] = 2
    """Critic updates to one policy update."""
    target_policy_noise: Annotated[float, Field(gt=0), LIVE] = 0.2
    """Deviation of the noise on target actions."""
    target_noise_clip: Annotated[float, Field(gt=0), LIVE] = 0.5
    """Largest noise on a target action."""


ALGORITHM_SPECS: dict[Algorithm, type[PPOSpec] | type[SACSpec] | type[TD3Spec]] = {
    "ppo": PPOSpec,
    "sac": SACSpec,
    "td3": TD3Spec,
}
