"""One damaged file is one odd row: it never hides the other runs, and never ends the command that lists them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from workbench.durable import parse_json, read_document
from workbench.runs import History, RunStore, StateFile, observe
from workbench.runs.directory import RunDirectory
from workbench.runs.processes import ProcessIdentity
from workbench.runs.state import mark_exit
from workbench.runs.states import RunState

RUN = {
    "spec": {"algorithm": "ppo", "env_id": "workbench/CartPole-v0", "total_steps": 100, "tags": ["kept", 5, {}]},
    "environment": {"name": "cart_pole"},
}
STATE = {"state": "finished", "reason": "steps", "updated": 5.0}

NUMBER = b"9" * 400
ODD_LINES = (
    b"\x00\xff{",
    b"[" * 100_000,
    b'{"kind":"metrics","time":1e400,"steps":1e400,"iteration":NaN,"wall_s":-1e999,"values":{"rollout/ep_rew_mean":1e400}}',
    b'{"kind":"metrics","steps":"many","values":[1]}',
    b'{"kind":"evaluation","mean_return":' + NUMBER + b',"steps":' + NUMBER + b"}",
    b'{"kind":"metrics","steps":1e300,"episodes":1e300,"values":{"a":1e300}}',
    b'{"kind":"resumed","from_steps":"x"}',
    b'{"kind":"checkpoint","path":[],"steps":null}',
    b'{"kind":"metr',
)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path / "runs", "ppo", "cart_pole", files={"run.json": RUN, "state.json": STATE})


@pytest.mark.parametrize("line", ODD_LINES)
def test_an_odd_line_of_a_stream_is_passed_over(run: RunDirectory, line: bytes) -> None:
    whole = b'{"kind":"metrics","steps":64,"time":7.0,"values":{"rollout/ep_rew_mean":12.5}}\n'
    run.events_path.write_bytes(line + b"\n" + whole)
    history = History(run)
    history.refresh()
    assert history.series["rollout/ep_rew_mean"].last == 12.5
    (row,) = RunStore(run.runs_root).list()
    assert (row.steps, row.last_return) == (64, 12.5)
    json.dumps(row.to_json(), allow_nan=False)


@pytest.mark.parametrize("name", ["run.json", "state.json", "annotations.json", "exit.json", "killed.json"])
@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"created":1e400,"updated":1e400,"spec":5}']
)
def test_a_damaged_file_leaves_a_row_that_can_be_written(run: RunDirectory, name: str, content: bytes) -> None:
    (run.path / name).write_bytes(content)
    (row,) = RunStore(run.runs_root).list()
    json.dumps(row.to_json(), allow_nan=False)
    assert row.age_s < 3600


def test_tags_that_are_no_words_are_left_out(run: RunDirectory) -> None:
    assert RunStore(run.runs_root).summary(run).tags == ("kept",)


def test_numbers_out_of_range_are_null() -> None:
    assert parse_json(b"[NaN, 1e400, -1e400, 1e308, 12]") == [None, None, None, 1e308, 12]
    assert parse_json(b"[" + NUMBER + b", 5]") == [None, 5]


def test_a_folder_in_the_place_of_a_file_is_no_document(tmp_path: Path) -> None:
    assert read_document(tmp_path) == {}


def test_a_run_whose_folder_is_gone_says_so_and_is_not_made_anew(run: RunDirectory) -> None:
    state = StateFile(run.state_path)
    state.write(RunState.RUNNING)
    shutil.rmtree(run.path)
    seen = observe(run)
    assert (seen.state, seen.reason) == (RunState.CRASHED, "its folder was moved or deleted")
    with pytest.raises(FileNotFoundError):
        state.write(RunState.STOPPED)
    with pytest.raises(FileNotFoundError):
        mark_exit(run, ProcessIdentity.current(), 0)
    with pytest.raises(FileNotFoundError):
        run.set_latest("checkpoint_000000000000")
    assert not run.path.exists()
