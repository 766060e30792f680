"""The apps that `terminal.py` watches, in a process that imports nothing else: they note what they painted, and when.

Called as `python terminal_app.py bare|workbench PROJECT LOG`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


def bare_app(log: Path) -> Any:
    """Return an app with a header, a table and a footer."""
    from textual.app import App, ComposeResult
    from textual.widgets import DataTable, Footer, Header

    class Bare(App[None]):
        def compose(self) -> ComposeResult:
            yield Header()
            yield DataTable()
            yield Footer()

        def on_mount(self) -> None:
            rows = self.query_one(DataTable)
            rows.add_columns(*"abcdef")
            for place in range(12):
                rows.add_row(*([str(place)] * 6))

        def _display(self, screen: Any, renderable: Any) -> None:
            super()._display(screen, renderable)
            if renderable is not None and screen.query(DataTable):
                note(log, painted=True)

    return Bare()


def our_app(project: Path, log: Path) -> Any:
    """Return the app."""
    from workbench.project import Project
    from workbench.ui.app import WorkbenchApp

    app: Any = WorkbenchApp(Project(project))
    display = app._display
    framed: dict[Any, bool] = {}

    def noting(screen: Any, renderable: Any) -> None:
        display(screen, renderable)
        if renderable is None:
            return
        # Looked for once a screen: a search takes as long as painting a table.
        if screen not in framed:
            frame = [*screen.query("Header"), *screen.query("CommandFooter")]
            if len(frame) < 2 or not all(widget.size for widget in frame):
                return
            framed[screen] = bool(screen.query("#runs"))
        if not framed[screen]:
            note(log, painted=True, listed=False, drawn=False, whole=False)
            return
        listing, chart = screen.listing, screen.chart
        note(
            log,
            painted=True,
            listed=bool(listing.lines),
            drawn=bool(chart.data.curves or chart.data.groups) and chart.drawn > 0 and bool(screen._pasts),
            whole=bool(listing.lines) and listing.snapshot.is_whole,
            cursor=screen.table.cursor,
        )

    app._display = noting
    return app


def note(log: Path, **facts: Any) -> None:
    """Append what was painted."""
    with log.open("ab") as file:
        file.write(json.dumps({"at": time.monotonic(), "cursor": None, **facts}).encode() + b"\n")


if __name__ == "__main__":
    kind, place, log = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    (bare_app(log) if kind == "bare" else our_app(place, log)).run()
