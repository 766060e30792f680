"""Chooses the columns of the list of runs: the usual ones, any field of the spec, any metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from workbench.runs.filter_fields import field_named, nearest_field
from workbench.specs import override_rows
from workbench.ui.run_rows import CHOOSABLE, Shown
from workbench.ui.screen import Task


class ColumnsTask(Task[Shown]):
    """Answers which columns are shown.

    Args:
        shown: Those that are.
        metrics: Names of metrics that runs here have.
    """

    TITLE = "Columns"
    LABELS: ClassVar[dict[str, str]] = {"task_go": "Show them"}
    DEFAULT_CSS = """
    ColumnsTask {
        & OptionList {
            height: auto;
            max-height: 12;
            border: none;
            padding: 0;
            background: $surface;
            text-wrap: nowrap;
            text-overflow: ellipsis;
        }
        & #said { height: auto; color: $muted; }
    }
    """

    def __init__(self, shown: Shown, metrics: Sequence[str]) -> None:
        super().__init__()
        self._hidden, self._added = set(shown.hidden), list(shown.added)
        usual = [(item.column.key, item.name) for item in CHOOSABLE]
        fields = [(row.name, row.doc) for row in override_rows().values()]
        self._about = dict([*usual, *((name, "a metric: its newest value") for name in metrics), *fields])
        self._usual = frozenset(key for key, _ in usual)

    def compose_body(self) -> ComposeResult:
        """Yield what narrows the list down, and the list."""
        yield Input(placeholder="a column, a field such as ppo.gamma, a metric such as eval/mean_return", id="words")
        yield OptionList(id="choices")
        yield Static(id="said")

    def on_mount(self) -> None:
        """Show the usual columns first."""
        super().on_mount()
        self.query_one("#words").focus()
        self._list()

    def can(self, command_id: str) -> bool | None:
        """Offer to show what was chosen; there is nothing to try, find or copy."""
        return False if command_id in ("task.try", "task.find", "task.copy") else super().can(command_id)

    def is_on(self, key: str) -> bool:
        """Return whether a column is shown."""
        return key not in self._hidden if key in self._usual else key in self._added

    @on(Input.Changed, "#words")
    def _list(self) -> None:
        """List what matches, columns that are shown first."""
        words = self.query_one("#words", Input).value.lower().split()
        names = [key for key in self._about if all(word in f"{key} {self._about[key]}".lower() for word in words)]
        typed = "".join(words)
        if typed and typed not in self._about and len(words) == 1 and field_named(typed) is not None:
            self._about[typed] = "a metric" if "/" in typed else "a field"
            names.append(typed)
        if not words:
            names = [*(key for key in names if key in self._usual), *self._added]
        names.sort(key=lambda key: key not in self._usual and key not in self._added)
        choices = self.query_one("#choices", OptionList)
        choices.set_options([Option(self._option(key), id=key) for key in names[:200]])
        choices.highlighted = 0 if names else None
        near = nearest_field(typed) if typed and not names else None
        told = f"No field `{typed}`." + (f" Did you mean {near}?" if near else "")
        usual = "enter shows or hides it. Which of the usual ones fit goes by the width; added ones need 80 columns."
        self.query_one("#said", Static).update(Content(usual if names else told))

    def _option(self, key: str) -> Content:
        sign = ("[x]" if self.is_on(key) else "[ ]") if self.workbench.plain else "✓" if self.is_on(key) else "·"
        return Content.assemble((f"{sign} ", "$primary"), f"{key:<34} ", (self._about[key], "$muted"))

    @on(Input.Submitted, "#words")
    def _entered(self) -> None:
        place = self.query_one("#choices", OptionList).highlighted
        if place is not None:
            self._toggle(place)

    @on(OptionList.OptionSelected, "#choices")
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self._toggle(event.option_index)

    def _toggle(self, place: int) -> None:
        choices = self.query_one("#choices", OptionList)
        key = str(choices.get_option_at_index(place).id)
        if key in self._usual:
            self._hidden ^= {key}
        elif key in self._added:
            self._added.remove(key)
        else:
            self._added.append(key)
        choices.replace_option_prompt_at_index(place, self._option(key))

    def action_task_next_field(self) -> None:
        """Go down in the list, whatever has the focus."""
        self.query_one("#choices", OptionList).action_cursor_down()

    def action_task_previous_field(self) -> None:
        """Go up in the list."""
        self.query_one("#choices", OptionList).action_cursor_up()

    def action_task_go(self) -> None:
        """Show these columns."""
        self.dismiss(Shown(frozenset(self._hidden), tuple(self._added)))
