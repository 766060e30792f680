"""Who acts in a session, and who else could: another agent, another checkpoint, the newest one of a run."""

from __future__ import annotations

import bisect
import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench import formatting
from workbench.errors import CheckpointError, NotFoundError, RequestError, WorkbenchError
from workbench.project import Project
from workbench.runs import RunDirectory, resolve_checkpoint
from workbench.viewer.options import AgentChoice
from workbench.viewer.session import Session
from workbench.viewer.target import Target

LADDER_S = 1.0
"""How old the list of a run's checkpoints may be."""


@dataclass(frozen=True)
class Rung:
    """A checkpoint of the run that plays."""

    steps: int
    written: float
    """When, in unix seconds."""
    kept: str
    """`best`, `latest`, both, or nothing."""


class Cast:
    """Changes who acts; the caller begins an episode afterwards.

    Args:
        project: Where references to checkpoints are looked up.
        target: Who acts at first.
        session: Where.
        stochastic: Whether policies sample their actions.
        on_fault: Told why the newest checkpoint could not be taken; the one before goes on.
        clock: Unix seconds.
    """

    def __init__(
        self,
        project: Project,
        target: Target,
        session: Session,
        *,
        stochastic: bool = False,
        on_fault: Callable[[WorkbenchError], None] = lambda error: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.target = target
        self.follows = False
        """Whether each episode takes the newest checkpoint of the run."""
        self.stochastic = stochastic
        """Whether policies sample their actions."""
        self._project = project
        self._session = session
        self._on_fault = on_fault
        self._clock = clock
        self._written = _written(target.checkpoint)
        self._refused: Path | None = None
        self._was_bereft = False
        self._rungs: tuple[float, Path, list[Rung]] | None = None

    @property
    def run(self) -> RunDirectory | None:
        """The run of the checkpoint, where it is in one."""
        checkpoint = self.target.checkpoint
        run = None if checkpoint is None else RunDirectory(checkpoint.parent)
        return run if run is not None and run.is_run() else None

    @property
    def is_bereft(self) -> bool:
        """Whether the run of the checkpoint was there, and is not any more."""
        return self.target.run is not None and self.run is None

    @property
    def steps(self) -> int | None:
        """The steps of the checkpoint that acts; None where no policy does."""
        return self.target.steps if self.target.agent == "policy" else None

    @property
    def age_s(self) -> float | None:
        """How long ago the checkpoint that acts was written."""
        return None if self.steps is None or not self._written else max(0.0, self._clock() - self._written)

    def sample(self, stochastic: bool) -> None:
        """Let policies sample their actions, or act greedily, from the next step on.

        Raises:
            RequestError: What acts is no policy.
        """
        if self.target.agent != "policy":
            raise RequestError(f"`{self.target.agent}` is no policy: it has nothing to sample from.")
        self._session.actor.deterministic = not stochastic
        self.stochastic = stochastic

    def take_agent(self, agent: AgentChoice) -> None:
        """Let an agent act.

        Raises:
            RequestError: `policy`, where there is no checkpoint, or one that cannot play this environment.
        """
        if agent == "policy" and self.target.checkpoint is None:
            raise RequestError("there is no policy to act.", hint="Name a checkpoint.")
        self._take(replace(self.target, agent=agent))

    def take_checkpoint(self, which: str | int) -> None:
        """Let a checkpoint act: steps of one of the run, `best`, `latest`, or any reference or path.

        Raises:
            WorkbenchError: It is not there, not whole, or made for other observations or actions.
        """
        self._take(self.target.playing(self._find(which)))

    def take_newest(self) -> None:
        """Let the newest checkpoint act where it is followed; one that cannot be opened is left out, and told once.

        So is a run whose folder is gone.
        """
        if not self.follows or self.target.agent != "policy":
            return
        is_bereft, was_bereft = self.is_bereft, self._was_bereft
        self._was_bereft = is_bereft
        if is_bereft and not was_bereft:
            self._on_fault(self._gone())
        run = self.run
        newest = None if run is None else run.latest()
        if newest is None or newest.path in (self.target.checkpoint, self._refused):
            return
        try:
            self._take(self.target.playing(newest.path))
        except WorkbenchError as error:
            self._refused = newest.path
            self._on_fault(error)

    def ladder(self) -> list[Rung]:
        """Return the checkpoints of the run, fewest steps first, as they were within the last second."""
        now = self._clock()
        run = self.run
        if run is None:
            return []
        if self._rungs is None or not 0 <= now - self._rungs[0] < LADDER_S or self._rungs[1] != run.path:
            best, latest = run.best(), run.latest()
            rungs = []
            for checkpoint in run.checkpoints():
                kept = [
                    name
                    for name, one in (("best", best), ("latest", latest))
                    if one is not None and one.path == checkpoint.path
                ]
                with contextlib.suppress(CheckpointError):
                    rungs.append(Rung(checkpoint.steps, _written(checkpoint.path), " ".join(kept)))
            self._rungs = (now, run.path, rungs)
        return self._rungs[2]

    def old(self, rung: Rung) -> float:
        """Return how long ago a checkpoint was written, in seconds."""
        return max(0.0, self._clock() - rung.written)

    def walk(self, places: int) -> None:
        """Let a checkpoint so many places further along the run act; beyond its ends the last one.

        Raises:
            WorkbenchError: What acts is of no run, or that checkpoint cannot be opened.
        """
        rungs = self.ladder()
        if self.is_bereft:
            raise self._gone()
        if not rungs:
            raise NotFoundError("what plays is of no run, so there is no other checkpoint.", hint="Play one of a run.")
        steps = [rung.steps for rung in rungs]
        at = self.target.steps or 0
        # One that was deleted meanwhile stands between its neighbours.
        here = bisect.bisect_left(steps, at)
        if places > 0 and (here == len(steps) or steps[here] != at):
            places -= 1
        wanted = steps[min(max(here + places, 0), len(steps) - 1)]
        if wanted != at or self.target.agent != "policy":
            self.take_checkpoint(wanted)

    def reseed(self, seed: int) -> None:
        """Start the random streams of what acts as if it had been opened with `seed`.

        Raises:
            WorkbenchError: It cannot be opened again; everything is as before.
        """
        before, self._session.first_seed = self._session.first_seed, seed
        if self.is_bereft and self.target.agent == "policy" and not self.stochastic:
            return  # It draws nothing at random, and there is nothing to open it from.
        try:
            self._take(self.target)
        except WorkbenchError:
            self._session.first_seed = before
            raise

    def _take(self, target: Target) -> None:
        session = self._session
        if self.target.recording is not None:
            raise RequestError("nobody acts in a recording: it plays as it was recorded.")
        session.actor = target.actor(session.env, seed=session.first_seed, stochastic=self.stochastic)
        self.target = target
        self._written = _written(target.checkpoint)

    def _gone(self) -> NotFoundError:
        return NotFoundError(
            f"the folder of run {self.target.run} is not there any more.", hint="What was read of it plays on."
        )

    def _find(self, which: str | int) -> Path:
        run = self.run
        if self.is_bereft and (isinstance(which, int) or which in ("best", "latest")):
            raise self._gone()
        if isinstance(which, int):
            if run is None:
                raise NotFoundError("what plays is of no run, so steps name no checkpoint.", hint="Give a path.")
            which = f"{run.path}:{which}"
        elif which in ("best", "latest"):
            if run is None:
                raise NotFoundError(f"what plays is of no run, so it has no {which} checkpoint.", hint="Give a path.")
            which = f"{run.path}:{which}"
        return resolve_checkpoint(self._project, which)


def _written(checkpoint: Path | None) -> float:
    """Return when a checkpoint was written, unix seconds; 0 where that is not known."""
    if checkpoint is None:
        return 0.0
    try:
        return (checkpoint if checkpoint.is_file() else checkpoint / "policy.json").stat().st_mtime
    except OSError as error:
        raise CheckpointError(f"{checkpoint} is not there any more.") from error


def title_of(casts: Sequence[Cast]) -> str:
    """Return what a window is called in which they act."""
    if len(casts) == 1:
        return casts[0].target.title
    return f"{casts[0].target.name}, {' · '.join(titles_of(casts))}"


def window_title_of(casts: Sequence[Cast]) -> str:
    """Return what the system calls the window, which cannot be changed later: nothing of whom else could act."""
    if len(casts) == 1 and casts[0].target.recording is not None:
        return casts[0].target.title
    return f"{casts[0].target.name}, workbench" if casts else "workbench"


def titles_of(casts: Sequence[Cast]) -> list[str]:
    """Return what the policies that play side by side are called, all different."""
    return names_of([cast.target for cast in casts])


def names_of(targets: Sequence[Target]) -> list[str]:
    """Return short names of what acts side by side, all different: run and steps, or the agent."""
    titles: list[str] = []
    for target in targets:
        steps = "" if target.steps is None or target.agent != "policy" else f" {formatting.amount(target.steps)}"
        who = (target.run or target.label) if target.agent == "policy" else target.agent
        title, count = f"{who}{steps}", 1
        while title in titles:
            count += 1
            title = f"{who}{steps} ({count})"
        titles.append(title)
    return titles
