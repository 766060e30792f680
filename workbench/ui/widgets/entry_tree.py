"""The tree of environments: groups, environments with their variants, and what is broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.color import Color
from rich.style import Style
from rich.text import Text
from textual import events
from textual.color import Color as AnyColour
from textual.content import Content
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from workbench.formatting import shorten
from workbench.ui.signs import in_ascii


@dataclass(frozen=True)
class Row:
    """One line of the tree."""

    key: str
    """Where the cursor is remembered by: the entry's name, or the group's."""
    label: str
    note: str = ""
    """What stands at the right: recipes, a count, the line at fault."""
    state: str = "plain"
    """`group`, `plain`, or `broken`."""
    children: tuple[Row, ...] = ()
    places: tuple[int, ...] = ()
    """Which letters of the label are emphasised: those that a search found."""


class EntryTree(Tree[Row]):
    """A tree whose notes are aligned at the right; keeps the cursor on its row when rows change."""

    guide_depth = 2
    show_root = False
    auto_expand = False

    DEFAULT_CSS = """
    EntryTree {
        background: transparent;
        padding: 0;
        scrollbar-size-horizontal: 0;
        & > .tree--guides, & > .tree--guides-hover, & > .tree--guides-selected { color: $border-blurred; }
    }
    """

    def __init__(self, *, id: str, plain: bool = False) -> None:
        super().__init__("environments", id=id)
        self.ICON_NODE = "> " if plain else "▸ "
        self.ICON_NODE_EXPANDED = "v " if plain else "▾ "
        self._folded: set[str] = set()
        self._plain = plain
        self.show_guides = not plain

    def show(self, rows: Sequence[Row], cursor: str, *, unfold: bool = False) -> None:
        """Show these rows with the cursor on the row of that key, or on the first that is no group."""
        with self.prevent(Tree.NodeHighlighted, Tree.NodeCollapsed, Tree.NodeExpanded):
            self.clear()
            self.cursor_line = -1
            for row in rows:
                self._add(self.root, row, unfold=unfold)
            self.root.expand()
        nodes = [node for node in self._below(self.root) if node.data is not None]
        chosen = next((node for node in nodes if node.data and node.data.key == cursor), None)
        if chosen is None:
            chosen = next((node for node in nodes if node.data and node.data.state != "group"), None)
        if chosen is not None:
            parent = chosen.parent
            while parent is not None and parent is not self.root:
                parent.expand()
                parent = parent.parent
            # Asking for a line lays the lines out; before that no node knows its own.
            self.get_node_at_line(0)
            self.move_cursor(chosen)

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        return None if self.cursor_node is None else self.cursor_node.data

    def fold_groups(self, keys: Sequence[str]) -> None:
        """Fold these groups when they are shown next."""
        self._folded |= set(keys)

    @property
    def folded(self) -> frozenset[str]:
        """The keys of what is folded."""
        return frozenset(self._folded)

    def action_cursor_left(self) -> None:
        """Fold the row, or go to what it belongs to."""
        node = self.cursor_node
        if node is None:
            return
        if node.allow_expand and node.is_expanded:
            node.collapse()
        elif node.parent is not None and node.parent is not self.root:
            self.move_cursor(node.parent)

    def action_cursor_right(self) -> None:
        """Unfold the row, or go to the first of what is in it."""
        node = self.cursor_node
        if node is None or not node.allow_expand:
            return
        if node.is_collapsed:
            node.expand()
        else:
            self.action_cursor_down()

    def toggle(self) -> None:
        """Fold or unfold the row under the cursor."""
        if self.cursor_node is not None:
            self.cursor_node.toggle()

    async def _on_click(self, event: events.Click) -> None:
        """Move the cursor with one click and open with two; a click on the triangle folds."""
        meta = event.style.meta
        if event.chain == 1 and "line" in meta and not meta.get("toggle", False):
            event.prevent_default()
            self.cursor_line = meta["line"]

    def on_tree_node_collapsed(self, event: Tree.NodeCollapsed[Row]) -> None:
        """Remember what was folded."""
        if event.node.data is not None:
            self._folded.add(event.node.data.key)

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Row]) -> None:
        """Forget what was folded."""
        if event.node.data is not None:
            self._folded.discard(event.node.data.key)

    def render_label(self, node: TreeNode[Row], base_style: Style, style: Style) -> Text:
        """Render a row over the whole width, its note at the right end."""
        row = node.data
        if row is None:
            return Text("")
        depth = -1
        above: TreeNode[Row] | None = node
        while above is not None:
            depth += 1
            above = above.parent
        room = max(0, self.size.width - depth * self.guide_depth)
        icon = ""
        if node.allow_expand:
            icon = self.ICON_NODE_EXPANDED if node.is_expanded else self.ICON_NODE
        if row.state == "broken":
            icon += "x " if self._plain else "✗ "
        icon = icon or "  "
        note = row.note if len(icon) + len(row.label) + len(row.note) < room else ""
        name = shorten(row.label, max(4, room - len(icon) - len(note) - 1))
        pad = " " * max(1, room - len(icon) - len(name) - len(note))
        line = f"{icon}{name}{pad}{note}"[:room] if room else ""
        text = Text(in_ascii(Content(line)).plain if self._plain else line, style=style)
        if self.app.current_theme.ansi and self.has_focus and node is self.cursor_node:
            # The terminal chooses the colour of its cursor: nobody knows which of ours can be read on it.
            return text
        quiet = self._colour("muted")
        if row.state == "broken":
            text.stylize(Style(color=self._colour("state-failed")), 0, len(icon) + len(name))
        text.stylize(Style(color=quiet), len(icon) + len(name))
        for place in row.places:
            if place < len(name):
                start = len(icon) + place
                text.stylize(Style(color=self._colour("accent"), bold=True, underline=True), start, start + 1)
        if row.state == "group":
            text.stylize(Style(bold=True), 0, len(icon) + len(name))
        return text

    def get_label_width(self, node: TreeNode[Row]) -> int:
        """Return the width of any row: all of it."""
        return 1

    def _colour(self, variable: str) -> Color:
        return AnyColour.parse(self.app.theme_variables[variable]).rich_color

    def _add(self, parent: TreeNode[Row], row: Row, *, unfold: bool) -> None:
        node = parent.add(
            row.label, data=row, expand=unfold or row.key not in self._folded, allow_expand=bool(row.children)
        )
        for child in row.children:
            self._add(node, child, unfold=unfold)

    def _below(self, node: TreeNode[Row]) -> list[TreeNode[Row]]:
        found = [node]
        for child in node.children:
            found += self._below(child)
        return found
