"""How many threads a run gets: a share of the CPUs, and no more than its copies of the environment keep busy.

A thread more than there are CPUs does not just gain nothing: every step then waits for the one that has to wait for
its turn. The results are the same bits at any number.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from workbench.runs import RunDirectory, RunState
from workbench.runs.directory import run_directories
from workbench.runs.state import StateFile
from workbench.runs.supervisor import slot_count

COPIES_A_THREAD = 4
"""Copies that keep a thread busy: with fewer, waking it up takes about as long as what it does."""


@dataclass(frozen=True)
class Threads:
    """What a run may use, and why."""

    physics: int
    """Threads that step the copies of the environment."""
    updates: int
    """Threads that compute updates, at most."""
    reason: str
    """What they follow from, in words."""


def cpus() -> int:
    """Return how many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def choose_threads(n_envs: int, *, asked: int | None, beside: int = 0, most: int | None = None) -> Threads:
    """Return the threads of a run.

    Args:
        n_envs: Copies of the environment that step together.
        asked: What the spec asks for, if anything.
        beside: Other runs that use the same CPUs.
        most: The CPUs; those of this process by default.
    """
    most = most or cpus()
    if asked:
        granted = min(asked, most)
        capped = f", of {asked} asked for" if granted < asked else ""
        return Threads(min(granted, n_envs), granted, f"{_count(most, 'CPU')}{capped}")
    share = max(1, most // (1 + beside))
    physics = max(1, min(share, n_envs // COPIES_A_THREAD))
    others = f", {_count(beside, 'run')} beside this one" if beside else ""
    return Threads(physics, share, f"{_count(most, 'CPU')}{others}")


def runs_beside(run: RunDirectory) -> int:
    """Return how many other runs of the same folder train while this one does, those that wait for a slot too."""
    others = sum(_takes_part(other) for other in run_directories(run.runs_root) if other != run)
    return min(others, slot_count() - 1)


def _takes_part(run: RunDirectory) -> bool:
    stored = StateFile(run.state_path).read()
    if stored is None:
        return False
    if stored.state is RunState.QUEUED:
        return True
    lives = stored.state.is_live and stored.state is not RunState.PAUSED
    return lives and stored.process is not None and stored.process.is_alive()


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
