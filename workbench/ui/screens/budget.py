"""Asks for the new budget of a run that has finished and shall go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from workbench import formatting
from workbench.specs.fields import read_number
from workbench.ui.screens.small_form import SmallForm
from workbench.ui.watch import RunRow


class BudgetTask(SmallForm[int]):
    """Answers the steps a run shall have done in all.

    Args:
        row: The run.
    """

    LABELS: ClassVar[dict[str, str]] = {"task_go": "Resume"}

    def __init__(self, row: RunRow) -> None:
        super().__init__()
        self._row = row
        self.heading = f"Resume {row.title}"

    def compose_body(self) -> ComposeResult:
        """Yield what the run has done, and one field."""
        row = self._row
        reason = f": {row.reason}" if row.reason else ""
        yield Static(
            Content(f"It has finished{reason}. It needs a new budget, and then ends at that and nothing else.")
        )
        proposed = 2 * max(row.steps, row.total_steps)
        yield from self.field("Steps in all", Input(formatting.digits(proposed), id="steps"))
        yield from self.compose_end()

    def problems(self) -> Sequence[str]:
        """Return what is wrong with the budget."""
        steps = self._steps()
        done = formatting.digits(self._row.steps)
        if not isinstance(steps, int) or steps <= self._row.steps:
            return [
                f"Steps in all must be a whole number above the {done} done, got {self.text('steps') or 'nothing'}."
            ]
        return ()

    def words(self) -> Sequence[str]:
        """Return `resume …`."""
        return ["resume", self._row.reference, "--max-steps", str(self._steps())]

    def answer(self) -> int | None:
        """Return the budget."""
        steps = self._steps()
        return steps if isinstance(steps, int) else None

    def _steps(self) -> int | float | None:
        # Digits may stand in threes here, as everywhere in the app.
        return read_number("".join(self.text("steps").split()), whole=True)
