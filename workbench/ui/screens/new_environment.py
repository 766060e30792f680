"""The form of a new environment: a name, and the model it moves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.widgets import Input, Static

from workbench.ui.screens.small_form import SmallForm


class NewEnvironmentTask(SmallForm[Sequence[str]]):
    """Answers the words of `workbench new env …`.

    Args:
        taken: Names that exist.
        folder: Where a model's path starts that is not absolute.
    """

    LABELS: ClassVar[dict[str, str]] = {"task_go": "Write it"}
    heading = "New environment"

    def __init__(self, taken: Collection[str], folder: Path) -> None:
        super().__init__()
        self._taken = frozenset(taken)
        self._folder = folder

    def compose_body(self) -> ComposeResult:
        """Yield the fields."""
        yield from self.field("Name", Input(id="name", placeholder="pole_arm: lower case, words joined by _"))
        yield from self.field(
            "Model", Input(id="model", placeholder="your MJCF file; empty: a small one to begin with")
        )
        yield Static(
            "Writes a module, a variant, a recipe, a test and a model. They run as they are; what is yours is marked.",
            classes="said",
        )
        yield from self.compose_end()

    def problems(self) -> Sequence[str]:
        """Return what is wrong with the fields, all of it."""
        found = []
        if self.text("name") in self._taken:
            found.append(f"There is a {self.text('name')} already; take another name.")
        model = self.text("model")
        if model and not self._model(model).is_file():
            found.append(f"There is no file {model}.")
        return found

    def words(self) -> Sequence[str]:
        """Return `new env …`; nothing while it has no name."""
        name, model = self.text("name"), self.text("model")
        words = ["new", "env", name, *(["--model", str(self._model(model))] if model else [])]
        return words if name else []

    def answer(self) -> Sequence[str]:
        """Return the command."""
        return self.words()

    def _model(self, text: str) -> Path:
        return self._folder / Path(text).expanduser()
