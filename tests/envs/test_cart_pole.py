"""The cart-pole, against its equations of motion."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.envs.conftest import SOURCES
from workbench.simulation import BatchEnv, make_batch

CART, POLE, LENGTH, RADIUS, GRAVITY = 8.0, 1.0, 1.2, 0.035, 9.81


def cart_pole(name: str = "cart_pole", n_envs: int = 1, **config: Any) -> BatchEnv[Any]:
    source = SOURCES[name]
    made = make_batch(replace(source, env_cfg={**source.env_cfg, **config}), n_envs)
    assert made is not None
    return made


def pole_inertia() -> float:
    """Return the pole's moment of inertia about the hinge: a capsule, by the textbook."""
    cylinder, caps = np.pi * RADIUS**2 * LENGTH, 4 / 3 * np.pi * RADIUS**3
    rod, ends = POLE * cylinder / (cylinder + caps), POLE * caps / (cylinder + caps)
    about_centre = rod * (RADIUS**2 / 4 + LENGTH**2 / 12)
    about_centre += ends * (2 / 5 * RADIUS**2 + LENGTH**2 / 4 + 3 / 8 * LENGTH * RADIUS)
    return about_centre + POLE * (LENGTH / 2) ** 2


def accelerations(angle: float, speed: float, force: float, torque: float = 0.0) -> tuple[float, float]:
    """Return the cart's and the pole's acceleration."""
    half, inertia = LENGTH / 2, pole_inertia()
    mass = np.array([[CART + POLE, POLE * half * np.cos(angle)], [POLE * half * np.cos(angle), inertia]])
    rest = [force + POLE * half * speed**2 * np.sin(angle), torque + POLE * GRAVITY * half * np.sin(angle)]
    cart, pole = np.linalg.solve(mass, rest)
    return float(cart), float(pole)


@pytest.mark.parametrize(
    ("name", "force", "torque"), [("cart_pole", 150.0, 0.0), ("cart_pole_actuate_on_pole", 0.0, 15.0)]
)
@pytest.mark.parametrize("angle", [0.0, 0.15, -0.1])
def test_a_push_accelerates_as_the_equations_say(name: str, force: float, torque: float, angle: float) -> None:
    env = cart_pole(name, frame_skip=1)
    env.reset(seed=0)
    env.qpos[:] = (0.0, angle)
    env.qvel[:] = (0.0, 0.4)
    result = env.advance(np.array([[1.5]]))
    angular, linear, position, vertical = result.observations[0]
    cart, pole = accelerations(angle, 0.4, force, torque)
    # One step of 0.02 s: velocities first, positions with the new velocities.
    assert (linear, angular) == pytest.approx((0.02 * cart, 0.4 + 0.02 * pole), rel=1e-6, abs=1e-9)
    assert (position, vertical) == pytest.approx((0.02 * linear, angle + 0.02 * angular))


def test_the_rates_are_25_and_50_hz() -> None:
    env = cart_pole()
    assert (env.control_hz, env.simulation_hz) == pytest.approx((25, 50))


def test_it_ends_beyond_the_limit_and_pays_nothing_there() -> None:
    env = cart_pole(n_envs=3)
    env.reset(seed=0)
    env.qpos[:, 1] = (0.199, 0.199, -0.21)
    env.qvel[:, 1] = (-0.5, 0.5, 0.0)
    result = env.advance(np.zeros((3, 1)))
    assert result.terminated.tolist() == [False, True, True]
    assert result.rewards.tolist() == [1.0, 0.0, 0.0]
    assert {episode.reason for episode in result.episodes} == {"pole_angle"}


# A feedback an engineer would write down; it brings the cart home too. Order of the observation: angular velocity,
# linear velocity, position, angle.
ON_CART = (0.45, 0.10, 0.05, 2.0)
ON_POLE = (-0.4, 0.0, 0.0, -2.0)


@pytest.mark.parametrize(("name", "gains"), [("cart_pole", ON_CART), ("cart_pole_actuate_on_pole", ON_POLE)])
def test_a_linear_feedback_reaches_the_perfect_return(name: str, gains: tuple[float, ...]) -> None:
    env = cart_pole(name, n_envs=20)
    seen = env.reset(seed=0)
    for _ in range(1000):
        result = env.step_arrays(seen @ np.array(gains)[:, None])
        seen = result.observations
    assert [(episode.ret, episode.length, episode.reason) for episode in result.episodes] == [
        (1000.0, 1000, "time_limit")
    ] * 20
    if name == "cart_pole":
        assert np.abs(result.final_observations[:, 2]).max() < 1.0


def test_a_damped_free_pole_comes_to_rest_and_never_ends() -> None:
    env = cart_pole("cart_pole_test_damped_free_pole", episode_steps=0)
    env.reset(seed=0)
    env.qvel[:] = (1.0, 20.0)
    turned = 0.0
    for _ in range(600):
        result = env.step_arrays(np.zeros((1, 1)))
        assert not len(result.ended)
        assert -np.pi <= result.observations[0, 3] < np.pi
        turned = max(turned, float(env.qpos[0, 1]))
    assert turned > 2 * np.pi
    assert np.abs(result.observations[0, :2]).max() < 1e-3


def test_starts_are_within_the_noise() -> None:
    seen = cart_pole(n_envs=400).reset(seed=0)
    assert np.abs(seen[:, 2:]).max() <= 0.1
    assert seen[:, 2:].std() == pytest.approx(0.1 / np.sqrt(3), rel=0.1)
    assert seen[:, :2].std() == pytest.approx(0.1, rel=0.1)
