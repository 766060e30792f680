"""What a run starts with that goes on from a checkpoint, and where it comes from."""

from __future__ import annotations

import json
import shlex
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save
from stable_baselines3.common.vec_env import VecNormalize

from workbench.errors import CheckpointError, NotFoundError
from workbench.runs.directory import RunDirectory
from workbench.runs.events import EventWriter
from workbench.runs.forking import CLIP, EPSILON, Fork, fork_from
from workbench.runs.lineage import Parent, read_parent, reference_to
from workbench.runs.store import RunStore
from workbench.specs import RunSpec, command_for

ENVIRONMENT = {"env_id": "workbench/CartPole-v0", "name": "cart_pole", "env_cfg": {}}


def parent_of(root: Path, algorithm: str = "ppo", *, steps: int = 300, **fields: Any) -> RunDirectory:
    """Make a run with one checkpoint of two layers of 64 and 32, and of 16 in a critic."""
    block = {"pi": [64, 32], "vf" if algorithm == "ppo" else "qf": [16]}
    data = {"env_id": ENVIRONMENT["env_id"], "algorithm": algorithm, "seed": 1, "tags": ["old"], "total_steps": 1000}
    spec = RunSpec.model_validate({**data, algorithm: {"net_arch": block, "activation": "tanh"}, **fields})
    record = {"format": 1, "spec": spec.model_dump(mode="json"), "environment": ENVIRONMENT}
    run = RunDirectory.create(root, algorithm, "cart_pole", files={"run.json": record})
    folder = run.path / f"checkpoint_{steps:012d}"
    folder.mkdir()
    critic = {"ppo": "mlp_extractor.value_net", "sac": "critic.qf0", "td3": "critic.qf0"}[algorithm]
    actor = {"ppo": "mlp_extractor.policy_net", "sac": "actor.latent_pi", "td3": "actor.mu"}[algorithm]
    shapes = {f"{actor}.0": (64, 4), f"{actor}.2": (32, 64), f"{critic}.0": (16, 4)}
    shapes |= {"value_net": (1, 16)} if algorithm == "ppo" else {f"{critic}.2": (1, 16)}
    tensors = {f"{name}.weight": np.zeros(shape, np.float32) for name, shape in shapes.items()}
    (folder / "policy.safetensors").write_bytes(save(tensors))
    policy = {
        "algorithm": algorithm,
        "environment": ENVIRONMENT,
        "network": {
            "trunk": [[f"{actor}.0.weight", f"{actor}.0.bias"], [f"{actor}.2.weight", f"{actor}.2.bias"]],
            "activation": "tanh",
            "noise": "independent",
        },
        "normalizer": {"epsilon": 1e-8, "clip": 10.0} if spec.normalize_observations else None,
        "steps": steps,
        "iteration": 3,
    }
    (folder / "policy.json").write_text(json.dumps(policy))
    (folder / "resume.pt").touch()
    return run


def draft_of(run: RunDirectory) -> Fork:
    return fork_from(run.checkpoints()[-1].path, run.runs_root)


def said(draft: Fork, *overrides: str, **fields: Any) -> str:
    composed = draft.compose(overrides, **{"total_steps": 900, **fields})
    assert composed.spec is not None, composed.problems
    return "\n".join(map(str, draft.problems(composed.spec)))


@pytest.mark.parametrize("algorithm", ["ppo", "sac", "td3"])
def test_a_draft_is_the_parents_spec_but_for_what_belongs_to_a_launch(algorithm: str, tmp_path: Path) -> None:
    run = parent_of(tmp_path, algorithm, n_envs=4, normalize_observations=True)
    draft = draft_of(run)
    spec = draft.compose().require()
    assert draft.problems(spec) == []
    assert spec.hyperparameters == run.spec().hyperparameters
    assert (spec.n_envs, spec.normalize_observations, spec.total_steps) == (4, True, 1000)
    assert (spec.seed, spec.tags, spec.parent) == (None, (), f"{run.name}:300")
    assert (draft.steps, draft.iteration, draft.env_name) == (300, 3, "cart_pole")
    assert shlex.join(draft.command()) == f"workbench train cart_pole --algorithm {algorithm} --from {run.name}:300"


def test_the_command_holds_what_was_changed(tmp_path: Path) -> None:
    draft = draft_of(parent_of(tmp_path))
    spec = draft.compose(["ppo.gamma=0.5"], seed=7, total_steps=900).require()
    words = " ".join(draft.command(spec))
    assert words.endswith(f"--seed 7 --max-steps 900 --from {draft.reference} --set ppo.gamma=0.5")


def test_values_that_were_set_before_the_checkpoint_are_the_parents(tmp_path: Path) -> None:
    run = parent_of(tmp_path)
    with EventWriter(run.events_path) as writer:
        writer.append("set", steps=200, values={"total_steps": 5000, "ppo.gamma": 0.5})
        writer.append("set", steps=400, values={"total_steps": 9000})
    spec = draft_of(run).compose().require()
    assert (spec.total_steps, spec.ppo.gamma, spec.ppo.gae_lambda) == (5000, 0.5, 0.95)


@pytest.mark.parametrize(
    ("words", "fields", "says"),
    [
        (["ppo.net_arch=64,64"], {}, "is pi 64×64, vf 64×64, and the checkpoint's networks are pi 64×32, vf 16; type"),
        (["ppo.activation=relu"], {}, "is relu, and the checkpoint's is tanh; type --set ppo.activation=tanh"),
        (["ppo.use_sde=true"], {}, "ppo.use_sde is true, and the checkpoint's exploration is independent"),
        (["normalize_observations=true"], {}, "is true, and the checkpoint reads observations as they are; type --set"),
        (["normalize_rewards=true"], {}, "is true, and the checkpoint's critic learned rewards as they are"),
        ([], {"total_steps": 300}, "total_steps is 300, and the checkpoint has 300 steps already"),
        ([], {"stop_criteria": {"training_iteration": 3}}, "has 3 iterations already, which count; type --max-it"),
        ([], {"stop_criteria": {"num_env_steps_sampled_lifetime": 200}}, "num_env_steps_sampled_lifetime is 200, and"),
    ],
)
def test_what_does_not_fit_is_said_with_both_sides(
    words: list[str], fields: dict[str, Any], says: str, tmp_path: Path
) -> None:
    assert says in said(draft_of(parent_of(tmp_path)), *words, **fields)


def test_what_to_type_mends_the_network(tmp_path: Path) -> None:
    draft = draft_of(parent_of(tmp_path))
    _, _, typed = said(draft, "ppo.net_arch=64,64").partition("type ")
    _, word = shlex.split(typed)
    assert said(draft, word) == ""


def test_another_algorithm_is_refused(tmp_path: Path) -> None:
    draft = draft_of(parent_of(tmp_path, "sac"))
    [problem] = draft.problems(RunSpec(env_id="x", algorithm="td3", total_steps=900))
    assert "is td3, and" in problem.message and "was trained by sac; type --algorithm sac" in problem.message


def test_another_normaliser_is_refused(tmp_path: Path) -> None:
    run = parent_of(tmp_path, normalize_observations=True)
    path = run.checkpoints()[-1].path / "policy.json"
    path.write_text(path.read_text().replace("10.0", "5.0"))
    assert "by clip 10 and epsilon 1e-08, and the checkpoint's by 5.0" in said(draft_of(run))


def test_the_normaliser_is_that_of_stable_baselines3() -> None:
    defaults = signature(VecNormalize).parameters
    assert (defaults["clip_obs"].default, defaults["epsilon"].default) == (CLIP, EPSILON)


def test_a_buffer_that_starts_empty_must_be_filled_within_the_budget(tmp_path: Path) -> None:
    run = parent_of(tmp_path, "sac")
    text = said(draft_of(run), "sac.learning_starts=700", total_steps=1000)
    assert "sac.learning_starts 700 leaves nothing of the 700 steps to come" in text
    assert said(draft_of(run), "sac.learning_starts=100", total_steps=1000) == ""


@pytest.mark.parametrize(
    ("first_rows", "is_kept"),
    [([], False), ([0, 40], True), ([25, 40], True), ([26, 40], False)],
)
def test_a_buffer_goes_along_while_its_rows_are_there(first_rows: list[int], is_kept: bool, tmp_path: Path) -> None:
    """300 steps of 4 copies are 75 rows, and a buffer of 200 steps holds the last 50 of them."""
    block = {"buffer_size": 200, "batch_size": 50, "net_arch": {"pi": [64, 32], "qf": [16]}, "activation": "tanh"}
    run = parent_of(tmp_path, "sac", n_envs=4, sac=block)
    (run.path / "replay").mkdir()
    for row in first_rows:
        (run.path / "replay" / f"{row:012d}.rows").touch()
    draft = draft_of(run)
    spec = draft.compose().require()
    assert draft.keeps_replay(spec) is is_kept
    assert ("is copied" if is_kept else "starts empty") in " ".join(draft.notes(spec))
    assert not draft.keeps_replay(draft.compose(n_envs=2).require())


def test_weights_alone_make_a_draft_of_their_networks(tmp_path: Path) -> None:
    run = parent_of(tmp_path / "runs", normalize_observations=True)
    alone = tmp_path / "imported" / "theirs"
    alone.parent.mkdir()
    run.checkpoints()[-1].path.rename(alone)
    (alone / "resume.pt").unlink()
    draft = fork_from(alone, run.runs_root)
    spec = draft.compose(total_steps=900).require()
    assert spec.ppo.layers == {"pi": [64, 32], "vf": [16]}
    assert (spec.normalize_observations, spec.parent) == (True, str(alone))
    assert draft.problems(spec) == []
    assert "the optimisers start fresh" in " ".join(draft.notes(spec))


def test_a_folder_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / "checkpoint_000000000100").mkdir()
    with pytest.raises(CheckpointError, match=r"has no policy\.json"):
        fork_from(tmp_path / "checkpoint_000000000100", tmp_path)
    with pytest.raises(NotFoundError):
        fork_from(tmp_path / "nothing", tmp_path)


def test_a_reference_names_the_run_beside_it_and_else_the_folder(tmp_path: Path) -> None:
    run = parent_of(tmp_path / "runs")
    path = run.checkpoints()[-1].path
    assert reference_to(path, tmp_path / "runs") == f"{run.name}:300"
    assert reference_to(path, tmp_path / "others") == str(path)
    for reference in (f"{run.name}:300", str(path)):
        assert read_parent(tmp_path / "runs", reference) == Parent(reference, run.name, path.name, 300, 3)


def test_a_child_that_has_told_nothing_is_as_far_as_its_parent(tmp_path: Path) -> None:
    run = parent_of(tmp_path)
    parent = read_parent(tmp_path, f"{run.name}:300")
    spec = draft_of(run).compose(total_steps=1200).require()
    record = {"format": 1, "spec": spec.model_dump(mode="json"), "parent": parent.to_json()}
    child = RunDirectory.create(tmp_path, "ppo", "cart_pole", files={"run.json": record})
    row = RunStore(tmp_path).summary(child)
    assert (row.steps, row.iteration, row.progress, row.start_steps) == (300, 3, 0.25, 300)
    assert row.to_json()["parent"] == f"{run.name}:300"
    with EventWriter(child.events_path) as writer:
        writer.append("metrics", steps=600, iteration=6, values={})
    assert RunStore(tmp_path).summary(child).progress == 0.5


def test_words_for_a_spec_like_another_leave_out_what_is_alike(tmp_path: Path) -> None:
    draft = draft_of(parent_of(tmp_path, checkpoint_freq=None, checkpoint_every_steps=50))
    spec = draft.compose(checkpoint_freq=5).require()
    assert (spec.checkpoint_freq, spec.checkpoint_every_steps) == (5, None)
    assert "--checkpoint-freq 5" in " ".join(command_for(spec, "cart_pole", base=draft.base()))
