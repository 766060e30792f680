"""What `play` and `record` are asked with: the flags they share, and sizes, rates and presets checked.

Light: read before any heavy library, so that a wrong flag is told at once and `--help` is quick.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import Literal, get_args

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


PRESETS: dict[PresetName, Preset] = {
    "draft": Preset((480, 360), 1),
    "default": Preset((640, 480), 2),
    "hd": Preset((1280, 720), 2),
}


def add_target_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says whom to watch."""
    parser.add_argument(
        "target",
        metavar="CKPT|ENV",
        help="a checkpoint (a path, RUN, RUN:best, RUN:latest, RUN:STEPS) or an environment",
    )
    parser.add_argument(
        "--agent",
        choices=get_args(AgentChoice),
        help="who acts: the policy, or an agent that needs none (default: policy; for an environment random)",
    )
    parser.add_argument("--env", metavar="ID", help="play the policy in another environment than it was trained in")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the first episode (default: 0)")
    parser.add_argument("--stochastic", action="store_true", help="sample actions (default: act greedily)")


def add_play_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `play` takes."""
    add_target_arguments(parser)
    parser.add_argument("--episodes", type=int, metavar="N", help="end after N episodes (default: until closed)")
    add_theme_argument(parser)
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
    parser.add_argument("--theme", choices=("light", "dark"), default="light", help="what surrounds the model")


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
