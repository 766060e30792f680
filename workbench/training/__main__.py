"""`python -m workbench.training RUN_DIR` trains the run in that folder to its end.

Threads are set before any numeric library is loaded. Ends with 0 where the run finished or was asked to stop, 1
where it failed, 2 where the folder holds no run.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from workbench.errors import RequestError
from workbench.runs import RunDirectory, RunState
from workbench.training.log import RunLog
from workbench.training.requests import StopSignal

# One thread each for the libraries below torch and NumPy: the simulator brings its own, and a spinning thread of
# theirs would take a core from it. The short spin helps where torch is told to use more.
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "GOMP_SPINCOUNT": "10000"}


def main(arguments: list[str] | None = None) -> int:
    """Train and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m workbench.training", description="Train one run to its end.")
    parser.add_argument("run_dir", type=Path, metavar="RUN_DIR", help="a run directory with its run.json")
    run = RunDirectory(parser.parse_args(arguments).run_dir.resolve())
    if not run.is_run():
        parser.error(f"{run.path} holds no run.json")
    for name, value in THREADS.items():
        os.environ.setdefault(name, value)
    # Watching before torch is loaded, which takes seconds: a stop meanwhile counts too.
    with StopSignal().watching() as stop, RunLog(run.log_path, echo=sys.stdout) as log:
        from workbench.simulation.graphics_choice import require_mujoco_loads

        try:
            require_mujoco_loads()
        except RequestError as error:
            log.say(str(error))
            return 1
        from workbench.training.cpus import cpus
        from workbench.training.session import Session

        result = Session(run, log, stop, evaluates_apart=cpus() > 1).run()
    return 1 if result.state is RunState.FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
