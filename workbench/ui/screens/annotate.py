"""The form of what a person adds to runs: tags and a note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from workbench.runs.annotations import LONGEST_TAG, Annotations, change_tags, set_note
from workbench.runs.directory import RunDirectory
from workbench.ui.run_acts import named
from workbench.ui.screens.small_form import SmallForm
from workbench.ui.watch import RunRow


@dataclass(frozen=True)
class Wished:
    """What was filled in: the difference to what is there, so that several runs keep what they have besides."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    note: str | None
    """The new note; None leaves each its own."""

    def apply(self, run: RunDirectory) -> Annotations:
        """Write it to a run.

        Raises:
            RequestError: A tag cannot be one.
            WorkFailedError: The file cannot be written.
        """
        found = change_tags(run, add=self.added, remove=self.removed)
        return found if self.note is None else set_note(run, self.note)


class AnnotateTask(SmallForm[Wished]):
    """Answers the tags to put on and take off, and the note.

    Args:
        rows: The runs; tags that only some have stay as they are.
    """

    LABELS: ClassVar[dict[str, str]] = {"task_go": "Keep"}

    def __init__(self, rows: Sequence[RunRow]) -> None:
        super().__init__()
        self._rows = rows
        self._tags = tuple(tag for tag in rows[0].tags if all(tag in row.tags for row in rows))
        notes = {row.note for row in rows}
        self._note = notes.pop() if len(notes) == 1 else None
        self.heading = f"Tags and note · {named(rows)}"

    def compose_body(self) -> ComposeResult:
        """Yield the two fields."""
        known = sorted({tag for row in self.workbench.runs.snapshot.rows for tag in row.tags})
        # Typing goes on behind what is there; it does not replace it.
        tags = Input(
            " ".join(map(_quoted, self._tags)), id="tags", placeholder="baseline lr-1e-2", select_on_focus=False
        )
        tags.suggester = _LastWord(known)
        yield from self.field("Tags", tags)
        several = "each keeps its own" if self._note is None else "what a filter finds by note:… or a word"
        yield from self.field("Note", Input(self._note or "", id="note", placeholder=several, select_on_focus=False))
        if len(self._rows) > 1:
            yield Static("Tags that only some of them have stay as they are.", classes="said")
        yield from self.compose_end()

    def problems(self) -> Sequence[str]:
        """Return what is wrong with the tags."""
        return [
            f"A tag has 1 to {LONGEST_TAG} signs, got {len(tag)}: {tag[:20]}…"
            for tag in self._typed()
            if len(tag) > LONGEST_TAG
        ]

    def words(self) -> Sequence[str]:
        """Return `annotate …`, only what differs from what is there."""
        wished = self.answer()
        words = ["annotate", *(row.reference for row in self._rows)]
        for tag in wished.added:
            words += ["--tag", tag]
        for tag in wished.removed:
            words += ["--untag", tag]
        if wished.note is not None:
            words += ["--note", wished.note]
        return words if len(words) > 1 + len(self._rows) else ()

    def answer(self) -> Wished:
        """Return what differs."""
        typed, note = self._typed(), self.text("note")
        return Wished(
            tuple(tag for tag in typed if tag not in self._tags),
            tuple(tag for tag in self._tags if tag not in typed),
            None if note == (self._note or "") else note,
        )

    def _typed(self) -> list[str]:
        return list(dict.fromkeys(_split(self.text("tags"))))


class _LastWord(SuggestFromList):
    """Proposes a tag that is in use for the word that is being typed."""

    def __init__(self, tags: Sequence[str]) -> None:
        super().__init__(tags, case_sensitive=False)

    async def get_suggestion(self, value: str) -> str | None:
        before, space, word = value.rpartition(" ")
        found = await super().get_suggestion(word) if word else None
        return None if found is None else f"{before}{space}{found}"


def _quoted(tag: str) -> str:
    return f'"{tag}"' if " " in tag else tag


def _split(text: str) -> list[str]:
    """Return the tags in a line: words, or what stands in quotes, commas between them or not."""
    found, word, quote = [], "", ""
    for sign in text:
        if quote:
            word, quote = (word, "") if sign == quote else (word + sign, quote)
        elif sign == '"':
            quote = sign
        elif sign.isspace() or sign == ",":
            found.append(word)
            word = ""
        else:
            word += sign
    return [item.strip() for item in [*found, word] if item.strip()]
