"""Writing into a text only what is new there."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


def say(text: Static, content: Content | str) -> None:
    """Write into a text, unless it says that already: what is written anew has its whole screen laid out anew."""
    before = text.content
    if isinstance(content, Content) and isinstance(before, Content):
        is_said = before.is_same(content)
    else:
        is_said = type(before) is type(content) and before == content
    if not is_said:
        text.update(content)
