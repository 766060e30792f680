import multiprocessing
import shutil
from pathlib import Path
from typing import Any

import pytest

from workbench.errors import RequestError
from workbench.runs.annotations import pin_checkpoint
from workbench.runs.directory import RunDirectory
from workbench.runs.pruning import discard, plan_pruning, prune
from workbench.runs.state import StateFile
from workbench.runs.states import RunState

SIZE = 1000


def make(root: Path, state: RunState = RunState.FINISHED, *, count: int = 10, **record: Any) -> RunDirectory:
    run = RunDirectory.create(root, "ppo", "ant", files={"run.json": {"spec": {"algorithm": "ppo"}, **record}})
    for steps in range(0, 100 * count + 1, 100):
        write(run, steps)
    run.set_latest(f"checkpoint_{100 * count:012d}")
    StateFile(run.state_path).write(state)
    return run


def write(run: RunDirectory, steps: int) -> None:
    folder = run.path / f"checkpoint_{steps:012d}"
    folder.mkdir()
    (folder / "policy.safetensors").write_bytes(b"w" * SIZE)


def left(run: RunDirectory) -> list[int]:
    return [item.steps for item in run.checkpoints()]


def test_what_is_special_stays_and_the_rest_goes(tmp_path: Path) -> None:
    run = make(tmp_path)
    run.set_best("checkpoint_000000000400")
    pin_checkpoint(run, 700)
    plan = plan_pruning(run)
    assert [item.steps for item in plan.goes] == [100, 200, 300, 500, 600, 800, 900]
    assert [(item.steps, why) for item, why in plan.stays] == [
        (0, "where it began"), (400, "best"), (700, "pinned"), (1000, "latest")
    ]  # fmt: skip
    assert plan.frees == 7 * SIZE
    assert left(run) == list(range(0, 1001, 100))
    done = prune(plan)
    assert (done.freed, len(done.gone), done.spared, done.failed) == (7 * SIZE, 7, (), ())
    assert left(run) == [0, 400, 700, 1000]
    assert sorted(path.name for path in run.path.iterdir() if "gone" in path.name) == []
    assert prune(plan_pruning(run)).freed == 0


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"keep": 3}, [0, 800, 900, 1000]),
        ({"keep": 1}, [0, 1000]),
        ({"keep": 99}, list(range(0, 1001, 100))),
        ({"every": 4}, [0, 400, 800, 1000]),
        ({"every": 1}, list(range(0, 1001, 100))),
        ({"every": 5, "keep": 2}, [0, 500, 900, 1000]),
    ],
)
def test_the_newest_or_every_so_many_th_stay_if_asked(
    tmp_path: Path, options: dict[str, int], expected: list[int]
) -> None:
    run = make(tmp_path)
    prune(plan_pruning(run, **options))
    assert left(run) == expected


def test_numbers_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    run = make(tmp_path)
    with pytest.raises(RequestError, match="0 or more, not -1"):
        plan_pruning(run, keep=-1)
    with pytest.raises(RequestError, match="every 0th"):
        plan_pruning(run, every=0)


def test_a_live_run_keeps_what_may_be_being_scored(tmp_path: Path) -> None:
    run = make(tmp_path, RunState.RUNNING)
    # Nothing scored yet: any may be the one.
    assert plan_pruning(run).goes == ()
    for steps in (300, 600):
        (run.path / f"checkpoint_{steps:012d}" / "evaluation.json").write_text("{}")
    assert [item.steps for item in plan_pruning(run).goes] == [100, 200, 300, 400, 500]
    StateFile(run.state_path).write(RunState.STOPPED)
    assert [item.steps for item in plan_pruning(run).goes] == list(range(100, 1000, 100))


def test_a_live_run_without_evaluations_keeps_its_newest_though_the_pointer_lags(tmp_path: Path) -> None:
    run = make(tmp_path, RunState.RUNNING, spec={"eval_every": 0})
    write(run, 1100)
    assert [item.steps for item in plan_pruning(run).goes] == list(range(100, 1000, 100))
    (run.path / "latest").unlink()
    prune(plan_pruning(run))
    assert left(run) == [0, 1100]


def test_where_a_fork_began_and_what_another_is_to_begin_from_stays(tmp_path: Path) -> None:
    run = make(tmp_path)

    def fork(checkpoint: str, *, begun: bool) -> RunDirectory:
        steps = int(checkpoint.rpartition("_")[2])
        parent = {"reference": f"{run.name}:{steps}", "run": run.name, "checkpoint": checkpoint, "steps": steps}
        made = RunDirectory.create(tmp_path, "ppo", "ant", files={"run.json": {"spec": {}, "parent": parent}})
        if begun:
            write(made, steps)
            write(made, steps + 50)
            write(made, steps + 90)
        return made

    heir = fork("checkpoint_000000000300", begun=False)
    begun = fork("checkpoint_000000000500", begun=True)
    stays = {item.steps: why for item, why in plan_pruning(run).stays}
    assert stays == {0: "where it began", 300: f"{heir.short_id} begins from it", 1000: "latest"}
    assert [item.steps for item in plan_pruning(begun).goes] == [550]


def test_what_became_best_or_pinned_since_is_spared_and_what_is_gone_is_no_error(tmp_path: Path) -> None:
    run = make(tmp_path, count=5)
    plan = plan_pruning(run)
    run.set_best("checkpoint_000000000200")
    pin_checkpoint(run, 300)
    discard(run.checkpoints()[1])
    done = prune(plan)
    assert [(item.steps, why) for item, why in done.spared] == [(200, "best"), (300, "pinned")]
    assert ([item.steps for item in done.gone], done.freed, done.failed) == ([400], SIZE, ())


def test_a_run_that_vanishes_is_no_error(tmp_path: Path) -> None:
    run = make(tmp_path)
    plan = plan_pruning(run)
    shutil.rmtree(run.path)
    done = prune(plan)
    assert (done.gone, done.freed, done.failed) == ((), 0, ())
    assert plan_pruning(run).goes == ()


def test_one_that_cannot_be_taken_away_is_named_and_the_others_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make(tmp_path, count=4)
    rename = Path.rename

    def refusing(path: Path, target: Path) -> Path:
        if path.name == "checkpoint_000000000200":
            raise PermissionError(13, "Permission denied", str(path))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refusing)
    done = prune(plan_pruning(run))
    assert [(item.steps, why) for item, why in done.failed] == [(200, "Permission denied")]
    assert left(run) == [0, 200, 400]


def test_what_a_killed_pruner_left_is_finished(tmp_path: Path) -> None:
    run = make(tmp_path)
    (run.path / "checkpoint_000000000200").rename(run.path / ".checkpoint_000000000200.gone")
    assert prune(plan_pruning(run, every=1)).freed == SIZE
    assert not (run.path / ".checkpoint_000000000200.gone").exists()


def _discard_all(path: Path) -> None:
    for item in RunDirectory(path).checkpoints():
        if 0 < item.steps < 6000:
            discard(item)


def test_two_who_throw_away_the_same_do_not_disturb_each_other(tmp_path: Path) -> None:
    run = make(tmp_path, count=60)
    context = multiprocessing.get_context("spawn")
    other = context.Process(target=_discard_all, args=(run.path,))
    other.start()
    done = prune(plan_pruning(run))
    other.join(30)
    assert other.exitcode == 0
    assert done.failed == ()
    assert left(run) == [0, 6000]
