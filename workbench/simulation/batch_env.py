"""The base class of environments: written once over a batch of copies, stepped in C threads.

An author subclasses `BatchEnv` with a frozen configuration and writes methods over `(n, …)` arrays. The loop here has
no Python per copy, but for the copies whose episode ended in that step. Adapters to Gymnasium and Stable-Baselines3
live in modules of their own.
"""

from __future__ import annotations

import os
import typing
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import mujoco
import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from mujoco import batch as mujoco_batch
from numpy.typing import ArrayLike, NDArray

from workbench.errors import RequestError, SimulationError
from workbench.simulation import checks
from workbench.simulation.config import BatchEnvConfig, config_class
from workbench.simulation.episodes import EpisodeStatistics, Floats, StepArrays
from workbench.simulation.guard import Guard, module_path
from workbench.simulation.mjcf import actuator_name, compile_model
from workbench.simulation.noise import Noise
from workbench.simulation.snapshot import OpenBatch, Snapshot, put_back, take
from workbench.simulation.terms.term_set import TermSet

C = TypeVar("C", bound=BatchEnvConfig)
Ids = NDArray[np.intp]

LARGE = 1e300
"""What a sum of squares stays below where no number, no square and no sum of a few of them can overflow."""

TIME_LIMIT = "time_limit"
"""The reason of an episode that reached `episode_steps`."""


class BatchEnv(ABC, Generic[C]):
    """An environment of `n_envs` copies of one model.

    A subclass names its configuration as the type argument (`class AntEnv(BatchEnv[AntEnvConfig])`) and writes `load`,
    `initial_state`, `observe` and `reward_terms`; `setup`, `before_step`, `apply_action`, `measure`, `terminations`,
    `truncations`, `info`, `critic_observe` and the names where it needs them. Derived MuJoCo fields that a method reads
    (`xpos`, `sensordata`, …) are bound in `setup`; like those of `mj_step`, after a step they describe the state before
    its last simulation step.

    Actions outside their bounds are clipped before anything sees them. Every draw at random goes through a `Noise`, so
    that copy i depends on its own seed alone; methods that are called once a step get one from `noise`. A number that
    is not finite in an action, an observation or a reward term is an error that names environment, copy, step and
    term; so is a simulation that blows up, which MuJoCo by itself would reset in silence.

    Args:
        config: The configuration; None for its defaults.
        n_envs: How many copies.
        threads: How many threads step them; 0 for one a CPU. The results are the same bits at any number.
        name: What errors call the environment; its class's name where empty.
    """

    follow_body: ClassVar[str | None] = None
    """The body a camera should follow; None for an environment that stays where it is."""
    successes: ClassVar[tuple[str, ...]] = ()
    """The endings that mean the task was done; empty where the task has no such thing."""

    config: C
    n_envs: int
    name: str
    terms: TermSet
    """Reward terms, endings and goals by name, where `load` made them; see `workbench.simulation.terms`."""
    model: Any
    """The compiled `MjModel`; all copies share it."""
    batch: Any
    """The `mujoco.batch.Batch`; `batch.bind(name)` gives a live array (n, …) of any of its fields."""
    qpos: Floats
    """Positions (n, nq), live."""
    qvel: Floats
    """Velocities (n, nv), live."""
    ctrl: Floats
    """Controls (n, nu), live."""
    elapsed: NDArray[np.int64]
    """The clock of the time limit, in steps (n,), live: set ahead after a reset, it cuts that episode early."""
    lengths: NDArray[np.int64]
    """Steps of the current episode (n,), live."""
    square_sum: float
    """The sum of the squares of all observations that came last."""
    generators: list[np.random.Generator]
    """One a copy; seeded by `reset`."""
    observation_space: Box
    """Of one copy."""
    action_space: Box
    """Of one copy."""
    statistics: EpisodeStatistics
    """What the current episodes gave so far."""
    observation_names: tuple[str, ...]
    critic_names: tuple[str, ...]
    """What a critic sees besides, while a policy is trained."""
    action_names: tuple[str, ...]
    reward_names: tuple[str, ...]
    """The reward terms, in order."""
    info_names: tuple[str, ...]
    """Every info."""
    termination_names: tuple[str, ...]
    truncation_names: tuple[str, ...]
    """Every cut, `time_limit` among them where there is one."""

    def __init__(self, config: C | None = None, *, n_envs: int = 1, threads: int = 0, name: str = "") -> None:
        if n_envs < 1:
            raise RequestError(f"an environment has at least one copy, and {n_envs} were asked for.")
        self.config = typing.cast(C, config_class(type(self))() if config is None else config)
        self.n_envs = n_envs
        self.name = name or type(self).__name__
        self._all = np.arange(n_envs)
        self._views: dict[int, Any] = {}
        self._reward_weights: Floats | None = None
        self._with_critic = False
        with Guard(self):
            self.model = compile_model(self.load(), module_path(type(self)))
            # A state that is no longer finite must reach the checks below instead of being replaced in silence.
            self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
            self.batch = OpenBatch(self.model, n_envs, min(threads or _cpus(), n_envs))
            self.qpos, self.qvel, self.ctrl = (self.batch.bind(field) for field in ("qpos", "qvel", "ctrl"))
            self._clocks = np.zeros((2, n_envs), dtype=np.int64)
            self.elapsed, self.lengths = self._clocks
            self.generators = []
            made = getattr(self, "terms", None)
            self._terms = made if isinstance(made, TermSet) else None
            if self._terms is not None:
                self._terms.bind(self)
            self.setup()
            self.batch.reset()
            self._open_spaces()

    # ---- what an author writes

    @abstractmethod
    def load(self) -> Any:
        """Return the model: a file name (see `find_asset`), a `Path`, an `MjSpec` or an `MjModel`."""

    def setup(self) -> None:
        """Bind fields and allocate arrays; called once, when model and batch exist."""

    @abstractmethod
    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Return positions (k, nq) and velocities (k, nv) of the copies `noise.ids`, whose episodes begin."""

    @abstractmethod
    def observe(self) -> NDArray[Any]:
        """Return the observations (n, o): a function of the state alone, for it is also asked after restarts."""

    def critic_observe(self) -> NDArray[Any]:
        """Return what only a critic may see (n, c), like `observe`: no policy, checkpoint or export ever reads it.

        A number whose name is among those of the observations is left out: the critic has it from there.
        """
        return np.zeros((self.n_envs, 0))

    @abstractmethod
    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Return each reward term (n,) by name; `actions` (n, a) are as taken, within their bounds."""

    def terminations(self) -> Mapping[str, NDArray[np.bool_]]:
        """Return for each way an episode ends by itself which copies (n,) meet it; the first named wins."""
        return {}

    def truncations(self) -> Mapping[str, NDArray[np.bool_]]:
        """Return for each way an episode is cut, but for the time limit, which copies (n,) meet it."""
        return {}

    def info(self) -> Mapping[str, NDArray[Any]]:
        """Return further facts (n, …) by name; those (n,) are summed into the episode's statistics."""
        return {}

    def before_step(self) -> None:
        """Keep what `reward_terms` compares with; called before each step, with the state still the old one."""

    def measure(self) -> None:
        """Compute what several of the other methods read; called whenever the state has changed."""

    def apply_action(self, actions: NDArray[Any]) -> None:
        """Write the controls for `actions` (n, a): mapped from the action's bounds onto the control's range."""
        self.ctrl[:] = actions if self._ctrl_map is None else self._ctrl_map[0] + actions * self._ctrl_map[1]

    def action_bounds(self) -> tuple[ArrayLike, ArrayLike]:
        """Return the lowest and highest action (a,): the control ranges of the model."""
        if not self.model.actuator_ctrllimited.all():
            free = int(np.flatnonzero(self.model.actuator_ctrllimited == 0)[0])
            raise SimulationError(
                f"actuator {actuator_name(self.model, free)} has no ctrlrange.",
                hint="Give it one, or write `action_bounds` and `apply_action`.",
            )
        return self.model.actuator_ctrlrange[:, 0], self.model.actuator_ctrlrange[:, 1]

    def name_observations(self) -> Sequence[str]:
        """Return a name for each number of an observation; empty for numbered ones."""
        return ()

    def name_critic_observations(self) -> Sequence[str]:
        """Return a name for each number of `critic_observe`; empty for numbered ones."""
        return ()

    def name_actions(self) -> Sequence[str]:
        """Return a name for each number of an action: the actuators' own, else their joints'."""
        return [actuator_name(self.model, index) for index in range(self.model.nu)]

    # ---- what others use

    @property
    def control_dt(self) -> float:
        """Seconds in one step."""
        return float(self.model.opt.timestep) * self.config.frame_skip

    @property
    def control_hz(self) -> float:
        """Steps in one second."""
        return 1.0 / self.control_dt

    @property
    def simulation_hz(self) -> float:
        """Simulation steps in one second."""
        return 1.0 / float(self.model.opt.timestep)

    @property
    def episode_steps(self) -> int:
        """Steps of the time limit; 0 where there is none."""
        return self.config.episode_steps

    def reset(self, seed: int | Sequence[int | None] | None = None, ids: Sequence[int] | Ids | None = None) -> Floats:
        """Begin a new episode in the copies `ids` (all of them by default) and return all observations (n, o).

        Args:
            seed: An int seeds copy i with `seed + i`, as Gymnasium's vector environments do; a sequence gives each of
                `ids` its own. Without one the generators go on, and are seeded by the system at first.
            ids: The copies; the others stay where they are.
        """
        self._require_open()
        chosen = self._all if ids is None else np.asarray(ids, dtype=np.intp)
        self._seed(seed, chosen)
        with Guard(self):
            self._restart(chosen)
        return self._observations

    def add_critic_observations(self) -> None:
        """From the next reset on, let observations go on with what only a critic may see (n, o + c).

        `observation_space` and `observation_names` stay those of the policy.
        """
        self._with_critic = True
        self._observations = np.zeros((self.n_envs, len(self.observation_names) + len(self.critic_names)))

    def step_arrays(self, actions: NDArray[Any]) -> StepArrays:
        """Step all copies with `actions` (n, a); those whose episode ends begin the next one in the same step."""
        result = self.advance(actions)
        if len(result.ended):
            with Guard(self):
                self._restart(result.ended)
            result.observations[result.ended] = self._observations[result.ended]
        return result

    def advance(self, actions: NDArray[Any]) -> StepArrays:
        """Step all copies and begin no new episode: copies that ended wait for `reset`."""
        self._require_open()
        if not self.generators:
            raise SimulationError(f"{self.name} was stepped before its first reset.")
        with Guard(self):
            return self._advance(checks.take_actions(self, actions))

    def noise(self) -> Noise:
        """Return draws for all copies, for randomness within an episode: ask in methods that are called once a step."""
        return Noise(self.generators, self._all)

    def data(self, copy: int = 0) -> Any:
        """Return copy `copy` as an `MjData` with every derived field current, for a viewer.

        The same object comes back at every call for that copy; stepping it changes nothing here.
        """
        self._require_open()
        view = self._views[copy] = self.batch.get_data(copy, self._views.get(copy))
        mujoco.mj_forward(self.model, view)
        return view

    def returns(self) -> Floats:
        """Return the reward gathered so far in each current episode (n,)."""
        return self.statistics.returns()

    @property
    def reward_weights(self) -> dict[str, float]:
        """What each reward term counts in the reward; 1 each unless `weigh` said otherwise."""
        weights = np.ones(len(self.reward_names)) if self._reward_weights is None else self._reward_weights[:, 0]
        return dict(zip(self.reward_names, weights.tolist(), strict=True))

    def weigh(self, weights: Mapping[str, float]) -> None:
        """Let reward terms count more or less in the reward from the next step on; the others stay as they are.

        The terms themselves are told as the author gives them. Part of a snapshot.

        Raises:
            RequestError: There is no such term, or a weight is not a finite number of at least 0.
        """
        wanted = self.reward_weights
        for name, weight in weights.items():
            if name not in wanted:
                raise RequestError(f"{self.name} has no reward term {name}; there are {', '.join(wanted)}.")
            if not 0 <= weight < np.inf:
                raise RequestError(f"the weight of the reward term {name} is a number of at least 0, not {weight:g}.")
            wanted[name] = float(weight)
        column = np.array(list(wanted.values()))[:, None]
        self._reward_weights = None if (column == 1.0).all() else column

    def snapshot(self) -> Snapshot:
        """Return the state of all copies as plain data, with which `restore` makes them go on as if never interrupted.

        What an author adds is part of it where it is kept in attributes of the environment: arrays, numbers, strings,
        lists and dicts of them.
        """
        self._require_open()
        return take(self)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Make all copies what they were when `snapshot` was called on an environment that is configured the same.

        Raises:
            SimulationError: It is not the state of such an environment.
        """
        self._require_open()
        put_back(self, state)

    def close(self) -> None:
        """Let the simulations go; may be called twice."""
        self._views.clear()
        self.batch = None

    # ---- the loop

    def _require_open(self) -> None:
        if self.batch is None:
            raise SimulationError(f"{self.name} is closed.")

    def _advance(self, actions: NDArray[Any]) -> StepArrays:
        self.before_step()
        self.apply_action(actions)
        try:
            self.batch.step(nstep=self.config.frame_skip)
        except mujoco_batch.SimulationError as error:
            copy = int(error.ids[0])
            raise SimulationError(f"{self._where(copy)}: MuJoCo says: {self.batch.error(copy)}") from error
        self._clocks += 1
        if self._terms is not None:
            self._terms.advance(actions)
        self.measure()
        # Terms, their sum, infos.
        values = np.zeros((self._rows, self.n_envs))
        k = len(self.reward_names)
        checks.fill(self, values, 0, self.reward_names, self.reward_terms(actions))
        told = self.info()
        checks.fill(self, values, k + 1, self._summed, told)
        weights = self._reward_weights
        if weights is None and np.vdot(values, values) < LARGE:
            np.add.reduce(values[:k], axis=0, out=values[k])
            self.statistics.add(values)
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                np.add.reduce(values[:k] if weights is None else values[:k] * weights, axis=0, out=values[k])
                if not np.isfinite(values[k]).all():
                    checks.refuse_reward(self, values[: k + 1])
                self.statistics.add(values)
        observations = self._look()
        terminated, truncated, flags = self._endings()
        ended = (terminated | truncated).nonzero()[0]
        return StepArrays(
            observations=observations,
            rewards=values[k],
            terminated=terminated,
            truncated=truncated,
            reward_terms=dict(zip(self.reward_names, values, strict=False)),
            infos={name: np.array(told[name]) for name in self.info_names},
            ended=ended,
            final_observations=observations[ended],
            episodes=[self._record(int(copy), flags) for copy in ended],
        )

    def _restart(self, ids: Ids) -> None:
        # The state of a copy is what `mj_resetData` and then Gymnasium's `set_state` would leave.
        self.batch.reset(ids, stage=mujoco.mjtStage.mjSTAGE_NONE)
        noise = Noise(self.generators, ids)
        if self._terms is not None:
            self._terms.begin(noise)
        qpos, qvel = self.initial_state(noise)
        self.qpos[ids] = qpos
        self.qvel[ids] = qvel
        self.batch.forward(ids)
        self.measure()
        self.elapsed[ids] = 0
        self.lengths[ids] = 0
        self.statistics.clear(ids)
        self._observations = self._look()

    def _look(self) -> Floats:
        seen = self.observe()
        if self._with_critic:
            seen = np.concatenate([seen, self.critic_observe()[:, self._critic_columns]], axis=1)
        return checks.take_observations(self, seen, self._observations.shape)

    def _endings(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], dict[str, NDArray[np.bool_]]]:
        ways = self.terminations()
        cuts = dict(self.truncations())
        if self.config.episode_steps:
            cuts[TIME_LIMIT] = self.elapsed >= self.config.episode_steps
        terminated = np.zeros(self.n_envs, dtype=bool)
        for flag in ways.values():
            terminated |= flag
        truncated = np.zeros(self.n_envs, dtype=bool)
        for flag in cuts.values():
            truncated |= flag
        if ways:
            truncated &= ~terminated
        return terminated, truncated, {**ways, **cuts}

    def _record(self, copy: int, flags: Mapping[str, NDArray[np.bool_]]) -> Any:
        reason = next(name for name, flag in flags.items() if flag[copy])
        return self.statistics.record(
            copy,
            length=int(self.lengths[copy]),
            terminated=reason in self.termination_names,
            reason=reason,
            success=reason in self.successes if self.successes else None,
        )

    def _seed(self, seed: int | Sequence[int | None] | None, ids: Ids) -> None:
        if not self.generators:
            self.generators = [seeding.np_random()[0] for _ in range(self.n_envs)]
        if seed is None:
            return
        given = [seed + int(copy) for copy in ids] if isinstance(seed, int | np.integer) else list(seed)
        if len(given) != len(ids):
            raise RequestError(f"{self.name} was given {len(given)} seeds for {len(ids)} copies.")
        for copy, one in zip(ids, given, strict=True):
            if one is not None and one < 0:
                raise RequestError(f"a seed is a whole number from 0 on, and {one} is not.")
            if one is not None:
                self.generators[copy] = seeding.np_random(int(one))[0]

    # ---- spaces

    def _open_spaces(self) -> None:
        """Learn the spaces and the names from one look at the model's default state."""
        low, high = (np.asarray(bound, dtype=np.float32).reshape(-1) for bound in self.action_bounds())
        self.action_space = Box(low, high, dtype=np.float32)
        self._ctrl_map = checks.map_controls(self)
        self.action_names = checks.take_names(self, "name_actions", self.name_actions(), len(low), "action")
        with np.errstate(all="ignore"):
            self.measure()
            self.before_step()
            seen, privileged = np.asarray(self.observe()), np.asarray(self.critic_observe())
            told = {name: np.asarray(value) for name, value in self.info().items()}
            self.reward_names = tuple(self.reward_terms(np.zeros((self.n_envs, len(low)), np.float32)))
            self.termination_names = tuple(self.terminations())
            cuts = tuple(self.truncations())
        for hook, array in (("observe", seen), ("critic_observe", privileged)):
            if array.ndim != 2 or len(array) != self.n_envs:
                raise SimulationError(f"{self.name}: {hook} gave {array.shape} where ({self.n_envs}, o) is due.")
        self.truncation_names = (*cuts, *([TIME_LIMIT] if self.config.episode_steps else []))
        self.observation_space = Box(-np.inf, np.inf, (seen.shape[1],), np.float64)
        size, given = seen.shape[1], self.name_observations()
        self.observation_names = checks.take_names(self, "name_observations", given, size, "observation")
        size, given = privileged.shape[1], self.name_critic_observations()
        names = checks.take_names(self, "name_critic_observations", given, size, "privileged")
        self._critic_columns = [index for index, name in enumerate(names) if name not in self.observation_names]
        self.critic_names = tuple(names[index] for index in self._critic_columns)
        self.info_names = tuple(told)
        self._summed = tuple(
            name for name, value in told.items() if value.shape == (self.n_envs,) and value.dtype.kind in "biuf"
        )
        self._rows = len(self.reward_names) + 1 + len(self._summed)
        self.statistics = EpisodeStatistics(self.n_envs, self.reward_names, self._summed)
        self._observations = np.zeros(seen.shape)

    def _where(self, copy: int) -> str:
        return f"{self.name}, copy {copy}, step {self.lengths[copy]}"


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
