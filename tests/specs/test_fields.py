"""Rows for forms and help: what each field is, and its values as text."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.specs import ALGORITHM_SPECS, PPOSpec, RunSpec, SACSpec, field_table, read_number, schedule
from workbench.specs.composing import override_rows
from workbench.specs.fields import FieldRow, show


def row(model: type[Any], name: str) -> FieldRow:
    return next(row for row in field_table(model) if row.name == name)


def test_a_row_says_kind_range_default_and_meaning() -> None:
    gamma = row(PPOSpec, "gamma")
    assert (gamma.kind, gamma.range, gamma.default, gamma.optional) == ("number", "from 0 to 1", 0.99, False)
    assert gamma.accepts == "a number from 0 to 1"
    assert gamma.doc.startswith("Discount of later rewards")
    assert row(PPOSpec, "n_steps").accepts == "a whole number of at least 1"
    assert row(PPOSpec, "activation").choices == ("tanh", "relu", "elu")
    assert row(PPOSpec, "target_kl").accepts == "a number greater than 0, or none"
    assert row(PPOSpec, "net_arch").default == [64, 64]
    assert row(SACSpec, "gradient_steps").accepts == "-1 or a whole number of at least 1"


def test_the_rows_of_a_run_dot_the_criteria_and_leave_the_blocks_out() -> None:
    names = [row.name for row in field_table(RunSpec)]
    assert "stop_criteria.episode_return_mean" in names
    assert "n_envs" in names
    assert not {"ppo", "sac", "td3", "stop_criteria"} & set(names)


def test_every_row_of_every_model_has_a_sentence() -> None:
    for model in (RunSpec, *ALGORITHM_SPECS.values()):
        for each in field_table(model):
            assert each.doc, each.name
            assert each.accepts, each.name


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("15M", 15_000_000),
        ("15_000_000", 15_000_000),
        ("15 000 000", 15_000_000),
        ("3e6", 3_000_000),
        ("1.5k", 1500),
        ("2G", 2_000_000_000),
        ("-3", -3),
    ],
)
def test_whole_numbers_as_people_type_them(text: str, number: int) -> None:
    value = read_number(text, whole=True)
    assert value == number
    assert type(value) is int


@pytest.mark.parametrize("text", ["", "M", "many", "1M2", "0x10", "1..2", "nan", "inf", "1" * 5000])
def test_what_is_no_number_is_left_to_validation(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("ppo.learning_rate", "1e-3", 1e-3),
        ("ppo.learning_rate", "linear:3e-4:1e-5", "linear:3e-4:1e-5"),
        ("ppo.n_steps", "512.5", 512.5),
        ("ppo.normalize_advantage", "false", False),
        ("ppo.normalize_advantage", "no", "no"),
        ("ppo.net_arch", "256,128", [256, 128]),
        ("ppo.net_arch", "[]", []),
        ("ppo.net_arch", '{"pi":[8],"vf":[9]}', {"pi": [8], "vf": [9]}),
        ("ppo.target_kl", "none", None),
        ("ppo.max_grad_norm", "inf", "inf"),
        ("ppo.gamma", "none", "none"),
        ("sac.ent_coef", "auto_0.1", "auto_0.1"),
        ("sac.ent_coef", "0.1", 0.1),
        ("total_steps", "15M", 15_000_000),
        ("stop_criteria.episode_return_mean", "2000", 2000),
        ("tags", "a,b", ["a", "b"]),
        ("device", "cuda:0", "cuda:0"),
    ],
)
def test_text_is_read_by_the_kind_of_its_field(key: str, text: str, value: object) -> None:
    found = override_rows()[key].parse(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("key", sorted(override_rows()))
def test_a_default_as_text_reads_back_as_itself(key: str) -> None:
    each = override_rows()[key]
    if key != "tags":
        assert each.parse(each.render(each.default)) == each.default


@pytest.mark.parametrize(
    ("value", "at_start", "half_way", "at_end"),
    [(0.3, 0.3, 0.3, 0.3), (1, 1.0, 1.0, 1.0), ("linear:1e-3", 1e-3, 5e-4, 0.0), ("linear:0.2:0.1", 0.2, 0.15, 0.1)],
)
def test_a_schedule_is_a_function_of_the_progress_remaining(
    value: float | str, at_start: float, half_way: float, at_end: float
) -> None:
    function = schedule(value)
    assert [function(1.0), function(0.5), function(0.0)] == pytest.approx([at_start, half_way, at_end])
    # A last rollout beyond the budget.
    assert function(-0.3) == at_end


@pytest.mark.parametrize(
    "value", ["linear", "linear:", "linear:x", "linear:-1", "linear:0:0", "cosine:1", "linear:1:nan"]
)
def test_what_is_no_schedule_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        schedule(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (32768, "32 768"),
        (1.1, "1.1"),
        (True, "true"),
        (None, "none"),
        ("x", "'x'"),
        (10**30, "a number of more than 18 digits"),
    ],
)
def test_values_in_messages(value: object, text: str) -> None:
    assert show(value) == text
