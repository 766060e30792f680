"""From the name of an environment to where it comes from, and what a policy must fit in it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from workbench.errors import CheckpointError, NotFoundError, RequestError
from workbench.policies.record import PolicyRecord
from workbench.policies.spaces import describe_space
from workbench.project import Project, open_project
from workbench.runs.lineage import run_of
from workbench.simulation import EnvSource, make_single
from workbench.suggest import nearest


@dataclass(frozen=True)
class EnvironmentFacts:
    """What of an environment a policy depends on."""

    name: str
    """What it is called."""
    observation_space: Any
    """A `SpaceRecord`, or a `gymnasium.Space` where that is of another kind than policies here are trained on."""
    action_space: Any
    """The same of what it takes."""
    control_period_s: float | None = None
    """Simulated time between two actions; None where it does not say."""
    observation_names: tuple[str, ...] = ()
    """One name an observation element; empty where it names none."""
    action_names: tuple[str, ...] = ()
    """One name an action element; empty where it names none."""


def facts_of(env: Any, name: str) -> EnvironmentFacts:
    """Return what of an environment a policy depends on.

    Args:
        env: A plain environment, a batched one, or several copies of one with `observation_space` of a single one.
        name: What it is called.
    """
    core = getattr(env, "unwrapped", env)
    return EnvironmentFacts(
        name=name,
        observation_space=_described(env.observation_space, "observations"),
        action_space=_described(env.action_space, "actions"),
        control_period_s=_period(core),
        observation_names=tuple(getattr(core, "observation_names", ())),
        action_names=tuple(getattr(core, "action_names", ())),
    )


def facts_in(source: EnvSource) -> EnvironmentFacts:
    """Return the same of an environment that is made for it and let go again.

    Raises:
        WorkbenchError: It cannot be made.
    """
    env = make_single(source)
    try:
        return facts_of(env, source.name)
    finally:
        env.close()


def trained_in(record: PolicyRecord, checkpoint: Path) -> EnvSource:
    """Return the environment that a checkpoint of ours names.

    Args:
        record: What it says of itself.
        checkpoint: Its folder.

    Raises:
        RequestError: It names none.
        CheckpointError: The code lies in the folder of the checkpoint, or of its run: whoever gave it away could have
            put anything there.
    """
    source, run = EnvSource.from_json(dict(record.environment)), run_of(checkpoint)
    came = (checkpoint if run is None else run.path).resolve()
    module = _code_of(source)
    if module is not None and any(module.resolve().is_relative_to(folder) for folder in _strange(source, came)):
        raise CheckpointError(
            f"{checkpoint} names {module} as the code of its environment: that came along with it, and is not run.",
            hint="--env ID plays it in an environment that is installed here.",
        )
    return source


def _code_of(source: EnvSource) -> Path | None:
    """Return the file that would be imported for an environment; None where it is found by its name alone."""
    if source.module is not None:
        # A path that is not whole is not gone to: its file is looked for among the environments that are here.
        return Path(source.module) if Path(source.module).is_absolute() else None
    package, colon, _ = source.env_id.partition(":")
    if not colon:
        return None
    # Gymnasium imports what stands before a colon.
    with contextlib.suppress(ImportError, ValueError):
        found = find_spec(package.partition(".")[0])
        # A folder without an `__init__.py` has no file of its own.
        places = [] if found is None else [found.origin, *(found.submodule_search_locations or ())]
        return next((Path(place) for place in places if place is not None), None)
    return None


def _strange(source: EnvSource, came: Path) -> Iterator[Path]:
    """Yield the folders whose code is not run for a checkpoint that came in a folder."""
    yield came
    here = Path.cwd().resolve()
    if source.module is None and not Path(sys.prefix).resolve().is_relative_to(here):
        # `python -m` imports from the folder one is in, among what strangers gave too.
        yield here


def find_environment(text: str, project: Project | None = None) -> EnvSource:
    """Return where an environment comes from, by its name in the catalogue or its ID in Gymnasium's registry.

    Raises:
        NotFoundError: There is none of that name; says what is close.
    """
    import gymnasium

    from workbench.catalog import discover

    found = discover(project or open_project())
    with contextlib.suppress(NotFoundError):
        return EnvSource.from_entry(found.find(text))
    if text in gymnasium.registry:
        name = text.split(":")[-1].replace("/", "_")
        return EnvSource(env_id=text, name=name, module=None, class_name=None, env_cfg={})
    close = nearest(text, [*(entry.name for entry in found.entries), *gymnasium.registry])
    hint = f"Did you mean {' or '.join(close)}?" if close else "`workbench list` lists them."
    raise NotFoundError(f"there is no environment `{text}`.", hint=hint)


def _described(space: Any, what: str) -> Any:
    try:
        return describe_space(space, what)
    except RequestError:
        return space


def _period(core: Any) -> float | None:
    for name in ("control_dt", "dt"):
        period = getattr(core, name, None)
        if isinstance(period, int | float) and period > 0:
            return float(period)
    return None
