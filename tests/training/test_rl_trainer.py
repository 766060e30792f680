"""The life of a policy in Python: train, save, load, evaluate, export, close."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import workbench
from tests.training.conftest import TINY
from workbench.errors import NotFoundError, RequestError, WorkbenchError, WorkFailedError
from workbench.policies import read_checkpoint, read_record
from workbench.project import Project
from workbench.runs import RunDirectory
from workbench.runs.directory import run_directories

SMALL = {
    "n_envs": 4,
    "ppo.n_steps": 25,
    "ppo.batch_size": 50,
    "ppo.n_epochs": 2,
    "ppo.net_arch": (8,),
    "eval_episodes": 2,
}
SMALL_SAC = {f"sac.{name}": value for name, value in TINY["sac"]["sac"].items()} | {"n_envs": 4, "eval_episodes": 2}


def make(project: Project, algorithm: str = "PPO", **keywords: Any) -> workbench.RLTrainer:
    settings = SMALL if algorithm.lower() == "ppo" else SMALL_SAC
    return workbench.RLTrainer(
        "cart_pole", algorithm, **{"seed": 1, "settings": settings, "project": project, **keywords}
    )


@pytest.fixture
def trainer(project: Project) -> Iterator[workbench.RLTrainer]:
    with make(project) as made:
        yield made


def test_a_policy_is_trained_saved_loaded_and_exported(project: Project, tmp_path: Path) -> None:
    with make(project, log_dir=tmp_path / "logs") as trainer:
        stats = trainer.train(max_iterations=2, checkpoint_every=1, keep_last=1)
        assert (stats["iterations"], stats["steps"], stats["state"]) == (2, 200, "finished")
        assert stats["best_reward"] > 0
        run = RunDirectory(stats["run"])
        assert run.runs_root == tmp_path / "logs"
        assert [item.steps for item in run.checkpoints()][-1] == 200
        saved = trainer.save(tmp_path / "deep" / "policy")
        script = trainer.export_policy(tmp_path / "scripts" / "policy.pt")
    assert read_checkpoint(saved).record.steps == 200

    rows = np.random.default_rng(0).normal(size=(50, 4))
    with make(project) as other:
        other.load(saved)
        assert other.iterations == 2
        wanted = other.policy().act(rows)
        scores = other.evaluate(num_episodes=3)
        assert len(scores.returns) == 3
        program = other.export("onnx", tmp_path / "onnx").program
    assert program.name == "policy.onnx"
    with pytest.warns(DeprecationWarning, match="torch.jit.load"):
        module = torch.jit.load(str(script))
    np.testing.assert_allclose(module(torch.as_tensor(rows)).numpy(), wanted, atol=1e-5)


@pytest.mark.parametrize("algorithm", ["ppo", "SAC"])
def test_iterations_are_counted_in_all(algorithm: str, project: Project, tmp_path: Path) -> None:
    with make(project, algorithm) as trainer:
        first = trainer.train(max_iterations=1)
        second = trainer.train(max_iterations=3)
        assert second["iterations"] == trainer.iterations == 3
        assert second["steps"] == 3 * first["steps"]
        with pytest.raises(ValueError, match="3 iterations already"):
            trainer.train(max_iterations=3)
        saved = trainer.save(tmp_path / "saved")
    with make(project, algorithm) as trainer:
        trainer.load(saved)
        assert trainer.train(max_iterations=4)["iterations"] == 4


def test_what_goes_on_from_a_checkpoint_has_its_weights(trainer: workbench.RLTrainer) -> None:
    trainer.train(max_iterations=1)
    before = read_checkpoint(trainer.checkpoint).tensors
    weights = [name for name in before if not name.startswith("normalizer.")]
    trainer.train(max_iterations=2)
    start = read_checkpoint(trainer.result.run.checkpoints()[0].path)
    assert start.record.iteration == 1
    assert all((start.tensors[name] == before[name]).all() for name in weights)


def test_without_a_folder_nothing_stays(project: Project) -> None:
    with make(project) as trainer:
        run = trainer.train(max_iterations=1)["run"]
        assert run.is_dir()
    assert not run.exists()
    assert not project.runs.exists()


def test_a_folder_of_runs_lists_it(project: Project) -> None:
    with make(project, log_dir=project.runs) as trainer:
        trainer.train(max_iterations=1)
    [run] = run_directories(project.runs)
    assert (run.short_name, run.spec().seed) == ("cart_pole", 1)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"checkpoint_every": 5}, "checkpoint_every"),
        ({"keep_last": 2}, "keep_last"),
        ({"max_iterations": 0}, "max_iterations"),
        ({"max_iterations": 1.5}, "max_iterations"),
        ({"max_iterations": True}, "max_iterations"),
        ({"checkpoint_every": -1, "checkpoint_dir": "here"}, "checkpoint_every"),
        ({"keep_last": 2.0, "checkpoint_dir": "here"}, "keep_last"),
        ({"total_steps": -5}, "total_steps"),
    ],
)
def test_wrong_arguments_are_value_errors(arguments: Any, named: str, trainer: workbench.RLTrainer) -> None:
    with pytest.raises(ValueError, match=named) as caught:
        trainer.train(**{"max_iterations": 1, **arguments})
    assert isinstance(caught.value, WorkbenchError)


def test_wrong_settings_are_all_told(project: Project) -> None:
    with make(project, settings={"ppo.gamma": 1.5, "n_envs": 0}) as trainer, pytest.raises(ValueError) as caught:
        trainer.train(max_iterations=1)
    assert "ppo.gamma" in str(caught.value)
    assert "n_envs" in str(caught.value)
    with pytest.raises(ValueError, match="argument"):
        make(project, settings={"algorithm": "sac"})


def test_settings_of_one_block_may_be_given_together_and_by_key(project: Project) -> None:
    block = {"gamma": 0.9}
    settings = {"ppo": block, "ppo.gamma": 1.5, "ppo.n_steps": 0}
    with make(project, settings=settings) as trainer, pytest.raises(ValueError) as caught:
        trainer.train(1)
    assert "ppo.gamma" in str(caught.value) and "ppo.n_steps" in str(caught.value)
    assert block == {"gamma": 0.9}
    with pytest.raises(ValueError, match=r"ppo\.gamma is given twice"):
        make(project, settings={"ppo": 3, "ppo.gamma": 0.9})


def test_an_algorithm_that_is_not_there(project: Project) -> None:
    with pytest.raises(ValueError, match="DQN is not supported") as caught:
        make(project, "DQN", settings={})
    assert isinstance(caught.value, WorkbenchError)
    with pytest.raises(NotFoundError):
        workbench.RLTrainer("cart_poel", project=project)


def test_nothing_is_there_before_training_or_after_closing(trainer: workbench.RLTrainer, tmp_path: Path) -> None:
    acts = (
        lambda: trainer.export_policy(tmp_path / "policy.pt"),
        lambda: trainer.export("onnx", tmp_path / "out"),
        lambda: trainer.save(tmp_path / "saved"),
        lambda: trainer.evaluate(num_episodes=1),
        trainer.policy,
    )
    for act in acts:
        with pytest.raises(RuntimeError, match=r"train\(\) or load\(\)"):
            act()
    trainer.close()
    trainer.close()
    for act in (*acts, lambda: trainer.train(max_iterations=1), lambda: trainer.load(tmp_path)):
        with pytest.raises(RuntimeError, match="closed"):
            act()
    assert list(tmp_path.glob("*.pt")) == []


def test_loading_what_is_not_there_or_does_not_fit(project: Project, tmp_path: Path) -> None:
    with make(project) as trainer:
        with pytest.raises(FileNotFoundError):
            trainer.load(tmp_path / "nowhere")
        trainer.train(max_iterations=1)
        saved = trainer.save(tmp_path / "saved")
        with pytest.raises(ValueError, match="num_episodes"):
            trainer.evaluate(num_episodes=0)
    with make(project, "sac") as other, pytest.raises(ValueError, match="PPO made it"):
        other.load(saved)
    with workbench.RLTrainer("half_cheetah", project=project) as other, pytest.raises(ValueError, match="CartPole"):
        other.load(saved)
    (saved / "policy.safetensors").write_bytes(b"torn")
    with make(project) as other, pytest.raises(ValueError, match="SHA-256"):
        other.load(saved)


def test_saving_replaces_a_checkpoint_and_nothing_else(trainer: workbench.RLTrainer, tmp_path: Path) -> None:
    trainer.train(max_iterations=1)
    trainer.save(tmp_path / "saved")
    trainer.train(max_iterations=2)
    assert read_record(trainer.save(tmp_path / "saved")).iteration == 2
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    with pytest.raises(RequestError, match="no checkpoint"):
        trainer.save(tmp_path / "mine")
    assert [item.name for item in tmp_path.iterdir() if item.name.startswith(".")] == []


def test_a_training_that_fails_is_an_error_and_leaves_its_run(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Any) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("workbench.training.learner.Learner.iterate", broken)
    with make(project, log_dir=project.runs) as trainer:
        with pytest.raises(WorkFailedError, match="division by zero"):
            trainer.train(max_iterations=1)
        assert trainer.iterations == 0
        assert trainer.checkpoint.is_dir()
