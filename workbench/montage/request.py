"""What a montage is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from workbench.errors import RequestError
from workbench.montage.ffmpeg import FILM_SUFFIXES, GIF_MOST_FPS
from workbench.montage.fonts import font_for
from workbench.montage.labels import LabelStyle
from workbench.montage.timing import Pace
from workbench.runs import RunDirectory
from workbench.storyboard.arrangement import By
from workbench.storyboard.selection import Choice

Layout = Literal["film", "grid", "poster"]
ThemeName = Literal["light", "dark"]

SUFFIXES: dict[Layout, tuple[str, ...]] = {"film": FILM_SUFFIXES, "grid": FILM_SUFFIXES, "poster": (".png", ".pdf")}
"""What each can be written as, the usual first."""

DEFAULT_MOMENT = 0.5


@dataclass(frozen=True)
class MontageRequest:
    """What a montage is asked to show and how."""

    runs: tuple[RunDirectory, ...]
    layout: Layout = "film"
    choice: Choice = field(default_factory=Choice)
    generate_missing: bool = True
    """Whether checkpoints without a film are filmed now."""
    columns: int | None = None
    """Of a grid or poster; chosen by shape without."""
    by: By | None = None
    """What a column of a grid or poster is; chosen by what differs without."""
    seeds: tuple[int, ...] = ()
    """Every checkpoint is shown with each; that of the first run's evaluations without."""
    size: tuple[int, int] | None = None
    """Of every clip, 480x360 without."""
    theme: ThemeName | None = None
    """Look of every clip, light without."""
    episodes: int = 1
    """Filmed one after another in every clip."""
    stochastic: bool = False
    """Whether the policies draw their actions rather than taking the likeliest ones."""
    own_film: str | None = None
    """The name of a film that each checkpoint itself holds, which is shown before any other."""
    pinned: tuple[Path, ...] = ()
    """Checkpoints of the runs that are shown, whatever `choice` says."""
    pace: Pace = field(default_factory=Pace)
    style: LabelStyle = field(default_factory=LabelStyle)
    moment: float = DEFAULT_MOMENT
    """Which part of the longest clip a poster shows, 0 to 1."""
    curve: bool = False
    """Whether the return curves stand under the clips."""
    title: str = ""
    """What the whole is called: a card at the start of a film, the heading of a grid or poster."""
    end_card: bool = False
    """Whether a film or grid ends with a card that tells `command`."""
    output: Path | None = None
    """Where it goes; a new name among the recordings without."""
    command: tuple[str, ...] = ()
    """The words that make it again."""

    def check(self) -> None:
        """Raise if a value makes no sense, as far as that can be told before any work.

        Raises:
            RequestError: Names the flag and what it takes.
        """
        if not self.runs:
            raise RequestError("name at least one run.", hint="`workbench runs` lists them.")
        if self.episodes < 1:
            raise RequestError(f"--episodes is {self.episodes}; it must be at least 1.")
        if self.columns is not None and self.columns < 1:
            raise RequestError(f"--columns is {self.columns}; it must be at least 1.")
        if not 0 <= self.moment <= 1:
            raise RequestError(f"--moment is {self.moment:g}; it must be 0 to 1.")
        if self.by is not None and self.columns is not None:
            raise RequestError(
                f"--columns {self.columns} says how many columns there are, and --by {self.by} what they are.",
                hint="Leave out one of them.",
            )
        if self.output is not None:
            known = SUFFIXES[self.layout]
            if self.suffix not in known:
                raise RequestError(f"-o {self.output}: a {self.layout} is written as {' or '.join(known)}.")
            if self.output.is_dir():
                raise RequestError(f"-o takes a file, and {self.output} is a folder.")
        if self.suffix == ".gif" and self.pace.fps is not None and self.pace.fps > GIF_MOST_FPS:
            raise RequestError(f"--fps is {self.pace.fps:g}; a GIF has at most {GIF_MOST_FPS} frames a second.")
        self._check_layout()
        self.style.check()
        font_for(self.title, self.style.font)

    def _check_layout(self) -> None:
        """Refuse what would have no say in this layout."""
        idle = {
            "--columns": self.columns is not None and self.layout == "film",
            "--by": self.by is not None and self.layout == "film",
            "--moment": self.moment != DEFAULT_MOMENT and self.layout != "poster",
            "--end-card": self.end_card and self.layout == "poster",
        }
        for flag, is_idle in idle.items():
            if is_idle:
                raise RequestError(
                    f"{flag} means nothing to a {self.layout}.", hint="Leave it out, or name a --layout."
                )
        if self.choice.base != Choice().base and self.choice.schedule == "linear":
            raise RequestError(
                f"--base {self.choice.base:g} is of the exponential schedule.", hint="--schedule exponential"
            )

    @property
    def suffix(self) -> str:
        """The suffix of the file, lower case."""
        return SUFFIXES[self.layout][0] if self.output is None else self.output.suffix.lower()
