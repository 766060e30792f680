"""The kinds of value a field may hold beyond a plain number, flag, choice or text.

Each kind reads plain data (what JSON or a form gives) into its one canonical value and refuses everything else. A
`Kind` beside the type says in words what is accepted, so that a refusal, a form and a help page say the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, PlainValidator, WithJsonSchema

LINEAR = "linear"

Activation = Literal["tanh", "relu", "elu"]


@dataclass(frozen=True)
class Kind:
    """What a field of this kind accepts, for messages, forms and help."""

    name: str
    """One word for the kind."""
    accepts: str
    """What is accepted, to be read after "must be"."""


@dataclass(frozen=True)
class AtMostBecause:
    """Why a field takes no more than it does, for the refusal of more."""

    reason: str
    """To be read after a colon."""


@dataclass(frozen=True)
class Live:
    """The field may get another value while the run trains."""


LIVE = Live()


@dataclass(frozen=True)
class LinearSchedule:
    """A value that goes from `start` to `end` in a straight line over the run."""

    start: float
    end: float = 0.0

    def __call__(self, progress_remaining: float) -> float:
        """Return the value where `progress_remaining` of the run, 1 to 0, is still ahead."""
        # The last rollout may go beyond the budget: less than nothing is then ahead, and the value is past its end.
        return self.end + (self.start - self.end) * max(progress_remaining, 0.0)


@dataclass(frozen=True)
class ConstantSchedule:
    """A value that stays as it is."""

    value: float

    def __call__(self, progress_remaining: float) -> float:
        """Return the value."""
        return self.value


def schedule(value: float | str) -> Callable[[float], float]:
    """Return a function of the progress remaining, 1 at the start and 0 at the end, as Stable-Baselines3 wants it.

    Args:
        value: A number, or `linear:START[:END]`; END is 0 where it is left out.

    Raises:
        ValueError: The text is neither.
    """
    if isinstance(value, str):
        return _read_linear(value)
    return ConstantSchedule(float(value))


def is_linear(value: float | str | None) -> bool:
    """Say whether a schedule changes over the run, and so needs to know where the run ends."""
    return isinstance(value, str)


def is_number(value: object) -> bool:
    """Say whether `value` is a true number: no flag, no text."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_count(value: object, least: int = 1) -> bool:
    """Say whether `value` is a true whole number of at least `least`: no flag, no 2.0, no NumPy integer."""
    return type(value) is int and value >= least


def _read_linear(text: str) -> LinearSchedule:
    word, *numbers = text.split(":")
    if word != LINEAR or not 1 <= len(numbers) <= 2:
        raise ValueError("not a schedule")
    start, end = float(numbers[0]), float(numbers[1]) if len(numbers) == 2 else 0.0
    if not (math.isfinite(start) and math.isfinite(end) and min(start, end) >= 0 and max(start, end) > 0):
        raise ValueError("a schedule stays at or above zero and is not zero throughout")
    return LinearSchedule(start, end)


def _read_schedule(value: Any) -> float | str:
    if isinstance(value, str):
        _read_linear(value)
        return value
    if is_number(value) and math.isfinite(value) and value > 0:
        return float(value)
    raise ValueError("not a schedule")


def _read_bound(value: Any) -> float:
    number = math.inf if value == "inf" else value
    if is_number(number) and number > 0:
        return float(number)
    raise ValueError("not a bound")


def _write_bound(value: float) -> float | str:
    return value if math.isfinite(value) else "inf"


def _read_clip(value: Any) -> float | str:
    return _read_schedule(value) if isinstance(value, str) and value != "inf" else _read_bound(value)


def _write_clip(value: float | str) -> float | str:
    return value if isinstance(value, str) else _write_bound(value)


def _read_layers(*heads: str) -> Callable[[Any], tuple[int, ...] | dict[str, tuple[int, ...]]]:
    def read(value: Any) -> tuple[int, ...] | dict[str, tuple[int, ...]]:
        if isinstance(value, Mapping):
            if set(value) != set(heads):
                raise ValueError("not the heads of this algorithm")
            return {head: _read_widths(value[head]) for head in heads}
        return _read_widths(value)

    return read


def _read_widths(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not all(map(is_count, value)):
        raise ValueError("not a list of widths")
    return tuple(value)


def _write_lists(value: Any) -> Any:
    return {head: list(widths) for head, widths in value.items()} if isinstance(value, Mapping) else list(value)


def _read_entropy_coefficient(value: Any) -> float | str:
    if is_number(value) and math.isfinite(value) and value >= 0:
        return float(value)
    if isinstance(value, str):
        if value == "auto":
            return value
        match = re.fullmatch(r"auto_(.+)", value)
        if match and math.isfinite(start := float(match[1])) and start > 0:
            return value
    raise ValueError("not an entropy coefficient")


def _read_target_entropy(value: Any) -> float | str:
    if value == "auto" and isinstance(value, str):
        return value
    if is_number(value) and math.isfinite(value):
        return float(value)
    raise ValueError("not an entropy")


def _read_count_or_minus_one(value: Any) -> int:
    if is_count(value) or (type(value) is int and value == -1):
        return int(value)
    raise ValueError("not a count")


def _read_copies(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or not value or not all(is_count(item, 0) for item in value):
        raise ValueError("not a list of copies")
    return tuple(dict.fromkeys(value))


def _read_device(value: Any) -> str:
    if isinstance(value, str) and re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", value):
        return value
    raise ValueError("not a device")


def _read_words(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(map(_is_word, value)):
        raise ValueError("not a list of words")
    return tuple(dict.fromkeys(value))


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and value.isprintable() and bool(value.strip())


def _no_goal(value: Any) -> Any:
    return None if is_number(value) and value == 0 else value


def _no_limit(value: Any) -> Any:
    return 0 if value is None else value


_NUMBER: dict[str, Any] = {"type": "number"}
_POSITIVE: dict[str, Any] = {"type": "number", "exclusiveMinimum": 0}
_LINEAR: dict[str, Any] = {"type": "string", "pattern": "^linear:[^:]+(:[^:]+)?$"}
_WIDTHS: dict[str, Any] = {"type": "array", "items": {"type": "integer", "minimum": 1}}


def _layers_schema(*heads: str) -> dict[str, Any]:
    split = {
        "type": "object",
        "properties": dict.fromkeys(heads, _WIDTHS),
        "required": list(heads),
        "additionalProperties": False,
    }
    return {"anyOf": [_WIDTHS, split]}


Schedule = Annotated[
    float | str,
    Kind("schedule", "a number greater than 0, or linear:START[:END]"),
    PlainValidator(_read_schedule),
    WithJsonSchema({"anyOf": [_POSITIVE, _LINEAR]}),
]
ClipRange = Annotated[
    float | str,
    Kind("schedule", "a number greater than 0, linear:START[:END], or inf for no clipping"),
    PlainValidator(_read_clip),
    PlainSerializer(_write_clip, when_used="json"),
    WithJsonSchema({"anyOf": [_POSITIVE, _LINEAR, {"const": "inf"}]}),
]
Bound = Annotated[
    float,
    Kind("bound", "greater than 0, or inf for no clipping"),
    PlainValidator(_read_bound),
    PlainSerializer(_write_bound, when_used="json"),
    WithJsonSchema({"anyOf": [_POSITIVE, {"const": "inf"}]}),
]
ActorCriticLayers = Annotated[
    tuple[int, ...] | dict[str, tuple[int, ...]],
    Kind("layers", "a list of whole numbers of at least 1, or an object with one such list for pi and one for vf"),
    PlainValidator(_read_layers("pi", "vf")),
    PlainSerializer(_write_lists, when_used="json"),
    WithJsonSchema(_layers_schema("pi", "vf")),
]
ActorQLayers = Annotated[
    tuple[int, ...] | dict[str, tuple[int, ...]],
    Kind("layers", "a list of whole numbers of at least 1, or an object with one such list for pi and one for qf"),
    PlainValidator(_read_layers("pi", "qf")),
    PlainSerializer(_write_lists, when_used="json"),
    WithJsonSchema(_layers_schema("pi", "qf")),
]
EntropyCoefficient = Annotated[
    float | str,
    Kind("entropy", 'at least 0, "auto", or "auto_" and the value to start from, as in auto_0.1'),
    PlainValidator(_read_entropy_coefficient),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": "^auto(_.+)?$"}]}),
]
TargetEntropy = Annotated[
    float | str,
    Kind("entropy", 'a number, or "auto" for minus the number of actions'),
    PlainValidator(_read_target_entropy),
    WithJsonSchema({"anyOf": [_NUMBER, {"const": "auto"}]}),
]
CountOrMinusOne = Annotated[
    int,
    Kind("whole", "-1 or a whole number of at least 1"),
    PlainValidator(_read_count_or_minus_one),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"const": -1}]}),
]
CopyIndices = Annotated[
    tuple[int, ...],
    Kind("copies", "a list of whole numbers of at least 0, the copies of the environment"),
    PlainValidator(_read_copies),
    PlainSerializer(_write_lists, when_used="json"),
    WithJsonSchema({"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1}),
]
Device = Annotated[
    str,
    Kind("device", "auto, cpu, cuda, cuda:N or mps"),
    PlainValidator(_read_device),
    WithJsonSchema({"type": "string", "pattern": r"^(auto|cpu|mps|cuda(:\d+)?)$"}),
]
Words = Annotated[
    tuple[str, ...],
    Kind("words", "a list of words that can be shown"),
    PlainValidator(_read_words),
    PlainSerializer(_write_lists, when_used="json"),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
Copies = Annotated[
    int, Field(ge=1, le=65_536), AtMostBecause("every copy is a simulation of its own, and all are in memory at once")
]
Goal = Annotated[float | None, BeforeValidator(_no_goal)]
Limit = Annotated[int, BeforeValidator(_no_limit), Field(ge=0)]
Duration = Annotated[float, BeforeValidator(_no_limit), Field(ge=0)]


def layers_by_head(value: Sequence[int] | Mapping[str, Sequence[int]], *heads: str) -> dict[str, list[int]]:
    """Return the hidden widths of each head, as `policy_kwargs["net_arch"]` takes them."""
    if isinstance(value, Mapping):
        return {head: list(value[head]) for head in heads}
    return {head: list(value) for head in heads}
