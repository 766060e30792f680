"""What the Help card says of a screen: its keys at a glance, then in sentences, the filter language, the states."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual.content import Content

from workbench.runs.filtering import filter_help
from workbench.runs.states import RunState
from workbench.ui.commands import Command
from workbench.ui.keymap import Keymap, keys_of, readable
from workbench.ui.theme import STATE_LOOKS

_TWO_COLUMNS = 72
_MOVES = ("move.", "view.next_pane", "view.previous_pane")
_GAP = 3
_TOGETHER = {
    **dict.fromkeys(("go.environments", "go.runs", "go.viewer", "go.recordings"), "places"),
    **dict.fromkeys(("move.down", "move.up", "move.left", "move.right"), "move"),
    **dict.fromkeys(("move.first", "move.last"), "first, last"),
    **dict.fromkeys(("move.half_down", "move.half_up"), "half a page"),
    **dict.fromkeys(("view.next_pane", "view.previous_pane"), "panes"),
    **dict.fromkeys(("view.previous_page", "view.next_page"), "page"),
    **dict.fromkeys(("view.zoom_in", "view.zoom_out"), "zoom"),
    **dict.fromkeys(("checkpoint.previous", "checkpoint.next"), "checkpoint"),
    **dict.fromkeys(("viewer.slower", "viewer.faster"), "speed"),
    **dict.fromkeys(("viewer.second_back", "viewer.second_on"), "a second"),
}
"""What neighbours are called together at a glance, by command."""
_KEYS_WIDTH = 12

STATES = {
    RunState.QUEUED: "waits for its turn; S takes it out",
    RunState.STARTING: "its process begins",
    RunState.RUNNING: "trains; P pauses, S stops, C changes a value, W saves",
    RunState.PAUSED: "saved and waiting; P goes on",
    RunState.STOPPING: "saves and ends; K ends it at once",
    RunState.FINISHED: "reached its goal or its budget; A does it again",
    RunState.STOPPED: "by hand; R goes on from its last checkpoint",
    RunState.FAILED: "ended by an error; enter says which, F starts from a good checkpoint",
    RunState.CRASHED: "its process is gone without a word; R goes on",
}
"""What a state means and which key follows."""

_CHART_FACTS = (
    "h and l move the crosshair; what it stands on is what v, V, F and enter mean.",
    "◇ checkpoint  ◆ best  * pinned  ▲ under the crosshair  • evaluation  × not finite",
    "C changed value  P paused  R resumed  F forked  ! anomaly",
)


@dataclass(frozen=True)
class Line:
    """One row of the card, and whether a search can find it."""

    shown: Content
    words: str = ""
    """What a search looks into; empty for a heading."""


def at_a_glance(commands: Sequence[Command], keymap: Keymap, width: int) -> list[Content]:
    """Return LOOK beside ACT, GO below: each key with a word or two."""
    looking = _entries((item for item in commands if _group(item) == "look"), keymap)
    acting = _entries((item for item in commands if _group(item) == "act"), keymap)
    going = _entries((item for item in commands if _group(item) == "go"), keymap)
    look, act = ("LOOK", "lower case never changes a run"), ("ACT", "upper case does")
    lines: list[Content] = []
    if width >= _TWO_COLUMNS and acting:
        # Each column gets room by how much stands in it.
        left = max(36, min(width - _GAP - 28, round((width - _GAP) * _weight(looking) / _weight(looking + acting))))
        lines += _beside(_block(*look, looking, left), _block(*act, acting, width - _GAP - left), left)
    else:
        lines += _block(*look, looking, width)
        lines += _block(*act, acting, width) if acting else []
    return [*lines, Content(""), *_block("GO", "", going, width)]


def sentences(commands: Sequence[Command], keymap: Keymap, width: int) -> list[Line]:
    """Return each key with its sentence."""
    lines = [Line(Content.styled("EVERY KEY", "bold $primary"))]
    for command in commands:
        keys = readable(keys_of(command, keymap))
        for place, part in enumerate(textwrap.wrap(command.tooltip, max(20, width - _KEYS_WIDTH))):
            shown = Content.assemble((f"{keys if not place else '':<{_KEYS_WIDTH}}", "$footer-key-foreground"), part)
            lines.append(Line(shown, f"{keys} {command.label} {command.tooltip} {command.palette or ''} {command.id}"))
    return lines


def chart_facts() -> list[Line]:
    """Return what stands on a chart."""
    return [
        Line(Content.styled("CHARTS", "bold $primary")),
        *(Line(Content(text), f"chart {text}") for text in _CHART_FACTS),
    ]


def filter_language(width: int) -> list[Line]:
    """Return the language of the filter of runs."""
    lines = [Line(Content.styled("FILTER", "bold $primary"))]
    for text in filter_help(width).splitlines()[1:]:
        is_heading = text.endswith(":") and not text.startswith(" ")
        parts = textwrap.wrap(text, width, subsequent_indent=" " * 4, drop_whitespace=False) or [""]
        words = f"filter {text}" if text else ""
        lines += [Line(Content.styled(part, "bold" if is_heading else ""), words) for part in parts]
    return lines


def state_signs(width: int, *, plain: bool) -> list[Line]:
    """Return the sign of every state and what it means."""
    lines = [Line(Content.styled("STATES", "bold $primary"))]
    for state, meaning in STATES.items():
        look = STATE_LOOKS[str(state)]
        for place, part in enumerate(textwrap.wrap(meaning, max(20, width - _KEYS_WIDTH))):
            head = f"{look.plain if plain else look.glyph} {state}" if not place else ""
            lines.append(Line(Content.assemble((f"{head:<{_KEYS_WIDTH}}", f"${look.variable}"), part),
                              f"state {state} {meaning}"))  # fmt: skip
    return lines


def found(lines: Iterable[Line], query: str) -> list[Line]:
    """Return the rows that hold every word of a search."""
    words = query.lower().split()
    return [line for line in lines if line.words and all(word in line.words.lower() for word in words)]


def _group(command: Command) -> str:
    return "go" if command.id.startswith((*_MOVES, "view.maximise")) else command.group


def _entries(commands: Iterable[Command], keymap: Keymap) -> list[tuple[str, str]]:
    """Return (keys, label), neighbours of one label as one entry: `< > sort`."""
    entries: list[tuple[str, str]] = []
    for command in commands:
        # The first key is enough at a glance; the others stand with the sentence.
        keys = readable(keys_of(command, keymap)[:1])
        label = _TOGETHER.get(command.id) or command.label[0].lower() + command.label[1:]
        if entries and entries[-1][1] == label:
            entries[-1] = (f"{entries[-1][0]} {keys}", label)
        else:
            entries.append((keys, label))
    return entries


def _weight(entries: Sequence[tuple[str, str]]) -> int:
    return sum(len(keys) + len(label) + 4 for keys, label in entries) or 1


def _block(title: str, rule: str, entries: Sequence[tuple[str, str]], width: int) -> list[Content]:
    head = Content.assemble((f"{title:<5}", "bold $primary"), (rule if len(rule) + 5 <= width else "", "$muted"))
    lines, line = [head], Content("")
    for keys, label in entries:
        entry = Content.assemble((keys, "$footer-key-foreground bold"), f" {label}")
        if line.cell_length and line.cell_length + _GAP + entry.cell_length > width:
            lines.append(line)
            line = Content("")
        line = Content.assemble(line, " " * _GAP, entry) if line.cell_length else entry
    return [*lines, line]


def _beside(left: Sequence[Content], right: Sequence[Content], width: int) -> list[Content]:
    rows = max(len(left), len(right))
    padded = [*left, *[Content("")] * (rows - len(left))], [*right, *[Content("")] * (rows - len(right))]
    return [
        Content.assemble(one, " " * (width + _GAP - one.cell_length), other) for one, other in zip(*padded, strict=True)
    ]
