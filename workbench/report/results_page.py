"""The published results: a Markdown page, the same as JSON, and a curve for each environment, beside each other.

What others published of the same task and version stands in a column of its own; other versions of a task have
tables of their own, and no number of one is ever computed with a number of another.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench import durable, formatting
from workbench.catalog.published import PublishedReturn, published_table
from workbench.errors import WorkFailedError
from workbench.formatting import UNKNOWN
from workbench.report.blocks import Block, Code, Heading, Table, Text
from workbench.report.markdown import write_markdown
from workbench.report.plot import Level, Line, draw
from workbench.report.results import Result, Results
from workbench.report.seed_lines import seed_lines
from workbench.runs.statistics import FEWEST_RUNS

FORMAT = 1

HOW_TO_READ = (
    "Each line is one algorithm on one environment, trained in one way with several seeds. The return of a seed is "
    "that of its best checkpoint, chosen on other episodes, unless the line says otherwise. IQM is the interquartile "
    f"mean over seeds, with its 95 % bootstrap interval from {FEWEST_RUNS} seeds on; ± is the standard deviation over "
    "seeds. What is changed is not as the recipe has it. Steps and wall time are those of the slowest seed. Published "
    "figures are the highest mean that others published of the same version of the same task; how each was measured "
    "differs, see below."
)


def write_results(
    results: Results, output: Path, command: Sequence[str], *, clock: Callable[[], float] = time.time
) -> list[Path]:
    """Write the page, `NAME.json` beside it and the curves in the folder `NAME`, and return all files.

    Args:
        results: What they hold.
        output: The page's file.
        command: The words that write them again.
        clock: Unix seconds.

    Raises:
        WorkFailedError: One cannot be written.
    """
    folder = output.with_suffix("")
    curves = {
        env_id: folder / f"{lines[0].environment.replace('/', '__')}.svg"
        for env_id, lines in results.environments.items()
    }
    document = to_json(results, command, clock())
    for line, row in zip(results.lines, document["results"], strict=True):
        row["curve"] = curves[line.env_id].relative_to(output.parent).as_posix()
    try:
        for env_id, path in curves.items():
            durable.write_text(path, draw_curves(results.environments[env_id]))
        durable.write_json(output.with_suffix(".json"), document)
        names = {env_id: path.relative_to(output.parent).as_posix() for env_id, path in curves.items()}
        durable.write_text(output, page(results, names, command, document["date"]))
    except OSError as error:
        where = error.filename or output
        raise WorkFailedError(f"the results cannot be written to {where}: {error.strerror or error}.") from error
    return [output, output.with_suffix(".json"), *curves.values()]


def to_json(results: Results, command: Sequence[str], written: float) -> dict[str, Any]:
    """Return everything as plain data, ours and what others published apart."""
    table = published_table()
    published = [
        {"env_id": env_id, "same_version": same, **item.to_json()}
        for env_id in results.environments
        for same, found in ((True, table.of(env_id)), (False, table.of_other_versions(env_id)))
        for item in found
    ]
    return {
        "format": FORMAT,
        "date": time.strftime("%Y-%m-%d", time.gmtime(written)),
        "command": shlex.join(command),
        "results": [line.to_json() for line in results.lines],
        "published": published,
        "notes": list(results.notes),
    }


def page(results: Results, curves: dict[str, str], command: Sequence[str], date: str) -> str:
    """Return the Markdown page.

    Args:
        results: What it holds.
        curves: By Gymnasium ID, where the page finds the picture of its curves.
        command: The words that write it again.
        date: When it was written.
    """
    parts = [
        write_markdown(
            [
                Heading("Results", 1),
                Text(f"Made from the folders of {formatting.plural(_runs(results), 'run')} on {date} by"),
                Code(shlex.join(command)),
                Text(HOW_TO_READ),
                summary_table(results),
            ]
        )
    ]
    for env_id, lines in results.environments.items():
        parts.append(write_markdown([Heading(lines[0].environment)]))
        parts.append(f"![{lines[0].environment}: training returns over steps]({curves[env_id]})\n")
        parts.append(write_markdown(list(_details(env_id, lines))))
    parts.append(write_markdown(list(_sources())))
    return "\n".join(parts)


def summary_table(results: Results) -> Table:
    """Return one row a line, with the best that others published of the same version in its own column."""
    columns = (
        "environment",
        "algorithm",
        "seeds",
        "steps",
        "IQM (95 %)",
        "mean ± std",
        "wall time",
        "goal",
        "published",
    )
    return Table(columns, [_summary(line) for line in results.lines])


def _summary(line: Result) -> list[str]:
    best = published_table().best(line.env_id, line.algorithm)
    goal = UNKNOWN if line.goal is None else f"{formatting.number(line.goal)}: {line.reached} of {len(line.runs)}"
    return [
        line.environment,
        f"{_name(line)}{'' if line.basis.is_greedy else ' *'}",
        str(len(line.runs)),
        formatting.amount(max(line.steps)),
        _interval(line),
        # One seed says nothing of the others.
        formatting.spread(line.mean, line.std if len(line.runs) > 1 else None),
        formatting.duration(max(line.wall_s)),
        goal,
        UNKNOWN if best is None else _published(best),
    ]


def _published(item: PublishedReturn) -> str:
    spread = formatting.spread(item.mean, item.std)
    return f"{spread} ({item.source.name}, {item.environment}, {item.steps_text} steps)"


def _interval(line: Result) -> str:
    found = line.interval
    if found.low != found.low:
        return formatting.number(found.value)
    return f"{formatting.number(found.value)} ({formatting.number(found.low)} … {formatting.number(found.high)})"


def _details(env_id: str, lines: Sequence[Result]) -> Iterator[Block]:
    for line in lines:
        yield Heading(_name(line), 3)
        yield Text(f"Returns: {line.basis.text}.{'' if line.basis.is_greedy else ' *'}")
        yield Table(
            ("seed", "return", "steps", "wall time", "run"),
            [
                (
                    UNKNOWN if seed < 0 else str(seed),
                    formatting.number(value),
                    formatting.digits(steps),
                    formatting.duration(wall_s),
                    run.summary.name,
                )
                for seed, value, steps, wall_s, run in zip(
                    line.seeds, line.returns, line.steps, line.wall_s, line.runs, strict=True
                )
            ],
        )
        if line.changed:
            values = ", ".join(f"{key} = {value}" for key, value in line.changed.items())
            yield Text(f"Other than its recipe: {values}.")
        libraries = ", ".join(f"{name} {version}" for name, version in line.versions.items())
        facts = [*line.machines, line.company, libraries, *(f"revision {revision}" for revision in line.revisions)]
        yield Text("; ".join(fact for fact in facts if fact) + ".")
        if line.commands:
            yield Code("\n".join(line.commands))
    table = published_table()
    same, others = table.of(env_id), table.of_other_versions(env_id)
    if same:
        yield Heading(f"Published of {same[0].environment}", 3)
        yield _published_table(same)
    for environment in dict.fromkeys(item.environment for item in others):
        yield Heading(f"Published of {environment}, which is not the same task", 3)
        yield _published_table([item for item in others if item.environment == environment])


def _published_table(items: Sequence[PublishedReturn]) -> Table:
    rows = [
        (
            item.source.name,
            item.algorithm.upper(),
            formatting.spread(item.mean, item.std),
            "" if item.std is None else item.source.spread_over,
            str(item.seeds),
            item.steps_text,
        )
        for item in items
    ]
    return Table(("source", "algorithm", "return", "± over", "seeds", "steps"), rows)


def _sources() -> Iterator[Block]:
    yield Heading("Where published figures are from")
    rows = [(item.name, item.where, item.protocol) for item in published_table().sources.values()]
    yield Table(("source", "where", "how"), rows)


def draw_curves(lines: Sequence[Result]) -> str:
    """Return the training returns of one environment's lines as SVG, a band where there are seeds enough.

    The band ends with the first seed; what the others did after it is drawn thin.
    """
    drawn: list[Line] = []
    for slot, line in enumerate(lines):
        label = line.algorithm.upper() + ("" if _is_only(line, lines) else f" {slot + 1}")
        drawn += seed_lines([run.returns for run in line.runs], Line(label, slot=slot))
    goals = dict.fromkeys(line.goal for line in lines if line.goal is not None)
    return draw(drawn, [Level(goal, f"goal {formatting.number(goal)}") for goal in goals], y_label="training return")


def _is_only(line: Result, lines: Sequence[Result]) -> bool:
    return sum(other.algorithm == line.algorithm for other in lines) == 1


def _name(line: Result) -> str:
    return f"{line.algorithm.upper()}{f', {len(line.changed)} changed' if line.changed else ''}"


def _runs(results: Results) -> int:
    return sum(len(line.runs) for line in results.lines)
