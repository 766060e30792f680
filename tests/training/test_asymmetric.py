"""A critic that sees more than its actor: what trains, what a checkpoint holds, and what goes on from it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecNormalize

from tests.training.conftest import TINY, events, make_run, tiny_spec
from tests.training.test_forks import fork
from tests.training.test_resume import Knife, cut, digest, train
from workbench.errors import CheckpointError
from workbench.policies import PolicyActor, read_checkpoint
from workbench.runs import RunDirectory, RunState
from workbench.simulation import EnvSource, make_batch, make_sb3, make_single
from workbench.training.learner import Learner
from workbench.training.plain import unpack

ALGORITHMS = ("ppo", "sac", "td3")
MODULE = Path(__file__).with_name("partly_seen_env.py")
FIELDS: dict[str, Any] = {"checkpoint_every_steps": 100, "normalize_observations": True, "total_steps": 200}


def source(**env_cfg: bool) -> EnvSource:
    return EnvSource("workbench/PartlySeen-v0", "partly_seen", str(MODULE), "PartlySeenEnv", dict(env_cfg))


def make(folder: Path, algorithm: str, **fields: Any) -> RunDirectory:
    block = {} if algorithm == "ppo" else {algorithm: {**TINY[algorithm][algorithm], "learning_starts": 60}}
    return make_run(folder, algorithm, source(), **{**FIELDS, **block, **fields})


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunDirectory]:
    """A run of each algorithm of 200 steps."""
    found = {}
    for algorithm in ALGORITHMS:
        run = make(tmp_path_factory.mktemp("runs"), algorithm)
        result = train(run)
        assert result.state is RunState.FINISHED, result.reason
        found[algorithm] = run
    return found


def learner_of(run: RunDirectory) -> Learner:
    """Return the learner as it was at the end of a run."""
    spec = run.spec()
    made = Learner(spec, make_sb3(source(), spec.n_envs, 3, 1), seed=3, off_policy_steps=100)
    made.start([])
    made.load_state(unpack(run.checkpoints()[-1].path / "resume.pt")["learner"])
    return made


def test_the_learner_sees_all_and_everyone_else_what_the_policy_sees() -> None:
    env = make_batch(source(), 3)
    assert env is not None
    # What the policy sees under the same name is not told twice.
    assert (env.observation_names, env.critic_names) == (("x", "clock"), ("v", "crosswind"))
    assert env.observation_space.shape == (2,)
    assert env.reset(seed=0).shape == (3, 2)
    assert env.step_arrays(np.zeros((3, 1))).observations.shape == (3, 2)
    single = make_single(source())
    assert single.observation_space.shape == (2,) and single.reset(seed=0)[0].shape == (2,)
    venv: Any = make_sb3(source(), 3, seed=0)
    whole = venv.reset()
    assert venv.observation_space.shape == whole.shape[1:] == (4,)
    assert venv.actor_space.shape == (2,)
    assert whole[:, :2].tolist() == env.reset(seed=0).tolist()
    assert whole[:, 2].tolist() == (5 + 3 * venv.env.qvel[:, 0]).tolist()
    assert whole[:, 3].tolist() == venv.env.wind.tolist()
    result = venv.step_arrays(np.ones((3, 1), np.float32))
    assert result.observations[:, 2].tolist() == (5 + 3 * venv.env.qvel[:, 0]).tolist()
    for _ in range(19):
        result = venv.step_arrays(np.ones((3, 1), np.float32))
    # All episodes are cut together: last and first observations hold all too.
    assert result.final_observations.shape == result.observations.shape == (3, 4)
    assert result.final_observations[:, 3].tolist() != result.observations[:, 3].tolist()
    for each in (env, single, venv):
        each.close()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_checkpoint_holds_the_actor_and_nothing_of_what_only_the_critic_sees(
    algorithm: str, trained: dict[str, RunDirectory]
) -> None:
    for checkpoint in trained[algorithm].checkpoints():
        found = read_checkpoint(checkpoint.path)
        assert found.record.observation_names == ("x", "clock")
        assert found.record.observation_space.shape == (2,)
        text = (checkpoint.path / "policy.json").read_text()
        assert "crosswind" not in text and '"v"' not in text
        assert found.tensors["normalizer.mean"].shape == found.tensors["normalizer.var"].shape == (2,)
        assert not [name for name in found.tensors if "critic" in name or "value_net" in name or "qf" in name]
    assert [event["steps"] for event in events(trained[algorithm], "evaluation")] == [0, 100, 200]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_checkpoint_acts_as_stable_baselines3_predicts(algorithm: str, trained: dict[str, RunDirectory]) -> None:
    run = trained[algorithm]
    learner = learner_of(run)
    actor = PolicyActor(read_checkpoint(run.checkpoints()[-1].path))
    random = np.random.default_rng(1)
    whole = random.normal(size=(1000, 4)) * [1, 0.5, 3, 1] + [0, 0.5, 5, 0]
    assert isinstance(learner.env, VecNormalize)
    theirs, _ = learner.model.predict(learner.env.normalize_obs(whole), deterministic=True)
    assert actor.act(whole[:, :2]) == pytest.approx(theirs, abs=1e-6)
    assert np.ptp(theirs) > 1e-4
    learner.close()


def test_an_export_for_stable_baselines3_reads_what_the_policy_saw(
    tmp_path: Path, trained: dict[str, RunDirectory]
) -> None:
    import stable_baselines3

    from workbench.policies.export import export

    run = trained["ppo"]
    folder = export(run.checkpoints()[-1].path, "sb3", output=tmp_path / "out").folder
    model = stable_baselines3.PPO.load(folder / "model.zip", device="cpu")
    assert model.observation_space.shape == (2,)
    names = [one["name"] for one in json.loads((folder / "manifest.json").read_text())["observation"]["elements"]]
    assert names == ["x", "clock"]
    assert not [path for path in folder.iterdir() if b"crosswind" in path.read_bytes()]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_statistics_of_training_are_of_all_numbers(algorithm: str, trained: dict[str, RunDirectory]) -> None:
    run = trained[algorithm]
    saved = unpack(run.checkpoints()[-1].path / "resume.pt")["learner"]
    assert saved["critic_names"] == ["v", "crosswind"]
    moments = saved["normalizer"]["observations"]
    tensors = read_checkpoint(run.checkpoints()[-1].path).tensors
    assert moments["mean"].shape == (4,)
    assert np.asarray(moments["mean"])[:2].tolist() == tensors["normalizer.mean"].tolist()
    # Five is added to the velocity in the environment.
    assert 3.5 < float(moments["mean"][2]) < 6.5


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_run_that_was_cut_off_ends_as_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str, trained: dict[str, RunDirectory]
) -> None:
    run = make(tmp_path, algorithm)
    assert cut(Knife(monkeypatch), run, 45)
    assert 100 in [item.steps for item in run.checkpoints()] and len(run.checkpoints()) == 2
    assert train(run).state is RunState.FINISHED
    assert digest(run) == digest(trained[algorithm])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_fork_goes_on_with_actor_critic_and_all_statistics(algorithm: str, trained: dict[str, RunDirectory]) -> None:
    parent = trained[algorithm]
    child = fork(parent, parent.runs_root, total_steps=300)
    assert train(child).state is RunState.FINISHED
    theirs = unpack(parent.checkpoints()[-1].path / "resume.pt")["learner"]
    mine = unpack(child.checkpoints()[0].path / "resume.pt")["learner"]
    for name, tensor in theirs["parameters"]["policy"].items():
        assert np.array_equal(tensor, mine["parameters"]["policy"][name]), name
    counts = [float(each["normalizer"]["observations"]["count"]) for each in (theirs, mine)]
    assert counts[1] - counts[0] == child.spec().n_envs
    assert not [note for event in events(child, "forked") for note in event.get("notes", []) if "untrained" in note]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ("swap_seen", "observation 0 was x in training, and is clock"),
        ("swap_hidden", "its critic saw v, crosswind, and this run's sees crosswind, v"),
    ],
)
def test_a_fork_on_other_names_is_refused(changed: str, said: str, trained: dict[str, RunDirectory]) -> None:
    from workbench.training.inheritance import read_inheritance

    parent = trained["ppo"]
    child = fork(parent, parent.runs_root, total_steps=300)
    spec = child.spec()
    learner = Learner(spec, make_sb3(source(**{changed: True}), spec.n_envs, 3, 1), seed=3)
    with pytest.raises(CheckpointError) as caught:
        read_inheritance(child, spec).prepare(learner)
    assert said in str(caught.value)
    learner.close()


def test_a_state_of_another_critic_is_refused(trained: dict[str, RunDirectory]) -> None:
    spec = tiny_spec("ppo", source(), **FIELDS)
    learner = Learner(spec, make_sb3(source(swap_hidden=True), spec.n_envs, 3, 1), seed=3)
    learner.start([])
    saved = unpack(trained["ppo"].checkpoints()[-1].path / "resume.pt")["learner"]
    with pytest.raises(ValueError, match="its critic saw v, crosswind, and this run's sees crosswind, v"):
        learner.load_state(saved)
    learner.close()


def test_a_fork_without_the_statistics_of_the_critic_is_refused(
    tmp_path: Path, trained: dict[str, RunDirectory]
) -> None:
    import shutil

    from workbench.training.inheritance import read_inheritance

    bare = tmp_path / "checkpoint_000000000200"
    shutil.copytree(trained["ppo"].checkpoints()[-1].path, bare)
    (bare / "resume.pt").unlink()
    child = fork(bare, tmp_path / "runs", total_steps=300)
    spec = child.spec()
    learner = Learner(spec, make_sb3(source(), spec.n_envs, 3, 1), seed=3)
    with pytest.raises(CheckpointError, match="only there are the statistics of what the critic sees"):
        read_inheritance(child, spec).prepare(learner)
    learner.close()
