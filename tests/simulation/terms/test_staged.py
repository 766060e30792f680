"""Rewards in stages: forward only, a bonus once, each copy on its own, and on from a snapshot bit for bit."""

from typing import Any

import numpy as np
import pytest

from tests.simulation.terms.hosts import host
from workbench.errors import RequestError, SimulationError
from workbench.simulation.terms import make_predicate, make_term

LINE = """
<mujoco>
  <option timestep="0.1" gravity="0 0 0"/>
  <worldbody>
    <body name="mass"><joint name="x" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body>
  </worldbody>
  <actuator><motor name="push" joint="x" ctrlrange="-1 1"/></actuator>
</mujoco>
"""


def gate(value: float) -> dict[str, Any]:
    return {"predicate": "joint_above", "joint": "x", "value": value}


def pay(value: float) -> dict[str, Any]:
    return {"predicate": "constant", "value": value}


THREE = [
    {"reward": pay(1), "advance_when": gate(1), "bonus": 10},
    {"reward": pay(2), "advance_when": gate(2), "bonus": 20},
    {"reward": pay(3)},
]


def course(positions: Any, stages: Any, **declared: Any) -> tuple[Any, Any]:
    """Return reward and phase at each of some positions (steps, n), which copies are put to before each step."""
    positions = np.array(positions, dtype=float)
    n = positions.shape[1]
    env = host(LINE, n_envs=n, rewards={"steps": make_term("staged_reward", stages=stages)}, **declared)
    env.reset(seed=0)
    rewards, phases = [], []
    for row in positions:
        env.qpos[:, 0] = row
        env.qvel[:] = 0
        result = env.step_arrays(np.zeros((n, 1)))
        rewards.append(result.rewards)
        phases.append(result.infos["steps_phase"])
    env.close()
    return np.array(rewards).tolist(), np.array(phases).tolist()


def test_each_copy_goes_on_where_its_gate_opens_and_never_back() -> None:
    rewards, phases = course([[0, 0], [1.5, 0], [0, 1.5], [2.5, 0], [0, 2.5], [2.5, 0], [9, 0]], THREE)
    assert rewards == [[1, 1], [11, 1], [2, 11], [22, 2], [3, 22], [3, 3], [3, 3]]
    # What is told of a step is the stage after it.
    assert phases == [[0, 0], [1, 0], [1, 1], [2, 1], [2, 2], [2, 2], [2, 2]]


def test_one_gate_opens_in_a_step() -> None:
    rewards, _ = course([[5], [5], [5], [5]], THREE)
    assert rewards == [[11], [22], [3], [3]]


def test_an_episode_begins_in_the_first_stage_for_its_copy_alone() -> None:
    env = host(LINE, n_envs=2, rewards={"steps": make_term("staged_reward", stages=THREE)})
    env.reset(seed=0)
    env.qpos[:, 0] = 5
    env.step_arrays(np.zeros((2, 1)))
    env.reset(ids=[1])
    env.qpos[:, 0] = 5
    assert env.step_arrays(np.zeros((2, 1))).rewards.tolist() == [22, 11]
    env.close()


def test_nested_stages_go_on_only_while_theirs_is_reached_and_are_begun_anew() -> None:
    inner = [{"reward": pay(100), "advance_when": gate(-5), "bonus": 1000}, {"reward": pay(200)}]
    outer = [
        {"reward": pay(1), "advance_when": gate(1), "bonus": 10},
        {"reward": {"predicate": "staged_reward", "stages": inner}},
    ]
    rewards, phases = course([[0], [0], [2], [2], [2]], outer)
    # The inner gate was open all along, and counts from the stage it is in.
    assert rewards == [[1], [1], [11], [1100], [200]]
    assert phases[-1] == [1]
    env = host(LINE, n_envs=1, rewards={"steps": make_term("staged_reward", stages=outer)})
    for _ in range(2):
        env.reset(seed=0)
        env.qpos[:, 0] = 2
        assert [env.step_arrays(np.zeros((1, 1))).rewards[0] for _ in range(3)] == [11, 1100, 200]
    env.close()


def test_a_predicate_may_be_the_reward_of_a_stage_and_terms_may_be_given_as_such() -> None:
    stages = [
        {
            "reward": make_term("joint_below", joint="x", value=0.5, weight=4),
            "advance_when": make_predicate("joint_above", joint="x", value=1),
        },
        {"reward": pay(0), "advance_when": gate(0)},
    ]
    rewards, _ = course([[0.2], [0.7], [2], [2]], stages)
    assert rewards == [[4], [0], [0], [0]]


@pytest.mark.parametrize(
    ("stages", "said"),
    [
        ([], "stages must be a list, not empty"),
        ({}, "stages must be a list, not empty"),
        ([3], "stage 0 must be a mapping of reward, advance_when, bonus, got 3."),
        ([{"reward": pay(1), "advance": gate(1)}], "stage 0 has no advance; it has reward, advance_when, bonus."),
        ([{"advance_when": gate(1)}], "stage 0 has no reward."),
        ([{"reward": "constant"}], "stage 0: reward must be a term or a mapping like"),
        ([{"reward": pay(1)}, {"reward": pay(1)}], "stage 0 is not the last and needs advance_when"),
        (
            [{"reward": pay(1), "advance_when": pay(1)}, {"reward": pay(1)}],
            "stage 0: advance_when must be a predicate, and constant is a reward: a number opens no gate.",
        ),
        ([{"reward": pay(1), "bonus": True}], "bonus must be a finite number, got True."),
        ([{"reward": pay(1), "bonus": float("inf")}], "bonus must be a finite number, got inf."),
        ([{"reward": pay(float("nan"))}], "stage 0: reward: constant: value must be a finite number, got nan."),
        (
            [{"reward": {"predicate": "constants", "value": 1}}],
            "there is no predicate constants. Did you mean constant?",
        ),
    ],
)
def test_stages_that_make_no_course_are_refused(stages: Any, said: str) -> None:
    with pytest.raises(RequestError) as caught:
        make_predicate("staged_reward", stages=stages)
    assert said in str(caught.value)


def declared() -> dict[str, Any]:
    stages = [
        {"reward": pay(1), "advance_when": gate(0.15), "bonus": 5},
        {"reward": {"predicate": "staged_reward", "stages": THREE[:1] + THREE[2:]}},
    ]
    return {
        "rewards": {
            "steps": make_term("staged_reward", stages=stages),
            "smooth": make_term("action_rate"),
            "near": make_term("end_effector_position_error", frame="mass", target="goal"),
        },
        "goals": {"goal": ([-1, -1, -1], [1, 1, 1])},
    }


def test_a_snapshot_has_all_that_terms_remember() -> None:
    random = np.random.default_rng(1)
    actions = random.uniform(-1, 1, (40, 3, 1)) + 0.5
    env, other = (host(LINE, n_envs=3, **declared()) for _ in range(2))
    env.reset(seed=3)
    for step in range(15):
        env.step_arrays(actions[step])
        if step == 9:
            env.reset(ids=[2])
    saved = env.snapshot()
    assert len(set(env.terms.phases()["steps"].tolist())) > 1
    whole = [env.step_arrays(actions[step]) for step in range(15, 40)]
    env.reset(ids=[0])
    other.reset(seed=99)
    other.step_arrays(actions[0])
    other.restore(saved)
    again = [other.step_arrays(actions[step]) for step in range(15, 40)]
    other.reset(ids=[0])
    for one, two in zip(whole, again, strict=True):
        assert one.observations.tobytes() == two.observations.tobytes()
        for name in one.reward_terms:
            assert one.reward_terms[name].tobytes() == two.reward_terms[name].tobytes()
    assert env.terms.goals["goal"].tobytes() == other.terms.goals["goal"].tobytes()
    env.close()
    other.close()


def test_a_snapshot_of_other_terms_is_refused() -> None:
    env = host(LINE, rewards={"steps": make_term("staged_reward", stages=THREE)})
    other = host(LINE, **declared())
    env.reset(seed=0)
    with pytest.raises(SimulationError, match="the saved state is that of another environment"):
        other.restore(env.snapshot())
    env.close()
    other.close()


def test_goals_are_drawn_for_each_episode_from_the_copys_own_seed() -> None:
    goals = {"goal": ([0.0, 5.0, -2.0], [1.0, 5.0, -1.0])}
    watched = {"near": make_predicate("end_effector_position_error", frame="mass", target="goal")}
    many = host(LINE, n_envs=4, goals=goals, watched=watched)
    first = many.reset(seed=7)
    drawn = many.terms.goals["goal"].copy()
    assert (drawn[:, 0] >= 0).all() and (drawn[:, 0] < 1).all() and (drawn[:, 1] == 5).all()
    assert len(np.unique(drawn[:, 0])) == 4
    assert first[:, 2:].tolist() == drawn.tolist()
    alone = host(LINE, n_envs=1, goals=goals, watched=watched)
    alone.reset(seed=9)
    assert alone.terms.goals["goal"][0].tolist() == drawn[2].tolist()
    told = many.step_arrays(np.zeros((4, 1))).infos["near"]
    assert told == pytest.approx(-np.linalg.norm(drawn, axis=1))
    many.reset(ids=[1])
    assert many.terms.goals["goal"][[0, 2, 3]].tolist() == drawn[[0, 2, 3]].tolist()
    assert many.terms.goals["goal"][1, 0] != drawn[1, 0]
    many.close()
    alone.close()


def test_a_base_may_follow_a_command_that_is_drawn() -> None:
    xml = """
    <mujoco>
      <option gravity="0 0 0"/>
      <worldbody><body name="ball"><freejoint/><geom size="0.1"/></body></worldbody>
    </mujoco>
    """
    rewards = {
        "far": make_term("base_velocity", command="walk"),
        "near": make_term("base_velocity_tracking", command="walk", ang_weight=0),
    }
    env = host(xml, n_envs=3, goals={"walk": ([-1, -1, 0], [1, 1, 0])}, rewards=rewards)
    env.reset(seed=0)
    told = env.step_arrays(np.zeros((3, 1))).reward_terms
    speed = np.hypot(*env.terms.goals["walk"][:, :2].T)
    assert told["far"] == pytest.approx(-speed)
    assert told["near"] == pytest.approx(np.exp(-(speed**2) / 0.25))
    env.close()
