"""The one viewer as the app knows it: what was asked to play, what its process tells, and orders to it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from workbench.formatting import amount
from workbench.remote.frames import Frame
from workbench.remote.lines import encode_command
from workbench.ui.jobs import shell_line

Status = Literal["starting", "playing", "closed", "failed"]
Change = Literal["status", "state", "episode", "error"]

EPISODES_KEPT = 100
TERMS_KEPT = 400
"""States of which the reward terms are kept, for their course."""


@dataclass(frozen=True)
class Request:
    """What was asked to play."""

    words: tuple[str, ...]
    """What a person would type after `workbench`."""
    title: str
    """What a person calls it: `ant 7f3a at 8.5 M`."""
    detail: Mapping[str, str] = field(default_factory=dict)
    """`target`: what the command line calls it; `run`: a run's folder; `environment`: where no policy acts."""

    @property
    def command_line(self) -> str:
        """The command as one line to paste in a shell."""
        return shell_line(self.words)

    @property
    def target(self) -> str:
        """What the command line calls it, without the checkpoint."""
        return self.words[1].rpartition(":")[0] or self.words[1]


@dataclass(frozen=True)
class Ready:
    """What does not change while it plays."""

    environment: str
    run: Path | None
    period_s: float
    limit: int | None
    seekable: bool

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Ready:
        """Read a `ready` event."""
        run = told["run"]
        return cls(
            str(told["environment"]), None if run is None else Path(run), told["period_s"], told["limit"],
            bool(told["seekable"]),
        )  # fmt: skip


@dataclass(frozen=True)
class ViewerState:
    """A `state` event."""

    episode: int
    seed: int
    step: int
    time_s: float
    return_: float | None
    reward: float | None
    terms: Mapping[str, float | None]
    first: int
    last: int
    playing: bool
    speed: float
    agent: str
    stochastic: bool
    checkpoint: int | None
    age_s: float | None
    follow: bool
    window: bool
    preview: Sequence[float] | None
    theme: str
    ended: str | None

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> ViewerState:
        """Read a `state` event."""
        own = cls.__dataclass_fields__
        values = {"return_" if name == "return" else name: value for name, value in told.items()}
        return cls(**{name: values[name] for name in own})

    @property
    def is_live(self) -> bool:
        """Whether the newest state is shown."""
        return self.step >= self.last


@dataclass(frozen=True)
class Episode:
    """An `episode` event."""

    number: int
    seed: int
    return_: float | None
    length: int
    reason: str
    agent: str
    checkpoint: int | None


@dataclass
class Playing:
    """What plays, or played last."""

    request: Request
    status: Status = "starting"
    ready: Ready | None = None
    state: ViewerState | None = None
    episodes: deque[Episode] = field(default_factory=lambda: deque(maxlen=EPISODES_KEPT))
    """Those that ended, newest last."""
    terms: dict[str, deque[float]] = field(default_factory=dict)
    """The course of each reward term in this episode, as far as it was told."""
    picture_fault: str = ""
    """Why there is no preview."""
    fault: tuple[str, str] = ("", "")
    """Why it failed, and what to do."""
    tail: tuple[str, ...] = ()
    """The last lines its process wrote."""

    @property
    def title(self) -> str:
        """What a person calls what plays: what was asked for, at the checkpoint that acts by now."""
        asked, state = self.request.title, self.state
        whose, at, _ = asked.rpartition(" at ")
        if not at or state is None or state.checkpoint is None or len(targets(self.request.words)) > 1:
            return asked
        return f"{whose} at {amount(state.checkpoint)}"

    @property
    def is_on(self) -> bool:
        """Whether its process lives."""
        return self.status in ("starting", "playing")

    def take_state(self, told: Mapping[str, Any]) -> None:
        """Take a `state` event in."""
        before, state = self.state, ViewerState.of(told)
        self.state = state
        if before is None or (before.episode, before.seed) != (state.episode, state.seed) or state.last < before.last:
            self.terms.clear()
        # A past state was told when it was new.
        if state.is_live and (before is None or state.last != before.last):
            for name, value in state.terms.items():
                if value is not None:
                    self.terms.setdefault(name, deque(maxlen=TERMS_KEPT)).append(value)


class Player(Protocol):
    """The process at the other end; tests have one that is none."""

    def send(self, line: bytes) -> None:
        """Give an order; one for a process that has ended is lost."""
        ...

    def end(self) -> None:
        """Let it end."""
        ...


class Ears(Protocol):
    """What a process tells of itself."""

    def heard(self, event: str, values: Mapping[str, Any]) -> None:
        """An event came."""
        ...

    def framed(self, frame: Frame) -> None:
        """A frame of the preview came."""
        ...

    def ended(self, code: int, tail: tuple[str, ...]) -> None:
        """It ended, and these were the last lines it wrote."""
        ...


class StartPlayer(Protocol):
    """Starts a process that plays; it tells `ears` how it goes."""

    def __call__(self, words: Sequence[str], ears: Ears, *, window: bool) -> Player:
        """Start `workbench WORDS…` as a player under orders."""
        ...


class Viewer:
    """The one viewer; what is started replaces what plays.

    Args:
        start: Starts processes.
        on_change: Told what changed of `playing`; for an error the event itself.
        on_frame: Told each frame of the preview.
    """

    def __init__(
        self,
        start: StartPlayer,
        *,
        on_change: Callable[[Change, Mapping[str, Any]], None],
        on_frame: Callable[[Frame], None],
    ) -> None:
        self.playing: Playing | None = None
        """What plays, or played last."""
        self.wants_preview = False
        """Whether it is to be seen in the terminal."""
        self.told_why = False
        """Whether it was said why there is no window; once is enough."""
        self._start = start
        self._on_change = on_change
        self._on_frame = on_frame
        self._player: Player | None = None

    def start(self, request: Request, *, window: bool) -> None:
        """Play something, in place of what plays."""
        self.stop()
        playing = self.playing = Playing(request)
        self._player = self._start(request.words, _Ears(self, playing), window=window)
        self._on_change("status", {})

    def order(self, name: str, /, **values: Any) -> None:
        """Give what plays an order; nothing where nothing does."""
        if self._player is not None:
            self._player.send(encode_command(name, **values))

    def stop(self) -> None:
        """Close what plays; its place is kept."""
        player, self._player = self._player, None
        if player is not None:
            player.end()
        if self.playing is not None and self.playing.is_on:
            self.playing.status = "closed"
            self._on_change("status", {})

    def words(self) -> tuple[str, ...]:
        """Return the command that plays what is shown now, from the start of its episode."""
        playing = self.playing
        if playing is None or playing.state is None:
            return playing.request.words if playing is not None else ()
        state, request = playing.state, playing.request
        if len(targets(request.words)) > 1:
            # Who acts beside the others is told of one at a time: what was asked for plays all of them again.
            words = _without_flag(request.words, "--seed")
            return (*words, "--seed", str(state.seed)) if state.seed else tuple(words)
        target = request.target
        if playing.ready is not None and playing.ready.run is not None and state.checkpoint is not None:
            target = f"{target}:{state.checkpoint}"
        words = ["play", target if state.checkpoint is not None else request.words[1]]
        has_policy = playing.ready is not None and playing.ready.run is not None
        if state.agent != ("policy" if has_policy else "random"):
            words += ["--agent", state.agent]
        words += _kept_flag(request.words, "--env") + _kept_flag(request.words, "--episodes")
        if state.seed:
            words += ["--seed", str(state.seed)]
        return (*words, "--stochastic") if state.stochastic and state.agent == "policy" else tuple(words)

    # What its process tells.

    def hear(self, playing: Playing, event: str, values: Mapping[str, Any]) -> None:
        """Take an event in; one of a process that was replaced counts no more."""
        if playing is not self.playing:
            return
        change: Change = "status"
        if event == "ready":
            playing.ready = Ready.of(values)
            playing.status = "playing"
        elif event == "state":
            playing.take_state(values)
            change = "state"
        elif event == "episode":
            fields = {
                "number" if key == "episode" else "return_" if key == "return" else key: values[key] for key in values
            }
            playing.episodes.append(Episode(**fields))
            change = "episode"
        elif event == "error":
            change = "error"
            if values["about"] == "preview":
                playing.picture_fault = str(values["message"])
            if values["fatal"]:
                playing.fault = (str(values["message"]), str(values["hint"]))
        elif event == "closed":
            playing.status = "closed"
        self._on_change(change, values)

    def frame(self, playing: Playing, frame: Frame) -> None:
        """Take a frame in."""
        if playing is self.playing:
            self._on_frame(frame)

    def end(self, playing: Playing, code: int, tail: tuple[str, ...]) -> None:
        """Note that its process ended."""
        if playing is not self.playing or not playing.is_on:
            return
        self._player = None
        playing.tail = tail
        had_window = playing.state is not None and playing.state.window
        if code and had_window and not playing.fault[0]:
            # A display that goes away takes its windows' processes with it, without a word.
            playing.status = "closed"
        else:
            playing.status = "failed" if code else "closed"
            if code and not playing.fault[0]:
                playing.fault = (tail[-1] if tail else f"It ended with exit code {code} and said nothing.", "")
        self._on_change("status", {})


@dataclass(frozen=True)
class _Ears:
    """Hears for one thing that plays."""

    viewer: Viewer
    playing: Playing

    def heard(self, event: str, values: Mapping[str, Any]) -> None:
        self.viewer.hear(self.playing, event, values)

    def framed(self, frame: Frame) -> None:
        self.viewer.frame(self.playing, frame)

    def ended(self, code: int, tail: tuple[str, ...]) -> None:
        self.viewer.end(self.playing, code, tail)


def targets(words: Sequence[str]) -> list[str]:
    """Return what `play` was told to play: the words between it and the first flag."""
    flags = [place for place, word in enumerate(words) if word.startswith("--")]
    return list(words[1 : flags[0] if flags else None])


def _kept_flag(words: Sequence[str], flag: str) -> list[str]:
    """Return a flag and its value as they stand in a command, or nothing."""
    return [flag, words[words.index(flag) + 1]] if flag in words[:-1] else []


def _without_flag(words: Sequence[str], flag: str) -> list[str]:
    """Return a command without a flag and its value."""
    if flag not in words[:-1]:
        return list(words)
    place = list(words).index(flag)
    return [*words[:place], *words[place + 2 :]]
