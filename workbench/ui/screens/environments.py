"""The place of environments: what exists, what is broken, and everything known of the one under the cursor."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Markdown, Static, Tree

from workbench.catalog import Entry
from workbench.formatting import digits
from workbench.ui.charts.model import ChartData
from workbench.ui.charts.overlay import Overlay
from workbench.ui.commands import bindings_for
from workbench.ui.draft import can_launch
from workbench.ui.library import Library
from workbench.ui.past import Past
from workbench.ui.pictures import picture_path, read_picture
from workbench.ui.run_charts import RETURN, overlay_chart
from workbench.ui.screen import Pane
from workbench.ui.screens import environment_details as details
from workbench.ui.screens import environment_runs as runs
from workbench.ui.screens.environment_making import EnvironmentMaking
from workbench.ui.screens.environment_pages import EnvironmentPages
from workbench.ui.screens.environment_query import MARK, SHOWN, Query
from workbench.ui.screens.environment_rows import Shelf, shelve
from workbench.ui.watch import RunRow, RunWatch
from workbench.ui.widgets.chart import Chart
from workbench.ui.widgets.choice import Choice
from workbench.ui.widgets.entry_tree import EntryTree, Row
from workbench.ui.widgets.fact_sheet import Fact, FactSheet
from workbench.ui.widgets.filter_box import FilterBox
from workbench.ui.widgets.preview import Preview, why_no_colours
from workbench.ui.widgets.roomy_scroll import RoomyScroll

EMPTY = (
    "No environments here. Environments: New environment (:) writes one to start from: a class in a file "
    "envs/<name>_env.py of this project. ctrl+r reads the folders again."
)
AGENTS = ("random", "zero", "sweep")
"""Who can act in an environment without a policy; the one it is tried with unless another is chosen first."""
PICTURE_ROWS = {"below": 12, "beside": 18}
"""How high a picture may be, by where it stands."""
_OF_ONE = frozenset({"copy.command", "environment.bench", "environment.preview"})
"""What is done with one environment."""
MEDIUM = 120
"""Columns from which the list has room for more than names and marks."""


class EnvironmentsScreen(EnvironmentMaking, EnvironmentPages):
    """A tree beside the details of what the cursor is on."""

    NAME = "environments"
    BINDINGS = bindings_for("environments")
    CSS_PATH = "environments.tcss"

    def __init__(self) -> None:
        super().__init__()
        self.box = FilterBox(placeholder="letters, is:trainable, is:broken")
        self.listing = EntryTree(id="entries", plain=self.workbench.plain)
        self._shelf = Shelf((), {}, {})
        self._wanted = ""
        self._docstring: str | None = None
        self._pasts: Mapping[Path, Past] = {}
        self._overlay = Overlay()
        self._drawn: object = None
        self._pictured: tuple[object, ...] = ()

    def compose_body(self) -> ComposeResult:
        """Yield the tree, the details, and on wide screens the recipe beside them."""
        with Horizontal():
            with Pane(id="list-pane"):
                yield self.box
                yield self.listing
            with Pane(id="details-pane"), RoomyScroll(id="details"):
                yield FactSheet(id="facts")
                with Horizontal(id="try"):
                    yield Static("try it")
                    yield Choice(AGENTS, id="agent")
                yield FactSheet(id="recipe-below")
                yield Chart(ChartData(RETURN, "return"), id="curve-below")
                yield Preview(id="picture-below")
                yield Markdown(id="docstring", open_links=False)
            with Pane(id="recipe-pane"), RoomyScroll(id="recipe-scroll"):
                yield FactSheet(id="recipe-beside")
                yield Chart(ChartData(RETURN, "return"), id="curve-beside")
                yield Preview(id="picture-beside")

    def on_mount(self) -> None:
        """Show what has been read, and follow what is read and run."""
        remembered = self.workbench.remembered
        self._wanted = remembered.text("environments", "cursor")
        self._flat = remembered.flag("environments", "flat", default=False)
        agent = remembered.text("environments", "agent")
        if agent in AGENTS:
            self.query_one("#agent", Choice).value = agent
        self.box.start_with(remembered.text("environments", "filter"))
        self.listing.fold_groups(remembered.texts("environments", "folded") or ["group:gymnasium"])
        self.query_one("#list-pane").border_title = "Environments"
        for widget in (*self.query(Chart), *self.query(Preview)):
            widget.can_focus = False
            widget.display = False
        self.workbench.library_changed.subscribe(self, self._library_changed)
        self.workbench.runs_changed.subscribe(self, lambda _: self._runs_changed())
        self.app.theme_changed_signal.subscribe(self, lambda _: self._show_picture())
        self.listing.focus()
        self._fill()

    def on_unmount(self) -> None:
        """Remember where the cursor was."""
        keep = self.workbench.remembered.keep
        keep("environments", "cursor", self._wanted)
        keep("environments", "flat", self._flat)
        keep("environments", "filter", self.box.value)
        keep("environments", "folded", sorted(self.listing.folded))

    def on_resize(self) -> None:
        """Fill the width there is."""
        super().on_resize()
        self.call_after_refresh(self._fill)

    def on_screen_resume(self) -> None:
        """Follow the runs of what is looked at."""
        self._draw_curve()

    def on_screen_suspend(self) -> None:
        """Read no curves while nobody sees them."""
        self.workbench.runs.follow(self, ())

    def select(self, name: str) -> None:
        """Put the cursor on an entry, the filter taken away if it hides it."""
        self._wanted = name
        self._shelf = Shelf((), {}, {})
        if not self.box.clear_filter():
            self._fill()

    # The list.

    def _library_changed(self, _: Library) -> None:
        self._fill()

    def _fill(self) -> None:
        library = self.workbench.library
        pane = self.query_one("#list-pane")
        if library.catalog is None:
            pane.border_title = "Environments"
            self.query_one("#facts", FactSheet).show([Fact("", Content("Reading the folders…"), whole=True)])
            return
        query = self.box.value
        shown = self._shelf
        counts = None if self.app.size.width < MEDIUM else Counter(row.env_name for row in self._rows())
        self._shelf = shelve(library.catalog, query=query, flat=self._flat, runs=counts, told=library.faults)
        if not self._wanted:
            # Where a newcomer starts, `n` launches something that learns.
            ready = (key for key, entry in self._shelf.entries.items() if entry.trainable and entry.variant is None)
            self._wanted = next(ready, "")
        if self._shelf.best and self._shelf.best != shown.best:
            # While letters are typed the cursor is on what they mean most.
            self._wanted = self._shelf.best
        if self._shelf.rows != shown.rows:
            self.listing.show(self._shelf.rows, self._wanted, unfold=bool(query))
        pane.border_title = f"Environments {digits(self._shelf.shown)} of {digits(self._shelf.total)}"
        pane.border_subtitle = self._list_line()
        self.box.set_class(bool(Query.of(query).unknown), "-wrong")
        self._show()

    def _list_line(self) -> str:
        """Return what the lower border of the list says: what can be asked for, else the legend."""
        is_wide = self.app.size.width >= MEDIUM
        if self.box.is_open:
            counts = [f"{short} {digits(self._shelf.kinds.get(kind, 0))}" for kind, short in SHOWN.items()]
            return f"{MARK} {(' · ' if is_wide else ' ').join(counts)}"
        return details.LEGEND if is_wide and not self.box.value else "" if self.box.value else "/ filter"

    def _runs_changed(self) -> None:
        if self.app.size.width >= MEDIUM:
            self._fill()
        else:
            self._show_recipe()

    @on(FilterBox.Filtered)
    def _filtered(self) -> None:
        self._fill()

    @on(FilterBox.Closed)
    def _filter_closed(self) -> None:
        self.listing.focus()

    @on(Tree.NodeHighlighted, "#entries")
    def _highlighted(self, event: Tree.NodeHighlighted[Row]) -> None:
        if event.node.data is not None:
            self._wanted = event.node.data.key
            self._show()

    @on(Tree.NodeSelected, "#entries")
    def _selected(self) -> None:
        self.action_open_selected()

    # The details.

    @property
    def entry(self) -> Entry | None:
        """The usable entry under the cursor."""
        row = self.listing.current
        return None if row is None else self._shelf.entries.get(row.key)

    def _show(self) -> None:
        """Show what the cursor is on."""
        row = self.listing.current
        entry = self.entry
        pane = self.query_one("#details-pane")
        facts = self.query_one("#facts", FactSheet)
        problems = None if row is None else self._shelf.problems.get(row.key)
        if entry is not None:
            library = self.workbench.library
            description = library.description(entry.name)
            name = entry.name if entry.variant is None else f"{entry.name} · {_keys(entry)}"
            pane.border_title = self.page_title(name, of_recipe=False)
            pane.border_subtitle = self._file_line()
            family = details.family_of(entry, library.entries)
            facts.show(details.facts(entry, description, describing=library.describing, family=family))
            library.want(entry)
            self._show_docstring("" if description is None else description.docstring)
        elif row is not None and problems:
            pane.border_title = row.label
            pane.border_subtitle = self._file_line()
            facts.show(details.faults(row.label, problems, self.workbench.project.root))
            self._show_docstring("")
        else:
            pane.border_title = "" if row is None else row.label
            pane.border_subtitle = ""
            facts.show([Fact("", Content(self._about_group(row)), whole=True)])
            self._show_docstring("")
        title = self.page_title("" if entry is None else entry.name, of_recipe=True)
        self.query_one("#recipe-pane").border_title = title
        self.query_one("#try").display = entry is not None
        self._show_recipe()
        self._show_picture()
        self.refresh_bindings()

    def _about_group(self, row: Row | None) -> str:
        if row is not None:
            return f"{row.note} here. enter folds and unfolds."
        fault = Query.of(self.box.value).fault
        if fault:
            return fault
        if self.box.value:
            return f"No environment matches {self.box.value}; {digits(self._shelf.total)} are hidden. esc clears."
        return EMPTY

    def _show_docstring(self, text: str) -> None:
        if text != self._docstring:
            self._docstring = text
            self.query_one("#docstring", Markdown).update(text)

    # The recipe, the runs, the picture.

    def _rows(self) -> Sequence[RunRow]:
        return self.workbench.runs.snapshot.rows

    def _runs_here(self, entry: Entry) -> list[RunRow]:
        return [row for row in self._rows() if row.env_name == entry.name]

    @property
    def _place(self) -> str:
        """Where the recipe and what belongs to it stand: `below` what is said of the environment, or `beside` it."""
        return "beside" if self.query_one("#recipe-pane").display else "below"

    def _show_recipe(self) -> None:
        entry = self.entry
        told: list[Fact] = []
        if entry is not None:
            words = runs.in_words(self._runs_here(entry), plain=self.workbench.plain)
            told = details.recipe_facts(entry, words, self.algorithm)
        self.query_one("#recipe-below", FactSheet).show(told)
        self.query_one("#recipe-beside", FactSheet).show(told)
        self._draw_curve()

    def _draw_curve(self) -> None:
        """Draw the returns of the runs that were made here with the algorithm that is shown."""
        entry = self.entry
        rows: list[RunRow] = []
        if entry is not None:
            rows = runs.drawn([row for row in self._runs_here(entry) if row.algorithm == self.algorithm])
        self.workbench.runs.follow(self, [row.path for row in rows] if self.is_current else ())
        for chart in self.query(Chart):
            # Where there are tabs, curves belong to that of the recipe.
            is_here = chart.id == f"curve-{self._place}" and self.shows_recipe is self.is_tabbed
            chart.display = bool(rows) and is_here
        if entry is None or not rows:
            return
        identities = self._overlay.assign(row.name for row in rows)
        key = ([(row.path, row.state, row.steps, self._pasts.get(row.path)) for row in rows], self.algorithm,
               entry.name, self._place)  # fmt: skip
        if key != self._drawn:
            self._drawn = key
            data = overlay_chart(rows, self._pasts, identities, None, runs.spec_of(entry, self.algorithm))
            self.query_one(f"#curve-{self._place}", Chart).data = data

    def on_run_watch_told(self, message: RunWatch.Told) -> None:
        """Draw the curves that were read."""
        self._pasts = message.histories
        self._draw_curve()

    def _show_picture(self) -> None:
        """Show the picture of the environment, where there is one and this terminal can."""
        entry = self.entry
        if entry is None or why_no_colours(self.app, plain=self.workbench.plain):
            self._hide_pictures()
            return
        width = self.query_one("#recipe-scroll" if self._place == "beside" else "#details").size.width - 2
        self._find_picture(entry, self._place, width, dark=self.app.current_theme.dark)

    @on(RoomyScroll.Resized)
    def _room_changed(self) -> None:
        self._show_picture()

    def _hide_pictures(self) -> None:
        self._pictured = ()
        for preview in self.query(Preview):
            preview.display = False

    @work(group="reading-picture", exclusive=True, exit_on_error=False, description="reading a picture")
    async def _find_picture(self, entry: Entry, place: str, width: int, *, dark: bool) -> None:
        path = await asyncio.to_thread(picture_path, entry, dark=dark)
        told = (path, place, width)
        if told == self._pictured:
            return
        preview, rows = self.query_one(f"#picture-{place}", Preview), PICTURE_ROWS[place]
        size = preview.way.pixels(width, rows)
        frame = await asyncio.to_thread(read_picture, path, *size) if width > 8 else None
        self._hide_pictures()
        if frame is None:
            if not path.is_file():
                self.workbench.pictures.want(entry, dark=dark)
            return
        cells = preview.way.cells((frame.width, frame.height), width, rows)
        preview.styles.height = cells[1]
        preview.display = True
        preview.show(frame, cells)
        self._pictured = told

    # Commands.

    def can(self, command_id: str) -> bool | None:
        """Offer what the entry under the cursor allows."""
        entry = self.entry
        if command_id == "run.new":
            return True if entry is not None and can_launch(entry) else None
        if command_id.startswith("viewer.") or command_id in _OF_ONE:
            return True if entry is not None else None
        if command_id in ("view.previous_page", "view.next_page"):
            return self.pages_can_turn()
        if command_id == "open.outside":
            return True if self._file() is not None else None
        return super().can(command_id)

    def undo_layer(self) -> bool:
        """Take back the details of a narrow screen, then the filter."""
        if self.has_class("-reading"):
            self.remove_class("-reading")
            self.listing.focus()
            return True
        return self.box.clear_filter()

    def action_open_selected(self) -> None:
        """Go to the details; fold or unfold a group."""
        row = self.listing.current
        if row is not None and row.state == "group":
            self.listing.toggle()
        else:
            self.add_class("-reading")
            self.query_one("#recipe-scroll" if self.shows_recipe else "#details", VerticalScroll).focus()

    def action_view_details(self) -> None:
        """Show or hide the details."""
        self.toggle_class("-no-details")

    def action_find_here(self) -> None:
        """Filter the list."""
        self.box.open()

    def action_list_tree(self) -> None:
        """Change between the tree and a flat list."""
        self._flat = not self._flat
        self._fill()

    def action_run_new(self) -> None:
        """Open the form of a new run of this environment."""
        entry = self.entry
        if entry is not None:
            self.workbench.new_run(entry)

    def show_page(self) -> None:
        """Show what belongs to the page that was turned to."""
        self._show_recipe()
        self._show_picture()

    @on(Choice.Changed, "#agent")
    def _agent_chosen(self, event: Choice.Changed) -> None:
        self.workbench.remembered.keep("environments", "agent", event.value)

    def action_viewer_watch(self) -> None:
        """Watch the environment under the agent that is chosen."""
        self._play(preview=False)

    def action_viewer_preview(self) -> None:
        """Watch it in the terminal."""
        self._play(preview=True)

    def _play(self, *, preview: bool) -> None:
        entry = self.entry
        if entry is None:
            return
        agent = self.query_one("#agent", Choice).value
        words = ["play", entry.name, *([] if agent == "random" else ["--agent", agent])]
        detail = {"target": entry.name, "environment": entry.name}
        self.workbench.start_play(words, entry.name, detail, preview=preview)

    def action_environment_check(self) -> None:
        """Have every fault of the row under the cursor listed, or of everything on a group."""
        entry, row, path = self.entry, self.listing.current, self._file()
        if entry is not None:
            self.workbench.show_output(["check", entry.name], f"check of {entry.name}")
        elif row is not None and path is not None and row.state == "broken":
            self.workbench.show_output(["check", str(path)], f"check of {path.name}")
        else:
            self.workbench.show_output(["check"], "check of everything")

    def action_environment_bench(self) -> None:
        """Measure how fast the environment steps."""
        entry = self.entry
        if entry is not None:
            self.workbench.show_output(["bench", "environments", entry.name], f"benchmark of {entry.name}")

    def action_viewer_record(self) -> None:
        """Film the environment."""
        entry = self.entry
        if entry is not None:
            self.workbench.record(entry.name, entry.name, entry.name)

    def action_copy_command(self) -> None:
        """Copy the command that trains this environment."""
        entry = self.entry
        if entry is not None:
            self.workbench.copy_command(["train", entry.name])

    def action_open_outside(self) -> None:
        """Open the file behind the row, at what is wrong with it or where its class begins."""
        path = self._file()
        if path is not None:
            self.workbench.open_outside(path, self._line())

    def _problems(self) -> Sequence[Any]:
        row = self.listing.current
        return () if row is None else self._shelf.problems.get(row.key, ())

    def _file(self) -> Path | None:
        found = [problem.path for problem in self._problems() if problem.path is not None]
        entry = self.entry
        return found[0] if found else (None if entry is None else entry.variant_file or entry.module)

    def _line(self) -> int:
        lines = [problem.line or 0 for problem in self._problems() if problem.path is not None]
        if lines:
            return int(lines[0])
        entry = self.entry
        return 0 if entry is None or entry.variant_file is not None else entry.line

    def _file_line(self) -> str:
        path = self._file()
        if path is None:
            return ""
        root = self.workbench.project.root
        return f"{path.relative_to(root) if path.is_relative_to(root) else path.name} · O Edit"


def _keys(entry: Entry) -> str:
    count = len(entry.env_cfg)
    return f"variant, {count} key{'' if count == 1 else 's'}"
