"""The settings of a person, in a TOML file of their configuration folder; whatever is wrong in it leaves the rest.

The docstrings of the fields are what the file's template says of them. The file is written once, with every setting
commented out, and never again: it belongs to the person.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

import platformdirs

from workbench import durable
from workbench.suggest import nearest_one
from workbench.ui.charts.weights import WEIGHTS
from workbench.ui.graphics.choosing import Wanted
from workbench.ui.keymap import Keymap, read_keymap

Notices = Literal["off", "bell", "desktop"]


@dataclass(frozen=True)
class Settings:
    """What a person set; the values here hold where the file says nothing."""

    theme: str = ""
    """A theme by its name: workbench-dark, workbench-light (both with curves that the colour-blind tell apart), or any
    that App: Theme lists. Empty: the one chosen last in this project."""
    notices: Notices = "off"
    """How a notice calls while the terminal is not looked at: off, bell, or desktop (a notice of the desktop)."""
    preview: Wanted = "halfblocks"
    """How pictures are drawn in the terminal: halfblocks (two pixels a cell, anywhere), kitty or sixel (real pictures,
    where the terminal has that protocol; `workbench doctor` tells), auto (the best it says it has), or off."""
    smoothing: float | None = None
    """How strongly curves are smoothed at the start: 0, 0.6, 0.9 or 0.97. Left out: as last time."""
    editor: str = ""
    """What opens texts, with its flags: "code --wait". Empty: $VISUAL, then $EDITOR."""
    keys: Keymap = field(default_factory=dict)
    """Keys by command, a key or a list of keys; App: Keys shows the names and what is on each key now."""


@dataclass(frozen=True)
class SettingProblem:
    """One thing wrong in the file."""

    line: int
    """Counted from 1; 0 where no line can be named."""
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


def settings_path() -> Path:
    """Return where this person's settings are."""
    return Path(platformdirs.user_config_dir("workbench")) / "settings.toml"


def read_settings(path: Path, *, themes: frozenset[str] = frozenset()) -> tuple[Settings, list[SettingProblem]]:
    """Return the settings in a file, and what is wrong with those left out; a missing file sets nothing.

    Args:
        path: The file.
        themes: Names of the themes there are; none checks no name.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Settings(), []
    except (OSError, UnicodeDecodeError) as error:
        return Settings(), [SettingProblem(0, f"{path} cannot be read: {error}.")]
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"at line (\d+)", str(error))
        return Settings(), [
            SettingProblem(int(where[1]) if where else 0, f"this is not TOML: {str(error).partition(' (at ')[0]}.")
        ]
    return _parse(document, lambda name: _line_of(text, name), themes)


def _parse(
    document: Mapping[str, Any], line_of: Callable[[str], int], themes: frozenset[str]
) -> tuple[Settings, list[SettingProblem]]:
    settings, problems = Settings(), list[SettingProblem]()
    names = [item.name for item in fields(Settings)]
    for name, value in document.items():
        if name not in names:
            near = nearest_one(name, names)
            problems.append(
                SettingProblem(
                    line_of(name),
                    f"{name} is no setting{f'; nearest {near}' if near else ''}. There are {_join(names)}.",
                )
            )
        elif name == "keys":
            if not isinstance(value, dict):
                problems.append(SettingProblem(line_of(name), "keys is a table: [keys], then one command a line."))
                continue
            keymap, wrong = read_keymap(_flat(value))
            problems += [SettingProblem(line_of(item.id), item.text) for item in wrong]
            settings = replace(settings, keys=keymap)
        elif why := _why_not(name, value, themes):
            problems.append(SettingProblem(line_of(name), why))
        else:
            known: dict[str, Any] = {name: float(value) if name == "smoothing" else value}
            settings = replace(settings, **known)
    return settings, problems


def _why_not(name: str, value: object, themes: frozenset[str]) -> str:
    """Return why a value cannot be taken; empty where it can."""
    options: dict[str, tuple[object, ...]] = {
        "notices": get_args(Notices),
        "preview": get_args(Wanted),
        "smoothing": WEIGHTS,
    }
    if name in options:
        is_one = value in options[name] and not isinstance(value, bool)
        words = _join([f"{item:g}" if isinstance(item, float) else str(item) for item in options[name]], "or")
        return "" if is_one else f"{name} is {words}, not {value!r}."
    if not isinstance(value, str):
        return f"{name} is a text, not {value!r}."
    if name == "theme" and value and themes and value not in themes:
        near = nearest_one(value, themes)
        return f"there is no theme {value}{f'; nearest {near}' if near else ''}. App: Theme lists them."
    return ""


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    """Return `run.stop = "X"`, which TOML reads as a table in a table, as one name."""
    found: dict[str, object] = {}
    for name, value in table.items():
        whole = f"{prefix}{name}"
        found |= _flat(value, f"{whole}.") if isinstance(value, dict) else {whole: value}
    return found


def _line_of(text: str, name: str) -> int:
    """Return the line on which a name is set; 0 where it stands in none, as in a table written in one line."""
    last = name.rpartition(".")[2]
    plain = re.compile(rf"^\s*\[?\s*[\"']?(?:{re.escape(name)})[\"']?\s*[=\]]")
    short = re.compile(rf"^\s*[\"']?{re.escape(last)}[\"']?\s*=")
    lines = text.splitlines()
    for pattern in (plain, short):
        for number, line in enumerate(lines, start=1):
            if pattern.match(line):
                return number
    return 0


def _join(words: list[str], last: str = "and") -> str:
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def template() -> str:
    """Return the file as it is first written: every setting with what it means, all commented out."""
    lines = ["# Settings of workbench. ctrl+r in the app reads them again. Take the # away from what you set.", ""]
    defaults = Settings()
    for name, text in _docstrings().items():
        lines += [f"# {line}" for line in textwrap.wrap(text, 100)]
        if name == "keys":
            lines += ["# [keys]", '# "run.stop" = "X"', '# "find.here" = ["/", "f3"]']
        else:
            value = getattr(defaults, name)
            lines += [f"# {name} = {0.9 if value is None else repr(value).replace(chr(39), chr(34))}", ""]
    return "\n".join(lines) + "\n"


def ensure_file(path: Path) -> Path:
    """Write the template where there is no file yet, and return the path.

    Raises:
        OSError: The folder cannot be written.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        durable.write_text(path, template())
    return path


def _docstrings() -> dict[str, str]:
    """Return the docstring under each field."""
    body = ast.parse(textwrap.dedent(inspect.getsource(Settings))).body[0]
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for item, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and isinstance(after, ast.Expr):
            assert isinstance(after.value, ast.Constant)
            found[item.target.id] = " ".join(str(after.value.value).split())
    return found
