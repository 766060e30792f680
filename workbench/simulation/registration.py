"""Registration with Gymnasium: every environment of a project under its ID, for `gymnasium.make` and `make_vec`."""

from __future__ import annotations

import dataclasses

import gymnasium
from gymnasium.envs.registration import EnvSpec

from workbench.errors import RequestError
from workbench.project import Project, open_project
from workbench.simulation.source import EntryLike, EnvSource

ENTRY_POINT = "workbench.simulation.factory:single_entry_point"
VECTOR_ENTRY_POINT = "workbench.simulation.factory:vector_entry_point"


def register_envs(project: Project | None = None) -> list[str]:
    """Register the environments of a project, and the shipped ones, with Gymnasium, and return their IDs.

    Nothing is imported: an environment's module is, when it is first made. May be called again; test-only and broken
    entries are left out.

    Raises:
        RequestError: An ID is taken by something else; the message names the field that differs.
    """
    from workbench.catalog import discover

    catalog = discover(project or open_project())
    chosen = [
        entry for entry in catalog.entries if entry.module is not None and not entry.test_only and not entry.broken
    ]
    return [register(entry) for entry in chosen]


def register(entry: EntryLike) -> str:
    """Register one catalogue entry and return its ID.

    Raises:
        RequestError: The ID is taken by a spec that differs.
    """
    spec = make_spec(EnvSource.from_entry(entry))
    present = gymnasium.registry.get(spec.id)
    if present is None:
        gymnasium.registry[spec.id] = spec
        return spec.id
    for field in dataclasses.fields(EnvSpec):
        old, new = getattr(present, field.name), getattr(spec, field.name)
        if old != new:
            raise RequestError(
                f"{spec.id} is registered already, with another {field.name}: {old!r}, and not {new!r}.",
                hint="Rename the environment, or do not register the other one.",
            )
    return spec.id


def make_spec(source: EnvSource) -> EnvSpec:
    """Return what Gymnasium keeps of an environment of a project."""
    return EnvSpec(
        id=source.env_id,
        entry_point=ENTRY_POINT,
        vector_entry_point=VECTOR_ENTRY_POINT,
        # Episodes are cut by the environment itself, which knows its configuration.
        max_episode_steps=None,
        kwargs={"source": source.to_json()},
    )
