"""What the commands of the protocol do: the panel's buttons and keys give them, and so does another program.

Pure state: graphics are reached only through the screens.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.errors import RequestError, SimulationError, WorkbenchError
from workbench.remote.lines import Command, command
from workbench.viewer import posing
from workbench.viewer.camera import View
from workbench.viewer.cast import Cast, title_of
from workbench.viewer.hand import Hand, body_name, body_named
from workbench.viewer.player import Player
from workbench.viewer.screens import Screens
from workbench.viewer.session import has_mujoco_model
from workbench.viewer.telling import last_step
from workbench.viewer.view import ViewSettings

NOTICE_S = 6.0
"""How long the window shows why something was refused."""

LONGEST_NOTICE = 150
"""Characters: two lines of the window."""


class Orders:
    """Carries out commands.

    Args:
        player: What is played.
        casts: Who acts in each of its sessions, in order.
        view: What is drawn.
        screens: Where it is seen.
        on_inspect: Told the last step whole, when it was asked for.
        now: Seconds that only grow.
    """

    def __init__(
        self,
        player: Player,
        casts: Sequence[Cast],
        view: ViewSettings,
        screens: Screens,
        *,
        on_inspect: Callable[[dict[str, Any]], None] = lambda step: None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.player = player
        self.casts = list(casts)
        self.view = view
        self.screens = screens
        self.hand = Hand()
        self.on_inspect = on_inspect
        self._now = now
        self._notice: tuple[str, float] = ("", 0.0)
        self._obeyed = {
            **dict.fromkeys(
                ("play", "pause", "step", "skip", "seek", "reset", "next", "seed", "speed"), self._transport
            ),
            **dict.fromkeys(("stochastic", "agent", "checkpoint", "walk", "member", "follow"), self._acting),
            **dict.fromkeys(("action", "pose", "pull", "release", "inspect"), self._touching),
            **dict.fromkeys(("track", "camera", "frame", "theme"), self._looking),
            **dict.fromkeys(("mark", "gizmo", "body", "group", "part", "panel"), self._drawing),
            **dict.fromkeys(("window", "preview", "state", "quit"), self._process),
        }

    @property
    def cast(self) -> Cast:
        """Who acts in the session that is looked at closely."""
        return self.casts[self.player.chosen]

    @property
    def is_recording(self) -> bool:
        """Whether what is played has happened already: nothing acts, and nothing can be changed."""
        return bool(self.casts) and self.cast.target.agent == "recording"

    @property
    def can_change(self) -> bool:
        """Whether the pose and the action can be set by hand now."""
        player = self.player
        return not (player.playing or player.session.ended or self.is_recording) and player.is_live

    @property
    def notice(self) -> str:
        """Why the panel's last command was refused, or what failed, for a while; at most two lines."""
        text, until = self._notice
        return text if self._now() < until else ""

    @property
    def pulled(self) -> str | None:
        """The name of the body that is pulled at."""
        body = self.hand.body
        return None if body is None else body_name(self.player.session.env.unwrapped.model, body)

    def do(self, name: str, /, **values: Any) -> None:
        """Carry out a command of the panel; one that is refused leaves a notice.

        Raises:
            SimulationError: The environment raised.
        """
        try:
            self.obey(command(name, **values))
        except SimulationError:
            raise
        except WorkbenchError as error:
            self.notify(error)

    def notify(self, error: WorkbenchError) -> None:
        """Show in the window, for a while, what was refused or failed."""
        words = " ".join(f"{error.message} {error.hint}".split())
        self._notice = (textwrap.shorten(words, LONGEST_NOTICE, placeholder="…"), self._now() + NOTICE_S)

    def obey(self, order: Command) -> None:
        """Carry out one command.

        Raises:
            WorkbenchError: It cannot be carried out; everything is as before.
        """
        self._obeyed[order.name](order.name, dict(order.values))
        self._name_what_acts()

    def take_newest(self) -> None:
        """Let the newest checkpoints act where they are followed; what begins an episode calls this first."""
        self.hand.release()
        for cast in self.casts:
            cast.take_newest()
        self._name_what_acts()

    def _name_what_acts(self) -> None:
        if self.casts:
            self.player.has_policy = self.cast.target.agent == "policy"
            self.player.title = title_of(self.casts)

    def _transport(self, name: str, given: dict[str, Any]) -> None:
        player = self.player
        match name:
            case "play" | "pause":
                if player.playing != (name == "play"):
                    player.toggle()
                if player.playing:
                    for lane in player.lanes:
                        lane.session.by_hand = None
            case "step":
                player.step_by(given["n"])
            case "skip":
                player.skip_seconds(given["seconds"])
            case "seek":
                player.seek(given["step"])
            case "reset":
                player.restart()
            case "next":
                player.skip(given["n"])
            case "seed":
                for cast in self.casts:
                    cast.reseed(given["value"])
                player.begin_seed(given["value"])
            case "speed":
                player.set_speed(given["value"])

    def _acting(self, name: str, given: dict[str, Any]) -> None:
        if name == "member":
            self.hand.release()
            self.player.choose(given["index"])
            return
        if not self.casts or self.is_recording:
            raise RequestError("nothing acts in a recording of what happened.")
        match name:
            case "stochastic":
                self.cast.sample(given["on"])
            case "agent":
                self.cast.take_agent(given["name"])
                self.player.restart()
            case "checkpoint":
                self.cast.take_checkpoint(given["which"])
                # Who chooses one wants to see it: the episode that begins would take the newest again.
                self.cast.follows = False
                self.player.restart()
            case "walk":
                before = self.cast.target
                self.cast.walk(given["n"])
                if self.cast.target is not before:
                    self.cast.follows = False
                    self.player.restart()
            case "follow":
                self.cast.follows = given["on"]

    def _touching(self, name: str, given: dict[str, Any]) -> None:
        player, session = self.player, self.player.session
        if self.is_recording and name != "inspect":
            raise RequestError("a recording of what happened cannot be changed.")
        match name:
            case "inspect":
                self.on_inspect(last_step(session))
            case "release":
                self.hand.release()
            case "pull":
                self._require_model()
                at = None if given["at"] is None else np.array(given["at"], dtype=float)
                body = body_named(session.env.unwrapped.model, given["body"])
                self.hand.pull(session, body, np.array(given["to"], dtype=float), at=at)
            case "action":
                self._require_pause()
                self._act_by_hand(given["index"], given["value"])
            case "pose":
                self._require_model()
                self._require_pause()
                posing.slide(session, given["joint"], given["value"])
                player.edited()

    def _act_by_hand(self, index: int, value: float) -> None:
        session = self.player.session
        space = session.env.action_space
        if type(space).__name__ == "Discrete":
            first, count = int(space.start), int(space.n)
            if index or not float(value).is_integer() or not first <= value < first + count:
                raise RequestError(f"the action is one whole number from {first} to {first + count - 1}.")
            session.by_hand = np.array(int(value))
            return
        if not hasattr(space, "low"):
            raise RequestError("the actions of this environment are not numbers to be set.")
        low, high = np.ravel(space.low), np.ravel(space.high)
        if index >= len(low):
            raise RequestError(f"an action has {len(low)} numbers, counted from 0; {index} is none of them.")
        if not low[index] <= value <= high[index]:
            raise RequestError(f"number {index} goes from {low[index]:g} to {high[index]:g}, not to {value:g}.")
        action = session.by_hand
        if action is None:
            action = np.zeros(space.shape, space.dtype) if session.action is None else np.array(session.action)
        action = np.clip(np.array(action, dtype=space.dtype), space.low, space.high)
        action.reshape(-1)[index] = value
        session.by_hand = action

    def _require_model(self) -> None:
        if not has_mujoco_model(self.player.session.env):
            raise RequestError("this environment has no MuJoCo model, so there is nothing to move in it.")

    def _require_pause(self) -> None:
        if self.player.playing:
            raise RequestError("only a paused model is moved by hand.", hint="Pause first.")
        if not self.player.is_live or self.player.session.ended:
            raise RequestError(
                "what is over cannot be changed any more.", hint="Go to the newest state of an episode that goes on."
            )

    def _looking(self, name: str, given: dict[str, Any]) -> None:
        view = self.view
        match name:
            case "track":
                view.track, view.smoothing_s = given["on"], float(given["seconds"])
            case "camera":
                view.look(View(float(given["azimuth"]), float(given["elevation"]), float(given["distance"])))
            case "frame":
                camera = view.camera
                view.camera = None if camera is None else View(camera.azimuth_deg, camera.elevation_deg)
                view.camera_calls += 1
            case "theme":
                self.screens.recolour(given["name"])
        view.version += 1

    def _drawing(self, name: str, given: dict[str, Any]) -> None:
        view = self.view
        match name:
            case "mark":
                _put(view.marks, given["what"], given["on"])
            case "gizmo":
                view.gizmo = given["on"]
            case "body":
                self._require_model()
                model = self.player.session.env.unwrapped.model
                _put(view.hidden, body_name(model, body_named(model, given["name"])), not given["on"])
            case "group":
                _put(view.groups, given["index"], given["on"])
            case "part":
                _put(view.parts, given["what"], given["on"])
            case "panel":
                view.panel, view.tab = given["on"], given["tab"] or view.tab
        view.version += 1

    def _process(self, name: str, given: dict[str, Any]) -> None:
        match name:
            case "window":
                self.screens.show_window(given["on"])
            case "preview":
                size = (given["width"], given["height"]) if given["on"] else None
                self.screens.show_preview(size, given["fps"])
            case "quit":
                self.player.quit()


def _put(chosen: set[Any], item: Any, wanted: bool) -> None:
    (chosen.add if wanted else chosen.discard)(item)
