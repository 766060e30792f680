"""Playing under the orders of another program: commands from stdin, events to stdout, frames to a descriptor.

The protocol is declared in `workbench.remote.declaration`. Nothing that comes in ends the player but `quit`, the end of
stdin and the death of the parent; nothing that goes out makes it wait.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.errors import SimulationError, WorkbenchError
from workbench.project import Project
from workbench.remote.declaration import VERSION
from workbench.remote.frames import Frame
from workbench.remote.lines import Command, encode_event
from workbench.runs.recordings import EpisodeResult
from workbench.viewer import options, window
from workbench.viewer.cast import titles_of
from workbench.viewer.company import Layout
from workbench.viewer.orders import Orders
from workbench.viewer.pipes import Inbox, Outlet

STATES_HZ = 10.0
"""How often the state is told while it changes."""

PARENT_S = 1.0
"""How often the parent is looked for."""

NICENESS = 10
"""A player without a window yields to training, as recordings do; a window that someone moves must answer at once."""
FOLLOWING_NICENESS = 19
"""One that follows a run that trains takes nothing but what that leaves over."""

_ABOUT = {
    "agent": "policy", "checkpoint": "policy", "walk": "policy", "follow": "policy", "stochastic": "policy",
    "window": "window", "preview": "preview", "theme": "window",
}  # fmt: skip


@dataclass(frozen=True)
class Pipes:
    """What leads out of and into the process."""

    inbox: Inbox
    events: Outlet
    frames: Outlet
    parent: Callable[[], int] = os.getppid
    """The process that started this one, as it is now."""


class Remote:
    """A stage whose orders come from a pipe.

    Args:
        orders: What is played, who acts, where it is seen, and what commands do to it.
        pipes: Whom it hears and tells.
        limit: Steps after which an episode is cut.
        layout: How several policies are arranged.
        on_following: Called once when a run is followed with no window open.
        now: Seconds that only grow.
    """

    def __init__(
        self,
        orders: Orders,
        pipes: Pipes,
        *,
        limit: int | None = None,
        layout: Layout = "tiles",
        on_following: Callable[[], None] = lambda: None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.reason = ""
        """Why it ends: `window`, `quit` or `parent`; empty while it goes on."""
        self._orders = orders
        self._player = player = orders.player
        self._screens = orders.screens
        self._pipes = pipes
        self._layout = layout
        orders.on_inspect = lambda step: self.tell("step", **step)
        self._on_following = on_following
        self._now = now
        self._parent = pipes.parent()
        self._looked_at = now()
        self._told: dict[str, Any] = {}
        self._told_view: dict[str, Any] = {}
        self._told_at = -1.0
        self._sequence = 0
        self._yields = False
        cast = orders.cast
        self.tell(
            "ready",
            version=VERSION,
            title=cast.target.title,
            environment=cast.target.name,
            run=None if cast.run is None else str(cast.run.path),
            period_s=player.period_s,
            limit=limit,
            seekable=player.seekable,
        )

    # A stage, for the loop of the window.

    def show(self, moved_s: float) -> None:
        """Obey what was ordered, draw what is due, and tell how it goes."""
        obeyed = self._hear()
        self._yield_to_training()
        self._screens.show(moved_s)
        self._send_picture()
        self._tell_state(at_once=obeyed)
        self._pipes.events.flush()
        self._pipes.frames.flush()
        self._look_for_parent()

    def closing(self) -> bool:
        """Tell whether it is over."""
        if not self.reason and self._screens.closing():
            self.reason = "window"
        return bool(self.reason)

    def close(self) -> None:
        """Let go of all graphics."""
        self._screens.close()

    # Telling.

    def tell(self, event: str, **values: Any) -> None:
        """Tell an event."""
        self._pipes.events.send(encode_event(event, **values))

    def tell_error(self, about: str, error: WorkbenchError, *, fatal: bool = False) -> None:
        """Tell what was refused or failed."""
        self.tell("error", about=about, message=error.message, hint=error.hint, fatal=fatal)

    def tell_episode(self, number: int, ended: EpisodeResult, lane: int = 0) -> None:
        """Tell how an episode ended."""
        cast = self._orders.casts[lane]
        self.tell(
            "episode",
            episode=self._player.session.number + 1,
            seed=ended.seed,
            length=ended.length,
            reason=ended.reason or "",
            agent=cast.target.agent,
            checkpoint=cast.steps,
            **{"return": ended.return_},
        )

    def state(self) -> dict[str, Any]:
        """Return the values of a `state`."""
        player, cast, session = self._player, self._orders.cast, self._player.session
        shown = player.shown
        return {
            "episode": session.number + 1,
            "seed": session.seed,
            "step": shown.step,
            "time_s": round(shown.step * player.period_s, 6),
            "return": shown.return_,
            "reward": shown.reward,
            "terms": dict(shown.terms),
            "first": player.first,
            "last": player.last_step if player.is_live is False else shown.step,
            "playing": player.playing,
            "speed": player.speed,
            "agent": cast.target.agent,
            "stochastic": cast.stochastic,
            "checkpoint": cast.steps,
            "age_s": cast.age_s,
            "follow": cast.follows,
            "window": self._screens.has_window,
            "preview": self._screens.preview,
            "theme": self._screens.theme,
            "ended": session.ended.reason if session.ended is not None and player.is_live else None,
        }

    def _tell_state(self, *, at_once: bool) -> None:
        now = self._now()
        if not at_once and now - self._told_at < 1 / STATES_HZ:
            return
        state = self.state()
        # An age by itself is no news.
        news = {**state, "age_s": None}
        view = {**self._orders.view.told(), "pulled": self._orders.pulled}
        if not at_once and news == self._told and view == self._told_view:
            return
        line = encode_event("state", **state)
        if len(self._player.lanes) > 1:
            line += encode_event("members", **self._members())
        if view != self._told_view:
            line += encode_event("view", **view)
        if at_once:
            self._pipes.events.send(line)
        elif not self._pipes.events.offer(line):
            return
        self._told, self._told_at, self._told_view = news, now, view

    def _members(self) -> dict[str, Any]:
        player, titles = self._player, titles_of(self._orders.casts)
        at = None if player.is_live else player.at
        returns = {title: lane.moment(at).return_ for title, lane in zip(titles, player.lanes, strict=True)}
        ghosts = self._layout == "ghosts"
        return {"chosen": player.chosen, "ghosts": ghosts, "titles": titles, "returns": returns}

    def _send_picture(self) -> None:
        frames = self._pipes.frames
        if not frames.is_clear:
            return
        try:
            picture = self._screens.picture()
        except WorkbenchError as error:
            self.tell_error("preview", error)
            return
        if picture is None:
            return
        height, width = picture.shape[:2]
        frame = Frame(width, height, self._sequence, self._player.shown.step, picture.tobytes())
        if frames.offer(frame.encode()):
            self._sequence += 1
        else:
            self._screens.missed()

    # Hearing.

    def _hear(self) -> bool:
        """Carry out what was ordered; return whether anything was."""
        heard = False
        for order in self._pipes.inbox.drain():
            heard = True
            if order is None:
                self.reason = self.reason or "parent"
            elif isinstance(order, WorkbenchError):
                self.tell_error("command", order)
            else:
                self.attempt(order)
        return heard

    def attempt(self, order: Command) -> None:
        """Carry out one command, or tell why not.

        Raises:
            SimulationError: The environment raised.
        """
        try:
            self.obey(order)
        except SimulationError:
            raise
        except WorkbenchError as error:
            self.tell_error(_ABOUT.get(order.name, "command"), error)

    def obey(self, order: Command) -> None:
        """Carry out one command.

        Raises:
            WorkbenchError: It cannot be carried out; everything is as before.
        """
        if order.name == "quit":
            self.reason = "quit"
        else:
            self._orders.obey(order)

    def _yield_to_training(self) -> None:
        if not self._yields and not self._screens.has_window and any(cast.follows for cast in self._orders.casts):
            self._yields = True
            self._on_following()

    def _look_for_parent(self) -> None:
        now = self._now()
        if now - self._looked_at >= PARENT_S:
            self._looked_at = now
            if self._pipes.parent() != self._parent:
                self.reason = self.reason or "parent"


def run(args: argparse.Namespace, project: Project) -> int:
    """Play under orders until told to end, and return the exit code.

    Args:
        args: The flags of `play`.
        project: Where what they name is looked up.
    """
    options.check_play(args)
    frames = options.check_descriptor(args.frames_fd)
    events = Outlet(_take_stdout())
    # Without a buffer: its lock, held by a thread that waits for a line, would abort the interpreter when it ends.
    orders = open(0, "rb", buffering=0, closefd=False)  # noqa: SIM115
    try:
        reason = _play(args, project, Pipes(Inbox(orders), events, Outlet(frames)))
    except WorkbenchError as error:
        events.send(encode_event("error", about="playing", message=error.message, hint=error.hint, fatal=True))
        return error.exit_code
    except Exception as error:
        sentence = f"{type(error).__name__}: {error}"
        events.send(encode_event("error", about="playing", message=sentence, hint="", fatal=True))
        raise
    else:
        events.send(encode_event("closed", reason=reason))
        return 0
    finally:
        events.finish()


def _play(args: argparse.Namespace, project: Project, pipes: Pipes) -> str:
    """Play, and return why it ended."""
    from workbench.viewer.opening import open_show

    if not args.window:
        with contextlib.suppress(OSError):
            os.nice(NICENESS)
    with open_show(
        args,
        project,
        on_fault=lambda error: remote.tell_error("policy", error),
        on_episode=lambda number, ended, lane: remote.tell_episode(number, ended, lane),
        on_lost=lambda: _told_as_closed(pipes.events),
    ) as show:
        player = show.orders.player
        remote = Remote(show.orders, pipes, limit=show.limit, layout=show.layout, on_following=_take_what_is_left)
        if args.window:
            remote.attempt(Command("window", {"on": True}))
        with window.ends_on_signals(player):
            window.play(player, remote)
    return remote.reason or ("episodes" if player.played_all else "quit")


def _told_as_closed(events: Outlet) -> int:
    """Tell that the window is gone, whose display is, and return the exit code."""
    events.send(encode_event("closed", reason="window"))
    events.finish()
    return 0


def _take_what_is_left() -> None:
    with contextlib.suppress(OSError):
        os.nice(max(0, FOLLOWING_NICENESS - os.nice(0)))


def _take_stdout() -> int:
    """Return a descriptor of stdout, and let what libraries print there go to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    return kept
