from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbench.viewer import memory
from workbench.viewer.camera import Follower, View
from workbench.viewer.view import ViewSettings


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(memory.STATE_VARIABLE, str(tmp_path))
    return tmp_path


def test_a_view_is_found_as_it_was_left_for_each_environment_by_itself(state: Path) -> None:
    view = ViewSettings(theme="dark", track=False, smoothing_s=1.25, gizmo=False, tab="scene", size=(900, 640))
    view.marks, view.hidden, view.groups, view.parts = {"forces"}, {"torso"}, {0, 3}, {"floor"}
    view.camera = View(-20.0, -35.0, 4.5)
    memory.remember("my ant/v2", view)
    again = memory.recall("my ant/v2")
    assert again.to_json() == view.to_json()
    assert (again.camera, again.size) == (view.camera, view.size)
    assert again.theme == "dark"
    # A theme that was asked for goes before the one that it was left with.
    assert memory.recall("my ant/v2", "light").theme == "light"
    assert memory.recall("other").to_json() == ViewSettings().to_json()
    assert memory.recall("other", "dark").to_json() == ViewSettings(theme="dark").to_json()
    assert [path.name for path in (state / "viewer").iterdir()] == ["my_ant_v2.json"]


def test_three_policies_are_remembered_apart_from_nine_and_from_one(state: Path) -> None:
    three = ViewSettings(camera=View(135, -25, 3.0))
    memory.remember(memory.name_of("ant", 3, "tiles"), three)
    assert memory.recall(memory.name_of("ant", 3, "tiles"), "light").camera == three.camera
    for count, layout in ((9, "tiles"), (3, "ghosts"), (1, "tiles")):
        assert memory.recall(memory.name_of("ant", count, layout), "light").camera is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"marks": 3, "camera": [1, 2], "size": ["a", "b"], "tab": "none", "track": "yes", "groups": [9]}',
        '{"camera": [NaN, 1e400, 2], "smoothing_s": -1, "size": [1, 1000000], "hidden": {"a": 1}, "parts": null}',
        '{"camera": [0, 90, 1], "smoothing_s": true, "theme": "pink"}',
        '{"theme": ["dark"]}',
    ],
)
def test_what_cannot_be_read_is_as_it_was_never_left(state: Path, text: str) -> None:
    path = memory.memory_of("ant")
    path.parent.mkdir(parents=True)
    path.write_text(text)
    view = memory.recall("ant")
    usual = ViewSettings()
    assert (view.camera, view.size, view.smoothing_s, view.tab) == (None, None, usual.smoothing_s, "play")
    assert view.theme == "light"
    assert (view.track, view.marks, view.hidden, view.parts) == (True, set(), set(), usual.parts)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_that_takes_nothing_is_no_failure(state: Path) -> None:
    state.chmod(0o500)
    memory.remember("ant", ViewSettings())
    state.chmod(0o700)


def test_a_file_in_the_way_of_the_folder_is_no_failure(state: Path) -> None:
    (state / "viewer").write_text("")
    memory.remember("ant", ViewSettings())
    assert memory.recall("ant", "light").tab == "play"


def test_following_takes_the_time_that_is_asked_for_at_any_frame_rate() -> None:
    import numpy as np

    def behind(along_s: float, fps: int) -> float:
        follower = Follower(along_s)
        for _ in range(2):
            follower.update(np.zeros(3), 1 / fps)
        # What is followed moves on within a frame, and stands.
        for _ in range(fps):
            point = follower.update(np.array([1.0, 0, 0]), 1 / fps)
        return float(1 - point[0])

    assert behind(0.0, 30) == 0.0
    slow, quick = abs(behind(0.8, 480)), abs(behind(0.2, 480))
    assert quick < 0.05 < slow
    assert abs(behind(0.8, 60)) == pytest.approx(slow, abs=0.05)
