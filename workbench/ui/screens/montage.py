"""The form of a montage: how a run learnt, as a film, a grid or a poster of its checkpoints."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.widgets import Input

from workbench.formatting import plural
from workbench.ui.screens.filming import FilmTask, with_flags
from workbench.ui.widgets.choice import Choice

MOST_CLIPS = 64
CLIPS = 6
"""How many checkpoints a montage shows where nobody says otherwise."""


class MontageTask(FilmTask):
    """Answers the words of `workbench montage …`.

    Args:
        runs: What the command line calls the runs.
        what: What a person calls them.
        checkpoints: How many checkpoints there are to choose from; none where nobody knows.
    """

    NUMBERS: ClassVar[dict[str, tuple[str, int, int]]] = {
        "clips": ("Clips", 1, MOST_CLIPS),
        "columns": ("Columns", 1, MOST_CLIPS),
    }
    OPTIONAL: ClassVar[frozenset[str]] = frozenset({"columns"})
    LABELS: ClassVar[dict[str, str]] = {"task_go": "Make it"}

    def __init__(self, runs: list[str], what: str, checkpoints: int | None = None) -> None:
        super().__init__()
        self._runs = runs
        self.heading = f"Montage of {what}"
        self._checkpoints = checkpoints

    def compose_body(self) -> ComposeResult:
        """Yield the fields."""
        there = "" if self._checkpoints is None else f"of {plural(self._checkpoints, 'checkpoint')}, "
        clips = CLIPS if not self._checkpoints else min(CLIPS, self._checkpoints)
        yield from self.field("Layout", Choice(("grid", "film", "poster"), id="layout"))
        yield from self.field("Clips", Input(str(clips), id="clips"), f"{there}first and last always in")
        yield from self.field("Chosen", Choice(("linear", "exponential"), id="schedule"))
        yield from self.field("Columns", Input(id="columns", placeholder="by the shape"), "of a grid or a poster")
        yield from self.field("Curve", Choice(("off", "on"), id="curve"))
        yield from self.compose_end()

    def words(self) -> list[str]:
        """Return `montage …`, only what differs from its defaults; clips that are missing are recorded first."""
        layout = self.chosen("layout")
        words = with_flags(
            ["montage", *self._runs],
            [
                ("--layout", layout, "film"),
                ("--num-videos", self.text("clips"), str(CLIPS)),
                ("--schedule", self.chosen("schedule"), "linear"),
                ("--columns", "" if layout == "film" else self.text("columns"), ""),
            ],
        )
        return [*words, "--curve"] if self.chosen("curve") == "on" else words
