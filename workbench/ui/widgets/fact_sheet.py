"""Names in one column, what is said of them in the next; long values wrap under themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from workbench.ui.signs import shown


@dataclass(frozen=True)
class Fact:
    """One line of a sheet."""

    name: str
    """Empty where the value goes on from the line above, or speaks for itself."""
    value: Content
    whole: bool = False
    """Whether the value takes the whole width."""


class FactSheet(Widget):
    """Shows facts, as high as they need.

    Args:
        id: The widget's id.
    """

    DEFAULT_CSS = """
    FactSheet { height: auto; width: 1fr; }
    """
    NAME_WIDTH = 13

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._facts: tuple[Fact, ...] = ()

    def show(self, facts: Sequence[Fact]) -> None:
        """Show these facts."""
        if tuple(facts) != self._facts:
            self._facts = tuple(facts)
            self.refresh(layout=True)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What is shown."""
        return self._facts

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return how many rows the facts take at this width."""
        return len(self._lines(width))

    def render(self) -> Content:
        """Return the rows for the width there is."""
        said = Content("\n").join(self._lines(self.size.width))
        return shown(said, plain=bool(getattr(self.app, "plain", False)))

    def _lines(self, width: int) -> list[Content]:
        lines: list[Content] = []
        for fact in self._facts:
            indent = 0 if fact.whole else self.NAME_WIDTH
            rows = _wrapped(fact.value, max(8, width - indent))
            for place, row in enumerate(rows):
                name = fact.name if place == 0 else ""
                lines.append(row if fact.whole else Content.assemble((f"{name:<{indent}}", "$muted"), row))
        return lines


def _wrapped(value: Content, width: int) -> list[Content]:
    """Break at ordinary spaces only: Textual's own wrapping takes a no-break space for one of them."""
    lines: list[Content] = []
    for part in value.split("\n", allow_blank=True):
        text, start = part.plain, 0
        while len(text) - start > width:
            space = text.rfind(" ", start + 1, start + width + 1)
            end = space if space > start else start + width
            lines.append(part[start:end].rstrip(" "))
            start = end
            while text[start : start + 1] == " ":
                start += 1
        lines.append(part[start:])
    return lines
