"""Every key of the screen it was opened on, from the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from workbench.ui.commands import Command, commands_for
from workbench.ui.screen import Task, WorkbenchScreen

if TYPE_CHECKING:
    from collections.abc import Iterable

GROUPS = (
    ("look", "LOOK", "lower case never changes a run, a file or a process"),
    ("act", "ACT", "upper case does"),
    ("go", "GO", ""),
)

_WORDS = {
    "charts": "On charts, h and l move the cursor; what it stands on is what v, V and enter mean.",
    "list": "Filters: words are ANDed, env:half_* algo:sac state:live return>5k age<2d, `not` or - in front excludes.",
}


class HelpCard(Task[None]):
    """The keys of one screen, searchable.

    Args:
        about: The screen it explains.
    """

    LABELS = {"task_close": "Close"}

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
        yield Input(placeholder="search", id="search", compact=True)
        with VerticalScroll(id="keys"):
            yield Static(id="text")

    def on_mount(self) -> None:
        """Name the screen it is about."""
        super().on_mount()
        self.card.border_title = f"Help · {self._screen.replace('_', ' ').capitalize()}"
        self._show("")
        self.query_one("#keys").focus()

    @on(Input.Changed, "#search")
    def _filter(self, event: Input.Changed) -> None:
        self._show(event.value)

    def _show(self, query: str) -> None:
        words = query.lower().split()
        shown = [item for item in self._commands if all(word in _haystack(item) for word in words)]
        parts: list[Content] = []
        for group, title, rule in GROUPS:
            members = [item for item in shown if item.group == group]
            if not members:
                continue
            parts.append(Content.assemble((title, "bold $primary"), (f"   {rule}", "$muted")))
            parts += list(_lines(members))
            parts.append(Content(""))
        if not shown:
            parts.append(Content(f"No key matches {query}."))
        elif not words and self._screen == "runs":
            parts += [Content.styled(text, "$muted") for text in _WORDS.values()]
        self.query_one("#text", Static).update(Content("\n").join(parts).rstrip())


def _lines(commands: Iterable[Command]) -> Iterable[Content]:
    for command in commands:
        keys = " ".join(dict.fromkeys(_readable(command)))
        yield Content.assemble((f"{keys:<10}", "$footer-key-foreground bold"), f" {command.tooltip}")


def _readable(command: Command) -> list[str]:
    from workbench.ui.commands import show_key

    return [show_key(key) for key in command.keys]


def _haystack(command: Command) -> str:
    return " ".join([command.label, command.tooltip, command.palette or "", *_readable(command)]).lower()
