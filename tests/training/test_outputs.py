"""Where metrics go."""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from workbench.errors import RequestError
from workbench.runs import EventTail, EventWriter
from workbench.training.log import RunLog
from workbench.training.outputs import CsvOutput, EventOutput, TensorBoardOutput
from workbench.training.words import grouped, in_one_sentence


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_new_column_leaves_the_rows_before_it_empty_there(tmp_path: Path) -> None:
    output = CsvOutput(tmp_path / "progress.csv")
    output.write({"a": 1, "words": "none"}, {})
    output.write({"a": 2.5, "b": np.float32(0.5)}, {})
    output.write({"b": 3}, {})
    assert rows(tmp_path / "progress.csv") == [{"a": "1", "b": ""}, {"a": "2.5", "b": "0.5"}, {"a": "", "b": "3"}]


def test_a_csv_that_is_there_is_continued(tmp_path: Path) -> None:
    CsvOutput(tmp_path / "progress.csv").write({"a": 1}, {})
    CsvOutput(tmp_path / "progress.csv").write({"a": 2, "b": 3}, {})
    assert rows(tmp_path / "progress.csv") == [{"a": "1", "b": ""}, {"a": "2", "b": "3"}]


def test_metrics_events_carry_plain_numbers_and_their_axes(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with EventWriter(path) as writer:
        output = EventOutput(writer, lambda: {"wall_s": 1.5, "episodes": 2, "iteration": 3})
        output.write({"x": np.float64(0.25), "bad": float("nan"), "array": np.zeros(3)}, {}, step=40)
    (event,) = EventTail(path).poll()
    assert event["values"] == {"x": 0.25, "bad": None}
    assert (event["steps"], event["wall_s"], event["episodes"], event["iteration"]) == (40, 1.5, 2, 3)
    assert event["not_finite"] == 1


def test_tensorboard_shows_every_number_of_a_row_and_the_words(tmp_path: Path) -> None:
    output = TensorBoardOutput(tmp_path)
    for step in (10, 20):
        values = {"a": step, "b": np.float32(0.5), "words": "none", "hidden": 1.0}
        output.write(values, {"a": None, "b": (), "words": (), "hidden": ("tensorboard",)}, step)
        # What has been written can be looked at, at once.
        shown = EventAccumulator(str(tmp_path)).Reload()
        assert shown.Tags()["scalars"] == ["a", "b"]
        assert [(point.step, point.value) for point in shown.Scalars("a")][-1] == (step, step)
    assert [(point.step, point.value) for point in shown.Scalars("b")] == [(10, 0.5), (20, 0.5)]
    assert shown.Tags()["tensors"] == ["words/text_summary"]
    output.close()


def test_the_log_says_when_and_keeps_tracebacks(tmp_path: Path) -> None:
    with RunLog(tmp_path / "output.log", now=lambda: datetime(2026, 1, 2, 10, 41, 52)) as log:
        log.say("iteration 1")
        try:
            raise RuntimeError("boom")
        except RuntimeError as error:
            log.trace(error)
    text = (tmp_path / "output.log").read_text()
    assert text.startswith("10:41:52 iteration 1\nTraceback") and "RuntimeError: boom" in text


def test_the_log_is_not_doubled_where_stdout_is_that_file(tmp_path: Path) -> None:
    path = tmp_path / "output.log"
    with path.open("a") as stdout, RunLog(path, echo=stdout) as log:
        log.say("once")
    assert path.read_text().count("once") == 1
    with (tmp_path / "terminal").open("a") as stdout, RunLog(path, echo=stdout) as log:
        log.say("here too")
    assert "here too" in (tmp_path / "terminal").read_text()


def test_numbers_are_grouped_for_reading() -> None:
    given: list[Any] = [9142272, 1402.4, 12.53, 0.00312, -1234567, 0, float("nan")]
    assert [grouped(number) for number in given] == [
        "9 142 272",
        "1 402",
        "12.53",
        "0.00312",
        "-1 234 567",
        "0",
        "nan",
    ]


def test_a_log_takes_a_file_name_that_is_no_text(tmp_path: Path) -> None:
    with RunLog(tmp_path / "output.log") as log:
        log.say("there is no /tmp/\udcff")
    assert (tmp_path / "output.log").read_text().endswith("there is no /tmp/\\udcff\n")


def test_failures_are_said_in_one_line() -> None:
    assert in_one_sentence(RequestError("two\nlines.", hint="Do this.")) == "two lines. Do this."
    assert in_one_sentence(ValueError("bad\nworse")) == "ValueError: bad"
    assert in_one_sentence(OSError(28, "No space left on device", "/runs/x")) == "the disk is full: /runs/x"
    assert in_one_sentence(OSError(13, "Permission denied", "/runs/x")) == "Permission denied: /runs/x"
    assert in_one_sentence(MemoryError()) == "there is not enough memory"
