"""A letter on every pane: typing one goes there."""

from __future__ import annotations

from collections.abc import Iterator

from textual import events
from textual.app import ComposeResult
from textual.geometry import Offset
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Label

from workbench.ui.header import PLACES, Header
from workbench.ui.screen import WorkbenchScreen, pane_of

LETTERS = "asdfghjklqwertyuiopzxcvbnm"
"""Those under the fingers first."""


class JumpLabels(ModalScreen[None]):
    """Labels over the screen below; any other key or a click beside them takes them away.

    Args:
        over: The screen whose panes get letters.
    """

    DEFAULT_CSS = """
    JumpLabels {
        background: $background 35%;
        & Label {
            position: absolute;
            background: $warning;
            color: $background;
            text-style: bold;
            width: auto;
            height: 1;
            padding: 0 1;
        }
    }
    """

    def __init__(self, over: WorkbenchScreen) -> None:
        super().__init__()
        self._over = over
        self.targets = dict(zip(LETTERS, _panes(over), strict=False))
        """The widget each letter focuses."""

    def compose(self) -> ComposeResult:
        """Put a label on the corner of each pane and on each tab."""
        for letter, widget in self.targets.items():
            yield self._label(letter, pane_of(widget).region.offset + Offset(2, 0))
        for number, column in enumerate(self._over.query_one(Header).columns, start=1):
            yield self._label(str(number), Offset(max(0, column - 1), 0))

    def _label(self, text: str, where: Offset) -> Label:
        label = Label(text)
        label.styles.offset = (where.x, where.y)
        label.tooltip = text
        return label

    def on_key(self, event: events.Key) -> None:
        """Go where the letter is."""
        event.stop()
        event.prevent_default()
        self._go(event.character or "")

    def on_click(self, event: events.Click) -> None:
        """Go where the label is that was clicked."""
        self._go(str(event.widget.content) if isinstance(event.widget, Label) else "")

    def _go(self, text: str) -> None:
        self.dismiss(None)
        if text in self.targets:
            self._over.set_focus(self.targets[text])
        elif text.isdigit() and 1 <= int(text) <= len(PLACES):
            self.app.switch_mode(PLACES[int(text) - 1][0])


def _panes(screen: WorkbenchScreen) -> Iterator[Widget]:
    """Yield what can be focused and is in sight, one a pane, from the top left."""
    seen: dict[Widget, Widget] = {}
    for widget in screen.focus_chain:
        if widget.region.area:
            seen.setdefault(pane_of(widget), widget)
    places = sorted(seen, key=lambda pane: (pane.region.y, pane.region.x))
    yield from (seen[pane] for pane in places)
