"""What stands above the charts of a group of seeds: what it is, how far it is and how well it does."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from workbench import formatting
from workbench.ui.run_charts import Spec
from workbench.ui.run_head import progress_line, spread_out
from workbench.ui.theme import STATE_LOOKS
from workbench.ui.watch import RunRow

_SEEDS_SHOWN = 10


def head_lines(
    standing: RunRow, rows: Sequence[RunRow], spec: Spec, width: int, *, plain: bool, short: bool
) -> Content:
    """Return three lines about a group, or two where there is little room.

    Args:
        standing: What stands for all of it.
        rows: Its runs, by seed.
        spec: What they were asked to do.
        width: Cells.
        plain: ASCII alone.
        short: Leave the results out.
    """
    lines = [_identity(standing, rows, width, plain=plain), progress_line(standing, width, "", plain=plain)]
    if not short:
        lines.append(_results(standing, rows, spec, plain=plain).truncate(width, ellipsis=True))
    return Content("\n").join(lines)


def _identity(standing: RunRow, rows: Sequence[RunRow], width: int, *, plain: bool) -> Content:
    look = STATE_LOOKS[standing.state]
    states = [row.state for row in rows]
    counted = "  ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
    seeds = [str(row.seed) for row in rows if row.seed is not None]
    told = (
        f"   seeds {' '.join(seeds)}" if 0 < len(seeds) <= _SEEDS_SHOWN else f"   {len(seeds)} seeds" if seeds else ""
    )
    left = Content.assemble(
        (f"{look.plain if plain else look.glyph} {counted}", f"${look.variable}"),
        (f"   {standing.env_name} {'x' if plain else '×'}{len(rows)}", "bold"),
        f"   {standing.algorithm.upper()}{told}",
        (f"   {' '.join(standing.tags)}" if standing.tags else "", "$muted"),
    )
    return spread_out(left, Content.styled(f"since {formatting.clock(standing.created)}", "$muted"), width)


def _results(standing: RunRow, rows: Sequence[RunRow], spec: Spec, *, plain: bool) -> Content:
    known = [row.last_return for row in rows if row.last_return is not None]
    among = f" ({formatting.number(min(known))}…{formatting.number(max(known))})" if len(known) > 1 else ""
    parts: list[tuple[str, str]] = [
        ("return IQM " if len(known) > 1 else "return ", "$muted"),
        (formatting.number(standing.last_return), ""),
        (among, "$muted"),
    ]
    if standing.best is not None:
        score = formatting.spread(standing.best.mean_return, standing.best.std_return)
        parts += [("   best evaluation ", "$muted"), (score, "")]
    if spec.goal is not None:
        parts += [("   goal ", "$muted"), (formatting.number(spec.goal), "")]
    if standing.anomalies:
        said = formatting.plural(standing.anomalies, "anomaly", "anomalies")
        parts.append((f"   ! {said}", "$warning bold"))
    return Content.assemble(*parts)
