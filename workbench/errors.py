"""The errors a user may meet, each with a title, what is wrong, and what to do.

WorkbenchError
├── RequestError        the request was wrong: an unknown name, a bad flag, a bad value   (exit 2)
│   ├── NotFoundError   a name that matches nothing; says what is close
│   │   └── NoCheckpointError    a FileNotFoundError too
│   ├── ProblemsError   a file or a spec with a list of problems, all of them
│   │   └── ArgumentsError   arguments of a call from Python; a ValueError too
│   │       └── UnsupportedAlgorithmError
│   └── NotTrainedError a trainer without a policy, or closed; a RuntimeError too
├── WorkFailedError     the work was asked for rightly and failed                         (exit 1)
│   ├── GraphicsError   no window or no offscreen picture can be made here
│   └── SimulationError an environment raised, or produced a number that is not finite
└── CheckpointError     a checkpoint that is missing parts or does not fit                (exit 2)
    └── BadCheckpointError       one that a trainer cannot take up; a ValueError too

The command line prints them without a traceback; the app shows them as a card.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a file, a spec or a request.

    Problems are collected, never raised one by one, so that a user mends a file in one go.
    """

    key: str
    """The dotted key at fault (`ppo.gamma`), or a word for the whole (`syntax`, `name`)."""
    message: str
    """What is wrong and what is accepted, as one sentence without the key."""
    nearest: str | None = None
    """The nearest valid key or value, where one is close."""
    path: Path | None = None
    """The file at fault."""
    line: int | None = None
    """The line in that file, counted from one."""
    severity: Literal["error", "warning"] = "error"
    """Warnings are shown and never block."""

    def __str__(self) -> str:
        where = "" if self.path is None else f"{self.path}{'' if self.line is None else f':{self.line}'}: "
        near = "" if self.nearest is None else f"; nearest is {self.nearest}"
        return f"{where}{self.key} {self.message}{near}" if self.key else f"{where}{self.message}{near}"


class WorkbenchError(Exception):
    """An error with a title for a card, a sentence, and what to do about it.

    Args:
        message: What is wrong, and where.
        hint: What to type or change instead; empty where the message says it.
    """

    title: ClassVar[str] = "Something went wrong"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class RequestError(WorkbenchError):
    """The request was wrong."""

    title = "That cannot be done"
    exit_code = 2


class NotFoundError(RequestError):
    """A name that matches nothing."""

    title = "Not found"


class ProblemsError(RequestError):
    """A file or a spec with problems, all of them listed."""

    title = "This needs mending first"

    def __init__(self, what: str, problems: Iterable[Problem], *, hint: str = "") -> None:
        self.problems: Sequence[Problem] = tuple(problems)
        lines = [f"{what}:", *(f"  {problem}" for problem in self.problems)]
        super().__init__("\n".join(lines), hint=hint)


class CheckpointError(RequestError):
    """A checkpoint that is missing a part, was altered, or does not fit the environment."""

    title = "This checkpoint cannot be opened"


class WorkFailedError(WorkbenchError):
    """The work was asked for rightly and failed."""

    title = "The work failed"
    exit_code = 1


class GraphicsError(WorkFailedError):
    """No window, or no picture without one, can be made on this machine."""

    title = "No picture can be drawn here"


class SimulationError(WorkFailedError):
    """An environment raised, or produced a number that is not finite."""

    title = "The environment failed"


class ArgumentsError(ProblemsError, ValueError):
    """Arguments of a call from Python with problems, all of them listed; a `ValueError` too."""


class UnsupportedAlgorithmError(ArgumentsError):
    """An algorithm that nothing here trains with; a `ValueError` too."""


class NotTrainedError(RequestError, RuntimeError):
    """A trainer that has no policy yet, or is closed; a `RuntimeError` too."""

    title = "There is no policy"


class NoCheckpointError(NotFoundError, FileNotFoundError):
    """A checkpoint that is not where it was said to be; a `FileNotFoundError` too."""


class BadCheckpointError(CheckpointError, ValueError):
    """A checkpoint that a trainer cannot take up: torn, or of another algorithm or environment; a `ValueError` too."""
