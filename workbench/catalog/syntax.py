"""What an environment module says of itself, read from its syntax tree; nothing of it is run."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from workbench.catalog.names import CLASS_SUFFIX
from workbench.errors import Problem

CONFIG_SUFFIX = "Config"
BASE_CONFIG = "BatchEnvConfig"
SIMULATION = Path(__file__).resolve().parents[1] / "simulation"


@dataclass(frozen=True)
class ConfigKeys:
    """Which keys a variant's `env_cfg` may have, with those of nested configurations under them."""

    owner: str
    """What the keys belong to, for a message."""
    keys: Mapping[str, ConfigKeys | None]

    def unknown(self, values: Mapping[str, object], prefix: str) -> Iterator[tuple[str, ConfigKeys]]:
        """Yield the dotted key of each value that has no place, and the keys that were possible there."""
        for name, value in values.items():
            if name not in self.keys:
                yield f"{prefix}.{name}", self
            elif (nested := self.keys[name]) is not None and isinstance(value, Mapping):
                yield from nested.unknown(value, f"{prefix}.{name}")


@dataclass(frozen=True)
class EnvClass:
    """A class of a module that is an environment."""

    name: str
    line: int
    docstring: str
    config: ConfigKeys | None
    """What its variants may set, or None where the syntax tree does not tell."""

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return self.docstring.strip().partition("\n")[0].strip()


@dataclass(frozen=True)
class EnvModule:
    """An environment module as its syntax tree shows it."""

    path: Path
    classes: tuple[EnvClass, ...] = ()
    problems: tuple[Problem, ...] = field(default=())
    passed_over: tuple[str, ...] = ()
    """Why each of its other classes is no environment."""


def read_module(path: Path) -> EnvModule:
    """Read a module's environment classes; a module that cannot be read has problems instead."""
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except SyntaxError as error:
        return EnvModule(
            path, problems=(Problem("syntax", f"is not valid Python: {error.msg}", None, path, error.lineno),)
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return EnvModule(path, problems=(Problem("file", f"cannot be read: {reason}", None, path),))
    except (RecursionError, MemoryError):
        return EnvModule(path, problems=(Problem("syntax", "is nested too deep to be read", None, path),))
    found = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    classes = [
        EnvClass(name, node.lineno, ast.get_docstring(node) or "", _config(node, found))
        for name, node in found.items()
        if _why_none(node) is None
    ]
    reasons = (_why_none(node) for node in found.values())
    return EnvModule(path, tuple(classes), passed_over=tuple(reason for reason in reasons if reason is not None))


def _why_none(node: ast.ClassDef) -> str | None:
    """Say why a class is no environment: it is one by its name, a base, and no abstract method of its own."""
    if node.name.startswith("_"):
        return f"{node.name} is kept to its module by the underscore"
    if not node.name.endswith(CLASS_SUFFIX) or node.name == CLASS_SUFFIX:
        return f"{node.name} is not named …{CLASS_SUFFIX}"
    if not node.bases:
        return f"{node.name} has no base class"
    abstract = next((item for item in node.body if _is_abstract(item)), None)
    return None if abstract is None else f"{node.name} has an abstract method"


def _is_abstract(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    return any(_last_name(decorator).startswith("abstract") for decorator in statement.decorator_list)


def _last_name(node: ast.expr) -> str:
    """Return the last word of a name: `abc.abstractmethod` and `abstractmethod` are the same."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript | ast.Call):
        return _last_name(node.value if isinstance(node, ast.Subscript) else node.func)
    return node.id if isinstance(node, ast.Name) else ""


def _config(node: ast.ClassDef, found: Mapping[str, ast.ClassDef]) -> ConfigKeys | None:
    config = found.get(f"{node.name}{CONFIG_SUFFIX}")
    if config is not None:
        return _fields(config, found, frozenset())
    return _keywords(node)


def _fields(config: ast.ClassDef, found: Mapping[str, ast.ClassDef], above: frozenset[str]) -> ConfigKeys | None:
    """Return the fields of a configuration, or None where one of its bases stands in another file."""
    keys: dict[str, ConfigKeys | None] = {}
    above |= {config.name}
    for base in config.bases:
        name = _last_name(base)
        if name in found and name not in above:
            inherited = _fields(found[name], found, above)
        elif name == BASE_CONFIG:
            inherited = base_config()
        else:
            inherited = None
        if inherited is None:
            return None
        keys |= inherited.keys
    for statement in config.body:
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                kind = _last_name(annotation)
                if kind in ("ClassVar", "InitVar"):
                    continue
                nested = found.get(kind) if kind not in above else None
                keys[name] = _fields(nested, found, above) if nested is not None else None
    return ConfigKeys(config.name, keys)


@cache
def base_config() -> ConfigKeys | None:
    """Return the fields that every batched environment's configuration has, or None where they cannot be found."""
    for path in sorted(SIMULATION.glob("*.py")):
        source = path.read_text(encoding="utf-8")
        if f"class {BASE_CONFIG}" not in source:
            continue
        found = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)}
        if BASE_CONFIG in found:
            return _fields(found[BASE_CONFIG], found, frozenset())
    return None


def _keywords(node: ast.ClassDef) -> ConfigKeys | None:
    """Return the constructor keywords of a plain environment, or None where it takes any or inherits them."""
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            arguments = statement.args
            if arguments.kwarg is not None or arguments.vararg is not None:
                return None
            names = [argument.arg for argument in _named(arguments)][1:]
            return ConfigKeys(f"{node.name}()", dict.fromkeys(name for name in names if name != "render_mode"))
    return None


def _named(arguments: ast.arguments) -> Iterable[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
