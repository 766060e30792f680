"""Terms of where joints are: hinges in rad, slides in m."""

from __future__ import annotations

from workbench.simulation.terms.keywords import Fraction, Joint, Number, Prefix
from workbench.simulation.terms.registry import Reader, entry
from workbench.simulation.terms.scene import Scene


@entry("bool")
def joint_above(scene: Scene, joint: Joint, value: Number) -> Reader:
    """The joint's position is above `value`."""
    position = scene.joint(joint)
    return lambda: position > value


@entry("bool")
def joint_below(scene: Scene, joint: Joint, value: Number) -> Reader:
    """The joint's position is below `value`."""
    position = scene.joint(joint)
    return lambda: position < value


@entry("float")
def joint_progress(scene: Scene, joint: Joint, target: Number) -> Reader:
    """Minus how far the joint is from `target`."""
    position = scene.joint(joint)
    return lambda: -abs(position - target)


@entry("float")
def joint_limits(scene: Scene, soft: Fraction = 0.9, prefix: Prefix | None = None) -> Reader:
    """Minus how far joints are outside of the middle share `soft` of their ranges, summed; of all, or by `prefix`."""
    where, limits = scene.limited_joints(prefix)
    qpos = scene.field("qpos")
    middle, half = limits.mean(axis=1), soft * (limits[:, 1] - limits[:, 0]) / 2
    return lambda: -(abs(qpos.take(where, axis=1) - middle) - half).clip(min=0.0).sum(axis=1)
