"""What was told since the app started, newest first."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content

from workbench import formatting
from workbench.ui.screen import Task
from workbench.ui.widgets.fact_sheet import Fact, FactSheet

EMPTY = "Nothing was told yet. What happens to runs and films while the app is open is kept here."
_SIGNS = {"warning": ("! ", "$warning"), "error": ("! ", "$error")}


class NoticesCard(Task[None]):
    """A list; the card itself takes the keys."""

    TITLE = "Notifications"
    BINDINGS = [Binding("Y", "copy_text", "Copy", id="notices.copy"),
                Binding("q", "task_close", "Close", show=False, id="notices.close")]  # fmt: skip
    DEFAULT_CSS = """
    NoticesCard {
        & #all { height: auto; max-height: 1fr; }
        & #card { max-width: 100; }
    }
    """

    def compose_body(self) -> ComposeResult:
        """Yield the list."""
        with VerticalScroll(id="all"):
            yield FactSheet(id="text")

    def on_mount(self) -> None:
        """Show the newest first."""
        facts = [
            Fact(
                formatting.clock(notice.time),
                Content.assemble(_SIGNS.get(notice.severity, ""), notice.text),
            )
            for notice in reversed(self.workbench.notices)
        ]
        self.query_one("#text", FactSheet).show(facts or [Fact("", Content(EMPTY), whole=True)])
        self.query_one("#all").focus()

    def key_line(self) -> Content:
        """Say the keys of the card."""
        key = "$footer-key-foreground bold"
        return Content.assemble(("Y", f"{key} @click=screen.copy_text"), " Copy   ", ("esc", key), " Close")

    def action_copy_text(self) -> None:
        """Copy the whole list."""
        told = [f"{formatting.clock(item.time)}  {item.text}" for item in reversed(self.workbench.notices)]
        self.app.copy_to_clipboard("\n".join(told))
        self.notify("Copied.")
