"""The bottom row: the few keys that matter most on a screen, from the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.content import Content
from textual.widget import Widget

from workbench.ui.commands import footer_for

if TYPE_CHECKING:
    from workbench.ui.app import WorkbenchApp


class CommandFooter(Widget):
    """One row of keys with their labels; what does not fit is left out from the end, help stays.

    Args:
        name: The footer to show, a key of `FOOTERS`.
        labels: Other labels for some actions.
        closing: The key and action at the right end.
    """

    DEFAULT_CSS = """
    CommandFooter {
        dock: bottom;
        height: 1;
        width: 1fr;
        background: $panel;
        color: $foreground;
        link-color: $footer-key-foreground;
        link-style: bold;
        link-background: transparent;
        link-color-hover: $footer-key-foreground;
        link-background-hover: $surface;
        link-style-hover: bold;
    }
    """

    def __init__(
        self,
        name: str,
        *,
        labels: dict[str, str] | None = None,
        closing: tuple[str, str, str] = ("?", "Help", "app_help"),
    ) -> None:
        super().__init__()
        self._footer = name
        self._labels = labels or {}
        self._help_key = closing
        self._drawn = Content("")

    def use(self, name: str) -> None:
        """Show another footer, a key of `FOOTERS`."""
        if name != self._footer:
            self._footer = name
            self.refresh()

    def on_mount(self) -> None:
        """Draw again whenever what can be done changes."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self._look_again())

    def _look_again(self) -> None:
        if not self._row().is_same(self._drawn):
            self.refresh()

    def render(self) -> Content:
        """Return the row that fits the width."""
        self._drawn = self._row()
        return self._drawn

    def _row(self) -> Content:
        room = self.size.width
        keys, label, action = self._help_key
        end = Content.assemble((keys, _click(action)), f" {label} ")
        parts: list[Content] = [Content(" ")]
        used = 1 + end.cell_length
        chosen = cast("WorkbenchApp", self.app).settings.keys
        for keys, label, action in footer_for(self._footer, chosen):
            state = self.screen.check_action(action, ())
            if state is False:
                continue
            shown = self._labels.get(action) or self._label(action, label)
            entry = Content.assemble(
                (keys, _click(action) if state else "$muted"), (f" {shown}", "" if state else "$muted"), "  "
            )
            if used + entry.cell_length > room:
                break
            used += entry.cell_length
            parts.append(entry)
        return Content.assemble(*parts, " " * max(0, room - used), end)

    def _label(self, action: str, label: str) -> str:
        # A form has a footer too, and a label for each of its keys.
        label_of = getattr(self.screen, "label_of", None)
        return label if label_of is None else str(label_of(action, label))


def _click(action: str) -> str:
    return f"@click=screen.{action}"
