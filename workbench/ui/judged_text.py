"""Evaluations and comparisons in words, from the JSON documents that `evaluate` and `compare` print."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from textual.content import Content

from workbench.formatting import SPACE, digits, number, plural, shorten, spread

Document = Mapping[str, Any]

_LABEL = 10
_WIDEST_NAME = 24
_PROBLEMS = 3
_OUTCOMES = {
    "did_better": ("did better", "success"),
    "did_worse": ("did worse", "error"),
    "no_clear_difference": ("no clear difference", "warning"),
}


def document_in(lines: Iterable[str]) -> dict[str, Any] | None:
    """Return the JSON document among what a command printed; nothing where there is none.

    Args:
        lines: Its lines; what it said of its progress may stand before the document.
    """
    for line in lines:
        start = line.find("{")
        if start < 0:
            continue
        try:
            found = json.loads(line[start:])
        except ValueError:
            continue
        if isinstance(found, dict):
            return found
    return None


def evaluation_text(found: Document) -> Content:
    """Return what an evaluation came to, without its worst episodes, which are chosen from a list.

    Args:
        found: The document of `evaluate --json`.
    """
    lines = [Content.styled(_episodes(found), "$muted")]
    lowest, highest = number(found.get("min_return")), number(found.get("max_return"))
    shown = spread(found.get("mean_return"), found.get("std_return"))
    lines.append(_line("return", (shown, "bold"), (f", from {lowest} to {highest}", "")))
    lines.append(_line("length", (f"{number(found.get('mean_length'))} steps{_in_seconds(found)}", "")))
    lines += _success(found)
    endings = found.get("endings") or {}
    lines.append(_line("endings", (", ".join(f"{digits(many)} {reason}" for reason, many in endings.items()), "")))
    for place, problem in list((found.get("problems") or {}).items())[:_PROBLEMS]:
        lines.append(_line("problem", (f"episode {int(found['seed']) + int(place)}: {problem}", "$error")))
    verdict = found.get("verdict")
    if isinstance(verdict, dict):
        lines.append(_verdict(verdict))
    return Content("\n").join(lines)


def worst_episodes(found: Document) -> list[tuple[int, str]]:
    """Return the worst episodes, the worst first: the number of each, and a line that tells of it.

    Args:
        found: The document of `evaluate --json`.
    """
    return [
        (
            int(row["seed"]),
            f"{row['seed']}  return {number(row['return'])}  {digits(row['length'])} steps  {row['ended_by']}",
        )
        for row in found.get("worst") or ()
    ]


def comparison_text(found: Document, width: int) -> Content:
    """Return what a comparison came to: a row a policy, then the first against each of the others.

    Args:
        found: The document of `compare --json`.
        width: Cells there are.
    """
    policies: Sequence[Document] = found.get("policies") or ()
    rows = [_standing(one) for one in policies]
    head = ("policy", "mean return (95 % range)", "success (95 % range)", "interquartile mean")
    columns = 4 if _width([head, *rows]) <= width else 3
    table = list(_aligned([head[:columns], *(row[:columns] for row in rows)]))
    lines = [Content.styled(_episodes(found), "$muted"), Content(""), Content.styled(table[0], "$muted bold")]
    lines += [Content(line) for line in table[1:]]
    for duel in found.get("comparisons") or ():
        lines += [Content(""), *_duel(duel)]
    return Content("\n").join(lines)


def percents(low: float, high: float) -> str:
    """Return a range of shares: `85 – 96 %`."""
    return f"{number(100 * low)}{SPACE}–{SPACE}{number(100 * high)}{SPACE}%"


def _episodes(found: Document) -> str:
    count, first = int(found.get("num_episodes") or 0), int(found.get("seed") or 0)
    how = "greedy" if found.get("deterministic") else "sampled"
    return f"{found.get('environment')}: {plural(count, 'episode')}, {first} to {first + count - 1}, {how}"


def _success(found: Document) -> list[Content]:
    successes, between = found.get("successes"), found.get("success_range")
    if not isinstance(successes, list) or not isinstance(between, list):
        return [_line("success", ("not measured: the environment does not say what it is", "$muted"))]
    good = sum(map(bool, successes))
    told = [
        _line("success", (f"{digits(good)} of {digits(len(successes))}", "bold"), (f", 95 % {percents(*between)}", ""))
    ]
    failures = found.get("failures") or ()
    if failures:
        groups = ", ".join(f"{digits(group['episodes'])} {group['ended_by']}" for group in failures)
        told.append(_line("failures", (groups, "")))
    at_reset = found.get("episodes_successful_at_reset") or 0
    if at_reset:
        said = f"! {plural(at_reset, 'episode')} succeeded before anything acted"
        told.append(_line("", (said, "$warning")))
    return told


def _verdict(verdict: Document) -> Content:
    is_passed = bool(verdict.get("passed"))
    sign, colour = ("✓ passed", "$success bold") if is_passed else ("✗ not reached", "$error bold")
    said = f": {number(verdict.get('observed'))} of the episodes succeeded, {number(verdict.get('required'))} is needed"
    unsure = "; the range lies on both sides of it" if verdict.get("uncertain") else ""
    return _line("verdict", (sign, colour), (said + unsure, ""))


def _in_seconds(found: Document) -> str:
    period_s = found.get("control_period_s")
    return "" if period_s is None else f", {number(float(found['mean_length']) * float(period_s))} s"


def _standing(one: Document) -> tuple[str, ...]:
    between, successes = one.get("success_range"), one.get("successes")
    success = "not measured"
    if isinstance(between, list) and isinstance(successes, list):
        success = f"{digits(sum(map(bool, successes)))} of {digits(len(successes))} ({percents(*between)})"
    return shorten(str(one.get("name")), _WIDEST_NAME), _spanned(one.get("mean")), success, _spanned(one.get("iqm"))


def _duel(duel: Document) -> list[Content]:
    words, colour = _OUTCOMES.get(str(duel.get("outcome")), (str(duel.get("outcome")), "foreground"))
    difference = duel.get("difference") or {}
    sign = "+" if (difference.get("value") or 0) > 0 else ""
    lines = [
        Content.assemble(f"{duel.get('new')} against {duel.get('old')}: ", (words, f"${colour} bold")),
        Content(
            f"  return {_spanned(difference, sign)} on the same episode, "
            f"higher in {digits(duel.get('higher'))}, lower in {digits(duel.get('lower'))}"
        ),
    ]
    if duel.get("p_value") is not None:
        lines.append(
            Content(
                f"  success: solved {digits(duel.get('improved'))} that the other did not, missed "
                f"{digits(duel.get('regressed'))} that it did, p {number(duel['p_value'])}"
            )
        )
    return lines


def _spanned(interval: Document | None, sign: str = "") -> str:
    if not interval:
        return number(None)
    low, high = interval.get("low"), interval.get("high")
    value = f"{sign}{number(interval.get('value'))}"
    if low is None or high is None or not math.isfinite(low):
        return value
    return f"{value} ({number(low)} to {number(high)})"


def _line(name: str, *parts: tuple[str, str]) -> Content:
    return Content.assemble((name.ljust(_LABEL), "$muted"), *parts)


def _width(rows: Sequence[Sequence[str]]) -> int:
    return sum(max(len(row[column]) for row in rows) + 2 for column in range(len(rows[0]))) - 2


def _aligned(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
