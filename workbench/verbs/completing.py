"""What could stand where the cursor is on a command line, from the same parsers that will read it.

Run names come from the run folders and environments from a small cache, so that a press of the tab key loads neither
the specs nor a catalogue.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.project import Project, open_project

if TYPE_CHECKING:
    from workbench.runs import RunDirectory, RunState

FILES, DIRECTORIES = "!files", "!directories"
"""Told instead of candidates: the shell knows its files best."""

Candidate = tuple[str, str]
"""A word and what it is."""

_ALGORITHMS: tuple[Candidate, ...] = (
    ("ppo", "on-policy, many copies"),
    ("sac", "off-policy, stochastic"),
    ("td3", "off-policy, deterministic"),
)
"""Told here too: importing the specs for their names takes longer than a shell waits; a test holds them equal."""


@dataclass(frozen=True)
class CommandLine:
    """The command as its parsers declare it."""

    top: argparse.ArgumentParser
    verbs: Mapping[str, str]
    """Each with its one line."""
    parser_of: Callable[[str], argparse.ArgumentParser]


def print_candidates(line: CommandLine, words: Sequence[str]) -> None:
    """Print what the last of `words` may become, one a line, each behind a tab with what it is."""
    from workbench.verbs.writing import on_one_line

    for word, text in candidates(line, words):
        print(f"{on_one_line(word)}\t{on_one_line(text)}" if text else on_one_line(word))  # noqa: T201


def candidates(line: CommandLine, words: Sequence[str], project: Project | None = None) -> list[Candidate]:
    """Return what the last of `words` may become, each beginning with it; or `FILES` or `DIRECTORIES` alone.

    Args:
        line: The command.
        words: What stands behind `workbench` up to the cursor; the last may be empty.
        project: Where runs and environments are; found from the words and the environment by default.
    """
    *before, current = words or [""]
    verb, place = _verb(line.top, before)
    project = project or _project(before)
    if verb is None:
        if current.startswith("-") or _awaits_value(line.top, before):
            return _at_cursor(line.top, before, current, project, "")
        found = [(name, text) for name, text in line.verbs.items() if name.startswith(current)]
        return sorted(found)
    if verb not in line.verbs:
        return []
    return _at_cursor(line.parser_of(verb), before[place + 1 :], current, project, verb)


def _verb(top: argparse.ArgumentParser, words: Sequence[str]) -> tuple[str | None, int]:
    """Return the verb among the words before the cursor, and where it stands."""
    options = _options(top)
    skip = 0
    for place, word in enumerate(words):
        if skip:
            skip -= 1
        elif word.startswith("-"):
            skip = _takes(options.get(word.partition("=")[0])) if "=" not in word else 0
        else:
            return word, place
    return None, len(words)


def _project(words: Sequence[str]) -> Project | None:
    from workbench.errors import WorkbenchError

    named = [words[index + 1] for index, word in enumerate(words[:-1]) if word == "--project"]
    named += [word.partition("=")[2] for word in words if word.startswith("--project=")]
    try:
        return open_project(Path(named[-1]).expanduser() if named else None)
    except WorkbenchError:
        return None


def _at_cursor(
    parser: argparse.ArgumentParser, before: Sequence[str], current: str, project: Project | None, verb: str
) -> list[Candidate]:
    options = _options(parser)
    values = _Values(project, verb, frozenset(before))
    name, equals, value = current.partition("=")
    if equals and name in options and _takes(options[name]):
        return [(f"{name}={word}", text) for word, text in values.of(options[name], value)]
    waiting = _waiting(options, before)
    if waiting is not None and waiting.nargs not in ("?", "*"):
        return values.of(waiting, current)
    if current.startswith("-"):
        shown = [
            (text, action.help or "")
            for action in _actions(parser)
            for text in action.option_strings
            if action.help is not argparse.SUPPRESS and text.startswith(current)
        ]
        shown.sort(key=lambda item: (not item[0].startswith("--"), item[0]))
        # A filter may have terms with a minus.
        positional = _positional(parser, options, before)
        is_filter = positional is not None and positional.metavar == "FILTER"
        return shown + (values.of(positional, current) if positional is not None and is_filter else [])
    found = values.of(waiting, current) if waiting is not None else []
    positional = _positional(parser, options, before)
    return found + (values.of(positional, current) if positional is not None else [])


def _awaits_value(parser: argparse.ArgumentParser, before: Sequence[str]) -> bool:
    return _waiting(_options(parser), before) is not None


def _waiting(options: Mapping[str, argparse.Action], before: Sequence[str]) -> argparse.Action | None:
    """Return the option whose value stands at the cursor, or may."""
    if not before:
        return None
    last = options.get(before[-1])
    if last is not None:
        return last if _takes(last) or last.nargs in ("?", "*") else None
    for distance, word in enumerate(reversed(before)):
        if (action := options.get(word)) is not None:
            return action if action.nargs in ("*", "+") or _takes(action) > distance else None
    return None


def _positional(
    parser: argparse.ArgumentParser, options: Mapping[str, argparse.Action], before: Sequence[str]
) -> argparse.Action | None:
    """Return the argument without a name that stands at the cursor."""
    skip, given = 0, 0
    for word in before:
        if skip:
            skip -= 1
        elif word.startswith("-") and word != "-":
            skip = 0 if "=" in word else _takes(options.get(word))
        else:
            given += 1
    for action in _actions(parser):
        if action.option_strings or action.help is argparse.SUPPRESS:
            continue
        if action.nargs in ("*", "+", argparse.REMAINDER) or not given:
            return action
        given -= action.nargs if isinstance(action.nargs, int) else 1
    return None


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    # argparse offers no other way to ask a parser what it takes.
    return parser._actions


def _options(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    return {name: action for action in _actions(parser) for name in action.option_strings}


def _takes(action: argparse.Action | None) -> int:
    """Return how many values an option always takes."""
    if action is None:
        return 0
    if isinstance(action.nargs, int):
        return action.nargs
    return 1 if action.nargs in (None, "+") else 0


@dataclass(frozen=True)
class _Values:
    """What the value of an argument can be, by the name its help gives it."""

    project: Project | None
    verb: str
    words: frozenset[str]

    def of(self, action: argparse.Action, current: str) -> list[Candidate]:
        if action.choices is not None:
            return _beginning(current, [(str(choice), "") for choice in action.choices])
        name = action.metavar if isinstance(action.metavar, str) else ""
        if name == "DIR":
            return [(DIRECTORIES, "")]
        if name in ("FILE", "SIDECAR"):
            return [(FILES, "")]
        if name == "FILTER":
            return _beginning(current, list(self._filters(current)))
        if name == "ALGORITHM":
            return _beginning(current, list(_ALGORITHMS))
        if name == "FIELD":
            return _beginning(current, [("recent", "the newest first"), *_fields()])
        if name == "KEY=VALUE":
            return _beginning(current, list(_overrides(self.verb)))
        found: list[Candidate] = []
        if "RUN" in name or "CKPT" in name:
            found += self._runs(current, checkpoints="CKPT" in name)
        if "ENV" in name or name == "PATTERN" or "CKPT" in name:
            found += _beginning(current, [(one, "environment") for one in self._environments()])
        return found or ([(FILES, "")] if "CKPT" in name else [])

    @property
    def _runs_root(self) -> Path | None:
        return None if self.project is None else self.project.runs

    def _runs(self, current: str, *, checkpoints: bool) -> list[Candidate]:
        from workbench.runs.directory import run_directories
        from workbench.runs.state import StateFile

        if self._runs_root is None:
            return []
        if self.verb == "delete" and "--undo" in self.words:
            from workbench.runs.trash import trashed

            return _beginning(current, [(item.run.short_id, item.name) for item in trashed(self._runs_root)])
        found = sorted(run_directories(self._runs_root), key=lambda run: (run.stamp, run.name), reverse=True)
        name, colon, _ = current.partition(":")
        if colon and checkpoints:
            return _beginning(current, [item for run in found for item in _checkpoints(run, name)])
        ids = [run.short_id for run in found]
        listed: list[Candidate] = []
        for run in found:
            stored = StateFile(run.state_path).read()
            if stored is None or _is_wanted(self.verb, stored.state):
                state = "" if stored is None else f" {stored.state}"
                text = f"{run.short_name} {run.algorithm.upper()}{state}"
                listed += [(run.short_id, text)] if ids.count(run.short_id) == 1 else []
                # A full name only where somebody began to type one: it says the same as its last digits.
                listed += [(run.name, text)] if current else []
        return _beginning(current, listed)

    def _environments(self) -> Sequence[str]:
        from workbench.verbs.known_names import environment_names

        return environment_names(self.project) if self.project is not None else ()

    def _filters(self, current: str) -> Iterator[Candidate]:
        from workbench.runs.filter_fields import STATE_GROUPS
        from workbench.runs.states import RunState

        minus = "-" if current.startswith("-") else ""
        yield from ((f"{minus}{name}:", text) for name, text in _fields())
        yield (f"{minus}has:", "runs that have one")
        yield from ((f"{minus}state:{state}", "") for state in (*STATE_GROUPS, *RunState))
        yield from ((f"{minus}algo:{name}", "") for name in ("ppo", "sac", "td3"))
        if "env:" in current:
            yield from ((f"{minus}env:{name}", "") for name in self._environments())


def _is_wanted(verb: str, state: RunState) -> bool:
    match verb:
        case "stop":
            return not state.is_ended
        case "pause" | "set" | "checkpoint":
            return state.is_live
        case "queue":
            return str(state) == "queued"
        case "delete":
            # One that crashed is stored as live: its folder cannot tell without a look at the process.
            return str(state) != "queued"
    return True


def _checkpoints(run: RunDirectory, name: str) -> Iterator[Candidate]:
    if name in (run.short_id, run.name):
        written = run.checkpoints()
        if written:
            yield f"{name}:latest", f"{written[-1].steps} steps"
        best = run.best()
        if best is not None:
            yield f"{name}:best", f"{best.steps} steps"
        yield from ((f"{name}:{item.steps}", "") for item in reversed(written))


def _fields() -> list[Candidate]:
    from workbench.runs.filter_fields import FIELDS

    return [(item.name, item.help) for item in FIELDS]


def _overrides(verb: str) -> Iterator[Candidate]:
    from workbench.specs import live_rows, override_rows

    rows = live_rows() if verb == "set" else override_rows()
    yield from ((f"{name}=", row.doc) for name, row in rows.items())


def _beginning(current: str, found: Sequence[Candidate]) -> list[Candidate]:
    return [(word, text) for word, text in found if word.startswith(current)]
