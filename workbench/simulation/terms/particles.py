"""Terms of many bodies at once: how many of them are in which container.

The bodies are named one by one as `particles`, or by what their names begin with as `prefix`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.errors import RequestError
from workbench.simulation.terms.keywords import Body, Count, Fraction, Names, Prefix, Tolerance
from workbench.simulation.terms.registry import Reader, Values, entry
from workbench.simulation.terms.scene import Bools, Scene

ROUNDING = 1e-9
"""What a share may miss the least one by and still count: three of four quarters are three quarters."""


def _one_way(values: Values) -> None:
    if (values["particles"] is None) == (values["prefix"] is None):
        raise ValueError("give either particles, a list of names, or prefix, what their names begin with")


@entry("bool", check=_one_way)
def particles_inside(
    scene: Scene,
    container: Body,
    particles: Names | None = None,
    prefix: Prefix | None = None,
    min_fraction: Fraction = 1.0,
    xy_tol: Tolerance = 0.15,
    z_tol: Tolerance = 0.15,
) -> Reader:
    """At least `min_fraction` of the bodies are in the container, as `body_inside` means it."""
    inside = _Inside(scene, particles, prefix, [container], xy_tol, z_tol)
    return lambda: inside().mean(axis=1) >= min_fraction - ROUNDING


@entry("bool", check=_one_way)
def particles_spilled(
    scene: Scene,
    containers: Names,
    particles: Names | None = None,
    prefix: Prefix | None = None,
    max_spilled: Count = 0,
    xy_tol: Tolerance = 0.15,
    z_tol: Tolerance = 0.15,
) -> Reader:
    """More than `max_spilled` of the bodies are in none of the containers."""
    inside = _Inside(scene, particles, prefix, containers, xy_tol, z_tol)
    return lambda: (~inside()).sum(axis=1) > max_spilled


@entry("float", check=_one_way)
def particles_inside_fraction(
    scene: Scene,
    container: Body,
    particles: Names | None = None,
    prefix: Prefix | None = None,
    xy_tol: Tolerance = 0.15,
    z_tol: Tolerance = 0.15,
) -> Reader:
    """The share of the bodies that are in the container."""
    inside = _Inside(scene, particles, prefix, [container], xy_tol, z_tol)
    return lambda: inside().mean(axis=1)


class _Inside:
    """Which bodies are in any of some containers."""

    def __init__(
        self,
        scene: Scene,
        particles: Sequence[str] | None,
        prefix: str | None,
        containers: Sequence[str],
        xy_tol: float,
        z_tol: float,
    ) -> None:
        given = list(particles or ())
        if prefix is not None:
            given = [name for name in scene.bodies_with(prefix) if name not in containers]
        if not given:
            raise RequestError(f"{prefix} begins the name of nothing but the containers.")
        self._where, self._bodies = scene.positions(given)
        self._containers = [scene.body(name) for name in containers]
        self._reach = np.array([xy_tol, xy_tol, z_tol])

    def __call__(self) -> Bools:
        """Return which are (n, bodies)."""
        bodies = self._where[:, self._bodies]
        found = [
            (np.abs(bodies - self._where[:, container, None]) <= self._reach).all(axis=2)
            for container in self._containers
        ]
        inside: Bools = np.any(found, axis=0)
        return inside
