"""The form of a montage: how a run learnt, as a film, a grid or a poster of its checkpoints."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from workbench import formatting
from workbench.errors import WorkbenchError
from workbench.formatting import plural
from workbench.runs.references import find_run
from workbench.storyboard.selection import Choice as Chosen
from workbench.ui.charts.model import ChartData
from workbench.ui.learning_curve import curve_chart, read_curves
from workbench.ui.past import Past
from workbench.ui.screens.filming import HIGHEST_SEED, FilmTask, with_flags
from workbench.ui.storyboard import Asked, Storyboard, draw, swapped
from workbench.ui.widgets.chart import Chart
from workbench.ui.widgets.choice import Choice
from workbench.ui.widgets.clip_list import ClipList
from workbench.ui.widgets.preview import why_no_colours
from workbench.ui.widgets.tile_grid import TileGrid

MOST_CLIPS = 64
CLIPS = 6
"""How many checkpoints a montage shows where nobody says otherwise."""
PAUSE_S = 0.15
"""What is typed is looked up once it rests for so long."""
_FILMS = {"MP4": ".mp4", "WebP": ".webp", "GIF": ".gif"}
_PICTURES = {"PNG": ".png", "PDF": ".pdf"}
"""What a poster can be written as; the first is the usual one, as above."""


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
        & #right { display: none; width: 1fr; height: 1fr; }
        & #strip { display: none; height: 9; }
        & #summary { height: auto; margin-top: 1; }
        &.-wide #card, &.-huge #card { height: 90%; }
        &.-wide #sides, &.-huge #sides { height: 1fr; }
        &.-wide #left, &.-huge #left { width: 68; margin-right: 1; }
        &.-wide #right, &.-huge #right { display: block; }
        & TileGrid { display: none; }
        &.-drawn TileGrid { display: block; }
        &.-curved #strip { display: block; }
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
        self._pasts: dict[str, Past] | None = None
        """What the runs did, once their curves were asked for."""
        self.board = Storyboard()
        """What will be shown, as far as it is known."""

    def compose_body(self) -> ComposeResult:
        """Yield the fields, and beside them the clips over the curve."""
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
                yield from self.field("Curve strip", Choice(("off", "on"), id="curve"))
                yield from self.field("Format", Choice(tuple(_FILMS), id="format"))
                yield Static(id="summary")
            with Vertical(id="right"):
                yield TileGrid(id="grid")
                yield Chart(ChartData("curve", "return by step"), id="strip")
        yield from self.compose_end()

    def on_mount(self) -> None:
        """Draw first frames where this terminal can."""
        self.set_class(not why_no_colours(self.app, plain=self.workbench.plain), "-drawn")
        self.query_one("#strip").can_focus = False

    def can(self, command_id: str) -> bool | None:
        """Offer a poster besides what every form of a film does."""
        if command_id == "task.try":
            return True if self.is_mounted and not self.problems() else None
        return super().can(command_id)

    def words(self) -> list[str]:
        """Return `montage …`, only what differs from its defaults; clips that are missing are recorded first."""
        return self._words(self.chosen("layout"), self._suffix)

    @property
    def _suffix(self) -> str:
        return {**_FILMS, **_PICTURES}[self.chosen("format")]

    def _words(self, layout: str, suffix: str) -> list[str]:
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
        if self.chosen("curve") == "on":
            words.append("--curve")
        if suffix not in (".mp4", ".png"):
            words += ["--output", self.free_name("_".join([*self._runs[:3], layout]), suffix)]
        return words

    # The draft.

    def own_draft(self) -> Mapping[str, str]:
        """Keep the clips that were swapped."""
        return {"swaps": " ".join(f"{place}={steps}" for place, steps in sorted(self._swaps.items()))}

    def take_own_draft(self, draft: Mapping[str, str]) -> None:
        """Swap them again."""
        pairs = [pair.split("=") for pair in draft.get("swaps", "").split()]
        self._swaps = {int(place): int(steps) for place, steps in pairs}

    # The clips.

    @on(Choice.Changed, "#layout")
    def _layout_changed(self) -> None:
        # A poster is a picture; the others are films.
        formats = _PICTURES if self.chosen("layout") == "poster" else _FILMS
        self.query_one("#format", Choice).offer(tuple(formats))

    def changed(self) -> None:
        """Look up which clips these are."""
        if self.problems():
            return
        has_curve = self.chosen("curve") == "on"
        self.set_class(has_curve, "-curved")
        if has_curve and self._pasts is None:
            self._pasts = {}
            self._read_curves()
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
                curve=has_curve,
                suffix=self._suffix,
            )
        )

    @work(group="storyboard", exclusive=True, exit_on_error=False, description="looking up clips")
    async def _look_up(self, asked: Asked) -> None:
        await asyncio.sleep(PAUSE_S)
        self.board = await asyncio.to_thread(draw, self.workbench.project, asked)
        self.query_one("#tiles", ClipList).show(self.board)
        self.query_one("#summary", Static).update(self._summary(asked.layout))
        self._show_curve()
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
        facts = [f"{len(board.tiles)} clips{of}", f"{shape}{width}×{height} pixels"]
        facts += [] if board.length_s is None else [formatting.duration(board.length_s)]
        facts += [] if board.size_bytes is None else [f"about {formatting.size(board.size_bytes)}"]
        facts.append(f"seed {formatting.digits(board.seed)}")
        return Content.assemble(", ".join(said), "\n", (" · ".join(facts), "$muted"))

    # The curve.

    @work(group="curves", exclusive=True, exit_on_error=False, description="reading curves")
    async def _read_curves(self) -> None:
        try:
            runs = [find_run(self.workbench.project.runs, text) for text in self._runs]
        except WorkbenchError:
            # The storyboard says that one is not there.
            return
        self._pasts = await asyncio.to_thread(read_curves, runs)
        self._show_curve()

    def _show_curve(self) -> None:
        if self._pasts:
            clips = [(tile.shown.run.directory.name, tile.shown.steps) for tile in self.board.tiles]
            self.query_one("#strip", Chart).data = curve_chart(self._pasts, clips)

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
            suffix = self._suffix if self.chosen("format") in _PICTURES else ".png"
            self.workbench.start_film(self._words("poster", suffix), f"poster of {self._what}")
