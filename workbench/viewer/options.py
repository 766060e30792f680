"""What `play` and `record` are asked with: the flags they share, and sizes, rates and presets checked.

Light: read before any heavy library, so that a wrong flag is told at once and `--help` is quick.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import Any, Literal, get_args

from workbench.errors import RequestError

AgentChoice = Literal["policy", "zero", "random", "sweep"]
PresetName = Literal["draft", "default", "hd"]

LARGEST = 4096
"""Pixels along a side that every graphics driver and player can take."""

FASTEST_FPS = 240.0


@dataclass(frozen=True)
class Preset:
    """How large and how smooth a film is."""

    size: tuple[int, int]
    samples: int
    """Pixels drawn for each one shown, along each side."""
    sees_through: bool = False
    """Whether what the model says is see-through is drawn so."""


PRESETS: dict[PresetName, Preset] = {
    "draft": Preset((480, 360), 1),
    "default": Preset((640, 480), 2, sees_through=True),
    "hd": Preset((1280, 720), 2, sees_through=True),
}


class Noted(argparse.Action):
    """Keeps a value, and in `given` of the namespace that the flag was there, for a default may be typed too."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep both."""
        setattr(namespace, self.dest, values)
        namespace.given = {**getattr(namespace, "given", {}), f"--{self.dest}": values}


@dataclass(frozen=True)
class Instant:
    """A moment of an episode, by simulated time or by its number of steps."""

    seconds: float | None = None
    step: int | None = None

    @classmethod
    def parse(cls, text: str) -> Instant:
        """Read `2.5s`, a time, or `120`, a step.

        Raises:
            RequestError: It is neither, or before the reset.
        """
        number = text.strip().lower()
        if number.isascii() and number.isdigit():
            return cls(step=int(number))
        try:
            seconds = float(number.removesuffix("s")) if number.endswith("s") else -1.0
        except ValueError:
            seconds = -1.0
        if not 0 <= seconds < float("inf"):
            raise RequestError(f"--still takes a time such as 2.5s or a step such as 120, not `{text}`.")
        return cls(seconds=seconds)

    def step_at(self, control_hz: float) -> int:
        """Return the step that is nearest."""
        return round((self.seconds or 0.0) * control_hz) if self.step is None else self.step


def add_target_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says whom to watch."""
    parser.add_argument(
        "target",
        metavar="CKPT|ENV|FILE.npz",
        help="a checkpoint (a path, RUN, RUN:best, RUN:latest, RUN:STEPS), a policy of another tool (.zip of "
        "Stable-Baselines3, a run folder of RL-Zoo, TorchScript, .onnx), an environment, a state recording, or "
        "RUN:anomaly, what led to the newest anomaly of a run",
    )
    parser.add_argument(
        "--agent",
        choices=get_args(AgentChoice),
        help="who acts: the policy, or an agent that needs none (default: policy; for an environment random)",
    )
    parser.add_argument("--env", metavar="ID", help="where the policy plays (default: where it was trained)")
    add_opening_arguments(parser)
    seed = "seed of the first episode (default: 0)"
    parser.add_argument("--seed", action=Noted, type=int, default=0, metavar="N", help=seed)
    parser.add_argument("--stochastic", action="store_true", help="sample actions (default: act greedily)")


def add_opening_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says how a policy of another tool is opened."""
    parser.add_argument(
        "--normalizer",
        metavar="FILE",
        help="what observations of a .zip go through: its vecnormalize.pkl, or `none` (default: the one beside it)",
    )
    parser.add_argument(
        "--trust", action="store_true", help="run what of a policy's file is no data, after saying what that is"
    )


def add_side_by_side_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says whom else to watch at the same time; after `add_target_arguments`."""
    parser.add_argument(
        "others",
        nargs="*",
        # Without a default of its own, argparse would tell that it is required.
        default=[],
        metavar="CKPT",
        help="up to eight more, side by side in step, with the same seed",
    )
    parser.add_argument(
        "--ghost", action="store_true", help="show several on one floor, see-through, instead of side by side"
    )


def check_side_by_side(args: argparse.Namespace) -> None:
    """Check what was given for several.

    Raises:
        RequestError: There is only one.
    """
    if args.ghost and not args.others:
        raise RequestError("--ghost is for several policies.", hint="Name a second checkpoint.")


def add_play_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `play` takes."""
    add_target_arguments(parser)
    add_side_by_side_arguments(parser)
    parser.add_argument("--episodes", type=int, metavar="N", help="end after N episodes (default: until closed)")
    add_theme_argument(parser)
    parser.set_defaults(theme=None)  # As it was left.
    parser.add_argument(
        "--no-window", dest="window", action="store_false", help="with --remote: start without a window"
    )
    parser.add_argument(
        "--frames-fd", type=int, metavar="N", help="with --remote: an open descriptor that takes frames of the preview"
    )


def check_play(args: argparse.Namespace) -> None:
    """Check what `play` was given.

    Raises:
        RequestError: A number is out of its range.
    """
    if args.episodes is not None:
        episode_count(args.episodes)
    check_seed(args.seed)
    check_side_by_side(args)


def check_descriptor(descriptor: int | None) -> int | None:
    """Return the descriptor that frames go to, kept from the children of this process.

    Raises:
        RequestError: It is not open, or is one of the three that are taken.
    """
    if descriptor is None:
        return None
    try:
        if descriptor < 3:
            raise RequestError(f"--frames-fd takes a descriptor from 3, not {descriptor}: those below are taken.")
        os.set_inheritable(descriptor, False)
    except (OSError, OverflowError) as error:
        raise RequestError(
            f"--frames-fd {descriptor} is not open.", hint="Pass it on to the process: `pass_fds` in Python."
        ) from error
    return descriptor


def add_theme_argument(parser: argparse.ArgumentParser) -> None:
    """Add what surrounds the model."""
    around = "what surrounds the model"
    parser.add_argument("--theme", action=Noted, choices=("light", "dark"), default="light", help=around)


def episode_count(count: int) -> int:
    """Return a number of episodes.

    Raises:
        RequestError: It is not positive.
    """
    if count < 1:
        raise RequestError(f"--episodes takes a number from 1, not {count}.")
    return count


def check_seed(seed: int) -> int:
    """Return a seed.

    Raises:
        RequestError: It is negative, or too large for some environments.
    """
    if not 0 <= seed < 2**31:
        raise RequestError(f"--seed takes a number from 0 to {2**31 - 1}, not {seed}.")
    return seed


def parse_size(text: str) -> tuple[int, int]:
    """Read `WIDTHxHEIGHT`.

    Raises:
        RequestError: It is not two even numbers within what can be encoded.
    """
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() for part in parts):
        raise RequestError(f"--size takes WIDTHxHEIGHT such as 640x480, not `{text}`.")
    width, height = int(parts[0]), int(parts[1])
    if width % 2 or height % 2:
        even = f"{width - width % 2 or 2}x{height - height % 2 or 2}"
        raise RequestError(f"--size needs even numbers, because video encoders do; {even} is near {text}.")
    if not (16 <= width <= LARGEST and 16 <= height <= LARGEST):
        raise RequestError(f"--size takes sides from 16 to {LARGEST} pixels, not {text}.")
    return width, height


def check_fps(fps: float | None) -> float | None:
    """Return a frame rate, or None where it is chosen by the environment.

    Raises:
        RequestError: No player shows it.
    """
    if fps is not None and not 1 <= fps <= FASTEST_FPS:
        raise RequestError(f"--fps takes a number from 1 to {FASTEST_FPS:.0f}, not {fps:g}.")
    return fps
