"""Half-cheetah and ant, against Gymnasium's own over the same actions and seeds."""

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

CASES = [
    # name, ID, its keywords, numbers compared (None: all), terms not compared, type of the actions
    ("half_cheetah", "HalfCheetah-v5", {}, None, (), np.float32),
    ("half_cheetah_full_observation", "HalfCheetah-v5", WHOLE, None, (), np.float64),
    ("ant_no_contact", "Ant-v5", NO_CONTACT, None, ("contact",), np.float32),
    ("ant", "Ant-v5", {}, ANT_BODY, ("contact",), np.float64),
    ("ant_full_observation", "Ant-v5", WHOLE, ANT_BODY + 2, ("contact",), np.float64),
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
    for _ in range(STEPS):
        action = generator.uniform(-1, 1, ours.action_space.shape).astype(dtype)
        result = ours.step_arrays(action[None])
        seen, reward, terminated, truncated, info = theirs.step(action)
        last = result.final_observations[0] if len(result.ended) else result.observations[0]
        np.testing.assert_allclose(last[:compared], seen[:compared], **close)
        terms = {term for term in ours.reward_names if term not in excepted}
        for term in terms:
            np.testing.assert_allclose(result.reward_terms[term][0], info[f"reward_{term}"], **close)
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
    assert "time_limit" in endings
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
