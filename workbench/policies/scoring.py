"""Scores of checkpoints on disk, and a process that makes them: `python -m workbench.policies.scoring`.

`evaluation.json` beside a policy holds its scores: those that its run claimed, and those of whoever scored it again.
The process reads a request a line, answers with a line when the scores are written, and ends when its stdin does, so
that it never outlives whoever started it, however that ended. It needs no torch.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.policies.evaluation import Evaluation

FORMAT = 1
CLAIMED = "claimed"
"""The kind of scores that a run gave its own checkpoint."""

NICE = 10
"""How far the process stands back behind training."""

# One thread each for the libraries below NumPy: a spinning thread of theirs would take a core from the training.
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def score(checkpoint: Path, *, episodes: int, seed: int, threads: int = 1) -> Evaluation:
    """Return what a run claims of its checkpoint: from `evaluation.json`, or played now and written there.

    Args:
        checkpoint: Its folder.
        episodes: How many.
        seed: The number of the first.
        threads: Threads that step a batched environment.

    Raises:
        CheckpointError: The checkpoint is not whole, or does not fit the environment.
        SimulationError: The environment failed.
        OSError: The scores cannot be written.
    """
    from workbench.policies.evaluation import evaluate

    known = read_claim(checkpoint)
    if known is not None and (known.seed, len(known.returns)) == (seed, episodes):
        return known
    evaluation = evaluate(checkpoint, episodes=episodes, seed=seed, threads=threads)
    write_claim(checkpoint, evaluation)
    return evaluation


def read_claim(checkpoint: Path) -> Evaluation | None:
    """Return the scores that a run gave its checkpoint, or None where there are none that can be read."""
    from workbench.policies.evaluation import Evaluation

    claims = [scores for scores in _read(checkpoint) if scores.get("kind") == CLAIMED]
    with contextlib.suppress(LookupError, TypeError, ValueError):
        return Evaluation.from_json(claims[-1], checkpoint)
    return None


def write_claim(checkpoint: Path, evaluation: Evaluation) -> None:
    """Write the scores that a run gives its checkpoint; those of others stay."""
    from workbench import durable
    from workbench.policies.checkpoint import EVALUATION_NAME

    claim = {"kind": CLAIMED, "time": time.time(), "steps": _steps(checkpoint), **evaluation.to_json()}
    others = [scores for scores in _read(checkpoint) if scores.get("kind") != CLAIMED]
    document = {"format": FORMAT, "evaluations": [claim, *others]}
    # A checkpoint that was deleted meanwhile stays so.
    durable.write_json(checkpoint / EVALUATION_NAME, document, makes_folder=False)


def _read(checkpoint: Path) -> list[dict[str, Any]]:
    from workbench import durable
    from workbench.policies.checkpoint import EVALUATION_NAME

    listed = durable.read_document(checkpoint / EVALUATION_NAME).get("evaluations")
    return [scores for scores in listed if isinstance(scores, dict)] if isinstance(listed, list) else []


def _steps(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("_")[2])


def main() -> int:
    """Answer requests until stdin ends."""
    for name, value in THREADS.items():
        os.environ.setdefault(name, value)
    with contextlib.suppress(OSError):
        os.nice(NICE)
    # Ctrl-C in a terminal reaches this process too; it is for whoever started it to act on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What an environment prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    while True:
        reason = _answer(json.loads(requests.get()))
        answers.write(json.dumps({"ok": reason is None, "reason": reason or ""}) + "\n")
        answers.flush()


def _listen(requests: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        requests.put(line)
    # Nobody waits for what is being played any more.
    os._exit(0)


def _answer(request: dict[str, Any]) -> str | None:
    """Score a checkpoint and return why that failed, if it did."""
    try:
        score(Path(request["checkpoint"]), episodes=request["episodes"], seed=request["seed"])
    except WorkbenchError as error:
        return str(error)
    except Exception as error:
        traceback.print_exc()
        return f"{type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    sys.exit(main())
