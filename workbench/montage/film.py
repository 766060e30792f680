"""The film layout: one labelled clip after another, each fading into the next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

from workbench.montage.clips import Clip
from workbench.montage.curve import Curve, CurveStrip
from workbench.montage.ffmpeg import COLOURS, encode
from workbench.montage.labels import LabelStyle, film_label, return_text, steps_text
from workbench.montage.timing import Timing


def film_frames(clips: Sequence[Clip], timing: Timing) -> int:
    """Return how many frames the film has."""
    whole = sum(timing.head + timing.body(clip) + timing.tail for clip in clips)
    return whole - timing.transition * (len(clips) - 1)


def headline(clip: Clip) -> str:
    """Return what matters most of a clip: steps and return."""
    value = clip.return_
    return f"step {steps_text(clip.shown.steps)}" + ("" if value is None else f"  ·  return {return_text(value)}")


def detail(clip: Clip) -> str:
    """Return the rest: which run, iteration, evaluation."""
    shown = clip.shown
    parts = [shown.run.title]
    if shown.iteration is not None:
        parts.append(f"iteration {steps_text(shown.iteration)}")
    if shown.evaluation_mean is not None:
        parts.append(f"evaluation {return_text(shown.evaluation_mean)}")
    return "  ·  ".join(parts)


def write_film(
    clips: Sequence[Clip],
    timing: Timing,
    style: LabelStyle,
    film: Path,
    *,
    scratch: Path,
    strip: CurveStrip | None = None,
    on_frame: Callable[[int], None] = lambda frame: None,
) -> None:
    """Encode the film.

    Args:
        clips: Of one size, in the order of showing.
        timing: Rate, padding and fades.
        style: How labels look.
        film: Where it goes.
        scratch: A folder for the labels' pictures.
        strip: What goes under the clips, as wide as they are.
        on_frame: Called with the number of frames written so far.

    Raises:
        WorkFailedError: ffmpeg failed.
    """
    stamps = [film_label(headline(clip), detail(clip), clip.info.even_size, style) for clip in clips]
    pictures = [scratch / f"label-{number}.png" for number in range(len(clips))]
    for stamp, picture in zip(stamps, pictures, strict=True):
        stamp.picture.save(picture)
    places = [(stamp.x, stamp.y) for stamp in stamps]
    if strip is not None:
        strip.draw().save(scratch / "strip.png")
        strip.dot.save(scratch / "dot.png")
        pictures += [scratch / "strip.png", *[scratch / "dot.png"] * len(strip.curves)]
    graph = film_graph(clips, timing, places, strip)
    frames = film_frames(clips, timing)
    encode([*(clip.film for clip in clips), *pictures], graph, film, frames=frames, on_frame=on_frame)


def film_graph(
    clips: Sequence[Clip], timing: Timing, labels: Sequence[tuple[int, int]], strip: CurveStrip | None = None
) -> str:
    """Return the filter graph: inputs are the clips, their labels, the strip, and a dot for each of its curves."""
    lines: list[str] = []
    count, fade = len(clips), timing.transition
    for number, clip in enumerate(clips):
        # A fade of n frames mixes n frames and neither end: ffmpeg's starts on a frame that is all the earlier clip,
        # so every later clip gets one more still frame to lie under it.
        extra = 1 if number and fade else 0
        head, body = timing.head + extra, timing.body(clip)
        lines.append(f"[{number}:v]{steady(clip, timing, head=head, frames=head + body + timing.tail)}[p{number}]")
        x, y = labels[number]
        lines.append(f"[p{number}][{count + number}:v]overlay={x}:{y},format=yuv420p[v0_{number}]")
    joined = "v0_0"
    length = timing.head + timing.body(clips[0]) + timing.tail
    for number, clip in enumerate(clips[1:], start=1):
        if fade:
            span, start = Fraction(fade + 1) / timing.fps, Fraction(length - fade - 1) / timing.fps
            how = f"xfade=transition=fade:duration={float(span):.6f}:offset={float(start):.6f}"
        else:
            how = "concat=n=2"
        lines.append(f"[{joined}][v0_{number}]{how}[j{number}]")
        joined = f"j{number}"
        length += timing.head + timing.body(clip) + timing.tail - fade
    if strip is not None:
        lines.append(_strip_filters(clips, timing, strip, source=joined))
        joined = "m"
    lines.append(f"[{joined}]format=yuv420p,{COLOURS}[out]")
    return ";".join(lines)


def _strip_filters(clips: Sequence[Clip], timing: Timing, strip: CurveStrip, *, source: str) -> str:
    width, height = clips[0].info.even_size
    first = 2 * len(clips)
    under = f"[{source}]pad={width}:{height + strip.size[1]}:0:0[u];[u][{first}:v]overlay=0:{height}[t]"
    journeys = [_journey(clips, timing, curve) for curve in strip.curves]
    return f"{under};{strip.filters(journeys, x=0, y=height, source='t', dot=first + 1, out='m')}"


def _journey(clips: Sequence[Clip], timing: Timing, curve: Curve) -> list[tuple[float, float]]:
    """Return where the dot of a curve is: at the clip that is shown, on its way while one fades into the next."""
    ways: list[tuple[float, float]] = []
    start = 0
    for clip in clips:
        length = timing.head + timing.body(clip) + timing.tail
        if clip.shown.run == curve.run:
            steps = float(clip.shown.steps)
            begin = start + timing.transition if start else 0
            # The dot of a run waits at its first clip until that comes, and stays at its last.
            ways += [(float(begin), steps), (float(start + length - timing.transition), steps)]
        start += length - timing.transition
    return ways


def steady(clip: Clip, timing: Timing, *, head: int, frames: int, scale: tuple[int, int] | None = None) -> str:
    """Return the filters that give a clip its speed, rate, still head, and exactly `frames` frames.

    Args:
        clip: The clip.
        timing: Speed and rate.
        head: Still frames before it plays.
        frames: Frames in all; the last is held for as long as it takes.
        scale: The size it is shown at; its own without.
    """
    fps = f"{timing.fps.numerator}/{timing.fps.denominator}"
    width, height = scale or clip.info.even_size
    return (
        f"setpts=(PTS-STARTPTS)*{timing.speed.denominator}/{timing.speed.numerator},fps={fps}:start_time=0,"
        f"tpad=start={head}:start_mode=clone:stop={frames}:stop_mode=clone,"
        f"trim=end_frame={frames},scale={width}:{height}:out_color_matrix=bt601:out_range=tv,setsar=1"
    )
