"""What changes runs: steering live ones, going on from ended ones, keeping and deleting them.

Each is an upper-case key. On one run it is done at once, unless it ends or removes something; on several it says on
how many and asks. What comes of it is told with the key that goes on from there or back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from textual import events, work

from workbench import formatting
from workbench.errors import WorkbenchError
from workbench.runs.directory import RunDirectory
from workbench.runs.several import Outcome, on_each
from workbench.runs.states import RunState
from workbench.ui.charting import ChartedScreen
from workbench.ui.keymap import command_on
from workbench.ui.run_rules import POSSIBLE, able, why_not
from workbench.ui.watch import RunRow

T = TypeVar("T")


class RunActs(ChartedScreen):
    """A screen on which runs are acted on."""

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
        """Offer what the state of the chosen runs allows."""
        if command_id == "run.undelete":
            return True
        if command_id in POSSIBLE:
            return True if able(command_id, self.chosen) else None
        return super().can(command_id)

    def on_key(self, event: events.Key) -> None:
        """Say why a key does nothing to the runs it would mean: a silent key looks like a broken one."""
        command = command_on(event.key, self.NAME, self.workbench.settings.keys)
        if command is None or command.id not in POSSIBLE or self.workbench.read_only or not self.chosen:
            return
        reason = why_not(command.id, self.chosen[0])
        if reason and self.can(command.id) is None:
            rows = self.chosen
            whose = rows[0].title if len(rows) == 1 else formatting.plural(len(rows), "run")
            self.notify(f"{command.label}: not with {whose}, {reason if len(rows) == 1 else 'as they are now'}.")

    # Asking, doing, telling.

    def _if_wanted(
        self,
        rows: Sequence[RunRow],
        verb: str,
        key: str,
        sentence: str,
        then: Callable[[], object],
        *,
        always: bool = False,
    ) -> None:
        """Do something to one run at once, to several once their number was confirmed."""
        from workbench.ui.screens.ask import AskCard

        if len(rows) == 1 and not always:
            then()
            return
        left_out = len(self.chosen) - len(rows)
        if left_out:
            others = "is" if left_out == 1 else "are"
            sentence += f" {formatting.plural(left_out, 'other')} {others} in no state for it."
        what = named(rows)
        label = verb if len(rows) == 1 else f"{verb} {formatting.plural(len(rows), 'run')}"
        card = AskCard(f"{verb} {what}?", sentence, key=key, label=label)

        def answered(answer: bool | None) -> None:
            if answer:
                then()

        self.app.push_screen(card, answered)

    @work(group="act", exit_on_error=False, description="acting on a run")
    async def _carry_out(
        self,
        rows: Sequence[RunRow],
        act: Callable[[RunDirectory], T],
        tell: Callable[[Sequence[RunRow], Sequence[T]], str],
        *,
        verb: str = "",
    ) -> None:
        """Do something to runs off the event loop, and tell what came of it.

        Args:
            rows: The runs.
            act: Does it to one.
            tell: Says so of those for which it was done, with what `act` returned for each.
            verb: Of the request that `act` leaves and whose id it returns.
        """
        outcomes = await asyncio.to_thread(on_each, [row.run for row in rows], act)
        by_run = {row.run: row for row in rows}
        done = [outcome for outcome in outcomes if outcome.error is None]
        for outcome in done if verb else ():
            self.workbench.runs.expect(by_run[outcome.run], verb, str(outcome.result or ""))
        self.workbench.runs.poke()
        self.refresh_bindings()
        if done:
            sentence = tell([by_run[outcome.run] for outcome in done], [outcome.result for outcome in done])  # type: ignore[misc]
            if sentence:
                self.notify(sentence)
        self._complain(outcomes)

    def _complain(self, outcomes: Sequence[Outcome[Any]]) -> None:
        failed = [outcome for outcome in outcomes if outcome.error is not None]
        gone = [outcome.run for outcome in failed if not outcome.run.path.exists()]
        if gone:
            names = ", ".join(f"{run.short_name} {run.short_id}" for run in gone[:3])
            self.notify(f"The folder of {names} is gone: somebody moved or deleted it.", severity="warning")
        errors = [outcome.error for outcome in failed if outcome.run not in gone and outcome.error is not None]
        if len(errors) == 1:
            self.workbench.show_error(errors[0].title, errors[0].message, hint=errors[0].hint)
        elif errors:
            count = formatting.plural(len(errors), "run")
            self.workbench.show_error(f"Not done to {count}", "\n".join(error.message for error in errors))

    # Steering.

    def action_run_pause(self) -> None:
        """Ask the chosen runs to write a checkpoint and wait; paused ones to go on."""
        from workbench.runs.steering import pause_run, unpause_run

        rows = able("run.pause", self.chosen)
        going = [row for row in rows if row.state is not RunState.PAUSED and row.asked != "pausing"]
        if going:
            sentence = "Each writes a checkpoint and waits; its place in the queue is free meanwhile."
            tell = telling("{run} writes a checkpoint and waits. P lets it go on.", "{runs} pause. P lets them go on.")
            act = partial(self._carry_out, going, pause_run, tell, verb="pause")
            self._if_wanted(going, "Pause", "P", sentence, act)
        elif rows:
            waiting = [row for row in rows if row.state is RunState.PAUSED]
            tell = telling("{run} goes on as soon as a place is free.", "{runs} go on as places are free.")
            act = partial(self._carry_out, waiting, unpause_run, tell, verb="resume")
            if waiting:
                self._if_wanted(waiting, "Continue", "P", "Each goes on as soon as a place is free.", act)

    def action_run_stop(self) -> None:
        """Ask the chosen runs to write a checkpoint and end; take queued ones out."""
        from workbench.runs.stopping import stop_run

        rows = able("run.stop", self.chosen)

        def tell(done: Sequence[RunRow], _: Sequence[object]) -> str:
            if len(done) > 1:
                return f"{formatting.plural(len(done), 'run')} asked to stop; each writes a checkpoint."
            if done[0].state is RunState.QUEUED:
                return f"{done[0].title} is taken out of the queue. R puts it back."
            return f"{done[0].title} writes a checkpoint and ends. R resumes it, v watches it."

        def stop(run: RunDirectory) -> str:
            stop_run(run)
            return ""

        sentence = "Each writes a checkpoint, then ends; queued ones are taken out."
        if rows:
            self._if_wanted(rows, "Stop", "S", sentence, partial(self._carry_out, rows, stop, tell, verb="stop"))

    def action_run_kill(self) -> None:
        """Ask, then end the chosen runs without a checkpoint."""
        from workbench.runs.stopping import kill_run

        rows = able("run.kill", self.chosen)
        if rows:
            sentence = (
                what_a_kill_loses(rows[0])
                if len(rows) == 1
                else "No final checkpoints: what was trained since the newest ones is lost. S would save it."
            )
            tell = telling("{run} was killed. R resumes it from its newest checkpoint.", "{runs} were killed.")
            act = partial(self._carry_out, rows, lambda run: kill_run(run), tell)
            self._if_wanted(rows, "Kill", "K", sentence, act, always=True)

    def action_run_write(self) -> None:
        """Ask the chosen runs to write a checkpoint."""
        from workbench.runs.steering import request_checkpoint

        rows = able("run.write", self.chosen)
        tell = telling("{run} writes a checkpoint. w lists them.", "{runs} write a checkpoint.")
        if rows:
            act = partial(self._carry_out, rows, request_checkpoint, tell, verb="checkpoint")
            self._if_wanted(rows, "Write a checkpoint of", "W", "At the end of their iteration.", act)

    def action_run_change(self) -> None:
        """Open the form that changes values while a run trains."""
        from workbench.runs.steering import change_run
        from workbench.ui.screens.change import ChangeTask

        rows = able("run.change", self.chosen)
        if not rows:
            return

        def answered(values: Mapping[str, str] | None) -> None:
            if values:
                said = ", ".join(f"{key} {text}" for key, text in values.items())
                tell = telling(f"{{run}} is asked for {said}; C on its curves shows when it took it.",
                                f"{{runs}} are asked for {said}.")  # fmt: skip
                self._carry_out(rows, lambda run: change_run(run, values), tell, verb="set")

        self.app.push_screen(ChangeTask(rows), answered)

    def _chosen_steps(self) -> int | None:
        chosen = self.chosen_checkpoint()
        return int(chosen) if chosen.isdigit() else None

    # Going on from what has ended.

    def action_run_resume(self) -> None:
        """Put ended runs back into the queue; one that has finished is asked for its new budget."""
        from workbench.ui.screens.budget import BudgetTask

        rows = able("run.resume", self.chosen)
        finished = [row for row in rows if row.state is RunState.FINISHED]
        if len(rows) == 1 and finished:
            self.app.push_screen(BudgetTask(rows[0]), lambda steps: self._resume(rows, steps) if steps else None)
            return
        going = [row for row in rows if row.state is not RunState.FINISHED]
        if going:
            sentence = "Each goes on from its newest checkpoint as soon as a place is free."
            self._if_wanted(going, "Resume", "R", sentence, lambda: self._resume(going, None))
        elif rows:
            self.notify("They have finished: resume them one by one, each with a new budget.", severity="warning")

    def _resume(self, rows: Sequence[RunRow], max_steps: int | None) -> None:
        from workbench.runs.resuming import Resumption, resume_run

        def tell(done: Sequence[RunRow], found: Sequence[Resumption]) -> str:
            if len(done) > 1:
                return f"{formatting.plural(len(done), 'run')} are queued to go on. S takes them out."
            checkpoint = found[0].checkpoint
            start = "its beginning" if checkpoint is None else f"◇ {formatting.amount(checkpoint.steps)}"
            notes = "".join(f" {note}" for note in found[0].notes[:1])
            return f"{done[0].title} goes on from {start}. S stops it.{notes}"

        self._carry_out(rows, lambda run: resume_run(run, max_steps=max_steps), tell)

    def action_run_again(self) -> None:
        """Start new runs that do the same as the chosen ones."""
        rows = able("run.again", self.chosen)

        def again() -> None:
            for row in rows:
                self.workbench.run_again(row.run)

        if rows:
            sentence = "A new run each, with the same settings and the same seed."
            self._if_wanted(rows, "Run again", "A", sentence, again)

    def action_run_fork(self) -> None:
        """Open the form of a run that goes on from the checkpoint that is meant, else from the newest."""
        from workbench.runs.steering import find_checkpoint

        row = self.current
        if row is None:
            return
        try:
            checkpoint = find_checkpoint(row.run, self._chosen_steps())
            self.workbench.fork_form(checkpoint.path)
        except WorkbenchError as error:
            self.workbench.show_error(error.title, error.message, hint=error.hint)

    # Keeping and deleting.

    def action_run_pin(self) -> None:
        """Keep the checkpoint that is meant, else the chosen runs on top of the list; again lets them go."""
        from workbench.runs.annotations import pin_checkpoint, pin_run

        row, steps = self.current, self._chosen_steps()
        rows = able("run.pin", self.chosen)
        if row is not None and steps is not None and len(rows) == 1:
            pinned = steps not in row.run.annotations().pinned
            at = f"◇ {formatting.amount(steps)} of {row.title}"
            said = f"{at} is pinned: it is kept. * lets it go." if pinned else f"{at} is pinned no more. * pins it."
            self._carry_out(rows, lambda run: pin_checkpoint(run, steps, is_pinned=pinned), lambda done, _: said)
            return
        up = not all(item.is_pinned for item in rows)
        told = "on top of the list. * puts {them} back" if up else "in {their} order again. * puts {them} on top"
        self._carry_out(
            rows,
            lambda run: pin_run(run, is_pinned=up),
            telling(
                "{run} stands " + told.format(them="it", their="its") + ".",
                "{runs} stand " + told.format(them="them", their="their") + ".",
            ),
        )

    def action_run_annotate(self) -> None:
        """Open the form of tags and note."""
        from workbench.ui.screens.annotate import AnnotateTask, Wished

        rows = able("run.annotate", self.chosen)

        def answered(wished: Wished | None) -> None:
            if wished is not None:
                tell = telling("{run}: tags and note are kept.", "{runs}: tags and notes are kept.")
                self._carry_out(rows, wished.apply, tell)

        if rows:
            self.app.push_screen(AnnotateTask(rows), answered)

    @work(group="act", exit_on_error=False, description="looking what can be pruned")
    async def action_run_prune(self) -> None:
        """Ask, then remove the checkpoints that retention need not keep."""
        from workbench.runs.pruning import Pruned, plan_pruning, prune

        rows = able("run.prune", self.chosen)
        outcomes = await asyncio.to_thread(on_each, [row.run for row in rows], plan_pruning)
        self._complain(outcomes)
        plans = {item.run: item.result for item in outcomes if item.result is not None and item.result.goes}
        if not plans:
            self.notify("Nothing to prune: best, latest, pinned and first checkpoints always stay.")
            return
        goes = sum(len(plan.goes) for plan in plans.values())
        stays = sum(len(plan.stays) for plan in plans.values())
        frees = formatting.size(sum(plan.frees for plan in plans.values()))
        sentence = (
            f"{formatting.plural(goes, 'checkpoint')} go and free {frees}; {stays} stay: best, latest, pinned, first. "
            "It cannot be undone."
        )

        def tell(_: Sequence[RunRow], done: Sequence[Pruned]) -> str:
            gone = formatting.plural(sum(len(item.gone) for item in done), "checkpoint")
            freed = formatting.size(sum(item.freed for item in done))
            failed = [why for item in done for _, why in item.failed]
            return f"{gone} removed, {freed} freed.{f' Some could not be removed: {failed[0]}.' if failed else ''}"

        chosen = [row for row in rows if row.run in plans]
        act = partial(self._carry_out, chosen, lambda run: prune(plans[run]), tell)
        self._if_wanted(chosen, "Prune", "P", sentence, act, always=True)

    @work(group="act", exit_on_error=False, description="looking what would be deleted")
    async def action_run_delete(self) -> None:
        """Ask, then move the chosen runs to the trash."""
        from workbench.runs.sizes import size_of

        rows = able("run.delete", self.chosen)
        if rows:
            size = await asyncio.to_thread(lambda: sum(size_of(row.path) for row in rows))
            each = "It goes" if len(rows) == 1 else "They go"
            sentence = f"{each} to the trash, {formatting.size(size)}; Run: Undo delete (:) brings back what went last."
            self._if_wanted(rows, "Delete", "D", sentence, lambda: self._delete(rows), always=True)

    @work(group="act", exit_on_error=False, description="deleting runs")
    async def _delete(self, rows: Sequence[RunRow]) -> None:
        from workbench.runs.trash import delete_runs

        try:
            moved = await asyncio.to_thread(delete_runs, [row.run for row in rows])
        finally:
            self.workbench.runs.poke()
        what = rows[0].title if len(rows) == 1 else formatting.plural(len(moved), "run")
        self.notify(f"{what} {'is' if len(moved) == 1 else 'are'} in the trash. Run: Undo delete (:) brings back.")

    @work(group="act", exit_on_error=False, description="bringing runs back")
    async def action_run_undelete(self) -> None:
        """Bring back what was deleted last."""
        from workbench.runs.trash import restore

        back = await asyncio.to_thread(restore, self.workbench.runs_root)
        self.workbench.runs.poke()
        names = ", ".join(f"{run.short_name} {run.short_id}" for run in back[:3])
        more = f" and {len(back) - 3} more" if len(back) > 3 else ""
        self.notify(f"{names}{more} {'is' if len(back) == 1 else 'are'} back.")

    # The queue.

    def action_queue_first(self) -> None:
        """Let the chosen runs start next."""
        self._move_in_queue("first")

    def action_queue_up(self) -> None:
        """Let the chosen runs start before the one before them."""
        self._move_in_queue("up")

    def action_queue_down(self) -> None:
        """Let the chosen runs start after the one behind them."""
        self._move_in_queue("down")

    def action_queue_last(self) -> None:
        """Let the chosen runs start last."""
        self._move_in_queue("last")

    @work(group="act", exit_on_error=False, description="moving runs in the queue")
    async def _move_in_queue(self, where: str) -> None:
        from workbench.runs.queueing import Move, move_in_queue

        rows = able(f"queue.{where}", self.chosen)
        queue = await asyncio.to_thread(move_in_queue, [row.run for row in rows], Move(where))
        self.workbench.runs.poke()
        if len(rows) == 1:
            place = queue.index(rows[0].run) + 1
            self.notify(f"{rows[0].title} is number {place} of {len(queue)} in the queue.")
        else:
            self.notify(f"{formatting.plural(len(rows), 'run')} moved in the queue.")


def named(rows: Sequence[RunRow]) -> str:
    """Return what some runs are called together: `ant 7f3a`, `ant ×3` where they are seeds of one launch, `5 runs`."""
    if len(rows) == 1:
        return rows[0].title
    first = rows[0]
    alike = {(row.group, row.env_id, row.algorithm) for row in rows}
    if first.group and len(alike) == 1:
        return f"{first.env_name} ×{len(rows)}"
    return formatting.plural(len(rows), "run")


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


def telling(one: str, several: str) -> Callable[[Sequence[RunRow], Sequence[object]], str]:
    """Return what says of one run, or of several, that something was done: `{run}` and `{runs}` are their names."""

    def tell(done: Sequence[RunRow], _: Sequence[object]) -> str:
        return one.format(run=done[0].title) if len(done) == 1 else several.format(runs=named(done))

    return tell
