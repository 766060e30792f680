"""A list of runs to choose one from, to set beside the run that is open."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from workbench import formatting
from workbench.ui.run_rows import ending
from workbench.ui.screen import Task
from workbench.ui.theme import STATE_LOOKS
from workbench.ui.watch import RunRow


class PickRun(Task[str]):
    """Answers the path of a run, or the empty text for the choice that is none.

    Args:
        rows: The runs, the likeliest first.
        title: What it is chosen for.
        other: What else can be chosen; empty where nothing can.
    """

    BINDINGS = [
        Binding("enter", "choose", "Choose", id="card.choose"),
        Binding("down", "step(1)", "Next", priority=True, show=False, id="card.next"),
        Binding("up", "step(-1)", "Previous", priority=True, show=False, id="card.previous"),
    ]
    DEFAULT_CSS = """
    PickRun {
        & OptionList { height: auto; max-height: 14; border: none; padding: 0; background: $surface; }
        & Input { height: 1; border: none; padding: 0; background: $panel; }
    }
    """

    def __init__(self, rows: Sequence[RunRow], title: str, *, other: str = "") -> None:
        super().__init__()
        self._rows = list(rows)
        self._title = title
        self._other = other

    def compose_body(self) -> ComposeResult:
        """Yield a box to type into, and the runs."""
        yield Input(placeholder="words of its name, algorithm, tag or state", compact=True)
        yield OptionList(compact=True)

    def on_mount(self) -> None:
        """List all of them."""
        super().on_mount()
        self.card.border_title = self._title
        self.query_one(OptionList).can_focus = False
        self.query_one(Input).focus()
        self._fill("")

    def key_line(self) -> Content:
        """Say the keys."""
        key = "$footer-key-foreground bold"
        return Content.assemble(("enter", key), " Choose   ", ("↑ ↓", key), " Move   ", ("esc", key), " Close")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._fill(event.value)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.action_choose()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id or "")

    def action_choose(self) -> None:
        """Answer what is highlighted."""
        options = self.query_one(OptionList)
        if options.highlighted is not None:
            self.dismiss(options.get_option_at_index(options.highlighted).id or "")

    def action_step(self, by: int) -> None:
        """Highlight the next or the previous one."""
        options = self.query_one(OptionList)
        if options.option_count:
            options.highlighted = min(max((options.highlighted or 0) + by, 0), options.option_count - 1)

    def _fill(self, typed: str) -> None:
        words = typed.lower().split()
        options = self.query_one(OptionList)
        options.clear_options()
        if self._other and not words:
            options.add_option(Option(self._other, id=""))
        for row in self._rows:
            text = f"{row.name} {row.algorithm} {row.state} {' '.join(row.tags)}".lower()
            if all(word in text for word in words):
                options.add_option(Option(self._line(row), id=str(row.path)))
        if options.option_count:
            options.highlighted = 0

    def _line(self, row: RunRow) -> Content:
        look = STATE_LOOKS[row.state]
        seed = "" if row.seed is None else f" seed {row.seed}"
        said = formatting.shorten(ending(row) if row.state.is_ended else str(row.state), 22)
        return Content.assemble(
            (f"{look.plain if self.workbench.plain else look.glyph} ", f"${look.variable}"),
            f"{row.title}  {row.algorithm.upper()}{seed}",
            (f"   return {formatting.number(row.last_return)}   {said}", "$muted"),
        )


def by_nearness(row: RunRow, rows: Sequence[RunRow]) -> list[RunRow]:
    """Return the other runs: those it came from and that came from it, then of its environment, of its algorithm."""

    def distance(other: RunRow) -> tuple[bool, bool, bool]:
        is_kin = row.name == other.parent_run or other.name == row.parent_run
        return (not is_kin, other.env_id != row.env_id, other.algorithm != row.algorithm)

    return sorted((other for other in rows if other.path != row.path), key=distance)
