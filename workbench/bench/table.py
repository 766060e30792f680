"""Which figures there are, in which order they are measured, and the table made of them."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from workbench.bench import collection, of_recipes, off_policy, on_policy, processes, sbx, threshold, together
from workbench.bench.document import load
from workbench.bench.figures import Figure, markdown_table
from workbench.catalog import Entry
from workbench.formatting import size
from workbench.runs.machine import usable_cpus


@dataclass(frozen=True)
class Effort:
    """How long to measure, and what with."""

    short: bool = False
    """Fewer repeats, fewer seeds, and none of what takes minutes."""
    sbx_python: Path | None = None
    """The Python of a virtual environment with SBX."""

    @property
    def repeats(self) -> int:
        """Of everything that is measured in turns."""
        return 3 if self.short else 9


@dataclass(frozen=True)
class Measurement:
    """One measurement, which gives a line or two."""

    name: str
    run: Callable[[], Figure | list[Figure]]


def measurements(effort: Effort, *, everything: bool = False, texts: Sequence[str] = ()) -> list[Measurement]:
    """Return what is to be measured, in order.

    Args:
        effort: How long.
        everything: Collection, time to a threshold, SBX, memory and start-up too.
        texts: Only those with one of these in their name.
    """
    repeats = effort.repeats
    ppo = [Measurement(case.name, partial(on_policy.measure, case, repeats)) for case in on_policy.CASES]
    # Two threads of one CPU would only take turns.
    cases = [case for case in off_policy.UPDATES if case.threads <= usable_cpus()]
    updates = [Measurement(case.name, partial(off_policy.measure_updates, case, repeats)) for case in cases]
    loops = [
        Measurement(off_policy.loop_name(name), partial(off_policy.measure_loops, name, repeats))
        for name in ("SAC", "TD3")
    ]
    # Whole loops say little that updates do not, and take long where others use the machine.
    chosen = ppo + updates + ([] if effort.short else loops)
    if everything:
        chosen = [*_collection(effort), *chosen, *_others(effort)]
    return [one for one in chosen if not texts or any(text.lower() in one.name.lower() for text in texts)]


def of_environments(entries: Sequence[Entry], effort: Effort, texts: Sequence[str] = ()) -> list[Measurement]:
    """Return what is to be measured of some environments: each algorithm of their recipes beside the stock one.

    Args:
        entries: The environments.
        effort: How long.
        texts: Only those with one of these in their name.
    """
    chosen = [
        Measurement(case.name, partial(of_recipes.measure_recipe, case, effort.repeats))
        for case in of_recipes.cases(list(entries))
    ]
    return [one for one in chosen if not texts or any(text.lower() in one.name.lower() for text in texts)]


def _collection(effort: Effort) -> list[Measurement]:
    ways = collection.SHORT_WAYS if effort.short else collection.WAYS
    return [
        *(
            Measurement(collection.bare_name(copies), partial(collection.measure_over_bare, copies, effort.repeats))
            for copies in (64, 256)
        ),
        Measurement(collection.OTHERS_NAME, partial(collection.measure_over_others, ways, effort.repeats)),
    ]


def _others(effort: Effort) -> list[Measurement]:
    again = 1 if effort.short else 3
    seeds = (0, 1) if effort.short else (0, 1, 2, 3, 4)
    return [
        Measurement(sbx.NAME, partial(sbx.measure_sbx, effort.sbx_python, effort.repeats)),
        Measurement(threshold.NAME, partial(threshold.measure_threshold, seeds, not effort.short)),
        *(
            Measurement(together.together_name(work.algorithm), partial(together.measure_together, work, again))
            for work in together.LOADS
        ),
        Measurement(together.EVALUATION_NAME, partial(together.measure_evaluations, again)),
        Measurement(processes.memory_name("ppo"), partial(processes.measure_memory, "ppo", 20_480, again)),
        Measurement(processes.memory_name("sac"), partial(processes.measure_memory, "sac", 6_000, again)),
        Measurement(processes.TRAINER_START, partial(processes.measure_trainer_start, 3)),
        Measurement(processes.POLICY_START, partial(processes.measure_policy_start, 5)),
    ]


def run_measurements(chosen: Sequence[Measurement]) -> Iterator[Figure]:
    """Measure, and give each line as soon as it is known; one that breaks down says so and stops no other."""
    import gymnasium

    gymnasium.logger.min_level = gymnasium.logger.ERROR
    # What is measured in children must be the code that is running here.
    package = str(Path(__file__).resolve().parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    for one in chosen:
        started = time.perf_counter()
        try:
            measured = one.run()
        except Exception as error:
            measured = Figure(one.name, note=f"failed: {type(error).__name__}: {error}", load=load(), failed=True)
        took_s = round(time.perf_counter() - started, 1)
        for figure in measured if isinstance(measured, list) else [measured]:
            yield dataclasses.replace(figure, took_s=took_s)


def markdown(document: Mapping[str, Any]) -> str:
    """Return a document of figures as a page."""
    machine, versions = document["machine"], document["versions"]
    revision = (document["git"] or {}).get("revision", "")[:7]
    libraries = ", ".join(f"{name} {version}" for name, version in versions.items())
    loads = [row["load"] for row in document["rows"] if row.get("load") is not None]
    busy = f"; load {min(loads):.1f} to {max(loads):.1f}" if loads else ""
    met = [row["met"] for row in document["rows"] if row["met"] is not None]
    return "\n".join(
        [
            "# Figures",
            "",
            f"{document['date']}, revision {revision}{' (short)' if document.get('short') else ''}. "
            f"{machine['cpu']}, {machine['cores']} CPUs, {size(machine['memory_bytes'])}, {machine['system']}{busy}.",
            f"{libraries}.",
            "",
            f"    {document['command']}",
            "",
            "Medians of interleaved repeats in one process; HalfCheetah-v5 unless said. `measured` is how many times",
            "better ours is, or what stands there. The floor is arithmetic at the rate of large matrix products and",
            "the physics alone, on all CPUs: the share is how close to it ours is.",
            f"{sum(met)} of {len(met)} targets are met.",
            "",
            markdown_table(document["rows"]),
        ]
    )
