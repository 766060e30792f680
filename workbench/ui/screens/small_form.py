"""A card with a few fields, the command that says the same, and whatever is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.ui.jobs import shell_line
from workbench.ui.screen import Task

Answer = TypeVar("Answer")


class SmallForm(Task[Answer]):
    """A form that answers with what was filled in, once nothing is wrong with it."""

    DEFAULT_CSS = """
    SmallForm {
        & .field { height: auto; min-height: 1; }
        & .name { width: 14; color: $muted; }
        & .field Input { width: 1fr; }
        & .said { height: auto; color: $muted; }
        & #command { margin-top: 1; height: auto; color: $muted; }
        & #problem { height: auto; color: $error; }
    }
    """
    heading: str = ""
    """The title of the card."""

    def field(self, name: str, widget: Widget) -> ComposeResult:
        """Yield a row: a name and a field."""
        with Horizontal(classes="field"):
            yield Static(name, classes="name")
            yield widget

    def compose_end(self) -> ComposeResult:
        """Yield what stands below the fields."""
        yield Static(id="command")
        yield Static(id="problem")

    def on_mount(self) -> None:
        """Show the command of what is filled in already."""
        self.card.border_title = self.heading
        self.show()

    # What a form says of itself.

    def problems(self) -> Sequence[str]:
        """Return what is wrong, all of it."""
        return ()

    def words(self) -> Sequence[str]:
        """Return the command as filled in, the words after `workbench`; none where nothing would be done."""
        raise NotImplementedError

    def answer(self) -> Answer | None:
        """Return what was filled in; only called without problems."""
        raise NotImplementedError

    # The keys.

    def text(self, name: str) -> str:
        """Return what stands in a field."""
        return self.query_one(f"#{name}", Input).value.strip()

    def can(self, command_id: str) -> bool | None:
        """Offer the main button while nothing is wrong and something would be done."""
        if command_id in ("task.try", "task.find"):
            return False
        if command_id in ("task.go", "task.copy"):
            return True if self.is_mounted and not self.problems() and self.words() else None
        return super().can(command_id)

    def show(self) -> None:
        """Show the command, or what is wrong."""
        problems = self.problems()
        words = () if problems else self.words()
        self.query_one("#command", Static).update(Content(shell_line(words) if words else ""))
        self.query_one("#problem", Static).update(Content("\n".join(f"✗ {problem}" for problem in problems)))
        self.refresh_bindings()

    @on(Input.Changed)
    def _edited(self) -> None:
        self.show()

    @on(Input.Submitted)
    def _next(self) -> None:
        self.focus_next()

    def action_task_next_field(self) -> None:
        """Go to the next field."""
        self.focus_next()

    def action_task_previous_field(self) -> None:
        """Go to the field before."""
        self.focus_previous()

    def action_task_go(self) -> None:
        """Do it."""
        if self.can("task.go"):
            self.dismiss(self.answer())

    def action_task_copy(self) -> None:
        """Copy the command."""
        if self.can("task.copy"):
            self.workbench.copy_command(self.words())
