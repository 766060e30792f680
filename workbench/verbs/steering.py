"""What the verbs that steer a live run have in common: asking, waiting for the answer, telling it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import RequestError, WorkbenchError
from workbench.project import Project
from workbench.verbs.run_text import for_stream, write_line
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.runs import ObservedState, RunDirectory

TIMEOUT_S = 60.0
POLL_S = 0.1
PATIENCE_S = 2.0
"""After so long a person is told what is waited for."""


@dataclass(frozen=True)
class Outcome:
    """What became of a request to one run."""

    run: RunDirectory
    state: ObservedState
    """As it is now."""
    ok: bool | None
    """Whether it was done; None where no answer came in time."""
    reason: str
    """What was done, or why not."""
    request: str | None = None
    """The request's id; None where the run was not even asked."""

    def to_json(self) -> dict[str, object]:
        """Return it as `--json` prints it."""
        return {
            "id": self.run.short_id,
            "name": self.run.name,
            "path": str(self.run.path),
            "state": str(self.state.state),
            "ok": self.ok,
            "reason": self.reason,
        }


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the flags that all of these verbs have."""
    parser.add_argument(
        "--timeout", type=float, default=TIMEOUT_S, metavar="S", help="seconds to wait for the answer (default: 60)"
    )
    parser.add_argument("-o", "--output-dir", type=Path, metavar="DIR", help="folder of runs (default: the project's)")
    parser.add_argument("--json", action="store_true", help="print one JSON document; progress goes to stderr")


def find_runs(args: argparse.Namespace, project: Project, names: Sequence[str]) -> list[RunDirectory]:
    """Return the runs that are meant: all are found before any is asked, so that a misspelt name does nothing.

    Raises:
        RequestError: One is not there, or the time to wait is none.
    """
    from workbench.runs import find_run

    if not 0 <= args.timeout < float("inf"):
        raise RequestError(f"--timeout takes a number of seconds, not {args.timeout:g}.")
    return list(dict.fromkeys(find_run(args.output_dir or project.runs, name) for name in names))


def ask(runs: Sequence[RunDirectory], wish: Callable[[RunDirectory], str], timeout_s: float) -> list[Outcome]:
    """Ask every run for something and wait for the answers.

    Args:
        runs: The runs.
        wish: Leaves the request and returns its id.
        timeout_s: How long to wait for all of them.

    Raises:
        WorkbenchError: The only run cannot be asked.
    """
    from workbench.runs import observe

    asked: dict[RunDirectory, str] = {}
    refused: dict[RunDirectory, WorkbenchError] = {}
    for run in runs:
        try:
            asked[run] = wish(run)
        except WorkbenchError as error:
            if len(runs) == 1:
                raise
            refused[run] = error
    answers = _await(asked, timeout_s)
    outcomes = []
    for run in runs:
        answer = answers.get(run)
        if run in refused:
            outcomes.append(Outcome(run, observe(run), False, str(refused[run])))
        elif answer is not None:
            outcomes.append(Outcome(run, observe(run), *answer, asked[run]))
        else:
            outcomes.append(Outcome(run, observe(run), None, _no_answer(run, timeout_s), asked[run]))
    return outcomes


def tell(outcomes: Sequence[Outcome], done: Callable[[Outcome], str], *, as_json: bool) -> int:
    """Write what became of the requests, and return the exit code.

    Args:
        outcomes: One a run.
        done: Says in a sentence, without the run's name, what was done.
        as_json: Write one document instead.
    """
    if as_json:
        write_json({"runs": [outcome.to_json() for outcome in outcomes]})
    else:
        for outcome in outcomes:
            if outcome.ok:
                write_line(f"{title(outcome.run)} {done(outcome)}", sys.stdout)
            else:
                said = outcome.reason if outcome.ok is None else f"refused: {outcome.reason}"
                write_line(f"{title(outcome.run)} {said.rstrip('.')}", sys.stdout)
    return int(not all(outcome.ok for outcome in outcomes))


def title(run: RunDirectory) -> str:
    """Return what a run is called in one glance: `half_cheetah b19e`."""
    return f"{run.short_name} {run.short_id}"


class Progress:
    """Tells a person that something is waited for: a line drawn over itself, and in a pipe one line once."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._began = time.monotonic()
        self._is_told = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_told and sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def show(self) -> None:
        """Tell it, once that is worth while."""
        waited_s = time.monotonic() - self._began
        if waited_s < PATIENCE_S:
            return
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{for_stream(f'{self._what}, {waited_s:.0f} s', sys.stderr)}")
            sys.stderr.flush()
        elif not self._is_told:
            write_line(f"{self._what}…", sys.stderr)
        self._is_told = True


def _await(asked: dict[RunDirectory, str], timeout_s: float) -> dict[RunDirectory, tuple[bool, str]]:
    from workbench.runs import observe
    from workbench.runs.steering import find_answer

    answers: dict[RunDirectory, tuple[bool, str]] = {}
    # For one that has ended, a process that is started for it answers.
    lives = {run for run in asked if not observe(run).state.is_ended}
    deadline = time.monotonic() + timeout_s
    what = "waiting for the end of an iteration"
    with Progress(what if len(asked) < 2 else f"{what} in each of {len(asked)} runs") as progress:
        while len(answers) < len(asked):
            for run, request_id in asked.items():
                if run not in answers and (found := find_answer(run, request_id)) is not None:
                    answers[run] = (found.ok, found.reason)
                elif run in lives and run not in answers and observe(run).state.is_ended:
                    # It may have answered between the two looks.
                    last = find_answer(run, request_id)
                    answers[run] = (False, "it ended before it answered") if last is None else (last.ok, last.reason)
            if time.monotonic() >= deadline:
                break
            progress.show()
            time.sleep(POLL_S)
    return answers


def _no_answer(run: RunDirectory, timeout_s: float) -> str:
    return (
        f"has not answered within {timeout_s:g} s; it will at the end of its iteration. "
        f"`workbench runs {run.short_id}` shows how it is"
    )
