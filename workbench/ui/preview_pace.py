"""How many pictures a second a preview asks for: fewer while the terminal, say over ssh, does not take them."""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Callable

QUICK_FPS = 30
SLOW_FPS = 5

PATIENCE_S = 3.0
"""For how long a terminal must have taken everything before it is given more again."""
LONGEST_PATIENCE_S = 48.0
"""The same for one that was given more again and again in vain."""


def terminal_takes() -> bool:
    """Tell whether the terminal takes what is written without making the writer wait; true where none can be asked."""
    try:
        poll = select.poll()
        # The app is drawn on stderr.
        poll.register(sys.__stderr__.fileno() if sys.__stderr__ is not None else -1, select.POLLOUT)
        ready = poll.poll(0)
    except (OSError, ValueError):
        return True
    return bool(ready)


class PreviewPace:
    """Decides which pictures are drawn, and how many are asked for.

    Args:
        takes: Whether the terminal takes more now.
        now: Seconds that only grow.
    """

    def __init__(self, takes: Callable[[], bool] = terminal_takes, now: Callable[[], float] = time.monotonic) -> None:
        self.fps = QUICK_FPS
        """Pictures a second to ask for."""
        self._takes = takes
        self._now = now
        self._stuck_at = 0.0
        self._patience_s = PATIENCE_S
        self._was_slow = False

    def may_draw(self) -> bool:
        """Tell whether a picture may be drawn now; one that may not would only keep what is typed waiting."""
        now = self._now()
        if not self._takes():
            if self.fps == QUICK_FPS and self._was_slow:
                self._patience_s = min(2 * self._patience_s, LONGEST_PATIENCE_S)
            self.fps, self._stuck_at, self._was_slow = SLOW_FPS, now, True
            return False
        if self.fps == SLOW_FPS and now - self._stuck_at >= self._patience_s:
            self.fps = QUICK_FPS
        return True
