"""SAC beside that of SBX, which computes with JAX and lives in a virtual environment of its own."""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from pathlib import Path

from workbench.bench.document import load
from workbench.bench.figures import Figure
from workbench.bench.off_policy import LOOP_STEPS, go_on, loop_floor, our_copy
from workbench.bench.turns import ratio, take_turns, torch_threads
from workbench.errors import WorkFailedError
from workbench.runs.machine import usable_cpus
from workbench.training.fast.sac import SAC

NAME = "SAC whole loop, 1 copy, default threads, over SBX"
TARGET = 1.5

LOOP = """
import sys
import gymnasium
from sbx import SAC
from stable_baselines3.common.vec_env import DummyVecEnv

steps = int(sys.argv[1])
env = DummyVecEnv([lambda: gymnasium.make("HalfCheetah-v5")])
model = SAC("MlpPolicy", env, learning_starts=300, buffer_size=20_000, seed=0)
model.learn(400)
for line in sys.stdin:
    model.learn(steps, reset_num_timesteps=False)
    print("done", flush=True)
"""
"""Learns on for some steps whenever it is sent a line, and answers when they are done."""


def measure_sbx(python: Path | None, repeats: int) -> Figure:
    """Compare steps of the whole loop, each with the threads that it takes by itself.

    Args:
        python: Of the virtual environment; None where there is none.
        repeats: Turns of each.

    Raises:
        WorkFailedError: That Python cannot run SBX.
    """
    if python is None:
        return Figure(NAME, TARGET, note="not measured: name the Python of an environment with sbx-rl by --sbx")
    threads = usable_cpus()
    model = SAC("MlpPolicy", our_copy(), learning_starts=300, buffer_size=20_000, seed=0, device="cpu")
    with torch_threads(threads), Rival(python) as rival:
        model.learn(400)
        theirs, ours = take_turns([rival.go_on, go_on(model)], repeats)
        floor = loop_floor("SAC", threads)
    model.get_env().close()  # type: ignore[union-attr]
    return Figure(
        NAME,
        TARGET,
        value=ratio(theirs, ours),
        best=min(theirs) / min(ours),
        ours=LOOP_STEPS / statistics.median(ours),
        theirs=LOOP_STEPS / statistics.median(theirs),
        floor=floor,
        repeats=repeats,
        load=load(),
    )


class Rival:
    """A process that learns with SBX when told; killed where the block ends.

    Args:
        python: What runs it.
    """

    def __init__(self, python: Path) -> None:
        # MuJoCo may leave a log in the folder where it runs.
        self._folder = tempfile.TemporaryDirectory(prefix="workbench-bench-")
        self._words = Path(self._folder.name) / "stderr.txt"
        try:
            with self._words.open("wb") as words:
                self._child = subprocess.Popen(
                    [str(python.absolute()), "-c", LOOP, str(LOOP_STEPS)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=words,
                    text=True,
                    cwd=self._folder.name,
                )
        except OSError as error:
            self._folder.cleanup()
            raise WorkFailedError(f"{python} cannot be started: {error.strerror}.") from error

    def __enter__(self) -> Rival:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.communicate()
        self._folder.cleanup()

    def go_on(self) -> None:
        """Let it take `LOOP_STEPS` steps.

        Raises:
            WorkFailedError: It ended; the message has its last words.
        """
        assert self._child.stdin is not None and self._child.stdout is not None
        try:
            self._child.stdin.write("go\n")
            self._child.stdin.flush()
            while (line := self._child.stdout.readline()) != "done\n":
                if not line:
                    raise BrokenPipeError
        except BrokenPipeError:
            self._child.wait()
            words = self._words.read_text(errors="replace").strip().splitlines()
            raise WorkFailedError(f"SBX does not run there: {words[-1] if words else 'it says nothing'}") from None
