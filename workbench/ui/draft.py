"""A new run as it is being filled in: what was typed, what the recipe says, and what is wrong.

No widget. The same layers as `workbench train`: defaults, the recipe or the run of a checkpoint, what was typed; so
that the command it shows gives the same spec.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.catalog import Description, Entry, fault_problems
from workbench.catalog.feasible import obstacles
from workbench.errors import Problem
from workbench.formatting import amount, digits, duration, percent
from workbench.runs import Launch
from workbench.runs.forking import Fork
from workbench.runs.seeds import draw_seed, read_seeds
from workbench.specs import (
    ALGORITHM_SPECS,
    ALGORITHMS,
    Algorithm,
    Composed,
    FieldRow,
    Recipe,
    RunSpec,
    command_for,
    compose,
    errors_of,
    field_table,
    read_number,
)

_NETWORK = ("net_arch", "activation", "log_std_init", "ortho_init", "use_expln", "clip_mean")
_TOP = ("n_envs",)
START = "parent"
"""The key of the field that names the checkpoint a run goes on from."""
_MACHINE = ("threads", "device", "profile")
_ELSEWHERE = ("env_id", "algorithm", "seed", "tags", "group", "parent")


@dataclass(frozen=True)
class Section:
    """A part of the form."""

    name: str
    """Stays the same whichever algorithm is chosen."""
    title: str
    rows: tuple[tuple[str, FieldRow], ...]
    """(dotted key, field)."""


@dataclass(frozen=True)
class Checked:
    """What came of checking a draft."""

    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    command: tuple[str, ...]
    """The words that start the same runs, with `workbench` in front; empty while an error stands in the way."""
    launches: tuple[Launch, ...]
    seeds: tuple[int, ...]
    spec: RunSpec | None = None
    """What is launched, but for the seed; None while an error stands in the way."""

    @property
    def errors(self) -> list[Problem]:
        """What blocks a launch."""
        return [item for item in self.problems if item.severity == "error"]


@dataclass(frozen=True)
class Draft:
    """What a person has filled in so far."""

    entry: Entry
    algorithm: Algorithm = "ppo"
    seeds: str = ""
    tags: str = ""
    edits: Mapping[str, str] = field(default_factory=dict)
    """What was typed, by dotted key; an emptied field goes back to the recipe."""
    start: str = ""
    """What was typed as the checkpoint that the run goes on from; empty for untrained weights."""
    fork: Fork | None = None
    """That checkpoint, once it was looked up."""
    start_fault: Problem | None = None
    """Why `start` names none."""
    like: str = ""
    """The short id of the run that this one was filled in from."""

    @classmethod
    def of(cls, entry: Entry) -> Draft:
        """Return the form as it opens: everything as the recipe says."""
        is_for_ppo = not entry.algorithms or "ppo" in entry.algorithms
        return cls(entry, "ppo" if is_for_ppo else entry.algorithms[0])

    @property
    def recipe(self) -> Recipe | None:
        """The recipe of the environment, where it has one."""
        return self.entry.training

    @property
    def forked(self) -> Mapping[str, Any] | None:
        """Fields of the run that wrote the checkpoint, which this one takes over in place of the recipe's."""
        if self.fork is None or self.fork.env_id != self.entry.env_id:
            return None
        return self.fork.base(self.recipe)

    @property
    def source(self) -> str:
        """What a field goes back to when it is emptied: `recipe`, the run of the checkpoint, or `default`."""
        if self.forked is not None and self.fork is not None:
            return "checkpoint" if self.fork.run is None else self.fork.run.short_id
        return "default" if self.recipe is None else "recipe"

    @property
    def is_changed(self) -> bool:
        """Whether a person filled in anything that would be lost."""
        return bool(self.edits)

    def sections(self) -> list[Section]:
        """Return the form's parts for the algorithm that is chosen."""
        run = {row.name: row for row in field_table(RunSpec)}
        block = {f"{self.algorithm}.{row.name}": row for row in field_table(ALGORITHM_SPECS[self.algorithm])}
        network = {key: row for key, row in block.items() if row.name in _NETWORK}
        parts: list[tuple[str, str, list[str]]] = [
            ("budget", "Budget", ["total_steps", *(key for key in run if key.startswith("stop_criteria."))]),
            ("algorithm", self.algorithm.upper(), [*(key for key in block if key not in network),
                                                   *(key for key in run if key.startswith("normalize_"))]),
            ("network", "Network", list(network)),
            ("evaluation", "Evaluation", [key for key in run if key.startswith(("eval_", "rescore_"))]),
            ("checkpoints", "Checkpoints", [key for key in run if key.startswith(("checkpoint_", "keep_", "video_",
                                                                                  "tensorboard_", "tb_"))]),
            ("anomalies", "Anomaly watch", [key for key in run if "anomal" in key]),
            ("machine", "Machine", list(_MACHINE)),
        ]  # fmt: skip
        known = run | block
        placed = {key for _, _, keys in parts for key in keys} | {*_TOP, *_ELSEWHERE}
        # A field that no part names still has a place: the form never hides one.
        parts[-1][2].extend(key for key in run if key not in placed)
        top = Section("top", "", tuple((key, known[key]) for key in _TOP))
        return [top, *(Section(name, title, tuple((key, known[key]) for key in keys)) for name, title, keys in parts)]

    def rows(self) -> dict[str, FieldRow]:
        """Return every field of the form by its dotted key."""
        return {key: row for section in self.sections() for key, row in section.rows}

    def base(self) -> dict[str, str]:
        """Return what each field says before anything is typed: the recipe's value, else the default."""
        data = self._compose(edits={}).data
        return {key: _shown(row, _lookup(data, key, row.default)) for key, row in self.rows().items()}

    def value(self, key: str, base: Mapping[str, str]) -> str:
        """Return what a field shows."""
        return self.edits.get(key, base[key])

    def edited(self, key: str, text: str, base: Mapping[str, str]) -> Draft:
        """Return the draft with a field changed; the recipe's own value, or nothing, is no change."""
        edits = {name: value for name, value in self.edits.items() if name != key}
        row = self.rows()[key]
        is_same = text.strip() == "" or row.parse(text) == row.parse(base[key])
        return replace(self, edits=edits if is_same else {**edits, key: text.strip()})

    def with_algorithm(self, algorithm: Algorithm) -> tuple[Draft, list[str]]:
        """Return the draft for another algorithm, and the names of what had to be dropped.

        What both algorithms have is kept.
        """
        mine = {row.name for row in field_table(ALGORITHM_SPECS[algorithm])}
        edits: dict[str, str] = {}
        dropped: list[str] = []
        for key, text in self.edits.items():
            block, _, name = key.partition(".")
            if block not in ALGORITHMS:
                edits[key] = text
            elif name in mine:
                edits[f"{algorithm}.{name}"] = text
            else:
                dropped.append(name)
        return replace(self, algorithm=algorithm, edits=edits), dropped

    def with_data(self, data: Mapping[str, Any]) -> Draft:
        """Return the draft with everything typed in that a spec (as plain data) has otherwise."""
        before = self._compose(edits={}).data
        edits: dict[str, str] = {}
        for key, row in self.rows().items():
            mine = _lookup(data, key, row.default)
            if mine != _plain(_lookup(before, key, row.default)):
                edits[key] = _shown(row, mine)
        return replace(self, edits=edits)

    def check(self, description: Description | None = None) -> Checked:
        """Check everything at once, as `workbench train` would.

        Args:
            description: What is known of the environment beyond its files.
        """
        seeds, seed_problem = read_seeds(self.seeds) if self.seeds.strip() else ([], None)
        composed = self._compose(edits=self.edits)
        problems = [problem for problem in (seed_problem, self.start_fault) if problem is not None]
        problems += composed.problems
        problems += [] if description is None else [_of_file(item) for item in fault_problems(self.entry, description)]
        notes = list(composed.notes)
        spec = composed.spec
        if spec is not None:
            problems += obstacles(self.entry, spec)
            if self.fork is not None:
                wrong = misfit(self.fork, self.entry, description)
                problems += [*map(_for_form, self.fork.problems(spec)), *([] if wrong is None else [wrong])]
                notes += self.fork.notes(spec)
        if spec is None or errors_of(problems):
            return Checked(tuple(problems), tuple(notes), (), (), tuple(seeds))
        if len(seeds) <= 1:
            given = spec.model_copy(update={"seed": seeds[0]}) if seeds else spec
            command = self._command(given)
        else:
            command = self._command(spec, seeds)
        return Checked(tuple(problems), tuple(notes), tuple(command), self._launches(spec, seeds), tuple(seeds), spec)

    def facts(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return what follows from fields, by key, as `× 64 copies = 32 768 steps a rollout`.

        Args:
            values: What each field shows.
        """
        numbers = {key: _whole(text) for key, text in values.items()}
        copies, budget = numbers.get("n_envs", 0), numbers.get("total_steps", 0)
        facts: dict[str, str] = {}
        rollout = numbers.get("ppo.n_steps", 0) * copies
        if rollout:
            facts["ppo.n_steps"] = f"× {digits(copies)} = {digits(rollout)} a rollout"
            batch = numbers["ppo.batch_size"]
            if batch and not rollout % batch:
                facts["ppo.batch_size"] = f"{digits(rollout // batch)} a pass"
            if budget:
                facts["total_steps"] = f"{digits(math.ceil(budget / rollout))} iterations"
            if numbers["checkpoint_freq"]:
                facts["checkpoint_freq"] = f"every {amount(numbers['checkpoint_freq'] * rollout)} steps"
        starts = numbers.get(f"{self.algorithm}.learning_starts", 0)
        if starts and budget:
            facts[f"{self.algorithm}.learning_starts"] = f"{percent(starts / budget)} of the budget"
        wall = numbers.get("stop_criteria.wall_time_s", 0)
        if wall:
            facts["stop_criteria.wall_time_s"] = duration(wall)
        return facts

    def _compose(self, *, edits: Mapping[str, str]) -> Composed:
        words = [word for word in re.split(r"[,\s]+", self.tags) if word]
        return compose(
            self.entry.env_id,
            algorithm=self.algorithm,
            recipe=self.recipe,
            base=self.forked,
            overrides=[f"{key}={text}" for key, text in edits.items()],
            tags=words or None,
            parent=None if self.fork is None else self.fork.reference,
        )

    def _command(self, spec: RunSpec, seeds: Sequence[int] = ()) -> list[str]:
        return command_for(spec, self.entry.name, self.recipe, base=self.forked, seeds=seeds)

    def _launches(self, spec: RunSpec, seeds: list[int]) -> tuple[Launch, ...]:
        group = secrets.token_hex(4) if len(seeds) > 1 else None
        launches = []
        for seed in seeds or [draw_seed()]:
            one = spec.model_copy(update={"seed": seed, "group": group})
            launches.append(Launch(one, environment_of(self.entry), self._command(one), self.entry.name, group))
        return tuple(launches)


def can_launch(entry: Entry) -> bool:
    """Return whether a run can be asked for: a recipe is not needed, a budget will do."""
    return not entry.broken and not entry.test_only


def misfit(fork: Fork, entry: Entry, description: Description | None) -> Problem | None:
    """Return why a checkpoint cannot be trained on in another environment, as far as its description tells."""
    if description is None or fork.env_id == entry.env_id:
        return None
    for kind, space in (("observation", description.observation), ("action", description.action)):
        told = fork.policy.get(f"{kind}_space")
        shape = told.get("shape") if isinstance(told, Mapping) else None
        if space is None or space.shape is None or shape is None or tuple(shape) == space.shape:
            continue
        theirs = "×".join(map(str, shape))
        return Problem(
            START, f"does not fit: {entry.name} has {kind}s of size {space.size}, and the checkpoint's are {theirs}"
        )
    return None


def environment_of(entry: Entry) -> dict[str, Any]:
    """Return where an environment comes from, as `run.json` keeps it."""
    return {
        "env_id": entry.env_id,
        "name": entry.name,
        "module": None if entry.module is None else str(entry.module),
        "class_name": None if entry.module is None else entry.class_name,
        "env_cfg": dict(entry.env_cfg),
    }


def _of_file(problem: Problem) -> Problem:
    """Return what a description tells as a warning: its file may have been mended, and the trainer looks again."""
    file = "" if problem.path is None else problem.path.name
    where = f"{file} line {problem.line}: " if file and problem.line else f"{file}: " if file else ""
    near = f"; nearest is {problem.nearest}" if problem.nearest else ""
    return Problem("", f"{where}{problem.key} {problem.message}{near}".strip(), severity="warning")


def _lookup(data: Mapping[str, Any], key: str, default: Any) -> Any:
    top, _, rest = key.partition(".")
    value = data.get(top)
    if rest:
        return value.get(rest, default) if isinstance(value, Mapping) else default
    return default if value is None else value


def _for_form(problem: Problem) -> Problem:
    """Return a problem that names a flag of the command line so that it names what to type into the field."""
    message, typed, flag = problem.message.partition("; type --")
    if not typed:
        return problem
    if flag.startswith("algorithm "):
        return replace(problem, message=message, nearest=flag.removeprefix("algorithm ").upper())
    value = flag.removeprefix("set ").strip("'").partition("=")[2]
    wanted = None if not value or value.startswith("N,") else value
    return replace(problem, message=f"{message}{'' if wanted else '; it needs more than that'}", nearest=wanted)


def _plain(value: Any) -> Any:
    """Return a value as JSON would give it back."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _shown(row: FieldRow, value: Any) -> str:
    """Return a value as text that the field reads again, the digits of large counts in threes."""
    text = row.render(value)
    return f"{value:,}".replace(",", " ") if row.kind == "whole" and type(value) is int and value >= 10_000 else text


def _whole(text: str) -> int:
    value = read_number(text, whole=True)
    return value if isinstance(value, int) else 0
