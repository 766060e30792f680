"""The state of the list of runs: its lines, marks, folds, order and columns, kept from one start to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench import formatting
from workbench.errors import RequestError
from workbench.runs.filtering import Filter, FilterError
from workbench.runs.ordering import RECENT, Order
from workbench.ui.run_list import Line, Tree, Wish, arranged, group_key, still
from workbench.ui.run_rows import Shown
from workbench.ui.state import Remembered
from workbench.ui.watch import RunRow, RunsSnapshot
from workbench.ui.widgets.rows import Column

PLACE = "runs"
"""Where it is remembered."""
TREES = tuple(Tree)


class RunListing:
    """What is listed, and how a person wants it listed.

    Args:
        memory: What is kept between starts.
    """

    def __init__(self, memory: Remembered) -> None:
        self._memory = memory
        self.snapshot = RunsSnapshot()
        self.lines: list[Line] = []
        self.by_key: dict[str, Line] = {}
        self.marked: set[Path] = set()
        self.shown = Shown(frozenset(memory.texts(PLACE, "hidden")), tuple(memory.texts(PLACE, "added")))
        self.problem = ""
        """What is wrong with the filter; the last good one holds meanwhile."""
        self._unfolded = set(memory.texts(PLACE, "unfolded"))
        tree = memory.text(PLACE, "tree")
        is_reversed = memory.flag(PLACE, "reverse", default=False)
        self.wish = Wish(
            order=_order(memory.text(PLACE, "sort", RECENT), is_reversed),
            tree=Tree(tree) if tree in TREES else Tree.SEEDS,
        )

    # What is listed.

    @property
    def needs(self) -> frozenset[str]:
        """Fields of the spec and metrics that rows must carry."""
        return self.wish.needs | frozenset(self.shown.added)

    @property
    def total(self) -> int:
        """How many runs there are, hidden ones included."""
        return len(self.snapshot.rows)

    @property
    def visible(self) -> int:
        """How many the filter lets through."""
        return sum(len(line.members) for line in self.lines if line.is_head or not line.group)

    def take(self, snapshot: RunsSnapshot) -> None:
        """Take other runs; marks of those that are gone go with them."""
        self.snapshot = snapshot
        if self.marked:
            self.marked &= {row.path for row in snapshot.rows}

    def arrange(self, *, holds_still: bool = False) -> None:
        """Make the lines anew.

        Args:
            holds_still: Whether those that are there keep their places.
        """
        lines = arranged(self.snapshot.rows, self.wish, self._unfolded, self.by_key)
        self.lines = still(lines, self.lines) if holds_still else lines
        self.by_key = {line.key: line for line in self.lines}

    def key_of(self, path: Path) -> str | None:
        """Return the key of the line that shows a run: its own, else that of its group."""
        own = str(path)
        if own in self.by_key:
            return own
        return next((line.key for line in self.lines if any(row.path == path for row in line.members)), None)

    def why_empty(self) -> str:
        """Return why nothing is listed although there are runs."""
        return f"No run matches {self.wish.filter.text}; {formatting.digits(self.total)} are hidden. esc clears."

    def chosen(self, line: Line | None) -> Sequence[RunRow]:
        """Return the marked runs, else those of the line under the cursor."""
        if self.marked:
            listed = {row.path: row for line in self.lines for row in line.members}
            return [row for path, row in listed.items() if path in self.marked]
        return () if line is None else line.members

    # How it is listed.

    def filter_by(self, text: str) -> tuple[int, int] | None:
        """Filter by what a person typed and return which part of it is wrong; the last good filter then holds."""
        if text == self.wish.filter.text and not self.problem:
            return None
        try:
            self.wish = replace(self.wish, filter=Filter.parse(text))
        except FilterError as error:
            self.problem = f"{error.message} {error.hint}".strip()
            return error.start, error.end
        self.problem = ""
        return None

    @property
    def sort(self) -> str:
        """The field it is sorted by."""
        field = self.wish.order.field
        return RECENT if field is None else field.name

    def sort_by(self, field: str, *, is_reversed: bool = False) -> None:
        """Sort by a field."""
        self.wish = replace(self.wish, order=_order(field, is_reversed))
        self._memory.keep(PLACE, "sort", field)
        self._memory.keep(PLACE, "reverse", is_reversed)

    def sort_step(self, by: int) -> None:
        """Sort by a column further on."""
        fields = self.shown.sortable
        place = fields.index(self.sort) if self.sort in fields else 0
        self.sort_by(fields[(place + by) % len(fields)])

    def reverse(self) -> None:
        """Turn the order round."""
        self.sort_by(self.sort, is_reversed=not self.wish.order.is_reversed)

    def next_tree(self) -> None:
        """Group seeds, list all flat, or forks below the run they came from."""
        tree = TREES[(TREES.index(self.wish.tree) + 1) % len(TREES)]
        self.wish = replace(self.wish, tree=tree)
        self._memory.keep(PLACE, "tree", str(tree))

    def fold(self, group: str) -> bool:
        """Fold a group, or unfold it, and return whether its members are shown now."""
        self._unfolded ^= {group}
        self._unfolded &= {group_key(row) for row in self.snapshot.rows if row.group}
        self._memory.keep(PLACE, "unfolded", sorted(self._unfolded))
        return group in self._unfolded

    def columns(self, width_class: str) -> list[Column]:
        """Return the columns that a screen of this width class shows."""
        return self.shown.columns(width_class, tells_changes=any(line.change for line in self.lines))

    def choose_columns(self, shown: Shown) -> None:
        """Show other columns."""
        self.shown = shown
        self._memory.keep(PLACE, "hidden", sorted(shown.hidden))
        self._memory.keep(PLACE, "added", list(shown.added))

    # Marks.

    def mark(self, line: Line) -> None:
        """Mark the runs of a line; unmark them where all are."""
        paths = {row.path for row in line.members}
        self.marked = self.marked - paths if paths <= self.marked else self.marked | paths

    def mark_all(self) -> None:
        """Mark every run that is listed."""
        self.marked |= {row.path for line in self.lines for row in line.members}

    def is_marked(self, line: Line) -> bool:
        """Return whether all runs of a line are marked."""
        return all(row.path in self.marked for row in line.members)


def _order(field: str, is_reversed: bool) -> Order:
    try:
        return Order.parse(field, is_reversed=is_reversed)
    except RequestError:
        return Order()
