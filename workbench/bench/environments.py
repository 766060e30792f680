"""The sweep of copies and threads over environments, each configuration in a process of its own."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.bench.document import load
from workbench.bench.rivals import KINDS
from workbench.catalog import Catalog, Entry
from workbench.catalog.catalogue import GLOB_SIGNS
from workbench.catalog.variants import read_variant
from workbench.errors import ProblemsError, RequestError
from workbench.simulation import EnvSource
from workbench.specs import errors_of

PROBE_LIMIT_S = 600.0
"""After this a configuration has failed: whatever its environment does, it does not step."""


@dataclass(frozen=True)
class Sweep:
    """What is measured of each environment."""

    copies: tuple[int, ...]
    threads: tuple[int, ...]
    min_time_s: float = 0.5
    """Seconds of stepping in a repeat, at least."""
    repeats: int = 3
    """How many speeds the medians are taken of."""
    against: bool = False
    """Whether the vector environments of others step the same task in turns with it."""


@dataclass(frozen=True)
class Subject:
    """An environment in the configuration that is measured."""

    source: EnvSource
    configured_by: Path | None = None
    """The benchmark file its configuration is from."""


def choose(catalog: Catalog, pattern: str | None) -> list[Subject]:
    """Return the environments that a pattern names, or all of the catalogue that can be made.

    Raises:
        NotFoundError: Nothing matches.
        ProblemsError: A benchmark file has faults.
        RequestError: What is named is broken.
    """
    several = pattern is None or any(sign in pattern for sign in GLOB_SIGNS)
    found = catalog.matching(pattern) if several else [catalog.find(str(pattern))]
    if not found:
        found = [catalog.find(str(pattern))]
    fit = [entry for entry in found if not entry.broken]
    if not fit:
        fault = found[0].first_fault
        raise RequestError(f"{found[0].name} is broken: {fault}.", hint="`workbench check` lists every fault.")
    return [subject(entry) for entry in fit]


def subject(entry: Entry) -> Subject:
    """Return an entry in its benchmark file's configuration, where it has one, else as it is.

    Raises:
        ProblemsError: The benchmark file has faults.
    """
    source = EnvSource.from_entry(entry)
    if entry.benchmark is None:
        return Subject(source)
    faults = errors_of(problem for problem in entry.problems if problem.path == entry.benchmark)
    if faults:
        raise ProblemsError(entry.benchmark.name, faults)
    configuration = _merge(source.env_cfg, read_variant(entry.benchmark).env_cfg)
    return Subject(dataclasses.replace(source, env_cfg=configuration), entry.benchmark)


def run_sweep(subjects: Sequence[Subject], sweep: Sweep) -> Iterator[dict[str, Any]]:
    """Measure every configuration and give its row as soon as it is known; a failure is a row with `error`."""
    for one in subjects:
        for copies in sweep.copies:
            for threads in _distinct(sweep.threads, 1 if one.source.module is None else copies):
                yield _row(one, copies, threads, sweep)


def _distinct(threads: Sequence[int], most: int) -> list[int]:
    """Return each number of threads once; more than there are copies are as many as there are copies."""
    return list(dict.fromkeys(min(number, most) for number in threads))


def _row(one: Subject, copies: int, threads: int, sweep: Sweep) -> dict[str, Any]:
    measured = _probe(
        {
            "source": one.source.to_json(),
            "copies": copies,
            "threads": threads,
            "min_time_s": sweep.min_time_s,
            "repeats": sweep.repeats,
            "against": KINDS if sweep.against else (),
        }
    )
    threads = measured.get("threads", threads)
    words = f"{copies} {'copy' if copies == 1 else 'copies'}, {threads} thread{'' if threads == 1 else 's'}"
    return {
        "name": f"{one.source.name}, {words}",
        "value": measured.get("control_steps_per_s"),
        "environment": one.source.name,
        "copies": copies,
        "env_cfg": one.source.env_cfg,
        "configured_by": None if one.configured_by is None else str(one.configured_by),
        "load": load(),
        **measured,
        "threads": threads,
    }


def _probe(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Measure one configuration in a fresh process."""
    command = [sys.executable, "-m", "workbench.bench.probe"]
    try:
        done = subprocess.run(
            command, input=json.dumps(asked), capture_output=True, text=True, timeout=PROBE_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return {"error": f"it did not end within {PROBE_LIMIT_S:.0f} s"}
    lines = done.stdout.splitlines()
    try:
        # Whatever an environment prints comes before the answer.
        answer: dict[str, Any] = json.loads(lines[-1] if lines else "")
    except ValueError:
        said = done.stderr.strip().splitlines()
        return {"error": said[-1] if said else f"its process ended with {done.returncode}"}
    return answer


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = _merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged
