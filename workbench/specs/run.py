"""One run as data: which environment, which algorithm, how long, and what is kept and shown on the way."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from workbench.specs.algorithms import Algorithm, Count, PPOSpec, SACSpec, Spec, TD3Spec
from workbench.specs.anomalies import AnomalyWatch, OnAnomaly
from workbench.specs.kinds import LIVE, Copies, Device, Duration, Goal, Limit, Words

DEFAULT_CHECKPOINT_FREQ = 10
LARGEST_SEED = 2**32 - 1

RECIPE_FIELDS = (
    "n_envs",
    "normalize_observations",
    "normalize_rewards",
    "total_steps",
    "stop_criteria",
    "checkpoint_freq",
    "checkpoint_every_steps",
    "keep_last",
    "eval_every",
    "eval_episodes",
    "eval_seed",
    "rescore_best",
    "rescore_episodes",
    "on_anomaly",
    "anomaly_watch",
)
"""Fields of a run that a recipe may set, and a block of an algorithm in it too."""


class StopCriteria(Spec):
    """What ends a run: any one met stops it, and the reason is recorded."""

    noun: ClassVar[str] = "a stop criterion"

    episode_return_mean: Annotated[Goal, LIVE] = None
    """Mean training return of the last 100 whole episodes, once 100 have ended; none or 0 is no goal."""
    evaluation_return_mean: Annotated[Goal, LIVE] = None
    """Mean return of an evaluation; none or 0 is no goal."""
    consecutive: Annotated[Count, LIVE] = 1
    """Evaluations in a row that must reach evaluation_return_mean."""
    num_env_steps_sampled_lifetime: Annotated[Limit, LIVE] = 0
    """Steps, those of a parent run included; 0 is no limit."""
    training_iteration: Annotated[Limit, LIVE] = 0
    """Iterations, those of a parent run included; 0 is no limit."""
    wall_time_s: Annotated[Duration, LIVE] = 0.0
    """Seconds of active training over all resumes; 0 is no limit."""


class RunSpec(Spec):
    """Everything that decides what a run does; written to run.json with every default filled in."""

    noun: ClassVar[str] = "a field of a run"

    env_id: Annotated[str, Field(min_length=1)]
    """Gymnasium ID of the environment."""
    algorithm: Algorithm = "ppo"
    """Which algorithm trains."""
    seed: Annotated[int, Field(ge=0, le=LARGEST_SEED)] | None = None
    """Seed of everything random; drawn and recorded where none is given."""
    n_envs: Copies = 1
    """Copies of the environment that step together."""
    normalize_observations: bool = False
    """Scale observations by running statistics, which every checkpoint carries."""
    normalize_rewards: bool = False
    """Scale rewards by the running deviation of the return, while training only."""
    total_steps: Annotated[Limit, LIVE] = 0
    """Steps, all copies together and those of a parent run included; 0 leaves the end to another criterion."""
    stop_criteria: StopCriteria = StopCriteria()
    """What else ends the run."""
    checkpoint_freq: Annotated[Annotated[int, Field(ge=0)] | None, LIVE] = DEFAULT_CHECKPOINT_FREQ
    """Iterations between checkpoints; 0 keeps the untrained and the last only."""
    checkpoint_every_steps: Annotated[Count | None, LIVE] = None
    """Steps between checkpoints, instead of checkpoint_freq."""
    keep_last: Annotated[Count | None, LIVE] = None
    """Checkpoints kept beside pinned, best, last and untrained ones; none keeps all."""
    eval_every: Annotated[int, Field(ge=0), LIVE] = 1
    """Checkpoints between evaluations; 0 evaluates none."""
    eval_episodes: Count = 10
    """Episodes of one evaluation."""
    eval_seed: Annotated[int, Field(ge=0, le=LARGEST_SEED)] = 10_000
    """Seed of the first episode of every evaluation; the next has the next number."""
    rescore_best: Annotated[int, Field(ge=0)] = 3
    """Checkpoints with the best evaluations that are scored again at the end, to settle the best; 0 trusts claims."""
    rescore_episodes: Count = 32
    """New episodes that each of them is scored on, behind those of the evaluations."""
    video_on_checkpoint: bool = False
    """Film each checkpoint, in another process."""
    video_count: Count = 1
    """Episodes filmed at a checkpoint."""
    video_fps: Count | None = None
    """Frames a second of these films; none takes the control rate."""
    video_pattern: Annotated[str, Field(min_length=1)] = "*"
    """Glob of the environments that are filmed, where one launch trains several."""
    tensorboard_video: bool = True
    """Show the films in TensorBoard too."""
    tb_log_every: Count = 1
    """Checkpoints between films in TensorBoard."""
    on_anomaly: Annotated[OnAnomaly, LIVE] = "stop"
    """What happens at an anomaly; rollback goes back to the last good checkpoint, with half the learning rate."""
    anomaly_watch: AnomalyWatch = AnomalyWatch()
    """What is looked for while it trains, and what is saved of it."""
    threads: Count | None = None
    """Threads that step the copies; none chooses by the CPUs at hand."""
    device: Device = "auto"
    """Where networks are trained: auto, cpu, cuda, cuda:N or mps."""
    profile: bool = False
    """Record where the time of each iteration goes."""
    tags: Words = ()
    """Words to find the run by."""
    group: str | None = None
    """Id shared by runs launched together that differ in seed."""
    parent: str | None = None
    """Checkpoint that this run starts from: `RUN:<steps>` beside this run, else the path of its folder."""
    ppo: PPOSpec = PPOSpec()
    """What PPO is told."""
    sac: SACSpec = SACSpec()
    """What SAC is told."""
    td3: TD3Spec = TD3Spec()
    """What TD3 is told."""

    @model_validator(mode="before")
    @classmethod
    def _one_cadence(cls, data: Any) -> Any:
        if isinstance(data, dict):
            freq, every = data.get("checkpoint_freq"), data.get("checkpoint_every_steps")
            if freq is None:
                return {**data, "checkpoint_freq": DEFAULT_CHECKPOINT_FREQ if every is None else None}
        return data

    @property
    def hyperparameters(self) -> PPOSpec | SACSpec | TD3Spec:
        """The block of the algorithm that trains."""
        return self.block(self.algorithm)

    def block(self, algorithm: Algorithm) -> PPOSpec | SACSpec | TD3Spec:
        """The block of one algorithm."""
        blocks: dict[Algorithm, PPOSpec | SACSpec | TD3Spec] = {"ppo": self.ppo, "sac": self.sac, "td3": self.td3}
        return blocks[algorithm]

    @property
    def step_budget(self) -> int:
        """Steps after which the run ends at the latest, or 0 where no number of steps ends it."""
        limits = [limit for limit in (self.total_steps, self.stop_criteria.num_env_steps_sampled_lifetime) if limit]
        return min(limits, default=0)


GROUPS: dict[str, type[Spec]] = {"stop_criteria": StopCriteria, "anomaly_watch": AnomalyWatch}
"""Fields of a run that are objects of fields themselves."""

LAUNCH_FIELDS = tuple(
    name for name in RunSpec.model_fields if name not in RECIPE_FIELDS and name not in ("ppo", "sac", "td3")
)
"""Fields of a run that belong to one launch of it, and that no recipe may set."""
