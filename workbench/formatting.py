"""Numbers, times and sizes as the app and its reports write them.

Digits stand in threes with a no-break space between, three significant figures before k or M, an en dash for what is
unknown. Pure functions; nothing here knows of widgets.
"""

from __future__ import annotations

import math
import time

UNKNOWN = "–"
SPACE = "\u00a0"
"""Between groups of digits and before a unit: a line is never broken there."""
MINUS = "−"


def digits(value: float | None) -> str:
    """Return a whole number with its digits in threes: `9 142 272`."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    return f"{round(value):,}".replace(",", SPACE).replace("-", MINUS)


def amount(value: float | None) -> str:
    """Return a count with three significant figures and its unit: `310`, `9.8 k`, `9.15 M`."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    size = abs(value)
    for unit, step in (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)):
        scaled = value / step
        # 999 600 has three significant figures only as 1 M.
        if abs(scaled) < 999.5 or unit == "G":
            text = _significant(scaled) if unit or size != round(size) else str(round(scaled))
            return f"{text}{SPACE}{unit}".rstrip(SPACE).replace("-", MINUS)
    raise AssertionError("unreachable")


def number(value: float | None) -> str:
    """Return a measured value: `1 402`, `118`, `0.0112`, `−0.42`, `3e-5`."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    size = abs(value)
    if size >= 1e7:
        return f"{value:.2e}".replace("e+0", "e").replace("e+", "e").replace("-", MINUS)
    # 999.7 has three significant figures only as 1 000.
    if size >= 999.5:
        return digits(value)
    if size and size < 1e-4:
        return f"{value:.2g}".replace("e-0", "e-").replace("-", MINUS, 1 if value < 0 else 0)
    return _significant(value).replace("-", MINUS)


def spread(mean: float | None, deviation: float | None) -> str:
    """Return a mean with its standard deviation: `1 688 ± 74`."""
    return number(mean) if deviation is None or mean is None else f"{number(mean)} ± {number(deviation)}"


def percent(fraction: float | None) -> str:
    """Return a fraction of one as whole percent; below one it is never rounded up to done."""
    if fraction is None or not math.isfinite(fraction):
        return UNKNOWN
    whole = round(100 * fraction)
    return f"{min(whole, 99) if fraction < 1 else whole}{SPACE}%".replace("-", MINUS)


def duration(seconds: float | None) -> str:
    """Return a span of time in its two largest units: `45s`, `15m 34s`, `2h 05m`, `3d 4h`."""
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        return UNKNOWN
    whole = int(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02d}s"
    if whole < 86400:
        return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
    return f"{whole // 86400}d {whole % 86400 // 3600}h"


def eta(seconds: float | None) -> str:
    """Return a remaining time with two significant figures: `8s`, `45s`, `5m 20s`, `26m`, `2h 10m`, `31h`."""
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        return UNKNOWN
    if seconds < 59.5:
        return f"{round(seconds)}s"
    if seconds < 595:
        tens = round(seconds / 10) * 10
        return f"{tens // 60}m {tens % 60:02d}s" if tens % 60 else f"{tens // 60}m"
    if seconds < 3570:
        return f"{round(seconds / 60)}m"
    if seconds < 35700:
        tens = round(seconds / 600) * 10
        return f"{tens // 60}h {tens % 60:02d}m" if tens % 60 else f"{tens // 60}h"
    return f"{round(seconds / 3600)}h" if seconds < 172800 else f"{round(seconds / 86400)}d"


def age(seconds: float | None) -> str:
    """Return how long ago something was, in one unit: `14s`, `15m`, `1h`, `3d`."""
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    whole = max(0, int(seconds))
    for unit, step in (("d", 86400), ("h", 3600), ("m", 60)):
        if whole >= step:
            return f"{whole // step}{unit}"
    return f"{whole}s"


def size(count: float | None) -> str:
    """Return a size in bytes: `840 B`, `1.4 MB`, `126 MB`, `2.1 GB`."""
    if count is None or not math.isfinite(count):
        return UNKNOWN
    for unit, step in (("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)):
        scaled = count / step
        if scaled < 999.5 or unit == "TB":
            text = f"{scaled:.1f}" if unit != "B" and scaled < 9.95 else str(round(scaled))
            return f"{text}{SPACE}{unit}"
    raise AssertionError("unreachable")


def clock(moment: float | None, *, seconds: bool = False) -> str:
    """Return a moment (unix seconds) as local time of day: `10:42`, or `10:41:52`."""
    if moment is None:
        return UNKNOWN
    return time.strftime("%H:%M:%S" if seconds else "%H:%M", time.localtime(moment))


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun: `1 run`, `3 runs`."""
    return f"{digits(count)} {one if count == 1 else many or one + 's'}"


def bar(fraction: float | None, width: int, *, plain: bool = False) -> str:
    """Return a progress bar of `width` cells; empty where nothing is known."""
    full, empty = ("#", ".") if plain else ("▓", "░")
    if fraction is None or not math.isfinite(fraction) or width <= 0:
        return ""
    filled = min(width, max(0, int(fraction * width)))
    return full * filled + empty * (width - filled)


def shorten(text: str, width: int) -> str:
    """Return `text` in at most `width` characters, cut with an ellipsis."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def _significant(value: float) -> str:
    """Three significant figures, without trailing zeros and without an exponent."""
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
