"""The place of environments: what exists, what is broken, and everything known of the one under the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Markdown, Tree

from workbench.catalog import Entry
from workbench.formatting import digits
from workbench.ui.commands import bindings_for
from workbench.ui.draft import can_launch
from workbench.ui.library import Library
from workbench.ui.screen import Pane, WorkbenchScreen
from workbench.ui.screens import environment_details as details
from workbench.ui.screens.environment_rows import Shelf, shelve
from workbench.ui.theme import STATE_LOOKS
from workbench.ui.widgets.entry_tree import EntryTree, Row
from workbench.ui.widgets.fact_sheet import Fact, FactSheet
from workbench.ui.widgets.filter_box import FilterBox

EMPTY = (
    "No environments here. An environment is a class in a file envs/<name>_env.py of this project; "
    "ctrl+r reads the folders again."
)
_RUNS_SHOWN = 4


class EnvironmentsScreen(WorkbenchScreen):
    """A tree beside the details of what the cursor is on."""

    NAME = "environments"
    BINDINGS = bindings_for("environments")
    CSS_PATH = "environments.tcss"

    def __init__(self) -> None:
        super().__init__()
        self.box = FilterBox()
        self.listing = EntryTree(id="entries", plain=self.workbench.plain)
        self._shelf = Shelf((), {}, {})
        self._wanted = ""
        self._docstring: str | None = None

    def compose_body(self) -> ComposeResult:
        """Yield the tree, the details, and on wide screens the recipe beside them."""
        with Horizontal():
            with Pane(id="list-pane"):
                yield self.box
                yield self.listing
            with Pane(id="details-pane"), VerticalScroll(id="details"):
                yield FactSheet(id="facts")
                yield FactSheet(id="recipe-below")
                yield Markdown(id="docstring", open_links=False)
            with Pane(id="recipe-pane"), VerticalScroll(id="recipe-scroll"):
                yield FactSheet(id="recipe-beside")

    def on_mount(self) -> None:
        """Show what has been read, and follow what is read and run."""
        remembered = self.workbench.remembered
        self._wanted = remembered.text("environments", "cursor")
        self._flat = remembered.flag("environments", "flat", default=False)
        self.box.start_with(remembered.text("environments", "filter"))
        self.listing.fold_groups(remembered.texts("environments", "folded") or ["group:gymnasium"])
        self.query_one("#list-pane").border_title = "Environments"
        self.query_one("#recipe-pane").border_title = "Recipe and runs"
        self.workbench.library_changed.subscribe(self, self._library_changed)
        self.workbench.runs_changed.subscribe(self, lambda _: self._show_recipe())
        self.listing.focus()
        self._fill()

    def on_unmount(self) -> None:
        """Remember where the cursor was."""
        self.workbench.remembered.keep("environments", "cursor", self._wanted)
        self.workbench.remembered.keep("environments", "flat", self._flat)
        self.workbench.remembered.keep("environments", "filter", self.box.value)
        self.workbench.remembered.keep("environments", "folded", sorted(self.listing.folded))

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
        shown, self._shelf = self._shelf.rows, shelve(library.catalog, query=query, flat=self._flat)
        if not self._wanted:
            # Where a newcomer starts, `n` launches something that learns.
            ready = (key for key, entry in self._shelf.entries.items() if entry.trainable and entry.variant is None)
            self._wanted = next(ready, "")
        if self._shelf.rows != shown:
            self.listing.show(self._shelf.rows, self._wanted, unfold=bool(query))
        pane.border_title = f"Environments {digits(self._shelf.shown)} of {digits(self._shelf.total)}"
        pane.border_subtitle = "" if query else "/ filter"
        self._show()

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
            pane.border_title = entry.name
            facts.show(details.facts(entry, description, describing=library.describing))
            library.want(entry)
            self._show_docstring("" if description is None else description.docstring)
        elif row is not None and problems:
            pane.border_title = row.label
            facts.show(details.faults(row.label, problems, self.workbench.project.root))
            self._show_docstring("")
        else:
            pane.border_title = "" if row is None else row.label
            facts.show([Fact("", Content(self._about_group(row)), whole=True)])
            self._show_docstring("")
        self._show_recipe()
        self.refresh_bindings()

    def _about_group(self, row: Row | None) -> str:
        if row is not None:
            return f"{row.note} here. enter folds and unfolds."
        if self.box.value:
            return f"No environment matches {self.box.value}; {digits(self._shelf.total)} are hidden. esc clears."
        return EMPTY

    def _show_docstring(self, text: str) -> None:
        if text != self._docstring:
            self._docstring = text
            self.query_one("#docstring", Markdown).update(text)

    def _show_recipe(self) -> None:
        entry = self.entry
        facts = [] if entry is None else details.recipe_facts(entry, self._runs_of(entry))
        self.query_one("#recipe-below", FactSheet).show(facts)
        self.query_one("#recipe-beside", FactSheet).show(facts)

    def _runs_of(self, entry: Entry) -> Sequence[str]:
        rows = [row for row in self.workbench.runs.snapshot.rows if row.env_name == entry.name]
        looks = [STATE_LOOKS[str(row.state)] for row in rows[:_RUNS_SHOWN]]
        shown = [
            f"{look.plain if self.workbench.plain else look.glyph} {row.short_id}"
            for look, row in zip(looks, rows, strict=False)
        ]
        return [*shown, f"+{len(rows) - _RUNS_SHOWN}"] if len(rows) > _RUNS_SHOWN else shown

    # Commands.

    def can(self, command_id: str) -> bool | None:
        """Offer what the entry under the cursor allows."""
        entry = self.entry
        if command_id == "run.new":
            return True if entry is not None and can_launch(entry) else None
        if command_id in ("viewer.watch", "viewer.record", "copy.command"):
            return True if entry is not None else None
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
            self.query_one("#details", VerticalScroll).focus()

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

    def action_viewer_watch(self) -> None:
        """Watch the environment under a random agent."""
        self._play(preview=False)

    def action_viewer_preview(self) -> None:
        """Watch the environment under a random agent in the terminal."""
        self._play(preview=True)

    def _play(self, *, preview: bool) -> None:
        entry = self.entry
        if entry is not None:
            detail = {"target": entry.name, "environment": entry.name}
            self.workbench.start_play(["play", entry.name], entry.name, detail, preview=preview)

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
        """Open the file behind the row."""
        path = self._file()
        if path is not None:
            self.workbench.open_outside(path)

    def _file(self) -> Path | None:
        row = self.listing.current
        if row is None:
            return None
        problems = self._shelf.problems.get(row.key, ())
        entry = self._shelf.entries.get(row.key)
        found = [problem.path for problem in problems if problem.path is not None]
        return found[0] if found else (entry.module if entry is not None else None)
