"""The row above the list of runs: how many are seen, by which filter, in which order."""

from __future__ import annotations

from textual.content import Content

from workbench import formatting
from workbench.ui.run_listing import RunListing

EMPTY = (
    "No runs yet. n starts one: cart_pole with PPO takes about 10 s. "
    "`workbench import DIR` shows the runs of Stable-Baselines3, RL-Zoo and CleanRL in a folder."
)
"""What stands in place of a list without runs."""

_NARROW = ("-minute", "-tiny", "-narrow")
_WIDE = ("-wide", "-huge")


def headline(listing: RunListing, width_class: str, *, is_finding: bool) -> Content:
    """Return what is listed, and what is wrong with the filter.

    Args:
        listing: The list.
        width_class: Of the screen.
        is_finding: Whether the filter stands in its box, below, at this moment.
    """
    total = listing.total
    parts: list[tuple[str, str]] = [] if width_class in _NARROW and total else [("Runs  ", "bold")]
    if total:
        parts.append((f"{formatting.digits(listing.visible)} of {formatting.digits(total)}", ""))
    if listing.wish.filter and not is_finding:
        parts.append((f"   / {listing.wish.filter.text}", "$primary @click=screen.find_here"))
    if listing.problem:
        parts.append((f"   {listing.problem}", "$error"))
    if listing.marked:
        parts.append((f"   {formatting.digits(len(listing.marked))} marked", "$primary"))
    return Content.assemble(*parts)


def order_line(listing: RunListing, width_class: str) -> Content:
    """Return how the list is sorted and grouped, to be clicked; nothing where the filter's fault needs the room."""
    if not listing.total or (listing.problem and width_class in _NARROW):
        return Content("")
    sign = "▴" if listing.wish.order.is_reversed else "▾"
    parts: list[tuple[str, str]] = [
        (f"sort {listing.sort} {sign}", "@click=screen.list_reverse"),
        ("   ", ""),
        (str(listing.wish.tree), "@click=screen.list_tree"),
    ]
    if width_class in _WIDE:
        columns = sum(bool(column.title) for column in listing.columns(width_class))
        parts += [("   ", ""), (f"{columns} columns", "@click=screen.list_columns")]
    return Content.assemble(*parts)
