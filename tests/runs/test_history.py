from pathlib import Path

import numpy as np
import pytest

from workbench.runs.directory import RunDirectory
from workbench.runs.events import EventWriter
from workbench.runs.history import History


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "ppo", "cart_pole")


def metrics(writer: EventWriter, steps: int, value: float) -> None:
    writer.append(
        "metrics",
        steps=steps,
        wall_s=steps / 100,
        episodes=steps // 10,
        iteration=steps // 100,
        values={"rollout/ep_rew_mean": value},
    )


def test_a_run_without_events_has_an_empty_history(run: RunDirectory) -> None:
    history = History(run)
    assert history.refresh() is False
    assert history.series == {}
    assert history.best_evaluation is None


def test_metrics_become_series_and_counters(run: RunDirectory) -> None:
    history = History(run)
    with EventWriter(run.events_path) as writer:
        metrics(writer, 100, 1.0)
        assert history.refresh() is True
        metrics(writer, 200, 3.0)
    assert history.refresh() is True
    assert history.refresh() is False
    series = history.series["rollout/ep_rew_mean"]
    assert series.steps.tolist() == [100, 200]
    assert series.values.tolist() == [1.0, 3.0]
    assert series.episodes.tolist() == [10, 20]
    assert (history.steps, history.iteration, history.wall_s, history.episodes) == (200, 2, 2.0, 20)


def test_a_resumed_run_drops_what_it_had_written_beyond(run: RunDirectory) -> None:
    with EventWriter(run.events_path) as writer:
        for steps in (100, 200, 300):
            metrics(writer, steps, float(steps))
            writer.append("checkpoint", steps=steps, path=f"checkpoint_{steps:012d}")
            writer.append("evaluation", steps=steps, mean_return=float(steps), std_return=0.0)
        writer.append("resumed", steps=200, from_steps=200)
        metrics(writer, 300, 5.0)
    history = History(run)
    history.refresh()
    assert history.series["rollout/ep_rew_mean"].values.tolist() == [100.0, 200.0, 5.0]
    assert [item.steps for item in history.checkpoints] == [100, 200]
    best = history.best_evaluation
    assert best is not None
    assert best.mean_return == 200.0
    assert history.resumes == [200]


def test_pauses_are_told_from_the_states(run: RunDirectory) -> None:
    with EventWriter(run.events_path) as writer:
        for time, state in ((1.0, "running"), (5.0, "paused"), (9.0, "running"), (12.0, "paused")):
            writer.append("state", time=time, state=state)
    history = History(run)
    history.refresh()
    assert history.pauses == [(5.0, 9.0), (12.0, None)]


def test_an_answered_request_is_known_by_its_id(run: RunDirectory) -> None:
    with EventWriter(run.events_path) as writer:
        writer.append("request", id="7-a", verb="stop", ok=False, reason="expired")
    history = History(run)
    history.refresh()
    assert history.answers["7-a"].ok is False
    assert history.answers["7-a"].reason == "expired"


def test_a_replaced_stream_is_folded_afresh(run: RunDirectory) -> None:
    with EventWriter(run.events_path) as writer:
        metrics(writer, 100, 1.0)
        metrics(writer, 200, 2.0)
    history = History(run)
    history.refresh()
    run.events_path.unlink()
    with EventWriter(run.events_path) as writer:
        metrics(writer, 50, 9.0)
    assert history.refresh() is True
    assert history.series["rollout/ep_rew_mean"].values.tolist() == [9.0]
    assert history.steps == 50


def test_fields_of_the_wrong_kind_harm_nothing(run: RunDirectory) -> None:
    run.events_path.write_text(
        '{"kind":"metrics","steps":"many","values":[1]}\n'
        '{"kind":"metrics","steps":null,"values":{"a":"high","b":true}}\n'
        '{"kind":"evaluation","steps":3,"mean_return":"good","returns":5,"endings":[]}\n'
        '{"kind":"state"}\n{"kind":"checkpoint","steps":1}\n{"kind":"never heard of"}\n'
    )
    history = History(run)
    history.refresh()
    assert history.evaluations[0].mean_return is None
    assert history.series["a"].not_finite == 1


def test_rows_taken_in_together_say_what_they_say_one_by_one(run: RunDirectory) -> None:
    odd = [
        {"a": 1.0, "b": 2},
        {"b": None, "a": 3.5},
        {"a": "four", "b": True},
        {"b": 5.0},
        None,
        {"c": [1], "a": -1.0},
    ]
    with EventWriter(run.events_path) as writer:
        for place, values in enumerate(odd, start=1):
            counters = {"wall_s": place / 2, "episodes": place} if place != 4 else {"wall_s": None}
            writer.append("metrics", steps=100 * place, values=values, **counters)
            if place == 3:
                writer.append("checkpoint", steps=300, path="checkpoint_000000000300")
    together, single = History(run), History(run)
    together.refresh()
    while single.refresh(1):
        pass
    assert together.series.keys() == single.series.keys() == {"a", "b", "c"}
    for name, steps, values in (
        ("a", [100, 200, 300, 600], [1.0, 3.5, np.nan, -1.0]),
        ("b", [100, 200, 300, 400], [2.0, np.nan, np.nan, 5.0]),
        ("c", [600], [np.nan]),
    ):
        for history in (together, single):
            series = history.series[name]
            assert series.steps.tolist() == steps
            np.testing.assert_array_equal(series.values, values)
            assert series.not_finite == np.isnan(values).sum()
    assert np.isnan(together.series["b"].wall_s[3]) and together.series["a"].wall_s.tolist() == [0.5, 1.0, 1.5, 3.0]
    assert (together.steps, together.wall_s, together.episodes) == (600, 3.0, 6)
    assert (single.steps, single.wall_s, single.episodes) == (600, 3.0, 6)
    assert [item.steps for item in together.checkpoints] == [300] and together.share == 1.0


def test_how_much_of_a_stream_was_read_is_known(run: RunDirectory) -> None:
    history = History(run)
    assert history.share == 1.0
    with EventWriter(run.events_path) as writer:
        for steps in range(100):
            metrics(writer, steps, 1.0)
    history.refresh(run.events_path.stat().st_size // 2)
    assert 0.4 < history.share <= 0.5
