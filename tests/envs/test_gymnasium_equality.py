"""The tasks that Gymnasium has too, against its own over the same actions and seeds."""

from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.envs.conftest import SOURCES
from workbench.simulation import make_batch

STEPS = 1000
EPISODE = 100
"""Shorter than the 1000 of both, so that resets are compared too."""
ANT_BODY = 27
"""Numbers of an ant's observation before its contact block."""

WHOLE = {"exclude_current_positions_from_observation": False}
NO_CONTACT = {"include_cfrc_ext_in_observation": False}
HUMANOID = 270
"""Numbers of a humanoid's observation before its contact block."""
JOINTS_ONLY = {f"include_{block}_in_observation": False for block in ("cinert", "cvel", "qfrc_actuator", "cfrc_ext")}
NEVER_ENDS = {"terminate_when_unhealthy": False}

CASES = [
    # name, ID, its keywords, numbers compared (None: all), terms not compared, type of the actions
    ("half_cheetah", "HalfCheetah-v5", {}, None, (), np.float32),
    ("half_cheetah_full_observation", "HalfCheetah-v5", WHOLE, None, (), np.float64),
    ("ant_no_contact", "Ant-v5", NO_CONTACT, None, ("contact",), np.float32),
    ("ant", "Ant-v5", {}, ANT_BODY, ("contact",), np.float64),
    ("ant_full_observation", "Ant-v5", WHOLE, ANT_BODY + 2, ("contact",), np.float64),
    ("hopper", "Hopper-v5", {}, None, (), np.float32),
    ("hopper_full_observation", "Hopper-v5", WHOLE, None, (), np.float64),
    ("hopper_never_ends", "Hopper-v5", NEVER_ENDS, None, (), np.float32),
    ("walker2d", "Walker2d-v5", {}, None, (), np.float32),
    ("walker2d_full_observation", "Walker2d-v5", WHOLE, None, (), np.float64),
    ("walker2d_never_ends", "Walker2d-v5", NEVER_ENDS, None, (), np.float32),
    ("swimmer", "Swimmer-v5", {}, None, (), np.float32),
    ("swimmer_full_observation", "Swimmer-v5", WHOLE, None, (), np.float64),
    ("inverted_pendulum", "InvertedPendulum-v5", {}, None, (), np.float32),
    ("inverted_pendulum_wide_start", "InvertedPendulum-v5", {"reset_noise_scale": 0.1}, None, (), np.float32),
    ("inverted_double_pendulum", "InvertedDoublePendulum-v5", {}, None, (), np.float32),
    ("reacher", "Reacher-v5", {}, None, (), np.float32),
    ("reacher_free_control", "Reacher-v5", {"reward_control_weight": 0.0}, None, (), np.float64),
    ("pusher", "Pusher-v5", {}, None, (), np.float32),
    ("pusher_free_control", "Pusher-v5", {"reward_control_weight": 0.0}, None, (), np.float64),
    ("humanoid", "Humanoid-v5", {}, HUMANOID, ("contact",), np.float32),
    ("humanoid_full_observation", "Humanoid-v5", WHOLE, HUMANOID + 2, ("contact",), np.float64),
    ("humanoid_joints_only", "Humanoid-v5", JOINTS_ONLY, None, ("contact",), np.float32),
    ("humanoid_no_contact", "Humanoid-v5", NO_CONTACT, None, ("contact",), np.float32),
    ("humanoid_standup", "HumanoidStandup-v5", {}, HUMANOID, ("impact", "survive"), np.float32),
    ("humanoid_standup_joints_only", "HumanoidStandup-v5", JOINTS_ONLY, None, ("impact", "survive"), np.float64),
]


@pytest.mark.parametrize(
    ("name", "env_id", "keywords", "compared", "excepted", "dtype"), CASES, ids=[case[0] for case in CASES]
)
def test_it_equals_gymnasiums(
    name: str, env_id: str, keywords: dict[str, Any], compared: int | None, excepted: tuple[str, ...], dtype: Any
) -> None:
    source = replace(SOURCES[name], env_cfg={**SOURCES[name].env_cfg, "episode_steps": EPISODE})
    ours, theirs = make_batch(source), gymnasium.make(env_id, max_episode_steps=EPISODE, **keywords)
    assert ours is not None
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert 1 / ours.control_hz == pytest.approx(theirs.unwrapped.dt)  # type: ignore[attr-defined]
    close = {"rtol": 0, "atol": 1e-9}
    np.testing.assert_allclose(ours.reset(seed=11)[0, :compared], theirs.reset(seed=11)[0][:compared], **close)
    generator = np.random.default_rng(2)
    endings = set()
    low, high = ours.action_space.low, ours.action_space.high
    for _ in range(STEPS):
        action = generator.uniform(low, high).astype(dtype)
        result = ours.step_arrays(action[None])
        seen, reward, terminated, truncated, info = theirs.step(action)
        last = result.final_observations[0] if len(result.ended) else result.observations[0]
        np.testing.assert_allclose(last[:compared], seen[:compared], **close)
        terms = {term for term in ours.reward_names if term not in excepted}
        for term in terms:
            # A double pendulum's are told without the prefix.
            theirs_told = info.get(f"reward_{term}", info.get(term))
            np.testing.assert_allclose(result.reward_terms[term][0], theirs_told, **close)
        for key in ours.info_names:
            np.testing.assert_allclose(result.infos[key][0], info[key], **close)
        if not excepted:
            np.testing.assert_allclose(result.rewards[0], reward, **close)
        assert result.terminated[0] == terminated
        # Gymnasium's time limit also cuts an episode that terminates in its last step.
        assert result.truncated[0] == (truncated and not terminated)
        if terminated or truncated:
            endings.add(result.episodes[0].reason)
            first, _ = theirs.reset()
            np.testing.assert_allclose(result.observations[0, :compared], first[:compared], **close)
    # Poles and legs fall at once under such actions.
    assert endings
    theirs.close()


def test_an_unhealthy_ant_terminates_as_gymnasiums_does() -> None:
    ours, theirs = (
        make_batch(SOURCES["ant_no_contact"]),
        gymnasium.make("Ant-v5", include_cfrc_ext_in_observation=False),
    )
    assert ours is not None
    seeds = range(12)
    lengths: list[list[int]] = [[], []]
    for seed in seeds:
        ours.reset(seed=seed)
        theirs.reset(seed=seed)
        generator = np.random.default_rng(seed)
        for step in range(1, 400):
            action = generator.uniform(-1, 1, 8)
            result, other = ours.advance(action[None]), theirs.step(action)
            assert result.terminated[0] == other[2]
            if other[2]:
                assert result.episodes[0].reason == "unhealthy"
                lengths[0].append(result.episodes[0].length)
                lengths[1].append(step)
                break
    assert lengths[0] == lengths[1]
    assert len(lengths[0]) >= 2
    theirs.close()
