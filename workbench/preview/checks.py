"""The checks of a preview, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from workbench.errors import SimulationError, WorkbenchError
from workbench.preview import action_map, loop, random_moves, settle, sweep
from workbench.preview.findings import Finding
from workbench.preview.rig import Rig
from workbench.project import Project
from workbench.simulation import EnvSource

Check = Callable[[Rig], Iterator[Finding]]

MODEL_CHECKS: dict[str, Check] = {
    settle.NAME: settle.look,
    sweep.NAME: sweep.look,
    random_moves.NAME: random_moves.look,
    action_map.NAME: action_map.look,
}
CHECKS = (*MODEL_CHECKS, loop.NAME)
"""The names of all checks, in the order they run."""


def preview(
    source: EnvSource, project: Project, chosen: Sequence[str] = CHECKS, *, begin: Callable[[str], None] | None = None
) -> Iterator[Finding]:
    """Run checks on an environment and give findings as they come; a check without any passes.

    Args:
        source: The environment.
        project: Where it is found by the learner.
        chosen: Names out of `CHECKS`.
        begin: Told of each check as it begins.

    Raises:
        RequestError: The environment's spaces are no boxes.
    """
    try:
        rig = Rig(source)
    except SimulationError as error:
        yield Finding("make", "fail", str(error), "mend what it names", "task")
        return
    with rig:
        for name in CHECKS:
            if name not in chosen:
                continue
            if begin is not None:
                begin(name)
            rig.warnings.clear()
            findings = loop.look(rig, project) if name == loop.NAME else MODEL_CHECKS[name](rig)
            found = False
            try:
                for finding in findings:
                    found = True
                    yield finding
            except WorkbenchError as error:
                found = True
                yield Finding(name, "fail", str(error), "mend what it names", "task")
            if not found:
                yield Finding(name, "pass", "nothing is odd")
