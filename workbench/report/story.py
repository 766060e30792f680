"""What a report says, part by part: from facts to blocks."""

from __future__ import annotations

import math
import platform
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from workbench import formatting
from workbench.formatting import MINUS, UNKNOWN
from workbench.report.blocks import Block, Code, Figure, Heading, Table, Text
from workbench.report.facts import TERM_PREFIX, TERM_SUFFIX, Facts, ReportedRun, Row
from workbench.report.plot import Level, Line, draw
from workbench.report.results import goal_of
from workbench.report.seed_lines import seed_lines
from workbench.runs.anomalies import in_words
from workbench.runs.history import Evaluation
from workbench.runs.statistics import FEWEST_RUNS, Interval

SVG = "image/svg+xml"


def tell(facts: Facts, *, title: str, command: str, montage: Figure | None = None) -> list[Block]:
    """Return the whole report.

    Args:
        facts: What it tells.
        title: Its heading.
        command: The line that writes it again.
        montage: A picture of what the policies do.
    """
    return [
        Heading(title, 1),
        Text(_opening(facts)),
        *_results(facts),
        *_curves(facts),
        *_montage(montage),
        *_terms(facts),
        *_evaluations(facts),
        *_settings(facts),
        *_versions(facts),
        *_commands(facts, command),
    ]


def _opening(facts: Facts) -> str:
    count = formatting.plural(len(facts.runs), "run")
    made = time.strftime("%Y-%m-%d %H:%M", time.localtime(facts.written))
    live = [row for row in facts.rows if row.is_live]
    sentences = [f"{count}, as of {made}."]
    for row in live:
        shares = [run.summary.progress for run in row.runs if run.summary.progress is not None]
        at = f", at {formatting.percent(min(shares))}" if shares else ""
        sentences.append(f"{row.label} was not done when this was written{at}.")
    return " ".join(sentences)


def _montage(picture: Figure | None) -> Iterator[Block]:
    if picture is not None:
        yield Heading("What the policies do")
        yield picture


# Results.


def _results(facts: Facts) -> Iterator[Block]:
    yield Heading("Results")
    yield Table(
        ("run", "seeds", "training return", "best evaluation", "at step", "episodes", "steps", "trained", "state"),
        [_result(row) for row in facts.rows],
    )
    yield Text(
        "A training return is the mean of the last 100 whole episodes; an evaluation plays greedily on episodes with "
        "numbered seeds, and the best is the one with the highest lower bound. Over several seeds both are the "
        f"interquartile mean, with the 95 % bootstrap interval over runs from {FEWEST_RUNS} seeds on."
    )


def _result(row: Row) -> list[str]:
    seeds = [str(run.summary.seed) for run in row.runs if run.summary.seed is not None]
    best = [run.best for run in row.runs if run.best is not None]
    steps = [run.summary.steps for run in row.runs]
    states = Counter(str(run.summary.state) for run in row.runs)
    return [
        row.label,
        " ".join(seeds) or UNKNOWN,
        _interval(row.final),
        _interval(row.best) if len(row.runs) > 1 else _evaluation(row.first.best),
        ", ".join(formatting.amount(item.steps) for item in best) or UNKNOWN,
        " ".join(str(count) for count in sorted({len(item.returns) for item in best if item.returns})) or UNKNOWN,
        _span([formatting.amount(value) for value in (min(steps), max(steps))]),
        formatting.duration(max(run.summary.active_s for run in row.runs)),
        ", ".join(state if count == len(row.runs) else f"{count} {state}" for state, count in states.items()),
    ]


def _interval(found: Interval) -> str:
    if math.isnan(found.value):
        return UNKNOWN
    if math.isnan(found.low):
        return formatting.number(found.value)
    return f"{formatting.number(found.value)} ({formatting.number(found.low)} … {formatting.number(found.high)})"


def _evaluation(item: Evaluation | None) -> str:
    return UNKNOWN if item is None else formatting.spread(item.mean_return, item.std_return)


def _span(ends: Sequence[str]) -> str:
    return ends[0] if ends[0] == ends[-1] else f"{ends[0]} to {ends[-1]}"


# Figures.


def _curves(facts: Facts) -> Iterator[Block]:
    yield Heading("Training return")
    for env_id, rows in facts.environments.items():
        places = [facts.rows.index(row) for row in rows]
        lines = [line for row, place in zip(rows, places, strict=True) for line in _returns(row, place)]
        names = ", ".join(row.label for row in rows)
        scores = [_scores(row, place) for row, place in zip(rows, places, strict=True)]
        lines += [line for found in scores for line in found]
        caption = f"{env_id}: {names}. Means of the last 100 whole episodes, not smoothed"
        if any(scores):
            caption += "; dashed the greedy evaluations"
        if any(len(row.runs) >= FEWEST_RUNS for row in rows):
            caption += "; interquartile mean over seeds, tinted its 95 % bootstrap interval"
        if any(len(row.runs) > 1 for row in rows):
            caption += "; thin, from where the first seed ends, each that goes on"
        yield Figure(draw(lines, _goals(rows), y_label="return").encode(), SVG, f"{caption}.")


def _returns(row: Row, slot: int) -> list[Line]:
    return seed_lines([run.returns for run in row.runs], Line(row.letter, slot=slot))


def _scores(row: Row, slot: int) -> list[Line]:
    """The evaluations of a row's runs."""
    curves = []
    for run in row.runs:
        known = [(item.steps, item.mean_return) for item in run.history.evaluations if item.mean_return is not None]
        if len(known) > 1:
            table = np.array(known, dtype=float)
            curves.append((table[:, 0], table[:, 1]))
    return seed_lines(curves, Line("", slot=slot, dashed=True, thin=True), with_band=False)


def _goals(rows: Sequence[Row]) -> list[Level]:
    goals = dict.fromkeys(goal for row in rows for run in row.runs if (goal := goal_of(run.record)) is not None)
    return [Level(goal, f"goal {formatting.number(goal)}") for goal in goals]


def _terms(facts: Facts) -> Iterator[Block]:
    told = [row for row in facts.rows if len(row.first.terms) > 1]
    if not told:
        return
    yield Heading("Reward terms")
    for row in told:
        lines: list[Line] = []
        for slot, term in enumerate(row.first.terms):
            curves = [run.curve(f"{TERM_PREFIX}{term}{TERM_SUFFIX}") for run in row.runs]
            lines += seed_lines(curves, Line(term, slot=slot), with_band=False)
        over = "" if len(row.runs) == 1 else ", interquartile mean over seeds"
        yield Figure(
            draw(lines, y_label="sum over an episode").encode(),
            SVG,
            f"{row.label}: what an episode's return is made of{over}.",
        )


# Tables of each run.


def _evaluations(facts: Facts) -> Iterator[Block]:
    evaluated = [(row, run) for row in facts.rows for run in row.runs if run.history.evaluations]
    if not evaluated:
        return
    yield Heading("Evaluations")
    for row, run in evaluated:
        yield Heading(_name(row, run), 3)
        best = run.best
        chosen = _spread_out(run.history.evaluations, best)
        yield Table(
            ("step", "return", "lower bound", "lowest", "highest", "length", "episodes", "endings"),
            [_evaluation_row(item, is_best=item is best) for item in chosen],
        )
        if len(chosen) < len(run.history.evaluations):
            yield Text(f"{len(chosen)} of {len(run.history.evaluations)}, evenly spread, the best among them.")


def _spread_out(items: Sequence[Evaluation], best: Evaluation | None, most: int = 12) -> list[Evaluation]:
    if len(items) <= most:
        return list(items)
    places = set(np.linspace(0, len(items) - 1, most - 1).round().astype(int).tolist())
    return [item for place, item in enumerate(items) if place in places or item is best]


def _evaluation_row(item: Evaluation, *, is_best: bool) -> list[str]:
    known = [value for value in item.returns if value is not None]
    endings = ", ".join(f"{reason} {count}" for reason, count in item.endings.items())
    return [
        f"{formatting.digits(item.steps)}{' (best)' if is_best else ''}",
        _evaluation(item),
        formatting.number(item.lower_bound),
        formatting.number(min(known, default=None)),
        formatting.number(max(known, default=None)),
        formatting.number(item.mean_length),
        str(len(item.returns) or UNKNOWN),
        endings or UNKNOWN,
    ]


def _settings(facts: Facts) -> Iterator[Block]:
    yield Heading("Settings")
    for row in facts.rows:
        yield Heading(row.label, 3)
        config = row.first.config
        changed = config.differences
        if not config.compared_with:
            yield Text("There is no recipe here to compare the settings with.")
        elif not changed:
            yield Text(f"As {config.compared_with} has them.")
        else:
            yield Table(
                ("field", "here", config.compared_with),
                [(item.key, item.value, item.recipe or UNKNOWN) for item in changed],
            )
        yield from _told_to(row)
        yield Code("\n".join(f"{item.key} = {item.value}" for item in config.settings))


def _told_to(row: Row) -> Iterator[Block]:
    """What was changed while a run trained, and what went wrong with it."""
    for run in row.runs:
        for mark in run.history.marks:
            if mark["kind"] == "set":
                changes = ", ".join(f"{key} = {value}" for key, value in _mapping(mark.get("values")).items())
                yield Text(f"{_name(row, run)}: at {formatting.amount(mark.get('steps'))} steps set to {changes}.")
        for anomaly in run.history.anomalies:
            said = in_words(anomaly)
            yield Text(f"{_name(row, run)}: at {formatting.amount(anomaly.get('steps'))} steps {said}.")
        if run.summary.state.is_bad:
            yield Text(f"{_name(row, run)} {run.summary.state}: {run.summary.reason}.")


def _versions(facts: Facts) -> Iterator[Block]:
    yield Heading("Versions and machines")
    rows = []
    for row in facts.rows:
        for run in row.runs:
            created = run.summary.created
            begun = datetime.fromtimestamp(created).strftime("%Y-%m-%d %H:%M")
            rows.append((_name(row, run), run.summary.name, begun, run.config.about or UNKNOWN))
    yield Table(("run", "folder", "begun", "with"), rows)
    yield Text(f"This report was written with Python {platform.python_version()} on {platform.system()}.")


def _commands(facts: Facts, command: str) -> Iterator[Block]:
    yield Heading("Commands")
    lines = list(dict.fromkeys(run.command for run in facts.runs if run.command))
    yield Code("\n".join([*lines, command]))


def _name(row: Row, run: ReportedRun) -> str:
    seed = "" if run.summary.seed is None else f" seed {run.summary.seed}"
    return f"{row.letter} {run.summary.env_name} {run.summary.short_id}{seed}".replace("-", MINUS)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
