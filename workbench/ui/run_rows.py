"""Rows of the list of runs: what each column says of a run or a group, and what the sorting goes by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench import formatting
from workbench.runs.filter_fields import text_of
from workbench.runs.ordering import RECENT
from workbench.runs.states import RunState
from workbench.ui.asking import TURNING
from workbench.ui.charts.overlay import Identity
from workbench.ui.charts.spark import sparkline
from workbench.ui.run_list import Line
from workbench.ui.theme import STATE_LOOKS
from workbench.ui.watch import RunRow
from workbench.ui.widgets.rows import Column, Part, Row, cell

_ENDING_WORDS = (
    ("return", "goal reached"),
    ("steps", "steps done"),
    ("iterations", "iterations done"),
    ("seconds", "time is up"),
    ("request", "by hand"),
    ("before it started", "never started"),
    ("SIGTERM", "by SIGTERM"),
    ("goal", "goal reached"),
)
"""A word in the reason of an ending that was asked for, and how a list puts it."""

_SHORT_ENDINGS = (("killed, signal ", "killed "), ("its process is gone", "process gone"))
"""How a narrow list puts an ending that it would have to cut."""

_KILLED = re.compile(r"killed, signal \d+")
"""How a crash begins that the system brought about; what follows is the last line of the log."""

_NOT_FINITE = re.compile(
    r"(?:.*?, step \d+: )?(?:the )?(?:train/)?(?P<what>.+?) (?:is (?:nan|[-+]?inf)|(?:is|are) not finite)\b"
)
"""What was not finite, without the copy, the step and the checkpoint that a short cell has no room for."""


@dataclass(frozen=True)
class RunColumn:
    """One column: its place in a table, what it sorts by, and from which width on it is shown."""

    column: Column
    sort: str
    """The field that `<` and `>` sort by; empty where there is none."""
    widths: frozenset[str]
    """The width classes of the screen that show it."""
    name: str
    """What it is called where columns are chosen."""


_ALL = frozenset({"-minute", "-tiny", "-narrow", "-medium", "-wide", "-huge"})
_NARROW = _ALL - {"-minute", "-tiny"}
_MEDIUM = _NARROW - {"-narrow"}
_WIDE = _MEDIUM - {"-medium"}

COLUMNS = (
    RunColumn(Column("margin", least=3), "", _ALL, ""),
    RunColumn(Column("state", "State"), "state", _WIDE, "state as a word"),
    RunColumn(Column("glyph"), "", _ALL - _WIDE, ""),
    RunColumn(Column("run", "Run", grows=True, least=20), "env", _ALL, ""),
    RunColumn(Column("algorithm", "Algo"), "algo", _NARROW, "algorithm"),
    RunColumn(Column("seed", "Seed", "right"), "seed", _MEDIUM, "seed"),
    RunColumn(Column("progress", "Progress", least=14), "progress", _ALL, "progress"),
    RunColumn(Column("steps", "Steps", "right"), "steps", _WIDE, "steps"),
    RunColumn(Column("return", "Return", "right", least=7), "return", _ALL, "return"),
    RunColumn(Column("best", "Best eval", "right"), "best", _MEDIUM, "best evaluation"),
    RunColumn(Column("trend", "Trend", least=9), "", _MEDIUM, "trend"),
    RunColumn(Column("speed", "Steps/s", "right", least=7), "speed", _NARROW, "steps a second"),
    RunColumn(Column("eta", "ETA or end", least=11), "eta", _NARROW, "remaining time, or what ended it"),
    RunColumn(Column("age", "Age", "right"), "age", _WIDE, "age"),
    RunColumn(Column("tags", "Tags"), "tag", _WIDE, "tags"),
)

CHOOSABLE = tuple(item for item in COLUMNS if item.name)
"""Columns that a person may hide; the others make a line what it is."""
_BEFORE_CHANGES = frozenset({"steps", "trend"})
"""Columns that give way to what forks changed: the progress and the chart say the same."""
_SMOOTHED = "~return"
_BY_KEY = {item.column.key: item for item in COLUMNS}


@dataclass(frozen=True)
class Shown:
    """Which columns a person wants: the usual ones but some, and fields of the spec or metrics beside them."""

    hidden: frozenset[str] = frozenset()
    added: tuple[str, ...] = ()

    def columns(self, width_class: str, *, tells_changes: bool = False) -> list[Column]:
        """Return the columns of a screen of this width class; those that were added need some room.

        Args:
            width_class: How wide the screen is.
            tells_changes: Whether the names have what a fork changed behind them, which needs room, too.
        """
        hidden = self.hidden | (_BEFORE_CHANGES if tells_changes and width_class != "-huge" else frozenset())
        usual = [item.column for item in COLUMNS if width_class in item.widths and item.column.key not in hidden]
        if width_class not in _NARROW:
            return usual
        return [*usual, *(Column(name, re.split(r"[./]", name)[-1], "right") for name in self.added)]

    @property
    def sortable(self) -> tuple[str, ...]:
        """What `<` and `>` go through."""
        fields = [field for item in COLUMNS for field in _sorts(item) if item.column.key not in self.hidden]
        return (RECENT, *fields, *self.added)


def _sorts(item: RunColumn) -> tuple[str, ...]:
    if item.column.key == "return":
        return (item.sort, _SMOOTHED)
    return (item.sort,) if item.sort else ()


def sort_of(column: str) -> str:
    """Return the field that a column sorts by; empty where there is none."""
    return _BY_KEY[column].sort if column in _BY_KEY else column


def column_of(sort: str) -> str:
    """Return the column that shows a field that is sorted by."""
    field = "return" if sort == _SMOOTHED else sort
    return next((item.column.key for item in COLUMNS if item.sort == field), field)


def run_row(
    line: Line,
    *,
    plain: bool,
    identity: Identity | None,
    here: bool,
    marked: bool,
    wide: bool,
    added: Sequence[str] = (),
) -> Row:
    """Return one line of the list as a row of the table.

    Args:
        line: The run or group.
        plain: ASCII glyphs.
        identity: Its colour and letter where it is drawn.
        here: Whether the cursor is on it.
        marked: Whether it was marked.
        wide: Whether there is room for what a narrow table leaves out.
        added: Fields of the spec and metrics that have a column.
    """
    row = line.row
    turning = row.asked in TURNING
    look = STATE_LOOKS["stopping" if turning else row.state]
    glyph, colour = look.plain if plain else look.glyph, look.variable
    ended = row.state.is_ended
    seeds = [str(item.seed) for item in line.members if item.seed is not None]
    return Row(
        line.key,
        {
            "margin": _margin(line, identity, here=here, marked=marked, plain=plain),
            "state": (*cell(f"{glyph} {row.asked if turning else row.state}", colour), *_alarms(row)),
            "glyph": cell(glyph, colour),
            "run": _run(line, wide=wide, plain=plain),
            "algorithm": () if line.group and not line.is_head else _algorithm(row, wide=wide),
            "seed": cell(_seeds(seeds)),
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
            **{name: cell(_value(row, name)) for name in added},
        },
    )


def _seeds(seeds: Sequence[str]) -> str:
    if not seeds:
        return formatting.UNKNOWN
    listed = " ".join(seeds)
    return listed if len(listed) <= 9 else f"{len(seeds)} seeds" if len(seeds) > 1 else listed


def _value(row: RunRow, name: str) -> str:
    value = row.values.get(name)
    if name not in row.values:
        return formatting.UNKNOWN
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return formatting.number(float(value or 0)) if is_number else formatting.shorten(text_of(value), 16)


def ending(row: RunRow) -> str:
    """Return in a few words why a run is in its state."""
    if row.state in (RunState.FINISHED, RunState.STOPPED):
        for word, said in _ENDING_WORDS:
            if word in row.reason:
                return said
    broken = _NOT_FINITE.match(row.reason)
    if broken:
        return f"not finite: {broken['what']}"
    killed = _KILLED.match(row.reason)
    return killed.group() if killed else row.reason or str(row.state)


def eta_text(row: RunRow) -> str:
    """Return how long a run will go on, `≤` where a return may end it earlier."""
    if row.eta_s is None:
        return formatting.UNKNOWN
    return f"≤ {formatting.eta(row.eta_s)}" if row.eta_is_bound else formatting.eta(row.eta_s)


def _margin(line: Line, identity: Identity | None, *, here: bool, marked: bool, plain: bool) -> tuple[Part, ...]:
    slot = "muted" if identity is None or identity.slot is None else f"series-{identity.slot + 1}"
    letter = identity.letter if identity else ""
    cursor = (">" if plain else "▌") if here else " "
    fold = " " if not line.is_head else ("v" if plain else "▾") if line.is_open else (">" if plain else "▸")
    sign = letter or ("*" if marked else " ")
    return ((sign, f"{slot} bold{' reverse' if marked else ''}"), (cursor, "accent"), (fold, "muted"))


def _algorithm(row: RunRow, *, wide: bool) -> tuple[Part, ...]:
    """The algorithm, where it is known, and the tool where that is another one and there is room."""
    known = "" if row.algorithm == row.tool else row.algorithm.upper()
    if not row.is_foreign or not wide:
        return cell(known or formatting.UNKNOWN)
    return ((f"{known} " if known else "", ""), (row.tool, "muted"))


def _alarms(row: RunRow) -> tuple[Part, ...]:
    found: list[Part] = []
    if row.anomalies:
        found.append((f" !{row.anomalies}", "warning bold"))
    if row.is_stalled:
        found.append((" ?", "warning bold"))
    return tuple(found)


def _run(line: Line, *, wide: bool, plain: bool) -> tuple[Part, ...]:
    row = line.row
    # Beside the algorithm it would take cells from the end of a narrow line; the name gives way before it does.
    origin: tuple[Part, ...] = ((f" {row.tool}", "muted"),) if row.is_foreign and not wide else ()
    parts: list[Part] = [("" if not row.is_pinned else "* ", "warning bold")] if row.is_pinned else []
    if line.depth:
        branch = ("`- " if line.is_last else "|- ") if plain else ("└ " if line.is_last else "├ ")
        parts.append((f"{'  ' * (line.depth - 1)}{branch}", "muted"))
    if line.is_head:
        alarms = () if wide else _alarms(row)
        return (*parts, (row.env_name, ""), (f" {'x' if plain else '×'}{len(line.members)}", "muted"), *origin, *alarms)
    if line.group:
        parts.append((row.short_id, ""))
    else:
        parts += [(row.env_name, "" if not row.problem else "error"), (f" {row.short_id}", "muted"), *origin]
    # A seed that was drawn is ten digits long and tells nobody anything.
    if row.seed is not None and row.seed < 10_000 and not wide:
        parts.append((f" s{row.seed}", "muted"))
    if not wide:
        # The wide column of states has room for them; beside a bare glyph they would push every name aside.
        parts += _alarms(row)
    if line.change:
        parts.append((f"  {line.change}", "muted"))
    elif row.parent:
        parts.append((" F", "muted"))
    return tuple(parts)


def _progress(row: RunRow, *, plain: bool, wide: bool) -> tuple[Part, ...]:
    look = STATE_LOOKS[row.state]
    if row.problem:
        return cell("damaged", "error")
    if row.state is RunState.QUEUED:
        return cell(_queued(row, wide=wide), "muted")
    if row.state is RunState.STARTING:
        return cell("starting", "muted")
    if row.progress is None:
        return cell(f"{formatting.amount(row.steps)} steps")
    width = 13 if wide else 9
    bar = formatting.bar(row.progress, width, plain=plain)
    return ((bar, look.variable), (f" {formatting.percent(row.progress):>5}", ""))


def _queued(row: RunRow, *, wide: bool) -> str:
    if row.place is None:
        return "queued"
    position = row.place.position
    if wide:
        return "first in the queue" if position == 1 else f"number {position} in the queue"
    return "queued, first" if position == 1 else f"queued, no. {position}"


def _steps(row: RunRow) -> str:
    done = formatting.amount(row.steps)
    return f"{done} of {formatting.amount(row.total_steps)}" if row.total_steps else done


def _eta_or_end(row: RunRow, *, wide: bool) -> tuple[Part, ...]:
    look = STATE_LOOKS[row.state]
    width = 24 if wide else 15
    if row.problem:
        return cell(formatting.shorten(row.problem, width), "error")
    if row.asked:
        return cell(row.asked, STATE_LOOKS["stopping"].variable)
    match row.state:
        case RunState.QUEUED if row.place is not None and row.place.starts_in_s is not None:
            soon = row.place.starts_in_s < 1
            begins = "starts now" if soon else f"in {formatting.eta(row.place.starts_in_s)}"
            return cell(f"starts {begins}" if wide and not soon else begins, "muted")
        case RunState.QUEUED | RunState.STARTING:
            return cell("")
        case RunState.PAUSED:
            since_s = max(0.0, row.created + row.age_s - row.changed)
            return cell(row.reason or f"paused {formatting.age(since_s)} ago", look.variable)
        case RunState.STOPPING:
            since_s = max(0.0, row.created + row.age_s - row.changed)
            return cell(f"saving, {formatting.age(since_s)}", look.variable)
        case RunState.RUNNING:
            if row.is_stalled:
                return cell(f"silent {formatting.age(row.silent_s)}", "warning")
            return cell(eta_text(row))
    colour = look.variable if row.state.is_bad else "muted"
    said = ending(row)
    if row.state is RunState.STOPPED:
        said = f"{said}, {formatting.age(max(0.0, row.created + row.age_s - row.changed))} ago"
    for long, short in _SHORT_ENDINGS if not wide else ():
        said = said.replace(long, short)
    if len(said) > width:
        said = said.removesuffix(" ago")
    return cell(formatting.shorten(said, width), colour)
