"""The place of recordings: films, montages and reports, those being made, and the command of each."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from workbench import formatting
from workbench.errors import WorkbenchError
from workbench.remote.frames import Frame
from workbench.runs.film_trash import cancel_job, delete_recordings, restore_recordings
from workbench.runs.recordings import Recording, list_recordings
from workbench.ui.commands import bindings_for
from workbench.ui.film_rows import (
    COLUMNS,
    MADE,
    SORTS,
    about,
    command_of,
    film_row,
    has_command,
    matches,
    ordered,
    starting,
    starting_row,
)
from workbench.ui.jobs import Job
from workbench.ui.screen import Pane, WorkbenchScreen
from workbench.ui.screens.ask import AskCard
from workbench.ui.stills import SUFFIXES, take_still
from workbench.ui.widgets.filter_box import FilterBox
from workbench.ui.widgets.preview import Preview, why_no_colours
from workbench.ui.widgets.rows import RowTable

EMPTY = "Nothing recorded. V records an episode, m makes a montage: both on a run or a checkpoint."
INTERVAL_S = 1.0
STILLS_KEPT = 64


class RecordingsScreen(WorkbenchScreen):
    """A list of films beside what is known of the one under the cursor."""

    NAME = "recordings"
    BINDINGS = bindings_for("recordings")
    CSS_PATH = "recordings.tcss"

    def __init__(self) -> None:
        super().__init__()
        self._films: list[Recording] = []
        self._shown: list[Recording] = []
        self._is_read = False
        self._sort = MADE
        self._reverse = False
        self._stills: dict[object, Frame] = {}
        self._blank: set[object] = set()
        self._shows_still: object = None

    def compose_body(self) -> ComposeResult:
        """Yield a line about the list, the list, and the details."""
        yield Static(id="line")
        yield FilterBox()
        with Container(id="body-row"):
            yield RowTable(COLUMNS, empty="Reading the recordings…", id="films")
            with Pane(id="about") as pane:
                pane.border_title = "How it was made"
                yield Preview(id="still")
                yield Static(id="facts")

    @property
    def table(self) -> RowTable:
        """The list."""
        return self.query_one("#films", RowTable)

    @property
    def box(self) -> FilterBox:
        """The filter."""
        return self.query_one(FilterBox)

    def on_mount(self) -> None:
        """Read the folder now, and again while this place is shown."""
        self.table.focus()
        self.workbench.jobs_changed.subscribe(self, lambda _: self._read())
        self.set_interval(INTERVAL_S, self._read)
        self._read()

    def on_screen_resume(self) -> None:
        """Show what was made meanwhile."""
        self._read()

    def _read(self) -> None:
        if self.is_current:
            self._list()

    @work(group="recordings", exclusive=True, exit_on_error=False, description="reading the recordings")
    async def _list(self) -> None:
        self._films = await asyncio.to_thread(list_recordings, self.workbench.project.recordings)
        self._is_read = True
        self._show()

    def _show(self) -> None:
        plain, now = self.workbench.plain, self.workbench.clock()
        matching = [film for film in self._films if matches(film, self.box.value)]
        self._shown = ordered(matching, self._sort, reverse=self._reverse)
        self.table.set_empty(self._why_empty())
        jobs = starting(self.workbench.launcher.jobs, self._films)
        rows = [starting_row(job, plain=plain) for job in jobs]
        self.table.set_rows([*rows, *(film_row(film, now, plain=plain) for film in self._shown)])
        self.table.set_sorted(self._sort, "▴" if self._reverse else "▾")
        self.set_class(not self._films, "-no-films")
        count = formatting.digits(len(self._shown))
        of = "" if len(self._shown) == len(self._films) else f" of {formatting.digits(len(self._films))}"
        self.query_one("#line", Static).update(
            Content.assemble(("Recordings", "bold"), f"  {count}{of}" if self._films else "")
        )
        self._describe()

    def _why_empty(self) -> str:
        if not self._is_read:
            return "Reading the recordings…"
        if self._films:
            return f"No recording matches {self.box.value}; {len(self._films)} are hidden. esc clears."
        return EMPTY

    def _describe(self) -> None:
        film = self.current
        self.query_one("#facts", Static).update("" if film is None else about(film, self.workbench.project.root))
        self._show_still()
        self.refresh_bindings()

    # Its picture.

    def _show_still(self) -> None:
        """Show a picture of the film under the cursor, where this terminal can and there is room."""
        film, still = self.current, self.query_one("#still", Preview)
        wide = self.has_class("-wide") or self.has_class("-huge")
        has_one = wide and film is not None and film.state == "done" and film.path.suffix.lower() in SUFFIXES
        off = why_no_colours(self.app, plain=self.workbench.plain)
        version = None if film is None else (film.path, film.size_bytes, film.created)
        still.display = bool(has_one and not off and version not in self._blank)
        if film is None or not still.display:
            self._shows_still = None
            return
        key = (version, still.pixels)
        if key == self._shows_still:
            return
        self._shows_still = key
        if key in self._stills:
            still.show(self._stills[key])
        elif min(still.pixels) > 1:
            self._take(film, key, still.pixels)

    @work(group="still", exclusive=True, exit_on_error=False, description="drawing a picture of a film")
    async def _take(self, film: Recording, key: object, pixels: tuple[int, int]) -> None:
        length = (film.sidecar.duration_s or 0.0) if film.sidecar is not None else 0.0
        frame = await take_still(
            film.path, pixels, at_s=length / 2, backdrop=self.app.theme_variables.get("surface", "#000000")
        )
        still = self.query_one("#still", Preview)
        if frame is None:
            # A file that no picture can be taken out of: what is known of it has the room.
            self._blank.add((film.path, film.size_bytes, film.created))
            still.display = False
            return
        if len(self._stills) >= STILLS_KEPT:
            self._stills.clear()
        self._stills[key] = frame
        if key == self._shows_still:
            still.show(frame)

    @on(Preview.Resized)
    def _resized(self) -> None:
        self._show_still()

    @property
    def current(self) -> Recording | None:
        """The film under the cursor."""
        key = self.table.cursor
        return next((film for film in self._shown if film.path.name == key), None)

    @property
    def folder(self) -> Path:
        """Where the recordings are."""
        return self.workbench.project.recordings

    @property
    def _job(self) -> Job | None:
        """The job of this app that makes the film under the cursor, as far as that can be told."""
        running = [job for job in self.workbench.launcher.jobs if job.kind == "film" and job.state == "running"]
        key = self.table.cursor or ""
        if key.startswith("job "):
            return next((job for job in running if f"job {job.number}" == key), None)
        film = self.current
        if film is None or film.state != "running" or film.sidecar is None:
            return None
        asked = list(film.sidecar.command)
        asked = asked[1:] if asked[:1] == ["workbench"] else asked
        return next((job for job in running if list(job.words) == asked), running[0] if len(running) == 1 else None)

    @on(RowTable.Moved, "#films")
    def _moved(self) -> None:
        self._describe()

    @on(RowTable.Chosen, "#films")
    def _chosen(self) -> None:
        self.action_open_selected()

    @on(RowTable.HeadClicked, "#films")
    def _head_clicked(self, message: RowTable.HeadClicked) -> None:
        if message.column == self._sort:
            self.action_list_reverse()
        elif message.column in SORTS:
            self._sort_by(message.column)

    @on(FilterBox.Filtered)
    def _filtered(self) -> None:
        self._show()

    @on(FilterBox.Closed)
    def _filter_closed(self) -> None:
        self.table.focus()

    # Commands.

    def can(self, command_id: str) -> bool | None:
        """Offer what the film under the cursor allows."""
        film = self.current
        if command_id == "run.stop":
            return True if self._job is not None or (film is not None and film.state == "running") else None
        if command_id == "run.again":
            return True if film is not None and film.state in ("failed", "stopped") and has_command(film) else None
        if command_id == "run.delete":
            return True if film is not None and film.state != "running" else None
        if command_id == "run.report":
            return True if self.workbench.runs.snapshot.rows else None
        if command_id in ("open.selected", "open.outside"):
            return True if film is not None else None
        if command_id in ("copy.command", "viewer.record"):
            return True if film is not None and has_command(film) else None
        if command_id == "run.montage":
            return True if self._runs_of(film) else None
        if command_id.startswith("list."):
            return True if self._shown else None
        return super().can(command_id)

    def undo_layer(self) -> bool:
        """Take the filter back."""
        return self.box.clear_filter()

    def action_open_selected(self) -> None:
        """Play the film with the desktop's player; say why where it failed, and where it is where nothing plays it."""
        film = self.current
        if film is None:
            return
        if film.state == "failed":
            command = "" if film.sidecar is None else command_of(film.sidecar)
            self.workbench.show_error(
                f"{film.path.name} was not made", film.message or "It said nothing.", details=command
            )
        elif film.state == "running":
            self.notify(f"{film.path.name} is being made: {formatting.percent(film.progress)}.")
        else:
            self._play(film.path)

    def _play(self, path: Path) -> None:
        self.workbench.open_outside(path)
        self.notify(str(path))

    def action_open_outside(self) -> None:
        """Open the file with its own program."""
        film = self.current
        if film is not None:
            self.workbench.open_outside(film.path)

    def action_copy_command(self) -> None:
        """Copy the command that makes the film again."""
        film = self.current
        if film is not None and film.sidecar is not None and film.sidecar.command:
            self.app.copy_to_clipboard(command_of(film.sidecar))
            self.notify("Command copied.")

    def action_run_montage(self) -> None:
        """Open the form of a montage of the runs the film is of."""
        runs = self._runs_of(self.current)
        if runs:
            self.workbench.montage(runs, Path(runs[0]).name if len(runs) == 1 else formatting.plural(len(runs), "run"))

    def action_run_report(self) -> None:
        """Open the form of a report: on the runs of what is under the cursor, else on the newest run."""
        rows = self.workbench.runs.snapshot.rows
        named = {Path(text).name for text in self._runs_of(self.current)}
        chosen = [row.path for row in rows if row.name in named] or [row.path for row in rows[:1]]
        self.workbench.report(chosen)

    def action_viewer_record(self) -> None:
        """Open the form of a recording of the same checkpoint."""
        film = self.current
        if film is not None and film.sidecar is not None and film.sidecar.checkpoint:
            self.workbench.record(film.sidecar.checkpoint, Path(film.sidecar.checkpoint).name)

    def action_run_again(self) -> None:
        """Make what failed or was cancelled once more."""
        film = self.current
        if film is not None and has_command(film):
            words = list(film.sidecar.command) if film.sidecar is not None else []
            words = words[1:] if words[:1] == ["workbench"] else words
            self.workbench.start_film(words, f"{film.kind} {film.path.stem}")
            self._read()

    @work(group="delete", exit_on_error=False, description="deleting a recording")
    async def action_run_delete(self) -> None:
        """Move the film and its sidecar to the trash, after asking."""
        film = self.current
        if film is None or film.state == "running":
            return
        size = f" ({formatting.size(film.size_bytes)})" if film.size_bytes else ""
        sentence = f"It goes to the trash of the recordings{size}; Run: Undo delete brings it back."
        if await self.app.push_screen_wait(AskCard(f"Delete {film.path.name}?", sentence, key="D", label="Delete")):
            await asyncio.to_thread(delete_recordings, [film])
            self.notify(f"{film.path.name} is in the trash. Run: Undo delete (:) brings it back.")
            self._read()

    @work(group="delete", exit_on_error=False, description="bringing a recording back")
    async def action_run_undelete(self) -> None:
        """Bring back what was deleted last."""
        back = await asyncio.to_thread(restore_recordings, self.folder)
        self.notify(f"{', '.join(path.name for path in back)} {'is' if len(back) == 1 else 'are'} back.")
        self._read()

    def _runs_of(self, film: Recording | None) -> Sequence[str]:
        if film is None or film.sidecar is None:
            return ()
        if film.sidecar.runs:
            return film.sidecar.runs
        checkpoint = film.sidecar.checkpoint
        return (os.fspath(Path(checkpoint).parent),) if checkpoint else ()

    def action_run_stop(self) -> None:
        """Cancel the job that makes the film, whichever app or shell started it."""
        job, film = self._job, self.current
        if job is not None:
            self.workbench.launcher.stop(job)
            self.notify(f"The {job.title} is cancelled.")
        elif film is not None and film.state == "running" and film.sidecar is not None and film.sidecar.job is not None:
            try:
                cancel_job(film.sidecar.job)
            except WorkbenchError as error:
                self.notify(f"{film.path.name}: {error}", severity="warning")
                return
            self.notify(f"{film.path.name} is cancelled.")
        self._read()

    def action_view_details(self) -> None:
        """Show or hide how it was made."""
        self.toggle_class("-no-details")

    def action_find_here(self) -> None:
        """Filter the list."""
        self.box.open()

    def action_list_sort_next(self) -> None:
        """Sort by the next column."""
        names = list(SORTS)
        self._sort_by(names[(names.index(self._sort) + 1) % len(names)])

    def action_list_sort_previous(self) -> None:
        """Sort by the previous column."""
        names = list(SORTS)
        self._sort_by(names[(names.index(self._sort) - 1) % len(names)])

    def action_list_reverse(self) -> None:
        """Turn the order round."""
        self._reverse = not self._reverse
        self._show()

    def _sort_by(self, column: str) -> None:
        self._sort, self._reverse = column, False
        self._show()
