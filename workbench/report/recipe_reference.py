"""What was measured with a recipe, written into it: no number of a `reference` is typed by hand.

Only the `reference` is replaced; every other line of the file stays as its author wrote it.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from workbench import durable
from workbench.catalog import Catalog
from workbench.errors import WorkFailedError
from workbench.report.results import Result, Results
from workbench.specs.algorithms import ALGORITHMS

KEY = "reference"
WIDTH = 120
_TOP = ("about", "date", "versions", "machine")
"""What an earlier form of the block says once for all algorithms."""


def write_references(results: Results, catalog: Catalog, command: Sequence[str]) -> tuple[list[Path], list[str]]:
    """Write what was measured into the recipes of the environments, and return the files and what was not written.

    Of several lines of one algorithm the one trained as the recipe says is taken; where there is none, or more than
    one, nothing is.

    Args:
        results: What was measured.
        catalog: Knows the recipes.
        command: The words that write it again.

    Raises:
        WorkFailedError: A recipe cannot be read or written.
    """
    written, notes = [], []
    for env_id, lines in results.environments.items():
        entry = catalog.entry_for_id(env_id)
        recipe = None if entry is None else entry.recipe
        if recipe is None:
            notes.append(f"{lines[0].environment} has no recipe to write a reference into.")
            continue
        blocks = {}
        for algorithm in dict.fromkeys(line.algorithm for line in lines):
            alike = [line for line in lines if line.algorithm == algorithm]
            told = f"{lines[0].environment} {algorithm.upper()}"
            greedy = [line for line in alike if line.basis.is_greedy]
            as_recipe = [line for line in greedy if not line.changed]
            chosen = as_recipe or greedy
            if not greedy:
                notes.append(
                    f"{told} is not written: its best checkpoints are not scored alike; --evaluate scores them."
                )
            elif len(chosen) > 1:
                notes.append(f"{told} is not written: {len(chosen)} lines are equally good; name the runs of one.")
            else:
                blocks[algorithm] = reference_of(chosen[0], command)
        if blocks:
            _rewrite(recipe, blocks)
            written.append(recipe)
    return written, notes


def reference_of(line: Result, command: Sequence[str]) -> dict[str, Any]:
    """Return the block of one algorithm.

    Args:
        line: What was measured.
        command: The words that write it again.
    """
    keys = [str(seed) for seed in line.seeds]
    interval = line.interval
    has_range = interval.low == interval.low
    made = max(run.summary.changed for run in line.runs)
    company = f", {line.company}" if line.company else ""
    # One seed says nothing of how far others are from it.
    several = len(line.runs) > 1
    whose = "std is over seeds, steps and wall_s are the slowest seed's" if several else "one seed"
    block: dict[str, Any] = {
        "return": round(line.mean, 2),
        **({"std": round(line.std, 2)} if several else {}),
        "iqm": round(interval.value, 2),
        **({"range": [round(interval.low, 2), round(interval.high, 2)]} if has_range else {}),
        "seeds": len(line.runs),
        "steps": max(line.steps),
        "wall_s": round(max(line.wall_s), 1),
        "about": f"{_sentence(line.basis.text)}; {whose}{company}.",
        "episodes": line.basis.episodes,
        "first_episode": line.basis.first_episode,
        "return_by_seed": {key: round(value, 2) for key, value in zip(keys, line.returns, strict=True)},
        "steps_by_seed": dict(zip(keys, line.steps, strict=True)),
        "wall_s_by_seed": {key: round(value, 1) for key, value in zip(keys, line.wall_s, strict=True)},
        "changed": line.changed,
        "date": time.strftime("%Y-%m-%d", time.gmtime(made)),
        "machine": "; ".join(line.machines),
        "versions": dict(line.versions),
        "git": ", ".join(line.revisions),
        "command": "; ".join(line.commands),
        "written_by": shlex.join(command),
    }
    if not line.changed:
        del block["changed"]
    return block


def _rewrite(path: Path, blocks: dict[str, Any]) -> None:
    try:
        text = path.read_text(encoding="utf-8")
        reference = json.loads(text).get(KEY)
        merged = {**(reference if isinstance(reference, dict) else {}), **blocks}
        ours = [merged[name] for name in ALGORITHMS if name in merged]
        if all(isinstance(block, dict) and "date" in block for block in ours):
            # Each block says these of itself.
            merged = {key: value for key, value in merged.items() if key not in _TOP}
        rest = {key: value for key, value in merged.items() if key not in ALGORITHMS}
        ordered = {**rest, **{name: merged[name] for name in ALGORITHMS if name in merged}}
        durable.write_text(path, replace_value(text, KEY, ordered, after=("$schema", "description")))
    except (OSError, ValueError) as error:
        raise WorkFailedError(f"{path} cannot be given a reference: {error}.") from error


def replace_value(text: str, key: str, value: Any, *, after: Sequence[str] = ()) -> str:
    """Return a JSON object's text with another value at a key, everything else as it is.

    Args:
        text: The text of an object of several lines.
        key: Where.
        value: What.
        after: Behind which keys a new one goes, where they are there.

    Raises:
        ValueError: The text is no JSON object.
    """
    shown = f'"{key}": {render(value, indent=2)}'
    members = list(_members(text))
    for name, start, end in members:
        if name == key:
            return text[:start] + shown + text[end:]
    before = [end for name, _, end in members if name in after]
    if before:
        return f"{text[: before[-1]]},\n  {shown}{text[before[-1] :]}"
    place = text.index("{") + 1
    return f"{text[:place]}\n  {shown}{',' if members else ''}{text[place:]}"


def render(value: Any, *, indent: int = 0) -> str:
    """Return a value as JSON, objects and lists on one line where they fit one."""
    flat = json.dumps(value, ensure_ascii=False)
    holds_objects = isinstance(value, dict) and any(isinstance(inner, dict) for inner in value.values())
    if not isinstance(value, dict) or (len(flat) + indent + 24 <= WIDTH and not holds_objects):
        return flat
    inner = ",\n".join(
        f"{' ' * (indent + 2)}{json.dumps(key, ensure_ascii=False)}: {render(item, indent=indent + 2)}"
        for key, item in value.items()
    )
    return f"{{\n{inner}\n{' ' * indent}}}"


def _members(text: str) -> Iterable[tuple[str, int, int]]:
    """Yield each key of an object with where it begins and where its value ends."""
    decoder = json.JSONDecoder()
    place = _skip(text, 0)
    if text[place] != "{":
        raise ValueError("it is no object")
    place = _skip(text, place + 1)
    while text[place] != "}":
        start = place
        name, place = decoder.raw_decode(text, place)
        # The colon, then the value.
        place = _skip(text, _skip(text, place) + 1)
        _, place = decoder.raw_decode(text, place)
        yield name, start, place
        place = _skip(text, place)
        place = _skip(text, place + 1) if text[place] == "," else place


def _skip(text: str, place: int) -> int:
    while text[place] in " \t\r\n":
        place += 1
    return place


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
