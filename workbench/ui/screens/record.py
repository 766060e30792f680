"""The form of a recording: one or a few episodes of a checkpoint or an environment, filmed without a display."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.widgets import Input, Static

from workbench import formatting
from workbench.ui.screens.filming import HIGHEST_SEED, FilmTask, with_flags
from workbench.ui.storyboard import clip_seconds
from workbench.ui.widgets.choice import Choice

ACTS = {"deterministic": [], "stochastic": ["--stochastic"]}
SIZES = {"480×360": "draft", "640×480": "default", "1280×720": "hd"}
FORMATS = {"MP4": ".mp4", "WebP": ".webp", "GIF": ".gif", "PNG": ".png"}


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
        self.draft_key = f"record {target}"
        self._each: float | None = None
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
        yield from self.field("Look", Choice(("light", "dark"), id="theme"))
        yield from self.field("Format", Choice(tuple(FORMATS), id="format"))
        yield Static(id="time")
        yield from self.compose_end()

    def on_mount(self) -> None:
        """Tell how long it takes, once that is known."""
        self._measure()

    @work(group="form-facts", exit_on_error=False, description="measuring recordings")
    async def _measure(self) -> None:
        self._each = await asyncio.to_thread(clip_seconds, self.workbench.project.recordings)
        self.changed()

    def changed(self) -> None:
        """Tell how long it takes, from recordings that were made here."""
        known = self._each is not None and not self.problems() and self.chosen("format") != "PNG"
        seconds = (self._each or 0.0) * int(self.text("episodes")) if known else 0.0
        self.query_one("#time", Static).update(f"about {formatting.duration(max(1.0, seconds))}" if known else "")

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
                ("--theme", self.chosen("theme"), "light"),
                ("--output", self._output(), ""),
            ],
        )
        return words if self._without_policy else words + ACTS[self.chosen("acts")]

    def _output(self) -> str:
        """Return a file of its own for a format that a name decides; none for the usual one."""
        suffix = FORMATS[self.chosen("format")]
        if suffix == ".mp4":
            return ""
        stem = re.sub(r"[^\w.-]+", "_", Path(self._target).name if os.sep in self._target else self._target).strip("_")
        folder, number = self.workbench.project.recordings, 1
        while (path := folder / f"{stem}{'' if number == 1 else f'-{number}'}{suffix}").exists():
            number += 1
        return str(path)

    def action_task_go(self) -> None:
        """Make the folder of a named file, and the film."""
        if self._output():
            self.workbench.project.recordings.mkdir(parents=True, exist_ok=True)
        super().action_task_go()
