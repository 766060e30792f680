"""The films that checkpoints may carry: what they are called, how they are ordered, how TensorBoard gets them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LABELS_NAME = "video_labels.json"
"""Beside the films: what a montage writes under them."""

TAG = "rollout/video_{index}"
"""What TensorBoard calls the film of an episode."""


def film_name(index: int) -> str:
    """Return the file name of the film of an episode, counted from 0."""
    return f"video_{index:03d}.mp4"


@dataclass(frozen=True)
class FilmOrder:
    """The films of one checkpoint."""

    checkpoint: Path
    steps: int
    episodes: int
    seed: int
    """That of the first episode."""
    fps: float | None
    """Frames a second; None for the control rate."""
    has_clips: bool
    """Whether TensorBoard is to show them."""

    @classmethod
    def read(cls, line: str) -> FilmOrder:
        """Read what `to_json` wrote, as a line of JSON."""
        data = json.loads(line)
        return cls(**{**data, "checkpoint": Path(data["checkpoint"])})

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {**dataclasses.asdict(self), "checkpoint": str(self.checkpoint)}


@dataclass(frozen=True)
class Clip:
    """An animation for TensorBoard, in a file that whoever puts it there deletes."""

    path: Path
    """A GIF."""
    index: int
    """Which episode."""
    size: tuple[int, int]
    """Width and height."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Clip:
        """Read what `to_json` wrote."""
        width, height = data["size"]
        return cls(Path(data["path"]), data["index"], (width, height))

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"path": str(self.path), "index": self.index, "size": list(self.size)}

    def put(self, add_summary: Callable[[Any, int], object], steps: int) -> None:
        """Put it into TensorBoard and delete it.

        Args:
            add_summary: Takes a `Summary` and the steps it is of.
            steps: Where it stands on the axis.

        Raises:
            OSError: It is gone.
        """
        from tensorboard.compat.proto.summary_pb2 import Summary

        width, height = self.size
        image = Summary.Image(height=height, width=width, colorspace=3, encoded_image_string=self.path.read_bytes())
        add_summary(Summary(value=[Summary.Value(tag=TAG.format(index=self.index), image=image)]), steps)
        self.path.unlink(missing_ok=True)
