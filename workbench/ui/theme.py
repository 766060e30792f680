"""The app's two themes, and how each run state looks.

Screens use theme variables only; a hex colour appears here, those of curves in `workbench.colours`, and nowhere else.
Themes of other makers take the set of their brightness.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.theme import Theme

from workbench.colours import SERIES_DARK, SERIES_LIGHT
from workbench.runs.states import RunState

DARK = "workbench-dark"
LIGHT = "workbench-light"

SERIES_COUNT = len(SERIES_DARK)


@dataclass(frozen=True)
class StateLook:
    """How one run state is drawn; a colour never stands without its glyph."""

    glyph: str
    plain: str
    """The same in ASCII."""
    variable: str
    """The theme variable of its colour, without the dollar."""


STATE_LOOKS = {
    str(state): StateLook(
        state.glyph, state.plain_glyph, f"state-{RunState.RUNNING if state is RunState.STARTING else state}"
    )
    for state in RunState
}
"""By run state."""


def _variables(
    series: tuple[str, ...], *, muted: str, running: str, waiting: str, good: str, bad: str
) -> dict[str, str]:
    return {
        **{f"series-{place}": colour for place, colour in enumerate(series, start=1)},
        "state-queued": muted,
        "state-running": running,
        "state-paused": waiting,
        "state-stopping": waiting,
        "state-finished": good,
        "state-stopped": muted,
        "state-failed": bad,
        "state-crashed": bad,
        "muted": muted,
    }


_DARK_VARIABLES = _variables(
    SERIES_DARK, muted="#8A919E", running="#5DCAFF", waiting="#FFBF16", good="#5FC08E", bad="#FF7B72"
)
_LIGHT_VARIABLES = _variables(
    SERIES_LIGHT, muted="#646B78", running="#2A62C9", waiting="#8A5300", good="#2E7048", bad="#B3261E"
)

THEMES = (
    Theme(
        name=DARK,
        primary="#5DCAFF",
        secondary="#7E8CA8",
        accent="#5DCAFF",
        warning="#FFBF16",
        error="#FF7B72",
        success="#5FC08E",
        foreground="#DFE3EA",
        background="#16181D",
        surface="#16181D",
        panel="#22262E",
        dark=True,
        variables={
            **_DARK_VARIABLES,
            "border-blurred": "#3A404C",
            "footer-key-foreground": "#5DCAFF",
            "block-cursor-background": "#2B4A5E",
            "block-cursor-foreground": "#FFFFFF",
            "block-cursor-text-style": "bold",
            "block-cursor-blurred-background": "#262B34",
            "block-cursor-blurred-foreground": "#DFE3EA",
        },
    ),
    Theme(
        name=LIGHT,
        primary="#2A62C9",
        secondary="#5E6A82",
        accent="#2A62C9",
        warning="#8A5300",
        error="#B3261E",
        success="#2E7048",
        foreground="#1E2127",
        background="#F4F6F9",
        surface="#F4F6F9",
        panel="#E4E8EE",
        dark=False,
        variables={
            **_LIGHT_VARIABLES,
            "border-blurred": "#BCC3CE",
            "footer-key-foreground": "#2A62C9",
            "block-cursor-background": "#C5D8FA",
            "block-cursor-foreground": "#10131A",
            "block-cursor-text-style": "bold",
            "block-cursor-blurred-background": "#DDE2EA",
            "block-cursor-blurred-foreground": "#1E2127",
        },
    ),
)


def defaults(*, dark: bool) -> dict[str, str]:
    """Return our variables for a theme that does not know them, by its brightness."""
    return {**(_DARK_VARIABLES if dark else _LIGHT_VARIABLES), "border-blurred": "#3A404C" if dark else "#BCC3CE"}
