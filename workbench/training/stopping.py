"""When a run has done enough, and why, in words."""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.specs import RunSpec
from workbench.training.words import grouped

EPISODES = 100
"""How many of the last whole episodes the training return is the mean of."""


@dataclass(frozen=True)
class Progress:
    """How far a run has come at the end of an iteration."""

    steps: int
    """Steps, those of the parent included."""
    iteration: int
    """Iterations, those of the parent included."""
    wall_s: float
    """Seconds of active training."""


class StopRule:
    """The criteria of a spec, any one of which ends the run.

    Args:
        spec: What the run was asked to do.
    """

    def __init__(self, spec: RunSpec) -> None:
        self._criteria = spec.stop_criteria
        self._total_steps = spec.total_steps
        self._returns: deque[float] = deque(maxlen=EPISODES)
        self._evaluations_in_a_row = 0
        self._evaluation: float | None = None

    def add_episode(self, episode_return: float) -> None:
        """Take in the return of a whole training episode."""
        self._returns.append(episode_return)

    def add_evaluation(self, mean_return: float) -> None:
        """Take in the mean return of an evaluation."""
        self._evaluation = mean_return
        goal = self._criteria.evaluation_return_mean
        self._evaluations_in_a_row = self._evaluations_in_a_row + 1 if goal is not None and mean_return >= goal else 0

    def change(self, spec: RunSpec) -> None:
        """Go by the criteria of another spec; where the goal of evaluations is another one, they count anew."""
        if spec.stop_criteria.evaluation_return_mean != self._criteria.evaluation_return_mean:
            self._evaluations_in_a_row = 0
        self._criteria, self._total_steps = spec.stop_criteria, spec.total_steps

    def state(self) -> dict[str, Any]:
        """Return what it has taken in, as plain data."""
        return {
            "returns": list(self._returns),
            "evaluation": self._evaluation,
            "evaluations_in_a_row": self._evaluations_in_a_row,
        }

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned."""
        self._returns = deque(state["returns"], maxlen=EPISODES)
        self._evaluation = state["evaluation"]
        self._evaluations_in_a_row = state["evaluations_in_a_row"]

    def reason(self, progress: Progress) -> str | None:
        """Return why the run ends here, or nothing while no criterion is met; goals come before budgets."""
        return self._goal() or self._budget(progress)

    def _goal(self) -> str | None:
        criteria = self._criteria
        goal = criteria.evaluation_return_mean
        if goal is not None and self._evaluation is not None and self._evaluations_in_a_row >= criteria.consecutive:
            times = f", {criteria.consecutive} evaluations in a row" if criteria.consecutive > 1 else ""
            return f"the evaluation return {grouped(self._evaluation)} reached {grouped(goal)}{times}"
        goal = criteria.episode_return_mean
        if goal is not None and len(self._returns) == EPISODES:
            mean = statistics.fmean(self._returns)
            if mean >= goal:
                return f"the mean return of the last {EPISODES} episodes, {grouped(mean)}, reached {grouped(goal)}"
        return None

    def _budget(self, progress: Progress) -> str | None:
        criteria = self._criteria
        lifetime = criteria.num_env_steps_sampled_lifetime
        if self._total_steps and progress.steps >= self._total_steps:
            return f"{grouped(progress.steps)} of {grouped(self._total_steps)} steps are done"
        if lifetime and progress.steps >= lifetime:
            return f"{grouped(progress.steps)} of {grouped(lifetime)} steps are done over its lifetime"
        if criteria.training_iteration and progress.iteration >= criteria.training_iteration:
            return f"{grouped(progress.iteration)} of {grouped(criteria.training_iteration)} iterations are done"
        if criteria.wall_time_s and progress.wall_s >= criteria.wall_time_s:
            return f"{grouped(criteria.wall_time_s)} seconds of training are over"
        return None
