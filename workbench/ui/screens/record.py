"""The form of a recording: one or a few episodes of a checkpoint or an environment, filmed without a display."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.widgets import Input, Static

from workbench import formatting
from workbench.ui.screens.filming import HIGHEST_SEED, FilmTask, given_flag, with_flags
from workbench.ui.storyboard import clip_seconds
from workbench.ui.widgets.choice import Choice

ACTS = {"deterministic": [], "stochastic": ["--stochastic"]}
SIZES = {"480×360": "draft", "640×480": "default", "1280×720": "hd"}
FORMATS = {"MP4": ".mp4", "WebP": ".webp", "GIF": ".gif", "PNG": ".png"}
KEEPS = ("all", "worst", "best")
MOST_FPS = 240


class RecordTask(FilmTask):
    """Answers the words of `workbench record …`.

    Args:
        target: What the command line calls it: a checkpoint or an environment.
        what: What a person calls it.
        environment: The environment's name where no policy acts; then an agent is chosen.
        flags: Of `play`: the seed, the agent and how it acts, which the fields begin with.
    """

    NUMBERS: ClassVar[dict[str, tuple[str, int, int]]] = {
        "episodes": ("Episodes", 1, 1000),
        "seed": ("Seed", 0, HIGHEST_SEED),
    }
    LABELS: ClassVar[dict[str, str]] = {"task_go": "Record"}

    def __init__(self, target: str, what: str, environment: str = "", flags: Sequence[str] = ()) -> None:
        super().__init__()
        self._target = target
        self.heading = f"Record {what}"
        self.draft_key = " ".join(["record", target, *flags])
        self._flags = flags
        self._each: float | None = None
        self._without_policy = bool(environment) and target == environment

    def compose_body(self) -> ComposeResult:
        """Yield the fields."""
        yield from self.field("Episodes", Input("1", id="episodes"))
        yield from self.field("Keep", Choice(KEEPS, id="keep"), "by their return")
        yield from self.field(
            "Seed", Input(given_flag(self._flags, "--seed") or "0", id="seed"), "of the first episode"
        )
        if self._without_policy:
            agent = given_flag(self._flags, "--agent") or "random"
            yield from self.field("Agent", Choice(("random", "zero", "sweep"), agent, id="agent"))
        else:
            acts = "stochastic" if "--stochastic" in self._flags else "deterministic"
            yield from self.field("Acts", Choice(tuple(ACTS), acts, id="acts"))
        yield from self.field("Still", Input(id="still", placeholder="none"), "one picture, at 2.5s or at step 120")
        yield from self.field("Camera", Input(id="camera", placeholder="the model's"), "its name, or 135,-16[,3]")
        yield from self.field("Size", Choice(tuple(SIZES), "640×480", id="size"))
        yield from self.field("Frames/s", Input(id="fps", placeholder="as it acts"), "1 to 240")
        yield from self.field("Look", Choice(("light", "dark"), id="theme"))
        yield from self.field("Format", Choice(tuple(FORMATS), id="format"))
        yield from self.field("States", Choice(("off", "on"), id="states"), "kept beside the film")
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
        known = self._each is not None and not self.problems() and not self._is_picture
        seconds = (self._each or 0.0) * int(self.text("episodes")) if known else 0.0
        self.query_one("#time", Static).update(f"about {formatting.duration(max(1.0, seconds))}" if known else "")

    @property
    def _is_picture(self) -> bool:
        return bool(self.text("still")) or self.chosen("format") == "PNG"

    def problems(self) -> list[str]:
        """Return what is wrong with the fields, all of it, as the command would say it."""
        found = super().problems()
        episodes = int(self.text("episodes")) if not found else 0
        if episodes == 1 and self.chosen("keep") != "all":
            found.append(f"Keep {self.chosen('keep')} chooses from several episodes: give 2 or more.")
        still = self.text("still").lower()
        if still and not _is_instant(still):
            found.append(f"Still takes a time such as 2.5s or a step such as 120, got {still}.")
        elif still and episodes > 1 and self.chosen("keep") == "all":
            found.append("Still shows one episode: keep the worst or the best of several.")
        fps = self.text("fps")
        if fps and not 1 <= _number(fps) <= MOST_FPS:
            found.append(f"Frames/s must be a number from 1 to {MOST_FPS}, got {fps}.")
        return found

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
                ("--keep", self.chosen("keep"), "all"),
                ("--seed", self.text("seed"), "0"),
                ("--still", self.text("still").lower(), ""),
                ("--preset", SIZES[self.chosen("size")], "default"),
                ("--fps", self.text("fps"), ""),
                ("--theme", self.chosen("theme"), "light"),
                ("--states", self._named(".npz") if self.chosen("states") == "on" else "", ""),
                ("--output", self._output(), ""),
            ],
        )
        camera = self.query_one("#camera", Input).value.strip()
        # A view may begin with a minus, which would be taken for a flag by itself.
        words += [f"--camera={camera}"] if camera.startswith("-") else ["--camera", camera] if camera else []
        return words if self._without_policy else words + ACTS[self.chosen("acts")]

    def _output(self) -> str:
        """Return a file of its own for a format that a name decides; none for the usual one."""
        suffix = FORMATS[self.chosen("format")]
        return "" if suffix == ".mp4" or self.text("still") else self._named(suffix)

    def _named(self, suffix: str) -> str:
        return self.free_name(Path(self._target).name if os.sep in self._target else self._target, suffix)

    def action_task_go(self) -> None:
        """Make the folder of a named file, and the film."""
        if self._output() or self.chosen("states") == "on":
            self.workbench.project.recordings.mkdir(parents=True, exist_ok=True)
        super().action_task_go()


def _is_instant(text: str) -> bool:
    """Return whether a text is a time, `2.5s`, or a step, `120`."""
    if text.isascii() and text.isdigit():
        return True
    return text.endswith("s") and 0 <= _number(text.removesuffix("s")) < math.inf


def _number(text: str) -> float:
    """Return the number that a text is; NaN, which lies in no range, where it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan
