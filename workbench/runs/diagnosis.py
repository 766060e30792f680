"""What ended a run badly: the metric that went wrong first, the likely reason, and what to go on from.

Pure: a reader hands over what the run told, and gets values. The bounds are rules of thumb, so every answer says what
it rests on, and where nothing stands out there is no answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from workbench.formatting import amount, number
from workbench.runs.anomalies import OF_NUMBERS, REWARD_COLLAPSE

Floats = NDArray[np.float64]

RETURN = "rollout/ep_rew_mean"

JUMP = 100.0
"""A metric has jumped where it is this many times what it was, and stays a tenth as far away."""
_BEFORE = 10
"""Points that say what a metric was."""
_FEWEST_BEFORE = 3
_FEWEST_RETURNS = 8
"""With fewer points nobody can tell a fall from noise."""
_FALLEN = 0.5
"""A return has collapsed where it lost so much of what it had gained, and does not get it back."""

_RANK = ("not finite", "jumped", "collapsed")
"""Which comes first of those at one step: a return falls because of something."""
_WATCHED = ("train/", "reward/", "rollout/", "info/")
_NEVER_WRONG = frozenset({"train/n_updates", "train/learning_rate", "train/clip_range"})
_OFTEN_NAN = frozenset({"train/explained_variance"})
"""NaN where all returns are equal, which is no fault."""

_RISKY = (
    "learning_rate",
    "max_grad_norm",
    "clip_range",
    "n_epochs",
    "gradient_steps",
    "tau",
    "vf_coef",
    "ent_coef",
)
"""Settings of an algorithm of which more makes training less stable, the most frequent reason first."""
_MUCH_MORE = 2.0

_SIGNAL = re.compile(r"killed, signal (\d+)")
_NO_MEMORY = re.compile(
    r"not enough memory|out of memory|MemoryError|[Cc]an(?:'t|not) allocate memory|bad_alloc|oom-kill", re.IGNORECASE
)
_NO_DISK = re.compile(r"disk is full|No space left on device|quota exceeded|ENOSPC", re.IGNORECASE)
_NOT_FINITE = re.compile(r"not finite|NaN|\bis nan\b|\bis inf\b|-inf\b", re.IGNORECASE)
_AFTER = re.compile(r"after (\d+) steps")
_ACTION = "the action"
"""How a term begins that is none of the environment's own: what the policy told it to do."""
_RAISED = re.compile(r"\braised \w+")
_NATIVE = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 11: "SIGSEGV"}


@dataclass(frozen=True)
class Symptom:
    """The first thing that could be seen going wrong."""

    metric: str
    kind: Literal["not finite", "jumped", "collapsed"]
    steps: float
    """Where."""
    value: float | None = None
    """What it was there; None where it was not finite."""
    before: float | None = None
    """What it had been: the median of the points before, or the highest return."""
    points_after: int = 0
    """Points of that metric that came after it: iterations, mostly."""

    @property
    def name(self) -> str:
        """What a person calls the metric."""
        return "return" if self.metric == RETURN else self.metric

    @property
    def text(self) -> str:
        """What was seen, in words: `train/value_loss 4.1e9 at 3.21 M, before 12.4`."""
        at = f"at {amount(self.steps)}"
        if self.kind == "not finite":
            return f"{self.name} not finite {at}"
        if self.kind == "collapsed":
            return f"{self.name} fell to {number(self.value)} {at}, from {number(self.before)}"
        before = "" if self.before is None else f", before {number(self.before)}"
        return f"{self.name} {number(self.value)} {at}{before}"


@dataclass(frozen=True)
class Cause:
    """The likely reason, and what to do about it."""

    text: str
    fix: Mapping[str, str] = field(default_factory=dict)
    """Settings that would mend it, as typed text by dotted key."""
    hint: str = ""
    """What to do where it is no setting."""


@dataclass(frozen=True)
class Compared:
    """A setting as the run ended with it, beside what is usual."""

    key: str
    """Dotted: `ppo.learning_rate`."""
    value: Any
    usual: Any = None
    """What the recipe says, else the default; None where nobody knows."""
    since: float | None = None
    """The step at which it was changed by hand."""


@dataclass(frozen=True)
class Diagnosis:
    """All that can be said of a bad ending."""

    symptom: Symptom | None = None
    cause: Cause | None = None
    last_good: int | None = None
    """The steps of the checkpoint to go on from."""


def diagnose(
    series: Mapping[str, tuple[Floats, Floats]],
    *,
    reason: str = "",
    words: Sequence[str] = (),
    anomalies: Sequence[Mapping[str, Any]] = (),
    scores: Mapping[int, float | None] | None = None,
    settings: Sequence[Compared] = (),
    usual: str = "recipe",
) -> Diagnosis:
    """Return what can be said of a bad ending.

    Args:
        series: Steps and values of each metric, `(n,)` each, by name; NaN where a value was not finite.
        reason: Why the run is in its state.
        words: The last lines of its log.
        anomalies: Its `anomaly` events.
        scores: The mean returns of the checkpoints on disk, by steps; None for one that was not scored.
        settings: What it ended with.
        usual: What the usual settings are called.
    """
    symptom = first_symptom(series, anomalies)
    cause = likely_cause(symptom, reason=reason, words=words, anomalies=anomalies, settings=settings, usual=usual)
    return Diagnosis(symptom, cause, last_good(scores or {}, symptom))


def first_symptom(
    series: Mapping[str, tuple[Floats, Floats]], anomalies: Sequence[Mapping[str, Any]] = ()
) -> Symptom | None:
    """Return the first metric that went wrong and stayed so; nothing where none did.

    A metric is wrong where it is not finite, where it jumped by orders of magnitude, and a return where it collapsed.
    What came back into its bounds was none of it.
    """
    found = [
        symptom
        for name, (steps, values) in series.items()
        if name.startswith(_WATCHED) and name not in _NEVER_WRONG
        for symptom in _symptoms(name, np.asarray(steps, dtype=float), np.asarray(values, dtype=float))
    ]
    found += [_watched(event) for event in anomalies if event.get("what") in (*OF_NUMBERS, REWARD_COLLAPSE)]
    return min(found, key=lambda item: (item.steps, _RANK.index(item.kind)), default=None)


def _watched(event: Mapping[str, Any]) -> Symptom:
    """What the run's own watch found: it ends the run before the metrics of that iteration are written."""
    message = str(event.get("message") or "")
    name = str(event.get("term") or event.get("layer") or "a number")
    if event.get("layer"):
        name = f"{'weights' if 'weights' in message else 'gradients'} of {name}"
    # In older runs the event stands at the step of the one before it; the message knows better.
    told = _AFTER.search(message)
    steps = max(_number(event.get("steps")) or 0.0, float(told[1]) if told else 0.0)
    value = _number(event.get("value"))
    if event.get("what") == REWARD_COLLAPSE:
        return Symptom(RETURN, "collapsed", steps, value, _number(event.get("baseline")))
    if value is not None:
        return Symptom(name, "jumped", steps, value)
    return Symptom(name, "not finite", steps)


def _symptoms(name: str, steps: Floats, values: Floats) -> Iterator[Symptom]:
    if not len(values):
        return
    finite = np.isfinite(values)
    if not finite[-1] and name not in _OFTEN_NAN:
        known = np.flatnonzero(finite)
        first = int(known[-1]) + 1 if len(known) else 0
        # What was never finite is none of a run's metrics, unless it is a loss.
        if len(known) or "loss" in name:
            before = float(values[known[-1]]) if len(known) else None
            yield Symptom(name, "not finite", float(steps[first]), None, before, len(values) - 1 - first)
    found: Iterator[Symptom] = iter(())
    if name == RETURN:
        found = _collapse(name, steps[finite], values[finite])
    elif name.startswith("train/"):
        found = _jump(name, steps[finite], values[finite])
    for symptom in found:
        yield replace(symptom, points_after=int(np.count_nonzero(steps > symptom.steps)))


def _jump(name: str, steps: Floats, values: Floats) -> Iterator[Symptom]:
    size = np.abs(values)
    for place in range(_FEWEST_BEFORE, len(size)):
        usual = float(np.median(size[max(0, place - _BEFORE) : place]))
        if usual > 0 and size[place] >= JUMP * usual and size[place:].min() >= JUMP / 10 * usual:
            yield Symptom(name, "jumped", float(steps[place]), float(values[place]), usual)
            return


def _collapse(name: str, steps: Floats, values: Floats) -> Iterator[Symptom]:
    if len(values) < _FEWEST_RETURNS:
        return
    top = int(values.argmax())
    floor = float(values[: top + 1].min())
    # A return that never rose has nothing to lose but what it began with.
    gained = float(values[top]) - (floor if top else float(values.min()))
    bound = float(values[top]) - _FALLEN * gained
    if gained <= 0 or values[-1] > bound:
        return
    place = int(np.flatnonzero(values > bound)[-1]) + 1
    if place <= top or (top == 0 and len(values) - place < _FEWEST_RETURNS):
        return
    yield Symptom(name, "collapsed", float(steps[place]), float(values[place]), float(values[top]))


def likely_cause(
    symptom: Symptom | None,
    *,
    reason: str = "",
    words: Sequence[str] = (),
    anomalies: Sequence[Mapping[str, Any]] = (),
    settings: Sequence[Compared] = (),
    usual: str = "recipe",
) -> Cause | None:
    """Return the likely reason of a bad ending; nothing where none suggests itself.

    Args:
        symptom: What went wrong first.
        reason: Why the run is in its state.
        words: The last lines of its log.
        anomalies: Its `anomaly` events.
        settings: What it ended with.
        usual: What the usual settings are called.
    """
    told = "\n".join([reason, *words])
    outside = _from_outside(reason, told)
    if outside is not None:
        # What had gone wrong by then is worth mending all the same.
        worse = None if symptom is None else _far_off(settings, usual)
        return outside if worse is None else replace(outside, fix=worse.fix, hint=f"Before that: {worse.text}.")
    last: Mapping[str, Any] = next((event for event in reversed(anomalies) if event.get("term")), {})
    term = str(last.get("term") or "")
    if term and not term.startswith(("train/", _ACTION)):
        where = "" if "/" in term or term.startswith("the ") else "reward term "
        is_large = _number(last.get("value")) is not None
        wrong = "is beyond anomaly_watch.observation_limit" if is_large else "is not finite"
        return Cause(
            f"{where}{term} of the environment {wrong}, whatever the algorithm does",
            hint="v watches what it does there; the environment's file is where to look.",
        )
    if symptom is None and not _NOT_FINITE.search(told):
        if _RAISED.search(reason):
            return Cause("the environment's own code failed", hint="o shows the traceback.")
        return None
    return _from_settings(settings, usual)


def _from_outside(reason: str, told: str) -> Cause | None:
    """What of the machine ends a run."""
    less = "Fewer copies (n_envs) or a smaller replay buffer take less memory."
    if _NO_MEMORY.search(told):
        return Cause("the machine ran out of memory", hint=less)
    if _NO_DISK.search(told):
        return Cause("the disk is full", hint="Prune checkpoints, or keep_last of the next run, frees some.")
    killed = _SIGNAL.search(reason)
    number_ = int(killed[1]) if killed else 0
    if number_ == 9:
        return Cause("something killed it: most often the system, when memory runs out", hint=less)
    if number_ in _NATIVE:
        return Cause(
            f"native code failed ({_NATIVE[number_]}): a library, or a model it cannot take",
            hint="o shows what it said last.",
        )
    if number_:
        return Cause(
            f"something asked its process to end (signal {number_}): a shutdown, a scheduler", hint="R goes on."
        )
    if "no heartbeat" in reason:
        return Cause("its machine cannot be heard: it is off, or the folder is shared no more")
    if "process is gone" in reason:
        return Cause("its process ended without a word: the machine was switched off, or all of it was killed")
    return None


def _from_settings(settings: Sequence[Compared], usual: str) -> Cause | None:
    """What of the settings makes training diverge, or might."""
    worse = _far_off(settings, usual)
    if worse is not None:
        return worse
    for item in settings:
        if _name(item).startswith("normalize_") and item.value is False and item.usual is True:
            return Cause(f"{_name(item)} is off, and the {usual} has it on", {item.key: "true"})
    for item in settings:
        rate = first_number(item.value)
        if _name(item) == "learning_rate" and rate is not None and rate > 0:
            own = f"the {usual}'s own" if item.usual is not None and first_number(item.usual) == rate else "not unusual"
            text = f"no setting stands out; learning_rate {item.value} is {own}, a third of it is the first try"
            return Cause(text, {item.key: f"{rate / 3:.1g}"})
    return None


def _far_off(settings: Sequence[Compared], usual: str) -> Cause | None:
    """The setting that is furthest above what is usual, of those of which more makes training less stable.

    A learning rate counts ten times: it is the reason far more often than the others. All of them are mended.
    """
    ranked = sorted(
        (
            (ratio, item)
            for item in settings
            if item.key.rpartition(".")[2] in _RISKY and (ratio := _ratio(item.value, item.usual)) >= _MUCH_MORE
        ),
        key=lambda pair: -pair[0] * (10 if _name(pair[1]) == _RISKY[0] else 1),
    )
    if not ranked:
        return None
    ratio, item = ranked[0]
    by_hand = "" if item.since is None else f", by hand since {amount(item.since)}"
    times = number(float(f"{ratio:.2g}")).replace(".00e", "e")
    text = f"{_name(item)} {item.value} is {times} × the {usual}'s {item.usual}{by_hand}"
    return Cause(text, {other.key: str(other.usual) for _, other in ranked})


def last_good(scores: Mapping[int, float | None], symptom: Symptom | None) -> int | None:
    """Return the steps of the newest checkpoint from before things went wrong; nothing where there is none.

    Where its score had lost half of what the best one had gained, it is the best one.

    Args:
        scores: The mean returns of the checkpoints on disk, by steps; None for one that was not scored.
        symptom: What went wrong first.
    """
    before = {steps: score for steps, score in scores.items() if symptom is None or steps < symptom.steps}
    if not before:
        return None
    newest = max(before)
    known = {steps: score for steps, score in before.items() if score is not None and math.isfinite(score)}
    score = known.get(newest)
    if score is not None:
        best = max(known, key=lambda steps: (known[steps], steps))
        low = min(known.values())
        if known[best] - score > _FALLEN * (known[best] - low):
            return best
    return newest


def first_number(value: Any) -> float | None:
    """Return what a setting is, or begins with where it is a schedule: `0.0003`, `linear:0.0003:0`."""
    if isinstance(value, str):
        for part in value.split(":"):
            try:
                return float(part)
            except ValueError:
                continue
        return None
    return _number(value)


def _ratio(value: Any, usual: Any) -> float:
    mine, theirs = first_number(value), first_number(usual)
    return mine / theirs if mine is not None and theirs is not None and theirs > 0 else 0.0


def _name(item: Compared) -> str:
    return item.key.rpartition(".")[2]


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None
