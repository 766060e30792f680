"""The JSON Schema of a recipe file, for editors: completion, help and red lines while a person types."""

from __future__ import annotations

from typing import Any

from workbench.specs.algorithms import ALGORITHM_SPECS, ALGORITHMS, Algorithm, Spec
from workbench.specs.recipes import RECIPE_SUFFIX
from workbench.specs.rllib import NESTED
from workbench.specs.run import GROUPS, RECIPE_FIELDS, RunSpec

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """Return the schema of `*.train.json` files, as plain data."""
    fields = {name: prop for name, prop in _properties(RunSpec).items() if name in RECIPE_FIELDS}
    for name, model in GROUPS.items():
        fields[name] = {
            "description": fields[name]["description"],
            "type": "object",
            "properties": _properties(model),
            "additionalProperties": False,
        }
    shared = {name: {"$ref": f"#/$defs/{name}"} for name in fields}
    return {
        "$schema": DIALECT,
        "title": f"Training recipe (*{RECIPE_SUFFIX})",
        "description": "What one environment is trained with; environment configuration lives in variant files.",
        "type": "object",
        "properties": {
            "$schema": {"type": "string", "description": "Where this schema is, for the editor."},
            "description": {"type": "string", "description": "What the recipe is for, in words."},
            "reference": {"type": "object", "description": "Returns measured with it: seeds, steps, date, versions."},
            **shared,
            **{algorithm: _block(algorithm, shared) for algorithm in ALGORITHMS},
        },
        "additionalProperties": False,
        "$defs": fields,
    }


def _block(algorithm: Algorithm, fields: dict[str, Any]) -> dict[str, Any]:
    model = ALGORITHM_SPECS[algorithm]
    properties = _properties(model) | fields
    if algorithm == "ppo":
        note = "RLlib's shape, translated when the recipe is read."
        kinds = dict.fromkeys(NESTED, "object") | {"train_batch_size_per_runner": "integer"}
        properties |= {name: {"type": kind, "description": note} for name, kind in kinds.items()}
    return {
        "description": f"{(model.__doc__ or '').splitlines()[0]} Fields of the run that are set here win.",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def _properties(model: type[Spec]) -> dict[str, Any]:
    properties: dict[str, Any] = model.model_json_schema(mode="validation")["properties"]
    return {name: {key: item for key, item in prop.items() if key != "title"} for name, prop in properties.items()}
