"""The form of what plays: a run, a checkpoint or an environment, who acts in it, from which seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input

from workbench.remote.declaration import AGENTS, HIGHEST_SEED
from workbench.ui.screens.filming import FilmTask, given_flag, with_flags
from workbench.ui.widgets.choice import Choice

ACTS = {"deterministic": False, "stochastic": True}


class PlayTask(FilmTask):
    """Answers the words of `workbench play …`.

    Args:
        words: A command to begin from, as `play` takes it; only the target may be missing.
    """

    NUMBERS: ClassVar[dict[str, tuple[str, int, int]]] = {
        "seed": ("Seed", 0, HIGHEST_SEED),
        "episodes": ("Episodes", 1, 100_000),
    }
    OPTIONAL: ClassVar[frozenset[str]] = frozenset({"episodes"})
    LABELS: ClassVar[dict[str, str]] = {"task_go": "Play"}
    heading = "What plays"

    def __init__(self, words: Sequence[str] = ()) -> None:
        super().__init__()
        target, _, checkpoint = (words[1] if len(words) > 1 else "").rpartition(":")
        self._target, self._checkpoint = (target, checkpoint) if target else (checkpoint, "")
        self._words = words

    def compose_body(self) -> ComposeResult:
        """Yield the fields."""
        agent = self._given("--agent")
        yield from self.field("Of", Input(self._target, id="target"), "a run, an environment, or a path")
        yield from self.field("Checkpoint", Input(self._checkpoint, id="checkpoint"), "best, latest, or steps")
        yield from self.field("Agent", Choice(("usual", *AGENTS), agent or "usual", id="agent"))
        acts = "stochastic" if "--stochastic" in self._words else "deterministic"
        yield from self.field("Acts", Choice(tuple(ACTS), acts, id="acts"))
        yield from self.field("Seed", Input(self._given("--seed") or "0", id="seed"), "of the first episode")
        yield from self.field("Episodes", Input(self._given("--episodes"), id="episodes"), "empty: until closed")
        yield from self.compose_end()

    def _given(self, flag: str) -> str:
        return given_flag(self._words, flag)

    def problems(self) -> list[str]:
        """Return what is wrong with the fields."""
        found = super().problems()
        if not self._typed("target"):
            found.insert(0, "Of needs a run, an environment, or a path.")
        return found

    def _typed(self, name: str) -> str:
        return self.query_one(f"#{name}", Input).value.strip()

    def words(self) -> list[str]:
        """Return `play …`, only what differs from its defaults."""
        target, checkpoint = self._typed("target"), self._typed("checkpoint").replace(" ", "")
        agent = self.chosen("agent")
        words = with_flags(
            ["play", f"{target}:{checkpoint}" if checkpoint else target],
            [
                ("--agent", agent, "usual"),
                ("--env", self._given("--env"), ""),
                ("--episodes", self.text("episodes"), ""),
                ("--seed", self.text("seed"), "0"),
            ],
        )
        return [*words, "--stochastic"] if ACTS[self.chosen("acts")] else words

    @on(Input.Submitted)
    def _play(self) -> None:
        self.action_task_go()
