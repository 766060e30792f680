"""What to run, as pure, frozen, strict data: algorithms, runs, recipes, and everything that can be wrong with them.

Sees only errors, suggestions and pydantic; never a simulator, a learner, or a terminal.
"""

from workbench.specs.algorithms import ALGORITHM_SPECS, ALGORITHMS, Algorithm, PPOSpec, SACSpec, TD3Spec
from workbench.specs.anomalies import AnomalyWatch, OnAnomaly
from workbench.specs.changing import Change, Done, LiveField, amended, change, changeable, live_rows, weights_in
from workbench.specs.composing import Composed, changes, command_for, compose, override_rows, parse_overrides
from workbench.specs.fields import FieldRow, field_table, read_number, show
from workbench.specs.kinds import schedule
from workbench.specs.located import Located, read_located
from workbench.specs.problems import errors_of, spec_from_json, validate
from workbench.specs.recipes import RECIPE_SUFFIX, Recipe, read_recipe
from workbench.specs.run import LAUNCH_FIELDS, RECIPE_FIELDS, RunSpec, StopCriteria
from workbench.specs.schema import json_schema

__all__ = [
    "ALGORITHMS",
    "ALGORITHM_SPECS",
    "LAUNCH_FIELDS",
    "RECIPE_FIELDS",
    "RECIPE_SUFFIX",
    "Algorithm",
    "AnomalyWatch",
    "Change",
    "Composed",
    "Done",
    "FieldRow",
    "LiveField",
    "Located",
    "OnAnomaly",
    "PPOSpec",
    "Recipe",
    "RunSpec",
    "SACSpec",
    "StopCriteria",
    "TD3Spec",
    "amended",
    "change",
    "changeable",
    "changes",
    "command_for",
    "compose",
    "errors_of",
    "field_table",
    "json_schema",
    "live_rows",
    "override_rows",
    "parse_overrides",
    "read_located",
    "read_number",
    "read_recipe",
    "schedule",
    "show",
    "spec_from_json",
    "validate",
    "weights_in",
]
