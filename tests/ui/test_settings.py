"""The settings file: what holds, what is wrong with it and where, and the keys it puts elsewhere."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench.project import Project
from workbench.ui.commands import BY_ID
from workbench.ui.keymap import read_keymap
from workbench.ui.screens.keys import KeysCard
from workbench.ui.screens.notices import NoticesCard
from workbench.ui.settings import Settings, ensure_file, read_settings, template
from workbench.ui.widgets.preview import why_no_colours

THEMES = frozenset({"workbench-dark", "dracula"})


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_missing_file_sets_nothing(tmp_path: Path) -> None:
    assert read_settings(tmp_path / "none.toml") == (Settings(), [])


def test_what_is_written_holds(tmp_path: Path) -> None:
    text = 'theme = "dracula"\nnotices = "bell"\nsmoothing = 0\neditor = "code --wait"\n[keys]\nrun.stop = "Z"\n'
    settings, problems = read_settings(written(tmp_path, text), themes=THEMES)
    assert problems == []
    assert (settings.theme, settings.notices, settings.smoothing) == ("dracula", "bell", 0.0)
    assert settings.keys == {"run.stop": ("Z",)}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('theme = "dracla"\n', 1, "there is no theme dracla; nearest dracula"),
        ('\nnotices = "loud"\n', 2, "notices is off, bell or desktop, not 'loud'"),
        ("smoothing = 0.5\n", 1, "smoothing is 0, 0.6, 0.9 or 0.97, not 0.5"),
        ("smoothing = true\n", 1, "not True"),
        ("smothing = 0.6\n", 1, "nearest smoothing"),
        ("editor = 3\n", 1, "editor is a text, not 3"),
        ('theme = "dracula"\nnotices = bell\n', 2, "this is not TOML"),
        ('[keys]\n\n"run.stpo" = "X"\n', 3, "run.stpo is no command; nearest run.stop"),
        ('[keys]\nrun.stop = "x"\n', 2, "run.stop changes something, so it takes an upper-case letter"),
        ('[keys]\n"go.close" = "ctrl+b"\n', 2, "left to terminals and multiplexers"),
        ('[keys]\n"move.down" = "n"\n', 2, "n is run.new on Environments already"),
        ('[keys]\n"move.down" = 3\n', 2, "takes a key or a list of keys, not 3"),
        ('[keys]\n"move.down" = "downwards"\n', 2, "downwards is no key"),
        ("keys = 3\n", 1, "keys is a table"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_the_rest_holds(tmp_path: Path, text: str, line: int, said: str) -> None:
    settings, problems = read_settings(written(tmp_path, text + ""), themes=THEMES)
    assert [problem.line for problem in problems] == [line]
    assert said in problems[0].text
    assert settings.keys == {}


def test_two_commands_may_change_places() -> None:
    keymap, problems = read_keymap({"run.pin": "T", "run.annotate": "*"})
    assert problems == []
    assert keymap == {"run.pin": ("T",), "run.annotate": ("asterisk",)}


def test_the_template_is_toml_that_sets_nothing_and_names_every_setting(tmp_path: Path) -> None:
    path = ensure_file(tmp_path / "new" / "settings.toml")
    assert read_settings(path) == (Settings(), [])
    uncommented = "\n".join(
        line.removeprefix("# ") for line in template().splitlines() if " = " in line or line == "# [keys]"
    )
    assert set(tomllib.loads(uncommented)) == set(Settings.__dataclass_fields__)
    path.write_text("# mine\n")
    assert ensure_file(path).read_text() == "# mine\n"


async def test_keys_move_with_their_labels_and_are_read_again(project: Project, settle: Settle) -> None:
    file = written(project.root, '[keys]\n"find.here" = "f3"\n')
    fakes.write_environments(project)
    app = fakes.make_app(project, settings_file=file)
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        assert "f3 Filter" in seen.lines(app)[-1].replace("F3", "f3")
        await pilot.press("slash", *"cart")
        assert "Environments 3 of 3" in seen.text(app)
        await pilot.press("f3", *"cart", "enter")
        await settle(pilot)
        assert "Environments 1 of 3" in seen.text(app)
        file.write_text('[keys]\n"find.here" = "n"\n')
        await pilot.press("ctrl+r")
        await settle(pilot)
        assert "settings.toml line 2: find.here: n is run.new on Environments already" in seen.notices(app)
        assert "/ Filter" in seen.lines(app)[-1]
        await pilot.press("ctrl+r")
        await settle(pilot)
        assert seen.notices(app).count("line 2") == 1


async def test_the_card_of_keys_knows_every_command(project: Project, settle: Settle) -> None:
    app = fakes.make_app(project, settings_file=written(project.root, '[keys]\n"run.stop" = "Z"\n'))
    async with app.run_test(size=(100, 40)) as pilot:
        await settle(pilot)
        app.screen.action_app_keys()  # type: ignore[attr-defined]
        await pilot.pause()
        assert isinstance(app.screen, KeysCard)
        await pilot.press(*"run.stop")
        await pilot.pause()
        line = seen.line_with(app, BY_ID["run.stop"].tooltip[:20])
        assert "Z" in line and "✎" in line


async def test_notices_are_kept_and_only_three_are_seen(project: Project, settle: Settle) -> None:
    app = fakes.make_app(project)
    async with app.run_test(size=(100, 40)) as pilot:
        await settle(pilot)
        for number in range(5):
            app.notify(f"[notice] {number}")
            await pilot.pause()
        assert len(list(app._notifications)) == 3
        app.screen.action_app_notifications()  # type: ignore[attr-defined]
        await pilot.pause()
        assert isinstance(app.screen, NoticesCard)
        shown = seen.text(app)
        assert shown.index("[notice] 4") < shown.index("[notice] 0")
        await pilot.press("Y")
        assert app.clipboard.startswith("10:42  [notice] 4\n")


async def test_a_bell_calls_only_where_nobody_looks(
    project: Project, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = fakes.make_app(project, settings_file=written(project.root, 'notices = "bell"\n'))
    rung: list[str] = []
    monkeypatch.setattr(type(app), "bell", lambda _: rung.append("bell"))
    async with app.run_test() as pilot:
        await settle(pilot)
        app.notify("one")
        assert rung == []
        app.app_focus = False
        app.notify("two")
        assert rung == ["bell"]


async def test_the_settings_file_is_written_once_and_opened(
    project: Project, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = project.root / "mine" / "settings.toml"
    app = fakes.make_app(project, settings_file=file)

    def edit(_: object, path: Path, line: int = 0) -> None:
        path.write_text('theme = "dracula"\n')

    monkeypatch.setattr(type(app), "open_outside", edit)
    async with app.run_test() as pilot:
        await settle(pilot)
        app.screen.action_app_settings()  # type: ignore[attr-defined]
        await pilot.pause()
        assert app.theme == "dracula"


async def test_curves_begin_as_smooth_as_is_set_and_previews_can_be_off(project: Project, settle: Settle) -> None:
    file = written(project.root, 'smoothing = 0.6\npreview = "off"\n')
    fakes.fake_run(project, "ant", "7f3a", returns=[1, 2, 3])
    app = fakes.make_app(project, settings_file=file)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "smooth 0.6" in seen.text(app)
        assert why_no_colours(app, plain=False) == "Previews are off in the settings."


async def test_every_theme_draws_every_place(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    fakes.fake_run(project, "ant", "7f3a", returns=[1, 2, 3])
    app = fakes.make_app(project)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        for name in app.available_themes:
            app.theme = name
            for place in "1234":
                await pilot.press(place)
            await pilot.pause()
        assert app.is_running
