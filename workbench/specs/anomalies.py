"""What a run watches for while it trains, what it saves of what it finds, and what it does then."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from workbench.specs.algorithms import Count, Spec
from workbench.specs.kinds import LIVE, CopyIndices

OnAnomaly = Literal["stop", "pause", "continue", "rollback"]


class AnomalyWatch(Spec):
    """What counts as an anomaly, and how much of what led to it is kept."""

    noun: ClassVar[str] = "a field of the anomaly watch"

    window_steps: Annotated[int, Field(ge=1, le=10_000)] = 256
    """Last steps of each watched copy that are saved where something is found."""
    env_indices: CopyIndices = (0,)
    """Copies whose steps are saved, from 0; those at fault are saved too where memory allows."""
    check_observations: Annotated[bool, LIVE] = True
    """Look for observations beyond observation_limit; those that are not finite are always found."""
    observation_limit: Annotated[Annotated[float, Field(gt=0)] | None, LIVE] = 1e6
    """Size that no number of an observation may exceed; none looks only for those that are not finite."""
    check_every_n_steps: Annotated[Count, LIVE] = 1
    """Steps of all copies from one look at the size of observations to the next."""
    check_losses: Annotated[bool, LIVE] = True
    """Look at the losses of every update; gradients and weights are always looked at."""
    check_reward_collapse: Annotated[bool, LIVE] = True
    """Look for a mean return of the last 100 episodes that is far below the best one so far."""
    collapse_drop_fraction: Annotated[float, Field(gt=0, le=1), LIVE] = 0.5
    """Share of the best mean return that is lost in a collapse."""
    collapse_patience: Annotated[Count, LIVE] = 2
    """Iterations in a row that end so far down before it counts."""
    collapse_baseline_floor: Annotated[float, Field(gt=0), LIVE] = 1e-6
    """Least size of the best mean return that a loss is a share of."""
    on_collapse: Annotated[OnAnomaly | None, LIVE] = None
    """What happens at a collapse; none is what on_anomaly says, but to continue where that is stop: returns recover."""
    max_captures: Annotated[int, Field(ge=1, le=100), LIVE] = 1
    """Windows that a run saves; what is found later is told without one."""
    max_rollbacks: Annotated[Count, LIVE] = 3
    """How often a run goes back to a checkpoint by itself before it fails."""
