"""What stands above a run's sections: what it is, where it comes from, how far it is and how well it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from textual.content import Content

from workbench import formatting
from workbench.runs.states import RunState
from workbench.ui.past import CheckpointRow, Past
from workbench.ui.run_charts import Spec
from workbench.ui.run_rows import ending, eta_text
from workbench.ui.theme import STATE_LOOKS
from workbench.ui.watch import RunRow

BAR_WIDTH = 30
LEAST_WORDS = 12
"""What is cut shorter than this says nothing."""
_WIDE = 118
"""Cells from which on lineage, the process and iterations have room."""
_SPLIT = 128
"""And where the time goes."""
_PARTS = (("collection", "rollout"), ("update", "update"), ("evaluation", "evaluation"), ("checkpoint", "checkpoint"))
"""Metrics of the seconds between two rows, and what they are called."""
_RECENT = 10
"""Rows over which the time is told apart."""


@dataclass(frozen=True)
class Kin:
    """The runs that a run belongs to."""

    group: int = 1
    """How many were launched together with it and differ in seed only, itself included."""
    origin: str = ""
    """What it was forked from: `F 3 M of 2b60`."""
    children: tuple[str, ...] = ()
    """Short ids of the runs that were forked from it."""

    @classmethod
    def of(cls, row: RunRow, rows: Sequence[RunRow]) -> Kin:
        """Find them among all runs."""
        alike = [other for other in rows if row.group and other.group == row.group and other.env_id == row.env_id
                 and other.algorithm == row.algorithm]  # fmt: skip
        origin = ""
        if row.parent:
            known = row.parent_run[-4:] if row.parent_run else row.parent
            origin = f"F {formatting.amount(row.start_steps)} of {known}"
        children = tuple(other.short_id for other in rows if other.parent_run == row.name and other.name != row.name)
        return cls(max(1, len(alike)), origin, children)


def time_split(past: Past) -> str:
    """Return where the time of the last rows of metrics went, in percent; empty where that is not told."""
    spent = []
    for part, label in _PARTS:
        points = past.series.get(f"time/{part}_s")
        if points is not None:
            spent.append((label, float(np.nansum(points.values[-_RECENT:]))))
    idle = past.series.get("time/idle_s")
    whole = sum(seconds for _, seconds in spent) + (0.0 if idle is None else float(np.nansum(idle.values[-_RECENT:])))
    if whole <= 0:
        return ""
    shares = [f"{label} {round(100 * seconds / whole)}" for label, seconds in spent if seconds >= 0.005 * whole]
    return f"{' · '.join(shares)}{formatting.SPACE}%" if shares else ""


def head_lines(
    row: RunRow,
    checkpoints: Sequence[CheckpointRow],
    spec: Spec,
    width: int,
    *,
    plain: bool,
    short: bool,
    kin: Kin | None = None,
    split: str = "",
) -> Content:
    """Return what the run is, how far it is, and how well it does: three lines, or two where there is little room.

    Args:
        row: The run as the list has it.
        checkpoints: What is on disk.
        spec: What it was asked to do.
        width: Cells.
        plain: ASCII alone.
        short: Leave the results out.
        kin: The runs it belongs to.
        split: Where its time goes.
    """
    lines = [_identity(row, width, kin or Kin(), plain=plain), progress_line(row, width, split, plain=plain)]
    if not short:
        lines.append(
            _results(row, checkpoints if width >= 98 else (), spec, plain=plain).truncate(width, ellipsis=True)
        )
    return Content("\n").join(lines)


def _identity(row: RunRow, width: int, kin: Kin, *, plain: bool) -> Content:
    look = STATE_LOOKS[row.state]
    wide, gap = width >= _WIDE, "   " if width >= _WIDE else "  "
    seed = "" if row.seed is None else f"{gap}seed {row.seed}"
    tags = f"{gap}{' '.join(row.tags)}" if row.tags else ""
    group = f"{gap}in group ×{kin.group}" if kin.group > 1 else ""
    origin = kin.origin if not wide else kin.origin or ("parent: none" if width >= 150 else "")
    left = Content.assemble(
        (f"{look.plain if plain else look.glyph} {row.state}", f"${look.variable}"),
        (f"{gap}{row.env_name} {row.short_id}", "bold"),
        f"{gap}{row.algorithm.upper()}{seed}",
        (group if wide else "", ""),
        (tags, "$muted"),
        (f"{gap}{origin}" if origin else "", "$accent" if kin.origin else "$muted"),
        (f"{gap}forks {' '.join(kin.children)}" if wide and kin.children else "", "$accent"),
    )
    since = f"since {formatting.clock(row.created)}, {formatting.duration(row.active_s)}"
    if row.pid is not None and wide and row.state.is_live:
        since = process_text(row) + since
    return spread_out(left, Content.styled(since, "$muted"), width)


def process_text(row: RunRow) -> str:
    """Return which process carries the run, and when it was last heard of."""
    beat = "" if row.silent_s is None else f"beat {formatting.age(row.silent_s)} ago   "
    return f"pid {row.pid}   {beat}"


def progress_line(row: RunRow, width: int, split: str, *, plain: bool) -> Content:
    """Return how far a run or a group is: a bar, numbers, and how long it still takes or how it ended.

    Args:
        row: The run, or what stands for a group.
        width: Cells.
        split: Where its time goes.
        plain: ASCII alone.
    """
    look = STATE_LOOKS[row.state]
    if row.state.is_ended:
        right = Content.styled(
            (row.reason or str(row.state)) if width >= _WIDE else ending(row),
            f"${look.variable}" if row.state.is_bad else "$muted",
        )
    elif row.state is RunState.QUEUED:
        right = Content.styled("waits for a core", "$muted")
    elif row.is_stalled:
        right = Content.styled(f"silent for {formatting.duration(row.silent_s)}", "$warning")
    elif row.eta_s is not None:
        right = Content(f"{formatting.eta(row.eta_s)} left{' at most' if row.eta_is_bound else ''}")
    else:
        right = Content(eta_text(row) if row.state is RunState.RUNNING else str(row.state))
    done = formatting.amount(row.steps)
    steps = f"{done} of {formatting.amount(row.total_steps)}" if row.total_steps else f"{done} steps"
    if row.iteration and width >= _WIDE:
        steps += f"   iteration {formatting.digits(row.iteration)}"
    if row.steps_per_s is not None:
        steps += f"  {formatting.amount(row.steps_per_s)}/s"
    if split and width >= _SPLIT:
        steps += f"   {split}"
    if row.progress is None:
        return spread_out(Content(steps), right, width)
    steps = f" {formatting.percent(row.progress)}  {steps}"
    # The bar gives way: it says nothing that the number beside it does not.
    widest = BAR_WIDTH if width < _WIDE else 2 * BAR_WIDTH
    room = min(widest, max(BAR_WIDTH // 3, width - len(steps) - right.cell_length - 2))
    bar = formatting.bar(row.progress, room, plain=plain)
    return spread_out(Content.assemble((bar, f"${look.variable}"), steps), right, width)


def _results(row: RunRow, checkpoints: Sequence[CheckpointRow], spec: Spec, *, plain: bool) -> Content:
    parts: list[tuple[str, str]] = [("return ", "$muted"), (formatting.number(row.last_return), "")]
    if row.best is not None:
        score = formatting.spread(row.best.mean_return, row.best.std_return)
        parts += [
            ("   best evaluation ", "$muted"),
            (score, ""),
            (f" {'at' if plain else '◆'} {formatting.amount(row.best.steps)}", "$success"),
        ]
    if spec.goal is not None:
        parts += [("   goal ", "$muted"), (formatting.number(spec.goal), "")]
    if checkpoints:
        parts.append((f"   {formatting.plural(len(checkpoints), 'checkpoint')}", "$muted"))
    if row.anomalies:
        parts.append((f"   ! {formatting.plural(row.anomalies, 'anomaly', 'anomalies')}", "$warning bold"))
    return Content.assemble(*parts)


def spread_out(left: Content, right: Content, width: int) -> Content:
    """Put something at both ends of a line; the right one is cut, or goes, where both do not fit."""
    space = width - left.cell_length - right.cell_length
    if space >= 2:
        return Content.assemble(left, " " * space, right)
    shorter = right.truncate(max(0, width - left.cell_length - 2), ellipsis=True)
    if shorter.cell_length >= LEAST_WORDS:
        return Content.assemble(left, "  ", shorter)
    return left.truncate(width, ellipsis=True)
