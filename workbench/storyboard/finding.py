"""Which clips of a montage exist already: recordings and cached clips by their sidecars, films in the checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.runs.recordings import Sidecar, list_recordings
from workbench.storyboard.checkpoint_films import film_name
from workbench.storyboard.selection import Shown

CLIPS_FOLDER = "clips"
CHECKPOINT_FILM = film_name(0)
CHANGES = frozenset({"--seconds", "--camera", "--env"})
"""Flags that make a recording unlike the others of a montage."""


@dataclass(frozen=True)
class Wanted:
    """What every clip of one montage has in common."""

    seed: int
    size: tuple[int, int] = (480, 360)
    theme: str = "light"
    episodes: int = 1
    stochastic: bool = False
    """Whether the policy draws its actions rather than taking the likeliest ones."""
    exact: bool = False
    """Whether somebody asked for just these; otherwise films that training left in the checkpoints will do."""


def clip_path(recordings: Path, shown: Shown, wanted: Wanted) -> Path:
    """Return where the clip of a checkpoint is cached."""
    width, height = wanted.size
    episodes = "" if wanted.episodes == 1 else f"_{wanted.episodes}ep"
    drawn = "_stochastic" if wanted.stochastic else ""
    name = f"{shown.steps:012d}_seed{wanted.seed}_{width}x{height}_{wanted.theme}{episodes}{drawn}.mp4"
    return recordings / CLIPS_FOLDER / shown.run.directory.name / name


def find_recorded(recordings: Path, chosen: Sequence[Shown], wanted: Wanted) -> dict[Shown, Path]:
    """Return the recordings and cached clips that show these checkpoints as wanted; those missing are left out."""
    by_checkpoint = {shown.path.resolve(): shown for shown in chosen}
    cached = {clip_path(recordings, shown, wanted): shown for shown in chosen}
    folders = [recordings, *sorted({path.parent for path in cached}), *by_checkpoint]
    found: dict[Shown, Path] = {}
    for recording in (item for folder in folders for item in list_recordings(folder)):
        sidecar = recording.sidecar
        if sidecar is None or recording.state != "done" or sidecar.kind != "recording" or not sidecar.checkpoint:
            continue
        shown = by_checkpoint.get((recordings.parent / sidecar.checkpoint).resolve())
        # A cached clip is what was asked for by its very name, even where the recorder had to change the size.
        if shown is not None and (cached.get(recording.path) == shown or _fits(sidecar, wanted)):
            found.setdefault(shown, recording.path)
    return found


def _fits(sidecar: Sidecar, wanted: Wanted) -> bool:
    return (
        sidecar.seed == wanted.seed
        and sidecar.size == wanted.size
        and sidecar.theme in (wanted.theme, None)
        and sidecar.stochastic == wanted.stochastic
        and not CHANGES.intersection(sidecar.command)
        and len(sidecar.episodes) == wanted.episodes
    )


def find_leftovers(chosen: Iterable[Shown], name: str = CHECKPOINT_FILM) -> dict[Shown, Path]:
    """Return the films of that name in the checkpoints themselves, for those to which nothing better can be had."""
    return {shown: film for shown in chosen if (film := shown.path / name).is_file()}
