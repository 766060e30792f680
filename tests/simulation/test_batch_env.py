"""The loop over copies: seeds, restarts, endings, statistics, refusals."""

from collections.abc import Callable, Mapping
from typing import Any

import mujoco
import numpy as np
import pytest
from gymnasium.utils import seeding

from tests.simulation.toys import SliderEnv, SliderEnvConfig
from workbench.errors import RequestError, SimulationError
from workbench.simulation import TIME_LIMIT
from workbench.simulation.config import BatchEnvConfig, config_class


def slider(n_envs: int = 1, cls: type[SliderEnv] = SliderEnv, **config: Any) -> SliderEnv:
    return cls(SliderEnvConfig(**config), n_envs=n_envs, threads=1, name="slider")


def pushes(n_envs: int, steps: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).uniform(-4, 4, (steps, n_envs, 1)).astype(np.float32)


def test_spaces_and_names_follow_model_and_methods() -> None:
    env = slider(3)
    assert env.observation_space.shape == (2,)
    assert (env.action_space.low, env.action_space.high) == (-4, 4)
    assert (env.observation_names, env.action_names) == (("x", "v"), ("push",))
    assert (env.reward_names, env.info_names) == (("speed", "effort"), ("position", "pair"))
    assert (env.termination_names, env.truncation_names) == (("arrived", "hit"), (TIME_LIMIT,))
    assert (env.control_hz, env.simulation_hz, env.episode_steps) == pytest.approx((10, 10, 5))


def test_a_step_obeys_newton() -> None:
    env = slider(2, frame_skip=3, noise=0.0)
    env.reset(seed=0)
    env.qvel[:] = 0.0
    result = env.step_arrays(np.array([[4.0], [-2.0]]))
    # Semi-implicit Euler, a = F / m, three steps of 0.1 s.
    for copy, acceleration in enumerate((2.0, -1.0)):
        x, v = 0.0, 0.0
        for _ in range(3):
            v += 0.1 * acceleration
            x += 0.1 * v
        assert result.observations[copy] == pytest.approx((x, v))
    assert result.reward_terms["effort"] == pytest.approx([-2.0, -1.0])
    assert result.rewards == pytest.approx(result.reward_terms["speed"] + result.reward_terms["effort"])


def test_copy_i_starts_as_gymnasium_seeds_it() -> None:
    observations = slider(3).reset(seed=7)
    for copy in range(3):
        generator, _ = seeding.np_random(7 + copy)
        assert observations[copy, 0] == generator.uniform(-1, 1, 1)[0]
        assert observations[copy, 1] == 0.1 * generator.standard_normal(1)[0]


def test_a_copy_does_not_depend_on_how_many_others_there_are() -> None:
    alone, crowd = slider(1, goal=0.8), slider(5, goal=0.8)
    first, many = alone.reset(seed=[12]), crowd.reset(seed=10)
    assert (first[0] == many[2]).all()
    for actions in pushes(5, 40):
        one, all_ = alone.step_arrays(actions[2:3]), crowd.step_arrays(actions)
        assert (one.observations[0] == all_.observations[2]).all()
        assert one.rewards[0] == all_.rewards[2]


def test_the_number_of_threads_changes_no_bit() -> None:
    results = []
    for threads in (1, 3):
        env = SliderEnv(SliderEnvConfig(goal=0.5), n_envs=7, threads=threads)
        seen = [env.reset(seed=1)] + [env.step_arrays(actions).observations for actions in pushes(7, 30)]
        results.append(np.array(seen))
    assert (results[0] == results[1]).all()


def test_an_unseeded_reset_goes_on_drawing() -> None:
    env = slider()
    first = env.reset(seed=3)
    second = env.reset()
    assert (first != second).all()
    assert (env.reset(seed=3) == first).all()
    assert (env.reset() == second).all()


def test_only_ended_copies_restart_and_in_the_same_step() -> None:
    env = slider(3, episode_steps=0, goal=1.5)
    env.reset(seed=0)
    env.qpos[:, 0] = (0.0, 1.49, -0.5)
    env.qvel[:] = 0.0
    result = env.step_arrays(np.array([[0.0], [4.0], [0.0]]))
    assert result.ended.tolist() == [1]
    assert result.terminated.tolist() == [False, True, False]
    assert not result.truncated.any()
    assert result.final_observations[0, 0] == pytest.approx(1.51)
    assert abs(result.observations[1, 0]) <= 1.0
    assert result.observations[[0, 2], 0].tolist() == [0.0, -0.5]
    assert env.elapsed.tolist() == [1, 0, 1]


def test_the_time_limit_truncates_and_a_termination_in_that_step_wins() -> None:
    env = slider(2, episode_steps=1, goal=0.95, noise=0.0)
    env.reset(seed=0)
    env.qpos[:, 0] = (0.0, 1.0)
    result = env.step_arrays(np.zeros((2, 1)))
    assert result.terminated.tolist() == [False, True]
    assert result.truncated.tolist() == [True, False]
    assert [(episode.reason, episode.terminated, episode.success) for episode in result.episodes] == [
        (TIME_LIMIT, False, False),
        ("arrived", True, True),
    ]


def test_no_time_limit_where_it_is_zero() -> None:
    env = slider(episode_steps=0)
    env.reset(seed=0)
    assert not any(len(env.step_arrays(np.zeros((1, 1))).ended) for _ in range(50))
    assert env.truncation_names == ()


def test_the_first_named_of_two_endings_is_the_reason() -> None:
    env = slider(goal=-5.0, wall=5.0)
    env.reset(seed=0)
    assert env.step_arrays(np.zeros((1, 1))).episodes[0].reason == "arrived"


def test_episode_records_sum_what_the_steps_gave() -> None:
    env = slider(2)
    env.reset(seed=0)
    steps = [env.step_arrays(actions) for actions in pushes(2, 5)]
    records = steps[-1].episodes
    assert [record.copy for record in records] == [0, 1]
    for record in records:
        rewards = np.array([step.rewards[record.copy] for step in steps])
        assert record.length == 5
        assert record.ret == pytest.approx(rewards.sum())
        assert record.reward_square_sum == pytest.approx((rewards**2).sum())
        for name in ("speed", "effort"):
            term = np.array([step.reward_terms[name][record.copy] for step in steps])
            assert record.term_sums[name] == pytest.approx(term.sum())
            assert record.term_square_sums[name] == pytest.approx((term**2).sum())
        position = np.array([step.infos["position"][record.copy] for step in steps])
        # The last position is the ended episode's, not the new one's.
        assert record.info_sums == pytest.approx({"position": position.sum()})
        assert record.info_square_sums == pytest.approx({"position": (position**2).sum()})
    assert (env.returns() == 0).all()


def test_returned_arrays_are_the_callers() -> None:
    env = slider(2, episode_steps=0)
    env.reset(seed=0)
    first = env.step_arrays(np.ones((2, 1)))
    kept = [array.copy() for array in (first.observations, first.rewards, first.infos["position"], first.infos["pair"])]
    env.step_arrays(np.ones((2, 1)))
    now = (first.observations, first.rewards, first.infos["position"], first.infos["pair"])
    assert all((one == other).all() for one, other in zip(kept, now, strict=True))


def test_actions_are_clipped_to_their_bounds() -> None:
    wide, bound = slider(), slider()
    wide.reset(seed=0)
    bound.reset(seed=0)
    one, other = wide.step_arrays(np.array([[1000.0]])), bound.step_arrays(np.array([[4.0]]))
    assert (one.observations == other.observations).all()
    assert one.reward_terms["effort"][0] == -2.0


class HalvesEnv(SliderEnv):
    """Actions in ±1 for controls in ±4."""

    def action_bounds(self) -> tuple[Any, Any]:
        return [-1.0], [1.0]


def test_other_action_bounds_map_onto_the_control_range() -> None:
    env = slider(cls=HalvesEnv)
    env.reset(seed=0)
    env.step_arrays(np.array([[0.5]]))
    assert env.ctrl[0, 0] == pytest.approx(2.0)


def test_a_clock_set_ahead_cuts_the_first_episode_early() -> None:
    env = slider(3)
    env.reset(seed=0)
    env.elapsed[:] = (0, 2, 4)
    lengths = [[episode.length for episode in env.step_arrays(np.zeros((3, 1))).episodes] for _ in range(6)]
    # By step: the third copy after one, the second after three, the first after five, the third again after six.
    assert lengths == [[1], [], [3], [], [5], [5]]


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(RequestError, match="from 0 on"):
        slider().reset(seed=-1)


def test_some_copies_reset_and_the_others_stay() -> None:
    env = slider(3, episode_steps=0)
    env.reset(seed=0)
    before = env.step_arrays(np.ones((3, 1))).observations
    after = env.reset(seed=[99], ids=[1])
    assert (after[[0, 2]] == before[[0, 2]]).all()
    assert (after[1] == slider().reset(seed=99)[0]).all()


def test_data_is_current_and_apart_from_the_simulation() -> None:
    env = slider(2, episode_steps=0)
    env.reset(seed=0)
    seen = env.step_arrays(np.ones((2, 1))).observations
    data = env.data(1)
    assert data.qpos[0] == seen[1, 0]
    assert data.body("mass").xpos[0] == pytest.approx(seen[1, 0])
    mujoco.mj_step(env.model, data)
    assert env.qpos[1, 0] == seen[1, 0]


def test_an_author_may_look_at_the_data_in_any_method() -> None:
    class Looking(SliderEnv):
        def setup(self) -> None:
            self.seen = [float(self.data(0).qpos[0])]

        def reward_terms(self, actions: Any) -> Any:
            self.seen.append(float(self.data(0).qpos[0]))
            return super().reward_terms(actions)

    env = Looking(SliderEnvConfig(episode_steps=0))
    assert env.seen == [0.0, 0.0]
    env.reset(seed=0)
    env.step_arrays(np.ones((1, 1)))
    assert env.seen[2] == env.qpos[0, 0]


def test_an_action_that_is_not_finite_names_copy_step_and_actuator() -> None:
    env = slider(2)
    env.reset(seed=0)
    env.step_arrays(np.zeros((2, 1)))
    with pytest.raises(SimulationError, match=r"slider, copy 1, step 2: the action push is nan"):
        env.step_arrays(np.array([[0.0], [np.nan]]))


def test_actions_of_another_shape_are_refused() -> None:
    env = slider(2)
    env.reset(seed=0)
    with pytest.raises(SimulationError, match=r"\(2,\) where \(2, 1\) is due"):
        env.step_arrays(np.zeros(2))


class ShakyEnv(SliderEnv):
    """Pushed at random."""

    def apply_action(self, actions: Any) -> None:
        super().apply_action(actions + self.noise().standard_normal(1))


def test_noise_within_an_episode_is_each_copys_own() -> None:
    crowd, alone = slider(3, ShakyEnv), slider(1, ShakyEnv)
    crowd.reset(seed=4)
    alone.reset(seed=6)
    for _ in range(12):
        many, one = crowd.step_arrays(np.zeros((3, 1))), alone.step_arrays(np.zeros((1, 1)))
        assert np.array_equal(many.observations[2], one.observations[0])
    assert len({float(value) for value in crowd.ctrl[:, 0]}) == 3


class BrokenEnv(SliderEnv):
    """Breaks in the way its attribute says."""

    breaks = ""

    def observe(self) -> Any:
        seen = super().observe()
        if self.breaks == "observation":
            seen[1, 1] = np.inf
        return seen

    def reward_terms(self, actions: Any) -> Mapping[str, Any]:
        terms = dict(super().reward_terms(actions))
        if self.breaks == "reward":
            terms["effort"] = np.array([0.0, np.nan])
        if self.breaks == "shape":
            terms["effort"] = np.zeros((2, 1))
        if self.breaks == "huge":
            terms = {"speed": np.full(2, 1e308), "effort": np.full(2, 1e308)}
        if self.breaks == "missing":
            del terms["effort"]
        if self.breaks == "raise":
            raise KeyError("boom")
        return terms


@pytest.mark.parametrize(
    ("breaks", "message"),
    [
        ("observation", "slider, copy 1, step 1: the observation v is inf"),
        ("reward", "slider, copy 1, step 1: the reward term effort is nan"),
        ("shape", r"slider: reward_terms must give numbers \(2,\) for effort"),
        ("huge", "slider, copy 0, step 1: the reward is inf"),
        ("missing", "slider: reward_terms gave speed and before speed, effort"),
        ("raise", r"slider raised KeyError: 'boom' \(test_batch_env.py:\d+, reward_terms\)"),
    ],
)
def test_a_fault_in_the_environment_names_where(breaks: str, message: str) -> None:
    env = slider(2, BrokenEnv)
    env.reset(seed=0)
    env.breaks = breaks  # type: ignore[attr-defined]
    with pytest.raises(SimulationError, match=message):
        env.step_arrays(np.zeros((2, 1)))


def test_a_simulation_that_blows_up_is_an_error_and_no_silent_restart() -> None:
    env = slider(2, episode_steps=0)
    env.reset(seed=0)
    env.qvel[1, 0] = np.inf
    with pytest.raises(SimulationError, match="copy 1, step 1"):
        env.step_arrays(np.zeros((2, 1)))


def test_stepping_before_the_first_reset_is_refused() -> None:
    with pytest.raises(SimulationError, match="before its first reset"):
        slider().step_arrays(np.zeros((1, 1)))


def test_closing_twice_is_allowed() -> None:
    env = slider()
    env.close()
    env.close()


@pytest.mark.parametrize(
    "use", [lambda env: env.reset(), lambda env: env.step_arrays(np.zeros((1, 1))), SliderEnv.data]
)
def test_a_closed_environment_says_that_it_is(use: Callable[[SliderEnv], Any]) -> None:
    env = slider()
    env.reset(seed=0)
    env.close()
    with pytest.raises(SimulationError, match="is closed"):
        use(env)


def test_a_configuration_is_found_by_type_argument_and_by_name() -> None:
    assert config_class(SliderEnv) is SliderEnvConfig
    assert config_class(HalvesEnv) is SliderEnvConfig
    with pytest.raises(SimulationError, match="has no configuration"):
        config_class(BatchEnvConfig)


def test_weights_count_in_the_reward_and_nowhere_else() -> None:
    plain, weighed = slider(2), slider(2)
    actions = pushes(2, 3)
    for env in (plain, weighed):
        env.reset(seed=0)
        env.step_arrays(actions[0])
    weighed.weigh({"speed": 0.5, "effort": 0.0})
    before, after = plain.step_arrays(actions[1]), weighed.step_arrays(actions[1])
    assert after.rewards.tolist() == [0.5 * speed for speed in before.reward_terms["speed"]]
    for name, term in before.reward_terms.items():
        assert after.reward_terms[name].tolist() == term.tolist()
    assert after.observations.tolist() == before.observations.tolist()
    # They go with a snapshot, and 1 is what there was.
    state = weighed.snapshot()
    plain.restore(state)
    assert plain.reward_weights == {"speed": 0.5, "effort": 0.0}
    assert plain.step_arrays(actions[2]).rewards.tolist() == weighed.step_arrays(actions[2]).rewards.tolist()
    weighed.weigh({"speed": 1.0, "effort": 1.0})
    assert weighed.reward_weights == {"speed": 1.0, "effort": 1.0}


@pytest.mark.parametrize("weights", [{"spin": 1.0}, {"speed": -1.0}, {"speed": float("inf")}, {"speed": float("nan")}])
def test_weights_that_cannot_be_are_refused(weights: dict[str, float]) -> None:
    env = slider(1)
    with pytest.raises(RequestError, match="reward term"):
        env.weigh(weights)
    assert env.reward_weights == {"speed": 1.0, "effort": 1.0}
