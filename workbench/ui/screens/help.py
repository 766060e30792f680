"""Every key of the screen it was opened on, from the registry; then charts, the filter language and the states."""

from __future__ import annotations

from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input

from workbench.ui import help_text
from workbench.ui.commands import SCREENS, commands_for
from workbench.ui.screen import Task, WorkbenchScreen
from workbench.ui.widgets.fact_sheet import Fact, FactSheet


class HelpCard(Task[None]):
    """The keys of one screen, searchable.

    Args:
        about: The screen it explains.
    """

    BINDINGS = [
        Binding("slash", "search", "Search", id="help.search"),
        Binding("j,down", "scroll(1)", "Down", show=False, id="help.down"),
        Binding("k,up", "scroll(-1)", "Up", show=False, id="help.up"),
        Binding("q,question_mark", "task_close", "Close", show=False, id="help.close"),
    ]

    DEFAULT_CSS = """
    HelpCard {
        & #keys { height: auto; max-height: 1fr; }
        & #search { display: none; margin-bottom: 1; }
        & #search.-open { display: block; }
        & #card { max-width: 100; height: auto; max-height: 100%; }
    }
    """

    def __init__(self, about: Screen[Any]) -> None:
        super().__init__()
        self._about = about
        self._screen = about.NAME if isinstance(about, WorkbenchScreen) else "task"
        self._commands = [
            command
            for command in commands_for(self._screen)
            if command.keys and about.check_action(command.action, ()) is not False
        ]

    def compose_body(self) -> ComposeResult:
        """Yield a search field and the keys."""
        yield Input(placeholder="a key, a word", id="search", compact=True)
        with VerticalScroll(id="keys"):
            yield FactSheet(id="text")

    def on_mount(self) -> None:
        """Name the screen it is about."""
        self.card.border_title = f"Help · {self._screen.replace('_', ' ').capitalize()}"
        self.query_one("#keys").focus()

    def on_resize(self) -> None:
        """Lay the keys out for the width there is."""
        self.call_after_refresh(self._show)

    def key_line(self) -> Content:
        """Say the keys of the card."""
        key = "$footer-key-foreground bold"
        return Content.assemble(("/", f"{key} @click=screen.search"), " Search   ", ("esc", key), " Close")

    def action_search(self) -> None:
        """Search the keys."""
        box = self.query_one("#search")
        box.add_class("-open")
        box.focus()

    def action_scroll(self, by: int) -> None:
        """Move the text by a row."""
        self.query_one("#keys").scroll_relative(y=by, animate=False)

    def action_task_close(self) -> None:
        """Leave the search, then the card."""
        box = self.query_one("#search", Input)
        if box.has_class("-open"):
            box.value = ""
            box.remove_class("-open")
            self.query_one("#keys").focus()
        else:
            super().action_task_close()

    @on(Input.Changed, "#search")
    def _filter(self) -> None:
        self._show()

    @on(Input.Submitted, "#search")
    def _searched(self) -> None:
        self.query_one("#keys").focus()

    def _show(self) -> None:
        width = max(30, self.query_one("#keys").content_size.width - 1)
        query = self.query_one("#search", Input).value.strip()
        below = self._below(width)
        if query:
            lines = [line.shown for line in help_text.found(below, query)] or [
                Content(f"Nothing here is about {query}.")
            ]
        else:
            glance = help_text.at_a_glance(self._commands, self.workbench.settings.keys, width)
            lines = [*glance, Content(""), *(line.shown for line in below)]
        self.query_one("#text", FactSheet).show([Fact("", line, whole=True) for line in lines])

    def _below(self, width: int) -> list[help_text.Line]:
        """Return what stands below the keys at a glance, and what a search looks through."""
        scopes = SCREENS.get(self._screen, ())
        blank = help_text.Line(Content(""))
        parts = [help_text.sentences(self._commands, self.workbench.settings.keys, width)]
        if "charts" in scopes:
            parts.append(help_text.chart_facts())
        if self._screen == "runs":
            parts.append(help_text.filter_language(width))
        if "run" in scopes:
            parts.append(help_text.state_signs(width, plain=self.workbench.plain))
        return [line for part in parts for line in (*part, blank)][:-1]
