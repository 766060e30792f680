"""Where an environment comes from, as data a run keeps, and the import of its class.

A module is imported from its file, under a name of its own, so that two projects may have files of one name. Imports
no simulator itself.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from workbench.errors import NotFoundError, Problem, ProblemsError, RequestError
from workbench.project import PROJECT_VARIABLE, shipped_project
from workbench.suggest import nearest_one


class EntryLike(Protocol):
    """What a source needs of a catalogue entry."""

    @property
    def env_id(self) -> str:
        """The Gymnasium ID."""

    @property
    def name(self) -> str:
        """The short name."""

    @property
    def module(self) -> Path | None:
        """The file, or None for a plain Gymnasium ID."""

    @property
    def class_name(self) -> str | None:
        """The class in that file."""

    @property
    def env_cfg(self) -> Mapping[str, Any]:
        """What the variant configures."""


@dataclass(frozen=True)
class EnvSource:
    """An environment as a run or a checkpoint names it; one without a module is a plain Gymnasium ID."""

    env_id: str
    name: str
    module: str | None = None
    """The file of its class."""
    class_name: str | None = None
    env_cfg: dict[str, Any] = field(default_factory=dict)
    """Fields of its configuration, or keywords of a plain class's constructor."""

    @classmethod
    def from_entry(cls, entry: EntryLike) -> EnvSource:
        """Return the source of a catalogue entry."""
        module = None if entry.module is None else str(entry.module)
        return cls(entry.env_id, entry.name, module, entry.class_name if module else None, _copy(entry.env_cfg))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> EnvSource:
        """Return a source from what `to_json` gave.

        Raises:
            RequestError: A field is missing or of another type.
        """
        try:
            source = cls(
                env_id=data["env_id"],
                name=data["name"],
                module=data.get("module"),
                class_name=data.get("class_name"),
                env_cfg=_copy(data.get("env_cfg") or {}),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise RequestError(f"this is not an environment's source: {error} is missing or wrong.") from error
        texts = (source.env_id, source.name, source.module or "", source.class_name or "")
        if not all(isinstance(text, str) for text in texts) or (source.module is None) != (source.class_name is None):
            raise RequestError("this is not an environment's source: its names must be texts, module and class both.")
        return source

    def to_json(self) -> dict[str, Any]:
        """Return the source as plain data."""
        return {
            "env_id": self.env_id,
            "name": self.name,
            "module": self.module,
            "class_name": self.class_name,
            "env_cfg": _copy(self.env_cfg),
        }


def load_class(source: EnvSource) -> type:
    """Return the class of a source, its module imported.

    Raises:
        NotFoundError: The file or the class in it is not there.
        ProblemsError: The module cannot be imported; the problem names the file and the line.
        RequestError: The source is a plain Gymnasium ID, which has no class here.
    """
    if source.module is None or source.class_name is None:
        raise RequestError(f"{source.env_id} is a Gymnasium ID and has no module.")
    path = locate_module(source)
    module = import_module(path)
    found = getattr(module, source.class_name, None)
    if isinstance(found, type):
        return found
    own = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]
    classes = [value.__name__ for value in own if value.__name__.endswith("Env")]
    near = nearest_one(source.class_name, classes)
    hint = f"Did you mean {near}?" if near else f"It has {', '.join(classes) or 'no environment'}."
    raise NotFoundError(f"there is no class {source.class_name} in {path}.", hint=hint)


def locate_module(source: EnvSource) -> Path:
    """Return the file of a source; one from another machine is found again by its name.

    Looked for where it says, then among the environments of the project at hand, then among the shipped ones. A path
    that is not whole says nothing: it would be looked for wherever one happens to be, among what strangers gave too.

    Raises:
        NotFoundError: It is nowhere.
    """
    path = Path(source.module or "")
    if path.is_absolute() and path.is_file():
        return path.resolve()
    here = Path(os.environ.get(PROJECT_VARIABLE) or Path.cwd()) / "envs"
    for folder in (here, shipped_project().envs):
        for found in sorted(folder.rglob(path.name)) if folder.is_dir() else ():
            return found.resolve()
    raise NotFoundError(
        f"there is no {path}, which holds {source.env_id}.",
        hint=f"Put {path.name} into the envs/ of the project, or name the project with --project.",
    )


def import_module(path: Path) -> ModuleType:
    """Import a Python file, again if it has changed.

    Raises:
        ProblemsError: It cannot be imported.
    """
    dotted = _package_name(path)
    try:
        if dotted is not None:
            return importlib.import_module(dotted)
        stat = path.stat()
        digest = hashlib.sha256(f"{path}:{stat.st_mtime_ns}:{stat.st_size}".encode()).hexdigest()[:12]
        name = f"_workbench_env_{path.stem}_{digest}"
        return sys.modules[name] if name in sys.modules else _execute(path, name)
    except Exception as error:
        raise ProblemsError(f"{path.name} cannot be loaded", [import_problem(path, error)]) from error


def import_problem(path: Path, error: BaseException) -> Problem:
    """Return what went wrong while a file was imported, with the line where it did."""
    if isinstance(error, SyntaxError):
        at = Path(error.filename) if error.filename else path
        return Problem("syntax", f"is wrong: {error.msg}", path=at, line=error.lineno)
    return Problem("import", f"fails with {type(error).__name__}: {error}", path=path, line=line_in(path, error))


def line_in(path: Path, error: BaseException) -> int | None:
    """Return the line of a file in which an error, or what caused it, came up; the innermost there is."""
    cause: BaseException | None = error
    line = None
    while cause is not None:
        lines = [frame.lineno for frame in traceback.extract_tb(cause.__traceback__) if frame.filename == str(path)]
        line = lines[-1] if lines else line
        cause = cause.__cause__
    return line


def _execute(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name; a file beside this one may be imported from it. At the end of the
    # path, so that no file in a project stands in for a library.
    sys.modules[name] = module
    sys.path.append(str(path.parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(str(path.parent))
    return module


def _package_name(path: Path) -> str | None:
    """Return the dotted name of a file in an installed package, or None for a file that stands alone."""
    parts, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    on_path = any(Path(entry or ".").resolve() == folder for entry in sys.path)
    return ".".join(parts) if len(parts) > 1 and on_path else None


def _copy(value: Any) -> Any:
    """Return plain data copied, so that nothing a caller changes reaches a catalogue entry or the registry."""
    if isinstance(value, Mapping):
        return {str(key): _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, (list, tuple)) else value
