"""What a preview of an environment found: each finding with whose it is, and what to change."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from textual.containers import VerticalScroll
from textual.content import Content

from workbench.ui.screens.output import OutputCard
from workbench.ui.signs import shown

_FINDING = re.compile(r"(?P<mark>[✓–!✗+x.-]) (?P<check>[a-z-]+) +(?P<said>.*?)(?: \[(?P<owner>\w+)\])?")
"""A line of `workbench preview`."""
_COLOURS = {"✓": "$success", "–": "$muted", "!": "$warning bold", "✗": "$error bold"}
_INDENT = 4
_NAME = 18


class PreviewCard(OutputCard):
    """Shows the findings as they come."""

    def outcome(self) -> str:
        """Return how it went, for the title."""
        return "it should not be trained on yet" if self.job.exit_code == 1 else super().outcome()

    def on_resize(self) -> None:
        """Fill the width there is."""
        self._show()

    def told(self, lines: Sequence[str]) -> Content:
        """Return the findings, those of one check below its name."""
        findings = findings_text(lines, self.query_one("#output", VerticalScroll).size.width)
        if not findings:
            return super().told(lines)
        if self.job.state == "running":
            findings.append(Content.styled("…", "$muted"))
        return shown(Content("\n").join(findings), plain=self.workbench.plain)


def findings_text(lines: Sequence[str], width: int) -> list[Content]:
    """Return the findings of a preview, wrapped.

    Args:
        lines: What `workbench preview` printed.
        width: Cells there are.
    """
    told: list[Content] = []
    room = max(20, width - _INDENT)
    for line in lines:
        found = _FINDING.fullmatch(line)
        if found is not None:
            colour = _COLOURS.get(found["mark"], "")
            owner, name = f"  whose: {found['owner']}" if found["owner"] else "", f"{found['mark']} {found['check']}"
            if not owner and _NAME + len(found["said"]) <= width:
                told.append(Content.assemble((name.ljust(_NAME), colour), found["said"]))
                continue
            told.append(Content.assemble((name, colour), (owner, "$muted")))
            told += [Content(f"    {part}") for part in textwrap.wrap(found["said"], room)]
        elif line.startswith(" ") and told:
            told += [Content.styled(f"    {part}", "$accent") for part in textwrap.wrap(line.strip(), room)]
        else:
            told += [Content(part) for part in textwrap.wrap(line, width)]
    return told
