"""The form of a report: what runs came to, in one file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import ClassVar

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Static

from workbench import formatting
from workbench.formatting import plural
from workbench.runs.statistics import iqm
from workbench.ui.screens.filming import FilmTask, with_flags
from workbench.ui.watch import RunRow
from workbench.ui.widgets.choice import Choice

FORMATS = {"HTML": "html", "Markdown": "md"}
MONTAGE = {"if filmed": [], "film it": ["--montage"], "none": ["--no-montage"]}
MOST_LISTED = 8


class ReportTask(FilmTask):
    """Answers the words of `workbench report …`.

    Args:
        rows: The runs it is on.
    """

    LABELS: ClassVar[dict[str, str]] = {"task_go": "Write it"}
    heading = "Report"
    DEFAULT_CSS = """
    ReportTask {
        & #card { max-width: 110; }
        & #runs { height: auto; margin-bottom: 1; }
        & #live { height: auto; color: $warning; }
        & .field Input { width: 1fr; }
    }
    """

    def __init__(self, rows: Sequence[RunRow]) -> None:
        super().__init__()
        self._rows = list(rows)
        self.draft_key = f"report {' '.join(row.reference for row in rows)}"

    def compose_body(self) -> ComposeResult:
        """Yield the runs and the fields."""
        yield Static(self._table(), id="runs")
        yield from self.field("Format", Choice(tuple(FORMATS), id="format"))
        yield from self.field("Title", Input(id="title", placeholder="made from the runs"))
        yield from self.field("Seeds", Choice(("these", "whole groups"), id="group"), "launched together")
        yield from self.field("Montage", Choice(tuple(MONTAGE), id="montage"), "a poster of the policies")
        yield Static(Content("Contains     results over seeds · curves · reward terms · evaluations · settings and how "
                             "they differ from the recipe · versions · commands"), classes="said-below")  # fmt: skip
        yield Static(self._live(), id="live")
        yield from self.compose_end()

    def words(self) -> list[str]:
        """Return `report …`, only what differs from its defaults."""
        title = self.query_one("#title", Input).value.strip()
        words = with_flags(
            ["report", *(row.reference for row in self._rows)],
            [("--format", FORMATS[self.chosen("format")], "html"), ("--title", title, "")],
        )
        words += ["--group"] if self.chosen("group") == "whole groups" else []
        return words + MONTAGE[self.chosen("montage")]

    def _table(self) -> Content:
        """Return what it is on: runs that differ in seed alone as one line."""
        lines = [
            Content.styled(f"{'run':<30}{'seeds':>6}  {'return':>8}  {'best evaluation':<18}{'steps':>8}", "$muted")
        ]
        rows = sorted(self._rows, key=_alike)
        groups = [list(members) for _, members in groupby(rows, key=_alike)]
        for members in groups[:MOST_LISTED]:
            first = members[0]
            bests = [row.best for row in members if row.best is not None]
            best = formatting.number(_middle(item.mean_return for item in bests))
            if len(members) == 1 and bests:
                best = formatting.spread(bests[0].mean_return, bests[0].std_return)
            last = _middle(row.last_return for row in members)
            name = f"{first.env_name} {first.algorithm.upper()}" + (
                f" {first.short_id}" if len(members) == 1 else f" ×{len(members)}"
            )
            lines.append(
                Content(
                    f"{formatting.shorten(name, 29):<30}{len(members):>6}  {formatting.number(last):>8}  "
                    f"{best:<18}"
                    f"{formatting.amount(max(row.steps for row in members)):>8}"
                )
            )
        if len(groups) > MOST_LISTED:
            lines.append(Content.styled(f"and {plural(len(groups) - MOST_LISTED, 'more line')}", "$muted"))
        return Content("\n").join(lines)

    def _live(self) -> Content:
        live = [row for row in self._rows if not row.state.is_ended]
        if not live:
            return Content("")
        at = ", ".join(f"{row.title} at {formatting.percent(row.progress)}" for row in live[:3])
        more = f" and {len(live) - 3} more" if len(live) > 3 else ""
        return Content(f"! {at}{more} still {'runs' if len(live) == 1 else 'run'}: the report says so.")


def _alike(row: RunRow) -> tuple[str, ...]:
    return (row.env_name, row.algorithm, row.group or row.name)


def _middle(values: Iterable[float | None]) -> float:
    """The interquartile mean of what is known, as the list of runs has it of a group."""
    return iqm([value for value in values if value is not None])
