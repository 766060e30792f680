"""What to run, as pure, frozen, strict data: algorithms, runs, recipes, and everything that can be wrong with them.

Sees only errors, suggestions, durable files and pydantic; never a simulator, a learner, or a terminal.
"""

from workbench.specs.algorithms import ALGORITHMS, Algorithm, PPOSpec, SACSpec, TD3Spec
from workbench.specs.kinds import schedule
from workbench.specs.run import RunSpec, StopCriteria

__all__ = ["ALGORITHMS", "Algorithm", "PPOSpec", "RunSpec", "SACSpec", "StopCriteria", "TD3Spec", "schedule"]
