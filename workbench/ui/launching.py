"""New runs: the form they are asked for with, the queue they are put into, and the first thing said of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import work
from textual.screen import ModalScreen, Screen

from workbench.formatting import plural
from workbench.ui.reading import Reading

if TYPE_CHECKING:
    from workbench.catalog import Entry
    from workbench.project import Project
    from workbench.runs import Launch, RunDirectory
    from workbench.ui.app import Enqueue
    from workbench.ui.draft import Draft
    from workbench.ui.watch import RunsSnapshot


class Launching(Reading):
    """The part of the app that starts runs: from a recipe, like another run, or on from a checkpoint."""

    if TYPE_CHECKING:
        drafts: dict[str, Draft]
        enqueue: Enqueue | None
        project: Project
        newborn: set[Path]

    async def go_to(self, place: str) -> Screen[Any]:
        """Go to a place, whatever was opened on top of it closed, and return its screen."""
        await self.switch_mode(place)
        while len(self.screen_stack) > 1:
            await self.pop_screen()
        return self.screen

    # Forms.

    def new_run_of(self, name: str) -> None:
        """Open the form of a new run of an environment, or go and choose one where it is not known.

        Args:
            name: Its short name.
        """
        entry = self._launchable(name)
        if entry is not None:
            self.new_run(entry)

    def new_run(self, entry: Entry) -> None:
        """Open the form of a new run of an environment, as it was left or as the recipe fills it in."""
        from workbench.ui.draft import Draft

        self._fill_in(entry.name, lambda: Draft.of(entry), entry)

    def new_run_like(self, run: RunDirectory, *, seeds: str = "") -> None:
        """Open the form of a new run like another one, to change what shall be different.

        Args:
            run: The other run.
            seeds: Seeds to fill in, `1 2 3`; that of the run by default.
        """
        from workbench.ui.origins import draft_of_run

        entry = self._launchable(_env_id(run), run.short_name)
        if entry is not None:
            self._fill_in(f"{entry.name}:{run.name}", lambda: draft_of_run(entry, run, seeds=seeds), entry)

    def fork_form(self, checkpoint: Path, *, changes: Mapping[str, str] | None = None) -> None:
        """Open the form of a run that goes on from a checkpoint.

        Args:
            checkpoint: Its folder.
            changes: What to fill in beside, as typed text by dotted key: `{"ppo.learning_rate": "3e-4"}`.
        """
        from workbench.runs.forking import fork_from
        from workbench.ui.origins import draft_of_fork

        fork = fork_from(checkpoint, self.runs_root)
        entry = self._launchable(fork.env_id, fork.env_name)
        if entry is None:
            return

        def make() -> Draft:
            draft = draft_of_fork(entry, fork)
            base = draft.base()
            for key, text in (changes or {}).items():
                draft = draft.edited(key, text, base)
            return draft

        self._fill_in(f"{entry.name}:{fork.reference}:{sorted((changes or {}).items())}", make, entry)

    @work(group="launch", exit_on_error=False, description="starting a run again")
    async def run_again(self, run: RunDirectory) -> None:
        """Start a new run that does the same as another one, its seed included."""
        from workbench.ui.origins import launch_again

        await self._launch([await asyncio.to_thread(launch_again, run)])

    def _launchable(self, *names: str) -> Entry | None:
        """Return the environment of one of these names or IDs; else say that one is to be chosen."""
        from workbench.ui.draft import can_launch

        known = (self.library.entry(name) for name in names if name)
        entry = next((item for item in known if item is not None), None)
        if entry is not None and can_launch(entry):
            return entry
        self.switch_mode("environments")
        self.notify("Choose an environment, then n.")
        return None

    @work(group="form", exclusive=True, exit_on_error=False, description="opening the form")
    async def _fill_in(self, key: str, make: Callable[[], Draft], entry: Entry) -> None:
        """Open a form and launch what it answers; one that is closed is kept, by `key`, until the app ends."""
        from workbench.ui.screens.new_run import NewRunForm

        kept, typed = self.drafts.pop(key, None), self.hold_keys()
        try:
            draft = await asyncio.to_thread(make) if kept is None else replace(kept, entry=entry)
        finally:
            self.keys_held = None
        form = NewRunForm(draft, typed=typed)
        launches = None
        try:
            launches = await self.push_screen_wait(form)
        finally:
            if launches is None:
                self.drafts[key] = form.draft
        if launches is not None:
            self.launch(launches)

    # The queue.

    @work(group="launch", exit_on_error=False, description="starting runs")
    async def launch(self, launches: Sequence[Launch]) -> None:
        """Put runs in the project's queue, then show them."""
        await self._launch(launches)

    async def _launch(self, launches: Sequence[Launch]) -> None:
        from workbench.ui.screens.runs import RunsScreen

        _, free = await asyncio.to_thread(self.places)
        paths = [item.path for item in await asyncio.to_thread(self._enqueue, launches)]
        self.newborn.update(paths)
        self.runs.poke()
        self.notify(f"{started(len(paths), free)}. enter opens {'it' if len(paths) == 1 else 'one'}, S stops.")
        screen = await self.go_to("runs")
        if isinstance(screen, RunsScreen):
            screen.show(paths)

    def _enqueue(self, launches: Sequence[Launch]) -> Sequence[RunDirectory]:
        if self.enqueue is not None:
            return self.enqueue(self.runs_root, launches)
        from workbench.runs import enqueue

        return enqueue(self.runs_root, launches)

    def places(self) -> tuple[int, int]:
        """Return how many runs train at once here, and how many that are queued now would start now. Reads a file."""
        from workbench.runs.places import WAITING
        from workbench.runs.queueing import places_of

        places = places_of(self.runs_root)
        taken = sum(
            row.state == "queued" or (row.state.is_live and (row.state != "paused" or row.reason == WAITING))
            for row in self.runs.snapshot.rows
        )
        return places, max(0, places - taken)

    # The first moments of a run.

    def watch_newborn(self, snapshot: RunsSnapshot) -> None:
        """Show what ended a run that was launched here and died before it trained at all."""
        from workbench.ui.screens.ended import EndedCard

        for row in snapshot.rows:
            if row.path not in self.newborn:
                continue
            trained = row.steps > row.start_steps
            if row.state.is_bad and not trained:
                if isinstance(self.screen, ModalScreen):
                    continue  # A form is being filled in: the next look finds it still here.
                self.newborn.discard(row.path)
                self.push_screen(EndedCard(row), partial(self._card_answered, row.path))
            elif trained or row.state.is_ended:
                self.newborn.discard(row.path)

    async def _card_answered(self, path: Path, answer: str | None) -> None:
        from workbench.ui.screens.run import RunScreen

        if answer is not None:
            await self.go_to("runs")
            await self.push_screen(RunScreen(path, {"log": "Log", "config": "Config"}.get(answer, "Return")))


def started(count: int, free: int) -> str:
    """Return what became of runs that were put into the queue: `3 runs started`, `2 started, 1 queued`.

    Args:
        count: How many.
        free: How many of them there was a place for.
    """
    now = min(count, free)
    if now == count:
        return f"{plural(count, 'run')} started"
    return f"{plural(count, 'run')} queued" if not now else f"{now} started, {count - now} queued"


def _env_id(run: RunDirectory) -> str:
    environment = run.record().get("environment")
    return str(environment.get("env_id") or "") if isinstance(environment, dict) else ""
