"""`foreign.json` of a project: the folders in which runs of other tools are looked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench import durable
from workbench.durable import read_document
from workbench.errors import NotFoundError, RequestError, WorkFailedError
from workbench.project import Project
from workbench.runs.holding import held

FORMAT = 1


def watch_list_path(project: Project) -> Path:
    """Return where the list of a project lies."""
    return project.root / "foreign.json"


def watched(project: Project) -> tuple[Path, ...]:
    """Return the folders that are watched, in the order in which they were named; none where there is no list.

    A folder inside the project is stored relative to it, so that a project can be moved.
    """
    told = read_document(watch_list_path(project)).get("folders")
    names = [name for name in told if isinstance(name, str) and name] if isinstance(told, list) else []
    return tuple(dict.fromkeys(project.root / name for name in names))


def checked(folders: Sequence[Path]) -> tuple[Path, ...]:
    """Return folders by their whole paths, each once.

    Raises:
        RequestError: One is no folder.
    """
    for folder in folders:
        if not folder.expanduser().is_dir():
            raise RequestError(f"there is no folder {folder}.", hint="Name the folder that the other tool logs into.")
    return tuple(dict.fromkeys(folder.expanduser().resolve() for folder in folders))


def watch(project: Project, folders: Sequence[Path]) -> None:
    """Put folders on the list; those that are on it stay where they are.

    Args:
        project: The project.
        folders: Whole paths, see `checked`.

    Raises:
        WorkFailedError: The list cannot be written.
    """
    _write(project, folders, ())


def unwatch(project: Project, folders: Sequence[Path]) -> None:
    """Take folders off the list.

    Raises:
        NotFoundError: One is not on it.
        WorkFailedError: The list cannot be written.
    """
    gone = [folder.expanduser().resolve() for folder in folders]
    before = watched(project)
    for folder, named in zip(gone, folders, strict=True):
        if folder not in before:
            listed = ", ".join(map(str, before)) or "none"
            raise NotFoundError(f"{named} is not watched.", hint=f"Watched: {listed}.")
    _write(project, (), gone)


def _write(project: Project, new: Sequence[Path], gone: Sequence[Path]) -> None:
    path = watch_list_path(project)
    try:
        # Two shells may import at once.
        with held(project.root):
            kept = [folder for folder in watched(project) if folder not in gone]
            names = [_stored(project, folder) for folder in dict.fromkeys([*kept, *new])]
            durable.write_json(path, {"format": FORMAT, "folders": names}, makes_folder=False)
    except OSError as error:
        raise WorkFailedError(f"{path} cannot be written: {error.strerror or error}.") from error


def _stored(project: Project, folder: Path) -> str:
    return str(folder.relative_to(project.root) if folder.is_relative_to(project.root) else folder)
