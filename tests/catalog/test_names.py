"""Names follow from class names and file names, by the vectors of the rules they come from."""

from __future__ import annotations

import pytest

from workbench.catalog import class_name_to_snake, environment_id, is_test_variant, is_variant, short_name
from workbench.catalog.names import gymnasium_id, gymnasium_stem, is_gymnasium_id, variant_to_pascal


@pytest.mark.parametrize(
    ("camel", "snake"),
    [
        ("CartPole", "cart_pole"),
        ("HalfCheetah", "half_cheetah"),
        ("FR3Revo2", "fr3_revo2"),
        ("DG5FGrasp", "dg5_f_grasp"),
        ("Ant2D", "ant2_d"),
        ("RLArm", "rl_arm"),
        ("Ant", "ant"),
    ],
)
def test_snake(camel: str, snake: str) -> None:
    assert class_name_to_snake(camel) == snake
    assert short_name(f"{camel}Env") == snake


@pytest.mark.parametrize(
    ("variant", "pascal"), [("no_contact", "NoContact"), ("v2", "V2"), ("2d", "2d"), ("1_2", "12")]
)
def test_pascal(variant: str, pascal: str) -> None:
    assert variant_to_pascal(variant) == pascal


def test_ids_and_short_names() -> None:
    assert environment_id("AntEnv") == "workbench/Ant-v0"
    assert environment_id("AntEnv", "no_contact") == "workbench/AntNoContact-v0"
    assert short_name("AntEnv", "no_contact") == "ant_no_contact"


@pytest.mark.parametrize("variant", ["hard", "v2", "soft_fingertips", "test_no_dynamics", "2d", "1_2", "latest"])
def test_variants_that_are_accepted(variant: str) -> None:
    assert is_variant(variant)


@pytest.mark.parametrize(
    "variant",
    [
        *("hard.train", "hard.", "", "Hard", "hard-mode", "hard mode", "_hard", "hard_", "hard__mode", "hård"),
        *("env", "extra_env", "env_extra", "train", "long_train", "benchmark_base", "hard\n"),
    ],
)
def test_variants_that_are_rejected(variant: str) -> None:
    assert not is_variant(variant)


@pytest.mark.parametrize(
    ("variant", "hidden"),
    [
        ("test_no_dynamics", True),
        ("no_test", True),
        ("test", True),
        ("latest", False),
        ("contest", False),
        (None, False),
    ],
)
def test_only_a_whole_segment_makes_a_variant_for_tests(variant: str | None, hidden: bool) -> None:
    assert is_test_variant(variant) is hidden


@pytest.mark.parametrize(("env_id", "stem"), [("Ant-v5", "Ant-v5"), ("ALE/Pong-v5", "ALE__Pong-v5")])
def test_a_gymnasium_id_is_a_file_name(env_id: str, stem: str) -> None:
    assert gymnasium_stem(env_id) == stem
    assert gymnasium_id(stem) == env_id
    assert is_gymnasium_id(env_id)
    assert not is_gymnasium_id(env_id.partition("-")[0])
