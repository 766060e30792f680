"""What a montage is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from workbench.errors import RequestError
from workbench.montage.labels import LabelStyle
from workbench.montage.timing import Pace
from workbench.runs import RunDirectory
from workbench.storyboard.selection import Choice

Layout = Literal["film", "grid", "poster"]
ThemeName = Literal["light", "dark"]

SUFFIXES: dict[Layout, str] = {"film": ".mp4", "grid": ".mp4", "poster": ".png"}


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
    seed: int | None = None
    """Of every clip; that of the first run's evaluations without."""
    size: tuple[int, int] | None = None
    """Of every clip, 480x360 without."""
    theme: ThemeName | None = None
    """Look of every clip, light without."""
    episodes: int = 1
    """Filmed one after another in every clip."""
    pace: Pace = field(default_factory=Pace)
    style: LabelStyle = field(default_factory=LabelStyle)
    moment: float = 0.5
    """Which part of the longest clip a poster shows, 0 to 1."""
    curve: bool = False
    """Whether the return curves stand under the clips."""
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
        suffix = SUFFIXES[self.layout]
        if self.output is not None:
            if self.output.suffix.lower() != suffix:
                raise RequestError(f"-o {self.output}: a {self.layout} is written as {suffix}.")
            if self.output.is_dir():
                raise RequestError(f"-o takes a file, and {self.output} is a folder.")
        self.style.check()
