"""Every key of the screen it was opened on, from the registry."""

from __future__ import annotations

from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input

from workbench.ui.commands import Command, commands_for, show_key
from workbench.ui.screen import Task, WorkbenchScreen
from workbench.ui.widgets.fact_sheet import Fact, FactSheet

GROUPS = (
    ("look", "LOOK", "lower case never changes a run, a file or a process"),
    ("act", "ACT", "upper case does"),
    ("move", "MOVE", "arrows do the same as h j k l"),
    ("go", "GO", ""),
)

_PANES = ("view.next_pane", "view.previous_pane", "view.maximise")
_OF_RUNS = (
    "On charts, h and l move the cursor; what it stands on is what v, V and enter mean.",
    "A filter is words that must all match: ant, env:half_*, algo:sac, state:live; a - in front turns one round.",
)


class HelpCard(Task[None]):
    """The keys of one screen, searchable.

    Args:
        about: The screen it explains.
    """

    BINDINGS = [Binding("slash", "search", "Search", id="help.search")]

    DEFAULT_CSS = """
    HelpCard {
        & #keys { height: auto; max-height: 1fr; }
        & .group { margin-top: 1; }
        & #card { max-width: 100; height: auto; max-height: 90%; }
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
        yield Input(placeholder="/ search", id="search", compact=True)
        with VerticalScroll(id="keys"):
            yield FactSheet(id="text")

    def on_mount(self) -> None:
        """Name the screen it is about."""
        self.card.border_title = f"Help · {self._screen.replace('_', ' ').capitalize()}"
        self._show("")
        self.query_one("#keys").focus()

    def action_search(self) -> None:
        """Search the keys."""
        self.query_one("#search").focus()

    @on(Input.Changed, "#search")
    def _filter(self, event: Input.Changed) -> None:
        self._show(event.value)

    def _show(self, query: str) -> None:
        words = query.lower().split()
        shown = [item for item in self._commands if all(word in _haystack(item) for word in words)]
        facts: list[Fact] = []
        for group, title, rule in GROUPS:
            members = [item for item in shown if _group(item) == group]
            if not members:
                continue
            facts.append(Fact("", Content.assemble((f"{title:<13}", "bold $primary"), (rule, "$muted")), whole=True))
            facts += [Fact(" ".join(_readable(item)), Content(item.tooltip)) for item in members]
            facts.append(Fact("", Content(""), whole=True))
        if not shown:
            facts.append(Fact("", Content(f"No key matches {query}."), whole=True))
        elif not words and self._screen == "runs":
            facts += [Fact("", Content.styled(text, "$muted"), whole=True) for text in _OF_RUNS]
        self.query_one("#text", FactSheet).show(facts)


def _group(command: Command) -> str:
    """Return the part of the card a command stands in; what moves about in any screen is apart."""
    return "move" if command.id.startswith("move.") or command.id in _PANES else command.group


def _readable(command: Command) -> list[str]:
    return [show_key(key) for key in command.keys]


def _haystack(command: Command) -> str:
    return " ".join([command.label, command.tooltip, command.palette or "", *_readable(command)]).lower()
