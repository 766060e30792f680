"""Run folders of RL-Zoo: which policy, in which environment, through which normaliser; their YAML calls nothing."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from tests.policies.opening.conftest import make_model, make_normalizer, observations
from workbench.errors import CheckpointError, NotFoundError
from workbench.policies.loading import find_policy, load_policy

ID = "InvertedPendulum-v5"
PENDULUM = {"action_space": spaces.Box(-3, 3, (1,)), "observation_space": spaces.Box(-np.inf, np.inf, (4,))}
# As RL-Zoo 3 writes them.
CONFIG = (
    "!!python/object/apply:collections.OrderedDict\n- - - normalize\n    - {normalize}\n  - - n_timesteps\n    - 1e6\n"
)
ARGUMENTS = "!!python/object/apply:collections.OrderedDict\n- - - algo\n    - sac\n  - - env\n    - {env}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "logs" / "sac" / f"{ID}_1"
    write_settings(made)
    model = make_model("sac", **PENDULUM)
    for number, name in enumerate([f"{ID}.zip", "best_model.zip", "rl_model_500_steps.zip"]):
        model.num_timesteps = 1000 + number
        model.save(made / name)
    make_normalizer(model.get_env()).save(str(made / ID / "vecnormalize.pkl"))
    return made


def write_settings(folder: Path, config: str = "", env: str = ID, normalize: str = "true", more: str = "") -> None:
    inner = folder / ID
    inner.mkdir(parents=True, exist_ok=True)
    (inner / "config.yml").write_text((config or CONFIG).format(normalize=normalize))
    (inner / "args.yml").write_text(ARGUMENTS.format(env=env) + more)


@pytest.mark.parametrize(
    ("reference", "steps"), [("", 1001), (":best", 1001), (":latest", 1000), (":500", 1002), (f"/{ID}.zip", 1000)]
)
def test_a_reference_names_one_of_its_policies(reference: str, steps: int, folder: Path) -> None:
    found = find_policy(f"{folder}{reference}")
    assert found.steps == steps
    assert found.environment is not None and found.environment.env_id == ID
    assert found.normalizer == folder / ID / "vecnormalize.pkl"


def test_it_acts_through_its_normaliser(folder: Path) -> None:
    model = make_model("sac", **PENDULUM)
    rows = observations(size=4)
    normalizer = make_normalizer(model.get_env())
    wanted = model.predict(normalizer.normalize_obs(rows), deterministic=True)[0]
    np.testing.assert_allclose(load_policy(folder).act(rows), wanted, rtol=0, atol=3e-6)


def test_a_policy_that_is_not_there_is_told_with_those_that_are(folder: Path) -> None:
    with pytest.raises(NotFoundError, match="no policy `700`") as caught:
        find_policy(f"{folder}:700")
    assert "best, latest, 500" in caught.value.hint


@pytest.mark.parametrize(
    "normalize", ["true", "\"{{'norm_obs': True, 'norm_reward': False}}\"", "dict(norm_reward=False)"]
)
def test_normalised_observations_without_a_normaliser_are_refused(normalize: str, folder: Path) -> None:
    write_settings(folder, normalize=normalize.replace("{{", "{").replace("}}", "}"))
    (folder / ID / "vecnormalize.pkl").unlink()
    with pytest.raises(CheckpointError, match=r"no vecnormalize\.pkl") as caught:
        find_policy(folder)
    assert "--normalizer" in caught.value.hint
    assert find_policy(folder, normalizer="none").normalizer is None


@pytest.mark.parametrize("normalize", ["false", "dict(norm_obs=False, norm_reward=True)"])
def test_observations_that_were_not_normalised_need_none(normalize: str, folder: Path) -> None:
    write_settings(folder, normalize=normalize)
    (folder / ID / "vecnormalize.pkl").unlink()
    assert find_policy(folder).normalizer is None


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("frame_stack: 4", "a stack of 4 frames"),
        ("env_wrapper: gymnasium.wrappers.TimeAwareObservation", "env wrapper gymnasium.wrappers.TimeAwareObservation"),
        ("env_wrapper:\n- rl_zoo3.wrappers.HistoryWrapper:\n    horizon: 2\n- a.B", "HistoryWrapper, a.B"),
    ],
)
def test_what_lay_between_policy_and_environment_is_refused_by_name(setting: str, said: str, folder: Path) -> None:
    write_settings(folder, config=setting + "\n")
    with pytest.raises(CheckpointError, match=said) as caught:
        find_policy(folder)
    assert "--env" in caught.value.hint
    assert find_policy(folder, environment=ID).environment is not None


def test_keywords_of_the_environment_are_given_to_it(folder: Path) -> None:
    write_settings(folder, more="  - - env_kwargs\n    - reset_noise_scale: 0.5\n")
    found = find_policy(folder)
    assert found.environment is not None and found.environment.env_cfg == {"reset_noise_scale": 0.5}


def test_an_environment_that_is_not_here_is_named(folder: Path) -> None:
    write_settings(folder, env="InvertedPendulum-v77")
    with pytest.raises(NotFoundError, match="InvertedPendulum-v77, which is not installed") as caught:
        find_policy(folder)
    assert "--env" in caught.value.hint


@pytest.mark.parametrize("name", ["config.yml", "args.yml"])
def test_yaml_that_would_call_something_calls_nothing(name: str, folder: Path) -> None:
    marker = folder / "ran"
    call: Any = f"!!python/object/apply:os.system ['touch {marker}']"
    (folder / ID / name).write_text(f"env: {call}\nnormalize: {call}\nenv_kwargs: {call}\n")
    with contextlib.suppress(CheckpointError, NotFoundError):
        load_policy(folder).act(observations(1, 4))
    assert not marker.exists()
