"""The dry run of a form: when it starts by itself, what it says, and when that is out of date."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.content import Content
from textual.worker import Worker

from workbench.runs.rehearsal import Rehearsal
from workbench.ui.draft import Checked
from workbench.ui.dry_run import Circumstances, forecast

if TYPE_CHECKING:
    from workbench.runs import Launch
    from workbench.specs import RunSpec
    from workbench.ui.screens.new_run import NewRunForm

QUIET_S = 0.6
"""A dry run starts by itself once nothing was typed for this long after the check."""


class Trial:
    """Measures what a form would launch.

    Args:
        form: The form; its workers measure.
        on_change: Called when there is something else to say.
    """

    def __init__(self, form: NewRunForm, on_change: Callable[[], None]) -> None:
        self._form = form
        self._on_change = on_change
        self._wanted: Launch | None = None
        self._count = 1
        self._start = (0, 0)
        self._found: Rehearsal | str | None = None
        self._found_for: RunSpec | None = None
        self._measures: RunSpec | None = None
        """What the measurement that runs is of."""
        self._worker: Worker[None] | None = None
        self._waits_for_core = False

    @property
    def is_running(self) -> bool:
        """Whether something is being measured."""
        return self._worker is not None and not self._worker.is_finished

    def outdate(self) -> None:
        """Something was typed: what was found may not hold."""
        self._wanted = None
        self._on_change()

    def consider(self, checked: Checked, start: tuple[int, int]) -> None:
        """Measure what was checked, where it is right, not measured yet, and a core is free.

        Args:
            checked: What came of the check.
            start: Steps and iterations that were done before.
        """
        self._wanted = checked.launches[0] if checked.launches else None
        self._count, self._start = max(1, len(checked.launches)), start
        if self._wanted is None or self._is_current():
            self._stop()
            self._waits_for_core = False
        elif not (self.is_running and self._measures == _bare(self._wanted.spec)):
            self._begin(QUIET_S, even_if_busy=False)
        self._on_change()

    def look_again(self) -> None:
        """A run started or ended: a core may be free now."""
        if self._waits_for_core and self._wanted is not None and not self.is_running:
            self._begin(0.0, even_if_busy=False)

    def start(self) -> None:
        """Measure now."""
        if self._wanted is not None:
            self._found_for = None
            self._begin(0.0, even_if_busy=True)

    def text(self, *, stacked: bool) -> Content:
        """Return what is known, muted where it is out of date.

        Args:
            stacked: Whether each thing stands on a line of its own.
        """
        found = self._found
        lines = self._lines(found) if isinstance(found, Rehearsal) else []
        is_current = self._is_current()
        if self._waits_for_core:
            state = "every core trains; ctrl+t measures all the same"
        elif self.is_running and self._wanted is not None:
            state, is_current = "measuring…", False
        elif isinstance(found, str):
            state = f"not measured: {found}"
        elif found is None:
            return Content("")
        else:
            state = "" if is_current else "before the last change"
        body = [part for part in (state, *lines) if part]
        text = "\n  ".join(["Dry run", *body]) if stacked else f"Dry run ─ {'   '.join(body)}"
        return Content(text) if is_current and lines else Content.styled(text, "$muted")

    def _lines(self, found: Rehearsal) -> list[str]:
        app = self._form.workbench
        draft = self._form.draft
        reference: Any = {} if draft.recipe is None else draft.recipe.reference.get(draft.algorithm)
        places, free = app.places()
        around = Circumstances(
            self._count, places, free, app.clock(), reference if isinstance(reference, dict) else None
        )
        return forecast(found, around)

    def _is_current(self) -> bool:
        return self._wanted is not None and self._found_for == _bare(self._wanted.spec)

    def _stop(self) -> None:
        if self._worker is not None:
            self._worker.cancel()

    def _begin(self, delay: float, *, even_if_busy: bool) -> None:
        self._stop()
        self._waits_for_core = False
        self._measures = None if self._wanted is None else _bare(self._wanted.spec)
        self._worker = self._form.run_worker(
            self._measure(delay, even_if_busy=even_if_busy),
            group="dry-run",
            exclusive=True,
            exit_on_error=False,
            description="dry run",
        )
        self._on_change()

    async def _measure(self, delay: float, *, even_if_busy: bool) -> None:
        await asyncio.sleep(delay)
        launch, app = self._wanted, self._form.workbench
        if launch is None:
            return
        if not even_if_busy and not app.places()[1]:
            self._waits_for_core = True
            self._on_change()
            return
        found = await app.rehearse(launch.spec, launch.environment, self._start)
        self._found, self._found_for = found, _bare(launch.spec)
        self._worker = None
        self._on_change()


def _bare(spec: RunSpec) -> RunSpec:
    return spec.model_copy(update={"seed": None, "tags": (), "group": None})
