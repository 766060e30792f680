"""The top row: the four places, how many runs are live, queued or ended badly, and how busy the machine is."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from workbench import formatting
from workbench.ui.theme import STATE_LOOKS

if TYPE_CHECKING:
    from workbench.ui.app import WorkbenchApp

PLACES = (("environments", "Environments"), ("runs", "Runs"), ("viewer", "Viewer"), ("recordings", "Recordings"))

_REFRESH_S = 2.0
_WIDE = 120


@dataclass(frozen=True)
class MachineLoad:
    """How busy this machine is."""

    host: str
    cpu: float
    """Share of all cores in use, 0 to 1."""
    memory_used: float
    memory_total: float
    """In bytes, as the used memory."""


@dataclass(frozen=True)
class RunCounts:
    """What the header says of the runs."""

    live: int = 0
    queued: int = 0
    bad: int = 0
    """Failed or crashed, and not yet looked at."""


LoadReader = Callable[[], MachineLoad]


def read_load() -> MachineLoad:
    """Read the load since the last call; never blocks."""
    memory = psutil.virtual_memory()
    return MachineLoad(
        socket.gethostname(), psutil.cpu_percent(interval=None) / 100, memory.total - memory.available, memory.total
    )


class Header(Widget):
    """One row; the tabs can be clicked."""

    DEFAULT_CSS = """
    Header {
        dock: top;
        height: 1;
        width: 1fr;
        background: $panel;
        color: $foreground;
        link-color: $foreground;
        link-style: none;
        link-background: transparent;
        link-color-hover: $accent;
        link-background-hover: $surface;
        link-style-hover: bold;
    }
    """

    counts: reactive[RunCounts] = reactive(RunCounts())
    load: reactive[MachineLoad | None] = reactive(None)

    def __init__(self, app: WorkbenchApp, place: str) -> None:
        super().__init__()
        self._workbench = app
        self._place = place

    def on_mount(self) -> None:
        """Read the load now and then, and follow the runs."""
        self.counts = self._workbench.run_counts
        self.load = self._workbench.read_load()
        self.set_interval(_REFRESH_S, self._measure)
        self._workbench.runs_changed.subscribe(self, lambda _: self.follow_runs())

    def follow_runs(self) -> None:
        """Take over what the app knows of the runs."""
        self.counts = self._workbench.run_counts

    def _measure(self) -> None:
        if self.screen.is_current:
            self.load = self._workbench.read_load()

    @property
    def columns(self) -> list[int]:
        """Where each tab begins."""
        text = self.render().plain
        found, start = [], 0
        for number in range(1, len(PLACES) + 1):
            start = text.index(str(number), start)
            found.append(start)
        return found

    def render(self) -> Content:
        """Return the row for the width there is."""
        tabs = Content(" ").join(self._tab(*place) for place in enumerate(PLACES))
        wide = self.size.width >= _WIDE
        right = Content.assemble(self._runs(long=wide), self._machine() if wide else "")
        left = Content.assemble((" workbench  ", "bold"), tabs)
        if left.cell_length + right.cell_length > self.size.width:
            left = Content.assemble(" ", tabs)
        if left.cell_length + right.cell_length > self.size.width:
            # Where one is has its name; the keys of the other places do, and the counts stay whole.
            left = Content(" ").join(self._tab(*place, short=True) for place in enumerate(PLACES))
        space = self.size.width - left.cell_length - right.cell_length
        return Content.assemble(left, " " * max(1, space), right)

    def _tab(self, index: int, place: tuple[str, str], *, short: bool = False) -> Content:
        name, label = place
        click = f"@click=screen.go_{name}"
        if name == self._place:
            return Content.assemble((f"[{index + 1} {label}]", "$primary bold"))
        return Content.assemble((f" {index + 1} " if short else f" {index + 1} {label} ", click))

    def _runs(self, *, long: bool) -> Content:
        counts = self.counts
        plain = self._workbench.plain
        parts: list[Content] = []
        for state, count, word in (
            ("running", counts.live, "live"),
            ("queued", counts.queued, "queued"),
            ("failed", counts.bad, "ended badly"),
        ):
            look = STATE_LOOKS[state]
            text = f"{look.plain if plain else look.glyph} {count}{f' {word}' if long else ''}"
            parts.append(Content.styled(text, f"${look.variable}" if count else "$muted"))
        return Content("  ").join(parts)

    def _machine(self) -> Content:
        load = self.load
        if load is None:
            return Content("")
        used, total = load.memory_used / 1e9, load.memory_total / 1e9
        clock = formatting.clock(self._workbench.clock())
        host = f"{formatting.shorten(load.host, 16)}  " if self.size.width >= 160 else ""
        return Content.assemble(
            (f"    {host}CPU {formatting.percent(load.cpu)}  RAM {used:.1f}/{total:.0f} GB", "$muted"), f"    {clock} "
        )
