"""The place of environments: the tree, the details, what is broken, the filter."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.ui import fakes
from tests.ui.conftest import Settle
from tests.ui.seen import braille, line_with, lines, notices, text
from workbench import durable
from workbench.catalog import Entry, discover
from workbench.project import Project
from workbench.ui.app import WorkbenchApp
from workbench.ui.outside import at_line
from workbench.ui.screens.environment_spaces import units_of
from workbench.ui.screens.environments import EnvironmentsScreen
from workbench.ui.screens.new_run import NewRunForm
from workbench.ui.screens.output import OutputCard
from workbench.ui.screens.record import RecordTask
from workbench.ui.widgets.entry_tree import EntryTree
from workbench.ui.widgets.fact_sheet import FactSheet


def screen(app: WorkbenchApp) -> EnvironmentsScreen:
    assert isinstance(app.screen, EnvironmentsScreen)
    return app.screen


def told(app: WorkbenchApp, sheet: str = "#facts") -> str:
    """Return what the details say, without the breaks of lines."""
    facts = [fact for found in app.screen.query(sheet).results(FactSheet) for fact in found.facts]
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
        assert "P○ S○ T·" in line_with(app, "└   cart_pole")
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


async def test_what_only_making_shows_stands_in_the_tree_and_in_the_form(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    fault = {"key": "import", "message": "No module named 'nowhere'", "line": 3}
    for entry in discover(project).entries:
        if entry.name == "cart_pole" or entry.variant is not None:
            fakes.describe(entry, faults=[fault] if entry.name == "cart_pole" else [])
    app = fakes.make_app(project)
    async with app.run_test(size=(120, 40)) as pilot:
        await on(pilot, app, settle, "cart_pole")
        assert "line 3" in line_with(app, "✗ cart_pole")
        assert "✗ ant_no_contact" not in text(app)
        app.new_run_of("cart_pole")
        await settle(pilot)
        assert "! cart_pole_env.py line 3: import No" in text(app)
        assert "module named 'nowhere'" in text(app)


async def test_files_that_belong_to_nothing_are_listed_with_the_reason(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    durable.write_json(project.envs / "walker_env_fast.json", {"description": "x", "env_cfg": {}})
    durable.write_json(project.recipes / "walker_env.train.json", {"ppo": {}})
    (project.envs / "zero_env.py").write_text("import numpy\n", encoding="utf-8")
    app = fakes.make_app(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "files left out" in text(app)
        await pilot.press("G")
        await pilot.pause()
        assert "walker_env.train.json" in text(app)
        assert "belongs to no environment" in told(app)
        await pilot.press("k", "k")
        await pilot.pause()
        assert "! envs/zero_env.py: defines no environment" in told(app)


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


def players(app: WorkbenchApp) -> fakes.FakePlayers:
    found = app.start_player
    assert isinstance(found, fakes.FakePlayers)
    return found


async def test_v_plays_under_a_random_agent_and_says_where_to_see_it(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await on(pilot, app, settle, "cart_pole")
        await pilot.press("v")
        assert players(app).last.words[:2] == ("play", "cart_pole")
        assert "--agent" not in players(app).last.words
        assert players(app).last.window
        assert "3 shows what plays" in notices(app)


async def test_another_agent_can_be_chosen_and_is_remembered(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        place = await on(pilot, app, settle, "cart_pole")
        place.query_one("#agent").focus()
        await pilot.press("right")
        await pilot.press("v")
        assert players(app).last.words[:4] == ("play", "cart_pole", "--agent", "zero")
    again = fakes.make_app(project)
    async with again.run_test(size=(80, 24)) as pilot:
        await on(pilot, again, settle, "cart_pole")
        await pilot.press("p")
        await pilot.pause()
        assert players(again).last.words[:4] == ("play", "cart_pole", "--agent", "zero")
        assert not players(again).last.window


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


async def test_letters_find_a_name_and_are_marked(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(160, 48)) as pilot:
        place = await on(pilot, app, settle, "cart_pole")
        await pilot.press("slash", *"anc")
        await pilot.pause()
        row = place.listing.current
        assert row is not None and (row.key, row.places) == ("ant_no_contact", (0, 4, 7))
        assert "Environments 1 of 3" in text(app)


async def test_words_with_is_ask_for_a_kind_and_are_counted(project: Project, settle: Settle) -> None:
    fakes.write_environments(project, broken=True)
    app = fakes.make_app(project)
    async with app.run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        await pilot.press("slash")
        await pilot.pause()
        await pilot.press(*"is:t")
        await pilot.pause()
        assert "is: train 1 · broken 1 · gym 0" in text(app)
        assert "Environments 1 of 4" in text(app) and "cart_pole" in text(app)
        await pilot.press("backspace", "b")
        await pilot.pause()
        assert "✗ pour_cup" in text(app) and "cart_pole" not in text(app)
        await pilot.press("backspace", "x")
        await pilot.pause()
        assert "is:x means nothing here" in told(app)


async def test_the_tree_counts_the_runs_of_each_environment(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    for name in ("7f3a", "63f1"):
        fakes.fake_run(project, "cart_pole", name)
    async with app.run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        await pilot.press("1")
        await settle(pilot)
        assert "P○ S○ T·   2" in line_with(app, "cart_pole  ")


async def test_comma_and_full_stop_turn_through_the_algorithms_of_the_recipe(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(160, 48)) as pilot:
        await on(pilot, app, settle, "cart_pole")
        assert "‹ PPO ○ ›" in line_with(app, "recipe   ")
        assert "n_envs 32 · n_steps 64 · batch_size 256 · learning_rate 0.001" in told(app, "#recipe-beside")
        await pilot.press("full_stop")
        assert "‹ SAC ○ ›" in line_with(app, "recipe   ")
        assert "learning_starts 1 000" in told(app, "#recipe-beside")
        await pilot.press("full_stop")
        assert "nothing for TD3: SB3's defaults are filled in" in told(app, "#recipe-beside")
        await pilot.press("comma", "comma")
        assert "‹ PPO ○ ›" in line_with(app, "recipe   ")


async def test_the_curves_of_the_runs_made_here_are_drawn(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    fakes.fake_run(project, "cart_pole", "7f3a", returns=[10.0 * place for place in range(10)])
    async with app.run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        await pilot.press("1")
        await on(pilot, app, settle, "cart_pole")
        await settle(pilot)
        assert braille(app) > 5
        assert "goal" in text(app)
        await pilot.press("full_stop")
        await pilot.pause()
        assert braille(app) == 0


async def test_a_picture_is_made_once_and_shown(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    painter = fakes.FakePainter((200, 30, 30))
    app = fakes.make_app(project, painter=painter)
    async with app.run_test(size=(160, 48)) as pilot:
        await on(pilot, app, settle, "cart_pole")
        await settle(pilot)
        assert painter.asked[-1] == "cart_pole"
        asked = len(painter.asked)
        assert text(app).count("▀") > 200
        await on(pilot, app, settle, "ant")
        await settle(pilot)
        await on(pilot, app, settle, "cart_pole")
        await settle(pilot)
        assert painter.asked.count("cart_pole") == 1 and len(painter.asked) == asked + 1
    plain = fakes.make_app(project, painter=painter, plain=True)
    async with plain.run_test(size=(160, 48)) as pilot:
        await on(pilot, plain, settle, "cart_pole")
        await settle(pilot)
        assert "▀" not in text(plain)


async def test_spaces_are_told_with_their_units(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    table = (
        "A cart.\n\n## Observation Space\nA `Box`.\n\n| Num | Name | Observation | Unit |\n| --- | --- | --- | --- |\n"
        "| 0 | angular_vel | of the pole | rad/s |\n| 2 | position | of the cart | m |\n"
    )
    for entry in discover(project).entries:
        fakes.describe(entry, docstring=table)
    async with app.run_test(size=(80, 24)) as pilot:
        await on(pilot, app, settle, "cart_pole")
        assert "4   angular_vel rad/s · linear_vel · position m · vertical_ang" in told(app)


async def test_what_only_a_critic_sees_and_what_succeeds_is_told(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    for entry in discover(project).entries:
        fakes.describe(entry, critic=["friction", "push_x"], terminated=["fell", "arrived"], successes=["arrived"])
    async with app.run_test(size=(80, 24)) as pilot:
        await on(pilot, app, settle, "cart_pole")
        assert "critic sees 2 besides, while it trains friction · push_x" in " ".join(told(app).split())
        assert "fell ⇒ terminated · arrived ⇒ success" in told(app)


def test_units_are_read_from_tables_of_gymnasium_too() -> None:
    docstring = (
        "## Action Space\n| Num | Action | Type (Unit) |\n| - | - | - |\n| 0 | Torque | torque (N m) |\n"
        "## Observation Space\n| Num | Observation | Min | Type (Unit) |\n| --- | --- | --- | --- |\n"
        "| 0 | z | -Inf | position (m) |\n| 1 | w | -Inf | angle (rad) |\n| excluded | x | -Inf | position (m) |\n"
    )
    assert units_of(docstring, "Action Space") == {0: "N m"}
    assert units_of(docstring, "Observation Space") == {0: "m", 1: "rad"}
    assert units_of("No table.", "Action Space") == {}


async def test_variants_stand_side_by_side(app: WorkbenchApp, settle: Settle, project: Project) -> None:
    durable.write_json(project.envs / "cart_pole_env_fast.json", {"description": "x", "env_cfg": {"frame_skip": 1}})
    for entry in discover(project).entries:
        fakes.describe(entry)
    async with app.run_test(size=(80, 24)) as pilot:
        await on(pilot, app, settle, "cart_pole")
        assert "variants as it is  frame_skip 2" in told(app)
        assert "fast  frame_skip 1" in told(app)


async def test_a_broken_file_opens_at_its_line(project: Project, settle: Settle, monkeypatch) -> None:
    fakes.write_environments(project, broken=True)
    app = fakes.make_app(project)
    opened: list[tuple[str, int]] = []
    monkeypatch.setattr(app, "open_outside", lambda path, line=0: opened.append((path.name, line)))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("g", "down", "O")
        await pilot.pause()
        screen(app).select("cart_pole")
        await pilot.pause()
        await pilot.press("O")
        assert opened == [("pour_cup_env.py", 7), ("cart_pole_env.py", 6)]


@pytest.mark.parametrize(
    ("editor", "words"),
    [
        (["vim"], ["vim", "+7", "a.py"]),
        (["/usr/bin/nano", "-w"], ["/usr/bin/nano", "-w", "+7", "a.py"]),
        (["code", "--wait"], ["code", "--wait", "--goto", "a.py:7"]),
        (["hx"], ["hx", "a.py:7"]),
        (["ed"], ["ed", "a.py"]),
    ],
)
def test_editors_are_told_the_line(editor: list[str], words: list[str]) -> None:
    assert at_line(editor, Path("a.py"), 7) == words
    assert at_line(editor, Path("a.py"), 0) == [*editor, "a.py"]


async def test_a_check_shows_what_it_prints(
    project: Project, app: WorkbenchApp, settle: Settle, tmp_path: Path
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        place = await on(pilot, app, settle, "cart_pole")
        place.action_environment_check()
        await settle(pilot)
        assert isinstance(app.screen, OutputCard)
        launcher = app.launcher
        assert isinstance(launcher, fakes.FakeLauncher)
        job = launcher.jobs[-1]
        assert job.words == ("check", "cart_pole")
        assert "check of cart_pole · running" in text(app)
        await pilot.press("escape")
        job.log = tmp_path / "check.log"
        job.log.write_text("error    envs/cart_pole_env.py:7: it is wrong\n")
        launcher.finish(job, exit_code=1)
        await settle(pilot)
        assert isinstance(app.screen, OutputCard)
        assert "check of cart_pole · exit code 1" in text(app)
        assert "it is wrong" in text(app)


async def test_a_benchmark_can_be_stopped(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        place = await on(pilot, app, settle, "cart_pole")
        place.action_environment_bench()
        await settle(pilot)
        job = app.launcher.jobs[-1]
        assert job.words == ("bench", "environments", "cart_pole")
        await pilot.press("S")
        await settle(pilot)
        assert job.state == "stopped"
        assert "benchmark of cart_pole · stopped" in text(app)


async def test_the_palette_offers_what_has_no_key(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        place = await on(pilot, app, settle, "cart_pole")
        for name in ("check", "bench", "new", "preview"):
            assert place.check_action(f"environment_{name}", ()) is True


def test_a_broken_variant_does_not_hide_its_environment(project: Project) -> None:
    from workbench.ui.screens.environment_rows import shelve

    fakes.write_environments(project)
    durable.write_text(project.envs / "ant_env_bent.json", "{")
    shelf = shelve(discover(project))
    assert "ant" in shelf.entries
    assert any("bent" in str(problem.path) for problems in shelf.problems.values() for problem in problems)


async def test_between_narrow_and_wide_details_and_recipe_are_tabs(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(130, 36)) as pilot:
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, EnvironmentsScreen)
        screen.select("cart_pole")
        await settle(pilot)
        assert "[About] Recipe" in text(app) and "budget" not in text(app)
        await pilot.press("full_stop")
        await settle(pilot)
        assert "About [Recipe]" in text(app) and "‹ PPO" in text(app) and "try it" not in text(app)
        await pilot.press("full_stop")
        await settle(pilot)
        assert "‹ SAC" in text(app)
        await pilot.press("comma", "comma")
        await settle(pilot)
        assert "[About] Recipe" in text(app)
        pane = screen.query_one("#details-pane").region
        await pilot.click(offset=(pane.x + 12, pane.y))
        await settle(pilot)
        assert "About [Recipe]" in text(app)
        # In a wider terminal both stand beside each other.
        await pilot.resize_terminal(170, 40)
        await settle(pilot)
        assert "Recipe and reference" in text(app) and "try it" in text(app)
