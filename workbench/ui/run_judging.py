"""Scoring the policies of runs: on a card, side by side, or for the runs to keep."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from workbench import formatting
from workbench.runs.directory import RunDirectory
from workbench.runs.foreign.origin import policies_of
from workbench.ui.run_acts import RunActs, telling
from workbench.ui.run_rules import able
from workbench.ui.watch import RunRow


class RunJudging(RunActs):
    """A screen on which policies of runs are scored."""

    def _target(self, row: RunRow) -> tuple[str, str]:
        """What a command line and what a person calls the checkpoint of a run that is meant."""
        checkpoint = self.chosen_checkpoint()
        if not checkpoint:
            return row.reference, row.title
        at = formatting.amount(float(checkpoint)) if checkpoint.isdigit() else checkpoint
        return f"{row.reference}:{checkpoint}", f"{row.title} at {at}"

    def _has_checkpoint(self, row: RunRow) -> bool:
        """Whether there is a policy of a run; where there is none, it is said."""
        run = RunDirectory(row.path)
        if run.latest() is not None:
            return True
        if row.is_foreign:
            saved = policies_of(run)
            if saved.best is None and saved.latest is None:
                self.notify(f"{row.title} has saved no policy; its curves can be looked at.")
            return saved.best is not None or saved.latest is not None
        self.notify(f"{row.title} has no checkpoint yet. The first is written before training begins.")
        return False

    def action_run_evaluate(self) -> None:
        """Open the form of an evaluation of the checkpoint that is meant; of several runs have the newest scored."""
        rows = able("run.evaluate", self.chosen)
        if len(rows) == 1:
            self._evaluate(rows[0])
            return
        rows = [row for row in rows if not row.is_foreign]
        tell = telling("{run} is scored; the score is told when it is there.", "{runs} are scored; each score is told.")
        act = partial(self._carry_out, rows, lambda run: request_of(run, None), tell, verb="evaluate")
        if rows:
            self._if_wanted(rows, "Evaluate", "E", "The newest checkpoint of each plays its episodes.", act)

    def _evaluate(self, row: RunRow) -> None:
        from workbench.ui.screens.evaluate import EvaluateTask

        if not self._has_checkpoint(row):
            return
        target, what = self._target(row)
        steps = self._chosen_steps()
        kept = "" if row.is_foreign else f"{row.reference}:{steps}" if steps is not None else row.reference

        def answered(words: Sequence[str] | None) -> None:
            if words is None or words[0] != "rescore" or "--best" in words:
                # Which checkpoint is best is asked of the run, whichever of them is meant.
                self.workbench.start_judging(words, row.title if words and words[0] == "rescore" else what)
                return
            tell = telling("{run} is scored; the score is told when it is there.", "")
            self._carry_out([row], lambda run: request_of(run, steps), tell, verb="evaluate")

        settled = row.reference if row.state.is_ended and not row.is_foreign else ""
        task = EvaluateTask(target, what, kept=kept, settled=settled, keeps=not row.state.is_ended)
        self.app.push_screen(task, answered)

    def action_checkpoint_compare(self) -> None:
        """Open the form of a comparison: of the chosen runs, or of the checkpoint that is meant and the best."""
        rows = [row for row in self.chosen if not row.problem]
        if len(rows) != 1:
            homes = {row.reference: row.env_name for row in rows}
            self.workbench.compare_policies(list(homes), homes)
            return
        row = rows[0]
        if row.is_foreign:
            self.workbench.compare_policies([row.reference])
            return
        steps = self._chosen_steps()
        this = f"{row.reference}:{'latest' if steps is None else steps}"
        self.workbench.compare_policies([this, f"{row.reference}:best"])


def request_of(run: RunDirectory, steps: int | None) -> str:
    """Ask for the scores of a checkpoint, the newest where none is named, and return the id of the request."""
    from workbench.runs.steering import request_evaluation

    return request_evaluation(run, steps)
