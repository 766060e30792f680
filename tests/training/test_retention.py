"""Which checkpoints may go."""

from __future__ import annotations

from pathlib import Path

from workbench.runs import Annotations, RunDirectory
from workbench.training.retention import discard, surplus


def make(folder: Path, *steps: int) -> RunDirectory:
    run = RunDirectory(folder)
    for count in steps:
        (folder / f"checkpoint_{count:012d}").mkdir()
    run.set_latest(f"checkpoint_{steps[-1]:012d}")
    return run


def test_all_are_kept_unless_asked(tmp_path: Path) -> None:
    assert surplus(make(tmp_path, 0, 10, 20, 30), None) == []


def test_untrained_pinned_best_and_the_last_ones_stay(tmp_path: Path) -> None:
    run = make(tmp_path, 0, 10, 20, 30, 40, 50, 60)
    Annotations(pinned=(20,)).write(run.annotations_path)
    run.set_best("checkpoint_000000000010")
    assert [checkpoint.steps for checkpoint in surplus(run, 2)] == [30, 40]


def test_a_discarded_checkpoint_is_gone_for_every_reader(tmp_path: Path) -> None:
    run = make(tmp_path, 0, 10, 20)
    (run.checkpoints()[1].path / "policy.json").write_text("{}")
    discard(run.checkpoints()[1])
    assert [checkpoint.steps for checkpoint in run.checkpoints()] == [0, 20]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == [
        "checkpoint_000000000000",
        "checkpoint_000000000020",
    ]
