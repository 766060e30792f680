"""The place of environments: the tree, the details, what is broken, the filter."""

from __future__ import annotations

from textual.pilot import Pilot

from tests.ui import fakes
from tests.ui.conftest import Settle
from tests.ui.seen import line_with, lines, notices, text
from workbench import durable
from workbench.catalog import Entry, discover
from workbench.project import Project
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.environments import EnvironmentsScreen
from workbench.ui.screens.error import ErrorCard
from workbench.ui.screens.new_run import NewRunForm
from workbench.ui.screens.record import RecordTask
from workbench.ui.widgets.entry_tree import EntryTree
from workbench.ui.widgets.fact_sheet import FactSheet


def screen(app: WorkbenchApp) -> EnvironmentsScreen:
    assert isinstance(app.screen, EnvironmentsScreen)
    return app.screen


def told(app: WorkbenchApp) -> str:
    """Return what the details say, without the breaks of lines."""
    facts = [fact for sheet in app.screen.query("#facts").results(FactSheet) for fact in sheet.facts]
    return " ".join(f"{fact.name} {fact.value.plain}" for fact in facts).replace("\u00a0", " ")


async def on(pilot: Pilot[None], app: WorkbenchApp, settle: Settle, name: str) -> EnvironmentsScreen:
    await settle(pilot)
    place = screen(app)
    place.select(name)
    await pilot.pause()
    return place


async def test_a_project_without_runs_opens_on_its_environments(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "[1 Environments]" in lines(app)[0]
        assert "Environments 3 of 3" in lines(app)[1]
        assert "P✓ S✓ T·" in line_with(app, "└   cart_pole")
        assert "no recipe" in line_with(app, "▾ ant")


async def test_a_variant_stands_under_its_environment(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        rows = lines(app)
        place = next(number for number, row in enumerate(rows) if "▾ ant" in row)
        assert "└   ant_no_contact" in rows[place + 1]
        await pilot.press("t")
        assert "▾ ant" not in text(app)
        assert "ant_no_contact" in text(app)


async def test_details_are_described_when_the_description_arrives(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    describer = fakes.FakeDescriber()
    app = fakes.make_app(project, describer=describer)
    async with app.run_test(size=(80, 24)) as pilot:
        await on(pilot, app, settle, "cart_pole")
        assert describer.asked[:3] == ["ant", "ant_no_contact", "cart_pole"]
        assert "not described yet" in told(app)
        for entry in app.library.entries:
            fakes.describe(entry)
        await pilot.press("ctrl+r")
        await settle(pilot)
        assert "rate 25 Hz control · 50 Hz physics" in told(app)
        assert "action 1   −3 … 3   cart_force" in told(app)
        assert "ends pole_angle ⇒ terminated · after 1 000 steps" in told(app)
        assert "25 Hz control" in text(app)


async def test_a_slow_description_says_describing(project: Project, settle: Settle) -> None:
    import asyncio

    gate = asyncio.Event()

    class Slow(fakes.FakeDescriber):
        async def describe(self, entries: list[Entry]) -> None:
            await gate.wait()

    fakes.write_environments(project)
    app = fakes.make_app(project, describer=Slow())
    async with app.run_test(size=(80, 24)) as pilot:
        while not app.library.describing:
            await pilot.pause(0.01)
        await pilot.pause()
        assert "describing…" in text(app)
        gate.set()
        await settle(pilot)
        assert "describing…" not in text(app)


async def test_a_module_that_cannot_be_read_is_a_row_with_file_line_and_reason(
    project: Project, settle: Settle
) -> None:
    fakes.write_environments(project, broken=True)
    app = fakes.make_app(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "line 7" in line_with(app, "├ ✗ pour_cup")
        await pilot.press("g", "down")
        await pilot.pause()
        assert "envs/pour_cup_env.py line 7" in told(app)
        assert "expected ':'" in told(app)
        assert "O opens the file" in text(app)
        assert screen(app).check_action("run_new", ()) is None
        assert screen(app).check_action("open_outside", ()) is True


async def test_files_that_belong_to_nothing_are_listed_with_the_reason(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    durable.write_json(project.envs / "walker_env_fast.json", {"description": "x", "env_cfg": {}})
    durable.write_json(project.recipes / "walker_env.train.json", {"ppo": {}})
    app = fakes.make_app(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "files left out" in text(app)
        await pilot.press("G")
        await pilot.pause()
        assert "walker_env.train.json" in text(app)
        assert "belongs to no environment" in told(app)


async def test_the_filter_finds_keeps_and_restores(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("slash", *"ant")
        await pilot.pause()
        assert "Environments 2 of 3" in text(app)
        await pilot.press("enter")
        await pilot.pause()
        assert isinstance(app.focused, EntryTree)
        assert "Environments 2 of 3" in text(app)
        await pilot.press("slash", "x")
        await pilot.pause()
        assert "No environment matches x; 3 are hidden." in told(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "Environments 2 of 3" in text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "Environments 3 of 3" in text(app)


async def test_keys_fold_and_move(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        place = await on(pilot, app, settle, "ant_no_contact")
        await pilot.press("h")
        assert place.listing.current is not None and place.listing.current.key == "ant"
        await pilot.press("h")
        assert "ant_no_contact" not in text(app)
        await pilot.press("l", "l")
        assert place.listing.current is not None and place.listing.current.key == "ant_no_contact"
        await pilot.press("G")
        assert place.listing.current is not None and place.listing.current.key == "cart_pole"


async def test_reading_again_keeps_the_cursor_and_shows_new_files(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        place = await on(pilot, app, settle, "cart_pole")
        durable.write_text(project.envs / "a_new_env.py", fakes.CART_POLE.replace("CartPole", "ANew"))
        await pilot.press("ctrl+r")
        await settle(pilot)
        assert "Environments 4 of 4" in text(app)
        assert place.listing.current is not None and place.listing.current.key == "cart_pole"


async def test_n_opens_the_form_of_what_is_under_the_cursor(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await on(pilot, app, settle, "cart_pole")
        await pilot.press("n")
        await pilot.pause()
        assert isinstance(app.screen, NewRunForm)
        assert app.screen.draft.entry.name == "cart_pole"


async def test_v_plays_and_says_where_to_see_it(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await on(pilot, app, settle, "cart_pole")
        await pilot.press("v")
        launcher = app.launcher
        assert isinstance(launcher, fakes.FakeLauncher)
        assert launcher.commands == ["workbench play cart_pole"]
        assert "3 shows what plays" in notices(app)


async def test_without_a_display_v_says_so_and_offers_to_record(app: WorkbenchApp, settle: Settle, monkeypatch) -> None:
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await on(pilot, app, settle, "cart_pole")
        await pilot.press("v")
        await pilot.pause()
        assert isinstance(app.screen, ErrorCard)
        assert "V records it to a film instead." in text(app)
        assert app.launcher.jobs == []


async def test_shift_v_opens_the_form_of_a_recording(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await on(pilot, app, settle, "cart_pole")
        await pilot.press("V")
        await pilot.pause()
        assert isinstance(app.screen, RecordTask)
        await pilot.press("ctrl+g")
        await pilot.pause()
        launcher = app.launcher
        assert isinstance(launcher, fakes.FakeLauncher)
        assert launcher.jobs[0].words[:2] == ("record", "cart_pole")
        assert "4 shows it" in notices(app)


async def test_runs_made_here_stand_in_the_details(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    fakes.fake_run(project, "cart_pole", "7f3a")
    async with app.run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        await pilot.press("1")
        await on(pilot, app, settle, "cart_pole")
        assert "● 7f3a" in line_with(app, "runs here")


async def test_the_cursor_is_remembered_between_starts(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await on(pilot, app, settle, "cart_pole")
    again = fakes.make_app(project)
    async with again.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        row = screen(again).listing.current
        assert row is not None and row.key == "cart_pole"


async def test_on_a_tiny_terminal_enter_shows_the_details_and_escape_the_list(
    app: WorkbenchApp, settle: Settle
) -> None:
    async with app.run_test(size=(60, 16)) as pilot:
        await on(pilot, app, settle, "cart_pole")
        assert "observation" not in text(app) and "spaces" not in text(app)
        await pilot.press("enter")
        await pilot.pause()
        assert "spaces" in text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert "▾ ant" in text(app)


async def test_an_empty_project_says_what_to_do(project: Project, settle: Settle) -> None:
    app = fakes.make_app(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "No environments here." in text(app)
        assert "envs/<name>_env.py" in text(app)


def test_a_broken_variant_does_not_hide_its_environment(project: Project) -> None:
    from workbench.ui.screens.environment_rows import shelve

    fakes.write_environments(project)
    durable.write_text(project.envs / "ant_env_bent.json", "{")
    shelf = shelve(discover(project))
    assert "ant" in shelf.entries
    assert any("bent" in str(problem.path) for problems in shelf.problems.values() for problem in problems)
