"""Returns that others published, each with its source, its version of the environment and its steps.

They are shown beside ours and never mixed with them, nor with each other across versions: v3 and v5 of a task differ
in more than their name.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench import formatting

TABLE = Path(__file__).with_name("published.json")


@dataclass(frozen=True)
class Source:
    """Who measured, and how."""

    key: str
    name: str
    """What a line in a chart is called by."""
    where: str
    """Repository and page."""
    protocol: str
    spread_over: str
    """What a standard deviation is over: `seeds`, or `episodes` of one run."""


@dataclass(frozen=True)
class PublishedReturn:
    """One mean that somebody published."""

    source: Source
    environment: str
    """The Gymnasium ID, its version included."""
    algorithm: str
    """Lower case."""
    mean: float
    std: float | None
    """The standard deviation, over what the source says; None where none was published."""
    steps: tuple[int, int]
    """Environment steps of training; two ends where the source gives a range alone."""
    seeds: int

    @property
    def steps_text(self) -> str:
        """The steps for people: `1.00 M`, `4.00 M to 10.0 M`."""
        first, last = map(formatting.amount, self.steps)
        return first if first == last else f"{first} to {last}"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, its source in words."""
        return {
            "source": self.source.name,
            "where": self.source.where,
            "environment": self.environment,
            "algorithm": self.algorithm,
            "return": self.mean,
            "std": self.std,
            "std_over": self.source.spread_over,
            "steps": list(self.steps),
            "seeds": self.seeds,
        }


@dataclass(frozen=True)
class PublishedTable:
    """Everything that is shipped."""

    sources: Mapping[str, Source]
    same_task: Mapping[str, str]
    """By the ID of an environment of ours, that of Gymnasium's which it equals."""
    returns: tuple[PublishedReturn, ...]

    def twin(self, env_id: str) -> str | None:
        """Return the ID of Gymnasium's environment that is the same task; one of Gymnasium's own is its own."""
        if env_id in self.same_task:
            return self.same_task[env_id]
        return env_id if any(item.environment == env_id for item in self.returns) else None

    def of(self, env_id: str, algorithm: str = "") -> list[PublishedReturn]:
        """Return what was published of the same task in the same version, the highest mean first.

        Args:
            env_id: An environment of ours or of Gymnasium's.
            algorithm: Only of this one.
        """
        twin = self.twin(env_id)
        return self._sorted(item for item in self.returns if item.environment == twin and _is_of(item, algorithm))

    def of_other_versions(self, env_id: str, algorithm: str = "") -> list[PublishedReturn]:
        """Return what was published of other versions of the task, which compare with nothing of this one."""
        twin = self.twin(env_id)
        task = "" if twin is None else _task(twin)
        return self._sorted(
            item
            for item in self.returns
            if _task(item.environment) == task and item.environment != twin and _is_of(item, algorithm)
        )

    def best(self, env_id: str, algorithm: str) -> PublishedReturn | None:
        """Return the highest mean published of the same task in the same version with an algorithm."""
        return next(iter(self.of(env_id, algorithm)), None)

    @staticmethod
    def _sorted(found: Iterator[PublishedReturn]) -> list[PublishedReturn]:
        return sorted(found, key=lambda item: -item.mean)


@functools.cache
def published_table() -> PublishedTable:
    """Return what is shipped, read once."""
    data: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    sources = {key: Source(key, **told) for key, told in data["sources"].items()}
    return PublishedTable(sources, data["same_task"], tuple(_return(row, sources) for row in data["returns"]))


def _return(row: Mapping[str, Any], sources: Mapping[str, Source]) -> PublishedReturn:
    steps = row["steps"]
    return PublishedReturn(
        source=sources[row["source"]],
        environment=row["environment"],
        algorithm=row["algorithm"],
        mean=float(row["return"]),
        std=None if row["std"] is None else float(row["std"]),
        steps=(steps[0], steps[1]) if isinstance(steps, list) else (steps, steps),
        seeds=row["seeds"],
    )


def _is_of(item: PublishedReturn, algorithm: str) -> bool:
    return algorithm in ("", item.algorithm)


def _task(env_id: str) -> str:
    """Return an ID without its version."""
    return env_id.rpartition("-v")[0]
