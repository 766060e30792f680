"""A trainer that trains nothing: writes states, metrics and checkpoints as a real one does, and obeys requests.

What it does is told by the run's spec: `tags` holds words such as `steps=20`, `pause_s=0.02`, `crash`, `deaf`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from workbench.runs.directory import RunDirectory
from workbench.runs.events import EventWriter
from workbench.runs.requests import RequestInbox
from workbench.runs.state import StateFile
from workbench.runs.states import RunState


def main() -> int:
    run = RunDirectory(Path(sys.argv[1]))
    tags = run.record()["spec"]["tags"]
    words = dict(tag.partition("=")[::2] for tag in tags)
    if "import-error" in words:
        raise ModuleNotFoundError("No module named 'torch_of_tomorrow'")
    state = StateFile(run.state_path)
    with EventWriter(run.events_path) as writer:
        state.write(RunState.RUNNING)
        writer.append("state", steps=0, state="running")
        inbox = RequestInbox(run, writer)
        iterations, pause_s = int(words.get("iterations", 5)), float(words.get("pause_s", 0.02))
        ending, reason = RunState.FINISHED, "steps"
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        for iteration in range(1, iterations + 1):
            time.sleep(pause_s)
            state.beat()
            writer.append(
                "metrics",
                steps=100 * iteration,
                wall_s=pause_s * iteration,
                episodes=iteration,
                iteration=iteration,
                values={"rollout/ep_rew_mean": float(iteration)},
            )
            sys.stdout.write(f"iteration {iteration}\n")
            sys.stdout.flush()
            if "crash" in words and iteration == 2:
                raise RuntimeError("loss is not finite")
            requests = [] if "deaf" in words else inbox.take()
            for request in requests:
                inbox.answer(request, ok=request.verb == "stop", reason="" if request.verb == "stop" else "cannot")
            if any(request.verb == "stop" for request in requests):
                ending, reason = RunState.STOPPED, "by hand"
                state.write(RunState.STOPPING)
                break
        name = f"checkpoint_{100 * iteration:012d}"
        (run.path / name).mkdir()
        writer.append("checkpoint", path=name, iteration=iteration)
        writer.append("evaluation", mean_return=12.5, std_return=0.5, checkpoint=name)
        run.set_latest(name)
        run.set_best(name)
        writer.append("state", state=str(ending), reason=reason)
        state.write(ending, reason=reason, exit_code=0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
