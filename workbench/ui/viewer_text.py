"""What the Viewer place says of what plays, as text: its numbers, its reward terms, its episodes, its checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from textual.content import Content

from workbench.formatting import MINUS, age, amount, bar, digits, number, shorten, spread
from workbench.ui.charts.spark import sparkline
from workbench.ui.past import CheckpointRow
from workbench.ui.playing import Episode, Playing, ViewerState

WIDE = 48
"""Columns from which on numbers stand beside each other."""

ACTS = {True: "stochastic", False: "deterministic"}
MOST_TERMS = 8
_MUTED = "$muted"
_PLAIN = {"◇": "o", "◆": "#"}
"""Checkpoints in ASCII."""


def control_text(
    playing: Playing, checkpoints: Sequence[CheckpointRow], *, width: int, height: int, age_s: float, plain: bool
) -> Content:
    """Return the lines of the control pane.

    Args:
        playing: What plays.
        checkpoints: Those of its run, in any order.
        width: Columns there are.
        height: Rows there are; finished episodes take what is left.
        age_s: How long ago the state was told.
        plain: Signs of ASCII only.
    """
    state = playing.state
    if state is None:
        return Content("")
    lines = _who(state, checkpoints, width, age_s, plain)
    lines += _where(playing, state, width, plain)
    terms = _terms(playing, state, width, plain)
    lines += ([Content("")] if terms else []) + terms
    room = height - len(lines) - 1
    done = [_episode(episode, width) for episode in reversed(playing.episodes)][: max(0, room)]
    lines += ([Content("")] if done else []) + done
    return Content("\n").join(lines)


def _who(
    state: ViewerState, checkpoints: Sequence[CheckpointRow], width: int, age_s: float, plain: bool
) -> list[Content]:
    row = next((row for row in checkpoints if row.steps == state.checkpoint), None)
    lines = []
    if state.checkpoint is None:
        lines.append(_named("agent", state.agent, "screen.open_selected", plain=plain))
    else:
        said = _checkpoint(state, row, width, age_s, plain)
        lines.append(_named("checkpoint", said, "screen.open_selected", plain=plain))
        score = None if row is None else row.evaluation
        said = "not yet" if score is None else spread(score.mean_return, score.std_return)
        count = f" ({len(score.returns)})" if score is not None and score.returns else ""
        lines.append(_named("evaluated", said + count))
        lines.append(_named("acts", ACTS[state.stochastic], "screen.sample", plain=plain))
    return lines


def _checkpoint(state: ViewerState, row: CheckpointRow | None, width: int, age_s: float, plain: bool) -> str:
    """Return the checkpoint that acts: sign, steps, what it is kept as where there is room, age."""
    wide = width >= WIDE
    steps = digits(state.checkpoint) if wide else amount(state.checkpoint)
    sign, kept = ("◇", "") if row is None else (row.sign, row.kept.split(",")[0])
    sign = _PLAIN.get(sign, sign) if plain else sign
    old = "" if state.age_s is None else f", {age(state.age_s + age_s)}{' old' if wide else ''}"
    whole = f"{sign} {steps}{f' {kept}' if kept else ''}{old}"
    return whole if len(whole) <= width - 13 else f"{sign} {steps}{old}"


def _where(playing: Playing, state: ViewerState, width: int, plain: bool) -> list[Content]:
    play, pause = (">", "=") if plain else ("▶", "‖")
    speed = Content.assemble(
        (play if state.playing else pause, "$primary bold"), f" {state.speed:g}{'x' if plain else '×'}"
    )
    limit = playing.ready.limit if playing.ready is not None else None
    past = "" if state.is_live else " past"
    if width >= WIDE:
        step = f"step {digits(state.step)}{f' of {digits(limit)}' if limit else ''}{past}"
        return [
            Content.assemble(
                ("seed       ", _MUTED), digits(state.seed), ("    episode ", _MUTED), digits(state.episode), "      ",
                speed,
            ),
            Content(
                f"{step}   {number(state.time_s)}\u00a0s   return {number(state.return_)}   "
                f"reward {_signed(state.reward)}"
            ),
        ]  # fmt: skip
    return [
        Content.assemble(speed, ("   seed ", _MUTED), digits(state.seed), ("  ep ", _MUTED), digits(state.episode)),
        Content(f"step {digits(state.step)}{past}   return {number(state.return_)}"),
    ]


def _terms(playing: Playing, state: ViewerState, width: int, plain: bool) -> list[Content]:
    is_wide = width >= WIDE
    name_width, bar_width = (12, 12) if is_wide else (9, 8)
    largest = max((abs(value) for course in playing.terms.values() for value in course), default=0.0)
    lines = []
    for name, value in list(state.terms.items())[:MOST_TERMS]:
        share = 0.0 if value is None or not largest else min(1.0, abs(value) / largest)
        colour = "$error" if value is not None and value < 0 else "$primary"
        full = bar(max(share, 1 / bar_width) if share else 0.0, bar_width, plain=plain)
        parts: list[tuple[str, str]] = [
            (f"{shorten(name, name_width):<{name_width}} ", _MUTED), (full, colour), (f" {_term(value):>7}", ""),
        ]  # fmt: skip
        course = playing.terms.get(name)
        if is_wide and course and not plain:
            parts.append((f"  {sparkline(np.array(course), width - name_width - bar_width - 11)}", "$secondary"))
        lines.append(Content.assemble(*parts))
    if len(state.terms) > MOST_TERMS:
        lines.append(Content.styled(f"and {len(state.terms) - MOST_TERMS} more", _MUTED))
    return lines


def _episode(episode: Episode, width: int) -> Content:
    if width >= WIDE:
        steps = f"{digits(episode.length)} steps"
        left = f"{episode.number:>3}  seed {digits(episode.seed)}  {steps}  {shorten(episode.reason, 18)}"
    else:
        left = f"{episode.number:>2} {shorten(episode.reason, 14)}"
    value = number(episode.return_)
    room = width - len(left) - len(value)
    return Content.assemble((left, _MUTED), " " * max(1, room), value)


def _named(name: str, value: str, action: str = "", *, plain: bool = False) -> Content:
    style = f"@click={action}" if action else ""
    return Content.assemble((f"{name:<11}", _MUTED), (value, style), (" ▾" if action and not plain else "", _MUTED))


def _term(value: float | None) -> str:
    """Return a reward term with decimals that do not change from step to step."""
    if value is None or abs(value) >= 1000:
        return _signed(value)
    return f"{value:+.{2 if abs(value) >= 0.1 else 3}f}".replace("-", MINUS)


def _signed(value: float | None) -> str:
    text = number(value)
    return f"+{text}" if value is not None and value > 0 else text


def ladder_marks(checkpoints: Sequence[CheckpointRow], count: int, current: int | None) -> list[CheckpointRow]:
    """Return at most `count` checkpoints, fewest steps first: the ends, the best and the current, others evenly."""
    rows = sorted(checkpoints, key=lambda row: row.steps)
    if len(rows) <= count:
        return rows
    must = {0, len(rows) - 1, *(place for place, row in enumerate(rows) if row.sign == "◆" or row.steps == current)}
    for place in np.linspace(0, len(rows) - 1, count).round().astype(int):
        if len(must) < count:
            must.add(int(place))
    return [rows[place] for place in sorted(must)]


def ladder_text(
    checkpoints: Sequence[CheckpointRow], state: ViewerState | None, *, width: int, plain: bool = False
) -> Content:
    """Return the line of checkpoints; a click on one lets it act."""
    if state is None:
        return Content("")
    follow = f"f follow the newest: {'on' if state.follow else 'off'}"
    if not checkpoints:
        said = "none: an agent acts" if state.checkpoint is None else "reading"
        return Content.assemble((" checkpoints  ", _MUTED), said)
    first, last = (end(row.steps for row in checkpoints) for end in (min, max))
    room = width - len(f" checkpoints  {amount(first)}  {amount(last)}    {follow} ")
    marks = ladder_marks(checkpoints, max(3, room // 3), state.checkpoint)
    parts: list[tuple[str, str]] = [(f" checkpoints  {amount(first)}", _MUTED)]
    for row in marks:
        sign = _PLAIN.get(row.sign, row.sign) if plain else row.sign
        colour = "$primary bold reverse" if row.steps == state.checkpoint else ""
        parts += [
            (" " if row is marks[0] else "  ", ""),
            (sign, f"{colour} @click=screen.take_checkpoint({row.steps})".strip()),
        ]
    parts += [(f" {amount(last)}", _MUTED)]
    line = Content.assemble(*parts)
    course = _course(checkpoints, state.checkpoint)
    if course and line.cell_length + len(course) + len(follow) + 12 <= width:
        line = Content.assemble(line, (f"      {course}", _MUTED))
    gap = max(2, width - line.cell_length - len(follow) - 1)
    return Content.assemble(line, " " * gap, (follow, "$primary" if state.follow else _MUTED))


def _course(checkpoints: Sequence[CheckpointRow], current: int | None) -> str:
    """Return how far the evaluation has come from the first checkpoint to the one that acts: `return 902 → 1 688`."""
    rows = sorted(checkpoints, key=lambda row: row.steps)
    scores = [row.evaluation.mean_return for row in rows if row.evaluation is not None and row.steps <= (current or 0)]
    return f"return {number(scores[0])} → {number(scores[-1])}" if len(scores) > 1 else ""


def history_text(state: ViewerState | None, period_s: float, *, width: int, plain: bool = False) -> Content:
    """Return the line of the episode so far, with where it stands."""
    if state is None:
        return Content("")
    line, dot, left, right = ("-", "o", "|", "|") if plain else ("─", "●", "├", "┤")
    end = f"{number(state.last * period_s)}\u00a0s"
    now = "" if state.is_live else f"{number(state.time_s)} of "
    start, length = history_span(width, len(now + end))
    at = history_column(state, length)
    return Content.assemble(
        (" history".ljust(start), _MUTED), left + line * at, (dot, "$primary bold"), line * (length - at - 1) + right,
        (f" {now}{end}", _MUTED),
    )  # fmt: skip


def history_span(width: int, said: int) -> tuple[int, int]:
    """Return the column where the line's frame begins, and how many cells lie within."""
    return 10, max(2, width - 10 - 2 - said - 2)


def history_column(state: ViewerState, length: int) -> int:
    """Return the cell of the step that is shown."""
    span = state.last - state.first
    return length - 1 if span <= 0 else round((length - 1) * (state.step - state.first) / span)
