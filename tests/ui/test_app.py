"""The app as a whole: places, palette, help, quitting, small terminals, read-only, and what it never loads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from textual.command import CommandPalette

from tests.ui import fakes
from tests.ui.conftest import Settle
from tests.ui.seen import line_with, lines, notices, text
from workbench.errors import RequestError
from workbench.project import Project, cache_folder
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.error import ErrorCard
from workbench.ui.screens.help import HelpCard
from workbench.ui.screens.jump import JumpLabels
from workbench.ui.screens.quit import QuitCard
from workbench.ui.state import Remembered
from workbench.ui.widgets.focus_line import FocusLine

HEAVY = ("torch", "mujoco", "gymnasium", "stable_baselines3", "polyscope")
OURS = ("simulation", "policies", "training", "viewer", "montage")


def test_the_app_and_its_screens_load_no_heavy_library() -> None:
    screens = sorted(path.stem for path in Path("workbench/ui/screens").glob("[a-z]*.py"))
    code = (
        "import importlib, sys\n"
        "import workbench.ui.app\n"
        f"for name in {screens}: importlib.import_module('workbench.ui.screens.' + name)\n"
        f"print([name for name in {HEAVY} if name in sys.modules],"
        f" [name for name in {OURS} if 'workbench.' + name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] []"


def test_without_a_terminal_the_verb_says_what_to_do_instead(project: Project) -> None:
    import argparse

    from workbench.verbs import app as verb

    with pytest.raises(RequestError, match="needs a terminal"):
        verb.run(argparse.Namespace(read_only=False, plain=False), project)


async def test_number_keys_go_to_the_four_places(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for key, tab in (("2", "[2 Runs]"), ("3", "[3 Viewer]"), ("4", "[4 Recordings]"), ("1", "[1 Environments]")):
            await pilot.press(key)
            await pilot.pause()
            assert tab in lines(app)[0]


async def test_a_project_with_runs_opens_on_them(project: Project, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "7f3a")
    app = fakes.make_app(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "[2 Runs]" in lines(app)[0]
        assert "● 1" in lines(app)[0]


async def test_the_header_says_what_the_machine_does_where_there_is_room(project: Project, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "7f3a")
    fakes.fake_run(project, "ant", "2b60", state="failed")
    app = fakes.make_app(project)
    async with app.run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        assert "● 1 live  ○ 0 queued  ✗ 1 ended badly" in lines(app)[0]
        assert "lab-arm  CPU 91 %  RAM 5.2/16 GB" in lines(app)[0]
        assert lines(app)[0].rstrip().endswith("10:42")


async def test_escape_never_quits_and_q_does_at_the_top(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("escape", "escape")
        assert app.is_running
        await pilot.press("q")
        await pilot.pause()
        assert app._exit


async def test_quitting_asks_while_a_run_is_live_and_stays_by_default(project: Project, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "7f3a")
    fakes.fake_run(project, "ant", "63f1", state="queued")
    app = fakes.make_app(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert isinstance(app.screen, QuitCard)
        assert "1 run is live, 1 is queued. They go on" in text(app)
        await pilot.press("ctrl+q")
        await pilot.press("escape")
        await pilot.pause()
        assert not isinstance(app.screen, QuitCard)
        await pilot.press("q", "enter")
        await pilot.pause()
        assert app._exit


async def test_stopping_all_sends_requests_and_quits(project: Project, settle: Settle) -> None:
    from workbench.runs import pending

    run = fakes.fake_run(project, "ant", "7f3a")
    app = fakes.make_app(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+q", "tab", "enter")
        while not app._exit:
            await pilot.pause()
    assert [request.verb for request in pending(run)] == ["stop"]


async def test_a_film_being_made_is_a_reason_to_ask(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.start_film(["record", "ant"], "recording of ant")
        await pilot.press("ctrl+q")
        await pilot.pause()
        assert "1 film being made will be finished" in text(app)


async def test_ctrl_c_says_how_to_quit(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("ctrl+c")
        assert app.is_running
        assert "ctrl+q quits." in notices(app)


async def test_help_lists_the_keys_of_the_screen_and_can_be_searched(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 40)) as pilot:
        await settle(pilot)
        await pilot.press("question_mark")
        await pilot.pause()
        assert isinstance(app.screen, HelpCard)
        assert "Help · Environments" in text(app)
        assert "lower case never changes a run" in text(app)
        assert "V record" in text(app)
        await pilot.press("slash", *"filter")
        await pilot.pause()
        assert "V record" not in text(app)
        assert "Filter the list" in text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "V record" in text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert not isinstance(app.screen, HelpCard)


async def test_the_palette_runs_commands_and_finds_environments(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("2", "colon")
        await pilot.pause()
        assert isinstance(app.screen, CommandPalette)
        await pilot.press(*"cart_pole")
        await palette_searched(app)
        await pilot.press("enter")
        await pilot.press("enter")
        await pilot.pause()
        assert "[1 Environments]" in lines(app)[0]
        assert "cart_pole" in line_with(app, "╭─ Environments")


async def palette_searched(app: WorkbenchApp) -> None:
    palette = app.screen
    assert isinstance(palette, CommandPalette)
    while not palette.query_one("CommandList").option_count:  # type: ignore[attr-defined]
        await palette.workers.wait_for_complete(
            [worker for worker in palette.workers if worker.node is palette and not worker.is_finished] or None
        )


async def test_the_palette_offers_only_what_can_be_done_here(app: WorkbenchApp, settle: Settle) -> None:
    from workbench.ui.palette import WorkbenchCommands

    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        provider = WorkbenchCommands(app.screen)
        names = [hit.text async for hit in provider.discover()]
        assert "Run: New…" in names
        assert "App: Quit" in names
        assert "Run: Kill…" not in names
        assert "Chart: Smoothing" not in names
        found = [hit.text async for hit in provider.search("read again")]
        assert found[0] == "App: Read again"


async def test_a_read_only_app_greys_what_acts(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    app = fakes.make_app(project, read_only=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        screen = app.screen
        assert screen.check_action("viewer_record", ()) is None
        assert screen.check_action("open_outside", ()) is True
        assert screen.check_action("run_new", ()) is True
        await pilot.press("V")
        await pilot.pause()
        assert app.screen is screen
        assert "Record: not in a read-only app. Start workbench without --read-only to act." in notices(app)


async def test_a_letter_goes_to_its_pane_and_a_number_to_its_place(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        first = app.screen
        await pilot.press("semicolon")
        await pilot.pause()
        assert isinstance(app.screen, JumpLabels)
        targets = dict(app.screen.targets)
        assert len(targets) >= 2 and "a" in lines(app)[1]
        letter, widget = list(targets.items())[-1]
        await pilot.press(letter)
        assert app.screen is first and app.focused is widget
        await pilot.press("semicolon", "escape")
        assert app.screen is first and app.focused is widget
        await pilot.press("semicolon", "3")
        await pilot.pause()
        assert "[3 Viewer]" in lines(app)[0]


async def test_two_clicks_on_a_title_maximise_and_restore(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.click(offset=(5, 1), times=2)
        await settle(pilot)
        assert app.screen.maximized is not None
        await pilot.click(offset=(5, 1), times=2)
        await settle(pilot)
        assert app.screen.maximized is None


async def test_the_title_of_the_terminal_says_how_far_the_live_runs_are(project: Project, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "7f3a", returns=[1, 2, 3, 4])
    fakes.fake_run(project, "ant", "b19e", returns=[1, 2])
    app = fakes.make_app(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert app.terminal_title == "workbench · 2 live · 30 %"


async def test_the_palette_finds_checkpoints_and_files(
    project: Project, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.ui.palette import WorkbenchCommands

    fakes.write_environments(project)
    run = fakes.fake_run(project, "ant", "7f3a")
    checkpoint = run.path / "checkpoint_000000512000"
    checkpoint.mkdir()
    (checkpoint / "policy.json").write_text("{}")
    app = fakes.make_app(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        provider = WorkbenchCommands(app.screen)
        await provider.startup()
        found = [hit.text async for hit in provider.search("ant_env.py")]
        assert "envs/ant_env.py" in found
        found = [hit.text async for hit in provider.search("512000")]
        assert found == ["ant 7f3a 512000"]


@pytest.mark.parametrize("size", [(59, 24), (80, 15)])
async def test_a_terminal_too_small_says_the_size_needed(
    project: Project, settle: Settle, size: tuple[int, int]
) -> None:
    fakes.fake_run(project, "ant", "7f3a")
    app = fakes.make_app(project)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        said = " ".join(text(app).split())
        assert f"workbench needs 60 columns and 16 rows; this terminal has {size[0]} by {size[1]}." in said
        assert "Live runs: 1." in said


async def test_themes_change_and_are_remembered(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert app.theme == "workbench-dark"
        app.toggle_theme()
        await pilot.pause()
        assert app.theme_variables["series-1"].upper() == "#5786E9"
    assert Remembered(project.root / ".remembered.json").text("app", "theme") == "workbench-light"


async def test_other_themes_get_the_curves_of_their_brightness(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.theme = "dracula"
        await pilot.pause()
        assert app.theme_variables["series-1"].upper() == "#5DCAFF"


async def test_a_film_that_is_done_says_where_it_is(app: WorkbenchApp, settle: Settle) -> None:
    launcher = app.launcher
    assert isinstance(launcher, fakes.FakeLauncher)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.start_film(["record", "ant"], "recording of ant")
        launcher.finish(launcher.jobs[0])
        await pilot.pause()
        assert "The recording of ant is done. 4 shows it." in notices(app)


async def test_a_worker_that_fails_is_a_card_without_a_traceback(app: WorkbenchApp, settle: Settle) -> None:
    async def fall() -> None:
        raise ValueError("out of cheese")

    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.run_worker(fall(), exit_on_error=False, description="feeding the mouse")
        await pilot.pause()
        await pilot.pause()
        assert isinstance(app.screen, ErrorCard)
        assert "feeding the mouse: out of cheese" in text(app)
        assert app.is_running


async def test_a_pane_is_maximised_and_restored(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("z")
        await pilot.pause()
        assert app.screen.maximized is not None and app.screen.maximized.id == "list-pane"
        assert "[1 Environments]" in lines(app)[0]
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen.maximized is None


async def test_a_fault_of_the_app_is_a_sentence_and_a_report(app: WorkbenchApp, settle: Settle) -> None:
    def fall() -> None:
        raise ValueError("out of cheese")

    with pytest.raises(ValueError, match="out of cheese"):
        async with app.run_test(size=(80, 24)) as pilot:
            await settle(pilot)
            app.screen.call_later(fall)
            await pilot.pause()
    reports = list((cache_folder() / "faults").glob("*.txt"))
    assert len(reports) == 1
    assert "out of cheese" in reports[0].read_text()
    assert app.return_code == 1


async def test_plain_draws_ascii_borders_and_glyphs(project: Project, settle: Settle) -> None:
    fakes.write_environments(project, broken=True)
    app = fakes.make_app(project, plain=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert lines(app)[0].rstrip().endswith("> 0  . 0  x 0")
        assert lines(app)[1].startswith("+-")
        assert "x pour_cup" in text(app)


async def test_plain_says_in_a_sentence_what_has_the_focus(project: Project, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "7f3a", returns=[1, 2, 3, 4])
    fakes.fake_run(project, "ant", "2b60", state="failed", returns=[118.0])
    app = fakes.make_app(project, plain=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("j")
        app.screen.query_one(FocusLine).look()
        await pilot.pause()
        said = lines(app)[-2].strip()
        assert said.startswith("Runs, row 2 of 2, ant 2b60")
        assert "failed" in said and "return 118" in said and "10 percent" in said
        assert said.isascii()


async def test_a_filter_is_remembered_between_starts(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("slash", *"cart", "enter")
    again = fakes.make_app(project)
    async with again.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "Environments 1 of 3" in text(again)
        await pilot.press("escape")
        await pilot.pause()
        assert "Environments 3 of 3" in text(again)


async def test_two_apps_show_the_same_run(project: Project, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "7f3a")
    first, second = fakes.make_app(project), fakes.make_app(project)
    async with first.run_test(size=(80, 24)) as one:
        await settle(one)
        assert "7f3a" in text(first)
    async with second.run_test(size=(80, 24)) as two:
        await settle(two)
        assert "7f3a" in text(second)


async def test_what_went_on_without_the_app_is_said_on_return(project: Project, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "7f3a")
    fakes.fake_run(project, "ant", "2b60", state="finished", reason="steps")
    memory = Remembered(project.root / ".remembered.json")
    memory.keep("app", "left", fakes.NOW - 3600)
    app = fakes.make_app(project, remembered=memory)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert notices(app) == "1 live run adopted, 1 ended while you were away. 2 shows them."
    assert memory.number("app", "left") == fakes.NOW


async def test_the_palette_goes_to_an_environment_from_a_place_not_yet_opened(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    fakes.fake_run(project, "ant", "7f3a")
    app = fakes.make_app(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await app.show_environment("cart_pole")
        await settle(pilot)
        assert "╭─ cart_pole" in text(app)
        run = app.runs.snapshot.rows[0]
        await app.open_run(run.path)
        await settle(pilot)
        assert "[2 Runs]" in lines(app)[0]
        assert "7f3a" in text(app)


async def test_a_forgotten_theme_falls_back(project: Project, settle: Settle) -> None:
    memory = Remembered(project.root / ".remembered.json")
    memory.keep("app", "theme", "gone")
    app = fakes.make_app(project, remembered=memory)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert app.theme == "workbench-dark"


async def test_a_click_moves_the_cursor_and_two_open_the_details(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.click("#entries", offset=(8, 3))
        await pilot.pause()
        assert "╭─ cart_pole" in text(app)
        assert app.focused is not None and app.focused.id == "entries"
        await pilot.click("#entries", offset=(8, 3), times=2)
        await pilot.pause()
        assert app.focused is not None and app.focused.id == "details"


async def test_tabs_of_the_header_can_be_clicked(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.click("Header", offset=(lines(app)[0].index("3 Viewer") + 2, 0))
        await pilot.pause()
        assert "[3 Viewer]" in lines(app)[0]


async def test_a_file_that_cannot_be_opened_is_copied(app: WorkbenchApp, settle: Settle, monkeypatch) -> None:
    monkeypatch.setenv("EDITOR", "/nowhere/editor")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        path = app.project.envs / "ant_env.py"
        app.open_outside(path)
        assert app.clipboard == str(path)
        await pilot.pause()
        assert "its path is copied" in notices(app)
        app.open_outside(path.with_name("gone.py"))
        await pilot.pause()
        assert "gone.py is not there any more." in notices(app)
