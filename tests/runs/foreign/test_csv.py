"""Stable-Baselines3's CSV files, written by its own logger and wrapper, against Python's csv module."""

from __future__ import annotations

import csv
import json
import os
from collections import deque
from pathlib import Path
from statistics import fmean

import gymnasium as gym
import pytest
from stable_baselines3.common.logger import CSVOutputFormat
from stable_baselines3.common.monitor import Monitor

from tests.runs.foreign.files import HEADER, write_monitor
from workbench.runs.foreign.following import LONGEST_LINE, LineTail, StartedOverError
from workbench.runs.foreign.monitor import MonitorSource
from workbench.runs.foreign.progress import ProgressSource


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def rows_of(path: Path) -> list[dict[str, float | None]]:
    """Return what a source says of a whole file, by step."""
    return [{"steps": row.steps, **row.values} for row in ProgressSource(path).rows()]


class TestLines:
    def test_a_line_comes_once_it_has_ended(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        tail = LineTail(path)
        found = []
        for letter in "one\ntwo\r\n\nth":
            with path.open("a", newline="") as file:
                file.write(letter)
            found += list(tail.lines())
        assert found == [b"one", b"two\r"]

    def test_a_line_without_end_is_passed_over(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        path.write_bytes(b"first\n" + b"x" * (3 * LONGEST_LINE) + b"\nlast\n")
        assert list(LineTail(path).lines()) == [b"first", b"last"]

    @pytest.mark.parametrize("content", ["first\n", "first\nother\nthird\n", "newer\nsecond\nthird\n", ""])
    def test_a_file_that_was_cut_or_written_anew_is_told(self, content: str, tmp_path: Path) -> None:
        path = tmp_path / "file"
        path.write_text("first\nsecond\n")
        tail = LineTail(path)
        list(tail.lines())
        path.write_text(content)
        with pytest.raises(StartedOverError):
            list(tail.lines())

    def test_a_file_that_was_replaced_by_the_same_and_more_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "file"
        path.write_text("first\n")
        tail = LineTail(path)
        list(tail.lines())
        (tmp_path / "new").write_text("first\nsecond\n")
        (tmp_path / "new").replace(path)
        with pytest.raises(StartedOverError):
            list(tail.lines())


class TestProgress:
    def test_curves_equal_what_the_logger_wrote(self, tmp_path: Path) -> None:
        path = tmp_path / "progress.csv"
        writer = CSVOutputFormat(str(path))
        for step in range(1, 50):
            values = {"time/total_timesteps": step * 128, "rollout/ep_rew_mean": 1 / step, "train/loss": -step / 3}
            values |= {"time/iterations": step, "note": 'a "text", with commas', "time/time_elapsed": step}
            writer.write(values, dict.fromkeys(values))
        writer.close()
        written = read(path)
        for name in ("rollout/ep_rew_mean", "train/loss"):
            assert [row[name] for row in rows_of(path)] == [float(row[name]) for row in written]
        assert [row["steps"] for row in rows_of(path)] == [int(row["time/total_timesteps"]) for row in written]
        assert "note" not in rows_of(path)[0]

    def test_a_column_that_comes_later_starts_over_and_loses_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "progress.csv"
        writer = CSVOutputFormat(str(path))
        source = ProgressSource(path)
        assert list(source.rows()) == []
        for step in (1, 2):
            writer.write({"time/total_timesteps": step, "a": step}, {"time/total_timesteps": None, "a": None})
            assert [row.steps for row in source.rows()] == [step]
        more = {"time/total_timesteps": 3, "a": 3, "b": 30}
        writer.write(more, dict.fromkeys(more))
        writer.close()
        with pytest.raises(StartedOverError):
            list(source.rows())
        assert [row["steps"] for row in rows_of(path)] == [1, 2, 3]
        assert [row.get("b") for row in rows_of(path)] == [None, None, 30.0]

    def test_every_prefix_of_a_file_tells_its_whole_rows_only(self, tmp_path: Path) -> None:
        path = tmp_path / "progress.csv"
        text = "time/total_timesteps,a\n1,10.5\n2,20.25\n3,1e3\n"
        for end in range(len(text) + 1):
            path.write_text(text[:end])
            whole = text[:end].count("\n")
            assert [row["a"] for row in rows_of(path)] == [10.5, 20.25, 1000.0][: max(0, whole - 1)]

    def test_what_is_not_finite_or_no_number(self, tmp_path: Path) -> None:
        path = tmp_path / "progress.csv"
        path.write_text("time/total_timesteps,a,b,c\n1,nan,inf,words\n2,,1e400,3\n,4,5,6\ntorn\n3,1,2,3,4\n")
        assert rows_of(path) == [
            {"steps": 1, "time/total_timesteps": 1.0, "a": None, "b": None},
            {"steps": 2, "time/total_timesteps": 2.0, "b": None, "c": 3.0},
            {"steps": 2, "a": 4.0, "b": 5.0, "c": 6.0},
        ]

    def test_steps_go_on_where_learn_was_called_again(self, tmp_path: Path) -> None:
        path = tmp_path / "progress.csv"
        path.write_text("time/total_timesteps\n100\n200\n100\n200\n50\n")
        assert [row["steps"] for row in rows_of(path)] == [100, 200, 300, 400, 450]

    def test_rows_are_counted_where_no_column_tells_the_step(self, tmp_path: Path) -> None:
        path = tmp_path / "progress.csv"
        path.write_text("loss\n0.5\n0.25\n")
        assert rows_of(path) == [{"steps": 1, "loss": 0.5}, {"steps": 2, "loss": 0.25}]

    def test_times_go_back_from_when_the_file_was_written(self, tmp_path: Path) -> None:
        path = tmp_path / "progress.csv"
        path.write_text("time/total_timesteps,time/time_elapsed\n1,10\n2,25\n")
        os.utime(path, (5000.0, 5000.0))
        source = ProgressSource(path)
        assert [(row.time, row.wall_s) for row in source.rows()] == [(4985.0, 10.0), (5000.0, 25.0)]
        assert source.facts.began == 4975.0


class TestMonitor:
    def test_copies_are_merged_by_time_and_equal_what_the_wrapper_wrote(self, tmp_path: Path) -> None:
        paths = [tmp_path / f"{copy}.monitor.csv" for copy in (0, 1)]
        copies = [Monitor(gym.make("CartPole-v1"), str(path)) for path in paths]
        for index in range(12):
            for copy in copies:
                copy.reset(seed=index)
                while not any(copy.step(copy.action_space.sample())[2:4]):
                    pass
        for copy in copies:
            copy.close()
        told = []
        for path in paths:
            with path.open() as file:
                began = json.loads(file.readline()[1:])["t_start"]
                told += [(began + float(row["t"]), float(row["r"]), int(row["l"])) for row in csv.DictReader(file)]
        told.sort()
        source = MonitorSource(paths, with_means=True)
        rows = list(source.rows())
        assert [row.values["episode/return"] for row in rows] == [value for _, value, _ in told]
        assert [row.steps for row in rows] == [sum(length for *_, length in told[: n + 1]) for n in range(len(told))]
        assert [row.episodes for row in rows] == list(range(1, 25))
        assert (source.facts.env_id, source.facts.n_envs) == ("CartPole-v1", 2)

    def test_the_mean_is_that_of_the_last_hundred(self, tmp_path: Path) -> None:
        values = [((index * 37) % 101 - 50.0, 5, float(index)) for index in range(250)]
        path = write_monitor(tmp_path / "monitor.csv", values)
        recent: deque[float] = deque(maxlen=100)
        expected = [fmean(recent) for value, *_ in values if not recent.append(value)]  # type: ignore[func-returns-value]
        rows = list(MonitorSource([path], with_means=True).rows())
        assert [row.values["rollout/ep_rew_mean"] for row in rows] == pytest.approx(expected, abs=1e-12)

    def test_rows_that_come_later_go_on_from_the_steps_so_far(self, tmp_path: Path) -> None:
        path = write_monitor(tmp_path / "monitor.csv", [(1.0, 10, 1.0)])
        source = MonitorSource([path], with_means=False)
        assert [row.steps for row in source.rows()] == [10]
        with path.open("a") as file:
            file.write("2.0,7,2.0\n3.0,5")
        assert [(row.steps, row.values) for row in source.rows()] == [
            (17, {"episode/return": 2.0, "episode/length": 7.0})
        ]

    @pytest.mark.parametrize("row", ["x,y,z", "1.0,nan,2.0", "1.0,-5,2.0", "1.0", '"1.0,5,2.0', "1.0,,2.0"])
    def test_a_row_that_is_no_episode_is_left_out(self, row: str, tmp_path: Path) -> None:
        path = tmp_path / "monitor.csv"
        path.write_text(f"{HEADER}{row}\n4.0,8,1.0\n")
        assert [row.steps for row in MonitorSource([path], with_means=False).rows()] == [8]

    def test_what_a_person_had_added_is_kept_under_its_name(self, tmp_path: Path) -> None:
        path = tmp_path / "monitor.csv"
        path.write_text('#{"t_start": 1.0, "env_id": "None"}\nr,l,t,is_success\n1.0,5,1.0,True\n2.0,5,2.0,1\n')
        source = MonitorSource([path], with_means=False)
        assert [row.values.get("episode/is_success") for row in source.rows()] == [None, 1.0]
        assert source.facts.env_id == ""
