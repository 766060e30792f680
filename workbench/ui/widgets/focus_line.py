"""What has the focus, as one sentence: for screen readers, in a plain terminal."""

from __future__ import annotations

from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.ui.widgets.rows import Part, RowTable

LOOK_S = 0.3
_BAR = "▓░#."
"""What progress is drawn with; the number beside it says the same."""


class FocusLine(Static):
    """One row; it changes where the focus or what has it does, and never by itself."""

    DEFAULT_CSS = """
    FocusLine { height: 1; width: 1fr; padding: 0 1; }
    """

    def __init__(self, place: str) -> None:
        super().__init__(id="focus-line", markup=False)
        self._place = place
        self.sentence = ""

    def on_mount(self) -> None:
        """Look where something changed, and now and then."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.look())
        self.set_interval(LOOK_S, self.look)
        self.look()

    def look(self) -> None:
        """Say what has the focus, where it is something else than what was said."""
        sentence = describe_focus(self.screen, self._place)
        if sentence != self.sentence:
            self.sentence = sentence
            self.update(sentence)


def describe_focus(screen: Screen[object], place: str) -> str:
    """Return what has the focus on a screen: `Runs, row 4 of 8, half_cheetah b19e, SAC, running, 52 percent`."""
    widget = screen.focused
    if widget is None:
        return place
    if isinstance(widget, RowTable):
        state = getattr(getattr(screen, "current", None), "state", None)
        return ", ".join([place, *_row(widget, "" if state is None else str(state))])
    if isinstance(widget, Input):
        return f"{place}, {widget.placeholder or widget.id or 'field'}, {widget.value or 'empty'}"
    titles = [
        node.border_title for node in widget.ancestors_with_self if isinstance(node, Widget) and node.border_title
    ]
    said = [place, *(str(title) for title in titles[:1])]
    line = getattr(widget, "cursor_line", None)
    if isinstance(line, int):
        said.append(f"line {line + 1}")
    elif widget.border_subtitle:
        said.append(str(widget.border_subtitle))
    return ", ".join(said)


def _row(table: RowTable, state: str) -> list[str]:
    if not table.rows:
        return ["no rows"]
    said = [f"row {table.cursor_place + 1} of {len(table.rows)}"]
    row = table.rows[max(0, table.cursor_place)]
    for column in table.columns:
        text = _words(row.cells.get(column.key, ()))
        if not column.title or len(text) < 2 or text == state:
            continue
        is_number = column.align == "right" and text[:1] in "-0123456789"
        said.append(f"{column.title.lower()} {text}" if is_number else text)
    if state:
        said.insert(min(3, len(said)), state)
    return said


def _words(parts: tuple[Part, ...]) -> str:
    text = "".join(part for part, _ in parts if part.strip(_BAR)).strip()
    return text.replace("\u00a0%", " percent").replace("%", "percent").replace("  ", " ")
