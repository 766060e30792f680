"""Doing the same to several runs: what fails for one is told, and the others are done all the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from workbench.errors import WorkbenchError
from workbench.runs.directory import RunDirectory

T = TypeVar("T")


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What came of it for one run."""

    run: RunDirectory
    result: T | None = None
    error: WorkbenchError | None = None
    """Why it was not done."""


def on_each(runs: Iterable[RunDirectory], act: Callable[[RunDirectory], T]) -> list[Outcome[T]]:
    """Do something to each run once, in the order given, whatever happens to the others."""
    found: list[Outcome[T]] = []
    for run in dict.fromkeys(runs):
        try:
            found.append(Outcome(run, result=act(run)))
        except WorkbenchError as error:
            found.append(Outcome(run, error=error))
    return found
