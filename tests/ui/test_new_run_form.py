"""The launch form: recipe, overrides, problems at their fields, and what it launches."""

from __future__ import annotations

import json

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from tests.ui import fakes
from tests.ui.conftest import Settle, workers_done
from tests.ui.seen import line_with, lines, notices, text
from workbench.catalog import discover
from workbench.cli import main
from workbench.project import Project
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.new_run import NewRunForm
from workbench.ui.screens.runs import RunsScreen
from workbench.ui.widgets.form import FieldLine, FormSection


@pytest.fixture(autouse=True)
def checked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check with each key instead of a little after the last one."""
    monkeypatch.setattr("workbench.ui.screens.new_run.DEBOUNCE_S", 0.0)
    monkeypatch.setattr("workbench.ui.trial.QUIET_S", 0.0)
    monkeypatch.setenv("WORKBENCH_SLOTS", "2")


async def opened(pilot: Pilot[None], settle: Settle, name: str = "cart_pole") -> NewRunForm:
    app = pilot.app
    assert isinstance(app, WorkbenchApp)
    await settle(pilot)
    app.new_run_of(name)
    await pilot.pause()
    form = app.screen
    assert isinstance(form, NewRunForm)
    await checked(pilot)
    return form


async def checked(pilot: Pilot[None]) -> None:
    """Wait until the form has been checked."""
    for _ in range(2):
        await workers_done(pilot)
        await pilot.pause()


def line(form: NewRunForm, key: str) -> FieldLine:
    return next(item for item in form.query(FieldLine) if item.key == key)


def editor(form: NewRunForm, key: str) -> Input:
    found = line(form, key).editor
    assert isinstance(found, Input)
    return found


def said(form: NewRunForm, key: str) -> str:
    """Return what stands beside a field: mark, then words."""
    field = line(form, key)
    mark, aside = (str(field.query_one(name, Static).content) for name in (".name", ".aside"))
    return f"{mark[0]} {aside}".replace("\u00a0", " ").strip()


async def shown(pilot: Pilot[None], form: NewRunForm, key: str) -> FieldLine:
    """Unfold the section of a field, as a person would to see it, and return its line."""
    (section,) = (item for item in form.query(FormSection) if key in dict(item.section.rows))
    await section.unfold()
    await pilot.pause()
    return line(form, key)


async def fill_in(pilot: Pilot[None], form: NewRunForm, key: str, value: str) -> None:
    await shown(pilot, form, key)
    editor(form, key).value = value
    await pilot.pause()
    await checked(pilot)


async def test_the_form_opens_as_the_recipe_fills_it_in(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        form = await opened(pilot, settle)
        assert "1 000 000" in line_with(app, "total_steps")
        assert "489 iterations" in line_with(app, "total_steps")
        assert "this project · cart_pole_env.train.json" in line_with(app, "recipe")
        assert line_with(app, "Same as").split("Same as ")[1].startswith("workbench train cart_pole --algorithm ppo")
        assert "✓ ready" in lines(app)[-2]
        assert form.draft.edits == {}


async def test_sections_beyond_the_budget_start_folded(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 40)) as pilot:
        form = await opened(pilot, settle)
        titles = [item.section.title for item in form.query(FormSection) if not item.is_open]
        assert titles == ["PPO", "Network", "Evaluation", "Checkpoints", "Anomaly watch", "Machine"]
        await shown(pilot, form, "ppo.n_steps")
        assert said(form, "ppo.n_steps") == "× 32 = 2 048 a rollout"
        assert said(form, "ppo.batch_size") == "8 a pass"


async def test_a_folded_section_still_shows_what_was_changed(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 40)) as pilot:
        form = await opened(pilot, settle)
        await fill_in(pilot, form, "ppo.gamma", "0.9")
        form.query_one("#section-algorithm SectionTitle").focus()
        await pilot.press("left")
        await pilot.pause()
        assert "gamma" in text(app) and "n_epochs" not in text(app)
        assert "17 fields, 1 changed" in line_with(app, "▸ PPO")
        await pilot.press("right")
        await pilot.pause()
        assert "n_epochs" in text(app)


async def test_an_override_is_marked_against_the_recipe_and_in_the_command(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        form = await opened(pilot, settle)
        await fill_in(pilot, form, "ppo.learning_rate", "3e-4")
        assert said(form, "ppo.learning_rate") == "✎ recipe 0.001"
        assert "ppo.learning_rate=0.0003" in text(app)
        assert "1 changed" in lines(app)[0]
        await fill_in(pilot, form, "ppo.learning_rate", "")
        assert form.draft.edits == {}
        assert said(form, "ppo.learning_rate") == ""


async def test_typing_the_recipes_own_value_is_no_change(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        form = await opened(pilot, settle)
        await fill_in(pilot, form, "total_steps", "1M")
        assert form.draft.edits == {}


async def test_the_help_says_what_follows_from_what_is_typed(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 50)) as pilot:
        form = await opened(pilot, settle)
        await fill_in(pilot, form, "ppo.n_steps", "64")
        await fill_in(pilot, form, "n_envs", "8")
        line(form, "total_steps").editor.focus()
        for steps, iterations in (("5120", "10 iterations"), ("10240", "20 iterations")):
            await fill_in(pilot, form, "total_steps", steps)
            assert iterations in str(form.query_one("#help", Static).content)


async def test_all_problems_stand_at_their_fields_at_once(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 50)) as pilot:
        form = await opened(pilot, settle)
        await fill_in(pilot, form, "ppo.gamma", "1.1")
        await fill_in(pilot, form, "ppo.n_epochs", "2.5")
        assert said(form, "ppo.gamma") == "✗ must be from 0 to 1, got 1.1"
        assert said(form, "ppo.n_epochs").startswith("✗ must be a whole number")
        assert "2 problems" in text(app)
        await pilot.press("ctrl+g")
        await pilot.pause()
        assert app.screen is form
        assert isinstance(form.focused, Input)
        assert form.focused.value in ("1.1", "2.5")


@pytest.mark.parametrize("size", [(80, 24), (60, 16)])
async def test_the_field_with_the_focus_stays_in_view(app: WorkbenchApp, settle: Settle, size: tuple[int, int]) -> None:
    async with app.run_test(size=(100, 50)) as pilot:
        form = await opened(pilot, settle)
        await fill_in(pilot, form, "ppo.batch_size", "100")
        line(form, "ppo.batch_size").editor.focus()
        await pilot.resize_terminal(*size)
        await checked(pilot)
        row = line_with(app, "batch_size   ")
        assert row.startswith("│ ✗ batch_size"), text(app)


async def test_the_help_of_a_field_names_the_recipes_value(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(60, 24)) as pilot:
        form = await opened(pilot, settle)
        await fill_in(pilot, form, "ppo.batch_size", "128")
        line(form, "ppo.batch_size").editor.focus()
        await checked(pilot)
        assert "(recipe 256 · 16 a pass)" in str(form.query_one("#help", Static).content)


async def test_a_wrong_field_of_a_folded_section_is_shown(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 50)) as pilot:
        form = await opened(pilot, settle)
        form.draft = form.draft.edited("eval_episodes", "0", form.draft.base())
        form.check_soon(wait=False)
        await checked(pilot)
        await pilot.pause()
        section = next(item for item in form.query(FormSection) if item.section.name == "evaluation")
        assert not section.is_open
        assert "at least 1" in said(form, "eval_episodes")
        assert line(form, "eval_episodes").display
        assert not line(form, "eval_seed").display


async def test_seeds_make_one_group_of_runs_and_open_runs(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        form = await opened(pilot, settle)
        editor(form, "seeds").value = "1-3"
        editor(form, "tags").value = "baseline"
        await checked(pilot)
        assert said(form, "seeds") == "3 runs, one group"
        await pilot.press("ctrl+g")
        await settle(pilot)
        queue = app.enqueue
        assert isinstance(queue, fakes.FakeQueue)
        assert [launch.spec.seed for launch in queue.launches] == [1, 2, 3]
        assert len({launch.group for launch in queue.launches}) == 1
        assert queue.launches[0].spec.tags == ("baseline",)
        assert queue.launches[0].environment["name"] == "cart_pole"
        assert isinstance(app.screen, RunsScreen)
        assert "2 started, 1 queued. enter opens one, S stops." in notices(app)


async def test_wrong_seeds_are_refused_in_words(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        form = await opened(pilot, settle)
        editor(form, "seeds").value = "one"
        await checked(pilot)
        assert said(form, "seeds").startswith("✗ must be whole numbers")
        await pilot.press("ctrl+g")
        await pilot.pause()
        assert app.screen is form
        assert form.focused is editor(form, "seeds")


async def test_another_algorithm_keeps_what_both_have_and_names_what_is_dropped(
    app: WorkbenchApp, settle: Settle
) -> None:
    async with app.run_test(size=(120, 50)) as pilot:
        form = await opened(pilot, settle)
        await fill_in(pilot, form, "ppo.gamma", "0.9")
        await fill_in(pilot, form, "ppo.n_epochs", "5")
        line(form, "algorithm").editor.focus()
        await pilot.press("right")
        await checked(pilot)
        assert form.draft.edits == {"sac.gamma": "0.9"}
        assert "SAC has no n_epochs: dropped." in notices(app)
        assert "1 changed" in line_with(app, "SAC   ")


async def test_an_environment_without_a_recipe_needs_a_budget(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 50)) as pilot:
        form = await opened(pilot, settle, "ant")
        assert "✗ 1 problem" in text(app)
        await fill_in(pilot, form, "total_steps", "20k")
        assert "✓ ready" in text(app)
        assert "--max-steps 20000" in text(app)


async def test_find_goes_to_a_field_in_a_folded_section(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        form = await opened(pilot, settle)
        await pilot.press("ctrl+f", *"eval_epi", "enter")
        await pilot.pause()
        await pilot.pause()
        assert isinstance(form.focused, Input)
        assert form.focused.parent is line(form, "eval_episodes")


async def test_arrows_and_enter_go_through_the_fields(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        form = await opened(pilot, settle)
        await pilot.press("down")
        assert form.focused is line(form, "n_envs").editor
        await pilot.press("down", "up", "enter")
        assert form.focused is line(form, "seeds").editor


async def test_leaving_keeps_the_draft_and_starts_nothing(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        form = await opened(pilot, settle)
        await fill_in(pilot, form, "ppo.gamma", "0.9")
        await pilot.press("escape")
        await settle(pilot)
        queue = app.enqueue
        assert isinstance(queue, fakes.FakeQueue)
        assert queue.launches == []
        again = await opened(pilot, settle)
        assert again is not form
        assert again.draft.edits == {"ppo.gamma": "0.9"}
        assert said(again, "ppo.gamma") == "✎ recipe 0.99"


async def test_the_command_is_copied_and_gives_the_same_spec(
    project: Project, app: WorkbenchApp, settle: Settle, capsys, monkeypatch
) -> None:
    def unmeasured(*_: object) -> dict[str, str]:
        return {"reason": "not in a test"}

    monkeypatch.setattr("workbench.verbs.rehearsing.Rehearsals.measure", unmeasured)
    async with app.run_test(size=(80, 24)) as pilot:
        form = await opened(pilot, settle)
        await fill_in(pilot, form, "ppo.learning_rate", "3e-4")
        await fill_in(pilot, form, "n_envs", "16")
        editor(form, "seeds").value = "7"
        await checked(pilot)
        launch = form.draft.check().launches[0]
        await pilot.press("ctrl+y")
        words = app.clipboard.split()
        assert words[:3] == ["workbench", "train", "cart_pole"]
    assert main(["--project", str(project.root), *words[1:], "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["runs"][0]
    assert told["spec"] == launch.spec.model_dump(mode="json")


async def test_a_read_only_app_shows_the_form_and_launches_nothing(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    app = fakes.make_app(project, read_only=True)
    async with app.run_test(size=(80, 24)) as pilot:
        form = await opened(pilot, settle)
        await pilot.press("ctrl+g")
        await pilot.pause()
        assert app.screen is form


async def test_a_queue_that_cannot_be_written_is_a_card(project: Project, settle: Settle) -> None:
    from workbench.errors import WorkFailedError
    from workbench.ui.screens.error import ErrorCard

    def full(runs_root, launches):
        raise WorkFailedError("the disk is full.", hint="Delete old runs.")

    fakes.write_environments(project)
    app = fakes.make_app(project, enqueue=full)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, settle)
        await pilot.press("ctrl+g")
        for _ in range(5):
            await pilot.pause()
        assert isinstance(app.screen, ErrorCard)
        assert "the disk is full." in text(app)
        assert "Delete old runs." in text(app)


def test_the_environment_of_a_launch_is_what_training_reads(project: Project) -> None:
    from workbench.simulation.source import EnvSource
    from workbench.ui.draft import environment_of

    fakes.write_environments(project)
    for entry in discover(project).entries:
        assert environment_of(entry) == EnvSource.from_entry(entry).to_json()


def test_every_field_of_a_run_has_one_place_in_the_form(project: Project) -> None:
    from workbench.specs import ALGORITHM_SPECS, RunSpec, field_table
    from workbench.ui.draft import Draft

    fakes.write_environments(project)
    entry = discover(project).find("cart_pole")
    elsewhere = {"env_id", "algorithm", "seed", "tags", "group", "parent"}
    for algorithm in ("ppo", "sac", "td3"):
        draft = Draft(entry, algorithm)
        keys = [key for section in draft.sections() for key, _ in section.rows]
        fields = {row.name for row in field_table(RunSpec)} - elsewhere
        fields |= {f"{algorithm}.{row.name}" for row in field_table(ALGORITHM_SPECS[algorithm])}
        assert sorted(keys) == sorted(fields)


async def test_keys_typed_before_the_form_is_there_go_to_its_first_field_and_to_no_run(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    from workbench.runs import pending
    from workbench.ui import origins

    run = fakes.fake_run(project, "cart_pole", "7f3a")
    gate, real = threading.Event(), origins.draft_of_run
    monkeypatch.setattr(origins, "draft_of_run", lambda *args, **more: gate.wait(20) and real(*args, **more))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("2", "n")
        while app.keys_held is None:
            await pilot.pause()
        await pilot.press("S", "right")
        gate.set()
        while not isinstance(app.screen, NewRunForm):
            await pilot.pause()
        form = app.screen
        await checked(pilot)
        assert not pending(run)
        assert form.draft.algorithm == "sac"
