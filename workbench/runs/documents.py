"""JSON that another process, another version or another hand wrote: read for what it is worth, never an error.

Python's reader takes numbers that no arithmetic survives (`NaN`, `1e400`, whole numbers without end) and gives up in
the middle of what is nested without end; here the first are null, and the second is no JSON.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

LONGEST_WHOLE = 300
"""Digits of the longest whole number that is taken; any of so many is a finite float too."""

_UNUSUAL = re.compile(rb"[eE]\+?\d{3}|\d{301}")
"""What a line must hold for a number in it to be out of range; most lines need no closer look."""


def parse_json(text: bytes) -> Any | None:
    """Return the value in a text, numbers out of range as null; None where it is no JSON."""
    unusual: dict[str, Any] = {"parse_float": _float, "parse_int": _int} if _UNUSUAL.search(text) else {}
    try:
        return json.loads(text, parse_constant=lambda _: None, **unusual)
    except (ValueError, RecursionError):
        return None


def read_document(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; empty where there is none, or it cannot be read."""
    try:
        value = parse_json(path.read_bytes())
    except OSError:
        return {}
    return value if isinstance(value, dict) else {}


def _float(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _int(text: str) -> int | None:
    return int(text) if len(text.lstrip("-")) <= LONGEST_WHOLE else None
