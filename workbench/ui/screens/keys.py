"""Every key of every screen, with the name that a settings file calls its command by."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input

from workbench.ui.commands import COMMANDS
from workbench.ui.keymap import keys_of, readable
from workbench.ui.screen import Task
from workbench.ui.widgets.fact_sheet import Fact, FactSheet


class KeysCard(Task[None]):
    """A list that can be searched, and the way to the file that changes it."""

    TITLE = "Keys"
    BINDINGS = [
        Binding("ctrl+o", "settings", "Change them", id="keys.settings"),
    ]
    DEFAULT_CSS = """
    KeysCard {
        & #keys { height: auto; max-height: 1fr; margin-top: 1; }
        & #card { max-width: 100; height: auto; max-height: 100%; }
    }
    """

    def compose_body(self) -> ComposeResult:
        """Yield a search field and the keys."""
        yield Input(placeholder="a key, a word, a name", id="search", compact=True)
        with VerticalScroll(id="keys"):
            yield FactSheet(id="text")

    def on_mount(self) -> None:
        """Show all of them."""
        self._show("")
        self.query_one("#search").focus()

    def key_line(self) -> Content:
        """Say the keys of the card."""
        key = "$footer-key-foreground bold"
        return Content.assemble(
            ("ctrl+o", f"{key} @click=screen.settings"), " Change them in the settings file   ", ("esc", key), " Close"
        )

    def action_settings(self) -> None:
        """Open the settings file."""
        self.dismiss(None)
        self.workbench.open_settings()

    @on(Input.Changed, "#search")
    def _filter(self, event: Input.Changed) -> None:
        self._show(event.value)

    def _show(self, query: str) -> None:
        words = query.lower().split()
        chosen = self.workbench.settings.keys
        facts: list[Fact] = []
        for command in COMMANDS:
            keys = keys_of(command, chosen)
            text = f"{readable(keys)} {command.id} {command.tooltip}".lower()
            if not keys or not all(word in text for word in words):
                continue
            mark = ("✎ " if not self.workbench.plain else "* ", "$warning") if command.id in chosen else ""
            value = Content.assemble(mark, f"{command.tooltip} ", (command.id, "$muted"))
            facts.append(Fact(readable(keys), value))
        if not facts:
            facts = [Fact("", Content(f"No key and no command matches {query}."), whole=True)]
        self.query_one("#text", FactSheet).show(facts)
