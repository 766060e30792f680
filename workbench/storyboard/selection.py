"""Which checkpoints of which runs a montage shows, and what is known of each: steps, iteration, evaluation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench import durable
from workbench.errors import NotFoundError, RequestError
from workbench.runs import CheckpointDirectory, RunDirectory
from workbench.storyboard.checkpoint_films import LABELS_NAME
from workbench.storyboard.sampling import Schedule, sample
from workbench.storyboard.trial_labels import is_of_rllib, read_label

DEFAULT_SEED = 10_000
"""The seed of the filmed episode where the run does not say which one its evaluations use."""


@dataclass(frozen=True)
class FilmedRun:
    """One run, as far as a montage shows it."""

    directory: RunDirectory
    env_id: str
    """The environment's ID."""
    environment: str
    """Its short name."""
    eval_seed: int
    """The seed of the run's own evaluations."""
    seed: int | None = None
    """The seed it was trained with; None where nothing tells."""
    algorithm: str = ""
    """Upper case; nothing where the folder of another tool does not tell."""
    label: str = ""
    """Its last four digits; nothing where its name is all that it has."""

    @property
    def words(self) -> tuple[str, ...]:
        """Algorithm and run, as far as they are known."""
        return tuple(word for word in (self.algorithm, self.label) if word)

    @property
    def title(self) -> str:
        """Environment, algorithm and run in a few words."""
        return "  ·  ".join([self.environment, *self.words])


def run_names(runs: Iterable[FilmedRun]) -> dict[FilmedRun, str]:
    """Return what tells each run from the others, its training seed if that does; nothing for one alone."""
    each = list(dict.fromkeys(runs))
    if len(each) == 1:
        return {each[0]: ""}
    kinds = [(run.environment, run.algorithm) for run in each]
    seeds = [(kind, run.seed) for kind, run in zip(kinds, each, strict=True)]
    by_seed = len(set(seeds)) == len(each) and None not in {run.seed for run in each}
    parts = {run: (*kind, f"seed {run.seed}" if by_seed else run.label) for run, kind in zip(each, kinds, strict=True)}
    differ = [len(set(values)) > 1 for values in zip(*parts.values(), strict=True)]
    return {run: " ".join(part for part, told in zip(parts[run], differ, strict=True) if told) for run in each}


@dataclass(frozen=True)
class Shown:
    """One checkpoint chosen for a montage."""

    run: FilmedRun
    path: Path
    steps: int
    iteration: int | None = None
    evaluation_mean: float | None = None
    """Mean return of its last evaluation."""
    note: str = ""
    """What was wrong with what is known of it."""


@dataclass(frozen=True)
class Choice:
    """How checkpoints are chosen from each run."""

    wanted: int = 6
    schedule: Schedule = "linear"
    base: float = 2.0
    only: tuple[str, ...] = ()
    """Step counts, `best` or `latest`: these and no others."""
    swaps: tuple[tuple[int, str], ...] = ()
    """Places, counted from one, whose sampled checkpoint is another."""


def describe_run(directory: RunDirectory) -> FilmedRun:
    """Return what a montage says about a run; a run without a readable `run.json` goes by its folder's name."""
    record = directory.record()
    spec = _mapping(record.get("spec"))
    env_id, seed = spec.get("env_id"), spec.get("eval_seed")
    trained = spec.get("seed")
    # A folder of another tool stands anywhere, so what is above it is no algorithm.
    is_ours = directory.stamp != "" or directory.is_run()
    return FilmedRun(
        directory=directory,
        env_id=env_id if isinstance(env_id, str) else directory.short_name,
        environment=directory.short_name,
        eval_seed=seed if isinstance(seed, int) and not isinstance(seed, bool) else DEFAULT_SEED,
        seed=trained if isinstance(trained, int) and not isinstance(trained, bool) else None,
        algorithm=directory.algorithm.upper() if is_ours else "",
        label=directory.short_id if is_ours else "",
    )


def choose(run: FilmedRun, choice: Choice) -> list[Shown]:
    """Return the checkpoints of one run that are shown, fewest steps first where they are sampled.

    Raises:
        NotFoundError: The run has no checkpoint, or not the one asked for; says which there are.
        RequestError: A count, base or place that makes no sense.
    """
    there = run.directory.checkpoints()
    if not there:
        raise NotFoundError(
            f"{run.directory.name} has no checkpoint yet.",
            hint="A run writes the first one as it starts: wait for it, or look at its log.",
        )
    if choice.only:
        chosen = [find_checkpoint(run.directory, there, text) for text in choice.only]
        chosen = sorted(dict.fromkeys(chosen), key=lambda item: item.steps)
    else:
        places = sample(len(there), choice.wanted, schedule=choice.schedule, base=choice.base)
        chosen = [there[place] for place in places]
        for place, text in choice.swaps:
            if not 1 <= place <= len(chosen):
                raise RequestError(f"--checkpoint {place}={text}: there are only {len(chosen)} clips.")
            chosen[place - 1] = find_checkpoint(run.directory, there, text)
    return _show(run, chosen)


def pick(run: FilmedRun, checkpoints: Sequence[Path]) -> list[Shown]:
    """Return checkpoints of one run by their folders, in that order, whether they are still there or not.

    Raises:
        RequestError: A folder is not named like a checkpoint.
    """
    chosen = []
    for path in checkpoints:
        digits = path.name.removeprefix("checkpoint_")
        if not digits.isdecimal() or digits == path.name:
            raise RequestError(f"{path} is no checkpoint.")
        chosen.append(CheckpointDirectory(path, int(digits)))
    return _show(run, chosen)


def find_checkpoint(run: RunDirectory, there: Sequence[CheckpointDirectory], text: str) -> CheckpointDirectory:
    """Return the checkpoint that `text` names: a step count, `best` or `latest`.

    Raises:
        NotFoundError: There is none such; says which there are.
    """
    if text in {"best", "latest"}:
        named = run.best() if text == "best" else run.latest()
        if named is not None:
            return named
        raise NotFoundError(f"{run.name} has no {text} checkpoint yet.", hint=_list_steps(there))
    digits = text.replace("_", "").removeprefix("checkpoint")
    if not digits.isdecimal():
        raise RequestError(f"--checkpoint {text}: it takes a step count, `best` or `latest`.", hint=_list_steps(there))
    for checkpoint in there:
        if checkpoint.steps == int(digits):
            return checkpoint
    raise NotFoundError(
        f"{run.name} has no checkpoint at {int(digits):,} steps.".replace(",", " "), hint=_list_steps(there)
    )


def read_evaluations(run: RunDirectory) -> dict[int, float]:
    """Return the mean return of each evaluated checkpoint by its steps, the last score counting."""
    from workbench.runs import History

    history = History(run)
    history.refresh()
    return {
        item.steps: item.mean_return
        for item in history.evaluations
        if item.mean_return is not None and math.isfinite(item.mean_return)
    }


def read_iteration(checkpoint: Path) -> int | None:
    """Return the training iteration of a checkpoint from the first file that tells it."""
    for name, key in (("policy.json", "iteration"), (LABELS_NAME, "training_iteration")):
        value = _mapping(durable.read_json(checkpoint / name)).get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def _show(run: FilmedRun, chosen: Sequence[CheckpointDirectory]) -> list[Shown]:
    evaluations = read_evaluations(run.directory)
    return [_shown(run, checkpoint, evaluations.get(checkpoint.steps)) for checkpoint in chosen]


def _shown(run: FilmedRun, checkpoint: CheckpointDirectory, evaluation_mean: float | None) -> Shown:
    steps, iteration, note = checkpoint.steps, read_iteration(checkpoint.path), ""
    if is_of_rllib(checkpoint.path):
        label = read_label(checkpoint.path)
        steps, iteration, note = label.steps, label.iteration, label.note
    return Shown(
        run=run,
        path=checkpoint.path,
        steps=steps,
        iteration=iteration,
        evaluation_mean=evaluation_mean,
        note=note,
    )


def passed_over(run: RunDirectory) -> list[str]:
    """Return the names of folders that are named much like a checkpoint and are none; one in the making is not told."""
    try:
        names = [path.name for path in run.path.iterdir() if path.name.startswith("checkpoint_") and path.is_dir()]
    except OSError:
        return []
    odd = [name for name in names if not name.removeprefix("checkpoint_").isdecimal()]
    return sorted(name for name in odd if not name.endswith(".part"))


def _list_steps(there: Sequence[CheckpointDirectory]) -> str:
    steps = [str(item.steps) for item in there]
    if len(steps) > 12:
        steps = [*steps[:6], "…", *steps[-5:]]
    return f"It has {', '.join(steps)}."


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
