"""What the forms of films have in common: rows of fields, and the command that says the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.ui.jobs import shell_line
from workbench.ui.screen import Task
from workbench.ui.widgets.choice import Choice

HIGHEST_SEED = 2**32 - 2**16 - 1


class FilmTask(Task[list[str]]):
    """A form whose answer is a command: the words after `workbench`, or nothing where it was left."""

    DEFAULT_CSS = """
    FilmTask {
        & .field { height: 1; }
        & .name { width: 12; color: $muted; }
        & .field Input { width: 16; }
        & .said { margin-left: 2; width: 1fr; color: $muted; }
        & #command { margin-top: 1; height: auto; color: $muted; }
        & #problem { height: auto; color: $error; }
    }
    """

    NUMBERS: ClassVar[dict[str, tuple[str, int, int]]] = {}
    """Its number fields: what they are called, least, most."""
    OPTIONAL: ClassVar[frozenset[str]] = frozenset()
    """Those that may be left empty."""
    heading: str = ""
    """The title of the card."""
    draft_key: str = ""
    """What the fields are kept under where the form is closed without effect; empty keeps nothing."""

    def field(self, name: str, widget: Widget, said: str = "") -> ComposeResult:
        """Yield a row: a name, a field, and a few words about it."""
        with Horizontal(classes="field"):
            yield Static(name, classes="name")
            yield widget
            if said:
                yield Static(said, classes="said")

    def compose_end(self) -> ComposeResult:
        """Yield what stands below the fields."""
        yield Static(id="command")
        yield Static(id="problem")

    def on_mount(self) -> None:
        """Show the command of what is filled in already."""
        self.card.border_title = self.heading
        draft = self.workbench.film_drafts.get(self.draft_key, {})
        for name, widget in self._fields().items():
            if name in draft:
                widget.value = draft[name]
        self.take_own_draft(draft)
        self._show()

    def _fields(self) -> dict[str, Input | Choice]:
        """Return what was typed and chosen so far, by field."""
        return {
            str(widget.id): widget
            for widget in self.query("Input, Choice")
            if isinstance(widget, Input | Choice) and widget.id
        }

    def action_task_close(self) -> None:
        """Leave without effect; what was filled in is there the next time."""
        if self.draft_key:
            typed = {name: item.value for name, item in self._fields().items()}
            self.workbench.film_drafts[self.draft_key] = {**typed, **self.own_draft()}
        super().action_task_close()

    def own_draft(self) -> Mapping[str, str]:
        """Return what else is to be there the next time, beside the fields."""
        return {}

    def take_own_draft(self, draft: Mapping[str, str]) -> None:
        """Take up what `own_draft` returned the last time."""

    def free_name(self, stem: str, suffix: str) -> str:
        """Return a name for a file among the recordings that nobody has yet.

        Args:
            stem: What it is of; signs that do not belong in a name are replaced.
            suffix: Of its format.
        """
        stem = re.sub(r"[^\w.-]+", "_", stem).strip("_")
        folder, number = self.workbench.project.recordings, 1
        while (path := folder / f"{stem}{'' if number == 1 else f'-{number}'}{suffix}").exists():
            number += 1
        return str(path)

    def words(self) -> list[str]:
        """Return the command as filled in; only called without problems."""
        raise NotImplementedError

    def problems(self) -> list[str]:
        """Return what is wrong with the fields, all of it."""
        found = []
        for name, (label, least, most) in self.NUMBERS.items():
            text = self.text(name)
            if not text and name in self.OPTIONAL:
                continue
            if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
                found.append(f"{label} must be a whole number from {least} to {most}, got {text or 'nothing'}.")
        return found

    def changed(self) -> None:
        """Do what else follows from what is filled in now."""

    def text(self, name: str) -> str:
        """Return what stands in a field."""
        return self.query_one(f"#{name}", Input).value.strip().replace(" ", "").replace("_", "")

    def chosen(self, name: str) -> str:
        """Return what is chosen in a row of words."""
        return self.query_one(f"#{name}", Choice).value

    def can(self, command_id: str) -> bool | None:
        """Offer the main button while nothing is wrong; there is nothing to try and little to find."""
        if command_id in ("task.try", "task.find"):
            return False
        if command_id in ("task.go", "task.copy"):
            return True if self.is_mounted and not self.problems() else None
        return super().can(command_id)

    @on(Input.Changed)
    @on(Choice.Changed)
    def _show(self) -> None:
        problems = self.problems()
        line = "" if problems else shell_line(self.words())
        self.query_one("#command", Static).update(Content(line))
        self.changed()
        self.query_one("#problem", Static).update(Content("\n".join(f"✗ {problem}" for problem in problems)))
        self.refresh_bindings()

    @on(Input.Submitted)
    def _next(self) -> None:
        self.focus_next()

    def action_task_go(self) -> None:
        """Make the film."""
        if not self.problems():
            self.workbench.film_drafts.pop(self.draft_key, None)
            self.dismiss(self.words())

    def action_task_copy(self) -> None:
        """Copy the command."""
        if not self.problems():
            self.workbench.copy_command(self.words())


def given_flag(words: Sequence[str], flag: str) -> str:
    """Return the value of a flag in a command, or nothing where it is not there."""
    return words[list(words).index(flag) + 1] if flag in words[:-1] else ""


def with_flags(words: Sequence[str], flags: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return a command with the flags that differ from their default: (flag, value, default)."""
    found = list(words)
    for flag, value, default in flags:
        if value != default:
            found += [flag, value]
    return found
