"""How verbs write: text that every stream can show, and JSON that any reader takes as one document.

Terminals and pipes differ in what they encode, and paths may hold bytes that are no text at all; none of this may
end a command that has done its work.
"""

from __future__ import annotations

import codecs
import json
import math
import select
import sys
from typing import Any, TextIO

PLAIN_SIGNS = {
    "–": "-",
    "−": "-",
    "≤": "<=",
    "±": "+-",
    "…": "...",
    "×": "x",
    "▓": "#",
    "░": ".",
    "✓": "+",
    "✗": "x",
    "\u00a0": " ",
    "\u202f": " ",
}
"""What is written where a sign of ours cannot be."""

_CONTROLS = {code: " " if chr(code).isspace() else "?" for code in (*range(0x20), *range(0x7F, 0xA0))}
_HANDLER = "workbench.plain"
_ESCAPED_BYTES = range(0xDC80, 0xDD00)


def accept_any_text(*streams: TextIO) -> None:
    """Let the streams write every text: plain signs where theirs cannot be encoded, a path's odd bytes as they are."""
    codecs.register_error(_HANDLER, _plain)
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=_HANDLER)


def on_one_line(text: str) -> str:
    """Return what a file or a run holds so that it moves no cursor and breaks no line."""
    return text.translate(_CONTROLS)


def can_show(text: str, stream: TextIO) -> bool:
    """Say whether the stream's encoding has every sign of a text."""
    try:
        text.encode(stream.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def reader_is_gone(stream: TextIO) -> bool:
    """Say whether nobody reads a pipe any more; without that, only the next line written to it would tell."""
    if not hasattr(select, "poll"):
        return False
    try:
        watch = select.poll()
        watch.register(stream.fileno(), 0)
        return any(event & (select.POLLERR | select.POLLNVAL) for _, event in watch.poll(0))
    except (OSError, ValueError):
        return False


def write_json(document: Any, *, indent: int | None = None) -> None:
    """Write one JSON document to stdout; a number that is not finite, which JSON has none for, becomes null."""
    finite = _finite(document)
    text = json.dumps(finite, indent=indent, ensure_ascii=False, allow_nan=False)
    if not can_show(text, sys.stdout):
        text = json.dumps(finite, indent=indent, allow_nan=False)
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    char = error.object[error.start]
    if ord(char) in _ESCAPED_BYTES:
        return bytes([ord(char) - 0xDC00]), error.start + 1
    return PLAIN_SIGNS.get(char, "?"), error.start + 1


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
