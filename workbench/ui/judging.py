"""Evaluations and comparisons: asked for with a form, carried out as commands, shown as a card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.ui.reading import Reading

if TYPE_CHECKING:
    from workbench.ui.jobs import Job
    from workbench.ui.screens.output import OutputCard

AS_DATA = ("--json", "--progress")
"""What the app adds to a command whose findings it shows as a table."""


class Judging(Reading):
    """The part of the app that says how good policies are."""

    def show_output(self, words: Sequence[str], what: str, detail: Mapping[str, str] | None = None) -> None:
        """Start a command whose output is what is wanted of it, and show that."""
        raise NotImplementedError

    def evaluate(self, target: str, what: str, *, flags: Sequence[str] = ()) -> None:
        """Open the form of an evaluation of a policy, and show what it comes to.

        Args:
            target: What a command line calls the policy.
            what: What a person calls it.
            flags: More flags of the command, such as who acts.
        """
        from workbench.ui.screens.evaluate import EvaluateTask

        self.push_screen(EvaluateTask(target, what, flags=flags), lambda words: self.start_judging(words, what))

    def compare_policies(self, policies: Sequence[str], environments: Mapping[str, str] | None = None) -> None:
        """Open the form of a comparison of policies, and show what it comes to.

        Args:
            policies: What a command line calls them, the new one first.
            environments: The environment of each policy that one is known of.
        """
        from workbench.ui.screens.evaluate import CompareTask

        self.push_screen(CompareTask(policies, environments), lambda words: self.start_judging(words, "policies"))

    def start_judging(self, words: Sequence[str] | None, what: str) -> None:
        """Start what a form answered; nothing where it was left.

        Args:
            words: `evaluate …`, `compare …` or `rescore …`.
            what: What it is of, as a person calls it.
        """
        if words is None:
            return
        titles = {"evaluate": f"evaluation of {what}", "compare": f"comparison of {what}"}
        title = titles.get(words[0], f"best of {what}")
        self.show_output([*words, *(AS_DATA if words[0] in titles else ())], title, {"what": what})


def card_of(job: Job) -> OutputCard:
    """Return the card that shows what a command found."""
    from workbench.ui.screens.judged import ComparisonCard, EvaluationCard
    from workbench.ui.screens.looked_over import PreviewCard
    from workbench.ui.screens.output import OutputCard

    cards: dict[str, type[OutputCard]] = {
        "evaluate": EvaluationCard, "compare": ComparisonCard, "preview": PreviewCard,
    }  # fmt: skip
    return cards.get(job.words[0], OutputCard)(job)
