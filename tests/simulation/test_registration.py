"""Registration with Gymnasium."""

from dataclasses import replace

import gymnasium
import numpy as np
import pytest

from workbench.errors import RequestError
from workbench.project import Project
from workbench.simulation import EnvSource
from workbench.simulation.registration import register, register_envs
from workbench.simulation.vector_env import BatchVectorEnv


def test_a_registered_environment_is_made_alone_and_in_a_vector(slide: EnvSource) -> None:
    env_id = register(replace(slide, env_id="workbench/SlideMade-v0"))
    env = gymnasium.make(env_id)
    vector = gymnasium.make_vec(env_id, num_envs=4)
    assert isinstance(vector.unwrapped, BatchVectorEnv)
    assert (vector.reset(seed=2)[0][0] == env.reset(seed=2)[0]).all()


def test_keywords_of_make_override_the_configuration(slide: EnvSource) -> None:
    env = gymnasium.make(register(replace(slide, env_id="workbench/SlideOver-v0")), episode_steps=1)
    env.reset(seed=0)
    assert env.step(np.zeros(1, np.float32))[3]


def test_registering_twice_is_allowed(slide: EnvSource) -> None:
    source = replace(slide, env_id="workbench/SlideTwice-v0")
    assert register(source) == register(source)


def test_another_environment_under_the_same_id_is_refused(slide: EnvSource) -> None:
    source = replace(slide, env_id="workbench/SlideOther-v0")
    register(source)
    with pytest.raises(RequestError, match="another kwargs"):
        register(replace(source, env_cfg={"goal": 3}))
    assert gymnasium.spec(source.env_id).kwargs["source"]["env_cfg"] == {"goal": 1.2}


def test_the_registry_keeps_a_copy(slide: EnvSource) -> None:
    source = replace(slide, env_id="workbench/SlideCopy-v0")
    register(source)
    gymnasium.spec(source.env_id).kwargs["source"]["env_cfg"]["goal"] = 99
    assert source.env_cfg == {"goal": 1.2}


def test_a_project_is_registered_without_importing_it(project: Project) -> None:
    project.envs.mkdir()
    (project.envs / "broken_env.py").write_text("raise RuntimeError('imported')\nclass FarEnv(object): pass\n")
    (project.envs / "broken_env_test_it.json").write_text('{"description": "", "env_cfg": {}}')
    ids = register_envs(project)
    assert {"workbench/Far-v0", "workbench/AntNoContact-v0", "workbench/CartPole-v0"} <= set(ids)
    assert not any("Test" in env_id for env_id in ids)
    assert register_envs(project) == ids
    env = gymnasium.make("workbench/AntNoContact-v0")
    assert env.observation_space.shape == (27,)


def test_a_spec_survives_json(slide: EnvSource) -> None:
    spec = gymnasium.spec(register(replace(slide, env_id="workbench/SlideJson-v0")))
    assert gymnasium.envs.registration.EnvSpec.from_json(spec.to_json()) == spec
