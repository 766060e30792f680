"""Who made a run that is not ours, and the sentence with which everything but looking is refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.durable import read_document
from workbench.errors import RequestError
from workbench.runs.directory import RunDirectory

TITLES = {
    "sb3": "Stable-Baselines3",
    "zoo": "RL-Zoo",
    "cleanrl": "CleanRL",
    "tensorboard": "another tool",
}
"""What people call a tool, by the word that marks its runs in a list."""

POLICIES_NAME = "policies.json"


@dataclass(frozen=True)
class Origin:
    """Where a run comes from that another tool made."""

    tool: str
    """`sb3`, `zoo`, `cleanrl` or `tensorboard`."""
    folder: Path
    """The tool's own folder, which is only ever read."""

    @property
    def title(self) -> str:
        """What people call the tool."""
        return TITLES.get(self.tool, self.tool)


@dataclass(frozen=True)
class Policies:
    """The policies that a foreign run has saved, in the files of its own tool."""

    best: Path | None = None
    latest: Path | None = None
    by_steps: tuple[tuple[int, Path], ...] = ()
    """Fewest steps first."""


def origin_of(run: RunDirectory) -> Origin | None:
    """Return where a run comes from; None where it is ours."""
    if not run.is_foreign:
        return None
    told = read_document(run.spec_path).get("foreign")
    told = told if isinstance(told, dict) else {}
    return Origin(str(told.get("tool") or run.algorithm), Path(str(told.get("folder") or run.path)))


def policies_of(run: RunDirectory) -> Policies:
    """Return the policies that a foreign run has saved; none where it is ours."""
    if not run.is_foreign:
        return Policies()
    told = read_document(run.path / POLICIES_NAME)
    best, latest, by_steps = told.get("best"), told.get("latest"), told.get("by_steps")
    rungs = [
        (item[0], Path(item[1]))
        for item in (by_steps if isinstance(by_steps, list) else ())
        if isinstance(item, list) and len(item) == 2 and isinstance(item[0], int) and isinstance(item[1], str)
    ]
    return Policies(
        Path(best) if isinstance(best, str) else None,
        Path(latest) if isinstance(latest, str) else None,
        tuple(sorted(rungs)),
    )


def why_only_looking(run: RunDirectory) -> str:
    """Return why nothing can be done to a run but looking at it; empty where it is ours."""
    origin = origin_of(run)
    if origin is None:
        return ""
    return f"{run.name} was made by {origin.title}; it can only be looked at, recorded and evaluated."


def require_own(run: RunDirectory) -> None:
    """See to it that a run is ours, before anything is asked of it or done to its folder.

    Raises:
        RequestError: Another tool made it.
    """
    why = why_only_looking(run)
    if why:
        origin = origin_of(run)
        raise RequestError(why, hint=f"It lies in {origin.folder if origin else run.path}.")
