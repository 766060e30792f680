"""The runs that were made of an environment here, as its details show them."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.catalog import Entry
from workbench.formatting import number, percent
from workbench.runs.states import RunState
from workbench.specs import Algorithm
from workbench.specs.recipes import merged_for
from workbench.ui.published_lines import published_reference
from workbench.ui.run_charts import Spec, measured_reference
from workbench.ui.theme import STATE_LOOKS
from workbench.ui.watch import RunRow

NAMED = 4
"""How many are named; the others are counted."""
DRAWN = 8
"""How many curves one chart holds."""


def in_words(rows: Sequence[RunRow], *, plain: bool) -> list[str]:
    """Return each run in a few words: `● 7f3a 61 %`, `✓ 0b72 2 180`; those beyond the first few are counted."""
    words = [_words(row, plain=plain) for row in rows[:NAMED]]
    return [*words, f"+{len(rows) - NAMED}"] if len(rows) > NAMED else words


def _words(row: RunRow, *, plain: bool) -> str:
    look = STATE_LOOKS[str(row.state)]
    sign = look.plain if plain else look.glyph
    if row.state.is_live and row.progress is not None:
        return f"{sign} {row.short_id} {percent(row.progress)}"
    reached = row.best.mean_return if row.best is not None else row.last_return
    return f"{sign} {row.short_id}" if reached is None else f"{sign} {row.short_id} {number(reached)}"


def drawn(rows: Sequence[RunRow]) -> list[RunRow]:
    """Return the runs whose curves are worth drawing, the newest few."""
    begun = [row for row in rows if row.state is not RunState.QUEUED]
    return sorted(begun, key=lambda row: -row.created)[:DRAWN]


def spec_of(entry: Entry, algorithm: Algorithm) -> Spec:
    """Return what a chart of an environment's runs is measured against: goal, recipe's reference, others' return."""
    recipe, published = entry.training, published_reference(entry.env_id, algorithm)
    if recipe is None:
        return Spec(published=published)
    criteria = merged_for(recipe.data, algorithm).get("stop_criteria")
    criteria = criteria if isinstance(criteria, dict) else {}
    goal = criteria.get("episode_return_mean") or criteria.get("evaluation_return_mean")
    measured = measured_reference(recipe.reference, algorithm)
    return Spec(float(goal) if isinstance(goal, int | float) else None, measured=measured, published=published)
