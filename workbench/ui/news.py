"""What happened between two looks at the runs that is worth a word: how a run ended, and what went wrong in one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench import formatting
from workbench.runs.anomalies import in_words, kind_in_words
from workbench.runs.directory import RunDirectory
from workbench.runs.states import RunState
from workbench.ui.asking import Said, newest_event

if TYPE_CHECKING:
    from workbench.ui.watch import RunRow

_GOAL = re.compile(r"\breached ([^,]+)")
"""What a run's reason says where it ended on its goal, `… reached 2 000, 2 evaluations in a row`."""


def news_of(before: Sequence[RunRow], rows: Sequence[RunRow]) -> list[Said]:
    """Return what to tell of runs that have changed; each sentence ends in the key that follows it up.

    Args:
        before: The runs as they were.
        rows: As they are. One that was not there before is no news.
    """
    known = {row.path: row for row in before}
    said: list[Said] = []
    for row in rows:
        old = known.get(row.path)
        if old is not None and (
            old.state is not row.state or old.anomalies < row.anomalies or old.warning != row.warning
        ):
            said += _news(old, row)
    return said


def _news(old: RunRow, row: RunRow) -> Iterator[Said]:
    name = row.title
    if old.state is not row.state:
        match row.state:
            case RunState.FINISHED if row.is_foreign:
                yield Said(f"{name} {_reached(row)} at {formatting.amount(row.steps)}. enter opens it.")
            case RunState.FINISHED:
                yield Said(f"{name} {_reached(row)} at {formatting.amount(row.steps)}. v watches it.")
            case RunState.FAILED | RunState.CRASHED:
                reason = f": {formatting.shorten(row.reason, 80)}" if row.reason else ""
                yield Said(f"{name} {row.state}{reason}. enter opens the card.", is_bad=True)
    if old.anomalies < row.anomalies:
        yield Said(f"{_anomaly(row.run, row.anomalies - old.anomalies)} in {name}. e shows it.", is_bad=True)
    if row.warning and old.warning != row.warning:
        yield Said(f"{name}: {formatting.shorten(row.warning.rstrip('.'), 90)}. e shows it.", is_bad=True)


def _reached(row: RunRow) -> str:
    """Return what a run that has finished did: `reached 2 000` where that was its goal."""
    goal = _GOAL.search(row.reason)
    return f"reached {goal[1].strip()}" if goal else "finished"


def _anomaly(run: RunDirectory, count: int) -> str:
    told = newest_event(run, "anomaly") or {}
    message = told.get("message") or told.get("what")
    if count > 1 or not isinstance(message, str) or not message:
        return formatting.plural(count, "anomaly", "anomalies").capitalize()
    said = in_words(told)
    return formatting.shorten(said[:1].upper() + said[1:] if kind_in_words(told) else said, 90)
