"""Lines and foldable sections of a form whose fields come from a spec.

A folded section still shows the fields that were changed, and those with something wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.errors import Problem
from workbench.specs import FieldRow
from workbench.ui.draft import Section
from workbench.ui.signs import shown
from workbench.ui.widgets.choice import Choice

_FEW = 4
"""A choice of up to this many words shows all of them."""


class FieldLine(Horizontal):
    """One field: a mark, its name, what is typed, and what is said of it."""

    DEFAULT_CSS = """
    FieldLine {
        height: auto;
        min-height: 1;
        & .name { width: 33; height: 1; }
        & .editor { width: 18; }
        & .aside { width: 1fr; height: auto; color: $muted; margin-left: 1; }
        &.-changed .name { text-style: bold; }
        &.-hidden { display: none; }
        /* What is wrong takes a line of its own: beside the field there is no room for a sentence. */
        &.-wrong { layout: grid; grid-size: 2; grid-columns: 33 1fr; grid-rows: auto; height: auto; }
        &.-wrong .aside { column-span: 2; margin: 0 0 0 4; }
    }
    """

    @dataclass
    class Edited(Message):
        """Something was typed or chosen."""

        key: str
        text: str

    def __init__(self, key: str, row: FieldRow, text: str) -> None:
        super().__init__(id=f"line-{key.replace('.', '-')}")
        self.key = key
        self.row = row
        self.remark = ""
        """What the recipe says where something else is typed; else what follows from the field."""
        self._text = text
        self._said: tuple[Problem | None, bool, str, str, str] | None = None

    def compose(self) -> ComposeResult:
        """Yield the parts."""
        yield Static(self._marked(Content("")), classes="name")
        yield self._make_editor()
        yield Static("", classes="aside")

    def on_mount(self) -> None:
        """Show a long value from its beginning."""
        if isinstance(self.editor, Input):
            self.editor.cursor_position = 0

    def _marked(self, mark: Content) -> Content:
        """Return the field's name behind a mark of one cell."""
        return Content.assemble(mark or " ", " ", self.row.name.rpartition(".")[2])

    def _make_editor(self) -> Widget:
        options: tuple[str, ...] = ()
        if not self.row.optional:
            options = ("true", "false") if self.row.kind == "flag" else self.row.choices
        if 1 < len(options) <= _FEW and self._text in options:
            editor: Widget = Choice(options, self._text)
        else:
            empty = self.row.default if self.row.kind == "text" else ""
            editor = Input(self._text, placeholder=str(empty or ""), compact=True, select_on_focus=True)
        editor.add_class("editor")
        return editor

    @property
    def editor(self) -> Widget:
        """What takes the keys."""
        return self.query_one(".editor")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Edited(self.key, event.value))

    @on(Choice.Changed)
    def _chosen(self, event: Choice.Changed) -> None:
        event.stop()
        self.post_message(self.Edited(self.key, event.value))

    def take(self, problem: Problem | None, *, changed: bool, base: str, fact: str, source: str) -> None:
        """Show what is said of this field.

        Args:
            problem: What is wrong with it.
            changed: Whether it says something else than `base`.
            base: What it goes back to when it is emptied.
            fact: What follows from its value.
            source: Whose value `base` is: `recipe`.
        """
        said = (problem, changed, base, fact, source)
        if said == self._said:
            return
        self._said = said
        self.remark = " · ".join(part for part in (f"{source} {base}" if changed else "", fact) if part)
        mark, aside = Content.styled("✎" if changed else "", "$primary"), Content.styled(self.remark, "$muted")
        if problem is not None:
            error = problem.severity == "error"
            mark = Content.styled("✗" if error else "!", "$error" if error else "$warning")
            near = f": try {problem.nearest}" if problem.nearest else ""
            message = f"{self.row.name} {problem.message}" if problem.message.startswith("or ") else problem.message
            aside = Content.styled(f"{message}{near}", "$error" if error else "$warning")
        self.set_class(changed, "-changed")
        self.set_class(problem is not None, "-wrong")
        self.set_class(bool(aside.plain), "-told")
        plain = bool(getattr(self.app, "plain", False))
        self.query_one(".name", Static).update(shown(self._marked(mark), plain=plain))
        self.query_one(".aside", Static).update(shown(aside, plain=plain))


class SectionTitle(Static, can_focus=True):
    """The line that folds and unfolds a section."""

    BINDINGS = [
        Binding("enter,space", "fold", "Unfold", show=False),
        Binding("left,h", "fold(False)", "Fold", show=False),
        Binding("right,l", "fold(True)", "Unfold", show=False),
    ]

    DEFAULT_CSS = """
    SectionTitle {
        height: 1;
        text-style: bold;
        &:focus { background: $panel; color: $accent; }
    }
    """

    @dataclass
    class Toggled(Message):
        """The section is to be folded or unfolded."""

        to: bool | None = None
        """Unfolded or folded; None for the other than now."""

    def action_fold(self, to: bool | None = None) -> None:
        """Fold or unfold."""
        self.post_message(self.Toggled(to))

    def on_click(self, event: events.Click) -> None:
        """Fold or unfold."""
        event.stop()
        self.action_fold()


class FormSection(Vertical):
    """A part of the form; its fields are made when one of them is first shown.

    Args:
        section: What is in it.
        values: What each field shows at first.
        is_open: Whether it starts unfolded.
    """

    DEFAULT_CSS = """
    FormSection {
        height: auto;
        & .lines { height: auto; }
    }
    """

    def __init__(self, section: Section, values: Mapping[str, str], *, is_open: bool) -> None:
        super().__init__(id=f"section-{section.name}")
        self.section = section
        self.is_open = is_open
        self._values = values
        self._said: dict[str, tuple[Problem | None, bool, str, str, str]] = {}
        self._wrong = 0
        self._changed = 0

    def compose(self) -> ComposeResult:
        """Yield the title, and the fields where it is unfolded."""
        if self.section.title:
            yield SectionTitle(self._title())
        with Vertical(classes="lines"):
            if self.is_open:
                yield from self._make_lines()

    def _make_lines(self) -> list[FieldLine]:
        return [FieldLine(key, row, self._values[key]) for key, row in self.section.rows]

    @on(SectionTitle.Toggled)
    async def _toggled(self, event: SectionTitle.Toggled) -> None:
        event.stop()
        if event.to in (None, not self.is_open):
            self.is_open = not self.is_open
            await self._show_lines()

    async def unfold(self) -> None:
        """Show the fields."""
        if not self.is_open:
            self.is_open = True
            await self._show_lines()

    async def _show_lines(self) -> None:
        """Show every field where the section is open, else those that were changed or are wrong."""
        lines = self.query_one(".lines", Vertical)
        shown = {key for key in self._said if self._is_kept_in_sight(key)}
        if not lines.children and (self.is_open or shown):
            await lines.mount(*self._make_lines())
        self._tell_lines()
        for line in self.query(FieldLine):
            # A field that is being typed in stays, whatever it says meanwhile.
            hidden = not self.is_open and line.key not in shown and not line.has_focus_within
            line.set_class(hidden, "-hidden")
        if self.section.title:
            self.query_one(SectionTitle).update(self._title())

    def _is_kept_in_sight(self, key: str) -> bool:
        problem, changed, *_ = self._said[key]
        return changed or problem is not None

    def line(self, key: str) -> FieldLine:
        """Return the line of a field of an unfolded section."""
        return next(item for item in self.query(FieldLine) if item.key == key)

    def _title(self) -> Content:
        count = len(self.section.rows)
        parts = [f"{count} field{'' if count == 1 else 's'}"]
        if self._changed:
            parts.append(f"{self._changed} changed")
        style = "$error" if self._wrong else "$muted"
        if self._wrong:
            parts.append(f"{self._wrong} wrong")
        sign = "▾" if self.is_open else "▸"
        title = Content.assemble(f"{sign} {self.section.title}", (f"   {', '.join(parts)}", f"not bold {style}"))
        return shown(title, plain=bool(getattr(self.app, "plain", False)))

    def take(
        self,
        problems: Mapping[str, Problem],
        *,
        edits: Mapping[str, str],
        base: Mapping[str, str],
        facts: Mapping[str, str],
        source: str,
    ) -> None:
        """Show what is said of the fields, and the fields that something has to be said of."""
        keys = [key for key, _ in self.section.rows]
        self._said = {key: (problems.get(key), key in edits, base[key], facts.get(key, ""), source) for key in keys}
        self._changed = sum(key in edits for key in keys)
        self._wrong = sum(key in problems and problems[key].severity == "error" for key in keys)
        if not self.query(FieldLine):
            self._values = {key: edits.get(key, base[key]) for key in keys}
        # Lines that are there are told at once: the help of the one in focus repeats its remark.
        self._tell_lines()
        self.call_next(self._show_lines)

    def _tell_lines(self) -> None:
        for line in self.query(FieldLine):
            if line.key in self._said and line.is_mounted:
                problem, changed, base, fact, source = self._said[line.key]
                line.take(problem, changed=changed, base=base, fact=fact, source=source)
