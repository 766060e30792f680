"""What a montage will show, for its form: its tiles, which of them exist, how large it is, how long it will take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from workbench.errors import WorkbenchError
from workbench.project import Project
from workbench.runs.recordings import list_recordings, sidecar_path
from workbench.runs.references import find_run
from workbench.storyboard.finding import CLIPS_FOLDER, Wanted, find_leftovers, find_recorded
from workbench.storyboard.layout import best_columns, lay_out
from workbench.storyboard.selection import Choice, Shown, choose, describe_run

MEASURED = 24
"""How many recordings are looked at to tell how long another one takes."""


@dataclass(frozen=True)
class Tile:
    """One clip of a montage."""

    shown: Shown
    film: Path | None
    """Its film, where it exists."""
    swapped: bool
    is_best: bool


@dataclass(frozen=True)
class Storyboard:
    """All clips of a montage."""

    tiles: tuple[Tile, ...] = ()
    steps: tuple[int, ...] = ()
    """The checkpoints there are, where the montage is of one run: a clip can be swapped for any of them."""
    seed: int = 0
    columns: int = 1
    size: tuple[int, int] = (0, 0)
    """Width and height of the whole in pixels."""
    seconds: float | None = None
    """How long filming what is missing takes, from recordings made here; None where there are none."""
    problem: str = ""
    """Why there is nothing to show."""

    @property
    def missing(self) -> int:
        """How many clips are to be filmed."""
        return sum(tile.film is None for tile in self.tiles)

    @property
    def rows(self) -> int:
        """How many rows a grid has."""
        return -(-len(self.tiles) // self.columns)


@dataclass(frozen=True)
class Asked:
    """What the form asks for."""

    runs: tuple[str, ...]
    choice: Choice
    layout: str = "grid"
    columns: int | None = None
    seed: int | None = None
    curve: bool = False


def draw(project: Project, asked: Asked) -> Storyboard:
    """Return the storyboard of what is asked for; reads files and takes moments, so call it on a thread."""
    try:
        runs = [describe_run(find_run(project.runs, text)) for text in asked.runs]
        chosen = [choose(run, asked.choice) for run in runs]
    except WorkbenchError as error:
        return Storyboard(problem=str(error))
    shown = [item for items in chosen for item in items]
    wanted = Wanted(seed=runs[0].eval_seed if asked.seed is None else asked.seed, exact=asked.seed is not None)
    films = find_recorded(project.recordings, shown, wanted)
    if len(films) < len(set(shown)) and not wanted.exact:
        own = find_leftovers(shown)
        films = own if len(own) == len(set(shown)) else films
    best = {run.directory.path: run.directory.best() for run in runs}
    swaps = {place for place, _ in asked.choice.swaps}
    tiles = tuple(
        Tile(item, films.get(item), place in swaps, _is(best.get(item.run.directory.path), item.path))
        for items in chosen
        for place, item in enumerate(items, start=1)
    )
    one_clip = asked.layout == "film"
    columns = 1 if one_clip else min(len(tiles), asked.columns or best_columns(len(tiles), wanted.size))
    grid = None if one_clip else lay_out(len(tiles), wanted.size, columns=asked.columns, strip=asked.curve)
    missing = sum(tile.film is None for tile in tiles)
    each = clip_seconds(project.recordings) if missing else 0.0
    return Storyboard(
        tiles=tiles,
        steps=tuple(item.steps for item in runs[0].directory.checkpoints()) if len(runs) == 1 else (),
        seed=wanted.seed,
        columns=columns,
        size=wanted.size if grid is None else (grid.width, grid.height),
        seconds=None if each is None else each * missing,
    )


def clip_seconds(recordings: Path) -> float | None:
    """Return how long filming one episode takes on this machine, from films made before; None without any."""
    took: list[float] = []
    folders = [recordings, *sorted((recordings / CLIPS_FOLDER).glob("*"))[-4:]]
    for film in (item for folder in folders for item in list_recordings(folder)[:MEASURED]):
        sidecar = film.sidecar
        if film.state != "done" or sidecar is None or sidecar.kind != "recording" or not sidecar.created:
            continue
        try:
            ended = sidecar_path(film.path).stat().st_mtime
        except OSError:
            continue
        spent = ended - sidecar.created
        if 0 < spent < 3600:
            took.append(spent / max(1, len(sidecar.episodes)))
    return median(took) if took else None


def swapped(board: Storyboard, place: int, by: int) -> int | None:
    """Return the steps of the checkpoint before or after that of a clip which no clip shows yet; None where none is.

    Args:
        board: The montage of one run.
        place: The clip, counted from 0.
        by: 1 for later, -1 for earlier.
    """
    if not board.steps or not 0 <= place < len(board.tiles):
        return None
    now = board.tiles[place].shown.steps
    taken = {tile.shown.steps for tile in board.tiles}
    line: Sequence[int] = [steps for steps in board.steps if (steps > now if by > 0 else steps < now)]
    free = [steps for steps in line if steps not in taken]
    return None if not free else free[0] if by > 0 else free[-1]


def _is(best: object, path: Path) -> bool:
    return getattr(best, "path", None) == path
