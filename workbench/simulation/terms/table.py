"""The page of documentation about terms, written from the registry by `python -m workbench.simulation.terms.table`."""

from __future__ import annotations

import inspect
import sys
import textwrap

from workbench import durable
from workbench.project import shipped_project
from workbench.simulation import terms
from workbench.simulation.terms import names
from workbench.simulation.terms.registry import Entry, find

PAGE = "terms.md"

_GROUPS = (
    ("bodies", "Bodies"),
    ("joints", "Joints"),
    ("contact", "Contact"),
    ("base", "Floating base"),
    ("particles", "Many bodies"),
    ("effector", "End effector"),
    ("effort", "Effort"),
    ("staged", "Stages"),
)
"""Each module of terms, and what its section is called."""


def page() -> str:
    """Return the page."""
    lines = [
        "# Reward terms and predicates",
        "",
        "Written by `python -m workbench.simulation.terms.table` from the registry; a test holds the two equal.",
        "",
        "`make_predicate(NAME, keyword=value, …)` and `make_term(NAME, weight=W, …)` make them, a `TermSet` in an",
        "environment's `load` reads them over all copies at once. A keyword with a default may be left out. Rewards",
        "take `weight` (1.0) too; a predicate given as a reward counts its weight where it holds.",
        "",
        "```python",
        example(),
        "```",
        "",
        inspect.cleandoc(terms.__doc__ or "").split("\n\n")[-2],
    ]
    own = [entry for entry in map(find, names()) if entry.is_own]
    for module, title in _GROUPS:
        members = [entry for entry in own if entry.factory.__module__.rpartition(".")[2] == module]
        about = inspect.getdoc(sys.modules[f"workbench.simulation.terms.{module}"]) or ""
        lines += [
            "",
            f"## {title}",
            "",
            " ".join(about.split()),
            "",
            "| name | kind | keywords | meaning |",
            "|---|---|---|---|",
        ]
        lines += [_row(entry) for entry in sorted(members, key=lambda entry: (entry.kind, entry.name))]
    kinds = {keyword.name: keyword.kind.words for entry in own for keyword in entry.accepted}
    lines += ["", "## Keywords", "", "| keyword | accepts |", "|---|---|"]
    lines += [f"| `{name}` | {words} |" for name, words in sorted(kinds.items())]
    return "\n".join(lines) + "\n"


def example() -> str:
    """Return the environment in the docstring of the package."""
    lines = inspect.cleandoc(terms.__doc__ or "").splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("    class "))
    last = max(index for index, line in enumerate(lines) if line.startswith("    "))
    return textwrap.dedent("\n".join(lines[first : last + 1])).replace("'''", '"""')


def _row(entry: Entry) -> str:
    kind = "predicate" if entry.kind == "bool" else "reward"
    keywords = ", ".join(f"`{keyword}`" for keyword in entry.keywords) or "–"
    meaning = entry.meaning.replace("|", "\\|")
    return f"| `{entry.name}` | {kind} | {keywords} | {meaning} |"


def main() -> int:
    """Write docs/terms.md of this checkout."""
    durable.write_text(shipped_project().root / "docs" / PAGE, page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
