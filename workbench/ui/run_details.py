"""What the side pane of the list of runs says of the run or the group under the cursor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from textual.content import Content

from workbench import formatting
from workbench.ui.run_list import Line
from workbench.ui.run_rows import ending, eta_text
from workbench.ui.theme import STATE_LOOKS
from workbench.ui.widgets.fact_sheet import Fact


def details(line: Line, record: Mapping[str, Any], *, plain: bool) -> list[Fact]:
    """Return the facts of a line.

    Args:
        line: The run or group.
        record: Its `run.json`; empty while it is not read.
        plain: ASCII glyphs.
    """
    return [
        Fact(name, value if isinstance(value, Content) else Content(value))
        for name, value in _facts(line, record, plain)
    ]


def _facts(line: Line, record: Mapping[str, Any], plain: bool) -> Iterator[tuple[str, str | Content]]:
    row = line.row
    look = STATE_LOOKS[row.state]
    glyph = look.plain if plain else look.glyph
    yield "state", Content.assemble((f"{glyph} {row.asked or row.state}", f"${look.variable}"))
    if row.problem:
        yield "damaged", row.problem
    elif row.state.is_ended and (row.reason or row.state.is_bad):
        yield "ended", row.reason or ending(row)
    elif row.reason:
        yield "", row.reason
    if line.is_head:
        yield "runs", ", ".join(f"{member.short_id} {member.state}" for member in line.members)
    yield "environment", row.env_id or row.env_name
    seeds = " ".join(str(member.seed) for member in line.members if member.seed is not None)
    yield "algorithm", f"{row.algorithm.upper()}, {'seeds' if line.is_head else 'seed'} {seeds or formatting.UNKNOWN}"
    total = f" of {formatting.digits(row.total_steps)}" if row.total_steps else ""
    yield "steps", f"{formatting.digits(row.steps)}{total}"
    yield "time", f"{formatting.duration(row.active_s)}, made {formatting.age(row.age_s)} ago"
    if row.eta_s is not None:
        yield "left", eta_text(row)
    if row.place is not None:
        yield "queue", f"number {row.place.position}"
    yield "return", f"{formatting.number(row.last_return)}, smoothed {formatting.number(row.smoothed_return)}"
    if row.best is not None:
        at = formatting.amount(row.best.steps)
        yield "best", f"{formatting.spread(row.best.mean_return, row.best.std_return)} at {at}"
    if row.anomalies:
        yield "anomalies", formatting.digits(row.anomalies)
    if row.warning:
        yield "warning", row.warning
    if row.parent:
        yield "forked from", line.change or row.parent
    if row.tags:
        yield "tags", " ".join(row.tags)
    if row.note:
        yield "note", row.note
    if row.pid is not None and not line.is_head:
        yield "process", f"{row.pid} on {row.host}"
    command = record.get("command")
    if isinstance(command, list) and not line.is_head:
        yield "command", " ".join(map(str, command))
    if not line.is_head:
        yield "folder", "/".join(row.path.parts[-3:])
