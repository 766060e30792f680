"""The palette: every command of the screen under it, and every environment and run by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from workbench.ui.commands import COMMANDS, Command

if TYPE_CHECKING:
    from workbench.ui.app import WorkbenchApp


class WorkbenchCommands(Provider):
    """Offers what the registry holds and the screen can do now, then what can be gone to by name."""

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
        for noun, name, action, explanation in self._places():
            score = matcher.match(name)
            if score > 0:
                label = Content.assemble((f"{noun}: ", "$muted"), matcher.highlight(name))
                yield Hit(score, label, action, text=name, help=explanation)

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
        return Content.assemble(command.palette or "", (f"   {command.key_label}", "$muted"))

    def _run(self, command: Command) -> Callable[[], object]:
        target = self.app if "app" in command.scopes else self.screen
        return partial(self.app.run_action, command.action, target)

    def _places(self) -> Iterator[tuple[str, str, Callable[[], object], str]]:
        app = self._workbench
        for entry in app.library.entries:
            yield "Environment", entry.name, partial(app.show_environment, entry.name), entry.description
        for row in app.runs.snapshot.rows:
            yield (
                "Run",
                f"{row.env_name} {row.short_id}",
                partial(app.open_run, row.path),
                f"{row.algorithm.upper()}, {row.state}",
            )
