"""The list of runs: what it shows, how it is sorted and filtered, and what its keys ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench import durable
from workbench.project import Project
from workbench.runs import EventWriter, RunDirectory, RunState, StateFile, pending
from workbench.ui.app import WorkbenchApp
from workbench.ui.run_headline import EMPTY
from workbench.ui.screens.ask import AskCard
from workbench.ui.screens.ended import EndedCard
from workbench.ui.screens.run import RunScreen
from workbench.ui.screens.runs import RunsScreen

RISING = [float(value) for value in range(0, 1000, 100)]


async def opened(pilot: Pilot[None], settle: Settle) -> RunsScreen:
    await settle(pilot)
    if not isinstance(pilot.app.screen, RunsScreen):
        await pilot.press("2")
    await settle(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, RunsScreen)
    return screen


def add_returns(run: RunDirectory, values: list[float], *, steps: int, start: int) -> None:
    with EventWriter(run.events_path) as stream:
        for place, value in enumerate(values, start=1):
            at = start + place * steps
            stream.append(
                "metrics",
                steps=at,
                wall_s=at / 1000,
                episodes=place,
                iteration=place,
                values={"rollout/ep_rew_mean": value},
            )


async def test_without_runs_it_says_what_to_press(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        assert EMPTY in seen.words(app)


async def test_a_run_that_appears_is_listed_with_its_curve(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        fakes.fake_run(project, "cart_pole", "7f3a", returns=RISING, total_steps=1_000_000)
        await settle(pilot)
        row = seen.line_with(app, "cart_pole 7f3a")
        assert "PPO" in row and "900" in row and "●" in row
        assert seen.braille(app) > 20
        assert "● 1" in seen.lines(app)[0]


async def test_the_curve_moves_when_events_are_appended(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = fakes.fake_run(project, "cart_pole", "7f3a", returns=[1, 2], total_steps=1_000_000)
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        before = seen.text(app)
        add_returns(run, [500, 600, 700, 800], steps=100_000, start=200_000)
        await settle(pilot)
        after = seen.text(app)
        assert "800" in seen.line_with(app, "cart_pole 7f3a")
        assert after != before and "600 k" in seen.line_with(app, "╰─")


async def test_a_short_line_of_a_run_without_episodes_says_what_it_waits_for(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    fakes.fake_run(project, "cart_pole", "7f3a")
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        assert "Waiting for the first episode to end" in seen.text(app)


async def test_a_run_whose_process_is_gone_shows_as_crashed_and_opens_its_last_words(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    log = "iteration 7\nRuntimeError: the pole fell through the floor\n"
    run = fakes.fake_run(project, "cart_pole", "40ac", returns=RISING, log=log, alive=False)
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        assert "†" in seen.line_with(app, "cart_pole 40ac")
        assert "✗ 1" in seen.lines(app)[0]
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, EndedCard)
        assert "the pole fell through the floor" in seen.text(app)
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, RunScreen) and app.screen.path == run.path
        assert "✗ 0" in seen.lines(app)[0]


async def test_a_killed_run_says_so_in_a_narrow_list_and_its_last_line_once_on_the_card(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = fakes.fake_run(project, "cart_pole", "40ac", returns=RISING, log="iteration 7\n", alive=False)
    stored = durable.read_json(run.state_path)
    durable.write_json(run.exit_path, {"pid": stored["pid"], "pid_started": stored["pid_started"], "code": -9})
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        assert "killed 9" in seen.line_with(app, "cart_pole 40ac")
        await pilot.press("enter")
        await settle(pilot)
        assert "killed, signal 9 " in seen.line_with(app, "crashed at")
        assert seen.text(app).count("iteration 7") == 1
        assert "esc Close" in seen.text(app)


async def test_a_damaged_run_says_on_its_card_what_is_damaged(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    durable.write_text(project.runs / "PPO" / "half_20261129-184032_ffff" / "run.json", "{")
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("enter")
        await settle(pilot)
        assert "run.json is missing or damaged" in seen.line_with(app, "crashed at")


async def test_a_tiny_terminal_keeps_the_counts(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    fakes.fake_run(project, "cart_pole", "40ac", returns=RISING, alive=False)
    async with app.run_test(size=(60, 16)) as pilot:
        await opened(pilot, settle)
        assert "[2 Runs]" in seen.lines(app)[0] and "✗ 1" in seen.lines(app)[0]


async def test_a_plain_terminal_reads_its_chart_as_numbers(project: Project, settle: Settle) -> None:
    fakes.fake_run(project, "cart_pole", "40ac", returns=RISING)
    app = fakes.make_app(project, plain=True)
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, settle)
        assert seen.braille(app) == 0
        assert seen.line_with(app, "|steps").split()[:3] == ["|steps", "0", "1.67"]
        assert seen.line_with(app, "+- return")


async def test_the_cursor_stays_on_its_run_when_rows_move(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "aaaa", started=fakes.NOW - 900)
    fakes.fake_run(project, "cart_pole", "bbbb", started=fakes.NOW - 800)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        await pilot.press("j")
        assert screen.current is not None and screen.current.short_id == "aaaa"
        fakes.fake_run(project, "cart_pole", "cccc", started=fakes.NOW - 10)
        screen._pressed_at = -10
        await settle(pilot)
        assert [line.row.short_id for line in screen.listing.lines] == ["cccc", "bbbb", "aaaa"]
        assert screen.current.short_id == "aaaa"


async def test_rows_lie_still_just_after_a_key_press(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "aaaa", returns=[10], started=fakes.NOW - 900)
    run = fakes.fake_run(project, "ant", "bbbb", returns=[5], started=fakes.NOW - 900, seed=2)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        while screen.listing.sort != "return":
            await pilot.press("greater_than_sign")
        assert [line.row.short_id for line in screen.listing.lines] == ["aaaa", "bbbb"]
        add_returns(run, [20], steps=1_000, start=2_000_000)
        await pilot.press("k")
        await settle(pilot)
        assert [line.row.short_id for line in screen.listing.lines] == ["aaaa", "bbbb"]
        screen._pressed_at = -10
        screen._let_go()
        assert [line.row.short_id for line in screen.listing.lines] == ["bbbb", "aaaa"]


async def test_sorting_by_a_column_either_way(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    for short_id, value in (("aaaa", 30.0), ("bbbb", 10.0), ("cccc", 20.0)):
        fakes.fake_run(project, "ant", short_id, returns=[value], started=fakes.NOW - 900)
    fakes.fake_run(project, "ant", "dddd", started=fakes.NOW - 900)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        while screen.listing.sort != "return":
            await pilot.press("greater_than_sign")
        assert [line.row.short_id for line in screen.listing.lines] == ["aaaa", "cccc", "bbbb", "dddd"]
        await pilot.press("exclamation_mark")
        assert [line.row.short_id for line in screen.listing.lines] == ["bbbb", "cccc", "aaaa", "dddd"]
        assert "sort return ▴" in seen.text(app)
        await pilot.press("less_than_sign")
        assert screen.listing.sort != "return"


async def test_a_filter_hides_counts_and_is_taken_back(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "aaaa")
    fakes.fake_run(project, "cart_pole", "bbbb", state="finished", reason="goal")
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        await pilot.press("slash", *"state:live", "enter")
        assert [line.row.short_id for line in screen.listing.lines] == ["aaaa"]
        assert "1 of 2" in seen.text(app)
        await pilot.press("escape")
        assert len(screen.listing.lines) == 2
        await pilot.press("slash", *"zebra", "enter")
        assert "No run matches zebra; 2 are hidden. esc clears." in seen.words(app)


async def test_a_bad_filter_says_so_and_the_last_good_one_stays(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    fakes.fake_run(project, "ant", "aaaa")
    fakes.fake_run(project, "cart_pole", "bbbb")
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await opened(pilot, settle)
        await pilot.press("slash", *"ant")
        screen.box.value = "ant stat:live"
        await pilot.pause()
        assert [line.row.short_id for line in screen.listing.lines] == ["aaaa"]
        assert "Did you mean state?" in seen.text(app)


async def test_stop_leaves_a_request(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = fakes.fake_run(project, "cart_pole", "7f3a")
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("S")
        await settle(pilot)
        assert [request.verb for request in pending(run)] == ["stop"]
        assert "writes a checkpoint and ends" in seen.notices(app)


async def test_stop_takes_a_queued_run_out(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    woken: list[Path] = []
    monkeypatch.setattr("workbench.runs.stopping.ensure_supervisor", woken.append)
    run = fakes.fake_run(project, "cart_pole", "7f3a", state="queued")
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("S")
        await settle(pilot)
        assert [request.verb for request in pending(run)] == ["stop"]
        assert woken and "taken out of the queue" in seen.notices(app)


async def test_marked_runs_are_stopped_together(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    runs = [fakes.fake_run(project, "ant", short_id) for short_id in ("aaaa", "bbbb", "cccc")]
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        await pilot.press("space", "space")
        assert len(screen.chosen) == 2 and "2 marked" in seen.text(app)
        await pilot.press("S", "enter")
        await settle(pilot)
        assert not any(pending(run) for run in runs)
        await pilot.press("S", "S")
        await settle(pilot)
        assert sorted(len(pending(run)) for run in runs) == [0, 1, 1]
        await pilot.press("u")
        assert len(screen.chosen) == 1


async def test_kill_asks_and_enter_alone_does_not_kill(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed: list[RunDirectory] = []
    monkeypatch.setattr("workbench.runs.stopping.kill_run", killed.append)
    run = fakes.fake_run(project, "cart_pole", "7f3a", returns=RISING)
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("K", "enter")
        await settle(pilot)
        assert isinstance(app.screen, RunsScreen) and not killed
        await pilot.press("K")
        assert isinstance(app.screen, AskCard)
        await pilot.press("K")
        await settle(pilot)
        assert [item.path for item in killed] == [run.path]


async def test_a_read_only_app_offers_no_act(project: Project, settle: Settle) -> None:
    run = fakes.fake_run(project, "cart_pole", "7f3a")
    app = fakes.make_app(project, read_only=True)
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("S", "K")
        await settle(pilot)
        assert not pending(run) and isinstance(app.screen, RunsScreen)


async def test_watch_record_and_montage_start_commands(project: Project, settle: Settle) -> None:
    players = fakes.FakePlayers()
    app = fakes.make_app(project, players=players)
    run = fakes.fake_run(project, "cart_pole", "7f3a", returns=RISING)
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("v")
        assert not players.all and "no checkpoint yet" in seen.notices(app)
        (run.path / "checkpoint_000000000000").mkdir()
        (run.path / "checkpoint_000000500000").mkdir()
        await pilot.press("v")
        await pilot.press("V", "ctrl+g")
        await pilot.press("m", "ctrl+g")
        await settle(pilot)
        assert players.last.words[:2] == ("play", "7f3a")
        assert app.launcher.commands == [  # type: ignore[attr-defined]
            "workbench record 7f3a",
            "workbench montage 7f3a --layout grid --num-videos 2",
        ]


@pytest.mark.parametrize("damage", ["json", "state", "events", "empty", "file"])
async def test_damaged_folders_are_rows_and_do_no_harm(
    project: Project, app: WorkbenchApp, settle: Settle, damage: str
) -> None:
    fakes.fake_run(project, "ant", "aaaa", returns=RISING)
    run = fakes.fake_run(project, "cart_pole", "bbbb", returns=RISING, started=fakes.NOW - 2000)
    garbage = b'\x00\xff{"kind": "metrics", "steps": "many"}\n{"kind":"metrics","steps":-1,"values":[1]}\n{torn'
    match damage:
        case "json":
            run.spec_path.write_bytes(garbage)
        case "state":
            run.state_path.write_bytes(garbage)
        case "events":
            run.events_path.write_bytes(garbage)
        case "empty":
            for path in (run.spec_path, run.state_path, run.events_path):
                path.unlink()
        case "file":
            (run.path.parent / "ant_20260101-000000_ffff").write_bytes(garbage)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        assert "ant aaaa" in seen.text(app)
        assert "cart_pole bbbb" in seen.text(app)
        await pilot.press("j", "enter")
        await settle(pilot)
        if isinstance(app.screen, EndedCard):
            await pilot.press("enter")
            await settle(pilot)
        for _ in range(9):
            await pilot.press("full_stop")
        assert screen in app.screen_stack


async def test_the_way_of_looking_is_remembered(project: Project, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "aaaa", returns=RISING)
    for press in (["s", "x", "y", "greater_than_sign"], []):
        app = fakes.make_app(project)
        async with app.run_test() as pilot:
            screen = await opened(pilot, settle)
            await pilot.press(*press)
            view = screen.chart_view
            assert (view.weight, view.x_axis.value) == (0.97, "wall time")
            assert view.log == {"rollout/ep_rew_mean"}
            assert screen.listing.sort == "state"


async def test_the_crosshair_walks_and_escape_takes_it_away(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    fakes.fake_run(project, "ant", "aaaa", returns=RISING)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        await pilot.press("h", "h")
        assert screen.chart_view.cursor == 13_500_000
        assert "at 13.5 M" in seen.text(app) and "┊" in seen.text(app)
        await pilot.press("escape")
        assert screen.chart_view.cursor is None
        await pilot.press("escape", "escape")
        assert app.screen is screen


async def test_a_hidden_place_reads_no_curves(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = fakes.fake_run(project, "ant", "aaaa", returns=RISING)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        assert screen in app.runs._followed
        known = app.runs._histories[run.path].steps
        await pilot.press("1")
        await settle(pilot)
        assert screen not in app.runs._followed
        drawn = screen.chart.drawn
        with EventWriter(run.events_path) as stream:
            stream.append("metrics", steps=known + 1, values={"rollout/ep_rew_mean": 1.0})
        fakes.fake_run(project, "ant", "bbbb", returns=RISING)
        await settle(pilot)
        assert screen.chart.drawn == drawn and app.runs._histories[run.path].steps == known


async def test_states_turn_as_their_files_do(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = fakes.fake_run(project, "cart_pole", "7f3a", state="queued")
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        assert "○" in seen.line_with(app, "cart_pole 7f3a")
        for state, glyph in ((RunState.RUNNING, "●"), (RunState.STOPPING, "◒"), (RunState.STOPPED, "■")):
            StateFile(run.state_path).write(state, reason="by hand" if state is RunState.STOPPED else "")
            await settle(pilot)
            assert glyph in seen.line_with(app, "cart_pole 7f3a")
        assert "by hand" in seen.line_with(app, "cart_pole 7f3a")


async def test_a_run_taken_from_disk_leaves_the_list(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = fakes.fake_run(project, "cart_pole", "7f3a")
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        run.path.rename(project.root / "elsewhere")
        await settle(pilot)
        assert EMPTY in seen.words(app)


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (119, 40), (160, 48), (220, 60)])
async def test_it_fits_every_width(project: Project, app: WorkbenchApp, settle: Settle, size: tuple[int, int]) -> None:
    fakes.fake_run(project, "cart_pole", "7f3a", returns=RISING)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, settle)
        assert "cart_pole 7f3a" in seen.text(app)
        assert "900" in seen.line_with(app, "cart_pole 7f3a")


def note(run: RunDirectory, **changes: Any) -> None:
    durable.write_json(run.annotations_path, changes)


async def test_tags_are_found(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = fakes.fake_run(project, "ant", "aaaa")
    fakes.fake_run(project, "ant", "bbbb")
    note(run, tags=["baseline"], note="", pinned=[])
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await opened(pilot, settle)
        assert "baseline" in seen.line_with(app, "ant aaaa")
        await pilot.press("slash", *"tag:base*", "enter")
        assert [line.row.short_id for line in screen.listing.lines] == ["aaaa"]


async def test_where_only_the_list_fits_z_shows_the_chart(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "aaaa", returns=RISING)
    async with app.run_test(size=(80, 18)) as pilot:
        screen = await opened(pilot, settle)
        assert not seen.braille(app) and not app.runs._histories
        await pilot.press("z")
        await settle(pilot)
        assert seen.braille(app) > 20
        await pilot.press("escape")
        await settle(pilot)
        assert app.screen is screen and "ant aaaa" in seen.text(app) and not seen.braille(app)


async def test_the_curves_go_on_under_a_card(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = fakes.fake_run(project, "ant", "aaaa", returns=[1, 2], total_steps=1_000_000)
    async with app.run_test(size=(80, 40)) as pilot:
        screen = await opened(pilot, settle)
        await pilot.press("K")
        drawn = screen.chart.drawn
        add_returns(run, [500, 600], steps=100_000, start=200_000)
        await settle(pilot)
        assert isinstance(app.screen, AskCard)
        assert screen.chart.drawn > drawn and "600" in seen.line_with(app, "ant aaaa")


async def test_the_crosshair_means_a_checkpoint_of_the_run_under_the_cursor(project: Project, settle: Settle) -> None:
    players = fakes.FakePlayers()
    app = fakes.make_app(project, players=players)
    written = [{"kind": "checkpoint", "steps": steps, "path": ""} for steps in (0, 6_000_000, 12_000_000)]
    run = fakes.fake_run(project, "ant", "aaaa", returns=RISING, events=written)
    for steps in (0, 6_000_000, 12_000_000):
        (run.path / f"checkpoint_{steps:012d}").mkdir()
    async with app.run_test(size=(80, 40)) as pilot:
        await opened(pilot, settle)
        assert seen.text(app).count("◇") >= 3
        await pilot.press("left_square_bracket", "left_square_bracket", "v")
        assert players.last.words[:2] == ("play", "aaaa:6000000")


async def test_a_checkpoint_that_was_thrown_away_is_on_the_curve_no_more(project: Project, settle: Settle) -> None:
    app = fakes.make_app(project)
    written = [{"kind": "checkpoint", "steps": steps, "path": ""} for steps in (0, 6_000_000, 12_000_000)]
    run = fakes.fake_run(project, "ant", "aaaa", returns=RISING, events=written)
    for steps in (0, 6_000_000, 12_000_000):
        (run.path / f"checkpoint_{steps:012d}").mkdir()
    async with app.run_test(size=(80, 40)) as pilot:
        await opened(pilot, settle)
        assert seen.line_with(app, "◇  ").count("◇") == 3
        (run.path / "checkpoint_000006000000").rmdir()
        await settle(pilot)
        assert seen.line_with(app, "◇  ").count("◇") == 2
        await pilot.press("left_square_bracket", "left_square_bracket")
        await pilot.pause()
        assert "▲ 0" in seen.text(app)


async def test_it_opens_on_the_newest_live_run_else_where_it_was_left(project: Project, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "aaaa", state="finished", started=fakes.NOW - 900)
    fakes.fake_run(project, "ant", "bbbb", state="finished", started=fakes.NOW - 800)
    for short_id in ("bbbb", "aaaa"):
        app = fakes.make_app(project)
        async with app.run_test() as pilot:
            screen = await opened(pilot, settle)
            assert screen.current is not None and screen.current.short_id == short_id
            await pilot.press("G")
    fakes.fake_run(project, "ant", "cccc", started=fakes.NOW - 1000)
    app = fakes.make_app(project)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        assert screen.current is not None and screen.current.short_id == "cccc"


async def test_it_outlives_a_terminal_of_20_by_5(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    for seed in (1, 2, 3):
        fakes.fake_run(project, "ant", f"{seed:04x}", seed=seed, group="g", returns=RISING)
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await opened(pilot, settle)
        await pilot.press("l", "j", "d")
        await pilot.resize_terminal(20, 5)
        await pilot.press("j", "greater_than_sign", "t")
        await settle(pilot)
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert app.screen is screen and "ant 0001" in seen.text(app)


async def test_recalled_filters_and_the_crossed_out_term(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "aaaa")
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        for text in ("ant", "state:live"):
            await pilot.press("slash", *text, "enter", "escape")
        await pilot.press("slash", "up", "up")
        assert screen.box.value == "ant"
        await pilot.press("down", "enter")
        assert screen.box.value == "state:live" and "/ state:live" in seen.text(app)
        await pilot.press("slash", "end", *" foo>1")
        spans = [(span.start, span.end) for span in screen.box._value.spans]
        assert (len("state:live "), len("state:live foo")) in spans


async def test_marked_runs_are_reported_on(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    for name in ("7f3a", "b19e", "1c08"):
        fakes.fake_run(project, "cart_pole", name, state="finished", started=fakes.NOW - int(name, 16))
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("space", "space", "r")
        await settle(pilot)
        await pilot.press("ctrl+g")
        launcher = app.launcher
        assert isinstance(launcher, fakes.FakeLauncher)
        [command] = launcher.commands
        # By when they began, newest first.
        assert command.startswith("workbench report 1c08 7f3a")


async def test_marked_runs_are_compared(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    from workbench.ui.screens.compare import CompareScreen

    for short_id in ("aaaa", "bbbb"):
        fakes.fake_run(project, "ant", short_id, returns=RISING)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        assert screen.can("run.compare") is None
        await pilot.press("a", "c")
        await settle(pilot)
        assert isinstance(app.screen, CompareScreen)


async def test_columns_of_the_spec_are_shown_and_sorted_by(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    for short_id, gamma in (("aaaa", 0.9), ("bbbb", 0.99)):
        spec = {"env_id": "Ant-v5", "algorithm": "ppo", "seed": 1, "total_steps": 10, "ppo": {"gamma": gamma}}
        fakes.fake_run(project, "ant", short_id, spec=spec)
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await opened(pilot, settle)
        await screen.run_action("list_columns")
        await pilot.press(*"ppo.gamma", "enter", "ctrl+g")
        await settle(pilot)
        assert "gamma" in seen.line_with(app, "Steps/s") and "0.99" in seen.line_with(app, "ant bbbb")
        await pilot.press("less_than_sign")
        await settle(pilot)
        assert screen.listing.sort == "ppo.gamma"
        assert [line.row.short_id for line in screen.listing.lines] == ["bbbb", "aaaa"]


async def test_enter_in_the_chart_opens_the_run_as_long_as_no_checkpoint_is_pointed_at(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = fakes.fake_run(project, "cart_pole", "7f3a", state="finished", returns=RISING)
    watched: list[bool] = []
    monkeypatch.setattr(RunsScreen, "action_viewer_watch", lambda screen: watched.append(True))
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        screen.chart.focus()
        await pilot.press("h", "enter")
        assert watched == [True] and app.screen is screen
        await pilot.press("escape", "enter")
        await settle(pilot)
        assert watched == [True]
        assert isinstance(app.screen, RunScreen) and app.screen.path == run.path
