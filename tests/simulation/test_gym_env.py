"""The plain Gymnasium environment."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from workbench.errors import GraphicsError, NotFoundError, ProblemsError, SimulationError, WorkbenchError
from workbench.simulation import EnvSource, make_batch, make_single
from workbench.simulation.registration import register

# Gymnasium's checker says through warnings that a Box without bounds is not what it would choose.
UNBOUNDED = "ignore:.*A Box observation space (minimum|maximum) value is.*:UserWarning"
# The cart-pole's action is a force in units of 100 N, within ±3.
WIDE = "ignore:.*we recommend using a symmetric and normalized space.*:UserWarning"


@pytest.mark.filterwarnings(UNBOUNDED, WIDE)
def test_it_passes_gymnasiums_own_check(cart_pole: EnvSource) -> None:
    register(replace(cart_pole, env_id="workbench/CheckedCartPole-v0"))
    check_env(gymnasium.make("workbench/CheckedCartPole-v0").unwrapped)


def test_steps_are_those_of_the_batch(slide: EnvSource) -> None:
    env, batch = make_single(slide), make_batch(slide)
    assert batch is not None
    first, info = env.reset(seed=4)
    assert info == {}
    assert (first == batch.reset(seed=4)[0]).all()
    for _ in range(5):
        seen, reward, terminated, truncated, info = env.step(np.array([1.0]))
        result = batch.advance(np.array([[1.0]]))
        assert (seen == result.observations[0]).all()
        assert reward == result.rewards[0]
        assert (terminated, truncated) == (result.terminated[0], result.truncated[0])
        assert info["reward_speed"] + info["reward_effort"] == pytest.approx(reward)
        assert info["position"] == seen[0]
        if terminated or truncated:
            break
    assert info["terminated_reason" if terminated else "truncated_reason"] in ("arrived", "time_limit")


def test_it_draws_from_np_random(slide: EnvSource) -> None:
    env = make_single(slide)
    env.reset(seed=1)
    assert env.unwrapped.np_random is env.unwrapped.batch.generators[0]  # type: ignore[attr-defined]


def test_data_follows_the_steps(slide: EnvSource) -> None:
    env = make_single(slide)
    seen, _ = env.reset(seed=1)
    bare = env.unwrapped
    assert bare.data.body(bare.follow_body).xpos[0] == seen[0]  # type: ignore[attr-defined]
    seen = env.step(np.array([2.0]))[0]
    assert bare.data.body(bare.follow_body).xpos[0] == seen[0]  # type: ignore[attr-defined]


def test_it_knows_its_id_and_its_time_limit(slide: EnvSource) -> None:
    env = make_single(slide)
    assert env.spec is not None
    assert env.spec.id == slide.env_id
    assert env.unwrapped.episode_steps == 5  # type: ignore[attr-defined]
    again = env.spec.make().unwrapped
    assert again.batch.config == env.unwrapped.batch.config  # type: ignore[attr-defined]


def test_the_control_rate_is_the_frame_rate(cart_pole: EnvSource) -> None:
    assert make_single(cart_pole).metadata["render_fps"] == 25


def test_where_nothing_can_be_drawn_it_says_what_to_set(cart_pole: EnvSource, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise mujoco.FatalError("an OpenGL platform library has not been loaded into this process")

    monkeypatch.setattr(mujoco, "Renderer", fail)
    env = make_single(cart_pole, render_mode="rgb_array")
    env.reset(seed=0)
    with pytest.raises(GraphicsError, match="OpenGL platform library") as caught:
        env.render()
    assert "MUJOCO_GL=egl" in caught.value.hint


def test_a_picture_shows_something(cart_pole: EnvSource) -> None:
    env = make_single(cart_pole, render_mode="rgb_array")
    env.reset(seed=0)
    try:
        picture = env.render()
    finally:
        env.close()
        env.close()
    assert picture.shape == (480, 480, 3)  # type: ignore[union-attr]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50  # type: ignore[union-attr]


def test_no_picture_without_the_mode(cart_pole: EnvSource) -> None:
    env = make_single(cart_pole)
    env.reset(seed=0)
    assert env.render() is None


def test_a_gymnasium_id_is_made_by_gymnasium() -> None:
    env = make_single(EnvSource("CartPole-v1", "CartPole-v1", env_cfg={"sutton_barto_reward": True}))
    assert env.spec is not None
    assert env.spec.id == "CartPole-v1"
    assert env.unwrapped._sutton_barto_reward is True  # type: ignore[attr-defined]


def test_mujocos_warnings_go_to_the_log_and_into_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    # Its model uses a compiler setting that MuJoCo warns of.
    make_single(EnvSource("HalfCheetah-v5", "HalfCheetah-v5"))
    assert "settotalmass" in caplog.text
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        (EnvSource("NoSuch-v0", "NoSuch-v0"), WorkbenchError, "NoSuch"),
        (EnvSource("CartPole-v1", "c", env_cfg={"wrong": 1}), SimulationError, "cannot be made"),
    ],
)
def test_what_cannot_be_made_says_so(source: EnvSource, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make_single(source)


def test_every_problem_of_a_configuration_is_told(cart_pole: EnvSource) -> None:
    with pytest.raises(ProblemsError) as caught:
        make_single(replace(cart_pole, env_cfg={"use_gravty": False, "frame_skip": "2"}))
    assert {problem.key: problem.nearest for problem in caught.value.problems} == {
        "use_gravty": "use_gravity",
        "frame_skip": None,
    }


def test_a_class_that_is_not_there_is_told(cart_pole: EnvSource) -> None:
    with pytest.raises(NotFoundError):
        make_single(replace(cart_pole, class_name="CartPolEnv"))
