from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.montage.fakes import make_run
from workbench.errors import NotFoundError, RequestError
from workbench.runs import EventWriter, RunDirectory
from workbench.storyboard.selection import Choice, FilmedRun, choose, describe_run, run_names

STEPS = [0, 1000, 2000, 3000, 4000]


@pytest.fixture
def directory(tmp_path: Path) -> RunDirectory:
    return make_run(tmp_path / "runs", STEPS)


def steps(directory: RunDirectory, choice: Choice) -> list[int]:
    return [shown.steps for shown in choose(describe_run(directory), choice)]


def test_checkpoints_are_sampled_by_step_and_other_folders_are_no_checkpoints(directory: RunDirectory) -> None:
    (directory.path / "checkpoint_best").mkdir()
    (directory.path / "checkpoint_000000000500.part").mkdir()
    assert steps(directory, Choice(wanted=3)) == [0, 2000, 4000]
    assert steps(directory, Choice(wanted=1)) == [4000]
    assert steps(directory, Choice(wanted=3, schedule="exponential", base=100)) == [0, 1000, 4000]


def test_those_named_are_shown_and_no_others(directory: RunDirectory) -> None:
    directory.set_best("checkpoint_000000003000")
    assert steps(directory, Choice(only=("3000", "1_000"))) == [1000, 3000]
    assert steps(directory, Choice(only=("best", "latest", "3000"))) == [3000, 4000]


def test_one_of_the_sampled_is_swapped(directory: RunDirectory) -> None:
    assert steps(directory, Choice(wanted=3, swaps=((2, "3000"),))) == [0, 3000, 4000]
    with pytest.raises(RequestError, match="only 3 clips"):
        steps(directory, Choice(wanted=3, swaps=((4, "3000"),)))


def test_a_checkpoint_that_is_not_there_lists_those_that_are(directory: RunDirectory) -> None:
    with pytest.raises(NotFoundError, match=r"no checkpoint at 1 500 steps") as caught:
        steps(directory, Choice(only=("1500",)))
    assert caught.value.hint == "It has 0, 1000, 2000, 3000, 4000."
    with pytest.raises(NotFoundError, match="no best checkpoint"):
        steps(directory, Choice(only=("best",)))
    with pytest.raises(RequestError, match="takes a step count"):
        steps(directory, Choice(only=("final",)))


def test_a_run_without_checkpoints_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="has no checkpoint yet"):
        steps(make_run(tmp_path / "runs", []), Choice())


def test_what_is_known_of_a_checkpoint_is_read(directory: RunDirectory) -> None:
    writer = EventWriter(directory.events_path)
    writer.append("evaluation", steps=1000, mean_return=3.0, std_return=1.0, returns=[2.0, 4.0])
    writer.append("evaluation", steps=4000, mean_return=float("nan"), std_return=1.0, returns=[])
    writer.close()
    foreign = directory.path / "checkpoint_000000002000"
    (foreign / "policy.json").unlink()
    (foreign / "video_labels.json").write_text(json.dumps({"training_iteration": 250}))
    first, second, third, *_, last = choose(describe_run(directory), Choice(wanted=5))
    assert (first.iteration, second.iteration, third.iteration) == (0, 10, 250)
    assert (first.evaluation_mean, second.evaluation_mean) == (None, 3.0)
    assert last.evaluation_mean is None


def test_a_run_is_described_by_what_it_holds(directory: RunDirectory) -> None:
    run = describe_run(directory)
    assert (run.env_id, run.environment, run.eval_seed) == ("workbench/Ant-v0", "ant", 77)
    directory.spec_path.write_text("{")
    assert describe_run(directory).env_id == "ant"


def test_runs_are_told_apart_by_what_differs(tmp_path: Path) -> None:
    def run(letter: str, seed: int | None, algorithm: str = "PPO", short: str = "ant") -> FilmedRun:
        name = f"{short}_20260101-120000_{4 * letter}"
        return describe_run(make_run(tmp_path, [0], name=name, algorithm=algorithm, seed=seed))

    one, two, sac, twin, hop = (
        run("a", 1),
        run("b", 2),
        run("c", 2, "SAC"),
        run("d", 2),
        run("e", None, short="hopper"),
    )
    assert run_names([one, one]) == {one: ""}
    assert list(run_names([one, two]).values()) == ["seed 1", "seed 2"]
    assert list(run_names([two, sac]).values()) == ["PPO", "SAC"]
    assert list(run_names([one, two, sac]).values()) == ["PPO seed 1", "PPO seed 2", "SAC seed 2"]
    assert list(run_names([two, twin]).values()) == ["bbbb", "dddd"]
    assert list(run_names([one, hop]).values()) == ["ant aaaa", "hopper eeee"]


def test_a_folder_of_another_tool_has_no_algorithm_and_no_digits(tmp_path: Path) -> None:
    (tmp_path / "results" / "trial_one").mkdir(parents=True)
    run = describe_run(RunDirectory(tmp_path / "results" / "trial_one"))
    assert (run.title, run.words) == ("trial_one", ())
