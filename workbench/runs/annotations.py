"""What a person added to a run: tags, a note, pinned checkpoints, a place on top of the list.

Changed by whoever has the project open, several at once: each change is made to what the file says at that moment,
under a lock on the run's folder, so that none takes back another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import durable
from workbench.durable import read_document
from workbench.errors import NotFoundError, RequestError, WorkFailedError

if TYPE_CHECKING:
    from workbench.runs.directory import RunDirectory

LONGEST_TAG = 60


@dataclass(frozen=True)
class Annotations:
    """The content of `annotations.json`; a run without the file has none."""

    tags: tuple[str, ...] = ()
    """Beside those that the run was launched with."""
    note: str = ""
    pinned: tuple[int, ...] = ()
    """Step counts of checkpoints that are never thrown away."""
    dropped_tags: tuple[str, ...] = ()
    """Tags that the run was launched with and that were taken off since."""
    is_on_top: bool = False
    """Whether the run stands on top of the list."""

    @classmethod
    def read(cls, path: Path) -> Annotations:
        """Read the file, taking what is well-formed and leaving the rest."""
        return cls._of(read_document(path))

    @classmethod
    def _of(cls, data: dict[str, Any]) -> Annotations:
        note = data.get("note")
        return cls(
            tags=tuple(item for item in _items(data, "tags") if isinstance(item, str)),
            note=note if isinstance(note, str) else "",
            pinned=tuple(item for item in _items(data, "pinned") if isinstance(item, int)),
            dropped_tags=tuple(item for item in _items(data, "dropped_tags") if isinstance(item, str)),
            is_on_top=data.get("is_on_top") is True,
        )

    def all_tags(self, launched: Iterable[str]) -> tuple[str, ...]:
        """Return the tags of a run that was launched with some, without doubles."""
        kept = [tag for tag in launched if tag not in self.dropped_tags]
        return tuple(dict.fromkeys([*kept, *self.tags]))

    def write(self, path: Path) -> None:
        """Replace the file; what others keep in it besides stays.

        Raises:
            OSError: The disk is full, or the folder is gone or cannot be written.
        """
        self._store(path, read_document(path))

    def _store(self, path: Path, before: dict[str, Any]) -> None:
        mine = {
            "tags": list(self.tags),
            "note": self.note,
            "pinned": list(self.pinned),
            "dropped_tags": list(self.dropped_tags),
            "is_on_top": self.is_on_top,
        }
        # A folder that was deleted meanwhile is not made anew for a note.
        durable.write_json(path, {**before, **mine}, makes_folder=False)


def annotate(run: RunDirectory, change: Callable[[Annotations], Annotations]) -> Annotations:
    """Change what a person added to a run, and return what it is then.

    Args:
        run: The run.
        change: Returns the new annotations, given those of this moment.

    Raises:
        WorkFailedError: The file cannot be written.
    """
    from workbench.runs.holding import held

    try:
        with held(run.path):
            before = read_document(run.annotations_path)
            now = Annotations._of(before)
            changed = change(now)
            if changed != now:
                changed._store(run.annotations_path, before)
    except OSError as error:
        raise WorkFailedError(f"{run.name} cannot be annotated: {error.strerror or error}.") from error
    return changed


def set_note(run: RunDirectory, note: str) -> Annotations:
    """Replace the note of a run; an empty one takes it away."""
    return annotate(run, lambda now: replace(now, note=note.strip()))


def set_tags(run: RunDirectory, tags: Iterable[str]) -> Annotations:
    """Give a run exactly these tags.

    Raises:
        RequestError: One of them cannot be a tag.
    """
    wanted = [_tag(tag) for tag in tags]
    launched = _launched_with(run)
    own = tuple(dict.fromkeys(tag for tag in wanted if tag not in launched))
    dropped = tuple(tag for tag in launched if tag not in wanted)
    return annotate(run, lambda now: replace(now, tags=own, dropped_tags=dropped))


def change_tags(run: RunDirectory, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> Annotations:
    """Put tags on a run and take others off; one that is there already, or not there, is left as it is.

    Raises:
        RequestError: One of them cannot be a tag.
    """
    added, removed = [_tag(tag) for tag in add], {tag.strip() for tag in remove}
    launched = _launched_with(run)

    def change(now: Annotations) -> Annotations:
        own = dict.fromkeys([*now.tags, *(tag for tag in added if tag not in launched)])
        dropped = dict.fromkeys([*now.dropped_tags, *(tag for tag in launched if tag in removed)])
        return replace(
            now,
            tags=tuple(tag for tag in own if tag not in removed),
            dropped_tags=tuple(tag for tag in dropped if tag not in added or tag in removed),
        )

    return annotate(run, change)


def pin_checkpoint(run: RunDirectory, steps: int, *, is_pinned: bool = True) -> Annotations:
    """Keep a checkpoint from ever being thrown away, or let it go again.

    Raises:
        NotFoundError: There is no such checkpoint to pin.
    """
    if is_pinned and not any(checkpoint.steps == steps for checkpoint in run.checkpoints()):
        raise NotFoundError(f"{run.name} has no checkpoint of {steps} steps to pin.")

    def change(now: Annotations) -> Annotations:
        others = [item for item in now.pinned if item != steps]
        return replace(now, pinned=tuple(sorted([*others, steps] if is_pinned else others)))

    return annotate(run, change)


def pin_run(run: RunDirectory, *, is_pinned: bool = True) -> Annotations:
    """Put a run on top of the list, or back into its order."""
    return annotate(run, lambda now: replace(now, is_on_top=is_pinned))


def _tag(text: str) -> str:
    tag = text.strip()
    if not tag or len(tag) > LONGEST_TAG or not tag.isprintable():
        raise RequestError(f"{text!r} cannot be a tag: one has 1 to {LONGEST_TAG} signs that can be printed.")
    return tag


def _launched_with(run: RunDirectory) -> tuple[str, ...]:
    spec = run.record().get("spec")
    tags = spec.get("tags") if isinstance(spec, dict) else None
    return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()


def _items(data: dict[str, Any], key: str) -> list[Any]:
    value = data.get(key)
    return value if isinstance(value, list) else []
