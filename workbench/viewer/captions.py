"""Where the captions of several policies go, and in how many lines: whole, within the picture, none over another.

Pure arithmetic: what draws them tells how wide words are. Captions that have no room are first broken into lines, then
written smaller; where letters would be too small to be read they may cover other things, and only where the picture is
too narrow for a name are words cut, with a mark that says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

PARTED = "   "
"""What stands between the parts of a caption: its name, its return, how it ended. It may be broken there."""

LINE = 1.25
"""From one line to the next, in letter heights."""
PAD_X = 0.4
PAD_Y = 0.15
"""Between the words and the border of their box, in letter heights."""
MARGIN = 0.4
"""Between a box and the border of the picture."""
GAP = 0.2
"""Between two boxes."""

SHRINK = 0.9
"""How much smaller letters become at once."""

STACK = 0.5
"""The share of a picture's height, and of its width, that captions in its corner may take."""

NARROWEST = 0.6
"""The least width that captions are broken to, over their share of the room; closer together, they make way."""

Measure = Callable[[str, float], float]
"""Tells how wide words are at a letter height, both in pixels."""


@dataclass(frozen=True)
class Box:
    """An upright rectangle, in pixels from the upper left."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right border."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Its lower border."""
        return self.top + self.height

    def overlaps(self, other: Box, gap: float = 0.0) -> bool:
        """Tell whether two have less than a gap between them."""
        across = self.left < other.right + gap and other.left < self.right + gap
        return across and self.top < other.bottom + gap and other.top < self.bottom + gap

    def within(self, room: Box) -> Box:
        """Return it moved into a room, as far to the lower right as need be and then to the upper left corner."""
        left = max(min(self.left, room.right - self.width), room.left)
        top = max(min(self.top, room.bottom - self.height), room.top)
        return Box(left, top, self.width, self.height)

    def holds(self, other: Box) -> bool:
        """Tell whether another one lies within it."""
        hair = 1e-6
        across = self.left - hair <= other.left and other.right <= self.right + hair
        return across and self.top - hair <= other.top and other.bottom <= self.bottom + hair

    def inside(self, margin: float) -> Box:
        """Return what is left of it within a margin."""
        return Box(self.left + margin, self.top + margin, self.width - 2 * margin, self.height - 2 * margin)


@dataclass(frozen=True)
class Caption:
    """A caption that has its place."""

    lines: tuple[str, ...]
    letters: float
    """Their height in pixels."""
    box: Box

    @property
    def rows(self) -> Iterator[tuple[str, float, float]]:
        """Each line, and the left end of its middle in pixels."""
        first = self.box.top + (PAD_Y + LINE / 2) * self.letters
        for number, line in enumerate(self.lines):
            yield line, self.box.left + PAD_X * self.letters, first + number * LINE * self.letters


def beside(
    texts: Sequence[str],
    places: Sequence[tuple[float, float] | None],
    rooms: Sequence[Box],
    *,
    columns: int,
    highest: float = math.inf,
    letters: float,
    smallest: float,
    measure: Measure,
) -> list[Caption | None]:
    """Return a caption at each place, or near it where another one is there already.

    Args:
        texts: What is written, its parts apart by `PARTED`.
        places: The middle of the upper edge of each, in pixels; None for one that is out of sight.
        rooms: What each stays within.
        columns: How many stand beside each other in a room.
        highest: How high a caption should be at most, in pixels, to cover nothing else.
        letters: The height of the letters, where there is room.
        smallest: What can still be read.
        measure: Tells how wide words are.
    """
    for size, crowds, cuts in _tries(letters, smallest):
        inner = [room.inside(MARGIN * size) for room in rooms]
        apart = math.inf if crowds else max(_distance(places, LINE * size), NARROWEST * rooms[0].width / columns)
        blocks: list[_Block] = []
        for text, room in zip(texts, inner, strict=True):
            block = _block(text, min(room.width / columns, apart), size, measure, cuts=cuts)
            if block is not None:
                blocks.append(block)
        if len(blocks) < len(texts) or (not crowds and max(block.height for block in blocks) > highest):
            continue
        boxes: list[Box] = []
        for block, place, room in zip(blocks, places, inner, strict=True):
            if place is not None:
                wanted = Box(place[0] - block.width / 2, place[1], block.width, block.height).within(room)
                boxes.append(_free(wanted, boxes, room, GAP * size))
        if cuts or _are_apart(boxes):
            left = iter(boxes)
            return [
                None if place is None else Caption(block.lines, size, next(left))
                for block, place in zip(blocks, places, strict=True)
            ]
    raise AssertionError("the last size takes what there is")


def stacked(
    texts: Sequence[str],
    room: Box,
    *,
    corner: Literal["lower left", "upper right"] = "lower left",
    letters: float,
    smallest: float,
    measure: Measure,
) -> list[Caption | None]:
    """Return captions above each other in a corner of a room, out of the way of what is in its middle.

    Args:
        texts: What is written, its parts apart by `PARTED`.
        room: What they stay within.
        corner: Which.
        letters: The height of the letters, where there is room.
        smallest: What can still be read.
        measure: Tells how wide words are.
    """
    for size, crowds, cuts in _tries(letters, smallest):
        inner = room.inside(MARGIN * size)
        # Letters that can hardly be read are worse than words over what is in the middle.
        share = 1.0 if crowds else STACK
        blocks = [_block(text, share * inner.width, size, measure, cuts=cuts) for text in texts]
        there = [block for block in blocks if block is not None]
        height = sum(block.height for block in there) + GAP * size * (len(there) - 1)
        if cuts or (len(there) == len(texts) and height <= share * inner.height):
            top = inner.bottom - height if corner == "lower left" else inner.top
            stack: list[Caption | None] = []
            for block in there:
                left = inner.left if corner == "lower left" else inner.right - block.width
                stack.append(Caption(block.lines, size, Box(left, top, block.width, block.height)))
                top += block.height + GAP * size
            return stack
    raise AssertionError("the last size takes what there is")


@dataclass(frozen=True)
class _Block:
    """A caption that has no place yet."""

    lines: tuple[str, ...]
    width: float
    height: float


def _distance(places: Sequence[tuple[float, float] | None], height: float) -> float:
    """Return the least distance between two places in a row, that is with less than a height between them."""
    there = sorted(place for place in places if place is not None)
    return min(
        (
            right[0] - left[0]
            for at, right in enumerate(there)
            for left in there[:at]
            if abs(right[1] - left[1]) < height
        ),
        default=math.inf,
    )


def _tries(letters: float, smallest: float) -> Iterator[tuple[float, bool, bool]]:
    """Yield letter heights to try, and with each whether captions may crowd what they tell of, and whether be cut."""
    size = letters
    while size > smallest:
        yield size, False, False
        size *= SHRINK
    yield from ((smallest, False, False), (smallest, True, False), (smallest, True, True))


def _block(text: str, room: float, size: float, measure: Measure, *, cuts: bool) -> _Block | None:
    """Return a text in as few lines as fit into so many pixels; None where none do and it is not to be cut."""
    widest = room - (2 * PAD_X + GAP) * size
    for lines in _broken(text):
        width = max(measure(line, size) for line in lines)
        if width <= widest:
            break
    else:
        if not cuts:
            return None
        lines = tuple(line if measure(line, size) <= widest else _cut(line, widest, size, measure) for line in lines)
        width = max(measure(line, size) for line in lines)
    return _Block(lines, width + 2 * PAD_X * size, (LINE * len(lines) + 2 * PAD_Y) * size)


def _broken(text: str) -> list[tuple[str, ...]]:
    """Return the ways to break a text into lines, those with the fewest first."""
    parts = text.split(PARTED)
    ways: list[tuple[str, ...]] = [(text,)]
    # What comes last, how it ended, moves to a line of its own first.
    ways += [(PARTED.join(parts[:at]), PARTED.join(parts[at:])) for at in range(len(parts) - 1, 0, -1)]
    return ways if len(parts) < 3 else [*ways, tuple(parts)]


def _cut(line: str, widest: float, size: float, measure: Measure) -> str:
    """Return a line without as much of its middle as it is too wide: names differ in how they begin and end."""
    for kept in range(len(line) - 1, 1, -1):
        shorter = f"{line[: (kept + 1) // 2]}...{line[len(line) - kept // 2 :]}"
        if measure(shorter, size) <= widest:
            return shorter
    return line[:1]


def _free(wanted: Box, taken: Sequence[Box], room: Box, gap: float) -> Box:
    """Return the nearest place to a wanted one that none has taken; the wanted one where there is none."""
    if not any(wanted.overlaps(other, gap) for other in taken):
        return wanted
    lefts = [
        wanted.left,
        *(other.left - gap - wanted.width for other in taken),
        *(other.right + gap for other in taken),
    ]
    tops = [wanted.top, *(other.top - gap - wanted.height for other in taken), *(other.bottom + gap for other in taken)]
    found = [Box(left, top, wanted.width, wanted.height) for left in lefts for top in tops]
    free = [
        box
        for box in found
        # A hair less than the gap that the place itself leaves.
        if room.holds(box) and not any(box.overlaps(other, 0.99 * gap) for other in taken)
    ]
    return min(free, key=lambda box: math.hypot(box.left - wanted.left, box.top - wanted.top), default=wanted)


def _are_apart(boxes: Sequence[Box]) -> bool:
    return not any(one.overlaps(other) for at, one in enumerate(boxes) for other in boxes[:at])
