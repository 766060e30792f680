"""What a montage will show, for its form: its tiles, which of them exist, how large and long it is, what it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from workbench.errors import WorkbenchError
from workbench.project import Project
from workbench.runs.recordings import Recording, list_recordings, sidecar_path
from workbench.runs.references import find_run
from workbench.storyboard.arrangement import arrange, takes_of
from workbench.storyboard.finding import CLIPS_FOLDER, Wanted, find_leftovers, find_recorded
from workbench.storyboard.layout import FILM_PIXELS, POSTER_PIXELS, GridLayout, best_columns, lay_out
from workbench.storyboard.selection import Choice, Shown, choose, describe_run

MEASURED = 24
"""How many recordings are looked at to tell how long another one takes, and how large it is."""
STILL_S = 2.0
"""How long a clip stands still before and after it plays, together: what `--head-seconds` and `--tail-seconds` are."""
FADE_S = 0.5
"""How long one clip fades into the next, both of them still: what `--transition-seconds` is."""


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
    rows: int = 1
    size: tuple[int, int] = (0, 0)
    """Width and height of the whole in pixels."""
    seconds: float | None = None
    """How long filming what is missing takes, from recordings made here; None where there are none."""
    length_s: float | None = None
    """How long it plays, as far as the clips that exist tell; None for a picture, or where none does."""
    size_bytes: float | None = None
    """How large its file will be, from files of its format made here; None where there are none."""
    problem: str = ""
    """Why there is nothing to show."""

    @property
    def missing(self) -> int:
        """How many clips are to be filmed."""
        return sum(tile.film is None for tile in self.tiles)


@dataclass(frozen=True)
class Asked:
    """What the form asks for."""

    runs: tuple[str, ...]
    choice: Choice
    layout: str = "grid"
    columns: int | None = None
    seed: int | None = None
    curve: bool = False
    suffix: str = ".mp4"


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
    grid, columns, rows = _laid_out(asked, shown, wanted)
    size = wanted.size if grid is None else (grid.width, grid.height)
    missing = sum(tile.film is None for tile in tiles)
    each = clip_seconds(project.recordings) if missing else 0.0
    length_s = None if asked.layout == "poster" else _length(list(films.values()), len(tiles), asked.layout)
    return Storyboard(
        tiles=tiles,
        steps=tuple(item.steps for item in runs[0].directory.checkpoints()) if len(runs) == 1 else (),
        seed=wanted.seed,
        columns=columns,
        rows=rows,
        size=size,
        seconds=None if each is None else each * missing,
        length_s=length_s,
        size_bytes=_size_bytes(project.recordings, asked.suffix, size, length_s),
    )


def _laid_out(asked: Asked, shown: Sequence[Shown], wanted: Wanted) -> tuple[GridLayout | None, int, int]:
    """Return where everything lies, and how many columns and rows there are; nothing lies anywhere in a film."""
    if asked.layout == "film":
        return None, 1, len(shown)
    places = None if asked.columns else arrange(takes_of(shown, (wanted.seed,)))
    most = POSTER_PIXELS if asked.layout == "poster" else FILM_PIXELS
    grid = lay_out(len(shown), wanted.size, columns=asked.columns, strip=asked.curve, places=places, most_pixels=most)
    if places is not None:
        return grid, 1 + max(column for _, column in places), 1 + max(row for row, _ in places)
    columns = min(len(shown), asked.columns or best_columns(len(shown), wanted.size))
    return grid, columns, -(-len(shown) // columns)


def _length(films: Sequence[Path], count: int, layout: str) -> float | None:
    """Return how long a film or grid plays; clips that are to be filmed count as the mean of those that exist."""
    recorded = [next((item for item in list_recordings(film.parent) if item.path == film), None) for film in films]
    known = [
        item.sidecar.duration_s
        for item in recorded
        if item is not None and item.sidecar is not None and item.sidecar.duration_s
    ]
    if not known:
        return None
    if layout == "grid":
        return max(known) + STILL_S
    return count * (sum(known) / len(known) + STILL_S) - (count - 1) * FADE_S


def _size_bytes(recordings: Path, suffix: str, size: tuple[int, int], length_s: float | None) -> float | None:
    """Return how large a file will be, by how much one of its format made here has for each pixel and second."""
    found = []
    for item in _made(recordings):
        sidecar = item.sidecar
        if item.path.suffix.lower() == suffix and sidecar is not None and sidecar.size is not None:
            amount = sidecar.size[0] * sidecar.size[1] * (sidecar.duration_s or 0.0 if length_s is not None else 1.0)
            if amount > 0 and item.size_bytes:
                found.append(item.size_bytes / amount)
    return median(found) * size[0] * size[1] * (1.0 if length_s is None else length_s) if found else None


def clip_seconds(recordings: Path) -> float | None:
    """Return how long filming one episode takes on this machine, from films made before; None without any."""
    took: list[float] = []
    for film in _made(recordings):
        sidecar = film.sidecar
        if sidecar is None or sidecar.kind != "recording" or not sidecar.created:
            continue
        try:
            ended = sidecar_path(film.path).stat().st_mtime
        except OSError:
            continue
        spent = ended - sidecar.created
        if 0 < spent < 3600:
            took.append(spent / max(1, len(sidecar.episodes)))
    return median(took) if took else None


def _made(recordings: Path) -> Iterator[Recording]:
    """Yield what was made here last, recordings and clips of montages."""
    folders = [recordings, *sorted((recordings / CLIPS_FOLDER).glob("*"))[-4:]]
    for film in (item for folder in folders for item in list_recordings(folder)[:MEASURED]):
        if film.state == "done":
            yield film


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
