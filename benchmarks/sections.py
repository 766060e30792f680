"""One Markdown file that several measurements write to, each its own section."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from workbench import durable

TERMINAL = Path(__file__).resolve().with_name("terminal.md")
"""What was measured of the terminal app."""
_TITLE = "# The terminal app, measured\n"

VIEWER = TERMINAL.with_name("viewer.md")
"""What was measured of the viewer, the recorder and the montage."""
VIEWER_TITLE = "# The viewer, the recorder and the montage, measured\n"


def replace_section(path: Path, heading: str, text: str, *, title: str = _TITLE) -> None:
    """Write a section of a file in place of the one with the same heading, else behind all others.

    Args:
        path: The file; it need not exist.
        heading: Without the signs before it.
        text: What stands below.
        title: What the file begins with where it does not exist, a line with its sign.
    """
    before = path.read_text(encoding="utf-8") if path.exists() else title
    parts = before.split("\n## ")
    section = f"{heading}\n\n{text.strip()}\n"
    places = [place for place, part in enumerate(parts) if place and part.partition("\n")[0].strip() == heading]
    if places:
        parts[places[0]] = section
    else:
        parts.append(section)
    content = "\n## ".join(part.rstrip("\n") + "\n" for part in parts)
    durable.write_bytes(path, content.encode())


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def machine() -> str:
    """Return what the figures were measured on."""
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
