"""The form of a recording: one or a few episodes of a checkpoint or an environment, filmed without a display."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.widgets import Input

from workbench.ui.screens.filming import HIGHEST_SEED, FilmTask, with_flags
from workbench.ui.widgets.choice import Choice

ACTS = {"deterministic": [], "stochastic": ["--stochastic"]}
SIZES = {"480×360": "draft", "640×480": "default", "1280×720": "hd"}


class RecordTask(FilmTask):
    """Answers the words of `workbench record …`.

    Args:
        target: What the command line calls it: a checkpoint or an environment.
        what: What a person calls it.
        environment: The environment's name where no policy acts; then an agent is chosen.
    """

    NUMBERS: ClassVar[dict[str, tuple[str, int, int]]] = {
        "episodes": ("Episodes", 1, 1000),
        "seed": ("Seed", 0, HIGHEST_SEED),
    }
    LABELS: ClassVar[dict[str, str]] = {"task_go": "Record"}

    def __init__(self, target: str, what: str, environment: str = "") -> None:
        super().__init__()
        self._target = target
        self.heading = f"Record {what}"
        self._without_policy = bool(environment) and target == environment

    def compose_body(self) -> ComposeResult:
        """Yield the fields."""
        yield from self.field("Episodes", Input("1", id="episodes"))
        yield from self.field("Seed", Input("0", id="seed"), "of the first episode")
        if self._without_policy:
            yield from self.field("Agent", Choice(("random", "zero", "sweep"), id="agent"))
        else:
            yield from self.field("Acts", Choice(tuple(ACTS), id="acts"))
        yield from self.field("Size", Choice(tuple(SIZES), "640×480", id="size"))
        yield from self.compose_end()

    def words(self) -> list[str]:
        """Return `record …`, only what differs from its defaults."""
        words = with_flags(
            ["record", self._target],
            [
                (
                    "--agent",
                    self.chosen("agent") if self._without_policy else "",
                    "random" if self._without_policy else "",
                ),
                ("--episodes", self.text("episodes"), "1"),
                ("--seed", self.text("seed"), "0"),
                ("--preset", SIZES[self.chosen("size")], "default"),
            ],
        )
        return words if self._without_policy else words + ACTS[self.chosen("acts")]
