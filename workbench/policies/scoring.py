"""Scores of checkpoints on disk, and a process that makes them: `python -m workbench.policies.scoring`.

`evaluation.json` beside a policy holds its scores: those that its run claimed, and those of whoever scored it again.
The process reads a request a line, answers with a line when the scores are written, and ends when its stdin does, so
that it never outlives whoever started it, however that ended. It needs no torch.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.runs.claims import CLAIMED, RESCORED
from workbench.runs.directory import steps_of

if TYPE_CHECKING:
    from workbench.policies.evaluation import Evaluation

FORMAT = 1

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
    from workbench.policies.playing import evaluate

    known = read_claim(checkpoint)
    if known is not None and (known.seed, len(known.returns)) == (seed, episodes):
        return known
    evaluation = evaluate(checkpoint, episodes=episodes, seed=seed, threads=threads)
    write_claim(checkpoint, evaluation)
    return evaluation


def rescore(checkpoint: Path, *, episodes: int, seed: int, request: str = "", threads: int = 1) -> Evaluation:
    """Return new scores of a checkpoint and append them to `evaluation.json`.

    One without scores plays the episodes of which its run would claim; one that has some plays as many that follow
    those, so that nothing is scored on what it was chosen by.

    Args:
        checkpoint: Its folder.
        episodes: How many its run plays.
        seed: The number of the first of those.
        request: Id of the request that this answers, kept with the scores.
        threads: Threads that step a batched environment.

    Raises:
        CheckpointError: The checkpoint is not whole, or does not fit the environment.
        SimulationError: The environment failed.
        OSError: The scores cannot be written.
    """
    from workbench.policies.playing import evaluate

    known = _read(checkpoint)
    if not known:
        return score(checkpoint, episodes=episodes, seed=seed, threads=threads)
    evaluation = evaluate(checkpoint, episodes=episodes, seed=next_seed(known, seed), threads=threads)
    _append(checkpoint, {"kind": RESCORED, "request": request, **_entry(checkpoint, evaluation)})
    return evaluation


def score_afresh(
    checkpoint: Path,
    *,
    episodes: int,
    seed: int,
    threads: int = 1,
    should_stop: Callable[[], bool] = lambda: False,
) -> Evaluation:
    """Return the scores of a checkpoint on given episodes: from `evaluation.json`, or played now and appended there.

    Args:
        checkpoint: Its folder.
        episodes: How many.
        seed: The number of the first, behind those of which its run claimed its scores.
        threads: Threads that step a batched environment.
        should_stop: Asked before every step.

    Raises:
        CheckpointError: The checkpoint is not whole, or does not fit the environment.
        SimulationError: The environment failed.
        StoppedError: Someone asked for an end.
        OSError: The scores cannot be written.
    """
    from workbench.policies.evaluation import Evaluation
    from workbench.policies.playing import evaluate

    for scores in _read(checkpoint):
        with contextlib.suppress(LookupError, TypeError, ValueError):
            known = Evaluation.from_json(scores, checkpoint)
            if scores.get("kind") == RESCORED and (known.seed, known.episodes) == (seed, episodes):
                return known
    evaluation = evaluate(checkpoint, episodes=episodes, seed=seed, threads=threads, should_stop=should_stop)
    _append(checkpoint, {"kind": RESCORED, "request": "", **_entry(checkpoint, evaluation)})
    return evaluation


def next_seed(known: Iterable[Mapping[str, Any]], seed: int) -> int:
    """Return the number of the first episode that no scores are of yet, and none before a run's own."""
    ends = [seed]
    for scores in known:
        with contextlib.suppress(LookupError, TypeError, ValueError):
            ends.append(int(scores["seed"]) + int(scores["episodes"]))
    return max(ends)


def read_claim(checkpoint: Path) -> Evaluation | None:
    """Return the scores that a run gave its checkpoint, or None where there are none that can be read."""
    from workbench.policies.evaluation import Evaluation

    claims = [scores for scores in _read(checkpoint) if scores.get("kind") == CLAIMED]
    with contextlib.suppress(LookupError, TypeError, ValueError):
        return Evaluation.from_json(claims[-1], checkpoint)
    return None


def write_claim(checkpoint: Path, evaluation: Evaluation) -> None:
    """Write the scores that a run gives its checkpoint; those of others stay."""
    with _alone(checkpoint):
        others = [scores for scores in _read(checkpoint) if scores.get("kind") != CLAIMED]
        _write(checkpoint, [{"kind": CLAIMED, **_entry(checkpoint, evaluation)}, *others])


def _append(checkpoint: Path, scores: dict[str, Any]) -> None:
    with _alone(checkpoint):
        _write(checkpoint, [*_read(checkpoint), scores])


def _entry(checkpoint: Path, evaluation: Evaluation) -> dict[str, Any]:
    return {"time": time.time(), "steps": steps_of(checkpoint), **evaluation.to_json()}


def _write(checkpoint: Path, scores: list[dict[str, Any]]) -> None:
    from workbench import durable
    from workbench.policies.checkpoint import EVALUATION_NAME

    # A checkpoint that was deleted meanwhile stays so.
    document = {"format": FORMAT, "evaluations": scores}
    durable.write_json(checkpoint / EVALUATION_NAME, document, makes_folder=False)


@contextlib.contextmanager
def _alone(checkpoint: Path) -> Iterator[None]:
    """Keep everybody else from writing scores of the checkpoint meanwhile: each replaces the whole file."""
    handle = os.open(checkpoint, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _read(checkpoint: Path) -> list[dict[str, Any]]:
    from workbench import durable
    from workbench.policies.checkpoint import EVALUATION_NAME

    listed = durable.read_document(checkpoint / EVALUATION_NAME).get("evaluations")
    return [scores for scores in listed if isinstance(scores, dict)] if isinstance(listed, list) else []


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
        answers.write(json.dumps(_answer(json.loads(requests.get()))) + "\n")
        answers.flush()


def _listen(requests: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        requests.put(line)
    # Nobody waits for what is being played any more.
    os._exit(0)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """Score a checkpoint and return the scores, or why that failed."""
    checkpoint, episodes, seed = Path(request["checkpoint"]), request["episodes"], request["seed"]
    try:
        if request.get("afresh"):
            evaluation = score_afresh(checkpoint, episodes=episodes, seed=seed)
        elif "again" in request:
            evaluation = rescore(checkpoint, episodes=episodes, seed=seed, request=request["again"])
        else:
            evaluation = score(checkpoint, episodes=episodes, seed=seed)
    except WorkbenchError as error:
        return {"ok": False, "reason": str(error)}
    except Exception as error:
        traceback.print_exc()
        return {"ok": False, "reason": f"{type(error).__name__}: {error}"}
    return {"ok": True, "reason": "", "scores": evaluation.to_json()}


if __name__ == "__main__":
    sys.exit(main())
