"""The Viewer place, with a player that is none at the other end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from tests.ui import fakes
from tests.ui.seen import line_with, lines, notices, text, words
from workbench import durable
from workbench.project import Project
from workbench.remote.frames import Frame
from workbench.runs import RunDirectory
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.error import ErrorCard
from workbench.ui.screens.play import PlayTask
from workbench.ui.screens.viewer import ViewerScreen
from workbench.ui.widgets.preview import Preview

Settle = Callable[[Pilot[None]], Awaitable[None]]
WIDE, SMALL = (160, 48), (80, 24)


@pytest.fixture
def players() -> fakes.FakePlayers:
    return fakes.FakePlayers()


@pytest.fixture
def app(project: Project, players: fakes.FakePlayers) -> WorkbenchApp:
    fakes.write_environments(project)
    return fakes.make_app(project, players=players)


@pytest.fixture
def run(project: Project) -> RunDirectory:
    """A run with a ladder of four checkpoints, the third its best."""
    scores = {2_000_000: -12.0, 4_500_000: 690.0, 8_500_000: 1688.0, 9_000_000: 1512.0}
    run = fakes.fake_run(
        project,
        events=[
            {"kind": "evaluation", "steps": steps, "mean_return": mean, "std_return": 74.0, "returns": [mean] * 20}
            for steps, mean in scores.items()
        ],
    )
    for steps in scores:
        durable.write_json(run.path / f"checkpoint_{steps:012d}" / "policy.json", {})
    run.set_best("checkpoint_000008500000")
    run.set_latest("checkpoint_000009000000")
    return run


async def watch(app: WorkbenchApp, pilot: Pilot[None], run: RunDirectory, settle: Settle) -> fakes.FakePlayer:
    """Play the run's best checkpoint, and go to where it is seen."""
    app.start_play(["play", "7f3a"], "ant 7f3a", {"target": "7f3a", "run": str(run.path)})
    player = app.start_player.last
    player.ready(run=run, agent="policy", checkpoint=8_500_000, age_s=60.0)
    await pilot.press("3")
    await settle(pilot)
    return player


def pane(app: WorkbenchApp) -> str:
    """The words in the pane of the preview."""
    return " ".join(" ".join(line[1:47] for line in lines(app)[2:20]).split())


def frame(width: int, height: int, colour: tuple[int, int, int] = (200, 40, 40)) -> Frame:
    return Frame(width, height, 0, 0, bytes(colour) * (width * height))


async def test_an_empty_place_says_what_to_press(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("3")
        await pilot.pause()
        assert "Nothing is playing. v on a run" in words(app)
        assert "No display" not in text(app)


async def test_what_is_started_replaces_what_plays(
    app: WorkbenchApp, players: fakes.FakePlayers, settle: Settle
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        app.start_play(["play", "ant"], "ant")
        app.start_play(["play", "7f3a:best"], "ant 7f3a best")
        assert [(player.words[1], player.window, player.is_ended) for player in players.all] == [
            ("ant", True, True),
            ("7f3a:best", True, False),
        ]
        await pilot.pause()
        assert "Opening ant 7f3a best in a window. 3 shows what plays." in notices(app)
        # The first one still says something; nobody listens.
        players.all[0].ready()
        assert app.viewer.playing is not None
        assert app.viewer.playing.ready is None
        await pilot.press("3")
        await pilot.pause()
        assert "Opening ant 7f3a best…" in text(app)


async def test_it_shows_the_state_that_its_process_tells(app: WorkbenchApp, run: RunDirectory, settle: Settle) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        for step in range(1, 13):
            player.state(
                step=step, last=step, time_s=0.05 * step, return_=step * 2.0, reward=2.05,
                terms={"forward": 1.21, "ctrl": -0.14 * step / 12},
            )  # fmt: skip
        player.tell(
            "episode", episode=2, seed=10_001, length=1000, reason="time_limit", agent="policy",
            checkpoint=8_500_000, **{"return": 1702.0},
        )  # fmt: skip
        player.state(seed=10_002, episode=3, step=412, last=412, time_s=20.6, return_=701.3, terms={"forward": 1.21})
        await pilot.pause()
        assert "ant 7f3a" in text(app)
        assert "checkpoint ◆ 8 500 000 best, 1m old" in text(app)
        assert "evaluated  1 688 ± 74 (20)" in text(app)
        assert "acts       deterministic" in text(app)
        assert "seed       10 002    episode 3" in text(app)
        assert "step 412 of 1 000   20.6 s   return 701   reward +2.05" in text(app)
        assert line_with(app, "forward").split("forward")[1].count("▓") == 12
        assert "2  seed 10 001  1 000 steps  time_limit" in text(app)
        assert "● window open" in text(app)
        assert line_with(app, "history").rstrip().endswith("●┤ 20.6 s")
        assert "2 M ◇  ◇  ◆  ◇ 9 M" in line_with(app, "checkpoints")
        assert "f follow the newest: off" in text(app)


@pytest.mark.parametrize(
    ("key", "order"),
    [
        ("space", {"do": "pause"}),
        ("h", {"do": "step", "n": -1}),
        ("left", {"do": "step", "n": -1}),
        ("l", {"do": "step", "n": 1}),
        ("left_curly_bracket", {"do": "skip", "seconds": -1}),
        ("right_curly_bracket", {"do": "skip", "seconds": 1}),
        ("plus", {"do": "speed", "value": 4.0}),
        ("minus", {"do": "speed", "value": 1.0}),
        ("less_than_sign", {"do": "seed", "value": 6}),
        ("greater_than_sign", {"do": "seed", "value": 8}),
        ("0", {"do": "reset"}),
        ("f", {"do": "follow", "on": True}),
        ("left_square_bracket", {"do": "checkpoint", "which": 4_500_000}),
        ("right_square_bracket", {"do": "checkpoint", "which": 9_000_000}),
        ("right_parenthesis", {"do": "checkpoint", "which": 9_000_000}),
    ],
)
async def test_each_key_gives_its_order(
    app: WorkbenchApp, run: RunDirectory, settle: Settle, key: str, order: dict[str, object]
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        player.state(speed=2.0, seed=7)
        player.orders.clear()
        await pilot.press(key)
        assert player.orders == [order]


async def test_what_cannot_go_further_gives_no_order(app: WorkbenchApp, run: RunDirectory, settle: Settle) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        player.state(speed=8.0, seed=0, checkpoint=9_000_000)
        player.orders.clear()
        await pilot.press("less_than_sign", "right_square_bracket")
        assert player.orders == []
        await pilot.press("plus")
        assert player.orders == [{"do": "speed", "value": 8.0}]


async def test_a_past_state_is_marked_and_a_click_on_the_line_goes_there(
    app: WorkbenchApp, run: RunDirectory, settle: Settle
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        player.state(step=100, last=400, time_s=5.0, playing=False)
        await pilot.pause()
        line = line_with(app, "history")
        assert line.rstrip().endswith("┤ 5 of 20 s")
        left, right, at = line.index("├"), line.index("┤"), line.index("●")
        assert (at - left - 1) / (right - left - 2) == pytest.approx(0.25, abs=0.02)
        assert "step 100 past" in text(app)
        player.orders.clear()
        await pilot.click("HistoryLine", offset=(left + 1, 0))
        await pilot.click("HistoryLine", offset=(right - 1, 0))
        await pilot.click("HistoryLine", offset=((left + right) // 2, 0))
        assert [order["do"] for order in player.orders] == ["seek"] * 3
        assert [order["step"] for order in player.orders] == [0, 400, pytest.approx(200, abs=6)]


async def test_a_click_on_a_checkpoint_lets_it_act(app: WorkbenchApp, run: RunDirectory, settle: Settle) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        player.orders.clear()
        await pilot.click("Ladder", offset=(line_with(app, "checkpoints").index("◇"), 0))
        assert player.orders == [{"do": "checkpoint", "which": 2_000_000}]
        await pilot.click("#numbers", offset=(13, 2))
        assert player.orders[-1] == {"do": "stochastic", "on": True}


async def test_the_preview_is_asked_for_at_its_size_while_it_is_seen(
    app: WorkbenchApp, run: RunDirectory, settle: Settle
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        assert pane(app) == "It plays in its window. p shows it here too."
        player.orders.clear()
        await pilot.press("p")
        await pilot.pause()
        assert player.orders == [{"do": "preview", "width": 46, "height": 36, "fps": 30}]
        assert "46×36 px · 30 fps" in text(app)
        assert "also in the window" in text(app)
        await pilot.resize_terminal(*WIDE)
        await pilot.pause()
        await pilot.pause()
        assert player.orders[-1] == {"do": "preview", "width": 94, "height": 84, "fps": 30}
        await pilot.press("2")
        await pilot.pause()
        assert player.orders[-1] == {"do": "preview", "on": False}
        await pilot.press("3")
        await pilot.pause()
        assert player.orders[-1]["width"] == 94
        await pilot.press("p")
        await pilot.pause()
        assert player.orders[-1] == {"do": "preview", "on": False}
        assert "It plays in its window." in text(app)


async def test_a_frame_is_shown_two_pixels_a_cell(app: WorkbenchApp, run: RunDirectory, settle: Settle) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        await pilot.press("p")
        await pilot.pause()
        pixels = bytearray(bytes((0, 0, 255)) * (46 * 36))
        # The upper half of the second cell of the first row.
        pixels[3:6] = bytes((255, 0, 0))
        player.frame(Frame(46, 36, 0, 0, bytes(pixels)))
        await pilot.pause()
        strip = app.screen.query_one(Preview).render_line(0)
        assert strip.text == "▀" * 46
        runs = [(len(segment.text), segment.style.color.triplet, segment.style.bgcolor.triplet) for segment in strip]
        blue, red = (0, 0, 255), (255, 0, 0)
        assert runs == [(1, blue, blue), (1, red, blue), (44, blue, blue)]
        assert lines(app)[2][1:5] == "▀▀▀▀"


async def test_a_terminal_of_256_colours_gets_the_nearest_of_them(
    app: WorkbenchApp, run: RunDirectory, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        await pilot.press("p")
        await pilot.pause()
        monkeypatch.setattr(type(app.console), "color_system", "256")
        # Dark grey is grey 234, of 28; orange is 166 of the cube, (215, 95, 0).
        for colour, shown in (((22, 24, 29), (28, 28, 28)), ((210, 100, 8), (215, 95, 0))):
            player.frame(frame(46, 36, colour))
            await pilot.pause()
            segment = next(iter(app.screen.query_one(Preview).render_line(3)))
            assert segment.style is not None
            assert segment.style.color is not None
            assert segment.style.color.triplet == shown


async def test_only_rows_that_changed_are_drawn_again(
    app: WorkbenchApp, run: RunDirectory, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        await pilot.press("p")
        await pilot.pause()
        player.frame(frame(46, 36))
        await pilot.pause()
        drawn: list[int] = []
        preview = app.screen.query_one(Preview)
        monkeypatch.setattr(preview, "refresh", lambda *regions, **_: drawn.extend(region.y for region in regions))
        player.frame(frame(46, 36))
        await pilot.pause()
        assert (preview.drawn, drawn) == (2, [])
        pixels = bytearray(frame(46, 36).pixels)
        pixels[46 * 3 * 7] = 0
        player.frame(Frame(46, 36, 0, 0, bytes(pixels)))
        await pilot.pause()
        assert drawn == [3]


async def test_a_frame_of_another_size_is_cut_or_leaves_the_rest_empty(
    app: WorkbenchApp, run: RunDirectory, settle: Settle
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        await pilot.press("p")
        await pilot.pause()
        preview = app.screen.query_one(Preview)
        for width, height in ((10, 11), (90, 90), (46, 1)):
            player.frame(frame(width, height))
            await pilot.pause()
            rows = [preview.render_line(row).text for row in range(18)]
            assert {len(row) for row in rows} == {46}
            assert sum(row.startswith("▀") for row in rows) == min(18, height // 2)


async def test_without_a_display_it_plays_here_and_says_so_once(
    app: WorkbenchApp, players: fakes.FakePlayers, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        app.start_play(["play", "ant"], "ant")
        await settle(pilot)
        assert not players.last.window
        assert isinstance(app.screen, ViewerScreen)
        players.last.ready(window=False)
        await settle(pilot)
        assert players.last.orders[-1]["do"] == "preview"
        assert "no display: playing here" in text(app)
        app.start_play(["play", "ant"], "ant")
        players.last.ready(window=False)
        await settle(pilot)
        assert notices(app).count("No display was found") == 1
        await pilot.press("v")
        await pilot.pause()
        assert "so there is no window" in notices(app)


async def test_a_window_that_does_not_open_gives_way_to_the_preview_with_the_reason_once(
    app: WorkbenchApp, players: fakes.FakePlayers, settle: Settle
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        app.start_play(["play", "ant"], "ant")
        for _ in range(2):
            players.last.error("window", "no window opens on display :0 (no GL).", "apt-get install libgl1")
        players.last.ready(window=False)
        await settle(pilot)
        assert isinstance(app.screen, ViewerScreen)
        assert notices(app).count("no window opens on display :0 (no GL). It plays here.") == 1
        assert players.last.orders[-1]["do"] == "preview"


async def test_without_graphics_the_numbers_go_on_and_the_reason_stands_in_the_pane(
    app: WorkbenchApp, run: RunDirectory, settle: Settle
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        await pilot.press("p")
        player.error("preview", "no picture can be drawn without a display (no EGL).")
        player.state(step=77, last=77)
        await pilot.pause()
        assert pane(app) == "no picture can be drawn without a display (no EGL)."
        assert "step 77" in text(app)


@pytest.mark.parametrize("closing", ["window", "key"])
async def test_a_closed_window_keeps_its_place_and_v_opens_it_again(
    app: WorkbenchApp, run: RunDirectory, players: fakes.FakePlayers, settle: Settle, closing: str
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        player.state(step=40, last=40, checkpoint=4_500_000, seed=3)
        if closing == "window":
            player.tell("closed", reason="window")
            player.finish(0)
        else:
            await pilot.press("S")
            assert player.is_ended
        await pilot.pause()
        assert "Window closed, v opens it again." in text(app)
        assert "step 40" in text(app)
        assert "■ closed at 4.5 M" in text(app)
        assert not isinstance(app.screen, ErrorCard)
        player.orders.clear()
        await pilot.press("space", "h", "f")
        assert player.orders == []
        await pilot.press("v")
        await pilot.pause()
        assert players.last is not player
        assert players.last.words == ("play", "7f3a:4500000", "--seed", "3")
        assert players.last.window


async def test_a_display_that_went_away_is_a_closed_window(
    app: WorkbenchApp, run: RunDirectory, settle: Settle
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        player.finish(1, ["X connection broken"])
        await pilot.pause()
        assert "Window closed, v opens it again." in text(app)


async def test_a_viewer_that_fails_is_its_own_card_and_touches_no_run(
    app: WorkbenchApp, players: fakes.FakePlayers, settle: Settle
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        app.start_play(["play", "ant"], "ant")
        players.last.error("playing", "the checkpoint is torn.", "Choose another.", fatal=True)
        players.last.finish(2, ["loading", "torn"])
        await pilot.pause()
        assert isinstance(app.screen, ErrorCard)
        assert "The viewer could not show ant" in text(app)
        assert "the checkpoint is torn." in text(app)
        assert "loading" not in text(app)
        await pilot.press("d")
        await pilot.pause()
        assert "loading" in text(app)
        await pilot.press("escape", "3")
        await pilot.pause()
        assert "It could not be shown: the" in text(app)
        assert "Choose another." in text(app)


async def test_a_refused_order_is_said(app: WorkbenchApp, run: RunDirectory, settle: Settle) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        player.error("policy", "checkpoint_4500000 is torn.", "Choose another.")
        await pilot.pause()
        assert "checkpoint_4500000 is torn. Choose another." in notices(app)
        assert "● window open" in text(app)


async def test_the_form_asks_what_plays_and_starts_it(
    app: WorkbenchApp, run: RunDirectory, players: fakes.FakePlayers, settle: Settle
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        player.state(checkpoint=4_500_000, seed=3, stochastic=True)
        await pilot.press("enter")
        await pilot.pause()
        form = app.screen
        assert isinstance(form, PlayTask)
        assert form.words() == ["play", "7f3a:4500000", "--seed", "3", "--stochastic"]
        form.query_one("#checkpoint").value = "best"
        form.query_one("#seed").value = "twelve"
        await pilot.pause()
        assert "Seed must be a whole number" in text(app)
        form.query_one("#seed").value = "12"
        form.query_one("#episodes").value = "5"
        form.query_one("#agent").value = "zero"
        form.query_one("#acts").value = "deterministic"
        await pilot.pause()
        assert "workbench play 7f3a:best --agent zero --episodes 5 --seed 12" in words(app)
        await pilot.press("ctrl+g")
        await pilot.pause()
        assert player.is_ended
        assert players.last.words == ("play", "7f3a:best", "--agent", "zero", "--episodes", "5", "--seed", "12")


async def test_the_form_needs_something_to_play(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("3", "enter")
        await pilot.pause()
        assert "Of needs a run, an environment, or a path." in text(app)
        await pilot.press("ctrl+g")
        assert isinstance(app.screen, PlayTask)


async def test_film_montage_and_command_mean_what_is_shown(
    app: WorkbenchApp, run: RunDirectory, settle: Settle
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        player.state(checkpoint=9_000_000, seed=4, agent="policy")
        await pilot.press("Y")
        assert app.clipboard == "workbench play 7f3a:9000000 --seed 4"
        player.state(agent="zero", checkpoint=None)
        await pilot.press("Y")
        assert app.clipboard == "workbench play 7f3a --agent zero --seed 4"
        player.state(agent="policy", checkpoint=9_000_000)
        await pilot.press("V")
        await pilot.pause()
        assert "workbench record 7f3a:9000000 --seed 4" in words(app)
        await pilot.press("escape", "m")
        await pilot.pause()
        assert "workbench montage 7f3a" in words(app)


async def test_a_checkpoint_that_was_climbed_to_gives_pane_and_film_their_names(
    app: WorkbenchApp, run: RunDirectory, settle: Settle
) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        app.start_play(["play", "7f3a:8500000"], "ant 7f3a at 8.5 M", {"target": "7f3a:8500000", "run": str(run.path)})
        player = app.start_player.last
        player.ready(run=run, agent="policy", checkpoint=8_500_000)
        await pilot.press("3")
        await settle(pilot)
        assert "ant 7f3a at 8.5 M" in text(app)
        player.state(checkpoint=9_000_000, agent="policy", stochastic=True)
        await pilot.pause()
        assert "ant 7f3a at 9 M" in text(app)
        assert "at 8.5 M" not in text(app)
        await pilot.press("V")
        await pilot.pause()
        assert "Record ant 7f3a at 9 M" in text(app)
        assert "workbench record 7f3a:9000000 --stochastic" in words(app)


@pytest.mark.parametrize("key", ["v", "p"])
async def test_the_keys_of_a_run_play_it_in_the_window_or_here(
    app: WorkbenchApp, run: RunDirectory, players: fakes.FakePlayers, settle: Settle, key: str
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press(key)
        await settle(pilot)
        assert players.last.words == ("play", "7f3a")
        assert players.last.window == (key == "v")
        assert isinstance(app.screen, ViewerScreen) == (key == "p")


async def test_the_key_of_an_environment_plays_it_here(
    app: WorkbenchApp, players: fakes.FakePlayers, settle: Settle
) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        await pilot.press("1", "p")
        await settle(pilot)
        assert not players.last.window
        players.last.ready(environment="cart_pole")
        await pilot.pause()
        assert "agent      random" in text(app)
        assert "none: an agent acts" in line_with(app, "checkpoints")


async def test_a_plain_terminal_has_no_preview(project: Project, settle: Settle, run: RunDirectory) -> None:
    fakes.write_environments(project)
    app = fakes.make_app(project, plain=True)
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        player.state(step=5, last=5, terms={"forward": 1.0})
        player.orders.clear()
        await pilot.press("p")
        await pilot.pause()
        assert player.orders == []
        assert "There is no preview in a plain terminal." in words(app)
        assert "|" in line_with(app, "history")
        assert "####" in line_with(app, "forward")
        assert not set("◆◇●▶▾×") & set(text(app))


async def test_a_narrow_terminal_shows_picture_or_numbers(app: WorkbenchApp, run: RunDirectory, settle: Settle) -> None:
    async with app.run_test(size=(64, 24)) as pilot:
        await settle(pilot)
        await watch(app, pilot, run, settle)
        assert "It plays in its window." in text(app)
        assert "evaluated" not in text(app)
        await pilot.press("d")
        await pilot.pause()
        assert "evaluated" in text(app)
        assert "It plays in its window." not in text(app)


async def test_the_viewer_takes_the_theme_of_the_app(app: WorkbenchApp, run: RunDirectory, settle: Settle) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        player = await watch(app, pilot, run, settle)
        app.toggle_theme()
        await pilot.pause()
        assert player.orders[-1] == {"do": "theme", "name": "light"}


async def test_the_viewer_closes_with_the_app(app: WorkbenchApp, players: fakes.FakePlayers, settle: Settle) -> None:
    async with app.run_test(size=SMALL) as pilot:
        await settle(pilot)
        app.start_play(["play", "ant"], "ant")
        assert not players.last.is_ended
    assert players.last.is_ended
