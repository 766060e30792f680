"""What environments, variants and their files are called.

Everything follows from file names and class names: a name is never written down twice.
"""

from __future__ import annotations

import re
from typing import Literal

NAMESPACE = "workbench"
MODULE_SUFFIX = "_env"
CLASS_SUFFIX = "Env"
TEST_SEGMENT = "test"
RESERVED_SEGMENTS = ("env", "train", "benchmark")
"""Words that end the names of other files, and so would make a variant's file ambiguous."""


def class_name_to_snake(name: str) -> str:
    """Return a CamelCase name in snake_case: `FR3Revo2` is `fr3_revo2`, `RLArm` is `rl_arm`, `Ant2D` is `ant2_d`."""
    apart = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", apart).lower()


def variant_to_pascal(variant: str) -> str:
    """Return a variant as it stands in an ID: `no_contact` is `NoContact`, `2d` is `2d`, `1_2` is `12`."""
    return "".join(segment[:1].upper() + segment[1:] for segment in variant.split("_"))


def variant_fault(variant: str) -> str | None:
    """Say why `variant` names no variant, or nothing where it does."""
    if not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", variant):
        return "a variant is lower-case letters and digits, in segments joined by single underscores"
    reserved = [segment for segment in variant.split("_") if segment in RESERVED_SEGMENTS]
    return f"no segment of a variant may be `{reserved[0]}`" if reserved else None


def is_variant(variant: str) -> bool:
    """Say whether `variant` may name a variant."""
    return variant_fault(variant) is None


def is_test_variant(variant: str | None) -> bool:
    """Say whether a variant is for tests only: one of its segments is `test`."""
    return variant is not None and TEST_SEGMENT in variant.split("_")


def short_name(class_name: str, variant: str | None = None) -> str:
    """Return the short name of a class's environment: `ant`, `ant_no_contact`."""
    base = class_name_to_snake(class_name.removesuffix(CLASS_SUFFIX))
    return base if variant is None else f"{base}_{variant}"


def environment_id(class_name: str, variant: str | None = None) -> str:
    """Return the Gymnasium ID of a class's environment: `workbench/AntNoContact-v0`."""
    suffix = "" if variant is None else variant_to_pascal(variant)
    return f"{NAMESPACE}/{class_name.removesuffix(CLASS_SUFFIX)}{suffix}-v0"


def gymnasium_stem(env_id: str) -> str:
    """Return the stem of the recipe of a plain Gymnasium ID: `ALE/Pong-v5` is `ALE__Pong-v5`."""
    return env_id.replace("/", "__")


def gymnasium_id(stem: str) -> str:
    """Return the Gymnasium ID whose recipe has that stem."""
    return stem.replace("__", "/")


def is_gymnasium_id(text: str) -> bool:
    """Say whether `text` has the form of a versioned Gymnasium ID."""
    return re.fullmatch(r"(?:[\w:.-]+/)?[\w:.-]+-v\d+", text) is not None


Origin = Literal["project", "workbench", "package", "gymnasium"]
