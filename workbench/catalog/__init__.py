"""What exists: environments, variants and recipes, found by file names and syntax, and what is wrong with them.

Sees specs and what is below them, and only the standard library beside: no environment is ever imported here. What
only an import tells comes from the description process, through a cache.
"""

from workbench.catalog.catalogue import Catalog
from workbench.catalog.descriptions import (
    Description,
    Space,
    describe_in_background,
    description_path,
    fault_problems,
    missing_descriptions,
    read_description,
    read_descriptions,
    request_descriptions,
    request_registry,
    start_describing,
)
from workbench.catalog.discovery import discover
from workbench.catalog.entries import BrokenFile, Entry, IgnoredFile
from workbench.catalog.names import class_name_to_snake, environment_id, is_test_variant, is_variant, short_name
from workbench.catalog.registry import GymnasiumRegistry

__all__ = [
    "BrokenFile",
    "Catalog",
    "Description",
    "Entry",
    "GymnasiumRegistry",
    "IgnoredFile",
    "Space",
    "class_name_to_snake",
    "describe_in_background",
    "description_path",
    "discover",
    "environment_id",
    "fault_problems",
    "is_test_variant",
    "is_variant",
    "missing_descriptions",
    "read_description",
    "read_descriptions",
    "request_descriptions",
    "request_registry",
    "short_name",
    "start_describing",
]
