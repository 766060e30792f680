"""What is on the screen, as text."""

from __future__ import annotations

from textual.app import App


def lines(app: App[object]) -> list[str]:
    """Return the rows of the terminal, no-break spaces as usual ones."""
    return [strip.text.replace("\u00a0", " ") for strip in app.screen._compositor.render_strips()]


def text(app: App[object]) -> str:
    """Return the whole screen."""
    return "\n".join(lines(app))


def words(app: App[object]) -> str:
    """Return the words of the screen as one line, without frames: for sentences that are wrapped."""
    return " ".join(text(app).translate(dict.fromkeys(map(ord, "│╭╮╰╯─"), " ")).split())


def line_with(app: App[object], words: str) -> str:
    """Return the first row that holds some words; empty where none does."""
    return next((line for line in lines(app) if words in line), "")


def notices(app: App[object]) -> str:
    """Return what was said in notices, oldest first."""
    return "\n".join(notice.message for notice in app._notifications).replace("\u00a0", " ")


def braille(app: App[object]) -> int:
    """Return how many cells hold a piece of a curve."""
    return sum("\u2800" < sign <= "\u28ff" for sign in text(app))
