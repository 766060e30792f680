"""The form of an export: a policy as a program, or as another tool's files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.widgets import Input, Static

from workbench.ui.screens.small_form import SmallForm
from workbench.ui.widgets.choice import Choice

FORMATS = {"ONNX": "onnx", "TorchScript": "torchscript", "Stable-Baselines3": "sb3"}
ACTS = ("the best action", "samples too")


class ExportTask(SmallForm[Sequence[str]]):
    """Answers the words of `workbench export …`.

    Args:
        target: What a command line calls the policy.
        what: What a person calls it.
    """

    LABELS: ClassVar[dict[str, str]] = {"task_go": "Export"}

    def __init__(self, target: str, what: str) -> None:
        super().__init__()
        self._target = target
        self.heading = f"Export · {what}"

    def compose_body(self) -> ComposeResult:
        """Yield the fields."""
        yield from self.field("Format", Choice(tuple(FORMATS), id="format"))
        yield from self.field("Acts", Choice(ACTS, id="acts"))
        yield from self.field("Folder", Input(id="folder", placeholder="among the project's exports"))
        yield Static(
            "Normaliser and action map are inside, golden vectors and a check lie beside it; it is there only if it "
            "acts as the policy does.",
            classes="said",
        )
        yield from self.compose_end()

    def problems(self) -> Sequence[str]:
        """Return what contradicts itself."""
        if self._format == "sb3" and self._samples:
            return ["Stable-Baselines3's model samples by itself; choose the best action."]
        return []

    def words(self) -> Sequence[str]:
        """Return `export …`."""
        words = ["export", self._target, "--format", self._format, *(["--sampling"] if self._samples else [])]
        folder = self.text("folder")
        return [*words, "-o", folder] if folder else words

    def answer(self) -> Sequence[str]:
        """Return the command."""
        return self.words()

    @property
    def _format(self) -> str:
        return FORMATS[self.query_one("#format", Choice).value]

    @property
    def _samples(self) -> bool:
        return self.query_one("#acts", Choice).value == ACTS[1]

    @on(Choice.Changed)
    def _chosen(self) -> None:
        self.show()
