"""The film layout: one labelled clip after another, each fading into the next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.montage.cards import draw_end, draw_title, end_frames, title_frames
from workbench.montage.clips import Clip, common_seed
from workbench.montage.curve import Curve, CurveStrip
from workbench.montage.ffmpeg import COLOURS, RANGE, encode
from workbench.montage.joining import held, join, joined_frames, lead, starts
from workbench.montage.labels import film_label, return_text, steps_text
from workbench.montage.plan import OnFrame, Plan
from workbench.montage.timing import Timing

YUV = f"scale={RANGE},format=yuv420p"
"""From a picture's colours to a film's."""


def film_frames(plan: Plan) -> int:
    """Return how many frames the film has."""
    return joined_frames(_lengths(plan), plan.timing)


def headline(clip: Clip) -> str:
    """Return what matters most of a clip: steps and return."""
    value = clip.return_
    return f"step {steps_text(clip.shown.steps)}" + ("" if value is None else f"  ·  return {return_text(value)}")


def detail(clip: Clip, *, tells_seed: bool = False) -> str:
    """Return the rest: which run, iteration, evaluation, and the seed where clips differ in it."""
    shown = clip.shown
    parts = [shown.run.title]
    if shown.iteration is not None:
        parts.append(f"iteration {steps_text(shown.iteration)}")
    if shown.evaluation_mean is not None:
        parts.append(f"evaluation {return_text(shown.evaluation_mean)}")
    if tells_seed and clip.sidecar is not None and clip.sidecar.seed is not None:
        parts.append(f"episode seed {steps_text(clip.sidecar.seed)}")
    return "  ·  ".join(parts)


def write_film(plan: Plan, path: Path, *, scratch: Path, on_frame: OnFrame = lambda frame: None) -> None:
    """Encode the film; see `Writer`."""
    clips, strip = plan.clips, plan.strip
    size = clips[0].info.even_size
    tells_seed = common_seed(clips) is None
    texts = [(headline(clip), detail(clip, tells_seed=tells_seed)) for clip in clips]
    stamps = [film_label(*text, size, plan.style) for text in texts]
    pictures = [stamp.picture for stamp in stamps]
    if plan.title:
        pictures.append(draw_title(size, plan.title, clips, ink=plan.ink))
    if plan.end_words:
        pictures.append(draw_end(size, plan.title, clips, plan.end_words, ink=plan.ink))
    if strip is not None:
        pictures += [strip.draw(), *strip.dots]
    files = [scratch / f"picture-{number}.png" for number in range(len(pictures))]
    for picture, file in zip(pictures, files, strict=True):
        picture.save(file)
    graph = film_graph(plan, [(stamp.x, stamp.y) for stamp in stamps])
    encode(
        [*(clip.film for clip in clips), *files],
        graph,
        path,
        frames=film_frames(plan),
        size=plan.size,
        scratch=scratch,
        on_frame=on_frame,
    )


def film_graph(plan: Plan, labels: Sequence[tuple[int, int]]) -> str:
    """Return the filter graph: inputs are the clips, their labels, the cards, the strip, a dot for each of its curves.

    Args:
        plan: The film.
        labels: Where the label of each clip goes.
    """
    clips, timing = plan.clips, plan.timing
    count, lengths = len(clips), _lengths(plan)
    lines: list[str] = []
    parts: list[str] = []
    picture = 2 * count
    if plan.title:
        lines.append(f"[{picture}:v]{held(lengths[0], timing)},{YUV}[title]")
        parts.append("title")
        picture += 1
    for number, (clip, (x, y)) in enumerate(zip(clips, labels, strict=True)):
        extra = lead(len(parts), timing)
        frames = extra + timing.head + timing.body(clip) + timing.tail
        lines.append(f"[{number}:v]{steady(clip, timing, head=timing.head + extra, frames=frames)}[p{number}]")
        lines.append(f"[p{number}][{count + number}:v]overlay={x}:{y},format=yuv420p[v{number}]")
        parts.append(f"v{number}")
    if plan.end_words:
        lines.append(f"[{picture}:v]{held(lengths[-1] + lead(len(parts), timing), timing)},{YUV}[end]")
        parts.append("end")
        picture += 1
    joining, last = join(parts, lengths, timing)
    lines += joining
    if plan.strip is not None:
        lines.append(_strip_filters(plan, plan.strip, source=last, picture=picture))
        last = "m"
    lines.append(f"[{last}]format=yuv420p,{COLOURS}[out]")
    return ";".join(lines)


def _lengths(plan: Plan) -> list[int]:
    """Return the frames of each part: a title, the clips, a card at the end."""
    timing = plan.timing
    clips = [timing.head + timing.body(clip) + timing.tail for clip in plan.clips]
    title = [title_frames(timing)] if plan.title else []
    return [*title, *clips, *([end_frames(timing)] if plan.end_words else [])]


def _strip_filters(plan: Plan, strip: CurveStrip, *, source: str, picture: int) -> str:
    width, height = plan.clips[0].info.even_size
    under = f"[{source}]pad={width}:{height + strip.size[1]}:0:0[u];[u][{picture}:v]overlay=0:{height}[t]"
    journeys = [_journey(plan, curve) for curve in strip.curves]
    return f"{under};{strip.filters(journeys, x=0, y=height, source='t', dot=picture + 1, out='m')}"


def _journey(plan: Plan, curve: Curve) -> list[tuple[float, float]]:
    """Return where the dot of a curve is: at the clip that is shown, on its way while one fades into the next."""
    lengths, fade = _lengths(plan), plan.timing.transition
    first = 1 if plan.title else 0
    begun = starts(lengths, plan.timing)[first:]
    ways: list[tuple[float, float]] = []
    for clip, start, length in zip(plan.clips, begun, lengths[first:], strict=False):
        if clip.shown.run == curve.run:
            steps = float(clip.shown.steps)
            # The dot of a run waits at its first clip until that comes, and stays at its last.
            ways += [(float(start + fade if start else 0), steps), (float(start + length - fade), steps)]
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
        f"trim=end_frame={frames},scale={width}:{height}:{RANGE},setsar=1"
    )
