"""What stands beside the charts of a group of seeds: a table of its runs, and what they have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench import formatting
from workbench.catalog.run_config import RunConfig
from workbench.ui.charts.overlay import Identity
from workbench.ui.comparing import Difference, settings
from workbench.ui.config_text import config_text, config_title
from workbench.ui.run_list import Line
from workbench.ui.run_rows import COLUMNS, run_row
from workbench.ui.section_texts import SectionTexts
from workbench.ui.watch import RunRow
from workbench.ui.widgets.rows import Row, RowTable

TABS = ("Seeds", "Config")
_SHOWN = ("margin", "glyph", "run", "progress", "return", "best", "speed", "eta")
_FEW = ("margin", "glyph", "run", "progress", "return", "best")
"""Where there is no room for all."""
_LEAST, _LEAST_ENDINGS = 76, 62
"""Cells from which on there is room for all columns, and for all but the speed."""
_OF_A_LAUNCH = frozenset({"seed", "threads", "device"})
"""Settings in which the runs of a group may differ and still be one."""
_WIDEST = 24


class SeedTexts(SectionTexts):
    """The runs of a group above what they were asked to do."""

    TABS = TABS
    TOGETHER = ("Seeds", "Config")

    def compose(self) -> ComposeResult:
        """Yield the table and the settings."""
        yield RowTable([item.column for item in COLUMNS if item.column.key in _SHOWN], id="Seeds")
        yield VerticalScroll(Static(id="config-text"), id="Config", can_focus=True)

    @property
    def table(self) -> RowTable:
        """The runs."""
        return self.query_one("#Seeds", RowTable)

    def show_runs(self, rows: Sequence[RunRow], key: str, letters: Mapping[str, Identity], *, plain: bool) -> None:
        """Show the runs of a group.

        Args:
            rows: By seed.
            key: What the group is known by.
            letters: Colour and letter of those that are drawn by themselves, by name.
            plain: ASCII signs.
        """
        table = self.table
        width = table.size.width
        wanted = _SHOWN if width >= _LEAST else (*_FEW, "eta") if width >= _LEAST_ENDINGS else _FEW
        columns = [item.column for item in COLUMNS if item.column.key in wanted]
        table.set_columns([replace(column, least=min(column.least, 11)) for column in columns])
        for _ in range(2):
            # Twice where the cursor's row is gone: the table chooses another, and that row looks different.
            before = table.cursor
            table.set_rows([self._row(row, rows, key, letters, plain=plain) for row in rows])
            if table.cursor == before:
                break
        table.border_title = f"Seeds · {formatting.plural(len(rows), 'run')}"

    def _row(
        self, row: RunRow, rows: Sequence[RunRow], key: str, letters: Mapping[str, Identity], *, plain: bool
    ) -> Row:
        line = Line(row, (row,), group=key, depth=1, is_last=row is rows[-1])
        return run_row(
            line,
            plain=plain,
            identity=letters.get(row.name),
            here=str(row.path) == self.table.cursor,
            marked=False,
            wide=False,
        )

    def show_config(self, records: Sequence[Mapping[str, Any]], config: RunConfig, *, everything: bool) -> None:
        """Show what the runs differ in, and what all of them were asked to do."""
        pane = self.text("Config")
        pane.border_title = config_title(config)
        self.query_one("#config-text", Static).update(common_text(records, config, everything=everything))


def differing(records: Sequence[Mapping[str, Any]]) -> list[Difference]:
    """Return the settings that are not the same in all runs of a group, its seed first.

    Args:
        records: The `run.json` of each.
    """
    found = [
        item for item in settings(records) if item.is_one or (item.key in _OF_A_LAUNCH and len(set(item.values)) > 1)
    ]
    return sorted(found, key=lambda item: item.key != "seed")


def common_text(records: Sequence[Mapping[str, Any]], config: RunConfig, *, everything: bool) -> Content:
    """Return the settings of a group in words.

    Args:
        records: The `run.json` of each of its runs.
        config: The settings of the first, beside its recipe.
        everything: Show those that are as in the recipe too.
    """
    own = differing(records)
    width = max((len(item.key) for item in own), default=0)
    lines = []
    for item in own:
        values = "  ".join(formatting.shorten(value, _WIDEST) for value in item.values)
        lines.append(Content.assemble(("≠ ", "$warning"), (item.key.ljust(width), "$muted"), f"  {values}"))
    common = len(config.settings) - len(own)
    if config.settings:
        lines.append(Content.styled(f"{formatting.plural(common, 'setting')} in common", "$muted"))
    keys = {item.key for item in own}
    shared = replace(config, settings=tuple(item for item in config.settings if item.key not in keys))
    return Content("\n").join([*lines, config_text(shared, everything=everything)])
