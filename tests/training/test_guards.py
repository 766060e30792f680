"""What ends a run that cannot go on, and what is then known of it."""

from __future__ import annotations

import errno
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.training.conftest import CART_POLE, events, make_run, metrics, tiny_spec, train_here
from tests.training.fast.learners import parameters
from workbench.policies import read_checkpoint
from workbench.runs import EventWriter, RunState, observe
from workbench.simulation import EnvSource, make_sb3
from workbench.training import keeper
from workbench.training.anomalies import AnomalyError
from workbench.training.fast.batch import Batch
from workbench.training.fast.flat import FlatParameters
from workbench.training.fast.perceptron import Pass
from workbench.training.fast.rollout import Rollout
from workbench.training.learner import Learner
from workbench.training.log import RunLog
from workbench.training.words import in_one_sentence

FRAIL = '''
from dataclasses import dataclass

import numpy as np
from workbench.simulation import BatchEnv, BatchEnvConfig

MODEL = """<mujoco><worldbody><body><joint name="j" type="slide"/><geom size="1"/></body></worldbody>
<actuator><motor joint="j" ctrlrange="-1 1"/></actuator></mujoco>"""


@dataclass(frozen=True)
class FrailEnvConfig(BatchEnvConfig):
    fails: str = ""


class FrailEnv(BatchEnv[FrailEnvConfig]):
    def load(self):
        import mujoco

        return mujoco.MjModel.from_xml_string(MODEL)

    def initial_state(self, noise):
        speed = 1e11 if self.config.fails == "speed" else 1.0
        return noise.uniform(-1, 1, 1), speed + noise.uniform(-1, 1, 1)

    def bad(self, what):
        late = self.config.fails == what and (self.lengths > 30) & (np.arange(self.n_envs) == 2)
        return np.where(late, np.nan, 0.0) * np.ones(self.n_envs)

    def observe(self):
        return self.bad("observation")[:, None]

    def name_observations(self):
        return ["height"]

    def reward_terms(self, actions):
        return {"still": np.ones(self.n_envs), "lift": self.bad("reward")}
'''


def frail(folder: Path, fails: str) -> EnvSource:
    module = folder / "frail_env.py"
    module.write_text(FRAIL)
    return EnvSource("workbench/Frail-v0", "frail", str(module), "FrailEnv", {"episode_steps": 60, "fails": fails})


@pytest.mark.parametrize(
    ("fails", "term", "kind"),
    [
        ("reward", "the reward term lift", "non_finite_reward"),
        ("observation", "the observation height", "observation_explosion"),
    ],
)
def test_a_number_of_the_environment_is_named_with_its_copy_and_step(
    fails: str, term: str, kind: str, tmp_path: Path
) -> None:
    source = frail(tmp_path, fails)
    result = train_here(make_run(tmp_path / "runs", "ppo", source, checkpoint_freq=1, eval_every=0))
    assert result.state is RunState.FAILED
    assert result.reason == f"frail, copy 2, step 31: {term} is nan; the last checkpoint is checkpoint_000000000100"
    [anomaly] = events(result.run, "anomaly")
    assert {name: anomaly[name] for name in ("what", "environment", "copy", "step", "term")} == {
        "what": kind,
        "environment": "frail",
        "copy": 2,
        "step": 31,
        "term": term,
    }
    assert result.latest is not None
    assert all(np.isfinite(tensor).all() for tensor in read_checkpoint(result.latest).tensors.values())


def test_warnings_of_the_simulator_are_counted_and_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = frail(tmp_path, "speed")
    result = train_here(make_run(tmp_path / "runs", "ppo", source, total_steps=600, eval_every=0))
    assert result.state is RunState.FINISHED
    # Four copies begin two episodes each while they are stepped, 150 times, and warn once in each.
    counted = [row["warnings/badqvel"] for row in metrics(result.run) if "warnings/badqvel" in row]
    assert sum(counted) == 8
    assert result.run.log_path.read_text().count("value in QVEL") == 1
    assert not list(tmp_path.rglob("MUJOCO_LOG.TXT"))


def test_a_gradient_that_is_not_finite_is_found_before_it_is_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tiny_spec("ppo")
    made = Learner(spec, make_sb3(CART_POLE, spec.n_envs, 3, 1), seed=3)
    made.start([])
    finish = Rollout.finish

    def poison(self: Any, *args: Any) -> None:
        finish(self, *args)
        self._buffer.returns[7, 1] = math.nan

    monkeypatch.setattr(Rollout, "finish", poison)
    with pytest.raises(AnomalyError, match=r"the gradients mlp_extractor\.value_net\.0\.weight and 3 more") as caught:
        made.iterate()
    assert caught.value.where == {"layer": "mlp_extractor.value_net.0.weight"}
    assert all(torch.isfinite(parameter).all() for parameter in made.model.policy.parameters())
    made.close()


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
@pytest.mark.parametrize(
    ("broken", "layer"), [("rewards", r"critic\.qf0\.0\.weight"), ("action gradient", r"actor\.\w+\.0\.weight")]
)
def test_the_first_gradient_from_replay_that_is_not_finite_is_not_learnt(
    algorithm: str, broken: str, layer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tiny_spec(algorithm)
    made = Learner(spec, make_sb3(CART_POLE, spec.n_envs, 3, 1), seed=3)
    made.start([])
    draw, descend = Batch.draw, Pass.backward_to_inputs
    updates = []

    def poison_draw(self: Any, *args: Any) -> None:
        draw(self, *args)
        updates.append(parameters(made.model))
        if len(updates) == 8 and broken == "rewards":
            self.rewards[3] = math.nan

    def poison_gradient(self: Any) -> Any:
        gradient = descend(self)
        if len(updates) == 8 and broken == "action gradient":
            gradient[0, 3, 0] = math.inf
        return gradient

    monkeypatch.setattr(Batch, "draw", poison_draw)
    monkeypatch.setattr(Pass, "backward_to_inputs", poison_gradient)
    # Learning begins after a hundred steps and the eighth update follows four steps each of four copies later.
    with pytest.raises(AnomalyError, match=rf"the gradients {layer} and .* after 132 steps") as caught:
        made.iterate()
    assert re.fullmatch(layer, caught.value.where["layer"])
    assert len(updates) == 8
    assert torch.isfinite(parameters(made.model)).all()
    # What came before the update was learnt, and of the update what was done before the gradient was.
    assert not torch.equal(updates[7], updates[6])
    made.close()


def test_gradients_that_are_large_are_still_finite() -> None:
    parameter = torch.nn.Parameter(torch.zeros(3))
    flat = FlatParameters([parameter], torch.optim.Adam([parameter]))
    flat.grads.fill_(1e30)
    flat.require_finite("it")
    flat.grads[1] = math.nan
    with pytest.raises(FloatingPointError, match="a gradient of it is not finite"):
        flat.require_finite("it")


def full_disk(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device", "/somewhere/policy.safetensors")


def test_a_full_disk_ends_the_run_with_its_last_checkpoint_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path, "ppo", checkpoint_freq=1, eval_every=0)
    write, count = keeper.write_checkpoint, iter(range(10))
    monkeypatch.setattr(
        keeper, "write_checkpoint", lambda *args, **rest: (write if next(count) < 2 else full_disk)(*args, **rest)
    )
    result = train_here(run)
    assert result.state is RunState.FAILED is observe(run).state
    assert result.reason == (
        "the disk is full: /somewhere/policy.safetensors; the last checkpoint is checkpoint_000000000100"
    )


def test_a_disk_too_full_for_the_event_stream_still_leaves_the_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(tmp_path, "ppo", checkpoint_freq=1, eval_every=0)
    append = EventWriter.append

    def fail_late(self: EventWriter, kind: str, **fields: Any) -> Any:
        return full_disk() if self._steps >= 200 else append(self, kind, **fields)

    monkeypatch.setattr(EventWriter, "append", fail_late)
    assert train_here(run).state is RunState.FAILED is observe(run).state
    assert "the disk is full" in observe(run).reason


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_log_that_cannot_be_written_is_done_without() -> None:
    with RunLog(Path("/dev/full")) as log:
        log.say("nobody hears this")
        log.trace(ValueError("nor this"))


def test_running_out_of_memory_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def iterate(self: Learner) -> None:
        np.empty(2**50)

    monkeypatch.setattr(Learner, "iterate", iterate)
    result = train_here(make_run(tmp_path, "ppo", eval_every=0))
    assert result.state is RunState.FAILED
    assert result.reason.startswith("there is not enough memory: Unable to allocate")
    assert result.reason.endswith("the last checkpoint is checkpoint_000000000000")


def test_a_buffer_that_no_memory_holds_ends_the_run(tmp_path: Path) -> None:
    block = {"buffer_size": 2**45, "net_arch": (8,)}
    result = train_here(make_run(tmp_path, "sac", sac=block, eval_every=0))
    assert result.state is RunState.FAILED and "there is not enough memory" in result.reason


def test_torch_says_in_words_alone_that_memory_is_short() -> None:
    try:
        torch.empty(2**50)
    except RuntimeError as error:
        assert in_one_sentence(error).startswith("there is not enough memory")
    assert in_one_sentence(MemoryError()) == "there is not enough memory"
    assert in_one_sentence(RuntimeError("odd")) == "RuntimeError: odd"
