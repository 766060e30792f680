"""What holds for every shipped environment and variant."""

import json

import gymnasium
import numpy as np
import pytest
from stable_baselines3.common.env_checker import check_env as check_for_sb3

from tests.envs.conftest import SOURCES
from workbench.project import shipped_project
from workbench.simulation import make_batch, make_single
from workbench.simulation.describe import describe

SECTIONS = (
    "Description",
    "Action Space",
    "Observation Space",
    "Rewards",
    "Starting State",
    "Episode End",
    "Arguments",
)


GYMNASIUMS = {
    # Every MuJoCo task of Gymnasium's version 5, and what of it is told in variants.
    "ant": ("full_observation", "no_contact", "rotation_vector", "test_no_dynamics"),
    "half_cheetah": ("full_observation", "test_no_gravity_no_springs"),
    "hopper": ("full_observation", "never_ends"),
    "humanoid": ("full_observation", "joints_only", "no_contact"),
    "humanoid_standup": ("full_observation", "joints_only", "no_contact"),
    "inverted_double_pendulum": ("still_start",),
    "inverted_pendulum": ("wide_start",),
    "pusher": ("free_control",),
    "reacher": ("free_control",),
    "swimmer": ("full_observation",),
    "walker2d": ("full_observation", "never_ends"),
}
OURS = {
    "arm_joints": ("torque",),
    "arm_reach": ("coarse",),
    "ball_plate": ("centered",),
    "cart_pole": ("actuate_on_pole", "test_damped_free_pole"),
    "quadruped": ("blind", "forward"),
    "swing_up": ("start_upright",),
}


def test_the_catalogue_holds_the_expected_names() -> None:
    tasks = {**GYMNASIUMS, **OURS}
    variants = {f"{name}_{variant}" for name, listed in tasks.items() for variant in listed}
    assert set(SOURCES) >= variants | tasks.keys()


def test_every_mujoco_task_of_gymnasium_is_there() -> None:
    theirs = {spec.id for spec in gymnasium.registry.values() if ".mujoco." in str(spec.entry_point)}
    newest = {name.removesuffix("-v5") for name in theirs if name.endswith("-v5")}
    assert newest == {SOURCES[name].env_id.removeprefix("workbench/").removesuffix("-v0") for name in GYMNASIUMS}


def test_variant_files_hold_a_description_and_a_configuration() -> None:
    for path in shipped_project().envs.glob("*.json"):
        told = json.loads(path.read_text())
        assert set(told) == {"description", "env_cfg"}, path
        assert told["description"].endswith("."), path


@pytest.mark.parametrize("name", SOURCES)
def test_it_runs_and_its_copies_are_independent_of_their_number(name: str) -> None:
    crowd, alone = make_batch(SOURCES[name], 3, threads=2), make_batch(SOURCES[name])
    assert crowd is not None
    assert alone is not None
    assert np.array_equal(crowd.reset(seed=1)[2], alone.reset(seed=3)[0])
    generator = np.random.default_rng(0)
    low, high = crowd.action_space.low, crowd.action_space.high
    for _ in range(150):
        actions = generator.uniform(low, high, (3, *low.shape)).astype(np.float32)
        many, one = crowd.step_arrays(actions), alone.step_arrays(actions[2:])
        assert np.array_equal(many.observations[2], one.observations[0])
        assert many.rewards[2] == one.rewards[0]
        assert many.rewards == pytest.approx(sum(many.reward_terms.values()))


@pytest.mark.parametrize("name", SOURCES)
def test_it_describes_itself_without_a_fault(name: str) -> None:
    told = describe(SOURCES[name])
    assert told["faults"] == []
    assert [line[3:] for line in told["docstring"].splitlines() if line.startswith("## ")] == list(SECTIONS)
    names = told["observation"]["names"]
    assert len(set(names)) == len(names)
    assert all(row["doc"] for row in told["config"])
    assert all(f"| `{row['name']}` " in told["docstring"] for row in told["config"])
    # The text knows every name that an episode may show.
    for shown in (*told["reward_terms"], *told["terminated"], *told["truncated"]):
        assert f"*{shown}*" in told["docstring"]


# Both say what they would have chosen: a normalised action, bounded observations.
@pytest.mark.filterwarnings("ignore:.*We recommend you to use a symmetric and normalized Box.*:UserWarning")
@pytest.mark.parametrize("name", ["cart_pole", "half_cheetah", "ant_no_contact"])
def test_it_passes_the_check_of_stable_baselines3(name: str) -> None:
    check_for_sb3(make_single(SOURCES[name]))
