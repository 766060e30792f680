"""What a filter or an order of runs can name: fields of a run's row, fields of its spec, and its metrics.

One declaration: the parser, the sort, the help of `workbench runs`, that of the app and shell completion are made
from `FIELDS`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

from workbench.runs.states import RunState
from workbench.suggest import nearest_one

if TYPE_CHECKING:
    from workbench.runs.summary import RunSummary

Kind = Literal["text", "state", "number", "share", "span", "any"]
"""What a field holds: words, a state, a number, a part of a whole, a time, or whatever a spec or a metric holds."""

STATE_GROUPS: dict[str, Callable[[RunState], bool]] = {
    "live": lambda state: state.is_live,
    "ended": lambda state: state.is_ended,
    "bad": lambda state: state.is_bad,
}
"""Words for several states at once."""

ACCEPTS: dict[Kind, str] = {
    "text": "text",
    "state": "a state",
    "number": "a number such as 250, 5k, 1.5M or 3e-4",
    "share": "a share such as 10% or 0.1",
    "span": "a time such as 90s, 15m, 2h30m or 3d",
    "any": "a number such as 0.001, 5k, 10% or 15m",
}

_NUMBER = r"[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_COUNTS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
_SPANS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)([smhd])")


@dataclass(frozen=True)
class FilterField:
    """One field that a filter or an order can name."""

    name: str
    kind: Kind
    help: str
    """What it is, for a help page."""
    read: Callable[[RunSummary], Any]
    """Its value in a row: words, or a number; None where it is not known."""
    aliases: tuple[str, ...] = ()
    absent: Any = None
    """The value that means that the run has none."""

    def texts(self, row: RunSummary) -> tuple[str, ...]:
        """Return what patterns are held against."""
        value = self.read(row)
        if self.kind == "any":
            return () if self.name not in row.values else (text_of(value),)
        if isinstance(value, tuple):
            return value
        return () if value is None else (text_of(value),)

    def number(self, row: RunSummary) -> float | None:
        """Return what comparisons are made with; None where it is no number, or not known."""
        value = self.read(row)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return float(value)

    def is_there(self, row: RunSummary) -> bool:
        """Return whether the run has one."""
        value = self.read(row)
        if isinstance(value, tuple):
            return any(value)
        return value not in (None, "", [], {}, self.absent) and value is not False


def _parent(row: RunSummary) -> tuple[str, ...]:
    if not row.parent:
        return ()
    run = row.parent_run
    return (row.parent, run, run[-4:])


FIELDS: tuple[FilterField, ...] = (
    FilterField("env", "text", "environment: its short name or Gymnasium ID", lambda row: (row.env_name, row.env_id),
                ("environment",)),
    FilterField("algo", "text", "algorithm: ppo, sac or td3", lambda row: (row.algorithm,), ("algorithm",)),
    FilterField("state", "state", "state, or several at once: live, ended, bad", lambda row: str(row.state)),
    FilterField("seed", "number", "seed", lambda row: row.seed),
    FilterField("id", "text", "last four digits or the whole name of the run", lambda row: (row.short_id, row.name),
                ("run", "name")),
    FilterField("tag", "text", "any of its tags", lambda row: row.tags, ("tags",)),
    FilterField("note", "text", "its note", lambda row: (row.note,)),
    FilterField("host", "text", "machine it runs or ran on", lambda row: (row.host,)),
    FilterField("tool", "text", "what made it: workbench, sb3, zoo, cleanrl or tensorboard",
                lambda row: (row.tool or "workbench",)),
    FilterField("parent", "text", "run it was forked from", _parent),
    FilterField("group", "text", "runs launched together", lambda row: (row.group or "",)),
    FilterField("reason", "text", "what ended it", lambda row: (row.reason,)),
    FilterField("return", "number", "mean return of the last 100 whole episodes", lambda row: row.last_return),
    FilterField("~return", "number", "the same, smoothed by 0.9 as the curves are", lambda row: row.smoothed_return),
    FilterField("best", "number", "mean return of its best evaluation",
                lambda row: None if row.best is None else row.best.mean_return),
    FilterField("steps", "number", "steps done", lambda row: row.steps),
    FilterField("speed", "number", "steps a second now", lambda row: row.steps_per_s),
    FilterField("progress", "share", "how far it is", lambda row: row.progress),
    FilterField("age", "span", "time since it was made", lambda row: row.age_s),
    FilterField("eta", "span", "time until it is done", lambda row: row.eta_s),
    FilterField("anomalies", "number", "anomalies seen", lambda row: row.anomalies, ("anomaly",), absent=0),
)  # fmt: skip
"""Every field of a row, in the order of the help page."""

EXAMPLES: tuple[tuple[str, str], ...] = (
    ("state:live", "runs that a process carries now"),
    ("ant or cheetah algo:sac", "SAC runs of either"),
    ("env:half_* return>5k age<2d", "good ones of the last two days"),
    ("state:bad -tag:junk", "ended badly, and not known to be junk"),
    ("ppo.learning_rate>=0.001", "a field of the spec"),
    ("eval/mean_return>=2000", "a metric"),
    ("progress<10% has:note", "hardly begun, with a note"),
    ("id:/^7f|^1c/", "a regular expression"),
    ("~return>9000 seed:1", "the smoothed return"),
    ('note:"with friction"', "quotes keep spaces"),
)
"""Filters with what they find."""

SYNTAX: tuple[tuple[str, str], ...] = (
    ("word", "in environment, id, tags or note; * and ? stand for anything"),
    ("field:pattern", "the whole field, with * and ?; field:/regex/ finds a part"),
    ("field>value", "= != < <= > >=, with k M, s m h d, and %"),
    ("has:field", "runs that have one"),
    ("a b", "both; `a or b` one of the two neighbours; ( ) group"),
    ("not a, -a", "turns a term round"),
)
"""The forms a term can have."""

UNKNOWN_RULE = (
    "A comparison with what is not known is false: `return<5k` leaves out runs without a return, and `-return<5k` "
    "keeps them."
)

_BY_NAME = {name: field for field in FIELDS for name in (field.name, *field.aliases)}


def field_named(name: str) -> FilterField | None:
    """Return the field of a row, a spec or the metrics that a name means; None where there is none.

    A name with a slash is a metric, whichever the runs have. A field of an algorithm may leave the algorithm out
    (`learning_rate`): it then is that of each run's own.
    """
    known = _BY_NAME.get(name.lower())
    if known is not None:
        return known
    if "/" in name:
        return FilterField(name, "any", "a metric", lambda row: row.values.get(name))
    if name in _spec_names():
        return FilterField(name, "any", "a field of the spec", lambda row: row.values.get(name))
    return None


def nearest_field(name: str) -> str | None:
    """Return the name of a field that resembles one that is none."""
    if "." in name:
        return nearest_one(name, [known for known in _spec_names() if "." in known])
    return nearest_one(name, _BY_NAME) or nearest_one(name, _spec_names())


def read_values(
    needs: Iterable[str], spec: Mapping[str, Any], changes: Mapping[str, Any], metrics: Mapping[str, float]
) -> dict[str, Any]:
    """Return what a run holds of the fields beyond its row; those it has not are left out.

    Args:
        needs: Names of spec fields and metrics.
        spec: The spec of its `run.json`.
        changes: Fields that have other values since, by dotted name.
        metrics: The newest value of each metric.
    """
    found: dict[str, Any] = {}
    for name in needs:
        if "/" in name:
            if name in metrics:
                found[name] = metrics[name]
            continue
        algorithm = str(spec.get("algorithm") or "")
        block, dot, _ = name.partition(".")
        if dot and block in ("ppo", "sac", "td3") and block != algorithm:
            continue  # The blocks of the other algorithms are in every spec, and mean nothing for this run.
        for path in (name, f"{algorithm}.{name}"):
            value = changes.get(path, _at(spec, path))
            if value is not _MISSING:
                found[name] = value
                break
    return found


def read_quantity(text: str, kind: Kind) -> float | None:
    """Return the number that a text means for a field of some kind; None where it means none."""
    text = text.replace("−", "-").strip()
    if kind in ("span", "any") and text and _SPAN.sub("", text) == "":
        return sum(float(count) * _SPANS[unit] for count, unit in _SPAN.findall(text))
    match = re.fullmatch(rf"({_NUMBER})\s*([kMG%]?)", text)
    if match is None:
        return None
    number, unit = float(match[1].replace("_", "")), match[2]
    if not math.isfinite(number):
        return None
    if unit == "%":
        return number / 100 if kind in ("share", "any") else None
    if kind == "share":
        # Nobody who writes `progress>50` means fifty times the whole.
        return (number if number <= 1 else number / 100) if not unit else None
    return number * _COUNTS[unit] if kind in ("number", "any") or not unit else None


def parent_run(reference: str) -> str:
    """Return the name of the run that a parent's reference is in: that of `RUN:<steps>`, or of a folder's path."""
    if "/" in reference:
        return PurePath(reference).parent.name
    return reference.rpartition(":")[0] or reference


def text_of(value: Any) -> str:
    """Return a value of a spec or a metric as it is written in a list: `none`, `true`, `0.0003`, `64,64`."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return ",".join(text_of(item) for item in value)
    return str(value)


@lru_cache(maxsize=1)
def _spec_names() -> tuple[str, ...]:
    # Late: most filters name no field of a spec, and its models take a tenth of a second.
    from workbench.specs import ALGORITHM_SPECS, RunSpec, field_table

    names = [row.name for row in field_table(RunSpec)]
    for algorithm, model in ALGORITHM_SPECS.items():
        inner = [row.name for row in field_table(model)]
        names += [*inner, *(f"{algorithm}.{name}" for name in inner)]
    return tuple(dict.fromkeys(names))


_MISSING: Any = object()


def _at(spec: Mapping[str, Any], path: str) -> Any:
    value: Any = spec
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _MISSING
        value = value[part]
    return value
