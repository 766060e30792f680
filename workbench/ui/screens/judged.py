"""What an evaluation and a comparison came to, and the episodes to look at because of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.formatting import digits
from workbench.ui.judged_text import comparison_text, document_in, evaluation_text, worst_episodes
from workbench.ui.screens.output import OutputCard
from workbench.ui.signs import shown

MOST_BYTES = 64_000_000
"""Documents hold every episode: ten thousand of them, with their reward terms, are a few megabytes."""
AGENTS = frozenset({"zero", "random", "sweep"})
"""What `compare` takes for agents instead of policies."""
MOST_BESIDE = 9
"""Policies that play side by side."""
_WARNS = "warning: "
WITH_VALUE = frozenset({"--agent", "--env", "--normalizer"})
WITHOUT_VALUE = frozenset({"--stochastic", "--trust"})
"""Flags that playing and scoring have in common."""


def common_flags(words: Sequence[str]) -> list[str]:
    """Return those flags of a command that playing and scoring have in common, with their values."""
    found: list[str] = []
    for place, word in enumerate(words):
        if word in WITH_VALUE:
            found += words[place : place + 2]
        elif word in WITHOUT_VALUE:
            found.append(word)
    return found


class _Judged(OutputCard):
    """A command that prints one JSON document at its end."""

    READS: ClassVar[int] = MOST_BYTES
    document: dict[str, Any] | None = None
    warnings: Sequence[str] = ()
    """What the command said besides of what its figures are worth."""

    def told(self, lines: Sequence[str]) -> Content:
        """Return what was found; before that how far it is, and what went wrong where nothing was found."""
        if self.job.state == "running":
            return Content(lines[-1] if lines else "…")
        if self.document is None:
            document = document_in(reversed(lines))
            if document is not None and document.get("finished") is False:
                done, asked = digits(document.get("episodes_done")), digits(document.get("num_episodes"))
                return Content(f"Stopped after {done} of {asked} episodes; those that were played are not counted.")
            if document is None or not document.get("finished"):
                return super().told([line for line in lines if "{" not in line])
            self.document = document
            self.warnings = [line.removeprefix(_WARNS) for line in lines if line.startswith(_WARNS)]
            self.found(document)
            self.show_keys()
        return shown(self.in_words(self.document), plain=self.workbench.plain)

    def found(self, document: dict[str, Any]) -> None:
        """Take in what was found, once."""

    def in_words(self, document: dict[str, Any]) -> Content:
        """Return what was found."""
        raise NotImplementedError


class EvaluationCard(_Judged):
    """Shows an evaluation; its worst episodes can be watched and filmed."""

    BINDINGS = [Binding("v", "watch", "Watch", id="card.watch"), Binding("V", "film", "Film", id="card.film")]
    DEFAULT_CSS = """
    EvaluationCard {
        & #worst-title { color: $muted; margin-top: 1; height: auto; }
        & #worst { height: auto; max-height: 6; border: none; padding: 0; background: $surface; }
    }
    """

    def compose_body(self) -> ComposeResult:
        """Yield what it came to, and its worst episodes."""
        yield from super().compose_body()
        yield Static("worst episodes", id="worst-title")
        yield OptionList(id="worst", compact=True)

    def on_mount(self) -> None:
        """Show the list only where there is something in it."""
        for name in ("#worst", "#worst-title"):
            self.query_one(name).display = False
        super().on_mount()

    def outcome(self) -> str:
        """Return whether the bar was reached, where there was one."""
        verdict = (self.document or {}).get("verdict")
        if isinstance(verdict, dict):
            return "success as needed" if verdict.get("passed") else "too little success"
        return super().outcome()

    def in_words(self, document: dict[str, Any]) -> Content:
        """Return what it came to."""
        return evaluation_text(document)

    def found(self, document: dict[str, Any]) -> None:
        """List the worst episodes."""
        episodes = worst_episodes(document)
        listed = self.query_one("#worst", OptionList)
        listed.add_options([Option(shown(Content(text), plain=self.workbench.plain), str(seed))
                            for seed, text in episodes])  # fmt: skip
        if "--stochastic" in self.job.words:
            self.query_one("#worst-title", Static).update("worst episodes: they begin alike, what is sampled differs")
        for name in ("#worst", "#worst-title"):
            self.query_one(name).display = bool(episodes)
        if episodes:
            listed.highlighted = 0
            listed.focus()

    def own_keys(self) -> list[tuple[str, str]]:
        """Return what can be done with the worst episodes."""
        if self._episode is None:
            return []
        return [("v", "Watch"), *([] if self.workbench.read_only else [("V", "Film")])]

    @property
    def _episode(self) -> str | None:
        listed = self.query_one("#worst", OptionList)
        if listed.highlighted is None or not listed.option_count:
            return None
        return listed.get_option_at_index(listed.highlighted).id

    @property
    def _target(self) -> str:
        return self.job.words[1]

    def _what(self, episode: str) -> str:
        return f"{self.job.detail.get('what') or self._target}, episode {episode}"

    @on(OptionList.OptionSelected)
    def _chosen(self) -> None:
        self.action_watch()

    def action_watch(self) -> None:
        """Watch the episode under the cursor; App: Last output brings the card back."""
        episode = self._episode
        if episode is None:
            return
        words = ["play", self._target, "--seed", episode, *common_flags(self.job.words)]
        what, workbench = self._what(episode), self.workbench
        self.dismiss(None)
        workbench.start_play(words, what, {"target": self._target, **self.job.detail})

    def action_film(self) -> None:
        """Film the episode under the cursor."""
        episode = self._episode
        if episode is None or self.workbench.read_only:
            return
        words = ["record", self._target, "--seed", episode, *common_flags(self.job.words)]
        self.workbench.start_film(words, f"recording of {self._what(episode)}")


class ComparisonCard(_Judged):
    """Shows a comparison; the policies can be watched side by side."""

    BINDINGS = [Binding("v", "watch", "Watch", id="card.watch")]

    def in_words(self, document: dict[str, Any]) -> Content:
        """Return the table and the differences."""
        told = comparison_text(document, self.query_one("#output", VerticalScroll).size.width)
        return Content("\n").join([told, *(Content.styled(f"! {text}", "$warning") for text in self.warnings)])

    def on_resize(self) -> None:
        """Let the table fill the width there is."""
        if self.document is not None:
            text = shown(self.in_words(self.document), plain=self.workbench.plain)
            self.query_one("#text", Static).update(text)

    def own_keys(self) -> list[tuple[str, str]]:
        """Return what can be done with the policies."""
        return [("v", "Watch all")] if self._policies else []

    @property
    def _policies(self) -> list[str]:
        names = [str(one.get("name")) for one in (self.document or {}).get("policies") or ()]
        return [name for name in names if name not in AGENTS][:MOST_BESIDE]

    def action_watch(self) -> None:
        """Watch the policies side by side, in the first of the episodes."""
        names = self._policies
        if not names or self.document is None:
            return
        words = ["play", *names, "--seed", str(self.document["seed"]), *common_flags(self.job.words)]
        what, workbench = " and ".join(names) if len(names) < 3 else f"{len(names)} policies", self.workbench
        self.dismiss(None)
        workbench.start_play(words, what, {"target": names[0]})
