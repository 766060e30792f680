"""The palette: every command of the screen under it, and every environment, run, checkpoint and file by name."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from workbench import formatting
from workbench.runs.directory import RunDirectory
from workbench.ui.commands import COMMANDS, Command
from workbench.ui.keymap import label_of

if TYPE_CHECKING:
    from workbench.ui.app import WorkbenchApp
    from workbench.ui.watch import RunRow

MOST_RUNS, MOST_CHECKPOINTS, MOST_FILES = 200, 100, 1000
"""How far names are gathered: checkpoints of so many runs, so many each, and so many files of a folder."""
MOST_MATCHED = 400
"""So many names are compared with what is typed, at each key."""


@dataclass(frozen=True)
class Named:
    """Something that has a name, and what choosing it does."""

    noun: str
    text: str
    go: Callable[[], object]
    explanation: str


class WorkbenchCommands(Provider):
    """Offers what the registry holds and the screen can do now, then what can be gone to by name."""

    _names: tuple[Named, ...] = ()

    async def discover(self) -> Hits:
        """Offer the commands of this screen before anything is typed."""
        for command in self._commands():
            yield DiscoveryHit(self._label(command), self._run(command), text=command.palette, help=command.tooltip)

    async def search(self, query: str) -> Hits:
        """Offer what matches."""
        matcher = self.matcher(query)
        for command in self._commands():
            text = command.palette or ""
            # A tooltip is a sentence: any three letters can be found somewhere in one, so there the words must stand.
            score = matcher.match(text) or 0.3 * (query.lower() in command.tooltip.lower())
            if score > 0:
                yield Hit(score, self._label(command), self._run(command), text=text, help=command.tooltip)
        for name in self._named(query):
            score = matcher.match(name.text)
            if score > 0:
                label = Content.assemble((f"{name.noun}: ", "$muted"), matcher.highlight(name.text))
                yield Hit(score, label, name.go, text=name.text, help=name.explanation)

    def _named(self, query: str) -> list[Named]:
        """Return what a query may mean, cut to what the matcher can look at while somebody types."""
        letters = query.lower().replace(" ", "")
        found = (name for name in self._names if _holds(name.text.lower(), letters))
        return list(itertools.islice(found, MOST_MATCHED))

    @property
    def _workbench(self) -> WorkbenchApp:
        return cast("WorkbenchApp", self.app)

    def _commands(self) -> Iterator[Command]:
        seen: set[str] = set()
        for command in COMMANDS:
            if command.palette is None or command.id in seen:
                continue
            target = self.app if "app" in command.scopes else self.screen
            if target.check_action(command.action, ()) and hasattr(target, f"action_{command.action}"):
                seen.add(command.id)
                yield command

    def _label(self, command: Command) -> Content:
        return Content.assemble(
            command.palette or "", (f"   {label_of(command, self._workbench.settings.keys)}", "$muted")
        )

    def _run(self, command: Command) -> Callable[[], object]:
        target = self.app if "app" in command.scopes else self.screen
        return partial(self.app.run_action, command.action, target)

    async def startup(self) -> None:
        """Gather the names once, while the palette is open."""
        app = self._workbench
        self._names = (*_environments(app), *_runs(app))
        self._names += await asyncio.to_thread(_files_and_checkpoints, app, app.runs.snapshot.rows)


def _environments(app: WorkbenchApp) -> Iterator[Named]:
    for entry in app.library.entries:
        yield Named("Environment", entry.name, partial(app.show_environment, entry.name), entry.description)


def _runs(app: WorkbenchApp) -> Iterator[Named]:
    for row in app.runs.snapshot.rows:
        yield Named("Run", row.title, partial(app.open_run, row.path), f"{row.algorithm.upper()}, {row.state}")


def _files_and_checkpoints(app: WorkbenchApp, rows: Sequence[RunRow]) -> tuple[Named, ...]:
    """Read the names of files and of the checkpoints of the newest runs; on a thread."""
    found: list[Named] = []
    for row in itertools.islice(rows, MOST_RUNS):
        for checkpoint in RunDirectory(row.path).checkpoints()[-MOST_CHECKPOINTS:]:
            target = f"{row.reference}:{checkpoint.steps}"
            what = f"{row.title} at {formatting.amount(checkpoint.steps)}"
            watch = partial(app.start_play, ["play", target], what, {"target": target, "run": str(row.path)})
            found.append(Named("Checkpoint", f"{row.title} {checkpoint.steps}", watch, "Watch it."))
    project = app.project
    for folder, pattern in ((project.envs, "**/*"), (project.recipes, "**/*"), (project.recordings, "*")):
        files = (path for path in folder.glob(pattern) if path.is_file() and not path.name.startswith("."))
        for path in itertools.islice(files, MOST_FILES):
            name = str(path.relative_to(project.root))
            if "__pycache__" not in name and not (folder == project.recordings and path.suffix == ".json"):
                found.append(Named("File", name, partial(app.open_outside, path), "Open it with its own program."))
    return tuple(found)


def _holds(text: str, letters: str) -> bool:
    """Return whether the letters stand in a text in this order, whatever stands between them."""
    place = -1
    for letter in letters:
        place = text.find(letter, place + 1)
        if place < 0:
            return False
    return True
