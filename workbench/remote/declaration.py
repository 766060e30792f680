"""Every command that a viewer's process takes and every event that it tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

VERSION = 1
"""Told in `ready`; a higher one may take away or change what is here, never the same one."""

Kind = Literal["flag", "whole", "number", "text", "checkpoint", "point", "texts", "numbers", "facts", "size"]

_KINDS: dict[Kind, str] = {
    "flag": "true or false",
    "whole": "whole number",
    "number": "number",
    "text": "text",
    "checkpoint": "steps, or text",
    "point": "[x, y, z]",
    "texts": "list of texts",
    "numbers": "numbers by name",
    "facts": "values by name",
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
        named = [choice for choice in self.choices if choice]
        if named:
            return ", ".join(named[:-1]) + f" or {named[-1]}"
        bounds = ""
        if self.low is not None:
            each = ", each" if self.kind == "point" else ""
            bounds = f"{each} from {self.low:g}" + ("" if self.high is None else f" to {self.high:.10g}")
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
ACTING = (*AGENTS, "recording")
"""Who may be told to act: in a state recording nobody does."""
THEMES = ("light", "dark")
MARKS = ("contacts", "forces", "joints", "mass")
PARTS = ("floor", "shadows", "sites", "tendons")
TABS = ("play", "environment", "scene", "view")
GROUPS = 6
"""Groups of geoms that MuJoCo knows."""
SLOWEST_FOLLOWING_S = 5.0
"""The most that the camera may take to catch up."""
MOST_PULLED = 1e4
"""Metres from the origin that something may be pulled or slid to."""

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
        "next",
        "Begin an episode with a seed further on, or further back; of a state recording another of its episodes.",
        (Value("n", "whole", "how many on; negative ones go back", 1, -MOST_STEPS, MOST_STEPS),),
    ),
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
        "Let a checkpoint act, from the start of the episode; the newest is followed no longer.",
        (
            Value(
                "which",
                "checkpoint",
                "steps of one of the same run, `best`, `latest`, or whatever `workbench play` takes",
            ),
        ),
    ),
    Message(
        "walk",
        "Let a checkpoint further along the run act, or further back, as `checkpoint` does.",
        (Value("n", "whole", "how many on; negative ones go back", 1, -MOST_STEPS, MOST_STEPS),),
    ),
    Message(
        "member",
        "Of several policies side by side, look closely at one: the commands above are for it.",
        (Value("index", "whole", "which, counted from 0", low=0, high=8),),
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
    Message(
        "action",
        "While paused, set one number of the action that the next steps by hand take; `play` lets the agent act again.",
        (
            Value("index", "whole", "which number, from 0", low=0),
            Value("value", "number", "within the bounds of the action space"),
        ),
    ),
    Message(
        "pose",
        "While paused at the newest state, move one joint; the model is at rest there, and goes on from there.",
        (
            Value("joint", "text", "its name; `root.x` to `root.qz` for the numbers of a free joint, likewise a ball"),
            Value(
                "value", "number", "radians or metres, within the joint's limits", low=-MOST_PULLED, high=MOST_PULLED
            ),
        ),
    ),
    Message(
        "pull",
        "Pull a body to a point by a spring, until `release` or the next reset.",
        (
            Value("body", "text", "its name, or `body` and its number: `body 3`"),
            Value("to", "point", "where to, in the world", low=-MOST_PULLED, high=MOST_PULLED),
            Value(
                "at", "point", "the point that is held, in the world", None, -MOST_PULLED, MOST_PULLED, nullable=True
            ),
        ),
    ),
    Message("release", "Let go of the body."),
    Message("inspect", "Tell the last step whole, as `step`; the panel puts the same on the clipboard."),
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
    Message(
        "track",
        "Let the camera follow the model, or stand.",
        (
            Value("on", "flag", "whether it follows", True),
            Value("seconds", "number", "how long it takes to catch up, simulated", 0.2, 0, SLOWEST_FOLLOWING_S),
        ),
    ),
    Message(
        "camera",
        "Look at the model from a direction; MuJoCo's azimuth and elevation.",
        (
            Value("azimuth", "number", "degrees", low=-360, high=360),
            Value("elevation", "number", "degrees; negative ones look down", low=-89, high=89),
            Value("distance", "number", "metres; 0 for what shows the whole model", 0, 0, MOST_PULLED),
        ),
    ),
    Message("frame", "Show the whole model, from where the camera looks now."),
    Message(
        "mark",
        "Draw contacts, their forces, the joints' axes or the centres of mass.",
        (Value("what", "text", "which", choices=MARKS), Value("on", "flag", "whether they are drawn")),
    ),
    Message("gizmo", "Show the axes in the corner.", (Value("on", "flag", "whether they are there"),)),
    Message(
        "body",
        "Show or hide a body.",
        (
            Value("name", "text", "its name, or `body` and its number: `body 3`"),
            Value("on", "flag", "whether it is shown"),
        ),
    ),
    Message(
        "group",
        "Show or hide a group of geoms.",
        (
            Value("index", "whole", "which; models keep what they collide with in 3", low=0, high=GROUPS - 1),
            Value("on", "flag", "whether it is shown"),
        ),
    ),
    Message(
        "part",
        "Show or hide what else is drawn.",
        (Value("what", "text", "which", choices=PARTS), Value("on", "flag", "whether it is shown")),
    ),
    Message(
        "panel",
        "Show or hide the panel of the window, and turn to one of its tabs.",
        (
            Value("on", "flag", "whether it is there", True),
            Value("tab", "text", "which tab; nothing for the one that is open", "", choices=("", *TABS)),
        ),
    ),
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
            Value("agent", "text", "who acts", choices=ACTING),
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
        "view",
        "Told when what is drawn, or how, has changed.",
        (
            Value("track", "flag", "whether the camera follows"),
            Value("smoothing_s", "number", "how long it takes to catch up"),
            Value("marks", "texts", "what is drawn of " + ", ".join(MARKS)),
            Value("gizmo", "flag", "whether the axes are in the corner"),
            Value("hidden", "texts", "bodies that are not shown"),
            Value("groups", "texts", "groups of geoms that are"),
            Value("parts", "texts", "what is shown of " + ", ".join(PARTS)),
            Value("panel", "flag", "whether the panel is there"),
            Value("tab", "text", "its tab", choices=TABS),
            Value("pulled", "text", "the body that is pulled at", nullable=True),
        ),
    ),
    Message(
        "members",
        "Told with each `state` where several policies play side by side.",
        (
            Value("chosen", "whole", "the one that `state` is about, from 0"),
            Value("ghosts", "flag", "whether they share one floor"),
            Value("titles", "texts", "what each is called, all different"),
            Value("returns", "numbers", "sum of the rewards so far, by title"),
        ),
    ),
    Message(
        "step",
        "The last step whole, as `inspect` asks for it.",
        (
            Value("seed", "whole", "of the episode"),
            Value("step", "whole", "of the episode; 0 is the reset"),
            Value("observation", "numbers", "what acts sees next"),
            Value("action", "numbers", "the last action; none before the first"),
            Value("reward", "number", "of that step", nullable=True),
            Value("terms", "numbers", "its terms"),
            Value("info", "facts", "what the environment tells besides"),
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
            Value("agent", "text", "who acted", choices=ACTING),
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
