"""Configurations from plain data."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import pytest

from tests.simulation.toys import SliderEnvConfig
from workbench.simulation.config import BatchEnvConfig, build_config, config_fields


class Side(Enum):
    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True)
class Everything(BatchEnvConfig):
    """One field of each kind."""

    flag: bool = False
    count: int = 1
    weight: float = 1.0
    name: str = "a"
    span: tuple[float, float] = (0.0, 1.0)
    many: tuple[int, ...] = ()
    mode: Literal["fast", "slow"] = "fast"
    side: Side = Side.LEFT
    maybe: float | None = None
    table: dict[str, float] = field(default_factory=dict)


def test_given_values_replace_defaults() -> None:
    config, problems = build_config(
        Everything,
        {
            "flag": True,
            "weight": 2,
            "span": [1, 2],
            "many": [1, 2, 3],
            "mode": "slow",
            "side": "right",
            "maybe": 3,
            "table": {"x": 1},
        },
    )
    assert problems == []
    assert config == Everything(
        flag=True,
        weight=2.0,
        span=(1.0, 2.0),
        many=(1, 2, 3),
        mode="slow",
        side=Side.RIGHT,
        maybe=3.0,
        table={"x": 1.0},
    )
    assert isinstance(config.weight, float)


@pytest.mark.parametrize(
    ("key", "value", "accepted"),
    [
        ("flag", 1, "true or false"),
        ("flag", "false", "true or false"),
        ("count", True, "a whole number"),
        ("count", 2.0, "a whole number"),
        ("weight", True, "a number"),
        ("weight", "1", "a number"),
        ("weight", float("nan"), "a number"),
        ("name", 3, "a text"),
        ("span", [1, 2, 3], "a list of 2 values"),
        ("span", [1, "x"], "a number"),
        ("span", 1, "a list of 2 values"),
        ("many", "12", "a list"),
        ("mode", "medium", "one of 'fast', 'slow'"),
        ("side", "up", "one of 'left', 'right'"),
        ("maybe", "x", "a number or null"),
        ("table", [1], "a mapping"),
    ],
)
def test_a_value_of_another_type_is_a_problem(key: str, value: Any, accepted: str) -> None:
    config, problems = build_config(Everything, {key: value})
    assert config is None
    assert [problem.key for problem in problems] == [key]
    assert accepted in problems[0].message


def test_all_problems_come_at_once_with_the_nearest_names() -> None:
    config, problems = build_config(SliderEnvConfig, {"nois": 1, "goal": True, "weights": {"sped": 1, "effort": "x"}})
    assert config is None
    assert {(problem.key, problem.nearest) for problem in problems} == {
        ("nois", "noise"),
        ("goal", None),
        ("weights.sped", "speed"),
        ("weights.effort", None),
    }


def test_a_nested_configuration_is_merged() -> None:
    config, problems = build_config(SliderEnvConfig, {"weights": {"effort": 2}})
    assert problems == []
    assert config is not None
    assert (config.weights.speed, config.weights.effort) == (1.0, 2.0)


def test_a_nested_configuration_given_as_something_else_is_a_problem() -> None:
    _, problems = build_config(SliderEnvConfig, {"weights": 3})
    assert "a mapping of its fields" in problems[0].message


@pytest.mark.parametrize(("key", "value"), [("frame_skip", 0), ("episode_steps", -1)])
def test_what_a_configuration_refuses_is_a_problem_of_that_field(key: str, value: int) -> None:
    _, problems = build_config(Everything, {key: value})
    assert [problem.key for problem in problems] == [key]
    assert str(value) in problems[0].message


def test_a_field_without_a_default_must_be_given() -> None:
    @dataclass(frozen=True)
    class Needs:
        mass: float

    assert build_config(Needs, {})[1][0].key == "mass"
    assert build_config(Needs, {"mass": 1})[0] == Needs(1.0)
    assert config_fields(Needs)[0].default is None


@dataclass(frozen=True)
class Inner:
    mass: float
    size: float = 1.0


@dataclass(frozen=True)
class Outer:
    inner: Inner


def test_a_nested_configuration_without_a_default_is_built_from_what_is_given() -> None:
    assert build_config(Outer, {"inner": {"mass": 2}})[0] == Outer(Inner(2.0))
    assert [problem.key for problem in build_config(Outer, {"inner": {"size": 2}})[1]] == ["inner.mass"]


def test_fields_are_listed_with_types_defaults_and_docstrings() -> None:
    rows = {row.name: row for row in config_fields(SliderEnvConfig)}
    assert list(rows)[:2] == ["frame_skip", "episode_steps"]
    assert rows["frame_skip"].doc.startswith("Simulation steps")
    assert (rows["noise"].type, rows["noise"].default) == ("float", 1.0)
    assert rows["noise"].doc == "Half the width of the start positions."
    assert rows["wall"].doc == ""
    assert rows["weights.speed"].doc == "Weight of the speed term."
    assert {row.name: row.type for row in config_fields(Everything)}["span"] == "tuple[float, float]"
    assert {row.name: row.default for row in config_fields(Everything)}["side"] == "left"
