from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from workbench.errors import NotFoundError, RequestError
from workbench.runs import RunDirectory
from workbench.storyboard.selection import Choice, choose, describe_run, passed_over
from workbench.storyboard.trial_labels import read_label

WRITTEN = 1_700_000_000.0


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    """A trial with two checkpoints, written 1,000 seconds apart, whose folders were touched much later."""
    folder = tmp_path / "PPO_Ant_0001"
    for number in range(2):
        checkpoint = folder / f"checkpoint_{number:06d}"
        checkpoint.mkdir(parents=True)
        mark = checkpoint / ("rllib_checkpoint.json" if number else "algorithm_state.pkl")
        mark.write_text("{}")
        os.utime(mark, (WRITTEN + number * 1000,) * 2)
    return folder


def row(after_s: float, iteration: object, steps: object) -> dict[str, object]:
    return {"timestamp": WRITTEN + after_s, "training_iteration": iteration, "num_env_steps_sampled_lifetime": steps}


def write_json(trial: Path, *rows: Mapping[str, object]) -> None:
    (trial / "result.json").write_text("".join(json.dumps(item) + "\n" for item in rows))


def write_csv(trial: Path, *rows: Mapping[str, object]) -> None:
    lines = [",".join(rows[0]), *(",".join(str(value) for value in item.values()) for item in rows)]
    (trial / "progress.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("write", [write_json, write_csv])
def test_the_row_written_at_the_same_time_tells(trial: Path, write: object) -> None:
    write(trial, row(-400, 1, 4000), row(-3, 2, 8000), row(9, 3, 12000), row(1290, 250, 1_020_000.0))  # type: ignore[operator]
    shown = choose(describe_run(RunDirectory(trial)), Choice())
    assert [(item.iteration, item.steps) for item in shown] == [(2, 8000), (250, 1_020_000)]


def test_the_label_beside_the_films_goes_first_and_a_torn_one_is_passed_over(trial: Path) -> None:
    write_json(trial, row(0, 2, 8000), row(1000, 4, 16000))
    first, last = (trial / f"checkpoint_{number:06d}" for number in range(2))
    label = {"training_iteration": 7, "num_env_steps_sampled_lifetime": 70}
    (first / "video_labels.json").write_text(json.dumps(label))
    (last / "video_labels.json").write_text("{")
    assert (read_label(first).iteration, read_label(first).steps, read_label(first).note) == (7, 70, "")
    told = read_label(last)
    assert (told.iteration, told.steps) == (4, 16000)
    assert "video_labels.json cannot be read" in told.note


def test_results_go_before_progress(trial: Path) -> None:
    write_csv(trial, row(0, 1, 1))
    write_json(trial, row(0, 2, 2))
    assert read_label(trial / "checkpoint_000000").steps == 2


def test_a_row_five_minutes_away_is_the_last_that_counts(trial: Path) -> None:
    write_json(trial, row(300, 2, 8000))
    assert read_label(trial / "checkpoint_000000").steps == 8000
    write_json(trial, row(301, 2, 8000))
    with pytest.raises(NotFoundError, match=r"no row closer than 301 s .*checkpoint_000000") as caught:
        read_label(trial / "checkpoint_000000")
    assert "Film it again" in str(caught.value.hint)


def test_nothing_that_tells_is_told(trial: Path) -> None:
    with pytest.raises(NotFoundError, match=r"neither result.json nor progress.csv"):
        read_label(trial / "checkpoint_000000")
    (trial / "result.json").write_text("")
    with pytest.raises(NotFoundError, match="holds no row"):
        read_label(trial / "checkpoint_000000")


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"timestamp": WRITTEN}, r"result.json, row 2, holds no training_iteration"),
        (row(0, "many", 1), r"row 2, holds what is no number: .*many"),
        (row(0, 1, None), r"row 2, holds what is no number"),
        (row(0, True, 1), r"row 2, holds what is no number: True"),
        (row(float("nan"), 1, 1), r"row 2, holds what is no number: nan"),
    ],
)
def test_a_row_without_numbers_is_named(trial: Path, bad: dict[str, object], said: str) -> None:
    write_json(trial, row(0, 1, 1), bad)
    with pytest.raises(RequestError, match=said):
        read_label(trial / "checkpoint_000000")


def test_a_line_that_is_no_json_is_named(trial: Path) -> None:
    (trial / "result.json").write_text(json.dumps(row(0, 1, 1)) + "\n{torn\n")
    with pytest.raises(RequestError, match=r"row 2, is no JSON"):
        read_label(trial / "checkpoint_000000")
    write_json(trial)
    (trial / "result.json").write_text("[1]\n")
    with pytest.raises(RequestError, match=r"row 1, is no JSON object"):
        read_label(trial / "checkpoint_000000")


def test_folders_named_much_like_a_checkpoint_are_passed_over(trial: Path) -> None:
    (trial / "checkpoint_best").mkdir()
    (trial / "checkpoint_000001.part").mkdir()
    assert passed_over(RunDirectory(trial)) == ["checkpoint_best"]
