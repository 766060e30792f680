"""What others published of a run's task, as a line in its chart of returns."""

from __future__ import annotations

from workbench.catalog.published import published_table
from workbench.ui.charts.model import Reference


def published_reference(env_id: str, algorithm: str) -> Reference | None:
    """Return the highest mean published of the same version of a task with an algorithm; nothing where there is none.

    Args:
        env_id: The Gymnasium ID.
        algorithm: Lower case.
    """
    found = published_table().best(env_id, algorithm)
    if found is None:
        return None
    first, last = found.steps
    return Reference(
        found.mean,
        f"published {found.source.name}",
        found.std,
        found.seeds,
        float(last) if first == last else None,
        found.environment if first == last else f"{found.environment}, {found.steps_text} steps",
        compared=True,
    )
