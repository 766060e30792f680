"""Several targets at once: found, opened each in an environment of its own, and closed together."""

from __future__ import annotations

import argparse
import contextlib
import filecmp
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from workbench.errors import RequestError
from workbench.project import Project
from workbench.viewer import ensemble
from workbench.viewer.session import Session
from workbench.viewer.target import Opening, Target, find_target


def find_targets(project: Project, args: argparse.Namespace) -> list[Target]:
    """Return what the words of `play` or `record` name, all in one environment.

    Raises:
        WorkbenchError: One of them is not there, or they are of different environments.
    """
    words = [args.target, *args.others]
    ensemble.check_count(len(words))
    opening = Opening(normalizer=args.normalizer, trust=args.trust)
    targets = [find_target(project, word, agent=args.agent, env=args.env, opening=opening) for word in words]
    for word, target in zip(words, targets, strict=True):
        if not _is_same(target.source, targets[0].source):
            other = targets[0]
            names = (target.name, other.name)
            if names[0] == names[1]:
                names = (f"{target.name} in {target.source.module}", f"{other.name} in {other.source.module}")
            raise RequestError(
                f"`{word}` is of {names[0]}, and `{words[0]}` of {names[1]}: side by side all play the same.",
                hint="--env ID lets all play in one environment that they fit.",
            )
    return targets


def _is_same(source: Any, other: Any) -> bool:
    """Tell whether two sources make the same environment: the same file, or a copy of it in another project."""
    if source == other:
        return True
    if source.module is None or other.module is None or replace(source, module=other.module) != other:
        return False
    try:
        return filecmp.cmp(source.module, other.module, shallow=False)
    except OSError:
        return False


def open_sessions(
    targets: Sequence[Target], stack: contextlib.ExitStack, *, seed: int, stochastic: bool
) -> list[Session]:
    """Open each target in an environment of its own, closed with the stack.

    Raises:
        WorkbenchError: An environment or a policy cannot be opened.
    """
    sessions = []
    for target in targets:
        session = target.open(seed=seed, stochastic=stochastic)
        stack.callback(session.env.close)
        sessions.append(session)
    return sessions


@contextlib.contextmanager
def open_together(targets: Sequence[Target], *, seed: int, stochastic: bool) -> Iterator[Session]:
    """Open what is to be recorded: one session, or several as one.

    Raises:
        WorkbenchError: An environment or a policy cannot be opened.
    """
    with contextlib.ExitStack() as stack:
        sessions = open_sessions(targets, stack, seed=seed, stochastic=stochastic)
        yield sessions[0] if len(sessions) == 1 else ensemble.Together(sessions)


def label_of(targets: Sequence[Target]) -> str:
    """Return what a file of them is called."""
    return targets[0].label + (f"_and_{len(targets) - 1}_more" if len(targets) > 1 else "")
