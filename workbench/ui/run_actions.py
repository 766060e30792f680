"""What can be done with a run, wherever one is under the cursor: looking at it, filming it, starting others like it."""

from __future__ import annotations

from workbench import formatting
from workbench.runs.directory import RunDirectory
from workbench.ui.run_judging import RunJudging

_OF_OURS = frozenset({"run.montage", "run.new", "copy.command", "open.outside"})
"""Commands that need the checkpoints, the spec or the log of one of our runs."""


class RunScreenBase(RunJudging):
    """A screen on which runs are looked at and acted on."""

    def can(self, command_id: str) -> bool | None:
        """Offer what the runs that are meant allow."""
        if command_id == "run.compare":
            return True if len(self.chosen) > 1 else None
        if command_id in _OF_OURS and self.chosen and all(row.is_foreign for row in self.chosen):
            return None
        verdict = super().can(command_id)
        if (
            verdict
            and command_id.startswith(("run.", "viewer.", "checkpoint.export", "checkpoint.compare"))
            and command_id not in ("run.new", "run.undelete")
        ):
            return True if self.current is not None else None
        if verdict and command_id in ("copy.command", "open.outside", "open.selected"):
            return True if self.current is not None else None
        return verdict

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

    def action_checkpoint_export(self) -> None:
        """Open the form of an export of the run's checkpoint."""
        row = self.current
        if row is not None and self._has_checkpoint(row):
            self.workbench.export(*self._target(row))

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

    def action_run_compare(self) -> None:
        """Show the chosen runs beside each other."""
        if len(self.chosen) > 1:
            self.workbench.compare([row.path for row in self.chosen])

    def action_run_report(self) -> None:
        """Open the form of a report on the chosen runs."""
        if self.chosen:
            self.workbench.report([row.path for row in self.chosen])

    def action_checkpoint_previous(self) -> None:
        """Move the crosshair to the checkpoint before; what plays of the run goes along."""
        super().action_checkpoint_previous()
        self._take_viewer_along()

    def action_checkpoint_next(self) -> None:
        """Move the crosshair to the checkpoint after; what plays of the run goes along."""
        super().action_checkpoint_next()
        self._take_viewer_along()

    def _take_viewer_along(self) -> None:
        row, steps, viewer = self.current, self.crosshair_checkpoint(), self.workbench.viewer
        playing = viewer.playing
        if row is None or steps is None or playing is None or not playing.is_on or playing.ready is None:
            return
        if playing.ready.run == row.path and playing.state is not None and playing.state.checkpoint != steps:
            viewer.order("checkpoint", which=steps)

    # Sections.

    def show_section(self, name: str) -> None:
        """Show a section of the run under the cursor."""
        from workbench.ui.screens.run import RunScreen

        if self.current is not None:
            self.app.push_screen(RunScreen(self.current.path, name))

    def action_run_checkpoints(self) -> None:
        """Show the checkpoints."""
        self.show_section("Checkpoints")

    def action_run_log(self) -> None:
        """Show the log."""
        self.show_section("Log")

    def action_run_events(self) -> None:
        """Show what happened."""
        self.show_section("Events")

    def action_run_config(self) -> None:
        """Show the settings."""
        self.show_section("Config")

    # Starting and files.

    def action_run_new(self) -> None:
        """Open the form of a new run like the one under the cursor; like a group, with all its seeds."""
        row, chosen = self.current, self.chosen
        if row is None:
            self.app.switch_mode("environments")
            self.notify("Choose an environment, then n.")
        elif row.problem:
            self.workbench.new_run_of(row.env_name)
        else:
            alike = {(item.group, item.env_id, item.algorithm) for item in chosen}
            is_group = len(chosen) > 1 and row.group and len(alike) == 1
            seeds = sorted(item.seed for item in chosen if item.seed is not None) if is_group else []
            self.workbench.new_run_like(row.run, seeds=" ".join(map(str, seeds)))

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
