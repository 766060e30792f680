"""Measures every figure and writes `table.json` and `table.md` beside this file.

    python benchmarks/table.py [--short] [--sbx PYTHON] [TEXT ...]

`--short` takes some minutes, the whole table a quarter of an hour; nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from workbench.cli import main

OUTPUT = Path(__file__).resolve().with_suffix(".json")


def words() -> list[str]:
    """Return the command that measures what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="*", metavar="TEXT", help="only lines with one of these; the files stay as is")
    parser.add_argument("--short", action="store_true", help="fewer repeats, and nothing that takes minutes by itself")
    parser.add_argument("--sbx", metavar="PYTHON", help="of a virtual environment with sbx-rl, to be measured too")
    asked = parser.parse_args()
    flags = [*(["--short"] if asked.short else []), *(["--sbx", asked.sbx] if asked.sbx else [])]
    return ["bench", "training", "--table", *asked.texts, *flags, *([] if asked.texts else ["--output", str(OUTPUT)])]


if __name__ == "__main__":
    sys.exit(main(words()))
