"""`workbench bench environments|training|check`: measurements, two of them compared, recipes checked."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.errors import RequestError, WorkFailedError
from workbench.project import Project
from workbench.verbs.numbers import whole_number
from workbench.verbs.writing import write_json

# One thread each for NumPy's matrix products, which are small here: theirs would fight those of the simulator.
THREADS = {"OPENBLAS_NUM_THREADS": "1"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is measured, and the flags of each."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="environments|training|check")
    environments = kinds.add_parser(
        "environments",
        help="steps a second of environments, over copies and threads",
        description="Steps a second of environments over copies and threads, each configuration in a process of its "
        "own, beside the bare simulation on the same states; the benchmark file of an environment configures it.",
    )
    environments.add_argument("pattern", nargs="?", metavar="PATTERN", help="a name, an ID, or a glob (default: all)")
    environments.add_argument(
        "--copies", type=_counts, default=(1, 8, 64, 256), metavar="N,N…", help="default: 1,8,64,256"
    )
    environments.add_argument("--threads", type=_counts, metavar="N,N…", help="default: one, and one a CPU")
    environments.add_argument(
        "--min-time", type=_seconds, default=0.5, metavar="S", help="seconds of stepping in a repeat (default: 0.5)"
    )
    environments.add_argument("--repeats", type=_count, default=3, metavar="N", help="the median is of N (default: 3)")
    environments.add_argument(
        "--against",
        action="store_true",
        help="beside the vector environments of Gymnasium and Stable-Baselines3 on the same task, in turns",
    )
    training = kinds.add_parser(
        "training",
        help="PPO, SAC and TD3 beside those of Stable-Baselines3",
        description="PPO, SAC and TD3 beside those of Stable-Baselines3, in turns at the same hyperparameters: on the "
        "half-cheetah at common ones, or on the environments that are named as their recipes say.",
    )
    training.add_argument(
        "texts",
        nargs="*",
        metavar="ENV|TEXT",
        help="environments, each with its recipe; or only lines with one of these in their name",
    )
    training.add_argument("--short", action="store_true", help="fewer repeats")
    training.add_argument("--table", action="store_true", help="every figure: collection, memory and start-up too")
    training.add_argument(
        "--sbx", type=Path, metavar="PYTHON", help="of a virtual environment with sbx-rl, to be measured too"
    )
    check = kinds.add_parser(
        "check",
        help="whether short recipes still reach what was measured with them; also `bench --check`",
        description="Trains one seed of each recipe whose reference took half a minute at most, plays the episodes of "
        "the reference with its best checkpoint, and compares: the mean return may be three standard deviations over "
        "seeds below the reference's, one percent at least, and the steps twice those of its slowest seed.",
    )
    check.add_argument("names", nargs="*", metavar="NAME", help="environments, whatever their references took")
    check.add_argument(
        "--algorithm", choices=("ppo", "sac", "td3"), action="append", default=[], help="only this one; may be repeated"
    )
    for one in (environments, training):
        one.add_argument("--compare", nargs=2, type=Path, metavar=("OLD", "NEW"), help="compare two files instead")
    for one in (environments, training, check):
        one.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the JSON there too, row by row")
        one.add_argument("--json", action="store_true", help="print one JSON document; progress goes to stderr")
        one.add_argument("--project", metavar="DIR", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.epilog = (
        "Exit code 1 where a measurement failed, a compared row is below 0.9 of what it was, or a recipe is worse than "
        "its reference."
    )


def readable(words: Sequence[str]) -> list[str]:
    """Return the words of a command line with `--check` at their head as the kind that it is."""
    return ["check", *words[1:]] if words[:1] == ["--check"] else list(words)


def run(args: argparse.Namespace, project: Project) -> int:
    """Measure, compare or check."""
    if args.kind != "check" and args.compare is not None:
        return _compare(args)
    for name, value in THREADS.items():
        os.environ.setdefault(name, value)
    if args.kind == "check":
        return _check(args, project)
    return _environments(args, project) if args.kind == "environments" else _training(args, project)


def _compare(args: argparse.Namespace) -> int:
    from workbench.bench.comparing import LEAST, compare
    from workbench.bench.document import read_document

    old, new = (read_document(path) for path in args.compare)
    for document, path in zip((old, new), args.compare, strict=True):
        if document["kind"] != args.kind:
            raise RequestError(f"{path} does not measure {args.kind}.", hint="`bench KIND --compare` compares its own.")
    comparison = compare(old, new)
    if args.json:
        rows = [
            {"name": change.name, "old": change.old, "new": change.new, "ratio": change.ratio}
            for change in comparison.changes
        ]
        write_json({"least": LEAST, "worse": comparison.is_worse, "rows": rows, "notes": comparison.notes}, indent=2)
    else:
        from workbench.formatting import number

        for note in comparison.notes:
            _note(note)
        width = max(len(change.name) for change in comparison.changes)
        for change in comparison.changes:
            figures = f"{number(change.old):>10}  {number(change.new):>10}  {change.ratio:>5.2f}×"
            print(f"{change.name:<{width}}  {figures}{'  worse' if change.is_worse else ''}")  # noqa: T201
    return 1 if comparison.is_worse else 0


def _environments(args: argparse.Namespace, project: Project) -> int:
    from workbench.bench.document import make_document
    from workbench.bench.environments import Sweep, choose, run_sweep
    from workbench.catalog import discover
    from workbench.runs.machine import usable_cpus

    cpus = usable_cpus()
    threads = args.threads or tuple(dict.fromkeys((1, cpus)))
    if max(threads) > cpus:
        _note(f"{max(threads)} threads on {cpus} CPUs take turns on them.")
    subjects = choose(discover(project), args.pattern)
    sweep = Sweep(args.copies, threads, args.min_time, args.repeats, args.against)
    width = max(len(subject.source.name) for subject in subjects)
    for subject in subjects:
        if subject.configured_by is not None:
            _progress(f"{subject.source.name:<{width}}  as {subject.configured_by.name} says", args)
    head = f"{'':<{width}}  copies  threads   steps/s     simulated/s  of bare     init   memory"
    rows: list[dict[str, Any]] = []
    for row in run_sweep(subjects, sweep):
        if not rows:
            _progress(head, args)
        rows.append(row)
        _progress(_environment_line(row, width), args)
        _keep(make_document("environments", rows), args)
    if args.json:
        write_json(make_document("environments", rows), indent=2)
    return 1 if any("error" in row for row in rows) else 0


def _environment_line(row: Mapping[str, Any], width: int) -> str:
    from workbench.formatting import digits, percent, size

    start = f"{row['environment']:<{width}}  {row['copies']:>6}  {row['threads']:>7}"
    if "error" in row:
        return f"{start}  failed: {row['error']}"
    cells = f"{digits(row['control_steps_per_s']):>9}  {digits(row['simulation_steps_per_s']):>14}"
    line = f"{start}  {cells}  {percent(row['bare_share']):>7}  {row['init_s']:>5.2f} s  {size(row['memory_bytes']):>7}"
    for rival in row.get("against", ()):
        speed = digits(rival["control_steps_per_s"])
        ratio = rival["note"] if rival["ratio"] is None else f"{rival['ratio']:.1f}× over {rival['environment']}"
        line += f"\n{'':<{width}}  {rival['kind']:>15}  {speed:>9}  {ratio}"
    return line


def _check(args: argparse.Namespace, project: Project) -> int:
    from workbench.bench.document import make_document
    from workbench.bench.rechecking import choose, recheck
    from workbench.catalog import discover

    references = choose(discover(project), args.names, args.algorithm)
    width = max(len(reference.name) for reference in references)
    rows: list[dict[str, Any]] = []
    for row in recheck(references, project):
        if not rows:
            _progress(
                f"{'':<{width}}  seed  {'return':>9}  {'reference':>17}  {'steps':>7}  {'reference':>9}     wall", args
            )
        rows.append(row)
        _progress(_check_line(row, width), args)
        _keep(make_document("check", rows), args)
    if args.json:
        write_json(make_document("check", rows), indent=2)
    return 1 if any(row["verdict"] in ("failed", "worse", "slower") for row in rows) else 0


def _check_line(row: Mapping[str, Any], width: int) -> str:
    from workbench.formatting import amount, duration, number, spread

    start, before = f"{row['name']:<{width}}  {row['seed']:>4}", row["reference"]
    if "error" in row:
        return f"{start}  failed: {row['error']}"
    returns = f"{number(row['value']):>9}  {spread(before['return'], before['std']):>17}"
    return (
        f"{start}  {returns}  {amount(row['steps']):>7}  {amount(before['steps']):>9}  {duration(row['wall_s']):>7}  "
        f"{row['verdict']}"
    )


def _training(args: argparse.Namespace, project: Project) -> int:
    from workbench.bench.document import make_document
    from workbench.bench.table import Effort, markdown, measurements, of_environments, run_measurements
    from workbench.catalog import discover

    effort = Effort(short=args.short, sbx_python=args.sbx)
    # In the whole table every word is a text: some of its lines have the half-cheetah in their name.
    by_name = {} if args.table else {entry.name: entry for entry in discover(project).entries}
    entries = [by_name[text] for text in args.texts if text in by_name]
    texts = [text for text in args.texts if text not in by_name]
    if entries:
        chosen = of_environments(entries, effort, texts)
    else:
        chosen = measurements(effort, everything=args.table, texts=texts)
    if not chosen and entries:
        names, wanted = " or ".join(entry.name for entry in entries), f" for {' or '.join(texts)}" if texts else ""
        raise RequestError(
            f"{names} has no recipe{wanted}.", hint="`workbench list` shows which environments have one."
        )
    if not chosen:
        raise RequestError(f"no line has {' or '.join(texts)} in its name.", hint="--table adds the others.")
    rows: list[dict[str, Any]] = []
    document = make_document("training", rows)
    for figure in run_measurements(chosen):
        rows.append(figure.to_json())
        if len(rows) == 1:
            _progress(figure.head(), args)
        _progress(figure.line(), args)
        document = make_document("training", rows, short=args.short)
        _keep(document, args)
        if args.table and args.output is not None:
            _write(args.output.with_suffix(".md"), markdown(document))
    if args.json:
        write_json(document, indent=2)
    elif args.table and args.output is None:
        print(f"\n{markdown(document)}", end="")  # noqa: T201
    return 1 if any(row["failed"] for row in rows) else 0


def _keep(document: Mapping[str, Any], args: argparse.Namespace) -> None:
    if args.output is not None:
        from workbench.durable import write_json as write_file

        try:
            write_file(args.output, document)
        except OSError as error:
            raise WorkFailedError(f"{args.output} cannot be written: {error.strerror or error}.") from error


def _write(path: Path, text: str) -> None:
    from workbench.durable import write_text

    write_text(path, text)


def _progress(line: str, args: argparse.Namespace) -> None:
    print(line, file=sys.stderr if args.json else sys.stdout, flush=True)


def _note(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201


def _counts(text: str) -> tuple[int, ...]:
    """Read whole numbers from 1 on, with commas or spaces between."""
    numbers = tuple(_count(word) for word in text.replace(",", " ").split())
    if not numbers:
        raise argparse.ArgumentTypeError(f"must be numbers with commas between, as in 1,8,64, and {text!r} is not")
    return tuple(dict.fromkeys(numbers))


def _count(text: str) -> int:
    number = whole_number(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, and {text!r} is not")
    return number


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 3600:
        raise argparse.ArgumentTypeError(f"must be seconds above 0, and {text!r} is not")
    return seconds
