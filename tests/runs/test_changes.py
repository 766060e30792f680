from pathlib import Path

from workbench.runs.changes import joined, laid_over
from workbench.runs.digest import Digest
from workbench.runs.directory import RunDirectory
from workbench.runs.events import EventWriter
from workbench.runs.history import History
from workbench.runs.store import RunStore

SPEC = {"total_steps": 500, "stop_criteria": {"training_iteration": 3, "wall_time_s": 0.0}, "ppo": {"gamma": 0.9}}


def test_values_are_laid_over_the_groups_they_are_in() -> None:
    values = {"total_steps": 900, "stop_criteria.training_iteration": 7, "reward.forward": 0.5}
    laid = laid_over(SPEC, values)
    assert laid == {**SPEC, "total_steps": 900, "stop_criteria": {"training_iteration": 7, "wall_time_s": 0.0}}
    assert SPEC["total_steps"] == 500


def test_a_group_displaces_what_was_set_in_it_before_and_not_after() -> None:
    values = joined({"stop_criteria.training_iteration": 7, "ppo.gamma": 0.8}, {"stop_criteria": {}})
    assert values == {"ppo.gamma": 0.8, "stop_criteria": {}}
    assert laid_over(SPEC, joined(values, {"stop_criteria.wall_time_s": 9.0}))["stop_criteria"] == {"wall_time_s": 9.0}


def test_a_row_follows_the_limits_a_run_was_given(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "ppo", "a", files={"run.json": {"spec": SPEC}})
    with EventWriter(run.events_path) as writer:
        writer.append("metrics", steps=200, iteration=2, wall_s=5.0, values={})
        writer.append("set", steps=200, values={"total_steps": 0, "stop_criteria.training_iteration": 8}, old={})
    row = RunStore(tmp_path).summary(run)
    assert (row.total_steps, row.progress) == (0, 0.25)


def test_what_another_process_tells_is_no_sign_of_life(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "ppo", "a", files={"run.json": {"spec": SPEC}})
    with EventWriter(run.events_path) as writer:
        writer.append("metrics", steps=200, time=1000.0, values={})
        writer.append("request", steps=100, id="x", verb="evaluate", ok=True)
        writer.append("scores", steps=100, id="x", mean_return=1.0)
    digest = Digest(run)
    digest.refresh()
    assert digest.last_time == 1000.0 and digest.steps == 200 and digest.best is None


def test_scores_on_request_stand_beside_what_the_run_claims(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "ppo", "a", files={"run.json": {"spec": SPEC}})
    with EventWriter(run.events_path) as writer:
        writer.append("evaluation", steps=100, mean_return=5.0, checkpoint="c100")
        writer.append("scores", steps=300, of_steps=200, id="x", mean_return=9.0, std_return=1.0, returns=[8.0, 10.0])
        writer.append("scores", steps=300, of_steps=100, id="y", mean_return=4.0)
        writer.append("scores", steps=300, of_steps=300, id="z", failure="the disk is full")
    history = History(run)
    history.refresh()
    assert [(item.steps, item.mean_return) for item in history.scores] == [(200, 9.0), (100, 4.0)]
    assert history.best_evaluation is not None and history.best_evaluation.steps == 100
    with EventWriter(run.events_path) as writer:
        writer.append("resumed", steps=100, from_steps=100)
    history.refresh()
    assert [item.steps for item in history.scores] == [100]
