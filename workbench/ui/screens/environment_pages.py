"""The pages of what is known of an environment: what it is, then what there is to train it with, an algorithm each.

Where there is room, all of it stands beside each other and only the algorithms are turned; in between the two panes
are tabs of one place; where there is little, everything stands below each other.
"""

from __future__ import annotations

from textual import events
from textual.content import Content
from textual.widget import Widget

from workbench.catalog import Entry
from workbench.specs import ALGORITHMS, Algorithm
from workbench.ui.screen import WorkbenchScreen

TABBED, BESIDE = 120, 160
"""Columns from which on the recipe has a tab of its own, and from which on a pane beside the details."""
_ABOUT = "about"
_NAMES = ("About", "Recipe")


class EnvironmentPages(WorkbenchScreen):
    """The part of the place of environments that turns pages."""

    def __init__(self) -> None:
        super().__init__()
        self._algorithm: Algorithm | None = None
        """Which part of the recipe was asked for; none is the first it has."""

    @property
    def entry(self) -> Entry | None:
        """The usable entry under the cursor."""
        raise NotImplementedError

    @property
    def algorithm(self) -> Algorithm:
        """Which part of the recipe is shown."""
        entry = self.entry
        if self._algorithm is not None:
            return self._algorithm
        return entry.algorithms[0] if entry is not None and entry.algorithms else "ppo"

    @property
    def is_tabbed(self) -> bool:
        """Whether details and recipe are tabs of one place."""
        return TABBED <= self.app.size.width < BESIDE

    @property
    def shows_recipe(self) -> bool:
        """Whether the tab of the recipe is the one that is shown."""
        return self.is_tabbed and self.has_class("-recipe")

    def show_page(self) -> None:
        """Show what belongs to the page that was turned to."""
        raise NotImplementedError

    def page_title(self, name: str, *, of_recipe: bool) -> Content:
        """Return the title of one of the two panes.

        Args:
            name: What it is about.
            of_recipe: Whether it is that of the recipe.
        """
        if not self.is_tabbed:
            return Content("Recipe and reference" if of_recipe else name)
        here = _NAMES[of_recipe]
        tabs = [
            Content.styled(f"[{tab}]" if tab == here else f" {tab} ", "$primary bold" if tab == here else "")
            for tab in _NAMES
        ]
        return Content.assemble(*tabs, f"  {name}" if name else "")

    def pages_can_turn(self) -> bool | None:
        """Return whether there is another page."""
        entry = self.entry
        return True if entry is not None and (self.is_tabbed or entry.training is not None) else None

    def action_view_next_page(self) -> None:
        """Show the next tab, or what the recipe has for the next algorithm."""
        self._turn(1)

    def action_view_previous_page(self) -> None:
        """Show the tab before, or what the recipe has for the algorithm before."""
        self._turn(-1)

    def _turn(self, by: int) -> None:
        pages: list[str] = [_ABOUT, *ALGORITHMS] if self.is_tabbed else list(ALGORITHMS)
        here = _ABOUT if self.is_tabbed and not self.shows_recipe else self.algorithm
        page = pages[(pages.index(here) + by) % len(pages)]
        self._algorithm = next((name for name in ALGORITHMS if name == page), self._algorithm)
        self._choose(is_recipe=page != _ABOUT)

    def _choose(self, *, is_recipe: bool) -> None:
        had_focus = self.focused is not None and self.focused.id in ("details", "recipe-scroll")
        self.set_class(is_recipe, "-recipe")
        if had_focus and self.is_tabbed:
            self.query_one("#recipe-scroll" if is_recipe else "#details").focus()
        self.call_after_refresh(self.show_page)

    def on_click(self, event: events.Click) -> None:
        """Turn to the tab whose name was clicked."""
        if not self.is_tabbed or event.chain > 1:
            return
        clicked, _ = self.get_widget_at(event.screen_x, event.screen_y)
        pane = next(
            (node for node in clicked.ancestors_with_self if isinstance(node, Widget) and node.border_title), None
        )
        if pane is None or pane.id not in ("details-pane", "recipe-pane") or pane.region.y != event.screen_y:
            return
        # The title begins behind the corner, a dash and a space; each name has a sign at either end.
        left = event.screen_x - pane.region.x - 3
        for place, name in enumerate(_NAMES):
            width = len(name) + 2
            if 0 <= left < width:
                self._choose(is_recipe=bool(place))
                return
            left -= width
