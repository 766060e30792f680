"""The results that are published with the code, and the references of the recipes, are of the same runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from workbench.catalog import discover
from workbench.project import shipped_project
from workbench.specs.algorithms import ALGORITHMS

PROJECT = shipped_project()
PUBLISHED = PROJECT.root / "docs" / "results.json"


def measured() -> list[tuple[str, str, dict[str, Any]]]:
    """Return every algorithm's reference of every shipped recipe, with the environment's name."""
    return [
        (entry.name, algorithm, entry.training.reference[algorithm])
        for entry in discover(PROJECT).entries
        if entry.training is not None
        for algorithm in ALGORITHMS
        if algorithm in entry.training.reference
    ]


@pytest.mark.parametrize(("name", "algorithm", "block"), measured(), ids=lambda value: str(value)[:20])
def test_a_reference_is_a_line_of_the_published_results(name: str, algorithm: str, block: dict[str, Any]) -> None:
    lines = [
        line
        for line in json.loads(PUBLISHED.read_text(encoding="utf-8"))["results"]
        if (line["environment"], line["algorithm"]) == (name, algorithm)
    ]
    same = [line for line in lines if round(line["mean"], 2) == block["return"] and line["seeds"] == block["seeds"]]
    [line] = same
    assert line["changed"] == block.get("changed", {})
    assert list(line["return_by_seed"]) == list(block["return_by_seed"])
    assert line["basis"]["episodes"] == block["episodes"] == 100


def test_every_recipe_says_what_it_reached() -> None:
    told = {name for name, _, _ in measured()}
    trained = {entry.name for entry in discover(PROJECT).entries if entry.training is not None}
    assert trained - told == set()


def test_every_curve_of_the_published_results_is_there() -> None:
    for line in json.loads(PUBLISHED.read_text(encoding="utf-8"))["results"]:
        assert (PUBLISHED.parent / line["curve"]).is_file()
