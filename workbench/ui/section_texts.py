"""A pane of texts and tables: one at a time, or in one frame that has their names on it as tabs."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget


class SectionTexts(Vertical):
    """Shows one of its texts, with a frame of its own, or inside one frame that has their names on it.

    A subclass yields a widget for each name, with that name as its id.
    """

    ALLOW_MAXIMIZE = True
    DEFAULT_CSS = """
    SectionTexts {
        & .text {
            border: round $border-blurred;
            border-title-color: $foreground;
            border-subtitle-color: $muted;
            height: 1fr;
        }
        & .text:focus { border: round $accent; border-title-style: bold; }
        & #Config { padding: 0 1; scrollbar-size-vertical: 1; }
        &.-framed {
            border: round $border-blurred;
            border-title-color: $foreground;
            border-subtitle-color: $muted;
            &:focus-within { border: round $accent; border-title-style: bold; }
            & .text, & .text:focus { border: none; }
            & .text.-below {
                border-top: solid $border-blurred;
                border-title-color: $muted;
                border-title-style: none;
            }
            & .text.-below:focus { border-top: solid $accent; }
        }
    }
    Screen.-plain SectionTexts .text, Screen.-plain SectionTexts.-framed { border: ascii $border-blurred; }
    """

    TABS: ClassVar[tuple[str, ...]] = ()
    """The names, in the order of the frame; the first is shown first."""
    TOGETHER: ClassVar[tuple[str, str]] = ("", "")
    """Two that share the frame where there is one, the second below the first."""

    class TabClicked(Message):
        """The name of a text in the frame was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.current = self.TABS[0]
        """What is shown."""
        self.status: dict[str, str] = {}
        """What the lower frame says while a text is shown."""

    def on_mount(self) -> None:
        """Give all of them the same frame."""
        for name in self.TABS:
            self.text(name).add_class("text")
        self.show(self.current)

    def text(self, name: str) -> Widget:
        """Return one of the texts."""
        return self.query_one(f"#{name}")

    def label(self, name: str) -> str:
        """Return what a text is called in the frame."""
        return name

    @property
    def is_framed(self) -> bool:
        """Whether all share one frame."""
        return self.has_class("-framed")

    def frame(self, is_framed: bool) -> None:
        """Put all of them into one frame, or give each its own."""
        self.set_class(is_framed, "-framed")
        self.show(self.current)

    def show(self, name: str) -> None:
        """Show one of the texts; where they share a frame, two of them stand below each other."""
        self.current = name
        both = self.is_framed and name in self.TOGETHER
        for other in self.TABS:
            self.text(other).display = other == name or (both and other in self.TOGETHER)
        if self.TOGETHER[1]:
            self.text(self.TOGETHER[1]).set_class(both, "-below")
        self.describe()

    def describe(self) -> None:
        """Write the names of the texts, and what can be done with the one that is shown, on the frame."""
        for name in self.TABS:
            self.text(name).border_subtitle = "" if self.is_framed else self.status.get(name, "")
        if not self.is_framed:
            self.border_title = self.border_subtitle = ""
            return
        self.border_title = Content("  ").join(Content.styled(label, style) for _, label, style in self._tabs())
        shown = next((name for name in self.TABS if self.text(name).has_focus), self.current)
        self.border_subtitle = self.status.get(shown, "")

    def on_descendant_focus(self) -> None:
        """Say what can be done with the text that has the focus."""
        self.describe()

    def on_click(self, event: events.Click) -> None:
        """Show the text whose name was clicked."""
        if not self.is_framed or event.widget is not self or event.y != 0:
            return
        left = 3
        for name, label, _ in self._tabs():
            if left <= event.x < left + len(label):
                self.post_message(self.TabClicked(name))
                return
            left += len(label) + 2

    def _tabs(self) -> list[tuple[str, str, str]]:
        found = []
        for name in self.TABS:
            label, here = self.label(name), name == self.current
            found.append((name, f"[{label}]" if here else label, "$primary bold" if here else "$foreground"))
        return found
