"""The same task as others step it, measured in turns with ours."""

from __future__ import annotations

import json

import pytest

from tests.bench.test_environments import SLIDER, Ticking
from workbench.bench import probe
from workbench.bench.environments import subject
from workbench.bench.rivals import KINDS, Rival, Stepped, rival_of
from workbench.catalog import discover
from workbench.cli import main
from workbench.project import Project, shipped_project
from workbench.simulation import EnvSource


def shipped(name: str) -> EnvSource:
    return subject(discover(shipped_project()).find(name)).source


def test_gymnasiums_own_environment_is_the_rival_with_the_same_options() -> None:
    cheetah = rival_of(shipped("half_cheetah"))
    assert (cheetah.name, cheetah.arguments) == ("HalfCheetah-v5", {"max_episode_steps": 1000, "frame_skip": 5})
    ant = rival_of(shipped("ant"))
    assert ant.name == "Ant-v5" and ant.arguments["terminate_when_unhealthy"] is False
    made = ant()
    assert made.unwrapped._terminate_when_unhealthy is False  # type: ignore[attr-defined]
    assert made.spec is not None and made.spec.max_episode_steps == 1000
    made.close()


@pytest.mark.parametrize("name", ["cart_pole", "ant_no_contact"])
def test_a_task_that_gymnasium_does_not_have_is_stepped_as_plain_copies_of_ours(name: str) -> None:
    rival = rival_of(shipped(name))
    assert rival.twin == "" and rival.name == f"{name} as a gymnasium.Env"


def test_options_that_gymnasium_does_not_know_keep_it_from_being_the_rival() -> None:
    source = shipped("half_cheetah")
    assert rival_of(EnvSource(**{**source.to_json(), "env_cfg": {"nothing_of_gymnasium": 1}})).twin == ""


def test_rivals_take_turns_with_ours_and_their_speeds_are_their_own() -> None:
    kinds = ("Gymnasium Sync", "SB3 Dummy")
    measured = probe.measure(SLIDER, 4, 1, min_time_s=0.0005, repeats=3, against=kinds, clock=Ticking())
    # A turn takes one tick of the clock, whoever's it is.
    per_second = 4 * probe.STEPS / 1e-3
    assert [item["kind"] for item in measured["against"]] == list(kinds)
    for item in measured["against"]:
        assert item["control_steps_per_s"] == pytest.approx(per_second)
        assert item["ratio"] == pytest.approx(1.0) and item["environment"] == "slider as a gymnasium.Env"


def test_too_many_processes_are_left_out() -> None:
    measured = probe.measure(
        SLIDER, 17, 1, min_time_s=0.0005, repeats=1, against=("Gymnasium Async", "SB3 Subproc"), clock=Ticking()
    )
    assert [(item["control_steps_per_s"], item["ratio"]) for item in measured["against"]] == [(None, None)] * 2
    assert all("too many" in item["note"] for item in measured["against"])


def test_actions_fill_the_space() -> None:
    stepped = Stepped(Rival(SLIDER), "Gymnasium Sync", 3)
    actions = stepped.draw(50)
    assert actions.shape == (50, 3, 1)
    # The slider's motor takes -4 to 4.
    assert -4 <= actions.min() < -3.5 and 3.5 < actions.max() <= 4
    stepped.close()


@pytest.mark.slow
def test_the_command_measures_against_all_of_them(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--copies", "2", "--threads", "1", "--min-time", "0.01", "--repeats", "1", "--against", "--json"]
    assert main(["--project", str(project.root), "bench", "environments", "hopper", *flags]) == 0
    said = capsys.readouterr()
    [row] = json.loads(said.out)["rows"]
    assert [item["kind"] for item in row["against"]] == list(KINDS)
    assert all(item["ratio"] > 0 and item["environment"] == "Hopper-v5" for item in row["against"])
    assert "over Hopper-v5" in said.err
