"""`workbench train`: check everything, put the runs into the queue, and follow them to their ends."""

from __future__ import annotations

import argparse
import json
import secrets
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import Problem, ProblemsError, RequestError
from workbench.project import Project
from workbench.verbs.numbers import NUMBER_HINT, whole_number
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.catalog import Entry
    from workbench.runs import Launch, RunDirectory
    from workbench.runs.forking import Fork
    from workbench.specs import Recipe, RunSpec


@dataclass(frozen=True)
class _Plan:
    """One environment to train, checked."""

    entry: Entry
    specs: tuple[RunSpec, ...]
    """One for each seed; none where something is wrong."""
    commands: tuple[tuple[str, ...], ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    start: tuple[int, int] = (0, 0)
    """Steps and iterations that are done before it begins, by the checkpoint it goes on from."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `train`."""
    add, hidden = parser.add_argument, argparse.SUPPRESS
    add(
        "pattern",
        nargs="?",
        metavar="PATTERN",
        help="name, Gymnasium ID or unique prefix; a glob trains all it matches; may be left out with --from",
    )
    add(
        "-a",
        "--algorithm",
        metavar="ALGORITHM",
        help="ppo, sac or td3 (default: the checkpoint's, ppo, or the recipe's)",
    )
    seeds = parser.add_mutually_exclusive_group()
    drawn = "seed of everything random (default: drawn, recorded)"
    seeds.add_argument("--seed", type=whole_number, metavar="N", help=drawn)
    seeds.add_argument("--seeds", metavar="1,2,3", help="a run for each, as one group; 1-5 is five of them")
    add(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="overrides",
        help="change a field of the recipe, as in ppo.learning_rate=1e-3; may be repeated",
    )
    add("--max-steps", type=whole_number, metavar="N", help=f"stop at N steps, {NUMBER_HINT}; those of a --from count")
    add("--max-iterations", type=whole_number, metavar="N", help="stop at N iterations, counted alike; 0 is no limit")
    add("-n", "--n-envs", type=whole_number, metavar="N", help="copies of the environment that step together")
    add("--checkpoint-freq", type=whole_number, metavar="N", help="iterations between checkpoints")
    add(
        "--from",
        dest="parent",
        metavar="CKPT",
        help="start from a checkpoint: a path, RUN, RUN:best, RUN:latest or RUN:STEPS. On its own environment the new"
        " run is like the one that wrote it but for what is set here; weights, statistics, optimisers, and the replay"
        " buffer where it is still there go along. Steps, iterations and schedules count on, and budgets count them"
        " all; seed and episodes are new",
    )
    add("-o", "--output-dir", type=Path, metavar="DIR", help="folder of runs (default: the project's runs)")
    add("--tag", action="append", default=[], metavar="T", dest="tags", help="a word to find the runs by")
    add(
        "--video-on-checkpoint",
        action="store_true",
        dest="video",
        help="film each checkpoint, in another process at low priority, and show it in TensorBoard",
    )
    add("--profile", action="store_true", help="record where the time of each iteration goes")
    add("--detach", action="store_true", help="print the runs' folders and return; they train on")
    add("--dry-run", action="store_true", help="print what would be trained and what it would take, and start nothing")
    add("--json", action="store_true", help="print one JSON document; progress goes to stderr")
    # The spellings of SuperDex, where they mean the same.
    add("--video_on_checkpoint", "-vid", action="store_true", dest="video", default=hidden, help=hidden)
    add("-p", "--pattern", dest="pattern_flag", help=hidden)
    for names, of in (
        (("-mi", "--max_iterations"), "max_iterations"),
        (("-cf", "--checkpoint_freq"), "checkpoint_freq"),
        (("--num_env_runners",), "n_envs"),
    ):
        add(*names, dest=of, type=whole_number, default=hidden, help=hidden)
    add("--output_path", dest="output_dir", type=Path, default=hidden, help=hidden)


def run(args: argparse.Namespace, project: Project) -> int:
    """Train, and return 0 where every run ended as asked, 1 where one failed or crashed, 130 after a second Ctrl-C."""
    pattern = _pattern(args)
    plans = _plans(args, pattern, project)
    for plan in plans:
        prefix = f"{plan.entry.name}: " if len(plans) > 1 else ""
        for note in (*plan.notes, *(str(problem) for problem in plan.problems)):
            _note(prefix + note)
    if args.dry_run:
        _print_plans(plans, as_json=args.json)
        return 0
    from workbench.runs import enqueue

    runs_root = (args.output_dir or project.runs).expanduser().absolute()
    launches = [launch for plan in plans for launch in _launches(plan)]
    if args.detach:
        _print_folders(enqueue(runs_root, launches), as_json=args.json)
        return 0
    return _follow(runs_root, launches, as_json=args.json)


def _pattern(args: argparse.Namespace) -> str | None:
    """Return what is to be trained; None for what the checkpoint was trained on."""
    given = [text for text in (args.pattern, args.pattern_flag) if text]
    if not given and args.parent is not None:
        return None
    if len(given) != 1:
        what = "name an environment" if not given else "name one pattern, not two"
        raise RequestError(f"{what}.", hint="`workbench list` shows what can be trained; '*' trains every recipe.")
    return str(given[0])


def _plans(args: argparse.Namespace, pattern: str | None, project: Project) -> list[_Plan]:
    """Check every environment that is asked for.

    Raises:
        ProblemsError: Something is wrong; all of it is listed, for all environments.
    """
    from workbench.catalog import discover
    from workbench.runs.seeds import draw_seed, read_seeds
    from workbench.specs import errors_of
    from workbench.verbs.forking import entry_of, find_fork

    catalog = discover(project)
    fork = None if args.parent is None else find_fork(args.parent, project, args.output_dir)
    if pattern is not None:
        entries = catalog.select(pattern)
    else:
        assert fork is not None
        entries = [entry_of(fork, catalog)]
    seeds, problem = read_seeds(args.seeds) if args.seeds is not None else ([], None)
    seeds = seeds or [draw_seed() if args.seed is None else args.seed]
    plans = [_plan(args, entry, seeds, fork) for entry in entries]
    found = [] if problem is None else [problem]
    for plan in plans:
        errors = errors_of(plan.problems)
        # What is wrong with a flag is wrong for every environment alike, and said once.
        found += [item for item in _named(errors, plan.entry.name, len(plans) > 1) if item not in found]
    if found:
        what = f"{entries[0].name} cannot be trained like this" if len(entries) == 1 else "this cannot be trained"
        notes = dict.fromkeys(note for plan in plans if errors_of(plan.problems) for note in plan.notes)
        raise ProblemsError(what, found, hint="\n".join(notes))
    return plans


def _named(errors: Sequence[Problem], name: str, is_one_of_many: bool) -> list[Problem]:
    from dataclasses import replace

    if not is_one_of_many:
        return list(errors)
    is_a_flag = ("--set", "algorithm", "seed")
    return [
        item
        if item.path is not None or item.key.startswith(is_a_flag)
        else replace(item, message=f"{item.message} ({name})")
        for item in errors
    ]


def _plan(args: argparse.Namespace, entry: Entry, seeds: Sequence[int], fork: Fork | None) -> _Plan:
    from workbench.catalog.feasible import obstacles
    from workbench.specs import changes, command_for, compose, errors_of
    from workbench.verbs.forking import problems_of, summary_of

    if entry.broken:
        return _Plan(entry, (), (), entry.problems, ())
    recipe = entry.training
    base = fork.base(recipe) if fork is not None and fork.env_id == entry.env_id else None
    by_default = _default_algorithm(recipe) if fork is None else fork.algorithm
    composed = compose(
        entry.env_id,
        algorithm=by_default if args.algorithm is None else args.algorithm,
        recipe=recipe,
        base=base,
        overrides=args.overrides,
        seed=seeds[0],
        total_steps=args.max_steps,
        stop_criteria=None if args.max_iterations is None else {"training_iteration": args.max_iterations},
        n_envs=args.n_envs,
        checkpoint_freq=args.checkpoint_freq,
        tags=args.tags or None,
        profile=args.profile or None,
        video_on_checkpoint=args.video or None,
        parent=None if fork is None else fork.reference,
    )
    obstructed, notes = [], list(composed.notes)
    if composed.spec is not None:
        obstructed = obstacles(entry, composed.spec)
        if fork is not None:
            obstructed += problems_of(fork, entry, composed.spec)
    problems = (*composed.problems, *obstructed)
    if composed.spec is None or errors_of(problems):
        return _Plan(entry, (), (), problems, tuple(notes))
    if fork is not None:
        changed = [] if base is None else changes(base, composed.spec)
        notes += [summary_of(fork, entry, changed), *fork.notes(composed.spec)]
    group = secrets.token_hex(4) if len(seeds) > 1 else None
    specs = tuple(composed.spec.model_copy(update={"seed": seed, "group": group}) for seed in seeds)
    commands = tuple(tuple(command_for(spec, entry.name, recipe, base=base)) for spec in specs)
    return _Plan(
        entry, specs, commands, problems, tuple(notes), (0, 0) if fork is None else (fork.steps, fork.iteration)
    )


def _default_algorithm(recipe: Recipe | None) -> str:
    written_for = () if recipe is None else recipe.algorithms
    return "ppo" if not written_for or "ppo" in written_for else written_for[0]


def _launches(plan: _Plan) -> list[Launch]:
    from workbench.runs import Launch
    from workbench.simulation.source import EnvSource

    environment = EnvSource.from_entry(plan.entry).to_json()
    return [
        Launch(spec, environment, command, plan.entry.name, spec.group)
        for spec, command in zip(plan.specs, plan.commands, strict=True)
    ]


def _follow(runs_root: Path, launches: Sequence[Launch], *, as_json: bool) -> int:
    from workbench.runs import RunStore, enqueue
    from workbench.verbs.following import Interrupts, follow
    from workbench.verbs.run_text import ending_lines, write_line

    with Interrupts() as interrupts:
        runs = enqueue(runs_root, launches)
        _note(f"{len(runs)} runs queued in {runs_root}" if len(runs) > 1 else f"{runs[0].path}")
        followed = follow(runs, RunStore(runs_root), interrupts, sys.stderr)
    if followed.was_left:
        _note("Left stopping; `workbench runs` shows them.")
    is_bad = any(row.state.is_bad for row in followed.rows)
    if as_json:
        write_json({"runs": [row.to_json() for row in followed.rows]})
    else:
        for row in followed.rows:
            if row.state.is_ended:
                for line in ending_lines(row):
                    write_line(line, sys.stdout)
    return 130 if followed.was_left else int(is_bad)


def _print_folders(runs: Sequence[RunDirectory], *, as_json: bool) -> None:
    if as_json:
        rows = [{"id": run.short_id, "name": run.name, "path": str(run.path)} for run in runs]
        write_json({"runs": rows})
        return
    for run in runs:
        print(run.path)  # noqa: T201


def _print_plans(plans: Sequence[_Plan], *, as_json: bool) -> None:
    from workbench.simulation.source import EnvSource
    from workbench.verbs.rehearsing import Rehearsals, lines_of

    rehearsals = Rehearsals()

    def measure(plan: _Plan) -> dict[str, Any]:
        # Runs of one plan differ in their seed alone.
        return rehearsals.measure(plan.specs[0], EnvSource.from_entry(plan.entry).to_json(), plan.start)

    if as_json:
        measured = {plan.entry.name: measure(plan) for plan in plans}
        rows = [
            {
                "environment": plan.entry.name,
                "env_id": plan.entry.env_id,
                "spec": spec.model_dump(mode="json"),
                "command": list(command),
                "notes": list(plan.notes),
                "problems": [str(problem) for problem in plan.problems],
                "measured": measured[plan.entry.name],
            }
            for plan in plans
            for spec, command in zip(plan.specs, plan.commands, strict=True)
        ]
        write_json({"runs": rows})
        return
    for plan in plans:
        for spec, command in zip(plan.specs, plan.commands, strict=True):
            print(shlex.join(command))  # noqa: T201
            for key, value in _settings(spec):
                print(f"  {key} = {value}")  # noqa: T201
        sys.stdout.flush()
        for line in lines_of(measure(plan)):
            print(f"  {line}")  # noqa: T201


def _settings(spec: RunSpec) -> list[tuple[str, str]]:
    """Return what the run would do, without the blocks of the algorithms it does not use."""
    data: dict[str, Any] = spec.model_dump(mode="json")
    flat: list[tuple[str, str]] = []
    for key, value in data.items():
        if key in ("ppo", "sac", "td3") and key != spec.algorithm:
            continue
        if isinstance(value, dict):
            flat += [(f"{key}.{name}", json.dumps(item)) for name, item in value.items()]
        else:
            flat.append((key, json.dumps(value)))
    return flat


def _note(text: str) -> None:
    from workbench.verbs.run_text import write_line

    write_line(text, sys.stderr)
