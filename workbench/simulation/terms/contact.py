"""Terms of what touches what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError
from workbench.simulation.episodes import Floats
from workbench.simulation.terms.keywords import Body, Geom, Names, Prefix, Tolerance
from workbench.simulation.terms.naming import SpecNames
from workbench.simulation.terms.registry import Reader, Stateful, Values, entry
from workbench.simulation.terms.scene import Bools, Scene
from workbench.simulation.terms.touching import Touch


def _pair(geom_a: str, geom_b: str) -> Touch:
    return Touch(("geom", geom_a), ("geom", geom_b))


@entry("bool", touches=lambda names, values: [_pair(names.geom(values["geom_a"]), names.geom(values["geom_b"]))])
def contact_between(scene: Scene, geom_a: Geom, geom_b: Geom) -> Reader:
    """The geoms touch."""
    return scene.touching(_pair(geom_a, geom_b))


@entry("bool", touches=lambda names, values: [Touch()])
def contact_any(scene: Scene) -> Reader:
    """Anything touches anything."""
    return scene.touching(Touch())


def _grips(body: str, grippers: Sequence[str]) -> list[Touch]:
    return [Touch(("body", body), ("subtree", gripper)) for gripper in grippers if gripper != body]


@entry(
    "bool",
    touches=lambda names, values: _grips(names.body(values["body"]), names.bodies_with(values["gripper_prefix"])),
)
def grasped(scene: Scene, body: Body, gripper_prefix: Prefix) -> Reader:
    """The body touches a body whose name begins with `gripper_prefix`, or one below such a body."""
    touching = [scene.touching(touch) for touch in _grips(body, scene.bodies_with(gripper_prefix))]
    if not touching:
        raise RequestError(f"{gripper_prefix} begins the name of nothing but {body} itself.")
    return lambda: np.logical_or.reduce([each() for each in touching])


def _self(body: str) -> Touch:
    return Touch(("subtree", body), ("subtree", body))


@entry("bool", touches=lambda names, values: [_self(names.body(values["body"]))])
def self_contact(scene: Scene, body: Body) -> Reader:
    """The body and those below it touch each other."""
    return scene.touching(_self(body))


def _foot(foot: str, ground: str | None) -> Touch:
    return Touch(("body", foot), None if ground is None else ("geom", ground))


def _feet(names: SpecNames, values: Values) -> Sequence[Touch]:
    ground = None if values["ground"] is None else names.geom(values["ground"])
    return [_foot(names.body(foot), ground) for foot in values.get("feet") or [values["foot"]]]


@entry("bool", touches=_feet)
def foot_contact(scene: Scene, foot: Body, ground: Geom | None = None) -> Reader:
    """The body touches the geom `ground`, or anything where none is named."""
    return scene.touching(_foot(foot, ground))


@entry("float", touches=_feet)
def feet_air_time(scene: Scene, feet: Names, threshold: Tolerance = 0.5, ground: Geom | None = None) -> Stateful:
    """Where a foot comes down, how much longer than `threshold` it was in the air, in s; summed over `feet`.

    The term of N. Rudin et al., "Learning to Walk in Minutes Using Massively Parallel Deep Reinforcement Learning".
    """
    return _AirTime(scene, [scene.touching(_foot(foot, ground)) for foot in feet], threshold)


class _AirTime(Stateful):
    def __init__(self, scene: Scene, touching: Sequence[Reader], threshold: float) -> None:
        self._touching = touching
        self._threshold = threshold
        self._step_s = scene.control_dt
        self._air_s = np.zeros((scene.n_envs, len(touching)))

    def read(self, active: Bools) -> Floats:
        down = np.stack([each() for each in self._touching], axis=1)
        landed = down & (self._air_s > 0)
        self._air_s += self._step_s
        gained: Floats = np.where(landed, self._air_s - self._threshold, 0.0).sum(axis=1)
        self._air_s[down] = 0.0
        return gained

    def begin(self, ids: NDArray[np.intp]) -> None:
        self._air_s[ids] = 0.0

    def state(self) -> dict[str, NDArray[Any]]:
        return {"air_s": self._air_s}
