"""The schema that editors use is the models'."""

from __future__ import annotations

import json
from pathlib import Path

from workbench.specs import ALGORITHM_SPECS, RECIPE_FIELDS, json_schema

FILE = Path(__file__).resolve().parents[2] / "recipes" / "recipe.schema.json"


def test_the_file_is_what_the_models_say() -> None:
    how = "write it again: json.dumps(json_schema(), indent=2, ensure_ascii=False) and a line feed"
    assert FILE.read_text(encoding="utf-8") == json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n", how


def test_it_knows_every_key_of_a_recipe() -> None:
    schema = json_schema()
    own = {"$schema", "description", "reference"}
    assert set(schema["properties"]) == own | set(RECIPE_FIELDS) | set(ALGORITHM_SPECS)
    for algorithm, spec in ALGORITHM_SPECS.items():
        block = schema["properties"][algorithm]
        rllib = {"env_runners", "training", "train_batch_size_per_runner"} if algorithm == "ppo" else set()
        assert set(block["properties"]) == set(spec.model_fields) | set(RECIPE_FIELDS) | rllib
        assert block["additionalProperties"] is False


def test_every_reference_leads_somewhere() -> None:
    schema = json_schema()
    text = json.dumps(schema)
    for name in schema["$defs"]:
        assert f'"#/$defs/{name}"' in text
    assert text.count('"$ref"') == 4 * len(schema["$defs"])
