"""Runs side by side, in words: the title, the numbers, the settings that differ; and the chart of one metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from textual.content import Content

from workbench import formatting
from workbench.runs.statistics import Interval, SeedBand
from workbench.ui.charts.model import ChartData, Curve
from workbench.ui.charts.overlay import Identity
from workbench.ui.comparing import Alike, Difference, Figure, Side
from workbench.ui.past import Past
from workbench.ui.run_charts import (
    EVALUATION,
    LENGTH,
    NO_PAST,
    READING,
    RETURN,
    SeedGroup,
    Spec,
    curve_of,
    empty_return,
    group_of,
    parent_curve,
)
from workbench.ui.run_marks import evaluations_of, flags_of, ladder_of
from workbench.ui.theme import STATE_LOOKS

_NAME = 18
_COLUMN = 13
_WIDEST_VALUE = 22
_APART = 8


def title(columns: Sequence[Side], current: int, told: Alike | None, width: int, *, plain: bool) -> Content:
    """Return who is compared, which of them the cursor is on, and what they have in common."""
    wide = width >= 120
    parts: list[tuple[str, str]] = [("Compare", "bold")]
    for place, side in enumerate(columns):
        look = STATE_LOOKS[side.first.state]
        colour = f"$series-{place + 1}"
        here = place == current
        parts.append(("  ▌" if here and not plain else "  >" if here else "   ", "$accent"))
        parts.append((side.letter, f"{colour} bold"))
        parts.append((f" {side.title} {side.first.algorithm.upper()} ", "bold" if here else ""))
        parts.append((look.plain if plain else look.glyph, f"${look.variable}"))
        if wide and side.first.state.is_live and side.first.progress is not None:
            parts.append((f" {formatting.percent(side.first.progress)}", "$muted"))
    if told is not None:
        common = "same environment" if told.environment else "different environments: returns are not comparable"
        said = [common, *([told.seed] if told.seed else []), *([told.code] if told.code and wide else [])]
        if told.environment and not wide:
            said = said[1:]
        parts.append((f"   {', '.join(said)}" if said else "", "$muted" if told.environment else "$warning"))
    return Content.assemble(*parts).truncate(width, ellipsis=True)


def numbers(columns: Sequence[Side], rows: Sequence[Figure], metric: str) -> Content:
    """Return the table of numbers: a column a side, and how far two are apart."""
    pair = len(columns) == 2
    head = "".join(f"{side.letter} {side.first.algorithm.upper()}".rjust(_COLUMN) for side in columns)
    apart = f"{columns[1].letter} − {columns[0].letter}".rjust(_APART + 2) if pair else ""
    lines = [Content.styled(" " * _NAME + head + apart, "$muted bold")]
    lines += [_figure(row, metric, pair=pair) for row in rows]
    return Content("\n").join(lines)


def _figure(row: Figure, metric: str, *, pair: bool) -> Content:
    name = row.name
    if name.startswith("at "):
        name = f"at {formatting.amount(float(name[3:]))} (common)"
    known = [value for value in row.values if value is not None and math.isfinite(value)]
    top = max(known, default=None) if len(known) > 1 and not row.is_count else None
    parts: list[tuple[str, str]] = [(formatting.shorten(name, _NAME).ljust(_NAME), "$muted")]
    for place, value in enumerate(row.values):
        deviation = row.spreads[place] if place < len(row.spreads) else None
        text = formatting.amount(value) if row.is_count else formatting.spread(value, deviation)
        # Of a loss the largest is no good news.
        is_best = value is not None and value == top and (metric == RETURN or not name.startswith("at "))
        parts.append((text.rjust(_COLUMN), "bold" if is_best else ""))
    if pair and row.apart is not None:
        parts += _difference(row.apart)
    return Content.assemble(*parts)


def _difference(apart: Interval) -> list[tuple[str, str]]:
    value = formatting.number(apart.value)
    parts = [((f"+{value}" if apart.value > 0 else value).rjust(_APART + 2), "bold")]
    if math.isfinite(apart.low):
        low, high = (formatting.number(end) for end in (apart.low, apart.high))
        low, high = (f"+{end}" if number > 0 else end for end, number in ((low, apart.low), (high, apart.high)))
        parts.append((f"  95{formatting.SPACE}%: {low}…{high}", "$muted"))
    return parts


def settings_title(found: Sequence[Difference]) -> str:
    """Return how many settings differ."""
    different = sum(item.is_one for item in found)
    return f"config, {formatting.digits(different)} of {formatting.digits(len(found))} differ"


def settings_line(found: Sequence[Difference], width: int) -> Content:
    """Return the settings that differ on one line, as many as there is room for."""
    head = f"{settings_title(found)}  "
    parts, used, shown = [(head, "$muted")], len(head), 0
    different = [item for item in found if item.is_one]
    for item in different:
        text = f"{item.key.rpartition('.')[2]} {'│'.join(item.values)}   "
        if used + len(text) + 4 > width:
            break
        parts.append((text, ""))
        used, shown = used + len(text), shown + 1
    left = len(different) - shown
    return Content.assemble(*parts, (f"⋮ {left}" if left else "", "$muted"))


def settings_table(columns: Sequence[Side], found: Sequence[Difference], *, everything: bool) -> Content:
    """Return the settings as a table: those that differ, or all."""
    chosen = [item for item in found if everything or item.is_one]
    if not chosen:
        return Content("All settings are the same." if found else "No run.json has been read.")
    name = max(len(item.key) for item in chosen) + 2
    widths = [
        min(_WIDEST_VALUE, max(3, *(len(item.values[place]) for item in chosen))) + 2 for place in range(len(columns))
    ]
    head = "".join(side.letter.ljust(width) for side, width in zip(columns, widths, strict=True))
    lines = [Content.styled("  " + " " * name + head, "$muted bold")]
    for item in chosen:
        values = "".join(
            formatting.shorten(value, width - 2).ljust(width) for value, width in zip(item.values, widths, strict=True)
        )
        sign = ("✎ ", "$warning") if item.is_one else ("  ", "")
        lines.append(Content.assemble(sign, (item.key.ljust(name), "$muted"), values))
    return Content("\n").join(lines)


def chart(
    columns: Sequence[Side],
    pasts: Mapping[Path, Past],
    metric: str,
    label: str,
    current: Side | None,
    spec: Spec,
    *,
    band: Callable[[Side], SeedBand | None],
) -> ChartData:
    """Return one metric of all sides in one chart, the one under the cursor in front.

    Args:
        columns: The sides.
        pasts: What each run did, and what those did that they were forked from.
        metric: Which.
        label: What it is called.
        current: The side under the cursor.
        spec: What its run was asked to do.
        band: What the seeds of a side say together, where that is known already.
    """
    curves: list[Curve] = []
    groups = []
    for place, side in enumerate(columns):
        identity, bold = Identity(place, side.letter), side is current
        if len(side.rows) > 1:
            group = SeedGroup(side.key, side.title, side.rows, band(side))
            groups.append(group_of(group, metric, pasts, identity, bold=bold))
            continue
        row, past = side.first, pasts.get(side.first.path, NO_PAST)
        live = row.state.is_live
        curves.append(
            curve_of(
                str(row.path),
                row.title,
                past.series.get(metric),
                identity,
                bold=bold,
                budget=float(row.total_steps) if live else None,
                reached=float(row.steps) if live else 0.0,
                parent=parent_curve(row, metric, pasts),
            )
        )
    several = len({side.first.env_id for side in columns}) > 1
    is_return = metric == RETURN
    past = NO_PAST if current is None else pasts.get(current.first.path, NO_PAST)
    everyone = [row for side in columns for row in side.rows]
    why = empty_return(spec, everyone) if is_return else f"None of them told of {metric}."
    return ChartData(
        metric,
        label,
        tuple(curves),
        spec.references if is_return and not several else (),
        points=evaluations_of(past) if is_return else (),
        checkpoints=() if current is None else ladder_of(past, current.first),
        flags=flags_of(past),
        note="returns are not comparable" if several and is_return else "",
        empty=why if pasts else READING,
        groups=tuple(groups),
    )


def metric_name(metric: str) -> str:
    """Return what a metric is called above a chart."""
    return {RETURN: "return", LENGTH: "length", EVALUATION: "evaluation"}.get(metric, metric)
