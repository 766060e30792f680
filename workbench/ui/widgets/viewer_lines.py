"""The two lines under the viewer's panes: the episode so far, and the checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from workbench.ui.past import CheckpointRow
from workbench.ui.playing import ViewerState
from workbench.ui.viewer_text import history_span, history_text, ladder_text


class HistoryLine(Widget):
    """The states of the episode; a click goes to one."""

    DEFAULT_CSS = """
    HistoryLine { height: 1; }
    """

    @dataclass
    class Sought(Message):
        """A state is to be shown."""

        step: int

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._state: ViewerState | None = None
        self._period_s = 0.0
        self.plain = False

    def take(self, state: ViewerState | None, period_s: float) -> None:
        """Show where the episode stands."""
        self._state, self._period_s = state, period_s
        self.refresh()

    def render(self) -> Content:
        """Return the line."""
        return history_text(self._state, self._period_s, width=self.size.width, plain=self.plain)

    def on_click(self, event: events.Click) -> None:
        """Go to the state under the pointer."""
        state = self._state
        text = self.render().plain
        if state is None or event.y != 0:
            return
        start, length = history_span(self.size.width, len(text) - text.rfind("|" if self.plain else "┤") - 2)
        share = min(1.0, max(0.0, (event.x - start - 1) / max(1, length - 1)))
        self.post_message(self.Sought(state.first + round(share * (state.last - state.first))))


class Ladder(Widget):
    """The checkpoints of the run; a click lets one act."""

    DEFAULT_CSS = """
    Ladder { height: 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._checkpoints: Sequence[CheckpointRow] = ()
        self._state: ViewerState | None = None
        self.plain = False

    def take(self, checkpoints: Sequence[CheckpointRow], state: ViewerState | None) -> None:
        """Show checkpoints, and which one acts."""
        self._checkpoints, self._state = checkpoints, state
        self.refresh()

    def render(self) -> Content:
        """Return the line."""
        return ladder_text(self._checkpoints, self._state, width=self.size.width, plain=self.plain)
