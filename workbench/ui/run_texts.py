"""The pane of a run's texts: log, settings, checkpoints and events, one at a time or as tabs beside the charts."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from workbench.ui.run_strip import TABS
from workbench.ui.run_tables import CHECKPOINT_COLUMNS, EVENT_COLUMNS
from workbench.ui.section_texts import SectionTexts
from workbench.ui.widgets.log_view import LogView
from workbench.ui.widgets.rows import RowTable


class RunTexts(SectionTexts):
    """The texts of one run; where there is room, events stand below the checkpoints."""

    TABS = TABS
    TOGETHER = ("Checkpoints", "Events")

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.anomalies = 0

    def compose(self) -> ComposeResult:
        """Yield the texts."""
        yield RowTable(CHECKPOINT_COLUMNS, empty="No checkpoint yet.", id="Checkpoints")
        yield RowTable(EVENT_COLUMNS, empty="Nothing happened yet.", id="Events")
        yield LogView(empty="Nothing printed yet.", id="Log")
        yield VerticalScroll(Static(id="config-text"), id="Config", can_focus=True)

    def label(self, name: str) -> str:
        """Return what a text is called in the frame; events say how many anomalies there are."""
        return f"{name} !{self.anomalies}" if name == "Events" and self.anomalies else name
