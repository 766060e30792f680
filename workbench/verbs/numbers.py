"""Whole numbers on the command line."""

from __future__ import annotations

import argparse

NUMBER_HINT = "as in 20000, 20_000, 1e6 or 15M"


def whole_number(text: str) -> int:
    """Return the whole number that a text means; the type of an argument.

    Raises:
        argparse.ArgumentTypeError: It means none.
    """
    from workbench.specs import read_number

    number = read_number(text, whole=True)
    if not isinstance(number, int):
        raise argparse.ArgumentTypeError(f"takes a whole number, {NUMBER_HINT}, not {text!r}")
    return number
