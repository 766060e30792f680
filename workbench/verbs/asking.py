"""Asking before what cannot be undone, or not easily."""

from __future__ import annotations

import sys

from workbench.errors import RequestError


def is_confirmed(question: str, *, yes: bool) -> bool:
    """Return whether a person wants it.

    Args:
        question: What is about to be done, without a question mark.
        yes: Whether `--yes` said so already.

    Raises:
        RequestError: Nobody is there to ask.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise RequestError(f"{question}: nobody is there to ask.", hint="--yes does it without asking.")
    sys.stderr.write(f"{question}? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
