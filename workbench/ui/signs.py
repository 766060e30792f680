"""Our signs in ASCII, for terminals that have nothing else."""

from __future__ import annotations

import re

from textual.content import Content

_SIGNS = str.maketrans("✎✗✓▸▾‹›·–−─×…⇒○●±≤◇◆", "*x+>v<>.---x.>o>~<oO")
"""Each is one sign for one sign, so that styles and columns stay where they are."""
_RANGE = re.compile("(?<=[0-9kMG])([ \u00a0]?)…(?=[ \u00a0]?[-−]?[0-9])")
"""The dots between the ends of a range: one dot would make another number of two."""


def in_signs(text: str) -> str:
    """Return a bare text with each of our signs replaced by one of ASCII."""
    return (_RANGE.sub(r"\1~", text) if "…" in text else text).translate(_SIGNS)


def in_ascii(content: Content) -> Content:
    """Return a text with each of our signs replaced by one of ASCII."""
    return Content(in_signs(content.plain), spans=list(content.spans))


def shown(content: Content, *, plain: bool) -> Content:
    """Return a text as a terminal can show it.

    Args:
        content: The text.
        plain: Whether the terminal has nothing but ASCII.
    """
    return in_ascii(content) if plain else content
