"""What a montage was made of, from the sidecar beside it: `workbench montage --again`."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from workbench.errors import NotFoundError, RequestError
from workbench.project import Project
from workbench.runs import RunDirectory
from workbench.runs.recordings import read_sidecar
from workbench.verbs.montage_flags import add_arguments


@dataclass(frozen=True)
class Made:
    """How a montage was asked for, and what it shows."""

    args: argparse.Namespace
    """Its flags; a file that was named is the one beside the sidecar, wherever both are now."""
    runs: tuple[RunDirectory, ...]
    checkpoints: tuple[Path, ...]
    """Run after run, in the order of showing; one that was deleted is among them."""


def read_made(path: Path, project: Project) -> Made:
    """Read how a montage was made.

    Args:
        path: Its sidecar, or the montage itself.
        project: Where its runs are looked for if they are not where they were.

    Raises:
        NotFoundError: There is no such file, or a run is gone.
        RequestError: It is not the sidecar of a montage, or asks for what is not known here.
    """
    film = path.with_name(path.name.removesuffix(".json")) if path.suffix == ".json" else path
    sidecar_there = film.with_name(f"{film.name}.json")
    if not sidecar_there.is_file():
        raise NotFoundError(f"--again: there is no {sidecar_there}.", hint="Name a montage or its .json file.")
    sidecar = read_sidecar(film)
    if sidecar is None or sidecar.kind != "montage" or sidecar.command[:2] != ("workbench", "montage"):
        kind = "no sidecar that can be read" if sidecar is None else f"that of a {sidecar.kind}"
        raise RequestError(f"--again: {sidecar_there} is {kind}, not that of a montage.")
    parser = _Parser()
    add_arguments(parser)
    try:
        args = parser.parse_args(sidecar.command[2:])
    except ValueError as error:
        raise RequestError(f"--again: {sidecar_there} asks for what is not known here: {error}.") from error
    runs = {text: _find(Path(text), project) for text in sidecar.runs}
    # Where a run is elsewhere now, so are its checkpoints.
    here = {str(Path(text)): run.path for text, run in runs.items()}
    shown = [Path(text) for text in sidecar.checkpoints]
    if not runs or not shown or any(str(item.parent) not in here for item in shown):
        raise RequestError(f"--again: {sidecar_there} does not say which checkpoints it shows.")
    if args.output is not None:
        args.output = film
    return Made(args, tuple(runs.values()), tuple(here[str(item.parent)] / item.name for item in shown))


def _find(path: Path, project: Project) -> RunDirectory:
    for candidate in (path, project.runs / path.parent.name / path.name):
        if candidate.is_dir():
            return RunDirectory(candidate)
    raise NotFoundError(f"the run {path} is gone.")


class _Parser(argparse.ArgumentParser):
    """Raises rather than writing and ending the process."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(message)
