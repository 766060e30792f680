"""The windows that a run saved of its anomalies: how they are named and found."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import NotFoundError
from workbench.runs import RunDirectory
from workbench.runs.anomalies import find_window, play_command, window_name, windows


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "ppo", "ant", files={"run.json": {"format": 1}})


def save(run: RunDirectory, steps: int, kind: str) -> Path:
    path = run.path / window_name(run, steps, kind)
    path.parent.mkdir(exist_ok=True)
    path.touch()
    return path


def test_what_comes_again_has_a_number(run: RunDirectory) -> None:
    names = [save(run, 1200, "reward_collapse").name for _ in range(3)]
    assert names == [f"000000001200_reward_collapse{end}.npz" for end in ("", "_2", "_3")]
    assert save(run, 90, "non_finite_loss") == windows(run)[0]


def test_a_window_is_found_by_its_run_and_its_steps(run: RunDirectory) -> None:
    late, early = save(run, 1200, "reward_collapse"), save(run, 90, "non_finite_loss")
    again = save(run, 90, "non_finite_loss")
    assert find_window(run.runs_root, f"{run.short_id}:anomaly") == late
    assert find_window(run.runs_root, f"{run.name}:anomaly:1200") == late
    # Of two at one step the one that came last.
    assert find_window(run.runs_root, f"{run.short_id}:anomaly:90") == again != early
    event = {"window": f"anomalies/{late.name}", "window_holds": "states"}
    assert play_command(run, event) == f"workbench play {run.short_id}:anomaly:1200"
    assert play_command(run, {**event, "window_holds": "observations"}) == play_command(run, {}) == ""
    for text in ("ant", f"{run.short_id}:best", "ant_anomaly"):
        assert find_window(run.runs_root, text) is None


def test_a_window_that_is_not_there_is_missed_in_words(run: RunDirectory) -> None:
    with pytest.raises(NotFoundError, match="has saved no window of an anomaly"):
        find_window(run.runs_root, f"{run.short_id}:anomaly")
    save(run, 90, "non_finite_loss")
    with pytest.raises(NotFoundError, match="no window at 80 steps") as missed:
        find_window(run.runs_root, f"{run.short_id}:anomaly:80")
    assert missed.value.hint == f"Type {run.short_id}:anomaly:90."
    with pytest.raises(NotFoundError, match="there is no run"):
        find_window(run.runs_root, "nobody:anomaly")
