"""The colours of a chart's cells in a theme."""

from __future__ import annotations

from collections.abc import Mapping

from rich.style import Style
from textual.color import Color

from workbench.ui.theme import SERIES_COUNT

RAW_FAINTNESS = 0.62
"""How far the raw line is blended into the background."""
THIN_FAINTNESS = 0.4
"""And a seed of a group, or a parent's part."""
BAND_FAINTNESS = 0.82
"""And a band, behind what is drawn on it."""


class ChartPalette:
    """Styles by name, as cells have them.

    Args:
        variables: Those of the theme.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._background = Color.parse(variables["background"])
        self._styles = self._named()
        self._mixed: dict[tuple[str, str], Style] = {}

    def style(self, name: str, ground: str = "") -> Style:
        """Return a style, on the tint of a band where there is one."""
        key = (name, ground)
        if key not in self._mixed:
            style = self._styles.get(name, Style.null())
            self._mixed[key] = style + self._styles[ground] if ground in self._styles else style
        return self._mixed[key]

    def _ink(self, name: str, *, faint: float = 0.0, bold: bool = False) -> Style:
        return Style(color=self._colour(name, faint).rich_color, bold=bold or None)

    def _colour(self, name: str, faint: float) -> Color:
        return Color.parse(self._variables[name]).blend(self._background, faint)

    def _named(self) -> dict[str, Style]:
        ink = self._ink
        styles = {
            "frame": ink("border-blurred"),
            "frame-focus": ink("accent"),
            "title": ink("foreground"),
            "title-focus": ink("foreground", bold=True),
            "note": ink("warning"),
            "text": ink("foreground"),
            "axis": ink("muted", faint=0.35),
            "tick": ink("muted"),
            "empty": ink("muted"),
            "reference": ink("muted"),
            "cursor": ink("accent", bold=True),
            "playing": ink("accent", bold=True),
            "point": ink("foreground", bold=True),
            "ladder": ink("muted"),
            "best": ink("success", bold=True),
            "flag": ink("warning", bold=True),
            "bad": ink("error", bold=True),
        }
        for slot in (*range(SERIES_COUNT), "muted"):
            name = "muted" if slot == "muted" else f"series-{int(slot) + 1}"
            styles[f"series-{slot}"] = styles[f"letter-{slot}"] = ink(name)
            styles[f"series-{slot}-bold"] = styles[f"letter-{slot}-bold"] = ink(name, bold=True)
            styles[f"raw-{slot}"] = ink(name, faint=RAW_FAINTNESS)
            styles[f"thin-{slot}"] = styles[f"edge-{slot}"] = ink(name, faint=THIN_FAINTNESS)
            styles[f"band-{slot}"] = Style(bgcolor=self._colour(name, BAND_FAINTNESS).rich_color)
        return styles
