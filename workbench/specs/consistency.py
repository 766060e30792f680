"""What no field says alone: values that are right one by one and wrong together.

Stable-Baselines3 warns of some, crashes on others, and trains nothing at all, silently, on the rest; here each is
said before a run starts, with the value that mends it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from workbench.errors import Problem
from workbench.specs.algorithms import ALGORITHMS, Algorithm, PPOSpec, SACSpec, TD3Spec
from workbench.specs.fields import show
from workbench.specs.kinds import is_linear
from workbench.specs.run import RunSpec


@dataclass(frozen=True)
class Finding:
    """A problem between fields."""

    problem: Problem
    keys: frozenset[str]
    """The fields it was concluded from; where one of them is wrong in itself, the conclusion says nothing."""
    algorithm: Algorithm | None = None
    """Whose block it is about."""
    alone: bool = False
    """Whether it concerns fields of that block only, and so holds whichever algorithm runs."""
    wants_budget: bool = False
    """Whether a budget would mend it, which a recipe may leave to the launch."""

    def rests_on(self, wrong: Iterable[str]) -> bool:
        """Say whether it was concluded from a field that is wrong in itself."""
        return any(key == field or key.startswith(f"{field}.") for key in wrong for field in self.keys)


def findings(spec: RunSpec, *, algorithms: Iterable[Algorithm] = ALGORITHMS) -> Iterator[Finding]:
    """Find what is wrong between the fields of a run, for the blocks of `algorithms`."""
    yield from _stopping(spec)
    yield from _keeping(spec)
    yield from _watching(spec)
    for algorithm in algorithms:
        block = spec.block(algorithm)
        yield from _schedules(spec, algorithm)
        if isinstance(block, PPOSpec):
            yield from _ppo(spec, block)
        else:
            yield from _off_policy(spec, algorithm, block)


def _found(
    key: str,
    message: str,
    *others: str,
    nearest: int | None = None,
    warn: bool = False,
    alone: bool = False,
    wants_budget: bool = False,
) -> Finding:
    algorithm = next((name for name in ALGORITHMS if key.startswith(f"{name}.")), None)
    near = None if nearest is None else str(nearest)
    problem = Problem(key, message, nearest=near, severity="warning" if warn else "error")
    return Finding(problem, frozenset({key, *others}), algorithm, alone, wants_budget)


def _stopping(spec: RunSpec) -> Iterator[Finding]:
    stop = spec.stop_criteria
    goals = (stop.episode_return_mean, stop.evaluation_return_mean)
    limits = (spec.step_budget, stop.training_iteration, stop.wall_time_s)
    keys = ("total_steps", *(f"stop_criteria.{name}" for name in type(stop).model_fields), "stop_criteria")
    if not any(limits):
        if all(goal is None for goal in goals):
            message = "or a criterion in stop_criteria must say when the run ends: nothing would ever stop it"
            yield _found("total_steps", message, *keys, wants_budget=True)
        else:
            message = "gives no budget beside the return goal: the run may never end. Add total steps or wall time"
            yield _found("stop_criteria", message, *keys, warn=True)
    lifetime = stop.num_env_steps_sampled_lifetime
    if lifetime and spec.total_steps > lifetime:
        message = f"{show(spec.total_steps)} is not reached: stop_criteria.num_env_steps_sampled_lifetime ends the run"
        message += f" at {show(lifetime)} steps"
        yield _found("total_steps", message, "stop_criteria.num_env_steps_sampled_lifetime", warn=True)
    if stop.evaluation_return_mean is not None and spec.eval_every == 0:
        message = "can never be met: eval_every 0 evaluates no checkpoint. Set eval_every to at least 1"
        yield _found("stop_criteria.evaluation_return_mean", message, "eval_every")
    if stop.evaluation_return_mean is None and stop.consecutive > 1:
        message = "counts evaluations that reach evaluation_return_mean, which is not set"
        yield _found("stop_criteria.consecutive", message, "stop_criteria.evaluation_return_mean", warn=True)


def _keeping(spec: RunSpec) -> Iterator[Finding]:
    if spec.checkpoint_freq is not None and spec.checkpoint_every_steps is not None:
        message = "and checkpoint_freq are two ways to say one thing: give only one of them"
        yield _found("checkpoint_every_steps", message, "checkpoint_freq")
    every, budget = spec.checkpoint_every_steps, spec.step_budget
    if every is not None and 0 < budget <= every:
        message = (
            f"{show(every)} is not reached in the {show(budget)} steps of this run: only the untrained and the last"
        )
        message += " checkpoint are written"
        others = ("total_steps", "stop_criteria.num_env_steps_sampled_lifetime")
        yield _found("checkpoint_every_steps", message, *others, warn=True)
    never = spec.checkpoint_freq == 0 and every is None
    if never and spec.keep_last is not None:
        message = "does nothing: checkpoint_freq 0 writes only the untrained and the last checkpoint"
        yield _found("keep_last", message, "checkpoint_freq", "checkpoint_every_steps", warn=True)
    if never and spec.stop_criteria.evaluation_return_mean is not None:
        message = "can never be met in time: checkpoint_freq 0 writes no checkpoint to evaluate before the last"
        yield _found("stop_criteria.evaluation_return_mean", message, "checkpoint_freq", "checkpoint_every_steps")


def _watching(spec: RunSpec) -> Iterator[Finding]:
    watch = spec.anomaly_watch
    absent = [copy for copy in watch.env_indices if copy >= spec.n_envs]
    if absent:
        there = "copy 0 alone" if spec.n_envs == 1 else f"copies 0 to {show(spec.n_envs - 1)}"
        message = f"names copy {show(absent[0])}, and n_envs {show(spec.n_envs)} has {there}"
        yield _found("anomaly_watch.env_indices", message, "n_envs")
    goes_back = "rollback" in (spec.on_anomaly, watch.on_collapse)
    if goes_back and spec.checkpoint_freq == 0 and spec.checkpoint_every_steps is None:
        message = "rollback goes back to the untrained policy: checkpoint_freq 0 writes no other checkpoint"
        yield _found("on_anomaly", message, "checkpoint_freq", "checkpoint_every_steps", warn=True)
    if watch.on_collapse is not None and not watch.check_reward_collapse:
        message = "does nothing: check_reward_collapse is off"
        yield _found("anomaly_watch.on_collapse", message, "anomaly_watch.check_reward_collapse", warn=True)


def _schedules(spec: RunSpec, algorithm: Algorithm) -> Iterator[Finding]:
    if spec.step_budget:
        return
    block = spec.block(algorithm)
    for name in ("learning_rate", "clip_range", "clip_range_vf"):
        value = getattr(block, name, None)
        if is_linear(value) and value != "inf":
            message = f"{value} goes down over a number of steps, and this run has none: give total_steps"
            yield _found(f"{algorithm}.{name}", message, "total_steps", wants_budget=True)


def _ppo(spec: RunSpec, block: PPOSpec) -> Iterator[Finding]:
    rollout = block.n_steps * spec.n_envs
    keys = ("ppo.n_steps", "n_envs")
    if block.batch_size == 1 and block.normalize_advantage:
        message = "must be at least 2 while normalize_advantage is on: one step has no deviation"
        yield _found("ppo.batch_size", message, "ppo.normalize_advantage", alone=True)
    elif rollout == 1:
        message = "× n_envs must be at least 2, got 1: one step has no deviation"
        yield _found("ppo.n_steps", message, *keys, nearest=max(2, PPOSpec().n_steps))
    elif rollout % block.batch_size:
        yield _uneven_batches(block.batch_size, block.n_steps, spec.n_envs)
    budget = spec.step_budget
    if budget and budget < rollout:
        message = f"{show(budget)} is less than one rollout, {_rollout(block.n_steps, spec.n_envs)}: the run will take"
        yield _found("total_steps", f"{message} {show(rollout)}", *keys, warn=True)
    if block.sde_sample_freq != -1 and not block.use_sde:
        yield _found("ppo.sde_sample_freq", "does nothing without use_sde", "ppo.use_sde", warn=True, alone=True)


def _uneven_batches(batch: int, n_steps: int, n_envs: int) -> Finding:
    rollout = n_steps * n_envs
    near = nearest_divisor(rollout, batch)
    if batch > rollout:
        message = f"{show(batch)} is larger than one rollout, {_rollout(n_steps, n_envs)}"
    else:
        message = f"{show(batch)} does not divide one rollout, {_rollout(n_steps, n_envs)}: the last mini-batch would"
        message += f" hold {show(rollout % batch)}"
    return _found("ppo.batch_size", message, "ppo.n_steps", "n_envs", nearest=near)


def nearest_divisor(rollout: int, batch: int) -> int:
    """Return the divisor of `rollout`, at least 2, that is nearest to `batch` in ratio."""
    root = math.isqrt(rollout)
    if root > 1_000_000:
        return math.gcd(rollout, batch) if math.gcd(rollout, batch) > 1 else rollout
    small = [divisor for divisor in range(1, root + 1) if rollout % divisor == 0]
    divisors = {divisor for divisor in (*small, *(rollout // divisor for divisor in small)) if divisor > 1}
    return min(divisors, key=lambda divisor: abs(math.log(divisor / batch)), default=rollout)


def _rollout(n_steps: int, n_envs: int) -> str:
    return f"{show(n_steps)} × {show(n_envs)} = {show(n_steps * n_envs)} steps"


def _off_policy(spec: RunSpec, algorithm: Algorithm, block: SACSpec | TD3Spec) -> Iterator[Finding]:
    own = f"{algorithm}."
    budget = spec.step_budget
    if budget and block.learning_starts >= budget:
        message = f"{show(block.learning_starts)} is not below the {show(budget)} steps of this run: it would never"
        if block.learning_starts > budget:
            message = f"{show(block.learning_starts)} exceeds the {show(budget)} steps of this run: it would never"
        message += " learn. Lower it or raise total steps"
        yield _found(f"{own}learning_starts", message, "total_steps", "stop_criteria.num_env_steps_sampled_lifetime")
    if block.learning_starts > block.buffer_size:
        message = f"{show(block.learning_starts)} exceeds buffer_size {show(block.buffer_size)}: the steps taken before"
        message += " learning would not fit"
        yield _found(f"{own}learning_starts", message, f"{own}buffer_size", alone=True)
    if block.buffer_size < block.batch_size:
        message = f"{show(block.buffer_size)} is smaller than batch_size {show(block.batch_size)}"
        yield _found(f"{own}buffer_size", message, f"{own}batch_size", alone=True)
    if block.buffer_size < spec.n_envs * block.n_steps:
        message = f"{show(block.buffer_size)} does not hold n_steps {show(block.n_steps)} of each of"
        yield _found(f"{own}buffer_size", f"{message} {show(spec.n_envs)} copies", f"{own}n_steps", "n_envs")
    untouched = type(block)()
    defaults = (untouched.learning_starts, untouched.batch_size)
    if block.learning_starts < block.batch_size and (block.learning_starts, block.batch_size) != defaults:
        message = f"{show(block.learning_starts)} is below batch_size {show(block.batch_size)}: the first mini-batches"
        message += " repeat the same steps"
        yield _found(f"{own}learning_starts", message, f"{own}batch_size", warn=True, alone=True)
    if isinstance(block, TD3Spec):
        if block.action_noise_std is None:
            message = "is not set, Stable-Baselines3's default: nothing explores once learning starts; 0.1 is usual"
            yield _found(f"{own}action_noise_std", message, warn=True, alone=True)
    elif not block.use_sde:
        for name, idle in (("sde_sample_freq", -1), ("use_sde_at_warmup", False)):
            if getattr(block, name) != idle:
                yield _found(f"{own}{name}", "does nothing without use_sde", f"{own}use_sde", warn=True, alone=True)
