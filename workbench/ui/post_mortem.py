"""What the card of a bad ending tells: read off the event loop, then put into words."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from textual.content import Content

from workbench import formatting
from workbench.catalog.entries import Entry
from workbench.catalog.run_config import RunConfig, read_config
from workbench.runs.anomalies import play_command, play_target, window_of
from workbench.runs.diagnosis import RETURN, Compared, Diagnosis, Symptom, diagnose
from workbench.runs.directory import RunDirectory
from workbench.runs.history import History
from workbench.runs.last_words import last_lines
from workbench.ui.charts.spark import sparkline
from workbench.ui.past import CheckpointRow, Past, read_checkpoints, take
from workbench.ui.watch import RunRow

WORDS = 4
"""Lines of the log that are shown."""
_LABEL = 12
_SPARK = 22


@dataclass(frozen=True)
class PostMortem:
    """All that was found out about a bad ending."""

    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    past: Past = field(default_factory=lambda: Past(()))
    checkpoint: CheckpointRow | None = None
    """The last good one."""
    words: tuple[str, ...] = ()
    """The last lines of the log."""
    window: str = ""
    """What shows what led to it: a command, or the file where nothing can be seen of it; empty where nothing is."""
    states: str = ""
    """What `play` calls the states that led to it; empty where none were saved."""


def read(row: RunRow, entry: Entry | None) -> PostMortem:
    """Find out what ended a run; it reads the whole stream and a recipe: not for the event loop.

    Args:
        row: The run.
        entry: Its environment, where it is still known.
    """
    history = History(row.run)
    # A number that no run writes, in a stream that something else did: what was read so far counts.
    with contextlib.suppress(ArithmeticError, TypeError, ValueError):
        history.refresh()
    record = row.run.record()
    past = take(history, record)
    ladder = read_checkpoints(row.run, past)
    config = read_config(record, entry)
    words = row.last_words or last_lines(row.run.log_path, 3 * WORDS)
    found = diagnose(
        {name: (points.steps, points.values) for name, points in past.series.items()},
        reason=row.reason,
        words=words,
        anomalies=[mark for mark in past.marks if mark.get("kind") == "anomaly"],
        scores={
            item.steps: None if item.evaluation is None else item.evaluation.mean_return
            for item in ladder
        },
        settings=compared(config, past.marks),
        usual=config.usual,
    )  # fmt: skip
    good = next((item for item in ladder if item.steps == found.last_good), None)
    return PostMortem(found, past, good, tuple(words[-WORDS:]), *_window(row.run, past))


def _window(run: RunDirectory, past: Past) -> tuple[str, str]:
    """What shows what led to the newest anomaly of which anything was saved, and what `play` calls that."""
    for mark in reversed(past.marks):
        if mark.get("kind") == "anomaly" and window_of(mark):
            return play_command(run, mark) or window_of(mark), play_target(run, mark)
    return "", ""


def compared(config: RunConfig, marks: Sequence[Mapping[str, Any]]) -> list[Compared]:
    """Return the settings a run ended with, beside those of its recipe.

    Args:
        config: What it began with.
        marks: What happened to it.
    """
    given: dict[str, tuple[Any, float]] = {}
    for mark in marks:
        values = mark.get("values")
        if mark.get("kind") == "set" and isinstance(values, dict):
            steps = mark.get("steps")
            given |= {
                key: (value, float(steps) if isinstance(steps, int | float) else 0.0) for key, value in values.items()
            }
    found = []
    for item in config.settings:
        value, since = given.get(item.key, (_plain(item.value), None))
        found.append(Compared(item.key, value, None if item.recipe is None else _plain(item.recipe), since))
    return found


def ending_line(row: RunRow, words: Sequence[str]) -> Content:
    """Return what died, where, after how long, and of what."""
    of = f" of {formatting.amount(row.total_steps)} steps" if row.total_steps else " steps"
    share = "" if row.progress is None else f", {formatting.percent(row.progress)}"
    reason = row.problem or without_words(row.reason, words)
    return Content.assemble(
        (str(row.state), "$error bold"),
        f" at {formatting.amount(row.steps)}{of}{share}, after {formatting.duration(row.active_s)}",
        f": {reason}" if reason else "",
    )


def facts(row: RunRow, found: PostMortem, width: int, *, plain: bool) -> list[Content]:
    """Return the lines below the first: what went bad first and its course, the likely reason, the last good one."""
    diagnosis = found.diagnosis
    lines = []
    if diagnosis.symptom is not None:
        lines.append(_labelled("first bad", first_bad(diagnosis.symptom), width))
    drawn = Content("") if plain else sparks(found.past, diagnosis.symptom)
    lines += [drawn] if drawn.cell_length else []
    cause = diagnosis.cause
    lines.append(_labelled("likely", cause.text if cause else "nothing stands out: o shows the log", width))
    if cause is not None and cause.hint:
        lines.append(_labelled("", cause.hint, width, "$muted"))
    good = good_text(found, has_any=row.run.latest() is not None, plain=plain)
    lines.append(_labelled("last good", good, width))
    if found.window:
        lines.append(_labelled("window", f"{found.window}{'   p plays it' if found.states else ''}", width))
    return lines


def first_bad(symptom: Symptom) -> str:
    """Return the metric that went wrong first, and how long before the end."""
    if symptom.points_after < 1:
        when = "at the very end"
    else:
        when = f"{formatting.plural(symptom.points_after, 'iteration')} before the end"
    return f"{symptom.text}, {when}"


def sparks(past: Past, symptom: Symptom | None) -> Content:
    """Return the course of the return, and of the metric that went wrong, in one line."""
    parts = []
    for name in dict.fromkeys([RETURN, "" if symptom is None else symptom.metric]):
        points = past.series.get(name)
        if points is None:
            continue
        values, label = points.values, "return" if name == RETURN else name.rpartition("/")[2]
        finite = values[np.isfinite(values)]
        if name != RETURN and len(finite) and finite.min() > 0 and finite.max() > 100 * finite.min():
            values, label = np.log10(np.where(values > 0, values, np.nan)), f"{label}, log"
        drawn = sparkline(values, _SPARK)
        if drawn:
            parts += [(drawn, "$series-1" if name == RETURN else "$error"), (f" {label}   ", "$muted")]
    return Content.assemble(" " * _LABEL, *parts) if parts else Content("")


def good_text(found: PostMortem, *, has_any: bool, plain: bool) -> str:
    """Return the last good checkpoint with its score, or why there is none."""
    if found.checkpoint is None:
        return "none: every checkpoint is from after it" if has_any else "no checkpoint was written"
    score = found.checkpoint.evaluation
    said = "" if score is None else f"   evaluation {formatting.spread(score.mean_return, score.std_return)}"
    return f"{'' if plain else '◇ '}{formatting.digits(found.checkpoint.steps)}{said}"


def without_words(reason: str, words: Sequence[str]) -> str:
    """Return a reason without the last line of the log at its end, which stands below, and without its checkpoint."""
    reason = reason.partition("; the last checkpoint is ")[0]
    return reason.removesuffix(words[-1]).removesuffix(": ") if words and reason != words[-1] else reason


def _labelled(label: str, text: str, width: int, style: str = "") -> Content:
    """A line with its label in front; what does not fit goes on below the text."""
    wrapped = textwrap.wrap(text, max(20, width - _LABEL)) or [""]
    lines = [Content.assemble((label.ljust(_LABEL), "$muted"), (wrapped[0], style))]
    lines += [Content.assemble(" " * _LABEL, (line, style)) for line in wrapped[1:]]
    return Content("\n").join(lines)


def _plain(text: str) -> Any:
    """Return a setting as the value its text stands for, where it is a switch."""
    return {"yes": True, "no": False}.get(text, text)
