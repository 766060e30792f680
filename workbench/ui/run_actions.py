"""What can be done with a run, wherever one is under the cursor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from textual import work

from workbench import formatting
from workbench.runs.directory import RunDirectory
from workbench.runs.states import RunState
from workbench.ui.charting import ChartedScreen
from workbench.ui.watch import RunRow

STOPPABLE = (RunState.QUEUED, RunState.STARTING, RunState.RUNNING, RunState.PAUSED)


class RunScreenBase(ChartedScreen):
    """A screen on which runs are looked at and acted on."""

    @property
    def current(self) -> RunRow | None:
        """The run under the cursor."""
        raise NotImplementedError

    @property
    def chosen(self) -> Sequence[RunRow]:
        """The runs an action means: the marked ones, else the one under the cursor."""
        row = self.current
        return () if row is None else (row,)

    def chosen_checkpoint(self) -> str:
        """Return the checkpoint of the current run that is meant, as command lines write it; empty for the best."""
        steps = self.crosshair_checkpoint()
        return "" if steps is None else str(steps)

    def can(self, command_id: str) -> bool | None:
        """Offer what the state of the run allows."""
        row = self.current
        if command_id == "run.stop":
            return True if any(item.state in STOPPABLE for item in self.chosen) else None
        if command_id == "run.kill":
            return True if row is not None and row.state.is_live else None
        if command_id.startswith(("run.", "viewer.")) and command_id != "run.new":
            return True if row is not None else None
        if command_id in ("copy.command", "open.outside", "open.selected"):
            return True if row is not None else None
        return super().can(command_id)

    # Looking.

    def action_viewer_watch(self) -> None:
        """Play the run's checkpoint in a window."""
        self._play(preview=False)

    def action_viewer_preview(self) -> None:
        """Play the run's checkpoint in the terminal."""
        self._play(preview=True)

    def _play(self, *, preview: bool) -> None:
        row = self.current
        if row is not None and self._has_checkpoint(row):
            target, what = self._target(row)
            detail = {"target": target, "run": str(row.path)}
            self.workbench.start_play(["play", target], what, detail, preview=preview)

    def action_viewer_record(self) -> None:
        """Open the form of a recording of the run's checkpoint."""
        row = self.current
        if row is not None and self._has_checkpoint(row):
            target, what = self._target(row)
            self.workbench.record(target, what)

    def action_run_montage(self) -> None:
        """Open the form of a montage of the chosen runs."""
        from workbench.ui.screens.montage import MontageTask

        rows = [row for row in self.chosen if self._has_checkpoint(row)]
        if not rows:
            return
        what = rows[0].title if len(rows) == 1 else formatting.plural(len(rows), "run")
        count = len(RunDirectory(rows[0].path).checkpoints()) if len(rows) == 1 else None
        task = MontageTask([row.reference for row in rows], what, count)
        self.app.push_screen(task, lambda words: self.workbench.start_film(words, f"montage of {what}"))

    def _target(self, row: RunRow) -> tuple[str, str]:
        checkpoint = self.chosen_checkpoint()
        if not checkpoint:
            return row.reference, row.title
        at = formatting.amount(float(checkpoint)) if checkpoint.isdigit() else checkpoint
        return f"{row.reference}:{checkpoint}", f"{row.title} at {at}"

    def _has_checkpoint(self, row: RunRow) -> bool:
        if RunDirectory(row.path).latest() is not None:
            return True
        self.notify(f"{row.title} has no checkpoint yet. The first is written before training begins.")
        return False

    # Starting and files.

    def action_run_new(self) -> None:
        """Open the form of a new run of this run's environment."""
        row = self.current
        if row is not None:
            self.workbench.new_run_of(row.env_name)
        else:
            self.app.switch_mode("environments")
            self.notify("Choose an environment, then n.")

    def action_copy_command(self) -> None:
        """Copy the command that starts the same run again."""
        row = self.current
        if row is None:
            return
        command = RunDirectory(row.path).record().get("command")
        words = [str(word) for word in command] if isinstance(command, list) else []
        self.workbench.copy_command(words[1:] if words[:1] == ["workbench"] else words or ["play", row.reference])

    def action_open_outside(self) -> None:
        """Open the run's log with the pager or editor."""
        row = self.current
        if row is not None:
            self.workbench.open_outside(RunDirectory(row.path).log_path)

    # Ending.

    def action_run_stop(self) -> None:
        """Ask the chosen runs to write a checkpoint and end."""
        rows = [row for row in self.chosen if row.state in STOPPABLE]
        if len(rows) == 1:
            self._stop(rows)
        elif rows:
            what = formatting.plural(len(rows), "run")
            sentence = "Each writes a checkpoint, then ends; queued ones are taken out."
            self._ask(f"Stop {what}?", sentence, "S", f"Stop {what}", lambda: self._stop(rows))

    @work(group="stop", exit_on_error=False, description="stopping runs")
    async def _stop(self, rows: Sequence[RunRow]) -> None:
        from workbench.runs.stopping import stop_run

        for row in rows:
            await asyncio.to_thread(stop_run, RunDirectory(row.path))
        self.workbench.runs.poke()
        waiting = [row for row in rows if row.state is RunState.QUEUED]
        if len(rows) > 1:
            self.notify(f"{formatting.plural(len(rows), 'run')} asked to stop; each writes a checkpoint.")
        elif waiting:
            self.notify(f"{rows[0].title} is taken out of the queue.")
        else:
            self.notify(f"{rows[0].title} writes a checkpoint and ends. v watches it.")

    def action_run_kill(self) -> None:
        """Ask, then end the run without a checkpoint."""
        row = self.current
        if row is not None and row.state.is_live:
            self._ask(f"Kill {row.title}?", what_a_kill_loses(row), "K", "Kill", lambda: self._kill(row))

    def _ask(self, title: str, sentence: str, key: str, label: str, then: Callable[[], object]) -> None:
        from workbench.ui.screens.ask import AskCard

        def answered(answer: bool | None) -> None:
            if answer:
                then()

        self.app.push_screen(AskCard(title, sentence, key=key, label=label), answered)

    @work(group="kill", exit_on_error=False, description="killing a run")
    async def _kill(self, row: RunRow) -> None:
        from workbench.runs.stopping import kill_run

        await asyncio.to_thread(kill_run, RunDirectory(row.path))
        self.workbench.runs.poke()
        self.notify(f"{row.title} was killed.")


def what_a_kill_loses(row: RunRow) -> str:
    """Return what a run that is killed now has done in vain."""
    newest = RunDirectory(row.path).latest()
    if newest is None:
        return "No final checkpoint: it has written none so far, so everything is lost. S would save it."
    lost = max(0, row.steps - newest.steps)
    if not lost:
        return f"No final checkpoint; nothing was trained since ◇ {formatting.amount(newest.steps)}."
    return (
        f"No final checkpoint: {formatting.amount(lost)} steps since ◇ {formatting.amount(newest.steps)} are lost. "
        "S would save them."
    )
