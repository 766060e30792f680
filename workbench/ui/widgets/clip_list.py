"""The clips of a montage in a line or two: one of them under the cursor, to be swapped for another checkpoint."""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget

from workbench import formatting
from workbench.ui.storyboard import Storyboard, Tile

_GAP = 2


class ClipList(Widget, can_focus=True):
    """Moves with arrows, `h j k l`; `[` and `]` ask for the checkpoint before or after.

    Args:
        plain: ASCII signs only.
    """

    DEFAULT_CSS = """
    ClipList {
        height: auto;
        width: 1fr;
        &:focus { background: $panel; }
    }
    """
    BINDINGS = [
        Binding("right,l,j,down", "move(1)", "Next", show=False),
        Binding("left,h,k,up", "move(-1)", "Previous", show=False),
        Binding("right_square_bracket,right_parenthesis", "swap(1)", "Swap for a later one", show=False),
        Binding("left_square_bracket,left_parenthesis", "swap(-1)", "Swap for an earlier one", show=False),
    ]

    @dataclass
    class Swapped(Message):
        """Another checkpoint is wanted in a place, the next one in a direction."""

        place: int
        """Counted from 0."""
        by: int

    def __init__(self, *, plain: bool, id: str) -> None:
        super().__init__(id=id)
        self._plain = plain
        self._board = Storyboard()
        self.place = 0

    def show(self, board: Storyboard) -> None:
        """Show the clips of a montage."""
        self._board = board
        self.place = min(self.place, max(0, len(board.tiles) - 1))
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return how many rows the clips take at this width."""
        return max(1, len(self._lines(width)))

    def render(self) -> Content:
        """Return the rows for the width there is."""
        return Content("\n").join(self._lines(self.size.width))

    def action_move(self, by: int) -> None:
        """Go to the next clip or the one before."""
        self.place = min(max(0, self.place + by), max(0, len(self._board.tiles) - 1))
        self.refresh()

    def action_swap(self, by: int) -> None:
        """Ask for another checkpoint here."""
        if self._board.tiles:
            self.post_message(self.Swapped(self.place, by))

    def _lines(self, width: int) -> list[Content]:
        if self._board.problem:
            return [Content.styled(self._board.problem, "$error")]
        lines, line = list[Content](), Content("")
        for place, tile in enumerate(self._board.tiles):
            entry = self._entry(tile, here=self.has_focus and place == self.place)
            if line.cell_length and line.cell_length + _GAP + entry.cell_length > width:
                lines.append(line)
                line = Content("")
            line = Content.assemble(line, " " * _GAP, entry) if line.cell_length else entry
        return [*lines, line]

    def _entry(self, tile: Tile, *, here: bool) -> Content:
        sign = ("^" if tile.is_best else "o") if self._plain else ("◆" if tile.is_best else "◇")
        mark = ("*" if self._plain else "✎") + " " if tile.swapped else ""
        steps = formatting.amount(tile.shown.steps)
        value = "" if tile.shown.evaluation_mean is None else f" {formatting.number(tile.shown.evaluation_mean)}"
        text = Content.assemble((mark, "$warning"), f"{sign} {steps}", (value, "$muted"))
        if tile.film is None:
            text = Content.assemble(text, ("." if self._plain else " ○", "$muted"))
        return text.stylize("reverse") if here else text
