"""The states of a run, and what each looks like in a list."""

from __future__ import annotations

from enum import StrEnum


class RunState(StrEnum):
    """Where a run is in its life; `crashed` is derived by readers and never stored."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"
    CRASHED = "crashed"

    @property
    def is_live(self) -> bool:
        """Whether a process carries the run now."""
        return self in _LIVE

    @property
    def is_ended(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self in _ENDED

    @property
    def is_bad(self) -> bool:
        """Whether the run ended otherwise than asked."""
        return self in (RunState.FAILED, RunState.CRASHED)

    @property
    def glyph(self) -> str:
        """The sign of the state in a list."""
        return _GLYPHS[self][0]

    @property
    def plain_glyph(self) -> str:
        """The same in ASCII, for terminals that have nothing else."""
        return _GLYPHS[self][1]


_LIVE = frozenset({RunState.STARTING, RunState.RUNNING, RunState.PAUSED, RunState.STOPPING})
_ENDED = frozenset({RunState.FINISHED, RunState.STOPPED, RunState.FAILED, RunState.CRASHED})
_GLYPHS = {
    RunState.QUEUED: ("○", "."),
    RunState.STARTING: ("◌", ":"),
    RunState.RUNNING: ("●", ">"),
    RunState.PAUSED: ("‖", "="),
    RunState.STOPPING: ("◒", "~"),
    RunState.FINISHED: ("✓", "+"),
    RunState.STOPPED: ("■", "#"),
    RunState.FAILED: ("✗", "x"),
    RunState.CRASHED: ("†", "!"),
}
