"""Parts of a film one after another: each fades into the next, or follows at once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from workbench.montage.timing import Timing


def joined_frames(lengths: Sequence[int], timing: Timing) -> int:
    """Return how many frames parts of these lengths have together."""
    return sum(lengths) - timing.transition * (len(lengths) - 1)


def starts(lengths: Sequence[int], timing: Timing) -> list[int]:
    """Return the frame at which each part begins to show."""
    return [
        joined_frames([*lengths[:number], timing.transition], timing) if number else 0 for number in range(len(lengths))
    ]


def lead(number: int, timing: Timing) -> int:
    """Return how many still frames a part needs before its own, counted from 0.

    A fade of n frames mixes n frames and neither end: ffmpeg's starts on a frame that is all the earlier part, so
    every later one needs one more still frame to lie under it.
    """
    return 1 if number and timing.transition else 0


def join(parts: Sequence[str], lengths: Sequence[int], timing: Timing) -> tuple[list[str], str]:
    """Return the filters that join streams, and the name of what comes out.

    Args:
        parts: Names of streams of one size, each as long as its length and its `lead`.
        lengths: Frames of each, without the lead.
        timing: Rate and fade.
    """
    lines: list[str] = []
    joined, length = parts[0], lengths[0]
    for number, (part, frames) in enumerate(zip(parts[1:], lengths[1:], strict=True), start=1):
        if timing.transition:
            span = Fraction(timing.transition + 1) / timing.fps
            start = Fraction(length - timing.transition - 1) / timing.fps
            how = f"xfade=transition=fade:duration={float(span):.6f}:offset={float(start):.6f}"
        else:
            how = "concat=n=2"
        lines.append(f"[{joined}][{part}]{how}[j{number}]")
        joined, length = f"j{number}", length + frames - timing.transition
    return lines, joined


def held(frames: int, timing: Timing) -> str:
    """Return the filters that show one picture for so many frames."""
    fps = f"{timing.fps.numerator}/{timing.fps.denominator}"
    # A picture lasts for a 25th of a second: at a lower rate nothing would be left of it, so it is repeated first.
    clock = f"settb=AVTB,setpts=N*{timing.fps.denominator}/{timing.fps.numerator}/TB"
    return f"loop=loop={frames}:size=1,{clock},fps={fps}:start_time=0,trim=end_frame={frames},setsar=1"
