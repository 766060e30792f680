"""A new run that goes on from a checkpoint: what it is like before anything is changed, and what would not fit.

Reads JSON and the head of the weights alone, so that the form of the app and the command line ask the same cheap
question and get the same answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.errors import NotFoundError, Problem
from workbench.runs.changes import joined, laid_over
from workbench.runs.directory import CheckpointDirectory, RunDirectory
from workbench.runs.events import EventTail
from workbench.runs.lineage import read_policy, reference_to, run_of, start_of
from workbench.runs.resuming import RESUME_NAME, differing
from workbench.specs import ALGORITHM_SPECS, Composed, Recipe, RunSpec, command_for, compose, override_rows, show
from workbench.specs.recipes import layer, merged_for

OWN_FIELDS = ("env_id", "algorithm", "seed", "tags", "group", "parent", "profile", "video_on_checkpoint")
"""Fields of a run that one which goes on from it does not take over: they belong to the launch."""

CLIP, EPSILON = 10.0, 1e-8
"""How observations are normalised here: the defaults of Stable-Baselines3's `VecNormalize`."""

ONCE = ("log_std_init", "ortho_init")
"""Fields of an algorithm that only say how untrained weights begin."""

_LAYERS = {"ppo": "mlp_extractor.value_net", "sac": "critic.qf0", "td3": "critic.qf0"}
"""What the critic's weights are called."""
_LARGEST_HEAD = 2**20


@dataclass(frozen=True)
class Fork:
    """What a run starts with that goes on from a checkpoint."""

    checkpoint: Path
    """The folder of the checkpoint."""
    reference: str
    """What the new run's spec calls it; see `reference_to`."""
    run: RunDirectory | None
    """The run that wrote it; None where its folder is in none."""
    policy: Mapping[str, Any]
    """Its `policy.json`."""
    data: Mapping[str, Any] | None
    """The fields of that run's spec as they were at the checkpoint, without `OWN_FIELDS`; None where there is none."""

    @property
    def algorithm(self) -> str:
        """What trained it, lower case."""
        return str(self.policy.get("algorithm") or "")

    @property
    def environment(self) -> Mapping[str, Any]:
        """Where its environment comes from, as plain data."""
        told = self.policy.get("environment")
        return told if isinstance(told, Mapping) else {}

    @property
    def env_id(self) -> str:
        """Gymnasium ID of its environment."""
        return str(self.environment.get("env_id") or "")

    @property
    def env_name(self) -> str:
        """Short name of its environment."""
        return str(self.environment.get("name") or self.env_id)

    @property
    def steps(self) -> int:
        """Steps it was trained for; the new run counts on from there."""
        return int(self.policy.get("steps") or 0)

    @property
    def iteration(self) -> int:
        """Iterations it was trained for; the new run counts on from there."""
        return int(self.policy.get("iteration") or 0)

    @property
    def is_resumable(self) -> bool:
        """Whether optimisers are kept with the weights."""
        return (self.checkpoint / RESUME_NAME).is_file()

    @cached_property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The shape of every tensor among its weights, by name; empty where they cannot be read."""
        return _shapes(self.checkpoint / "policy.safetensors")

    @property
    def network(self) -> dict[str, tuple[int, ...]]:
        """Hidden widths of its networks by head: `pi`, and `vf` or `qf` where the critic is kept too."""
        told = self.policy.get("network")
        trunk = told.get("trunk") or () if isinstance(told, Mapping) else ()
        found = {"pi": tuple(self.shapes.get(str(names[0]), (0,))[0] for names in trunk)}
        prefix = _LAYERS.get(self.algorithm, "")
        layers = _widths(self.shapes, prefix)
        if self.algorithm == "ppo":
            return found | ({"vf": layers} if "value_net.weight" in self.shapes else {})
        return found | ({"qf": layers[:-1]} if layers else {})

    def base(self, recipe: Recipe | None = None) -> dict[str, Any]:
        """Return the fields of a run that goes on from here unchanged.

        Args:
            recipe: Of its environment; what a checkpoint without a run is trained on with.
        """
        if self.data is not None:
            return dict(self.data)
        algorithm = self.algorithm if self.algorithm in ALGORITHM_SPECS else "ppo"
        data: dict[str, Any] = {} if recipe is None else merged_for(recipe.data, algorithm)
        told = self.policy.get("network")
        activation = told.get("activation") if isinstance(told, Mapping) else None
        block = {"net_arch": {head: list(widths) for head, widths in self._both().items()}, "activation": activation}
        layer(data, {algorithm: block, "normalize_observations": self.policy.get("normalizer") is not None})
        return data

    def compose(self, overrides: Sequence[str] = (), *, recipe: Recipe | None = None, **fields: Any) -> Composed:
        """Return the run that goes on from here with some fields changed; see `workbench.specs.compose`."""
        return compose(
            self.env_id,
            algorithm=self.algorithm,
            base=self.base(recipe),
            overrides=overrides,
            **{**fields, "parent": self.reference},
        )

    def command(
        self, spec: RunSpec | None = None, *, recipe: Recipe | None = None, seeds: Sequence[int] = ()
    ) -> list[str]:
        """Return the `workbench train …` words that ask for a run that goes on from here.

        Args:
            spec: That run; unchanged by default.
            recipe: Of its environment.
            seeds: Seeds of a group of runs.
        """
        if spec is None:
            return ["workbench", "train", self.env_name, "--algorithm", self.algorithm, "--from", self.reference]
        return command_for(spec, self.env_name, base=self.base(recipe), seeds=seeds)

    def problems(self, spec: RunSpec) -> list[Problem]:
        """Return what of a run does not fit the checkpoint, both sides named; its environment is not looked at."""
        if spec.algorithm != self.algorithm:
            message = f"is {spec.algorithm}, and {self.reference} was trained by {self.algorithm}"
            return [Problem("algorithm", f"{message}; type --algorithm {self.algorithm}")]
        return [*self._wrong_network(spec), *self._wrong_normaliser(spec), *self._spent_budget(spec)]

    def notes(self, spec: RunSpec) -> list[str]:
        """Return what a person should know of a run that goes on from here and that fits."""
        notes = []
        if not self.is_resumable:
            notes.append(f"{self.checkpoint.name} has no {RESUME_NAME}: the optimisers start fresh")
        if spec.algorithm != "ppo":
            notes.append(self._replay_note(spec))
        if self.data is not None:
            before = self.data.get(spec.algorithm)
            block = spec.hyperparameters.model_dump(mode="json")
            notes += [
                f"{spec.algorithm}.{name} does nothing here: the weights are those of the checkpoint"
                for name in ONCE
                if name in block and isinstance(before, Mapping) and before.get(name) != block[name]
            ]
        if self.run is not None:
            notes += differing(self.run.record())
        return notes

    def keeps_replay(self, spec: RunSpec) -> bool:
        """Return whether the replay buffer of the checkpoint is still on disk, and fits the run."""
        theirs = (self.data or {}).get(spec.algorithm)
        copies = (self.data or {}).get("n_envs")
        if self.run is None or spec.algorithm == "ppo" or not isinstance(theirs, Mapping) or not self.is_resumable:
            return False
        block = spec.hyperparameters.model_dump(mode="json")
        if copies != spec.n_envs or theirs.get("n_steps") != block["n_steps"]:
            return False
        rows = self._replay_rows(int(copies))
        first = max(0, rows - max(int(theirs.get("buffer_size") or 0) // int(copies), 1))
        segments = [int(path.stem) for path in (self.run.path / "replay").glob("*.rows") if path.stem.isdigit()]
        return rows > 0 and any(start <= first for start in segments)

    def _both(self) -> dict[str, tuple[int, ...]]:
        """Return the widths of both heads, a critic that was not kept like the actor."""
        other = "vf" if self.algorithm == "ppo" else "qf"
        found = self.network
        return {"pi": found["pi"], other: found.get(other, found["pi"])}

    def _wrong_network(self, spec: RunSpec) -> Iterator[Problem]:
        block, algorithm = spec.hyperparameters, spec.algorithm
        mine = {head: tuple(widths) for head, widths in block.layers.items()}
        theirs = self.network
        if self.shapes and any(mine[head] != widths for head, widths in theirs.items()):
            render = override_rows()[f"{algorithm}.net_arch"].render
            both = self._both()
            wanted: Any = (
                both["pi"] if len(set(both.values())) == 1 else {head: list(each) for head, each in both.items()}
            )
            message = f"is {_in_words(mine)}, and the checkpoint's networks are {_in_words(theirs)}"
            yield Problem(f"{algorithm}.net_arch", f"{message}; type --set '{algorithm}.net_arch={render(wanted)}'")
        told = self.policy.get("network")
        told = told if isinstance(told, Mapping) else {}
        activation = told.get("activation")
        if activation and any(theirs.values()) and activation != block.activation:
            message = f"is {block.activation}, and the checkpoint's is {activation}"
            yield Problem(f"{algorithm}.activation", f"{message}; type --set {algorithm}.activation={activation}")
        uses_sde, used_sde = getattr(block, "use_sde", False), told.get("noise") == "state_dependent"
        if uses_sde != used_sde:
            message = f"is {show(uses_sde)}, and the checkpoint's exploration is {told.get('noise')}"
            yield Problem(f"{algorithm}.use_sde", f"{message}; type --set {algorithm}.use_sde={show(used_sde)}")

    def _wrong_normaliser(self, spec: RunSpec) -> Iterator[Problem]:
        told = self.policy.get("normalizer")
        was_normalised = isinstance(told, Mapping)
        if spec.normalize_observations != was_normalised:
            theirs = "normalised" if was_normalised else "as they are"
            message = f"is {show(spec.normalize_observations)}, and the checkpoint reads observations {theirs}"
            yield Problem(
                "normalize_observations", f"{message}; type --set normalize_observations={show(was_normalised)}"
            )
        elif isinstance(told, Mapping) and (told.get("clip"), told.get("epsilon")) != (CLIP, EPSILON):
            message = f"is by clip {CLIP:g} and epsilon {EPSILON:g}, and the checkpoint's by {told.get('clip')} and"
            yield Problem("normalize_observations", f"{message} {told.get('epsilon')}: this one cannot be trained on")
        theirs_rewards = (self.data or {}).get("normalize_rewards")
        if theirs_rewards is not None and spec.normalize_rewards != theirs_rewards:
            learnt = "normalised" if theirs_rewards else "as they are"
            message = f"is {show(spec.normalize_rewards)}, and the checkpoint's critic learned rewards {learnt}"
            yield Problem("normalize_rewards", f"{message}; type --set normalize_rewards={show(theirs_rewards)}")

    def _spent_budget(self, spec: RunSpec) -> Iterator[Problem]:
        stop = spec.stop_criteria
        for key, limit, done, what, words in (
            ("total_steps", spec.total_steps, self.steps, "steps", "--max-steps"),
            ("num_env_steps_sampled_lifetime", stop.num_env_steps_sampled_lifetime, self.steps, "steps", ""),
            ("training_iteration", stop.training_iteration, self.iteration, "iterations", "--max-iterations"),
        ):
            if limit and done >= limit:
                key = key if key == "total_steps" else f"stop_criteria.{key}"
                message = f"is {show(limit)}, and the checkpoint has {show(done)} {what} already, which count"
                yield Problem(key, f"{message}; type {words or f'--set {key}'}{' ' if words else '='}N, more than that")
                return
        budget = spec.step_budget
        if spec.algorithm == "ppo" or not budget or self.keeps_replay(spec):
            return
        starts: int = spec.hyperparameters.learning_starts  # type: ignore[union-attr]
        if self.steps + starts >= budget > starts:
            message = f"{show(starts)} leaves nothing of the {show(budget - self.steps)} steps to come: the replay"
            message += " buffer starts empty, and is filled by so many first. Lower it or raise total steps"
            yield Problem(f"{spec.algorithm}.learning_starts", message)

    def _replay_note(self, spec: RunSpec) -> str:
        if self.keeps_replay(spec):
            return "the replay buffer of the checkpoint is copied"
        starts = spec.hyperparameters.learning_starts  # type: ignore[union-attr]
        return f"the replay buffer starts empty: {show(starts)} steps of the policy fill it before the first update"

    def _replay_rows(self, copies: int) -> int:
        """Return how many vector steps the buffer had seen at the checkpoint."""
        assert self.run is not None
        start, rows = start_of(self.run.record())[0], 0
        for event in EventTail(self.run.events_path).poll():
            if event["kind"] == "forked":
                rows = int(event.get("replay_rows") or 0)
        return rows + (self.steps - start) // max(copies, 1)


def fork_from(checkpoint: Path, runs_root: Path) -> Fork:
    """Return what a run starts with that goes on from a checkpoint.

    Args:
        checkpoint: Its folder.
        runs_root: Where the new run will be.

    Raises:
        NotFoundError: There is no such folder.
        CheckpointError: It is no checkpoint.
    """
    checkpoint = checkpoint.expanduser().resolve()
    if not checkpoint.exists():
        raise NotFoundError(f"there is no checkpoint {checkpoint}.")
    policy = read_policy(checkpoint)
    run = run_of(checkpoint)
    reference = reference_to(checkpoint, runs_root)
    return Fork(checkpoint, reference, run, policy, None if run is None else _fields(run, checkpoint))


def _fields(run: RunDirectory, checkpoint: Path) -> dict[str, Any] | None:
    """Return the fields of a run's spec as they were when a checkpoint was written."""
    spec = run.record().get("spec")
    if not isinstance(spec, Mapping):
        return None
    known = CheckpointDirectory.at(checkpoint)
    changes: dict[str, Any] = {}
    for event in EventTail(run.events_path).poll():
        values = event.get("values")
        is_earlier = known is None or int(event.get("steps") or 0) <= known.steps
        if event["kind"] == "set" and isinstance(values, Mapping) and is_earlier:
            changes = joined(changes, values)
    return {name: value for name, value in laid_over(spec, changes).items() if name not in OWN_FIELDS}


def _shapes(path: Path) -> dict[str, tuple[int, ...]]:
    # A file of safetensors begins with the length of a JSON object that names its tensors.
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            head = json.loads(file.read(min(length, _LARGEST_HEAD)))
        return {name: tuple(each["shape"]) for name, each in head.items() if name != "__metadata__"}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def _widths(shapes: Mapping[str, tuple[int, ...]], prefix: str) -> tuple[int, ...]:
    """Return the outputs of the layers of a sequence, in order."""
    layers = [(int(match[1]), shape[0]) for name, shape in shapes.items()
              if (match := re.fullmatch(rf"{re.escape(prefix)}\.(\d+)\.weight", name))]  # fmt: skip
    return tuple(width for _, width in sorted(layers))


def _in_words(network: Mapping[str, tuple[int, ...]]) -> str:
    heads = [f"{head} {'×'.join(map(str, widths)) or 'none'}" for head, widths in network.items()]
    return ", ".join(heads)
