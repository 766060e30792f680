"""A run in words, as `train`, `runs` and `stop` write them to a terminal or a pipe."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, TextIO

from workbench.formatting import UNKNOWN, age, amount, bar, duration, eta, number, percent, shorten
from workbench.verbs.writing import PLAIN_SIGNS, can_show, on_one_line

if TYPE_CHECKING:
    from workbench.runs.queueing import QueuePlace
    from workbench.runs.summary import RunSummary

_BAR_WIDTHS = (24, 16, 8, 0)
_ASCII = str.maketrans(PLAIN_SIGNS)
_NOTICED = 0.01
"""A share that a reader tells from another."""


def for_stream(text: str, stream: TextIO) -> str:
    """Return text as the stream can show it: plain spaces, and ASCII signs where it has no others."""
    text = on_one_line(text.replace("\u00a0", " "))
    return text if can_show(text, stream) else text.translate(_ASCII).encode("ascii", "replace").decode()


def write_line(text: str, stream: TextIO) -> None:
    """Write one line, and see to it that it is read now."""
    stream.write(for_stream(text, stream) + "\n")
    stream.flush()


def glyph(row: RunSummary, stream: TextIO) -> str:
    """Return the sign of a run's state."""
    sign = row.state.glyph
    return row.state.plain_glyph if for_stream(sign, stream) != sign else sign


def width_of(stream: TextIO) -> int | None:
    """Return how many columns a terminal has; nothing for a pipe, whose lines are never cut."""
    return max(20, shutil.get_terminal_size().columns) if stream.isatty() else None


def short_title(row: RunSummary) -> str:
    """Return what a run is called in one glance: `half_cheetah b19e`."""
    return f"{row.env_name} {row.short_id}"


def algorithm_text(row: RunSummary) -> str:
    """Return the algorithm, and the tool that made a run where that is another one: `PPO zoo`."""
    if not row.tool or row.algorithm == row.tool:
        return row.algorithm.upper() if not row.tool else row.tool
    return f"{row.algorithm.upper()} {row.tool}"


def steps_text(row: RunSummary) -> str:
    """Return the steps done, of how many where these end the run first: `9.15 of 15 M`."""
    # Another limit is nearer: its share stands beside, and would seem to be that of the steps.
    is_outrun = row.total_steps and (row.progress or 0.0) > row.steps / row.total_steps + _NOTICED
    if not row.total_steps or is_outrun:
        return amount(row.steps)
    done, total = amount(row.steps), amount(row.total_steps)
    unit = total.partition("\u00a0")[2]
    return f"{done.removesuffix(unit).rstrip() if unit and done.endswith(unit) else done} of {total}"


def remaining_text(row: RunSummary) -> str:
    """Return the remaining time, as a bound where a goal may end the run earlier."""
    text = eta(row.eta_s)
    return f"≤ {text}" if row.eta_is_bound and text != UNKNOWN else text


def place_text(place: QueuePlace) -> str:
    """Return where a queued run stands and about when it starts: `first in the queue, starts in ~10m`."""
    where = "first in the queue" if place.position == 1 else f"{place.position}. in the queue"
    if place.starts_in_s is None:
        return where
    return f"{where}, starts {'now' if place.starts_in_s < 1 else f'in ~{eta(place.starts_in_s)}'}"


def end_text(row: RunSummary, *, now: float, place: QueuePlace | None = None) -> str:
    """Return when a run will be done, or what ended it.

    Args:
        row: The run.
        now: Unix seconds.
        place: Its place in the queue, where that is known.
    """
    since_s = max(0.0, now - row.changed)
    match row.state:
        case "queued":
            return "queued" if place is None else place_text(place)
        case "running" if row.is_stalled:
            return f"silent {age(row.silent_s)}"
        case "running":
            # What it does after its training is told in so many words.
            return row.reason or remaining_text(row)
        case "paused" if row.reason:
            return row.reason
        case "paused":
            return f"paused {age(since_s)} ago"
        case "stopping":
            return f"saving, {duration(since_s)}"
        case "starting":
            return "starting"
    return row.reason or str(row.state)


def progress_line(row: RunSummary, *, now: float, stream: TextIO) -> str:
    """Return one run on one line: on a terminal with a bar, as wide as there is room for; in a pipe without."""
    width = width_of(stream)
    if width is None:
        return "  ".join(_progress_parts(row, now, stream, bar_width=0))
    lines = ["  ".join(_progress_parts(row, now, stream, bar_width)) for bar_width in _BAR_WIDTHS]
    return shorten(next((line for line in lines if len(line) < width), lines[-1]), width - 1)


def _progress_parts(row: RunSummary, now: float, stream: TextIO, bar_width: int) -> list[str]:
    parts = [f"{glyph(row, stream)} {short_title(row)} {row.algorithm.upper()}"]
    if row.progress is not None:
        drawn = bar(row.progress, bar_width)
        parts.append(f"{drawn} {percent(row.progress)}" if drawn else percent(row.progress))
    parts.append(steps_text(row) + " steps")
    if row.steps_per_s is not None:
        parts.append(f"{amount(row.steps_per_s)}/s")
    if row.last_return is not None:
        parts.append(f"return {number(row.last_return)}")
    if row.state != "running" or row.is_stalled:
        ending = end_text(row, now=now)
        parts.append(ending if ending.startswith(str(row.state)) else f"{row.state}: {ending}")
    elif row.eta_s is not None:
        parts.append(f"{remaining_text(row)} left")
    return parts


def ending_lines(row: RunSummary) -> list[str]:
    """Return what a person wants to know of a run that has just ended."""
    best = row.run.best()
    latest = row.run.latest()
    head = [f"{row.env_name} {row.short_id} {row.algorithm.upper()}"]
    if row.seed is not None:
        head.append(f"seed {row.seed}")
    # What failed may be a sentence with its own full stop.
    head.append(f"{row.state}: {row.reason.rstrip('.')}" if row.reason else str(row.state))
    head.append(f"{amount(row.steps)} steps")
    if row.last_return is not None:
        head.append(f"return {number(row.last_return)}")
    lines = [", ".join(head)]
    if best is not None:
        lines.append(f"  best    {best.path}{_scored(row)}")
    elif latest is not None:
        lines.append(f"  latest  {latest.path}")
    lines += [f"  | {words}" for words in row.last_words]
    lines.append(f"  folder  {row.run.path}")
    return lines


def _scored(row: RunSummary) -> str:
    """What the best checkpoint was scored with; beside a score on new episodes what the run had claimed."""
    if row.best is None:
        return ""
    claimed = "" if row.best.claimed_return is None else f", claimed {number(row.best.claimed_return)}"
    return f"  ({number(row.best.mean_return)} ± {number(row.best.std_return)}{claimed})"
