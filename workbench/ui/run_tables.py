"""The checkpoints and the events of a run as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench import formatting
from workbench.runs.anomalies import in_words, window_of
from workbench.runs.film_events import failure_in_words
from workbench.runs.history import Evaluation
from workbench.ui.past import CheckpointRow, Past
from workbench.ui.theme import STATE_LOOKS
from workbench.ui.widgets.rows import Column, Part, Row, cell

_SIGN, _STEP, _KEPT = Column("sign"), Column("steps", "Step", "right"), Column("kept", "Kept", grows=True)
_EVALUATION, _RESCORED = Column("evaluation", "Evaluation (n)", least=14), Column("rescored", "Re-scored")
_VIDEO, _SIZE, _AGE = Column("video", "Film"), Column("size", "Size", "right"), Column("age", "Age", "right", least=4)
CHECKPOINT_COLUMNS = (_SIGN, _STEP, _EVALUATION, _RESCORED, _KEPT, _VIDEO, _SIZE, _AGE)
"""Where there is room for all of them."""
_ROOMY, _WITH_REASON = 62, 54
_OF_ENDED = ("scores", "best", "request")
"""Events that come of a run that has ended, too, where there is no step to tell."""
_PLAIN = {"◆": "+", "◇": "o", "*": "*"}
"""Signs of checkpoints in ASCII."""
EVENT_COLUMNS = (Column("time"), Column("steps", align="right"), Column("text", grows=True))


def checkpoint_columns(checkpoints: Sequence[CheckpointRow], width: int) -> tuple[Column, ...]:
    """Return the columns of a table of checkpoints: those that say something, as far as there is room.

    Args:
        checkpoints: What it lists.
        width: Cells inside its frame.
    """
    again = any(item.rescored for item in checkpoints)
    columns = [_SIGN, _STEP, _EVALUATION, *([_RESCORED] if again else [])]
    # What is best and what is pinned has a sign, and the newest stands on top.
    columns += [_KEPT] if width >= _WITH_REASON or not again else []
    columns += [_VIDEO] if any(item.videos for item in checkpoints) else []
    columns += [_SIZE] if width >= _ROOMY or not again else []
    return (*columns, _AGE)


def checkpoint_rows(checkpoints: Sequence[CheckpointRow], now: float, *, plain: bool = False) -> list[Row]:
    """Return the checkpoints, newest first."""
    return [
        Row(
            str(item.steps),
            {
                "sign": cell(
                    _PLAIN[item.sign] if plain else item.sign, "success bold" if item.sign == "◆" else "muted"
                ),
                "steps": cell(formatting.digits(item.steps)),
                "evaluation": _score(item.evaluation),
                "rescored": _score(item.rescored, unknown=""),
                "video": cell("▸" * (item.videos > 0) + f" {item.videos}" * (item.videos > 1), "muted"),
                "kept": cell(_kept(item), "muted"),
                "size": cell(formatting.size(item.size_bytes), "muted"),
                "age": cell(formatting.age(max(0.0, now - item.written) if item.written else None), "muted"),
            },
        )
        for item in checkpoints
    ]


def _kept(item: CheckpointRow) -> str:
    """Why it is kept; what its sign says already gives way to what it does not."""
    words = item.kept.split(", ")
    return ", ".join(words[1:] if len(words) > 1 and words[0] == "best" else words)


def checkpoint_summary(checkpoints: Sequence[CheckpointRow]) -> str:
    """Return how many there are and how much they take."""
    total = formatting.size(sum(item.size_bytes for item in checkpoints))
    return f"Checkpoints · {formatting.digits(len(checkpoints))}, {total}" if checkpoints else "Checkpoints"


def event_rows(past: Past, *, plain: bool) -> list[Row]:
    """Return what happened to the run, newest first."""
    rows = []
    for number, mark in enumerate(past.marks):
        sign, colour, text = _told(mark, plain=plain)
        if not text:
            continue
        when, steps = mark.get("time"), mark.get("steps")
        if not steps and mark.get("kind") in _OF_ENDED:
            steps = None
        rows.append(
            Row(
                str(number),
                {
                    "time": cell(formatting.clock(_number(when), seconds=True), "muted"),
                    "steps": cell(formatting.amount(_number(steps)), "muted"),
                    "text": ((f"{sign} ", colour), (text, "")),
                },
            )
        )
    return rows[::-1]


def _score(score: Evaluation | None, unknown: str = formatting.UNKNOWN) -> tuple[Part, ...]:
    if score is None:
        return cell(unknown, "muted")
    of = f" ({len(score.returns)})" if score.returns else ""
    return ((formatting.spread(score.mean_return, score.std_return), ""), (of, "muted"))


def _told(mark: Mapping[str, Any], *, plain: bool) -> tuple[str, str, str]:
    """The sign of an event, its colour, and what it says; nothing for what no person asked for."""
    kind = str(mark.get("kind"))
    reason = str(mark.get("reason") or "")
    match kind:
        case "state":
            state = str(mark.get("state"))
            look = STATE_LOOKS.get(state)
            if look is None:
                return "·", "muted", state
            text = f"{state}: {reason}" if reason else state
            return look.plain if plain else look.glyph, look.variable, text
        case "evaluation":
            score = formatting.spread(_number(mark.get("mean_return")), _number(mark.get("std_return")))
            return "-" if plain else "•", "", f"evaluation {score}"
        case "checkpoint":
            return "o" if plain else "◇", "muted", "checkpoint written"
        case "anomaly":
            window = window_of(mark)
            return "!", "warning bold", f"{in_words(mark)}{f' · {window}' if window else ''}"
        case "request":
            done = "done" if mark.get("ok") else f"refused{f': {reason}' if reason else ''}"
            return "›", "primary", f"{mark.get('verb') or 'request'} {done}"
        case "resumed" if mark.get("because"):
            why = str(mark["because"]).replace("_", " ")
            return "R", "warning", f"went back to {formatting.amount(_number(mark.get('from_steps')))}: {why}"
        case "resumed":
            return "R", "primary", f"went on from {formatting.amount(_number(mark.get('from_steps')))}"
        case "set":
            return "C", "primary", _changes(mark)
        case "scores" if mark.get("failure"):
            return "•", "warning", f"scores failed: {mark['failure']}"
        case "scores" if mark.get("by") == "run":
            score = formatting.spread(_number(mark.get("mean_return")), _number(mark.get("std_return")))
            claimed = formatting.number(_number(mark.get("claimed")))
            return "•", "", f"re-scored {formatting.amount(_number(mark.get('of_steps')))} {score}, claimed {claimed}"
        case "best" if mark.get("failure"):
            return "•", "warning", f"best not settled: {mark['failure']}"
        case "best":
            score = formatting.spread(_number(mark.get("mean_return")), _number(mark.get("std_return")))
            text = f"best is {formatting.amount(_number(mark.get('of_steps')))}, by new episodes {score}"
            return "+" if plain else "◆", "success", text
        case "film" if failure := failure_in_words(mark):
            return "•", "warning", failure
        case "scores":
            score = formatting.spread(_number(mark.get("mean_return")), _number(mark.get("std_return")))
            return "•", "", f"scored {formatting.amount(_number(mark.get('of_steps')))} on request {score}"
    return "·", "muted", kind


def _changes(mark: Mapping[str, Any]) -> str:
    """What a run was given: `ppo.learning_rate 0.0003 → 0.0001`."""
    values, old = mark.get("values"), mark.get("old")
    if not isinstance(values, dict):
        return "a value"
    before = old if isinstance(old, dict) else {}
    return ", ".join(
        f"{key} {_shown(before[key])} → {_shown(value)}" if key in before else f"{key} → {_shown(value)}"
        for key, value in values.items()
    )


def _shown(value: Any) -> str:
    if value is None or value == {}:
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
