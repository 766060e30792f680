"""How a person's editor is told to open a file at a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_PLUS = frozenset(
    {
        "vi",
        "vim",
        "nvim",
        "gvim",
        "view",
        "nano",
        "pico",
        "emacs",
        "emacsclient",
        "micro",
        "joe",
        "jed",
        "kak",
        "mg",
        "ne",
        "mcedit",
        "gedit",
        "less",
    }
)
"""Editors that take `+LINE` before the file."""
_COLON = frozenset({"hx", "helix", "subl", "zed"})
"""Editors that take `FILE:LINE`."""
_GOTO = frozenset({"code", "codium", "code-insiders", "cursor"})
"""Editors that take `--goto FILE:LINE`."""


def at_line(editor: Sequence[str], path: Path, line: int) -> list[str]:
    """Return the words that open a file at a line, counted from one; 0, and an editor that is not known, at its begin.

    Args:
        editor: The words that start the editor.
        path: The file.
        line: The line.
    """
    name = Path(editor[0]).name if editor else ""
    if line > 0 and name in _PLUS:
        return [*editor, f"+{line}", str(path)]
    if line > 0 and name in _COLON:
        return [*editor, f"{path}:{line}"]
    if line > 0 and name in _GOTO:
        return [*editor, "--goto", f"{path}:{line}"]
    return [*editor, str(path)]
