"""The loop of the window: time passes, the environment steps, a frame is drawn."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator

from workbench.viewer.player import Player
from workbench.viewer.staging import Stage

PLAYING_FPS = 60.0
PAUSED_FPS = 20.0
"""Enough for the mouse; a paused window should not keep a core busy."""


def play(
    player: Player,
    stage: Stage,
    *,
    now: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Play until the window is closed or the player is finished.

    Raises:
        SimulationError: The environment raised.
    """
    last = now()
    # Asked once a frame: reading that the window was closed clears it.
    while not (stage.closing() or player.finished):
        begun = now()
        elapsed_s, last = begun - last, begun
        stage.show(player.advance(elapsed_s))
        rest_s = 1 / (PLAYING_FPS if player.playing else PAUSED_FPS) - (now() - begun)
        if rest_s > 0:
            sleep(rest_s)


@contextlib.contextmanager
def ends_on_signals(player: Player) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM close the window as a click does."""
    try:
        before = {
            number: signal.signal(number, lambda _number, _frame: player.quit())
            for number in (signal.SIGINT, signal.SIGTERM)
        }
    except ValueError:  # Not the main thread, which alone hears signals.
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
