"""The form of a montage: how a run learnt, as a film, a grid or a poster of its checkpoints."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from workbench import formatting
from workbench.formatting import plural
from workbench.storyboard.selection import Choice as Chosen
from workbench.ui.screens.filming import HIGHEST_SEED, FilmTask, with_flags
from workbench.ui.storyboard import Asked, Storyboard, draw, swapped
from workbench.ui.widgets.choice import Choice
from workbench.ui.widgets.clip_list import ClipList
from workbench.ui.widgets.preview import why_no_colours
from workbench.ui.widgets.tile_grid import TileGrid

MOST_CLIPS = 64
CLIPS = 6
"""How many checkpoints a montage shows where nobody says otherwise."""
PAUSE_S = 0.15
"""What is typed is looked up once it rests for so long."""


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
        "seed": ("Seed", 0, HIGHEST_SEED),
    }
    OPTIONAL: ClassVar[frozenset[str]] = frozenset({"columns", "seed"})
    LABELS: ClassVar[dict[str, str]] = {"task_go": "Make it", "task_try": "Poster now"}

    DEFAULT_CSS = """
    MontageTask {
        & #card { max-width: 160; }
        & #sides { height: auto; }
        & #left { height: auto; width: 1fr; }
        & TileGrid { display: none; }
        & #summary { height: auto; margin-top: 1; }
        &.-wide #card, &.-huge #card { height: 90%; }
        &.-wide #sides, &.-huge #sides { height: 1fr; }
        &.-wide #left, &.-huge #left { width: 68; margin-right: 1; }
        &.-wide.-drawn TileGrid, &.-huge.-drawn TileGrid { display: block; }
        & ClipList { margin-left: 12; }
    }
    """

    def __init__(self, runs: list[str], what: str, checkpoints: int | None = None) -> None:
        super().__init__()
        self._runs = runs
        self._what = what
        self.heading = f"Montage of {what}"
        self.draft_key = f"montage {' '.join(runs)}"
        self._checkpoints = checkpoints
        self._swaps: dict[int, int] = {}
        self.board = Storyboard()
        """What will be shown, as far as it is known."""

    def compose_body(self) -> ComposeResult:
        """Yield the fields, and beside them the clips."""
        clips = CLIPS if not self._checkpoints else min(CLIPS, self._checkpoints)
        with Horizontal(id="sides"):
            with Vertical(id="left"):
                yield from self.field("Layout", Choice(("grid", "film", "poster"), id="layout"))
                yield from self.field("Clips", Input(str(clips), id="clips"), "both ends always in; [ ] swaps one")
                yield from self.field("Chosen", Choice(("linear", "exponential"), id="schedule"))
                yield ClipList(plain=self.workbench.plain, id="tiles")
                yield from self.field("Columns", Input(id="columns", placeholder="by the shape"), "of a grid or poster")
                yield from self.field("Seed", Input(id="seed", placeholder="the run's own"), "of every clip")
                yield from self.field("Labels", Choice(("bottom-left", "top-left", "center"), id="labels"))
                yield from self.field("Curve", Choice(("off", "on"), id="curve"))
                yield Static(id="summary")
            yield TileGrid(id="grid")
        yield from self.compose_end()

    def on_mount(self) -> None:
        """Draw first frames where this terminal can."""
        self.set_class(not why_no_colours(self.app, plain=self.workbench.plain), "-drawn")

    def can(self, command_id: str) -> bool | None:
        """Offer a poster besides what every form of a film does."""
        if command_id == "task.try":
            return True if self.is_mounted and not self.problems() else None
        return super().can(command_id)

    def words(self) -> list[str]:
        """Return `montage …`, only what differs from its defaults; clips that are missing are recorded first."""
        return self._words(self.chosen("layout"))

    def _words(self, layout: str) -> list[str]:
        words = with_flags(
            ["montage", *self._runs],
            [
                ("--layout", layout, "film"),
                ("--num-videos", self.text("clips"), str(CLIPS)),
                ("--schedule", self.chosen("schedule"), "linear"),
                ("--columns", "" if layout == "film" else self.text("columns"), ""),
                ("--seed", self.text("seed"), ""),
                ("--text-location", self.chosen("labels") if layout == "film" else "bottom-left", "bottom-left"),
            ],
        )
        for place, steps in sorted(self._swaps.items()):
            words += ["--checkpoint", f"{place}={steps}"]
        return [*words, "--curve"] if self.chosen("curve") == "on" else words

    # The clips.

    def changed(self) -> None:
        """Look up which clips these are."""
        if self.problems():
            return
        count = int(self.text("clips"))
        self._swaps = {place: steps for place, steps in self._swaps.items() if place <= count}
        self._look_up(
            Asked(
                runs=tuple(self._runs),
                choice=Chosen(
                    wanted=count,
                    schedule="exponential" if self.chosen("schedule") == "exponential" else "linear",
                    swaps=tuple((place, str(steps)) for place, steps in sorted(self._swaps.items())),
                ),
                layout=self.chosen("layout"),
                columns=int(self.text("columns")) if self.text("columns") else None,
                seed=int(self.text("seed")) if self.text("seed") else None,
                curve=self.chosen("curve") == "on",
            )
        )

    @work(group="storyboard", exclusive=True, exit_on_error=False, description="looking up clips")
    async def _look_up(self, asked: Asked) -> None:
        await asyncio.sleep(PAUSE_S)
        self.board = await asyncio.to_thread(draw, self.workbench.project, asked)
        self.query_one("#tiles", ClipList).show(self.board)
        self.query_one("#summary", Static).update(self._summary(asked.layout))
        await self.query_one("#grid", TileGrid).show(self.board)

    def _summary(self, layout: str) -> Content:
        board = self.board
        if board.problem or not board.tiles:
            return Content("")
        missing, there = board.missing, len(board.tiles) - board.missing
        said = [f"{plural(there, 'clip')} {'exists' if there == 1 else 'exist'}" if there else "No clip exists yet"]
        if missing:
            time = "" if board.seconds is None else f", about {formatting.duration(max(1.0, board.seconds))}"
            said.append(f"{missing} to record{time}")
        width, height = board.size
        shape = "" if layout == "film" else f"{board.columns}×{board.rows}, "
        of = f" of {plural(len(board.steps), 'checkpoint')}" if board.steps else ""
        facts = f"{len(board.tiles)} clips{of} · {shape}{width}×{height} pixels · seed {formatting.digits(board.seed)}"
        return Content.assemble(", ".join(said), "\n", (facts, "$muted"))

    @on(ClipList.Swapped)
    def _swap(self, message: ClipList.Swapped) -> None:
        if not self.board.steps:
            self.notify("Clips can be swapped in a montage of one run.")
            return
        steps = swapped(self.board, message.place, message.by)
        if steps is None:
            self.notify("There is no other checkpoint in that direction.")
            return
        self._swaps[message.place + 1] = steps
        self._show()

    def action_task_try(self) -> None:
        """Make a poster of the same clips now, and leave the form open."""
        if not self.problems():
            self.workbench.start_film(self._words("poster"), f"poster of {self._what}")
