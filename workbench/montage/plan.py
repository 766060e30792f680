"""A montage worked out to the frame and the pixel, and what its writers have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from workbench.montage.clips import Clip
from workbench.montage.curve import CurveStrip
from workbench.montage.labels import DARK, Ink, LabelStyle
from workbench.montage.timing import Timing
from workbench.storyboard.layout import GridLayout

OnFrame = Callable[[int], None]
"""Called with the number of frames written so far."""

PDF_SCALE = 2
"""How much larger a poster is drawn for paper, along each side, so that its text and curves are sharp there."""


@dataclass(frozen=True)
class Plan:
    """All that is known before the first frame is drawn."""

    clips: tuple[Clip, ...]
    """Of one size, in the order of showing; of a grid those of its cells."""
    timing: Timing
    style: LabelStyle = field(default_factory=LabelStyle)
    """Of a film's labels."""
    ink: Ink = DARK
    """What everything else is written in."""
    layout: GridLayout | None = None
    """Of a grid or a poster."""
    strip: CurveStrip | None = None
    """What stands under the clips."""
    moment: float = 0.5
    """The share of the longest clip at which a poster shows all; shorter ones show their end by then."""
    title: str = ""
    """A film opens with it; over a grid or a poster it stands instead of the environment's name."""
    end_words: tuple[str, ...] = ()
    """The command on the card that a film or grid ends with; no card without."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the whole in pixels."""
        if self.layout is not None:
            return self.layout.width, self.layout.height
        width, height = self.clips[0].info.even_size
        return width, height + (0 if self.strip is None else self.strip.size[1])


class Writer(Protocol):
    """Writes a montage in one layout."""

    def __call__(self, plan: Plan, path: Path, *, scratch: Path, on_frame: OnFrame = ...) -> None:
        """Write it.

        Args:
            plan: What to write.
            path: Where it goes; it appears whole or not at all. Its suffix says in which format.
            scratch: A folder for pictures on the way.
            on_frame: Called with the number of frames written so far.

        Raises:
            WorkFailedError: ffmpeg failed; its last words are in the message.
        """
