"""Throwing checkpoints away to free disk: which ones may go, and letting them go.

What is best, latest, pinned or where the run began always stays, and so does what another run has yet to begin from.
Of a live run everything from its last evaluation on stays too: its trainer may be scoring it. Trainer and pruner may
throw the same checkpoint away at once; one of them does, and the other finds it gone.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import RequestError
from workbench.runs.claims import claims
from workbench.runs.directory import CheckpointDirectory, RunDirectory
from workbench.runs.foreign.origin import require_own
from workbench.runs.heirs import heirs_of
from workbench.runs.lineage import start_of
from workbench.runs.sizes import size_of
from workbench.runs.state import observe

_ASIDE = ".gone"


@dataclass(frozen=True)
class PrunePlan:
    """Which checkpoints of a run would go, and why the others stay."""

    run: RunDirectory
    goes: tuple[CheckpointDirectory, ...]
    """Fewest steps first."""
    stays: tuple[tuple[CheckpointDirectory, str], ...]
    """Each with the reason, fewest steps first."""
    frees: int
    """Bytes."""
    keep: int = 0
    """How many of the newest stay whatever they are."""
    every: int | None = None
    """Of which every so many-th stays."""


@dataclass(frozen=True)
class Pruned:
    """What became of a plan."""

    run: RunDirectory
    gone: tuple[CheckpointDirectory, ...]
    freed: int
    """Bytes."""
    spared: tuple[tuple[CheckpointDirectory, str], ...] = ()
    """Those that had a reason to stay by then, with it."""
    failed: tuple[tuple[CheckpointDirectory, str], ...] = ()
    """Those that could not be thrown away, with what the system said."""


def plan_pruning(run: RunDirectory, *, keep: int = 0, every: int | None = None) -> PrunePlan:
    """Return what pruning a run would throw away.

    Args:
        run: The run, live or not.
        keep: Let this many of the newest stay.
        every: Let every so many-th stay, counted from the first trained one.

    Raises:
        RequestError: The numbers make no sense, or another tool made the run.
    """
    if keep < 0:
        raise RequestError(f"the number of checkpoints to keep is 0 or more, not {keep}.")
    if every is not None and every < 1:
        raise RequestError(f"every so many-th is every 1st or more, not every {every}th.")
    require_own(run)
    reasons = _reasons(run, keep, every, heirs_of(run))
    written = run.checkpoints()
    goes = tuple(item for item in written if item.path not in reasons)
    stays = tuple((item, reasons[item.path]) for item in written if item.path in reasons)
    return PrunePlan(run, goes, stays, sum(size_of(item.path) for item in goes), keep, every)


def prune(plan: PrunePlan) -> Pruned:
    """Throw away what a plan says, but for what has become best, latest or pinned since it was made."""
    run = plan.run
    gone: list[CheckpointDirectory] = []
    spared: list[tuple[CheckpointDirectory, str]] = []
    failed: list[tuple[CheckpointDirectory, str]] = []
    freed, heirs = _sweep(run), heirs_of(run)
    for checkpoint in plan.goes:
        # Looked at again for each: a run goes on while its past is thrown away.
        why = _reasons(run, plan.keep, plan.every, heirs).get(checkpoint.path)
        if why is not None:
            spared.append((checkpoint, why))
            continue
        size = size_of(checkpoint.path)
        try:
            if discard(checkpoint):
                gone.append(checkpoint)
                freed += size
        except OSError as error:
            failed.append((checkpoint, error.strerror or str(error)))
    return Pruned(run, tuple(gone), freed, tuple(spared), tuple(failed))


def discard(checkpoint: CheckpointDirectory) -> bool:
    """Delete a checkpoint, and return whether it was there; no reader ever sees half of it.

    Raises:
        OSError: It cannot be taken away.
    """
    aside = checkpoint.path.with_name(f".{checkpoint.path.name}{_ASIDE}")
    try:
        checkpoint.path.rename(aside)
    except FileNotFoundError:
        return False
    shutil.rmtree(aside, ignore_errors=True)
    return True


def _reasons(run: RunDirectory, keep: int, every: int | None, heirs: Mapping[str, RunDirectory]) -> dict[Path, str]:
    """Return the checkpoints that stay, each with why; the strongest reason wins."""
    written = run.checkpoints()
    # A fork's first checkpoint is its parent's policy.
    start = start_of(run.record())[0]
    trained = [item for item in written if item.steps > start]
    found: dict[Path, str] = {}
    if every is not None:
        found |= {item.path: "every " + _ordinal(every) for item in trained[every - 1 :: every]}
    if keep:
        found |= {item.path: "among the newest" for item in trained[-keep:]}
    found |= {item.path: "a live run may be scoring it" for item in _in_use(run, written)}
    found |= {run.path / name: f"{heir.short_id} begins from it" for name, heir in heirs.items()}
    found |= {item.path: "where it began" for item in written if item.steps <= start}
    pinned = set(run.annotations().pinned)
    found |= {item.path: "pinned" for item in written if item.steps in pinned}
    # The pointer may be a moment behind the newest, or lost.
    found |= {item.path: "latest" for item in (*written[-1:], run.latest()) if item is not None}
    best = run.best()
    return found if best is None else found | {best.path: "best"}


def _in_use(run: RunDirectory, written: list[CheckpointDirectory]) -> Iterator[CheckpointDirectory]:
    """Yield what the trainer of a live run may be scoring, has not taken note of yet, or will score at the end."""
    if not observe(run).state.is_live:
        return
    spec = run.record().get("spec")
    if isinstance(spec, dict) and spec.get("eval_every") == 0:
        return
    scored = [item.steps for item in written if item.evaluation_path.exists()]
    yield from (item for item in written if not scored or item.steps >= scored[-1])
    count = spec.get("rescore_best") if isinstance(spec, dict) else None
    yield from (claim.checkpoint for claim in claims(run)[: count if isinstance(count, int) else 0])


def _sweep(run: RunDirectory) -> int:
    """Finish what a pruner that was killed had begun, and return the bytes that frees."""
    freed = 0
    for path in run.path.glob(f".checkpoint_*{_ASIDE}"):
        size = size_of(path)
        shutil.rmtree(path, ignore_errors=True)
        freed += 0 if path.exists() else size
    return freed


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
