"""Keys of a run's screen: filters, pages, tabs, other runs, the pager, and what stands beside."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.ui import seen
from tests.ui.conftest import Settle
from tests.ui.test_compare_screen import run_of
from tests.ui.test_run_screen import checkpoints, full_run, opened, titles
from workbench import durable
from workbench.project import Project
from workbench.runs import EventWriter
from workbench.ui.app import WorkbenchApp
from workbench.ui.past import Past, Points
from workbench.ui.run_charts import Spec
from workbench.ui.run_head import Kin, head_lines, time_split
from workbench.ui.screens.compare import CompareScreen
from workbench.ui.usage import CPU, Meter, Usage, Usages

WIDE = (160, 48)


async def test_charts_are_filtered_by_a_regular_expression_kept_for_the_algorithm(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = full_run(project)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run)
        await pilot.press("slash", *"kl|loss", "enter")
        await settle(pilot)
        assert titles(screen) == ["train/approx_kl", "train/value_loss"]
        await pilot.press("full_stop")
        assert screen._section == "Log"
        await pilot.press("comma", "escape")
        assert app.screen is screen and titles(screen)[0].startswith("return")
        await pilot.press("slash", *"kl", "enter", "q")
        again = await opened(pilot, settle, run)
        assert titles(again) == ["train/approx_kl"]
        await pilot.press("slash", "ctrl+u", *"nothing", "enter")
        await settle(pilot)
        assert "No chart matches nothing; 12 are hidden. esc clears." in seen.words(app)


async def test_a_half_typed_expression_says_what_is_wrong(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, settle, run)
        await pilot.press("slash", *"kl(")
        await settle(pilot)
        assert "missing ), unterminated subpattern" in seen.text(app)


async def test_pages_and_sections_of_a_wide_terminal(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project)
    async with app.run_test(size=WIDE) as pilot:
        screen = await opened(pilot, settle, run)
        assert "page 1 of 2" in seen.text(app)
        await pilot.press("full_stop")
        await settle(pilot)
        assert "page 2 of 2" in seen.text(app) and "[Endings]" in seen.text(app)
        await pilot.press("full_stop")
        assert titles(screen)[0].startswith("return")
        screen.show_section("Losses")
        await settle(pilot)
        assert screen.focused is not None and screen.focused.data.metric == "train/approx_kl"  # type: ignore[attr-defined]
        await pilot.press("j")
        assert screen.focused.data.metric == "train/value_loss"  # type: ignore[attr-defined]


async def test_tabs_show_texts_and_their_names_can_be_clicked(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = full_run(project)
    checkpoints(run, 0, 500_000)
    async with app.run_test(size=WIDE) as pilot:
        screen = await opened(pilot, settle, run)
        texts = screen.texts
        assert texts.text("Checkpoints").display and texts.text("Events").display
        await pilot.press("o")
        assert "[Log]" in seen.text(app) and not texts.text("Events").display
        place = seen.lines(app)[4].index("Config") - texts.region.x
        await pilot.click("#texts", offset=(place, 0))
        await settle(pilot)
        assert screen._section == "Config" and "[Config]" in seen.text(app)
        await pilot.press("e")
        assert screen.focused is texts.text("Events") and texts.text("Checkpoints").display


async def test_the_crosshair_is_told_in_the_strip(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project)
    checkpoints(run, 0, 500_000)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, settle, run)
        await pilot.press("h", "h")
        assert "┊ 950 k, " in seen.lines(app)[3] and "length" in seen.lines(app)[3]
        await pilot.press("escape")
        assert "┊" not in seen.lines(app)[3]


async def test_settings_are_set_against_another_run_and_the_recipe_again(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run, other = run_of(project, "b19e", "ppo", 600), run_of(project, "d411", "ppo", 900)
    async with app.run_test() as pilot:
        await opened(pilot, settle, run, "Config")
        await pilot.press("a", "enter")
        await settle(pilot)
        await pilot.press("a", *"d411", "enter")
        await settle(pilot)
        assert "differ from cart_pole d411" in seen.text(app)
        assert "0.0006   cart_pole d411 0.0009" in seen.text(app) and "ppo.gamma" not in seen.text(app)
        await pilot.press("a", "enter")
        await settle(pilot)
        assert "differ from cart_pole_env.train.json" in seen.text(app)
        assert other.path.is_dir()


async def test_settings_changed_by_hand_stand_among_the_differences(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = run_of(project, "b19e", "ppo", 1000)
    with EventWriter(run.events_path) as stream:
        stream.append("set", steps=520_000, values={"ppo.gamma": 0.9, "reward.upright": 2.0}, old={"ppo.gamma": 0.99})
    async with app.run_test() as pilot:
        await opened(pilot, settle, run, "Config")
        assert "C 0.9 since 520 k, by hand" in seen.line_with(app, "ppo.gamma")
        assert "C 2 since 520 k, by hand" in seen.line_with(app, "reward.upright")
        await pilot.press("slash", *"learning", "enter")
        await settle(pilot)
        assert "ppo.learning_rate" in seen.text(app) and "ppo.gamma" not in seen.text(app)
        await pilot.press("escape")
        await settle(pilot)
        assert "ppo.gamma" in seen.text(app)


async def test_c_sets_a_chosen_run_beside_this_one(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = run_of(project, "b19e", "ppo", 6)
    run_of(project, "aaaa", "sac", 1)
    other = run_of(project, "d411", "ppo", 9)
    async with app.run_test() as pilot:
        await opened(pilot, settle, run)
        await pilot.press("c")
        await settle(pilot)
        assert seen.text(app).index("cart_pole d411") < seen.text(app).index("cart_pole aaaa")
        await pilot.press("down", "up", "enter")
        await settle(pilot)
        assert isinstance(app.screen, CompareScreen) and app.screen.paths == (run.path, other.path)


async def test_the_log_opens_in_the_pager(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = full_run(project)
    started: list[Any] = []
    monkeypatch.setenv("PAGER", "less -R")
    monkeypatch.setattr("workbench.ui.inspecting.subprocess.run", lambda words, check: started.append(words))

    class Suspended:
        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

    monkeypatch.setattr(app, "suspend", Suspended)
    async with app.run_test() as pilot:
        await opened(pilot, settle, run, "Log")
        await pilot.press("O")
        assert started == [["less", "-R", str(run.log_path)]]


async def test_an_event_is_watched_at_the_checkpoint_before_it(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = full_run(project)
    checkpoints(run, 0, 400_000)
    played: list[Any] = []
    monkeypatch.setattr(app, "start_play", lambda words, *rest, **more: played.append(words[1]))
    async with app.run_test() as pilot:
        await opened(pilot, settle, run, "Events")
        await pilot.press("j", "v")
        assert played == ["7f3a:400000"]


async def test_scores_on_request_have_a_column_of_their_own(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = full_run(project)
    checkpoints(run, 0, 500_000, best=500_000)
    (run.path / "checkpoint_000000500000" / "video_000.mp4").write_bytes(b"x")
    with EventWriter(run.events_path) as stream:
        stream.append("scores", of_steps=500_000, mean_return=401.0, std_return=22.0, returns=[1.0] * 100)
    async with app.run_test() as pilot:
        await opened(pilot, settle, run, "Checkpoints")
        row = seen.line_with(app, "500 000")
        assert "420 ± 30 (10)  401 ± 22 (100)" in row and "▸" in row
        assert "Re-scored" in seen.text(app) and "Film" in seen.text(app)


async def test_d_shows_bars_of_terms(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run, "Terms")
        await pilot.press("d")
        assert titles(screen) == ["reward terms, an episode"] and "an episode" in seen.lines(app)[6]
        assert "▓▓▓" in seen.line_with(app, "│u upright")
        await pilot.press("d")
        assert len(titles(screen)) == 2 and seen.braille(app)


async def test_the_head_names_group_parent_and_children(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = run_of(project, "a001", "ppo", 600, group="g1")
    run_of(project, "a002", "ppo", 600, seed=2, group="g1")
    child = run_of(project, "c001", "ppo", 700)
    record = child.record()
    parent = {"reference": f"{run.name}:500000", "run": run.name, "checkpoint": "checkpoint_000000500000",
              "steps": 500_000, "iteration": 10}  # fmt: skip
    spec = {**record["spec"], "parent": f"{run.name}:500000"}
    durable.write_json(child.spec_path, {**record, "spec": spec, "parent": parent})
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, settle, run)
        assert "in group ×2" in seen.lines(app)[1] and "forks c001" in seen.lines(app)[1]
        await pilot.press("q")
        screen = await opened(pilot, settle, child)
        assert "F 500 k of a001" in seen.lines(app)[1]
        assert screen.charts()[0].data.curves[0].parent is not None


def test_the_time_is_split_as_it_was_told() -> None:
    def seconds(value: float) -> Points:
        one = np.array([1.0])
        return Points(one, one, one, np.array([value]))

    series = {"time/collection_s": seconds(6.0), "time/update_s": seconds(3.0), "time/idle_s": seconds(1.0)}
    assert time_split(Past((), series)) == "rollout 60 · update 30\u00a0%"
    assert time_split(Past(())) == ""


async def test_the_head_fits_its_width(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run)
        assert screen.current is not None
        row = replace(screen.current, tags=("a-very-long-tag", "another"))
        for width in (58, 78, 118, 158, 198):
            kin = Kin(3, "F 3 M of 2b60", ("1c08", "e5d2"))
            text = head_lines(row, (), Spec(), width, plain=False, short=False, kin=kin, split="rollout 61 %")
            assert max(len(line) for line in text.plain.splitlines()) <= width


def test_what_a_run_takes_is_read_from_its_process(tmp_path: Path) -> None:
    import os

    (tmp_path / "file").write_bytes(b"x" * 1000)
    meter = Meter()
    usage = meter(os.getpid(), tmp_path)
    assert usage.disk == 1000 and usage.memory is not None and usage.memory > 1e6 and usage.free
    nobody = meter(2**22 + 1, tmp_path)
    assert nobody.memory is None and nobody.cpu is None and nobody.disk == 1000


def test_readings_are_metrics_and_a_line() -> None:
    usages = Usages()
    assert usages.series() == {} and "measuring" in usages.line(80, plain=False).plain
    for steps, cpu in ((100.0, None), (200.0, 1.5), (150.0, 1.0)):
        usages.add(Usage(0.5, cpu, 1_000_000, 10, 20, (0.25, 2_000_000)), steps=steps, wall_s=1.0, episodes=1.0)
    # The first reading has no share, and the last is of a run that went back.
    assert list(usages.series()[CPU].values) == [150.0] and list(usages.series()[CPU].steps) == [200.0]
    said = usages.line(120, plain=True).plain.replace("\u00a0", " ")
    assert said == "CPU 50 %   this run 100 %, 1.0 MB   GPU 25 %, 2.0 MB   disk 10 B of 20 B free"
    assert len(usages.line(30, plain=False).plain) == 30


async def test_a_screen_that_was_left_is_read_for_no_more(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run)
        await pilot.press("escape")
        await settle(pilot)
        assert screen not in app.runs._followed


async def test_a_terminal_that_was_too_small_gives_the_focus_back(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = full_run(project)
    async with app.run_test() as pilot:
        await settle(pilot)
        table = app.focused
        screen = await opened(pilot, settle, run)
        chart = screen.focused
        await pilot.resize_terminal(20, 5)
        await settle(pilot)
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert chart is not None and screen.focused is chart
        await pilot.press("q")
        await settle(pilot)
        assert table is not None and app.focused is table
