"""What a run takes over from the checkpoint that it starts from: weights, statistics, optimisers, counters, replay.

Everything random follows the run's own seed, and every copy begins a new episode; a run with its parent's seed draws
on where that one was, instead of drawing the same again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.save_util import recursive_getattr
from stable_baselines3.common.vec_env import VecNormalize

from workbench.errors import CheckpointError, ProblemsError
from workbench.policies import Checkpoint, read_checkpoint
from workbench.policies.fitting import misfits
from workbench.runs import RunDirectory
from workbench.runs.forking import Fork, fork_from
from workbench.runs.references import find_checkpoint
from workbench.runs.resuming import RESUME_NAME
from workbench.specs import RunSpec, weights_in
from workbench.training import chance, replay_log
from workbench.training.circumstances import circumstances, differences
from workbench.training.learner import Learner
from workbench.training.learner_state import put_moments
from workbench.training.model import critics_differ
from workbench.training.plain import arrays, unpack
from workbench.training.resumption import RESUME_FORMAT, folded
from workbench.training.steering import read_sets
from workbench.training.words import grouped

LEARNED = ("log_ent_coef",)
"""Variables beside the networks that were learned; the others are what the spec says."""
TARGETS = {"critic_target": "critic", "actor_target": "actor"}
"""Networks that are moved after others."""
DRAWN = ("noise_seed", "noise_steps")
"""Counters that belong to what is drawn at random."""


@dataclass
class Inheritance:
    """A checkpoint that was read, for a run to start from."""

    fork: Fork
    """What it is."""
    policy: Checkpoint
    """Its weights, checked."""
    state: Mapping[str, Any] | None
    """What its `resume.pt` holds, arrays as tensors; None where there is none that can be used."""
    notes: list[str] = field(default_factory=list)
    """What was not there to be taken over, one sentence each."""

    @property
    def steps(self) -> int:
        """Steps it was trained for."""
        return self.policy.record.steps

    @property
    def iteration(self) -> int:
        """Iterations it was trained for."""
        return self.policy.record.iteration

    @property
    def episodes(self) -> int:
        """Whole episodes it was trained for, as far as that is known."""
        if self.state is not None:
            return int(self.state["trainer"]["metrics"]["episodes"])
        rows = [] if self.fork.run is None else folded(self.fork.run, self.steps)
        return max((int(row.get("episodes") or 0) for row in rows if row["kind"] == "metrics"), default=0)

    @property
    def changed(self) -> list[str]:
        """What numbers depend on besides the spec and that is not as it was there."""
        return [] if self.state is None else differences(self.state["circumstances"], circumstances())

    def prepare(self, learner: Learner) -> None:
        """Give a learner the statistics of the normaliser; before it starts, so that its first observations use them.

        Raises:
            CheckpointError: It learns from other observations or actions.
        """
        record = self.policy.record
        names = tuple(getattr(getattr(learner.venv, "env", None), "observation_names", ()))
        faults = misfits(record, learner.observation_space, learner.action_space, "this run's environment", names)
        saved = None if self.state is None else self.state["learner"]
        theirs = tuple(() if saved is None else saved.get("critic_names", ()))
        if saved is not None and theirs != learner.critic_names:
            faults.append(critics_differ(theirs, learner.critic_names))
        if faults:
            raise CheckpointError(f"{self.fork.reference} does not fit: {'; '.join(faults)}.")
        env = learner.env
        if not isinstance(env, VecNormalize):
            return
        if env.norm_obs:
            tensors = self.policy.tensors
            # Statistics that do not say over how much they were taken count as taken over every step.
            count = float(tensors.get("normalizer.count", np.float64(max(self.steps, 1))))
            mean, variance = (np.array(tensors[f"normalizer.{name}"], np.float64) for name in ("mean", "var"))
            if learner.critic_names:
                if saved is None:
                    raise CheckpointError(
                        f"{self.fork.reference} has no {RESUME_NAME} that can be used, and only there are the "
                        "statistics of what the critic sees."
                    )
                whole = arrays(saved["normalizer"]["observations"])
                mean, variance = np.asarray(whole["mean"]), np.asarray(whole["var"])
            put_moments(env.obs_rms, {"mean": mean, "var": variance, "count": count})
        statistics = None if saved is None else saved["normalizer"]
        if statistics is not None:
            put_moments(env.ret_rms, arrays(statistics["returns"]))
        elif env.norm_reward:
            self.notes.append("the statistics of rewards start fresh")

    def pass_on(self, learner: Learner, seed: int) -> None:
        """Give a learner that has started all the rest but for what it replays.

        Args:
            learner: Made from a spec that fits.
            seed: Of the run.

        Raises:
            CheckpointError: The weights are not those of such a learner.
        """
        model = learner.model
        self._load_weights(model)
        if self.state is None:
            return
        state = self.state["learner"]
        own = model.get_parameters()
        for name, saved in state["parameters"].items():
            if name != "policy" and name in own:
                recursive_getattr(model, name).load_state_dict(saved)
        variables = set(model._get_torch_save_params()[1])
        for name in variables.intersection(LEARNED, state["variables"]):
            recursive_getattr(model, name).data.copy_(state["variables"][name])
        for name in ("_episode_num", "_n_updates"):
            if name in state["counters"]:
                setattr(model, name, state["counters"][name])
        if seed == self.policy.record.seed:
            for name in DRAWN:
                if name in state["counters"]:
                    setattr(model, name, state["counters"][name])
            space: Any = model.action_space
            space.np_random.bit_generator.state = arrays(state["random_actions"])
            chance.put_back(state["chance"])

    def pass_on_replay(self, learner: Learner) -> None:
        """Fill the replay buffer with that of the checkpoint where it is still on disk; otherwise it starts empty."""
        buffer = learner.replay
        if buffer is None:
            return
        saved = None if self.state is None else self.state["replay"]
        try:
            if saved is None:
                raise ValueError("the checkpoint has none")
            folder: Path = self.fork.checkpoint.parent / replay_log.FOLDER
            learner.count_replay_from(replay_log.adopt(folder, buffer, saved))
        except (OSError, ValueError) as error:
            learner.count_replay_from(0)
            why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
            starts = learner.learning_starts
            self.notes.append(
                f"the replay buffer starts empty, {why}: {grouped(starts)} steps fill it before the first update"
            )
        else:
            self.notes.append(f"the replay buffer starts with {grouped(buffer.size() * buffer.n_envs)} steps")

    def _load_weights(self, model: BaseAlgorithm) -> None:
        own = model.policy.state_dict()
        given = {
            name: torch.as_tensor(np.array(tensor))
            for name, tensor in self.policy.tensors.items()
            if not name.startswith("normalizer.")
        }
        faults = [f"{name} is none of this run's networks" for name in given.keys() - own.keys()]
        faults += [
            f"{name} has shape {tuple(given[name].shape)}, and this run's has {tuple(own[name].shape)}"
            for name in given.keys() & own.keys()
            if given[name].shape != own[name].shape
        ]
        if faults:
            raise CheckpointError(f"{self.fork.reference} does not fit: {'; '.join(sorted(faults))}.")
        # A critic that sees more than the actor is only there.
        kept = {} if self.state is None else self.state["learner"]["parameters"]["policy"]
        for name in own.keys() - given.keys():
            if name in kept and kept[name].shape == own[name].shape:
                given[name] = kept[name]
        missing = own.keys() - given.keys()
        for name in sorted(missing):
            network, _, rest = name.partition(".")
            source = f"{TARGETS.get(network)}.{rest}"
            if source in given:
                given[name] = given[source]
        fresh = sorted({name.rpartition(".")[0] for name in own.keys() - given.keys()})
        if fresh:
            self.notes.append(f"not in the checkpoint, and so untrained: {', '.join(fresh)}")
        model.policy.load_state_dict(given, strict=False)


def read_inheritance(run: RunDirectory, spec: RunSpec) -> Inheritance:
    """Read the checkpoint that a run starts from.

    Args:
        run: The run.
        spec: What it was asked to do; it has a parent.

    Raises:
        NotFoundError: It is gone.
        CheckpointError: It is not whole.
        ProblemsError: It does not fit the run.
    """
    path = find_checkpoint(run.runs_root, str(spec.parent))
    fork, policy = fork_from(path, run.runs_root), read_checkpoint(path)
    problems = fork.problems(spec)
    if problems:
        raise ProblemsError(f"{fork.reference} does not fit this run", problems)
    try:
        state = unpack(path / RESUME_NAME)
        if state["format"] != RESUME_FORMAT:
            raise ValueError(f"{RESUME_NAME} was written in format {state['format']}, not {RESUME_FORMAT}")
    except FileNotFoundError:
        why = f"it has no {RESUME_NAME}"
    except (OSError, ValueError, LookupError, TypeError) as error:
        why = str(error)
    else:
        return Inheritance(fork, policy, state, list(_reweighted(fork, state)))
    return Inheritance(fork, policy, None, [f"the optimisers start fresh: {why}"])


def _reweighted(fork: Fork, state: Mapping[str, Any]) -> Iterator[str]:
    """Say where reward terms weighed otherwise when a checkpoint was written."""
    given = {} if fork.run is None else read_sets(fork.run, {}, state["trainer"].get("sets", 0)).begun_with
    told = [f"{term} {weight:g}" for term, weight in weights_in(given).items() if weight != 1.0]
    if told:
        yield f"the reward terms weigh 1 each again, where the checkpoint's run had {', '.join(told)}"
