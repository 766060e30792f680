"""What a person added to a run: tags, a note, pinned checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench import durable
from workbench.durable import read_document


@dataclass(frozen=True)
class Annotations:
    """The content of `annotations.json`; a run without the file has none."""

    tags: tuple[str, ...] = ()
    note: str = ""
    pinned: tuple[int, ...] = ()
    """Step counts of checkpoints that are never thrown away."""

    @classmethod
    def read(cls, path: Path) -> Annotations:
        """Read the file, taking what is well-formed and leaving the rest."""
        data = read_document(path)
        note = data.get("note")
        return cls(
            tags=tuple(item for item in _items(data, "tags") if isinstance(item, str)),
            note=note if isinstance(note, str) else "",
            pinned=tuple(item for item in _items(data, "pinned") if isinstance(item, int)),
        )

    def write(self, path: Path) -> None:
        """Replace the file."""
        durable.write_json(path, {"tags": list(self.tags), "note": self.note, "pinned": list(self.pinned)})


def _items(data: dict[str, Any], key: str) -> list[Any]:
    value = data.get(key)
    return value if isinstance(value, list) else []
