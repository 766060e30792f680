"""A run that starts from another one's checkpoint: what it takes over, and from where it counts."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecNormalize

from tests.training.conftest import HALF_CHEETAH, events, make_run, tiny_spec
from tests.training.test_resume import Knife, cut, digest, make, train
from workbench.policies import read_checkpoint
from workbench.runs import History, RunDirectory, RunState, RunStore, send
from workbench.runs.forking import fork_from
from workbench.runs.lineage import read_parent, reference_to
from workbench.simulation import EnvSource, make_sb3
from workbench.specs import RunSpec
from workbench.training import chance
from workbench.training.circumstances import circumstances
from workbench.training.inheritance import read_inheritance
from workbench.training.learner import Learner
from workbench.training.plain import unpack
from workbench.training.replay_log import FOLDER, refill

ALGORITHMS = ("ppo", "sac", "td3")
PARENT_STEPS = 500
SCHEDULES: dict[str, Any] = {
    "ppo": {"learning_rate": "linear:0.01:0.001", "clip_range": "linear:0.3:0.1"},
    "sac": {"learning_rate": "linear:0.01:0.001"},
    "td3": {"learning_rate": "linear:0.01:0.001"},
}


@pytest.fixture(scope="module")
def parents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunDirectory]:
    """A run of each algorithm that has come to its end; checkpoints at 0, 200, 400 and 500 steps."""
    found = {}
    for algorithm in ALGORITHMS:
        run = make(tmp_path_factory.mktemp("runs"), algorithm, total_steps=PARENT_STEPS)
        assert train(run).state is RunState.FINISHED
        found[algorithm] = run
    return found


def fork(parent: RunDirectory | Path, root: Path, **fields: Any) -> RunDirectory:
    """Make a run that starts from the last checkpoint of another one, or from a folder."""
    path = parent.checkpoints()[-1].path if isinstance(parent, RunDirectory) else parent
    draft = fork_from(path, root)
    composed = draft.compose([f"{key}={value}" for key, value in fields.pop("overrides", {}).items()],
                             **{"seed": 11, "total_steps": 900, **fields})  # fmt: skip
    spec = composed.require()
    assert draft.problems(spec) == []
    record = {
        "format": 1,
        "spec": spec.model_dump(mode="json"),
        "environment": draft.environment,
        "parent": read_parent(root, draft.reference).to_json(),
    }
    return RunDirectory.create(root, spec.algorithm, draft.env_name, files={"run.json": record})


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_totals_go_on_from_the_parent(algorithm: str, parents: dict[str, RunDirectory]) -> None:
    parent = parents[algorithm]
    before = tree(parent.path)
    child = fork(parent, parent.runs_root)
    result = train(child)
    assert (result.state, result.steps, result.iterations) == (RunState.FINISHED, 900, 9), result.reason
    assert [item.steps for item in child.checkpoints()] == [500, 600, 800, 900]
    rows = events(child, "metrics")
    assert [row["steps"] for row in rows[:3]] == [500, 600, 700]
    assert [row["iteration"] for row in rows[:3]] == [5, 6, 7]
    assert rows[0]["episodes"] == events(parent, "metrics")[-1]["episodes"] > 0
    assert rows[0]["wall_s"] < events(parent, "metrics")[-1]["wall_s"] + 60
    theirs, mine = (read_checkpoint(run.path / "checkpoint_000000000500") for run in (parent, child))
    # The first observations of its new episodes are counted already.
    assert all(
        np.array_equal(theirs.tensors[name], mine.tensors[name])
        for name in theirs.tensors
        if not name.startswith("normalizer.")
    )
    copies = child.spec().n_envs
    assert mine.tensors["normalizer.count"] == theirs.tensors["normalizer.count"] + copies
    [told] = events(child, "forked")
    assert (told["steps"], told["parent"]) == (500, f"{parent.name}:500")
    assert told["changed"] == []
    row = RunStore(child.runs_root).summary(child)
    assert (row.parent, row.start_steps, row.progress) == (f"{parent.name}:500", 500, 1.0)
    history = History(child)
    assert history.steps == 500
    history.refresh()
    assert history.series["time/total_timesteps"].steps[0] == 500
    assert tree(parent.path) == before


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_schedules_go_on_where_they_were(algorithm: str, parents: dict[str, RunDirectory]) -> None:
    block = SCHEDULES[algorithm]
    overrides = {f"{algorithm}.{name}": value for name, value in block.items()}
    child = fork(parents[algorithm], parents[algorithm].runs_root, total_steps=700, overrides=overrides)
    train(child)
    row = next(row for row in events(child, "metrics") if row["steps"] == 600)["values"]
    sb3: Any = SimpleNamespace()
    # PPO's update is after the rollout, and that of the others at every step, the last one too.
    BaseAlgorithm._update_current_progress_remaining(sb3, 600, 700)
    line = LinearSchedule(0.01, 0.001, 1.0)
    assert row["train/learning_rate"] == pytest.approx(line(sb3._current_progress_remaining), rel=1e-12)
    if algorithm == "ppo":
        clip = LinearSchedule(0.3, 0.1, 1.0)
        assert row["train/clip_range"] == pytest.approx(clip(sb3._current_progress_remaining), rel=1e-12)


def test_a_budget_of_iterations_counts_the_parents(parents: dict[str, RunDirectory]) -> None:
    parent = parents["ppo"]
    stop = {"training_iteration": 7}
    child = fork(
        parent, parent.runs_root, total_steps=900, stop_criteria=stop, overrides={"ppo.learning_rate": "linear:1"}
    )
    result = train(child)
    assert (result.steps, result.reason) == (700, "7 of 7 iterations are done")
    rates = [row["values"].get("train/learning_rate") for row in events(child, "metrics")]
    assert rates[:3] == [None, pytest.approx(1 / 7), pytest.approx(0.0)]


def learner_of(spec: RunSpec, source: EnvSource = HALF_CHEETAH) -> Learner:
    return Learner(spec, make_sb3(source, spec.n_envs, spec.seed, 1), seed=int(spec.seed or 0))


def inherited(child: RunDirectory) -> Learner:
    spec = child.spec()
    parent = read_inheritance(child, spec)
    learner = learner_of(spec)
    parent.prepare(learner)
    learner.start([], steps=parent.steps, iteration=parent.iteration)
    parent.pass_on(learner, int(spec.seed or 0))
    parent.pass_on_replay(learner)
    return learner


def uninterrupted(parent: RunDirectory, total_steps: int) -> Learner:
    spec = parent.spec().model_copy(update={"total_steps": total_steps})
    state = unpack(parent.checkpoints()[-1].path / "resume.pt")
    learner = learner_of(spec)
    learner.start([])
    learner.load_state(state["learner"])
    if learner.replay is not None:
        refill(parent.path / FOLDER, learner.replay, state["replay"])
    return learner


def update(learner: Learner) -> dict[str, Any]:
    """Make an update of the same data with the same chance, and return what it ends with."""
    model: Any = learner.model
    torch.manual_seed(5)
    np.random.seed(5)
    model._update_current_progress_remaining(model.num_timesteps, model._total_timesteps)
    if model.__class__.__name__ == "PPO":
        draw, buffer = np.random.default_rng(6), model.rollout_buffer
        buffer.reset()
        while not buffer.full:
            size = (buffer.n_envs,)
            seen, acted = draw.normal(size=(*size, *buffer.obs_shape)), draw.normal(size=(*size, buffer.action_dim))
            numbers = [torch.as_tensor(draw.normal(size=size), dtype=torch.float32) for _ in range(2)]
            buffer.add(seen, acted, draw.normal(size=size), np.zeros(size), *numbers)
        buffer.compute_returns_and_advantage(torch.zeros(buffer.n_envs), np.zeros(buffer.n_envs))
        model.train()
    else:
        model.train(gradient_steps=7, batch_size=model.batch_size)
    parameters: dict[str, Any] = learner.state()["parameters"]
    return parameters


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return torch.equal(one, other) if isinstance(one, torch.Tensor) else bool(one == other)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_first_update_is_that_of_a_run_that_went_on(algorithm: str, parents: dict[str, RunDirectory]) -> None:
    parent = parents[algorithm]
    one, other = uninterrupted(parent, 900), inherited(fork(parent, parent.runs_root, total_steps=900))
    assert one.steps == other.steps == 500
    for name in ("_n_updates", "_episode_num", "_total_timesteps"):
        assert getattr(one.model, name) == getattr(other.model, name)
    # The first observations of the new episodes are counted already, and what is replayed is normalised by all of them.
    for learner in (one, other):
        assert isinstance(learner.env, VecNormalize)
        learner.env.obs_rms = one.env.obs_rms  # type: ignore[attr-defined]
    before = {name: value.clone() for name, value in one.model.policy.state_dict().items()}
    after, theirs = update(one), update(other)
    assert same(after, theirs)
    assert not same(before, dict(one.model.policy.state_dict()))
    one.close()
    other.close()


def test_chance_follows_the_seed_and_that_of_the_parent_goes_on(parents: dict[str, RunDirectory]) -> None:
    parent = parents["sac"]
    saved = unpack(parent.checkpoints()[-1].path / "resume.pt")["learner"]["chance"]
    drawn = {}
    for seed in (3, 11, 12):
        learner = inherited(fork(parent, parent.runs_root, seed=seed))
        drawn[seed] = chance.take()
        learner.close()
    assert torch.equal(drawn[3]["torch"], saved["torch"])
    assert not torch.equal(drawn[11]["torch"], saved["torch"])
    assert not torch.equal(drawn[11]["torch"], drawn[12]["torch"])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("moment", [8, 30, 75])
def test_a_fork_that_was_cut_off_ends_as_one_that_was_not(
    algorithm: str, moment: int, parents: dict[str, RunDirectory], monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = parents[algorithm]
    whole, run = (fork(parent, parent.runs_root) for _ in range(2))
    assert train(whole).state is RunState.FINISHED
    with monkeypatch.context() as patch:
        assert cut(Knife(patch), run, moment)
    assert train(run).state is RunState.FINISHED
    assert digest(run) == digest(whole)


def test_a_buffer_that_is_gone_is_filled_before_the_first_update(parents: dict[str, RunDirectory]) -> None:
    parent = parents["sac"]
    old = parent.checkpoints()[1]
    child = fork(old.path, parent.runs_root, total_steps=500)
    assert "the replay buffer starts empty" in " ".join(fork_from(old.path, parent.runs_root).notes(child.spec()))
    assert train(child).state is RunState.FINISHED
    [told] = events(child, "forked")
    assert told["replay_rows"] == 0
    assert "100 steps fill it before the first update" in " ".join(told["notes"])
    updates = {row["steps"]: row["values"].get("train/n_updates") for row in events(child, "metrics")}
    done = unpack(old.path / "resume.pt")["learner"]["counters"]["_n_updates"]
    # 100 steps must be exceeded; of the 25 vector steps of an iteration all but none come after that.
    assert updates[300] is None and updates[400] == done + 25


def test_a_buffer_goes_along_into_one_of_another_size(parents: dict[str, RunDirectory]) -> None:
    parent = parents["sac"]
    theirs = uninterrupted(parent, 900).replay
    assert theirs is not None
    newest_first = [theirs.observations[(125 - 1 - back) % 75] for back in range(75)]
    for size, kept in ((200, 50), (1000, 75)):
        learner = inherited(fork(parent, parent.runs_root, overrides={"sac.buffer_size": size}))
        mine = learner.replay
        assert mine is not None and mine.size() == kept
        for back in range(kept):
            assert np.array_equal(mine.observations[(mine.pos - 1 - back) % mine.buffer_size], newest_first[back])
        learner.close()


def test_other_copies_take_no_buffer_along(parents: dict[str, RunDirectory]) -> None:
    parent = parents["td3"]
    child = fork(parent, parent.runs_root, n_envs=2, total_steps=800)
    assert train(child).state is RunState.FINISHED
    assert "another number of copies" in child.log_path.read_text()
    assert child.checkpoints()[-1].steps == 800


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_weights_alone_are_enough(algorithm: str, parents: dict[str, RunDirectory], tmp_path: Path) -> None:
    alone = shutil.copytree(parents[algorithm].checkpoints()[-1].path, tmp_path / "imported" / "theirs")
    (alone / "resume.pt").unlink()
    draft = fork_from(alone, tmp_path / "runs")
    assert draft.network.keys() == {"pi", "vf" if algorithm == "ppo" else "qf"}
    base = tiny_spec(algorithm, HALF_CHEETAH, normalize_observations=True)
    block = {**base.hyperparameters.model_dump(mode="json"), **draft.base()[algorithm]}
    child = fork(alone, tmp_path / "runs", n_envs=4, **{algorithm: block})
    result = train(child)
    assert (result.state, result.steps) == (RunState.FINISHED, 900), result.reason
    assert child.spec().parent == str(alone)
    assert "optimisers start fresh" in child.log_path.read_text()
    first = read_checkpoint(child.checkpoints()[0].path)
    name = first.record.network.head[0]
    assert np.array_equal(first.tensors[name], read_checkpoint(alone).tensors[name])


def test_a_fork_of_a_fork_counts_both(parents: dict[str, RunDirectory]) -> None:
    parent = parents["sac"]
    child = fork(parent, parent.runs_root, total_steps=700)
    train(child)
    draft = fork_from(child.checkpoints()[-1].path, parent.runs_root)
    grandchild = fork(child, parent.runs_root, total_steps=900)
    assert draft.keeps_replay(grandchild.spec())
    assert train(grandchild).state is RunState.FINISHED
    assert [item.steps for item in grandchild.checkpoints()] == [700, 800, 900]
    assert events(grandchild, "forked")[0]["replay_rows"] == 175


def test_the_starting_state_is_kept_as_the_untrained_one_is(parents: dict[str, RunDirectory]) -> None:
    parent = parents["ppo"]
    child = fork(parent, parent.runs_root, keep_last=1, eval_every=0)
    train(child)
    assert [item.steps for item in child.checkpoints()] == [500, 900]


def test_what_changed_meanwhile_is_said(parents: dict[str, RunDirectory], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "workbench.training.inheritance.circumstances",
        lambda: {**circumstances(), "torch": "9.9", "processor": "Abacus"},
    )
    parent = parents["ppo"]
    child = fork(parent, parent.runs_root, total_steps=600)
    train(child)
    text = child.log_path.read_text()
    assert "is now 9.9: numbers may differ" in text and "is now Abacus: numbers may differ" in text
    assert len(events(child, "forked")[0]["changed"]) == 2


def test_terms_that_weighed_otherwise_are_said(tmp_path: Path) -> None:
    parent = make(tmp_path, "ppo", total_steps=200)
    send(parent, "set", values={"reward.forward": 0.5, "reward.ctrl": 0.0})
    assert train(parent).state is RunState.FINISHED
    child = fork(parent, tmp_path, total_steps=300)
    assert train(child).state is RunState.FINISHED
    [told] = events(child, "forked")
    said = "the reward terms weigh 1 each again, where the checkpoint's run had forward 0.5, ctrl 0"
    assert said in told["notes"] and said in child.log_path.read_text()
    # Written before anything was changed.
    untrained = fork(parent.checkpoints()[0].path, tmp_path, total_steps=300)
    assert read_inheritance(untrained, untrained.spec()).notes == []


def test_a_parent_that_does_not_fit_fails_before_anything_is_written(parents: dict[str, RunDirectory]) -> None:
    parent = parents["ppo"]
    reference = reference_to(parent.checkpoints()[-1].path, parent.runs_root)
    child = make_run(parent.runs_root, "ppo", HALF_CHEETAH, total_steps=900, parent=reference)
    result = train(child)
    assert result.state is RunState.FAILED
    assert "normalize_observations is false, and the checkpoint reads observations normalised" in result.reason
    assert child.checkpoints() == []


def test_a_parent_that_is_gone_fails_with_what_is_there(parents: dict[str, RunDirectory]) -> None:
    parent = parents["ppo"]
    child = make_run(parent.runs_root, "ppo", HALF_CHEETAH, total_steps=900, parent=f"{parent.name}:450")
    result = train(child)
    assert result.state is RunState.FAILED
    assert "has no checkpoint of 450 steps" in result.reason and "0, 200, 400, 500" in result.reason
