"""The forms of an evaluation and of a comparison: how good policies are, on numbered episodes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.remote.declaration import HIGHEST_SEED
from workbench.ui.screens.small_form import SmallForm
from workbench.ui.widgets.choice import Choice

HERE, RUN, BEST = "shown here", "kept by the run", "settle which is best"
"""What comes of the scores."""
ACTS = ("greedy", "sampled")
MOST_EPISODES = 100_000
USUAL_EPISODES = "100"
FEWEST, MOST = 2, 20
"""Policies that are compared."""

_NUMBERS = {"episodes": ("Episodes", 1, MOST_EPISODES), "seed": ("First number", 0, HIGHEST_SEED)}
_SAID = {
    HERE: "Every policy meets the same numbered episodes, by which no run chooses its best.",
    RUN: "New episodes, as many as the run's own evaluations; the score stands beside the claimed one.",
    BEST: "Those with the best claims play the same new episodes; the best of them becomes the run's best.",
}


class _Judging(SmallForm[Sequence[str]]):
    """Fields that say which episodes are played."""

    acts: str = ACTS[0]
    """How a policy acts unless something else is chosen."""

    def compose_episodes(self) -> ComposeResult:
        """Yield which episodes are played, and how."""
        yield from self.field("Episodes", Input(id="episodes", placeholder=USUAL_EPISODES))
        yield from self.field("First number", Input(id="seed", placeholder="one that no run chooses by"))
        yield from self.field("Acts", Choice(ACTS, self.acts, id="acts"))

    def shows(self, name: str) -> bool:
        """Return whether a field says anything now."""
        return True

    def show(self) -> None:
        """Show the fields that say something, then the command or what is wrong."""
        for widget in self.query(".field > *"):
            if widget.id is not None and isinstance(widget.parent, Widget):
                widget.parent.display = self.shows(widget.id)
        super().show()

    def wrong_numbers(self) -> list[str]:
        """Return what is wrong with the numbers of episodes."""
        found = []
        for name, (label, least, most) in _NUMBERS.items():
            text = self.number(name)
            if text and self.shows(name) and not (text.isascii() and text.isdigit() and least <= int(text) <= most):
                found.append(f"{label} must be a whole number from {least} to {most}, got {text}.")
        return found

    def number(self, name: str) -> str:
        """Return the number that stands in a field; empty for the usual one."""
        return self.text(name).replace(" ", "").replace("_", "")

    def episode_words(self) -> list[str]:
        """Return the flags that say which episodes are played, and how."""
        words = []
        for name in _NUMBERS:
            if self.number(name):
                words += [f"--{name}", self.number(name)]
        return [*words, *(["--stochastic"] if self.query_one("#acts", Choice).value == ACTS[1] else [])]

    def answer(self) -> Sequence[str]:
        """Return the command."""
        return self.words()

    @on(Choice.Changed)
    def _chosen(self) -> None:
        self.show()


class EvaluateTask(_Judging):
    """Answers the words of `workbench evaluate …`, or of `workbench rescore …` where the run is to keep the scores.

    Args:
        target: What a command line calls the policy.
        what: What a person calls it.
        flags: More flags of `evaluate`, such as who acts.
        kept: What `rescore` calls the checkpoint; empty where no run can keep its scores.
        settled: What `rescore --best` calls the run; empty where its best cannot be settled.
        keeps: Whether the run keeps the scores unless something else is chosen.
    """

    LABELS: ClassVar[dict[str, str]] = {"task_go": "Evaluate"}

    def __init__(
        self,
        target: str,
        what: str,
        *,
        flags: Sequence[str] = (),
        kept: str = "",
        settled: str = "",
        keeps: bool = False,
    ) -> None:
        super().__init__()
        self._offered = (HERE, *([RUN] if kept else []), *([BEST] if settled else []))
        self._first = RUN if keeps and kept else HERE
        self.acts = ACTS["--stochastic" in flags]
        self._target, self._kept, self._settled = target, kept, settled
        self._flags = [word for word in flags if word != "--stochastic"]
        self.heading = f"Evaluate {what}"

    def compose_body(self) -> ComposeResult:
        """Yield the fields."""
        yield from self.field("Scores", Choice(self._offered, self._first, id="scores"))
        yield from self.field("Candidates", Input("5", id="candidates"))
        yield from self.compose_episodes()
        yield from self.field("Needed", Input(id="needed", placeholder="any; or a share that must succeed: 90%"))
        yield Static(id="said", classes="said")
        yield from self.compose_end()

    @property
    def scores(self) -> str:
        """What becomes of the scores."""
        return self.query_one("#scores", Choice).value

    def shows(self, name: str) -> bool:
        """Return whether a field says something where the scores go."""
        if name == "scores":
            return len(self._offered) > 1
        if self.scores == HERE:
            return name != "candidates"
        return self.scores == BEST and name in ("candidates", "episodes")

    def show(self) -> None:
        """Say what becomes of the scores."""
        self.query_one("#said", Static).update(Content(_SAID[self.scores]))
        usual = USUAL_EPISODES if self.scores == HERE else "as many as the run's settings say"
        self.query_one("#episodes", Input).placeholder = usual
        super().show()

    def problems(self) -> Sequence[str]:
        """Return what is wrong with the fields, all of it."""
        found = self.wrong_numbers()
        count, needed = self.number("candidates"), self.text("needed")
        if self.scores == BEST and not (count.isascii() and count.isdigit() and 1 <= int(count) <= MOST):
            found.append(f"Candidates must be a whole number from 1 to {MOST}, got {count or 'nothing'}.")
        if self.scores == HERE and needed and not 0 <= _share(needed) <= 1:
            found.append(f"Needed takes a share from 0 to 1 such as 0.9, or 90%, got {needed}.")
        return found

    def words(self) -> Sequence[str]:
        """Return the command, only what differs from its defaults."""
        if self.scores == RUN:
            return ["rescore", self._kept]
        if self.scores == BEST:
            episodes = self.number("episodes")
            words = ["rescore", self._settled, "--best", self.number("candidates")]
            return [*words, "--episodes", episodes] if episodes else words
        needed = self.text("needed").replace(" ", "")
        words = ["evaluate", self._target, *self._flags, *self.episode_words()]
        return [*words, "--require-success", needed] if needed else words


class CompareTask(_Judging):
    """Answers the words of `workbench compare …`.

    Args:
        policies: What a command line calls them, the new one first.
        environments: The environment of each policy that one is known of.
    """

    LABELS: ClassVar[dict[str, str]] = {"task_go": "Compare"}
    heading = "Compare policies"

    def __init__(self, policies: Sequence[str], environments: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._policies = tuple(policies)
        self._environments = dict(environments or {})

    def compose_body(self) -> ComposeResult:
        """Yield the fields."""
        named = Input(shlex.join(self._policies), id="policies", placeholder="7f3a 7f3a:900000 policy.zip zero random")
        yield from self.field("Policies", named)
        yield from self.compose_episodes()
        yield Static("The first against each of the others, on the same numbered episodes.", classes="said")
        yield from self.compose_end()

    def problems(self) -> Sequence[str]:
        """Return what is wrong with the fields, all of it."""
        try:
            named = self._named()
        except ValueError:
            return ["Policies has a quote that is not closed."]
        found = self.wrong_numbers()
        if not FEWEST <= len(named) <= MOST:
            found.append(f"A comparison is of {FEWEST} to {MOST} policies, got {len(named)}.")
        twice = next((text for text in named if named.count(text) > 1), None)
        if twice is not None:
            found.append(f"{twice} is named twice.")
        homes = list(dict.fromkeys(self._environments[text] for text in named if text in self._environments))
        if len(homes) > 1:
            found.append(f"They are of {' and '.join(homes[:2])}, and do not meet the same episodes.")
        return found

    def words(self) -> Sequence[str]:
        """Return the command, only what differs from its defaults."""
        return ["compare", *self._named(), *self.episode_words()]

    def _named(self) -> list[str]:
        return shlex.split(self.text("policies"))


def _share(text: str) -> float:
    number = text.replace(" ", "")
    try:
        return float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        return -1.0
