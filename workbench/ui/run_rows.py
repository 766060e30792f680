"""Rows of the list of runs: what each column says, in which order they stand, and what the sorting goes by."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from workbench import formatting
from workbench.runs.states import RunState
from workbench.ui.charts.overlay import Identity
from workbench.ui.charts.spark import sparkline
from workbench.ui.theme import STATE_LOOKS
from workbench.ui.watch import RunRow
from workbench.ui.widgets.rows import Column, Part, Row, cell

RECENT = "recent"
"""Live, queued, ended, newest first: the order the rows come in."""

_ENDING_WORDS = (
    ("return", "goal reached"),
    ("steps", "steps done"),
    ("iterations", "iterations done"),
    ("seconds", "time is up"),
    ("request", "by request"),
    ("SIGTERM", "by SIGTERM"),
    ("goal", "goal reached"),
)
"""A word in the reason of an ending that was asked for, and how a list puts it."""

_SHORT_ENDINGS = (("killed, signal ", "killed "), ("its process is gone", "process gone"))
"""How a narrow list puts an ending that it would have to cut."""

_KILLED = re.compile(r"killed, signal \d+")
"""How a crash begins that the system brought about; what follows is the last line of the log."""

Value = float | str | None


@dataclass(frozen=True)
class RunColumn:
    """One column: its place in a table, what it sorts by, and from which width on it is shown."""

    column: Column
    value: Callable[[RunRow], Value]
    """What rows are sorted by; None stands last."""
    widths: frozenset[str]
    """The width classes of the screen that show it."""


_ALL = frozenset({"-minute", "-tiny", "-narrow", "-medium", "-wide", "-huge"})
_NARROW = _ALL - {"-minute", "-tiny"}
_MEDIUM = _NARROW - {"-narrow"}
_WIDE = _MEDIUM - {"-medium"}

COLUMNS = (
    RunColumn(Column("margin", least=2), lambda row: None, _ALL),
    RunColumn(Column("state", "State"), lambda row: str(row.state), _WIDE),
    RunColumn(Column("glyph"), lambda row: None, _ALL - _WIDE),
    RunColumn(Column("run", "Run", grows=True, least=12), lambda row: row.title, _ALL),
    RunColumn(Column("algorithm", "Algo"), lambda row: row.algorithm, _NARROW),
    RunColumn(Column("seed", "Seed", "right"), lambda row: row.seed, _MEDIUM),
    RunColumn(Column("progress", "Progress", least=14), lambda row: row.progress, _ALL),
    RunColumn(Column("steps", "Steps", "right"), lambda row: row.steps, _WIDE),
    RunColumn(Column("return", "Return", "right", least=7), lambda row: row.last_return, _ALL),
    RunColumn(Column("best", "Best eval", "right"), lambda row: row.best.mean_return if row.best else None, _MEDIUM),
    RunColumn(Column("trend", "Trend", least=9), lambda row: None, _MEDIUM),
    RunColumn(Column("speed", "Steps/s", "right", least=7), lambda row: row.steps_per_s, _NARROW),
    RunColumn(Column("eta", "ETA or end", least=11), lambda row: row.eta_s, _NARROW),
    RunColumn(Column("age", "Age", "right"), lambda row: row.age_s, _WIDE),
    RunColumn(Column("tags", "Tags"), lambda row: " ".join(row.tags) or None, _WIDE),
)

SORTABLE = (RECENT, *(item.column.key for item in COLUMNS if item.column.key not in ("margin", "glyph", "trend")))
"""What `<` and `>` go through."""
_BY_KEY = {item.column.key: item for item in COLUMNS}


def columns_for(width_class: str) -> list[Column]:
    """Return the columns a screen of this width class shows."""
    return [item.column for item in COLUMNS if width_class in item.widths]


def ordered(rows: Iterable[RunRow], by: str, *, reverse: bool) -> list[RunRow]:
    """Return rows in the order of a column; what is unknown stands last either way, ties stay as they came."""
    rows = list(rows)
    if by == RECENT:
        return rows[::-1] if reverse else rows
    value = _BY_KEY[by].value
    known = [row for row in rows if value(row) is not None]
    unknown = [row for row in rows if value(row) is None]
    return sorted(known, key=lambda row: _sort_key(value(row)), reverse=reverse) + unknown


def run_row(row: RunRow, *, plain: bool, identity: Identity | None, here: bool, marked: bool, wide: bool) -> Row:
    """Return one run as a row of the table.

    Args:
        row: The run.
        plain: ASCII glyphs.
        identity: Its colour and letter where it is drawn.
        here: Whether the cursor is on it.
        marked: Whether it was marked.
        wide: Whether there is room for what a narrow table leaves out.
    """
    look = STATE_LOOKS[row.state]
    glyph, colour = look.plain if plain else look.glyph, look.variable
    ended = row.state.is_ended
    return Row(
        str(row.path),
        {
            "margin": _margin(identity, here=here, marked=marked, plain=plain),
            "state": (*cell(f"{glyph} {row.state}", colour), *_alarms(row)),
            "glyph": (*cell(glyph, colour), *_alarms(row)),
            "run": _run(row, wide=wide),
            "algorithm": cell(row.algorithm.upper()),
            "seed": cell(formatting.UNKNOWN if row.seed is None else str(row.seed)),
            "progress": _progress(row, plain=plain, wide=wide),
            "steps": cell(_steps(row)),
            "return": cell(formatting.number(row.last_return)),
            "best": cell(
                formatting.spread(row.best.mean_return, row.best.std_return) if row.best else formatting.UNKNOWN
            ),
            "trend": cell("" if plain else sparkline(np.array(row.trend, dtype=np.float64), 9), "muted"),
            "speed": cell("" if ended else formatting.amount(row.steps_per_s)),
            "eta": _eta_or_end(row, wide=wide),
            "age": cell(formatting.age(row.age_s)),
            "tags": cell(" ".join(row.tags)),
        },
    )


def ending(row: RunRow) -> str:
    """Return in a few words why a run is in its state."""
    if row.state in (RunState.FINISHED, RunState.STOPPED):
        for word, said in _ENDING_WORDS:
            if word in row.reason:
                return said
    killed = _KILLED.match(row.reason)
    return killed.group() if killed else row.reason or str(row.state)


def eta_text(row: RunRow) -> str:
    """Return how long a run will go on, `≤` where a return may end it earlier."""
    if row.eta_s is None:
        return formatting.UNKNOWN
    return f"≤ {formatting.eta(row.eta_s)}" if row.eta_is_bound else formatting.eta(row.eta_s)


def _margin(identity: Identity | None, *, here: bool, marked: bool, plain: bool) -> tuple[Part, ...]:
    slot = "muted" if identity is None or identity.slot is None else f"series-{identity.slot + 1}"
    letter = identity.letter if identity else ""
    cursor = (">" if plain else "▌") if here else " "
    return ((letter or ("+" if marked else " "), f"{slot} bold{' reverse' if marked else ''}"), (cursor, "accent"))


def _alarms(row: RunRow) -> tuple[Part, ...]:
    found: list[Part] = []
    if row.anomalies:
        found.append((f" !{row.anomalies}", "warning bold"))
    if row.is_stalled:
        found.append((" ?", "warning bold"))
    return tuple(found)


def _run(row: RunRow, *, wide: bool) -> tuple[Part, ...]:
    parts: list[Part] = [(row.env_name, "" if not row.problem else "error"), (f" {row.short_id}", "muted")]
    # A seed that was drawn is ten digits long and tells nobody anything.
    if row.seed is not None and row.seed < 10_000 and not wide:
        parts.append((f" s{row.seed}", "muted"))
    if row.parent:
        parts.append((" F", "muted"))
    return tuple(parts)


def _progress(row: RunRow, *, plain: bool, wide: bool) -> tuple[Part, ...]:
    look = STATE_LOOKS[row.state]
    if row.problem:
        return cell("damaged", "error")
    if row.state is RunState.QUEUED:
        return cell("queued", "muted")
    if row.state is RunState.STARTING:
        return cell("starting", "muted")
    if row.progress is None:
        return cell(f"{formatting.amount(row.steps)} steps")
    width = 13 if wide else 9
    bar = formatting.bar(row.progress, width, plain=plain)
    return ((bar, look.variable), (f" {formatting.percent(row.progress):>5}", ""))


def _steps(row: RunRow) -> str:
    done = formatting.amount(row.steps)
    return f"{done} of {formatting.amount(row.total_steps)}" if row.total_steps else done


def _eta_or_end(row: RunRow, *, wide: bool) -> tuple[Part, ...]:
    look = STATE_LOOKS[row.state]
    width = 24 if wide else 15
    if row.problem:
        return cell(formatting.shorten(row.problem, width), "error")
    match row.state:
        case RunState.QUEUED | RunState.STARTING:
            return cell("")
        case RunState.PAUSED:
            since_s = max(0.0, row.created + row.age_s - row.changed)
            return cell(row.reason or f"paused {formatting.age(since_s)} ago", look.variable)
        case RunState.STOPPING:
            return cell("saving", look.variable)
        case RunState.RUNNING:
            if row.is_stalled:
                return cell(f"silent {formatting.age(row.silent_s)}", "warning")
            return cell(eta_text(row))
    colour = look.variable if row.state.is_bad else "muted"
    said = ending(row)
    for long, short in _SHORT_ENDINGS if not wide else ():
        said = said.replace(long, short)
    return cell(formatting.shorten(said, width), colour)


def _sort_key(value: Value) -> tuple[int, float, str]:
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value or 0.0), "")
