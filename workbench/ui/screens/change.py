"""The form that changes values of runs while they train, made from the fields that declare themselves changeable."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from workbench import formatting
from workbench.errors import Problem, WorkbenchError
from workbench.runs.steering import check_change, live_fields
from workbench.specs.changing import LiveField
from workbench.ui.run_acts import named
from workbench.ui.screens.small_form import SmallForm
from workbench.ui.watch import RunRow

CHECK_AFTER_S = 0.3
"""Values are checked so long after the last key."""


class ChangeTask(SmallForm[Mapping[str, str]]):
    """Answers new values by dotted key, as typed.

    Args:
        rows: Runs that train; the fields and the old values are those of the first.
    """

    LABELS: ClassVar[dict[str, str]] = {"task_go": "Apply"}
    DEFAULT_CSS = """
    ChangeTask {
        & #fields { height: auto; max-height: 12; }
        & .line { height: 1; }
        & .key { width: 36; }
        & .old { width: 14; color: $muted; text-align: right; margin-right: 1; }
        & .line Input { width: 16; }
        & .-changed .key { text-style: bold; color: $warning; }
        & #doc { height: auto; max-height: 2; color: $muted; }
        & #effect { height: auto; }
    }
    """

    def __init__(self, rows: Sequence[RunRow]) -> None:
        super().__init__()
        self._rows = rows
        self._fields: dict[str, LiveField] = {}
        self._found: tuple[Problem, ...] = ()
        self._checked: Mapping[str, str] = {}
        """The values that `_found` is about."""
        self.heading = f"Change while it runs · {named(rows)}"

    def compose_body(self) -> ComposeResult:
        """Yield room for the fields, and what would come of them."""
        yield Static("Reading what can change…", id="reading", classes="said")
        yield VerticalScroll(id="fields", can_focus=False)
        yield Static(id="doc")
        yield Static(id="effect")
        yield from self.compose_end()

    def on_mount(self) -> None:
        """Read the values as they are, and keep the iteration up to date."""
        super().on_mount()
        self.workbench.runs_changed.subscribe(self, lambda _: self.show())
        self._read()

    @work(group="change", exit_on_error=False, description="reading what can change")
    async def _read(self) -> None:
        try:
            fields = await asyncio.to_thread(live_fields, self._rows[0].run)
        except WorkbenchError as error:
            self.dismiss(None)
            self.workbench.show_error(error.title, error.message, hint=error.hint)
            return
        self._fields = {field.key: field for field in fields}
        several = f" · old values are those of {self._rows[0].title}" if len(self._rows) > 1 else ""
        self.query_one("#reading", Static).update(
            f"{formatting.plural(len(fields), 'value')} can change{several}; type a new one beside the old."
        )
        lines = [
            Horizontal(
                Static(field.key, classes="key"),
                Static(Content(formatting.shorten(field.text, 14)), classes="old"),
                Input(placeholder="new", id=_id(key), compact=True),
                classes="line",
                id=f"line-{_id(key)}",
            )
            for key, field in self._fields.items()
        ]
        await self.query_one("#fields").mount(*lines)
        if lines:
            lines[0].query_one(Input).focus()
        self.show()

    def typed(self) -> dict[str, str]:
        """Return what was typed, by key; fields left empty stay as they are."""
        if not self._fields or not self.query("#fields Input"):
            return {}
        texts = {key: self.text(_id(key)) for key in self._fields}
        return {key: text for key, text in texts.items() if text}

    def show(self) -> None:
        """Show what would change, and when."""
        typed = self.typed()
        for key in self._fields:
            for line in self.query(f"#line-{_id(key)}"):
                line.set_class(key in typed, "-changed")
        if typed and typed != self._checked:
            self._check(typed)
        self.query_one("#effect", Static).update(self._effect(typed))
        super().show()

    def _effect(self, typed: Mapping[str, str]) -> Content:
        if not typed:
            return Content("")
        parts = [Content.assemble((key, "bold"), f"   {self._fields[key].text} → {typed[key]}") for key in typed]
        row = self.workbench.runs.snapshot.row(self._rows[0].path) or self._rows[0]
        when = (
            f"at iteration {formatting.digits(row.iteration + 1)}"
            if len(self._rows) == 1
            else "at their next iteration"
        )
        parts.append(Content.styled(f"Takes effect {when}; written to the events and marked C on curves.", "$muted"))
        return Content("\n").join(parts)

    @work(group="check", exclusive=True, exit_on_error=False, description="checking values")
    async def _check(self, typed: Mapping[str, str]) -> None:
        await asyncio.sleep(CHECK_AFTER_S)
        made = await asyncio.to_thread(check_change, self._rows[0].run, typed)
        self._checked, self._found = typed, () if made.spec is not None else tuple(made.problems)
        if self.is_mounted:
            super().show()

    def on_descendant_focus(self) -> None:
        """Say what the field with the focus means."""
        focused = self.focused
        field = next(
            (item for key, item in self._fields.items() if focused is not None and focused.id == _id(key)), None
        )
        if field is not None:
            self.query_one("#doc", Static).update(Content(f"? {field.row.doc} It must be {field.row.accepts}."))

    def problems(self) -> Sequence[str]:
        """Return what is wrong with the values, once they were checked; runs that have ended take none."""
        snapshot = self.workbench.runs.snapshot
        now = [snapshot.row(row.path) for row in self._rows]
        if snapshot.is_read and all(row is None or row.state.is_ended for row in now):
            have = "has" if len(now) == 1 else "have"
            return [f"{named(self._rows)} {have} ended meanwhile: no value can change any more. esc closes."]
        typed = self.typed()
        return [str(problem) for problem in self._found] if typed and typed == self._checked else ()

    def can(self, command_id: str) -> bool | None:
        """Offer to apply what was checked and found good."""
        if command_id == "task.go" and self.is_mounted and self.typed() != self._checked:
            return None
        return super().can(command_id)

    def words(self) -> Sequence[str]:
        """Return `set …` for the first run: the command takes one."""
        typed = self.typed()
        return ["set", self._rows[0].reference, *(f"{key}={text}" for key, text in typed.items())] if typed else ()

    def answer(self) -> Mapping[str, str]:
        """Return the new values."""
        return self.typed()


def _id(key: str) -> str:
    """Return a key as the name of a widget."""
    return "of-" + "".join(sign if sign.isalnum() else "-" for sign in key)
