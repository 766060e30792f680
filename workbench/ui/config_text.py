"""The settings of a run in words: what differs, what was changed since, and what it ran with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from textual.content import Content

from workbench import formatting
from workbench.catalog.run_config import RunConfig, Setting
from workbench.specs.changing import shown

NOT_READ = "run.json has not been read, or is damaged."


@dataclass(frozen=True)
class Given:
    """A value that a run was given after it had begun."""

    value: str
    steps: float
    by_hand: bool
    """Whether somebody changed it while it trained; else it came with a resumption."""

    @property
    def text(self) -> str:
        """What, since when and how: `C 0.0005 since 5.2 M, by hand`."""
        how = "by hand" if self.by_hand else "on resuming"
        return f"C {self.value} since {formatting.amount(self.steps)}, {how}"


def given_since(marks: Sequence[Mapping[str, Any]]) -> dict[str, Given]:
    """Return the values a run was given, by dotted key, the newest of each.

    Args:
        marks: What happened to it, oldest first.
    """
    found: dict[str, Given] = {}
    for mark in marks:
        values, steps = mark.get("values"), mark.get("steps")
        if mark.get("kind") == "set" and isinstance(values, dict):
            at = float(steps) if isinstance(steps, int | float) else 0.0
            found |= {key: Given(shown(value), at, mark.get("by") is None) for key, value in values.items()}
    return found


def config_title(config: RunConfig) -> str:
    """Return how many settings differ, and from what."""
    if not config.compared_with:
        return "Config"
    changed, all_of_them = formatting.digits(len(config.differences)), formatting.digits(len(config.settings))
    return f"Config · {changed} of {all_of_them} differ from {config.compared_with}"


def config_text(
    config: RunConfig, *, everything: bool, given: Mapping[str, Given] | None = None, words: str = ""
) -> Content:
    """Return the settings of a run: those that differ from what they are compared with, or all of them.

    Args:
        config: The settings.
        everything: Show all.
        given: What was changed since it began, by dotted key; always shown.
        words: Only settings that hold all of these are shown, whatever they are compared with.
    """
    given = given or {}
    if not config.settings:
        return Content(NOT_READ)
    wanted = words.lower().split()
    chosen: Sequence[Setting] = [
        item for item in config.settings if _is_shown(item, config, given, everything=everything, words=wanted)
    ]
    width = max((len(item.key) for item in chosen), default=0)
    lines = [_line(item, width, config.usual, given.get(item.key)) for item in chosen]
    known = {item.key for item in config.settings}
    # The weight of a reward term is no field of the spec.
    for key, change in given.items():
        if key not in known and all(word in key for word in wanted):
            lines.append(Content.assemble(("C ", "$warning"), (f"{key}  ", "$muted"), change.text))
    if not lines:
        said = f"No setting matches {words}." if wanted else f"Everything as in {config.compared_with}."
        lines = [Content(said)]
    if config.about and not wanted:
        lines += [Content(""), Content.styled(config.about, "$muted")]
    return Content("\n").join(lines)


def _is_shown(
    item: Setting, config: RunConfig, given: Mapping[str, Given], *, everything: bool, words: Sequence[str]
) -> bool:
    if words:
        text = f"{item.key} {item.value}".lower()
        return all(word in text for word in words)
    return everything or not config.compared_with or item.differs or item.key in given


def _line(item: Setting, width: int, usual: str, change: Given | None) -> Content:
    sign = ("✎ ", "$warning") if item.differs else ("  ", "")
    other = f"   {usual} {item.recipe}" if item.differs else ""
    parts: list[str | tuple[str, str]] = [sign, (item.key.ljust(width), "$muted"), f"  {item.value}", (other, "$muted")]
    if change is not None:
        parts.append((f"   {change.text}", "$warning"))
    return Content.assemble(*parts)
