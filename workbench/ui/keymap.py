"""A person's own keys: which command is on which, and what is wrong with the choice.

The rules are those of the registry itself: no key means two things on one screen, nothing that changes a run, a file
or a process is on a lower-case letter, and keys that multiplexers and terminals take are left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from textual.keys import _character_to_key

from workbench.suggest import nearest_one
from workbench.ui.commands import BY_ID, COMMANDS, SCREENS, Command, commands_for, show_key

LEFT_ALONE = frozenset(
    {
        "ctrl+a", "ctrl+b", "ctrl+h", "ctrl+i", "ctrl+j", "ctrl+k", "ctrl+m", "ctrl+s", "ctrl+z", "ctrl+backslash",
        "ctrl+c", "f10", "f11", "ctrl+pageup", "ctrl+pagedown", "delete", "backspace",
    }
)  # fmt: skip
"""Keys that a multiplexer, a terminal or a text field has its own use for."""

_NAMED = frozenset(
    {
        "enter", "escape", "tab", "shift+tab", "space", "up", "down", "left", "right", "home", "end", "pageup",
        "pagedown", "insert", *(f"f{number}" for number in range(1, 13)),
    }
)  # fmt: skip
_MODIFIERS = ("ctrl+", "shift+", "alt+", "super+")

Keymap = Mapping[str, tuple[str, ...]]
"""Keys in Textual's names by command id; only those a person chose."""


@dataclass(frozen=True)
class KeyProblem:
    """One thing wrong with a chosen key."""

    id: str
    """The command it was chosen for, as it was typed."""
    text: str


def read_keymap(chosen: Mapping[str, object]) -> tuple[dict[str, tuple[str, ...]], list[KeyProblem]]:
    """Return the keys that hold and what is wrong with the others.

    Args:
        chosen: A key or a list of keys by command id, as a settings file has them: `"X"`, `["/", "ctrl+n"]`.
    """
    keymap: dict[str, tuple[str, ...]] = {}
    problems: list[KeyProblem] = []
    for name, value in chosen.items():
        command = BY_ID.get(name)
        if command is None:
            near = nearest_one(name, BY_ID)
            problems.append(
                KeyProblem(name, f"{name} is no command{f'; nearest {near}' if near else ''}. App: Keys lists them.")
            )
            continue
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
            problems.append(KeyProblem(name, f"{name} takes a key or a list of keys, not {value!r}."))
            continue
        keys = tuple(_character_to_key(text) if len(text) == 1 else text.lower() for text in texts)
        wrong = [why for text, key in zip(texts, keys, strict=True) if (why := _why_not(command, text, key))]
        if wrong:
            problems += [KeyProblem(name, why) for why in wrong]
        else:
            keymap[name] = keys
    return _without_clashes(keymap, problems)


def keys_of(command: Command, keymap: Keymap) -> tuple[str, ...]:
    """Return the keys of a command, the person's own before ours."""
    return keymap.get(command.id, command.keys)


def label_of(command: Command, keymap: Keymap) -> str:
    """Return the first key of a command as a person reads it; empty where it has none."""
    keys = keys_of(command, keymap)
    return show_key(keys[0]) if keys else ""


def command_on(key: str, screen: str, keymap: Keymap) -> Command | None:
    """Return what a key does on a screen of the registry."""
    return next((command for command in commands_for(screen) if key in keys_of(command, keymap)), None)


def _why_not(command: Command, text: str, key: str) -> str:
    """Return why a command may not be on a key; empty where it may."""
    if key in LEFT_ALONE or key.startswith("alt+"):
        return f"{command.id}: {text} is left to terminals and multiplexers; choose another key."
    bare = key
    for modifier in _MODIFIERS:
        bare = bare.removeprefix(modifier)
    if not (len(text) == 1 or bare in _NAMED or len(bare) == 1 or "_" in bare):
        return f"{command.id}: {text} is no key. Write a sign, a name such as space or f5, or ctrl+n."
    if command.group == "act" and "task" not in command.scopes:
        is_upper = len(text) == 1 and (text.isupper() or not text.isalpha())
        if not is_upper:
            return f"{command.id} changes something, so it takes an upper-case letter or a sign, not {text}."
    return ""


def _without_clashes(
    keymap: dict[str, tuple[str, ...]], problems: list[KeyProblem]
) -> tuple[dict[str, tuple[str, ...]], list[KeyProblem]]:
    """Take out keys that would mean two things on one screen, until none does."""
    while clash := next(_clashes(keymap), None):
        mine, other, key, screen = clash
        problems.append(
            KeyProblem(
                mine,
                f"{mine}: {show_key(key)} is {other} on {screen.capitalize()} already; move that one too, or choose "
                "another key.",
            )
        )
        del keymap[mine]
    return keymap, problems


def _clashes(keymap: Keymap) -> Iterator[tuple[str, str, str, str]]:
    for screen in SCREENS:
        taken: dict[str, Command] = {}
        everywhere = [command for command in COMMANDS if "app" in command.scopes]
        for command in dict.fromkeys([*commands_for(screen), *everywhere]):
            for key in keys_of(command, keymap):
                other = taken.setdefault(key, command)
                if other.id == command.id:
                    continue
                mine, theirs = (command, other) if command.id in keymap else (other, command)
                if mine.id in keymap:
                    yield mine.id, theirs.id, key, screen


def as_textual(keymap: Keymap) -> dict[str, str]:
    """Return the keymap as Textual takes it."""
    return {name: ",".join(keys) for name, keys in keymap.items()}


def readable(keys: Sequence[str]) -> str:
    """Return keys as a person reads them: `/ ctrl+n`."""
    return " ".join(show_key(key) for key in keys)
