"""How long things last on film, counted in frames: speed, rate, frozen heads and tails, crossfades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from workbench.errors import RequestError
from workbench.montage.clips import Clip


@dataclass(frozen=True)
class Pace:
    """How clips follow one another, as asked for."""

    speed: float = 1.0
    """Times real time."""
    fps: float | None = None
    """Frames a second of the montage; those of the smoothest clip without."""
    head_s: float = 1.0
    """How long each clip stands still before it plays."""
    tail_s: float = 1.0
    """How long each clip stands still after it played."""
    transition_s: float = 0.5
    """How long one clip fades into the next, which both stand still for."""

    def check(self, *, fading: bool) -> None:
        """Raise if a value makes no sense.

        Args:
            fading: Whether clips fade into one another at all.

        Raises:
            RequestError: Names the flag and what it takes.
        """
        if not 0.01 <= self.speed <= 100:
            raise RequestError(f"--speed is {self.speed:g}; it must be 0.01 to 100.")
        if self.fps is not None and not 1 <= self.fps <= 240:
            raise RequestError(f"--fps is {self.fps:g}; it must be 1 to 240.")
        for flag, value in (("head", self.head_s), ("tail", self.tail_s), ("transition", self.transition_s)):
            if not 0 <= value <= 60:
                raise RequestError(f"--{flag}-seconds is {value:g}; it must be 0 to 60.")
        if fading and self.transition_s > min(self.head_s, self.tail_s):
            short = "head" if self.head_s <= self.tail_s else "tail"
            raise RequestError(
                f"--transition-seconds {self.transition_s:g} is longer than --{short}-seconds "
                f"{min(self.head_s, self.tail_s):g}: a clip would fade while it plays.",
                hint="Shorten the one or lengthen the other.",
            )


@dataclass(frozen=True)
class Timing:
    """The same in frames of one montage."""

    fps: Fraction
    speed: Fraction
    head: int
    tail: int
    transition: int

    def body(self, clip: Clip) -> int:
        """Return how many frames a clip plays for."""
        return max(1, round(clip.info.frames / clip.info.fps / self.speed * self.fps))


def work_out(pace: Pace, clips: Sequence[Clip], *, most_fps: int | None = None) -> Timing:
    """Return the timing of a montage of `clips`; without a rate asked for it gets that of the smoothest clip.

    Args:
        pace: What was asked for.
        clips: What is shown.
        most_fps: The highest rate that the format takes; halved until it fits, so that frames are left out evenly.
    """
    smoothest = max(clip.info.fps for clip in clips)
    while most_fps is not None and smoothest > most_fps:
        smoothest /= 2
    fps = smoothest if pace.fps is None else Fraction(pace.fps).limit_denominator(1001)
    head, tail, transition = (round(seconds * fps) for seconds in (pace.head_s, pace.tail_s, pace.transition_s))
    return Timing(fps, Fraction(pace.speed).limit_denominator(1000), head, tail, transition)
