"""The speed of one environment with so many copies on so many threads, measured in this process.

`python -m workbench.bench.probe` reads one configuration as JSON on stdin and writes what it measured as the last
line of stdout. A process of its own, so that memory is that of this configuration alone. Loads no torch.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import psutil
from numpy.typing import NDArray

from workbench.errors import WorkbenchError
from workbench.simulation import BatchEnv, EnvSource, load_class, make_batch, make_vector

if TYPE_CHECKING:
    from workbench.bench.rivals import Kind, Stepped

STEPS = 32
"""Steps between two looks at the clock; drawing actions and setting states happens between them, off the clock."""
WARM_UP = 0.2
"""Share of a repeat's time that is stepped before anything counts."""

Clock = Callable[[], float]


class Subject(Protocol):
    """What is measured."""

    def warm_up(self) -> None:
        """Take `STEPS` steps that count for nothing."""
        ...

    def turn(self, clock: Clock) -> tuple[float, float | None]:
        """Take `STEPS` steps and return the seconds, and those of the bare simulation for the same steps."""
        ...


def measure(
    source: EnvSource,
    copies: int,
    threads: int,
    *,
    min_time_s: float,
    repeats: int,
    against: Sequence[Kind] = (),
    clock: Clock = time.perf_counter,
) -> dict[str, Any]:
    """Return the speed of an environment.

    Args:
        source: The environment.
        copies: How many step together.
        threads: How many threads step them; plain Gymnasium environments have one.
        min_time_s: Seconds of stepping in a repeat, at least.
        repeats: How many speeds the medians are taken of.
        against: Vector environments of others that step as many copies of the same task, in turns with it.
        clock: What tells the seconds.

    Raises:
        WorkbenchError: It cannot be made, or fails while it is stepped.
    """
    if source.module is not None:
        load_class(source)
    gc.collect()
    before_bytes = psutil.Process().memory_info().rss
    started = clock()
    env = make_batch(source, copies, threads)
    subject: Batched | Plain = Plain(source, copies) if env is None else Batched(env)
    init_s = clock() - started
    subject.warm_up()
    # Before the bare simulation is made, which is not the environment's.
    memory_bytes = max(0, psutil.Process().memory_info().rss - before_bytes)
    rivals = _rivals(source, copies, against)
    _repeat(subject, WARM_UP * min_time_s, clock)
    for rival in rivals.values():
        _repeat(rival, WARM_UP * min_time_s, clock)
    turns, theirs = [], []
    for _ in range(repeats):
        turns.append(_repeat(subject, min_time_s, clock))
        theirs.append({kind: _speed(_repeat(rival, min_time_s, clock), copies) for kind, rival in rivals.items()})
    speeds = [_speed(turn, copies) for turn in turns]
    shares = [bare / own for _, own, bare in turns if bare is not None]
    speed = statistics.median(speeds)
    skip = subject.frame_skip
    measured: dict[str, Any] = {
        "control_steps_per_s": speed,
        "simulation_steps_per_s": None if skip is None else speed * skip,
        "bare_share": statistics.median(shares) if shares else None,
        "spread": (max(speeds) - min(speeds)) / speed,
        "init_s": init_s,
        "memory_bytes": memory_bytes,
        "threads": subject.threads,
        "steps": sum(steps for steps, _, _ in turns) * copies,
    }
    subject.close()
    if against:
        measured["against"] = [_beside(kind, source, speeds, [turn.get(kind) for turn in theirs]) for kind in against]
    for rival in rivals.values():
        rival.close()
    return measured


def _rivals(source: EnvSource, copies: int, kinds: Sequence[Kind]) -> dict[Kind, Others]:
    """Return what is measured beside it; too many processes are not."""
    from workbench.bench.rivals import MOST_PROCESSES, Stepped, rival_of

    in_processes = ("Gymnasium Async", "SB3 Subproc")
    chosen = [kind for kind in kinds if copies <= MOST_PROCESSES or kind not in in_processes]
    return {kind: Others(Stepped(rival_of(source), kind, copies)) for kind in chosen}


def _beside(kind: Kind, source: EnvSource, ours: Sequence[float], theirs: Sequence[float | None]) -> dict[str, Any]:
    from workbench.bench.rivals import rival_of

    known = [speed for speed in theirs if speed is not None]
    ratios = [one / other for one, other in zip(ours, known, strict=False)]
    return {
        "kind": kind,
        "environment": rival_of(source).name,
        "control_steps_per_s": statistics.median(known) if known else None,
        "ratio": statistics.median(ratios) if ratios else None,
        "note": "" if known else "left out: a process a copy would be too many",
    }


def _speed(turn: tuple[int, float, float | None], copies: int) -> float:
    steps, seconds, _ = turn
    return copies * steps / seconds


def _repeat(subject: Subject, seconds: float, clock: Clock) -> tuple[int, float, float | None]:
    """Return steps, seconds and the bare simulation's seconds of turns that last so long together."""
    steps, own, bare = 0, 0.0, 0.0
    has_bare = False
    while True:
        mine, other = subject.turn(clock)
        steps, own = steps + STEPS, own + mine
        if other is not None:
            bare, has_bare = bare + other, True
        if own >= seconds:
            return steps, own, bare if has_bare else None


class Batched:
    """A batched environment, beside a bare batch that repeats each turn from the same states with the same controls.

    Args:
        env: All copies.
    """

    def __init__(self, env: BatchEnv[Any]) -> None:
        self._env = env
        env.reset(seed=0)
        # Copies in step with each other would all restart in the same turn.
        if env.episode_steps:
            env.elapsed[:] = np.linspace(0, env.episode_steps, env.n_envs, endpoint=False, dtype=np.int64)
        self._random = np.random.default_rng(0)
        self._bare: Any = None
        self.frame_skip: int | None = env.config.frame_skip
        self.threads = int(env.batch.nthread)

    def warm_up(self) -> None:
        """Take `STEPS` steps with actions at random."""
        self._drive(self._draw())

    def turn(self, clock: Clock) -> tuple[float, float | None]:
        """Take `STEPS` steps with actions at random, and the same ones bare."""
        actions, state = self._draw(), np.array(self._env.batch.state)
        started = clock()
        self._drive(actions)
        own = clock() - started
        controls = self._controls(actions)
        if self._bare is None:
            from mujoco import batch

            self._bare = batch.Batch(self._env.model, self._env.n_envs, self.threads)
        bare, ctrl, skip = self._bare, self._bare.bind("ctrl"), self._env.config.frame_skip
        bare.state[:] = state
        started = clock()
        for step in range(STEPS):
            ctrl[:] = controls[step]
            bare.step(nstep=skip)
        return own, clock() - started

    def _draw(self) -> NDArray[np.float32]:
        return draw_actions(self._random, self._env.action_space, (STEPS, self._env.n_envs))

    def _drive(self, actions: NDArray[np.float32]) -> None:
        step_arrays = self._env.step_arrays
        for step in range(STEPS):
            step_arrays(actions[step])

    def _controls(self, actions: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return what actions mean as controls, leaving those of the environment as they are."""
        env = self._env
        kept, controls = np.array(env.ctrl), np.empty((STEPS, *env.ctrl.shape))
        for step in range(STEPS):
            env.apply_action(actions[step])
            controls[step] = env.ctrl
        env.ctrl[:] = kept
        return controls

    def close(self) -> None:
        """Let the simulations go."""
        self._env.close()


class Plain:
    """Plain Gymnasium environments, stepped one after another.

    Args:
        source: The environment.
        copies: How many.
    """

    threads = 1

    def __init__(self, source: EnvSource, copies: int) -> None:
        self._env = make_vector(source, copies)
        self._env.reset(seed=0)
        self._random = np.random.default_rng(0)
        first = getattr(self._env, "envs", [None])[0]
        skip = None if first is None else getattr(first.unwrapped, "frame_skip", None)
        self.frame_skip: int | None = skip if isinstance(skip, int) else None
        self._env.action_space.seed(0)

    def warm_up(self) -> None:
        """Take `STEPS` steps with actions at random."""
        self.turn(time.perf_counter)

    def turn(self, clock: Clock) -> tuple[float, float | None]:
        """Take `STEPS` steps with actions at random."""
        actions = [self._env.action_space.sample() for _ in range(STEPS)]
        started = clock()
        for action in actions:
            self._env.step(action)
        return clock() - started, None

    def close(self) -> None:
        """Let the environments go."""
        self._env.close()


class Others:
    """Copies under a vector environment of others.

    Args:
        stepped: The copies.
    """

    def __init__(self, stepped: Stepped) -> None:
        self._stepped = stepped

    def warm_up(self) -> None:
        """Take `STEPS` steps with actions at random."""
        self.turn(time.perf_counter)

    def turn(self, clock: Clock) -> tuple[float, float | None]:
        """Take `STEPS` steps with actions at random."""
        actions = self._stepped.draw(STEPS)
        started = clock()
        self._stepped.drive(actions)
        return clock() - started, None

    def close(self) -> None:
        """Let the copies go."""
        self._stepped.close()


def draw_actions(random: np.random.Generator, space: Any, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return actions (*shape, a) spread evenly over a space; where it has no bounds, over -1 to 1."""
    low, high = (np.where(np.isfinite(bound), bound, one) for bound, one in ((space.low, -1.0), (space.high, 1.0)))
    drawn: NDArray[np.float32] = random.uniform(low, high, (*shape, *space.shape)).astype(np.float32)
    return drawn


def main() -> int:
    """Measure what stdin asks for; a failure is an answer too."""
    asked: Mapping[str, Any] = json.load(sys.stdin)
    answer: dict[str, Any]
    try:
        source = EnvSource.from_json(asked["source"])
        answer = measure(
            source,
            asked["copies"],
            asked["threads"],
            min_time_s=asked["min_time_s"],
            repeats=asked["repeats"],
            against=asked.get("against", ()),
        )
    except WorkbenchError as error:
        answer = {"error": str(error)}
    sys.stdout.write(f"\n{json.dumps(answer)}\n")
    return 1 if "error" in answer else 0


if __name__ == "__main__":
    sys.exit(main())
