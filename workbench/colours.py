"""The eight colours of curves, for terminals and for reports.

On their background each has a contrast of at least 3:1, and any two differ by at least 20 ΔE for normal and for each
kind of dichromat vision.
"""

from __future__ import annotations

SERIES_DARK = ("#5DCAFF", "#FFBF16", "#379D6D", "#C761A8", "#EEE88A", "#D9651F", "#5B73FF", "#CEF7DC")
"""On #16181D."""
SERIES_LIGHT = ("#5786E9", "#C77800", "#72885B", "#8F5685", "#402800", "#8C4600", "#773FEC", "#32323A")
"""On #F4F6F9."""
