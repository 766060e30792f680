"""Units and descriptions out of docstrings."""

from __future__ import annotations

import inspect

import gymnasium
import pytest

from workbench.policies.export.units import element_texts
from workbench.project import shipped_project
from workbench.simulation import EnvSource, load_class

ENVS = shipped_project().envs


def docstring(module: str, name: str) -> str:
    return inspect.cleandoc(load_class(EnvSource("x/X-v0", "x", str(ENVS / module), name)).__doc__ or "")


def test_every_number_of_half_cheetah_has_a_unit() -> None:
    env = gymnasium.make("HalfCheetah-v5")
    names = [env.unwrapped.model.joint(index).name for index in range(9)]  # type: ignore[attr-defined]
    env.close()
    every = [*names[1:], *(f"{name}_vel" for name in names)]
    told = element_texts(docstring("half_cheetah_env.py", "HalfCheetahEnv"), "Observation Space", every, 17)
    assert [text.unit for text in told] == ["m", *["rad"] * 7, "m/s", "m/s", *["rad/s"] * 7]
    # One number more, at the front, that the table does not have.
    told = element_texts(docstring("half_cheetah_env.py", "HalfCheetahEnv"), "observation space", ["rootx", *every], 18)
    assert [text.unit for text in told] == ["unknown", "m", *["rad"] * 7, "m/s", "m/s", *["rad/s"] * 7]


def test_what_is_called_otherwise_is_not_taken_from_the_table() -> None:
    text = docstring("cart_pole_env.py", "CartPoleEnv")
    [told] = element_texts(text, "Action Space", ["pole_torque"], 1)
    assert told.unit == "unknown"
    [told] = element_texts(text, "Action Space", ["cart_force"], 1)
    assert (told.unit, told.description) == ("100 N", "push on the cart along x")


@pytest.mark.parametrize(
    ("env_id", "section", "size"), [("HalfCheetah-v5", "Action Space", 6), ("Hopper-v5", "Observation Space", 11)]
)
def test_tables_of_gymnasium_are_read(env_id: str, section: str, size: int) -> None:
    env = gymnasium.make(env_id)
    told = element_texts(inspect.cleandoc(type(env.unwrapped).__doc__ or ""), section, (), size)
    env.close()
    assert {text.unit for text in told} <= {"N m", "m", "rad", "m/s", "rad/s"}


def test_a_table_of_another_size_says_nothing_without_names() -> None:
    text = "## Action Space\n| Num | Action | Unit |\n| --- | --- | --- |\n| 0 | push | N |\n| 1 | pull | N |\n"
    assert [item.unit for item in element_texts(text, "Action Space", (), 2)] == ["N", "N"]
    assert [item.unit for item in element_texts(text, "Action Space", (), 3)] == ["unknown"] * 3
    assert element_texts("", "Action Space", (), 1)[0].unit == "unknown"
