"""Every command that a viewer's process takes and every event that it tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

VERSION = 1
"""Told in `ready`; a higher one may take away or change what is here, never the same one."""

Kind = Literal["flag", "whole", "number", "text", "checkpoint", "texts", "numbers", "size"]

_KINDS: dict[Kind, str] = {
    "flag": "true or false",
    "whole": "whole number",
    "number": "number",
    "text": "text",
    "checkpoint": "steps, or text",
    "texts": "list of texts",
    "numbers": "numbers by name",
    "size": "[width, height, fps]",
}

_REQUIRED: Any = object()


@dataclass(frozen=True)
class Value:
    """One value of a command or an event."""

    name: str
    kind: Kind
    doc: str
    default: Any = _REQUIRED
    """What a command takes where it is left out."""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    nullable: bool = False
    """Whether an event may tell null."""

    @property
    def is_required(self) -> bool:
        """Whether a command needs it."""
        return self.default is _REQUIRED

    @property
    def takes(self) -> str:
        """What is accepted, in words: `number from 0.25 to 8`."""
        if self.choices:
            return ", ".join(self.choices[:-1]) + f" or {self.choices[-1]}"
        bounds = ""
        if self.low is not None:
            bounds = f" from {self.low:g}" + ("" if self.high is None else f" to {self.high:.10g}")
        return f"{_KINDS[self.kind]}{bounds}{' or null' if self.nullable else ''}"


@dataclass(frozen=True)
class Message:
    """A command or an event."""

    name: str
    doc: str
    values: tuple[Value, ...] = ()

    def value(self, name: str) -> Value | None:
        """Return the value of that name."""
        return next((value for value in self.values if value.name == name), None)


SLOWEST, FASTEST = 0.25, 8.0
"""Bounds of the speed, in multiples of real time."""

HIGHEST_SEED = 2**31 - 1
LARGEST_SIDE = 1024
"""Pixels along a side of a frame."""
MOST_STEPS = 10_000
"""Steps that one command may take."""

AGENTS = ("policy", "zero", "random", "sweep")
THEMES = ("light", "dark")

COMMANDS: tuple[Message, ...] = (
    Message("play", "Go on; from a past state through what is recorded, then live."),
    Message("pause", "Stand still."),
    Message(
        "step",
        "Pause and take steps, or go back by some.",
        (Value("n", "whole", "how many; negative ones go back", 1, -MOST_STEPS, MOST_STEPS),),
    ),
    Message(
        "skip",
        "Go on or back by simulated time, within the episode.",
        (Value("seconds", "number", "negative ones go back", low=-3600, high=3600),),
    ),
    Message(
        "seek",
        "Show a recorded state of the episode; one beyond them means the nearest.",
        (Value("step", "whole", "counted from the reset, which is 0", low=0),),
    ),
    Message("reset", "Reset the environment to the start of the episode, counters and noise as well."),
    Message(
        "seed",
        "Reset with another seed; the episodes after it count up from there.",
        (Value("value", "whole", "of the environment and of what acts", low=0, high=HIGHEST_SEED),),
    ),
    Message(
        "stochastic",
        "Let a policy sample its actions, or act greedily.",
        (Value("on", "flag", "whether it samples"),),
    ),
    Message(
        "agent",
        "Let another agent act, from the start of the episode; `policy` is the checkpoint played last.",
        (Value("name", "text", "who acts", choices=AGENTS),),
    ),
    Message(
        "checkpoint",
        "Let a checkpoint act, from the start of the episode.",
        (
            Value(
                "which",
                "checkpoint",
                "steps of one of the same run, `best`, `latest`, or whatever `workbench play` takes",
            ),
        ),
    ),
    Message(
        "follow",
        "Take the newest checkpoint of the run at the start of each episode.",
        (Value("on", "flag", "whether it does"),),
    ),
    Message(
        "speed",
        "Play at a multiple of real time.",
        (Value("value", "number", "1 is real time", low=SLOWEST, high=FASTEST),),
    ),
    Message("window", "Show or hide the window.", (Value("on", "flag", "whether there is one"),)),
    Message(
        "preview",
        "Send frames, or none. They go to the descriptor of `--frames-fd`.",
        (
            Value("on", "flag", "whether frames are sent", True),
            Value("width", "whole", "pixels", 80, 8, LARGEST_SIDE),
            Value("height", "whole", "pixels", 48, 8, LARGEST_SIDE),
            Value("fps", "number", "frames a second, at the most", 15, 1, 60),
        ),
    ),
    Message("theme", "Change what surrounds the model.", (Value("name", "text", "the theme", choices=THEMES),)),
    Message("state", "Tell the state now."),
    Message("quit", "Close the window and end."),
)

EVENTS: tuple[Message, ...] = (
    Message(
        "ready",
        "Told once, when the first state can be shown.",
        (
            Value("version", "whole", "of this protocol"),
            Value("title", "text", "what is played, in words"),
            Value("environment", "text", "the environment's short name"),
            Value("run", "text", "folder of the checkpoint's run", nullable=True),
            Value("period_s", "number", "simulated seconds in a step"),
            Value("limit", "whole", "steps after which an episode is cut", nullable=True),
            Value("seekable", "flag", "whether past states can be shown; only MuJoCo environments keep them"),
        ),
    ),
    Message(
        "state",
        "Told after each command, and ten times a second while something changes.",
        (
            Value("episode", "whole", "counted from 1 since the seed was set"),
            Value("seed", "whole", "of the episode"),
            Value("step", "whole", "shown now; 0 is the reset"),
            Value("time_s", "number", "simulated seconds since the reset"),
            Value("return", "number", "sum of the rewards up to that step", nullable=True),
            Value("reward", "number", "of that step", nullable=True),
            Value("terms", "numbers", "reward terms of that step"),
            Value("first", "whole", "the earliest state that can be sought"),
            Value("last", "whole", "the newest one; equal to `step` when live"),
            Value("playing", "flag", "false while paused"),
            Value("speed", "number", "multiple of real time"),
            Value("agent", "text", "who acts", choices=AGENTS),
            Value("stochastic", "flag", "whether a policy samples its actions"),
            Value("checkpoint", "whole", "steps of the checkpoint that acts", nullable=True),
            Value("age_s", "number", "seconds since that checkpoint was written", nullable=True),
            Value("follow", "flag", "whether each episode takes the newest checkpoint"),
            Value("window", "flag", "whether there is one"),
            Value("preview", "size", "what frames are sent", nullable=True),
            Value("theme", "text", "what surrounds the model", choices=THEMES),
            Value("ended", "text", "why the episode ended, at its last state", nullable=True),
        ),
    ),
    Message(
        "episode",
        "An episode ended by itself.",
        (
            Value("episode", "whole", "its number"),
            Value("seed", "whole", "its seed"),
            Value("return", "number", "sum of its rewards", nullable=True),
            Value("length", "whole", "its steps"),
            Value("reason", "text", "why it ended, as the environment names it"),
            Value("agent", "text", "who acted", choices=AGENTS),
            Value("checkpoint", "whole", "steps of the checkpoint that acted", nullable=True),
        ),
    ),
    Message(
        "error",
        "Something was refused or failed; what was played before goes on, unless it is fatal.",
        (
            Value("about", "text", "what it concerns", choices=("command", "window", "preview", "policy", "playing")),
            Value("message", "text", "what is wrong, one sentence"),
            Value("hint", "text", "what to do instead; may be empty"),
            Value("fatal", "flag", "whether the process ends because of it"),
        ),
    ),
    Message(
        "closed",
        "The last event of a process that ends as it should, with exit code 0.",
        (Value("reason", "text", "why", choices=("window", "quit", "episodes", "parent")),),
    ),
)

COMMAND_BY_NAME = {command.name: command for command in COMMANDS}
EVENT_BY_NAME = {event.name: event for event in EVENTS}
