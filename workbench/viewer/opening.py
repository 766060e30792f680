"""Everything that plays, opened from the flags of `play` and closed again: environments, policies, view, graphics."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from workbench.errors import WorkbenchError
from workbench.project import Project
from workbench.runs.recordings import EpisodeResult
from workbench.viewer import lost_display, memory
from workbench.viewer.cast import Cast, title_of
from workbench.viewer.company import Layout
from workbench.viewer.orders import Orders
from workbench.viewer.player import Player
from workbench.viewer.preview import make_painter
from workbench.viewer.screens import Screens
from workbench.viewer.session import control_period, longest_episode
from workbench.viewer.stage import make_stage
from workbench.viewer.targets import find_targets, open_sessions
from workbench.viewer.view import ViewSettings


@dataclass(frozen=True)
class Show:
    """What is open."""

    orders: Orders
    layout: Layout
    limit: int | None
    """Steps after which an episode is cut."""


@contextlib.contextmanager
def open_show(
    args: argparse.Namespace,
    project: Project,
    *,
    on_fault: Callable[[WorkbenchError], None],
    on_episode: Callable[[int, EpisodeResult, int], None],
    on_lost: Callable[[], int],
) -> Iterator[Show]:
    """Open what `play` was asked for; the view is as it was left, and is kept again at the end.

    Args:
        args: The flags of `play`.
        project: Where what they name is looked up.
        on_fault: Told why a newest checkpoint could not be taken.
        on_episode: Told of each episode that ended; see `Player`.
        on_lost: Called where the display of the window is gone, when the view has been kept; returns the exit code of
            the process, which ends at once.

    Raises:
        WorkbenchError: Something cannot be opened.
    """

    def fault(error: WorkbenchError) -> None:
        orders.notify(error)
        on_fault(error)

    targets = find_targets(project, args)
    layout: Layout = "ghosts" if args.ghost else "tiles"
    with contextlib.ExitStack() as stack:
        sessions = open_sessions(targets, stack, seed=args.seed, stochastic=args.stochastic)
        casts = [
            Cast(project, target, session, stochastic=args.stochastic, on_fault=fault)
            for target, session in zip(targets, sessions, strict=True)
        ]
        player = Player(
            sessions[0],
            others=sessions[1:],
            period_s=control_period(sessions[0].env),
            title=title_of(casts),
            has_policy=targets[0].agent == "policy",
            episodes=args.episodes,
            on_episode=on_episode,
            on_begin=lambda: orders.take_newest(),
        )
        name = memory.name_of(targets[0].name, len(targets), layout)
        view = memory.recall(name, args.theme)
        screens = Screens(
            player,
            view,
            open_window=lambda player, theme: make_stage(orders, theme, layout=layout),
            make_painter=lambda player, theme, size: make_painter(player, theme, size, view, layout),
        )
        orders = Orders(player, casts, view, screens)
        stack.callback(memory.remember, name, view)
        stack.enter_context(lost_display.handled(lambda: _keep(name, view, on_lost)))
        stack.callback(screens.close)
        yield Show(orders, layout, longest_episode(sessions[0].env))


def _keep(name: str, view: ViewSettings, on_lost: Callable[[], int]) -> int:
    """Keep the view, which nothing else does any more, and return the exit code."""
    memory.remember(name, view)
    return on_lost()
