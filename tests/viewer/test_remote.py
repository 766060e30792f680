"""Orders and what is told, without graphics: a player, a window and a painter that cost nothing."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.viewer.fakes import Nodding
from tests.viewer.test_history import Falling
from tests.viewer.test_player import Time
from workbench.errors import GraphicsError, NotFoundError
from workbench.project import Project
from workbench.remote.frames import Frame, FrameReader
from workbench.viewer import window
from workbench.viewer.cast import Cast, window_title_of
from workbench.viewer.orders import Orders
from workbench.viewer.pipes import Inbox, Outlet
from workbench.viewer.player import Player
from workbench.viewer.remote import Pipes, Remote
from workbench.viewer.screens import Screens
from workbench.viewer.session import Session
from workbench.viewer.target import Target
from workbench.viewer.view import ViewSettings


@dataclass
class Source:
    """What a target needs of an `EnvSource`."""

    name: str = "falling"


@dataclass(frozen=True)
class Told(Target):
    """A target whose policies are agents that do nothing, by the steps of their checkpoint."""

    faults: list[Exception] = field(default_factory=list)
    """What opening them fails with from now on."""

    def actor(self, env: Any, *, seed: int, stochastic: bool) -> Any:
        if self.faults:
            raise self.faults[0]
        actor = Nodding()
        actor.deterministic = not stochastic
        return actor

    def playing(self, checkpoint: Path) -> Told:
        steps = int(checkpoint.name.removeprefix("checkpoint_"))
        if (checkpoint / "torn").exists():
            raise NotFoundError(f"{checkpoint.name} is torn.")
        return Told(self.source, "policy", checkpoint, steps, "7f3a")


@dataclass
class FakeWindow:
    """A window that notes what it showed."""

    moved: list[float] = field(default_factory=list)
    themes: list[Any] = field(default_factory=list)
    closes: bool = False
    closed: bool = False

    def show(self, moved_s: float) -> None:
        self.moved.append(moved_s)

    def closing(self) -> bool:
        return self.closes

    def picture(self, size: tuple[int, int]) -> Any:
        return np.full((size[1], size[0], 3), 9, np.uint8)

    def recolour(self, theme: Any) -> None:
        self.themes.append(theme)

    def close(self) -> None:
        self.closed = True


@dataclass
class FakePainter:
    """Paints the step that is shown."""

    player: Player
    sizes: list[tuple[int, int]] = field(default_factory=list)
    jumps: int = 0
    fails: bool = False
    closed: bool = False

    def paint(self, size: tuple[int, int], moved_s: float, *, jumped: bool) -> Any:
        if self.fails:
            raise GraphicsError("the driver is gone.")
        self.sizes.append(size)
        self.jumps += jumped
        return np.full((size[1], size[0], 3), self.player.shown.step % 256, np.uint8)

    def recolour(self, theme: Any) -> None:
        pass

    def close(self) -> None:
        self.closed = True


class Desk:
    """A remote player, the ends of its pipes, and a clock that stands unless moved."""

    def __init__(
        self, project: Project, *, checkpoint: Path | None = None, length: int = 1000, others: int = 0
    ) -> None:
        self.time = Time()
        self.orders = io.BytesIO()
        ends, frame_ends = os.pipe(), os.pipe()
        self.ends = [*ends, *frame_ends]
        self._told, self._frames = ends[0], frame_ends[0]
        for end in (self._told, self._frames):
            os.set_blocking(end, False)
        self.parent = 77
        self.windows: list[FakeWindow] = []
        self.painters: list[FakePainter] = []
        self.no_display = False
        session = Session(Falling(length), Nodding(), seed=0)
        target = Told(Source(), "random")
        if checkpoint is not None:
            target = target.playing(checkpoint)
        self.cast = Cast(
            project, target, session, on_fault=lambda error: self.remote.tell_error("policy", error), clock=lambda: 1e9
        )
        beside = [Session(Falling(length), Nodding(), seed=0) for _ in range(others)]
        casts = [self.cast, *(Cast(project, target, other) for other in beside)]
        self.player = Player(
            session,
            others=beside,
            period_s=0.01,
            title=target.title,
            on_episode=lambda number, ended, lane: self.remote.tell_episode(number, ended, lane),
            on_begin=lambda: self.orders.take_newest(),
            now=self.time.now,
        )
        view = ViewSettings()
        self.screens = Screens(
            self.player, view, open_window=self._window, make_painter=self._painter, now=self.time.now
        )
        self.orders = Orders(self.player, casts, view, self.screens, now=self.time.now)
        self.inbox = Mailbox()
        pipes = Pipes(self.inbox, Outlet(ends[1]), Outlet(frame_ends[1]), parent=lambda: self.parent)
        self.yielded = 0
        self.remote = Remote(self.orders, pipes, limit=length, on_following=self._note_yielding, now=self.time.now)
        self.reader = FrameReader()

    def _window(self, player: Player, theme: Any) -> FakeWindow:
        if self.no_display:
            raise GraphicsError("there is no display to open a window on.", hint="Use a display.")
        self.windows.append(FakeWindow())
        return self.windows[-1]

    def _painter(self, player: Player, theme: Any, size: tuple[int, int]) -> FakePainter:
        self.painters.append(FakePainter(player))
        return self.painters[-1]

    def _note_yielding(self) -> None:
        self.yielded += 1

    def order(self, *lines: str, seconds: float = 0.0) -> list[dict[str, Any]]:
        """Give orders, play for so long, and return what was told."""
        if lines:
            self.inbox.put(*lines)
        self.remote.show(self.player.advance(0.0))
        end = self.time.now_s + seconds
        while self.time.now_s < end - 1e-9:
            self.time.now_s += 1 / 60
            self.remote.show(self.player.advance(1 / 60))
        return self.told()

    def told(self) -> list[dict[str, Any]]:
        try:
            data = os.read(self._told, 1 << 20)
        except BlockingIOError:
            return []
        return [json.loads(line) for line in data.splitlines()]

    def frames(self) -> list[Frame]:
        try:
            return self.reader.feed(os.read(self._frames, 1 << 20))
        except BlockingIOError:
            return []


class Mailbox(Inbox):
    """Orders that are there at once."""

    def __init__(self) -> None:
        self._waiting: list[Any] = []

    def put(self, *lines: str) -> None:
        inbox = Inbox(io.BytesIO("\n".join(lines).encode()))
        while not self._waiting or self._waiting[-1] is not None:
            self._waiting += inbox.drain()
        self._waiting.pop()

    def end(self) -> None:
        self._waiting.append(None)

    def drain(self) -> Iterator[Any]:
        waiting, self._waiting = self._waiting, []
        yield from waiting


@pytest.fixture
def desk(project: Project) -> Iterator[Desk]:
    made = Desk(project)
    yield made
    for end in made.ends:
        os.close(end)


@pytest.fixture
def ladder(project: Project) -> Path:
    """A run with three checkpoints."""
    run = project.runs / "PPO" / "falling_20261128-102600_7f3a"
    for steps in (100, 200, 300):
        folder = run / f"checkpoint_{steps}"
        folder.mkdir(parents=True)
        (folder / "policy.json").write_text("{}")
        os.utime(folder / "policy.json", (1e9 - 60, 1e9 - 60))
    (run / "run.json").write_text("{}")
    (run / "best").write_text("checkpoint_200\n")
    return run


def last(told: list[dict[str, Any]], event: str = "state") -> dict[str, Any]:
    return [item for item in told if item["event"] == event][-1]


def test_it_says_what_it_plays_first(desk: Desk) -> None:
    ready = desk.told()[0]
    assert ready == {
        "event": "ready", "version": 1, "title": "falling, random", "environment": "falling", "run": None,
        "period_s": 0.01, "limit": 1000, "seekable": True,
    }  # fmt: skip


def test_every_order_is_answered_with_the_state(desk: Desk) -> None:
    desk.told()
    state = last(desk.order('{"do": "pause"}'))
    assert (state["playing"], state["step"], state["seed"], state["episode"]) == (False, 0, 0, 1)
    state = last(desk.order('{"do": "step", "n": 5}'))
    assert (state["step"], state["last"], state["time_s"]) == (5, 5, 0.05)
    assert state["terms"].keys() == {"height"}
    state = last(desk.order('{"do": "step", "n": -2}'))
    assert (state["step"], state["first"], state["last"]) == (3, 0, 5)
    state = last(desk.order('{"do": "seek", "step": 1}', '{"do": "skip", "seconds": 0.02}'))
    assert state["step"] == 3
    state = last(desk.order('{"do": "speed", "value": 4}', '{"do": "seed", "value": 12}'))
    assert (state["speed"], state["seed"], state["episode"], state["step"]) == (4, 12, 1, 0)
    state = last(desk.order('{"do": "agent", "name": "zero"}', '{"do": "theme", "name": "dark"}'))
    assert (state["agent"], state["theme"], state["checkpoint"]) == ("zero", "dark", None)


def test_it_plays_in_real_time_and_tells_how_it_goes_at_most_ten_times_a_second(desk: Desk) -> None:
    desk.order('{"do": "speed", "value": 2}')
    told = [item for item in desk.order(seconds=1.0) if item["event"] == "state"]
    assert told[-1]["step"] == pytest.approx(200, abs=15)
    assert 8 <= len(told) <= 11


def test_a_paused_player_tells_nothing_new(desk: Desk) -> None:
    desk.order('{"do": "pause"}')
    assert desk.order(seconds=2.0) == []


def test_a_reset_is_a_real_one_with_the_same_seed(desk: Desk) -> None:
    desk.order('{"do": "seed", "value": 5}', '{"do": "step", "n": 9}')
    velocity = float(desk.player.session.env.data.qvel[0])
    state = last(desk.order('{"do": "reset"}'))
    assert (state["seed"], state["step"], state["return"]) == (5, 0, 0.0)
    assert float(desk.player.session.env.data.qvel[0]) == velocity


@pytest.mark.parametrize(
    ("line", "about", "words"),
    [
        ("junk", "command", "not JSON"),
        ('{"do": "dance"}', "command", "no command `dance`"),
        ('{"do": "speed", "value": 100}', "command", "from 0.25 to 8"),
        ('{"do": "agent", "name": "policy"}', "policy", "no policy"),
        ('{"do": "stochastic", "on": true}', "policy", "nothing to sample"),
        ('{"do": "checkpoint", "which": 300}', "policy", "of no run"),
        ('{"do": "checkpoint", "which": "best"}', "policy", "no best checkpoint"),
        ('{"do": "checkpoint", "which": "nobody:best"}', "policy", "there is no run"),
    ],
)
def test_what_cannot_be_done_is_told_and_ends_nothing(desk: Desk, line: str, about: str, words: str) -> None:
    told = desk.order('{"do": "step", "n": 3}')
    told = desk.order(line)
    error = last(told, "error")
    assert (error["about"], error["fatal"]) == (about, False)
    assert words in error["message"]
    assert last(told)["step"] == 3
    assert not desk.remote.closing()


def test_an_episode_that_ended_is_told_with_who_acted(project: Project) -> None:
    desk = Desk(project, length=20)
    told = desk.order('{"do": "speed", "value": 1}', seconds=0.25)
    episode = last(told, "episode")
    assert (episode["episode"], episode["seed"], episode["length"], episode["agent"]) == (1, 0, 20, "random")
    assert episode["reason"] == "terminated"
    assert last(told)["episode"] == 2


def test_the_ladder_is_climbed_and_each_checkpoint_begins_the_episode_again(project: Project, ladder: Path) -> None:
    desk = Desk(project, checkpoint=ladder / "checkpoint_200")
    told = desk.order('{"do": "step", "n": 4}')
    assert told[0]["run"] == str(ladder)
    assert (last(told)["checkpoint"], last(told)["age_s"]) == (200, 60.0)
    state = last(desk.order('{"do": "checkpoint", "which": 100}'))
    assert (state["checkpoint"], state["step"], state["seed"]) == (100, 0, 0)
    assert last(desk.order('{"do": "checkpoint", "which": "latest"}'))["checkpoint"] == 300
    assert last(desk.order('{"do": "checkpoint", "which": "best"}'))["checkpoint"] == 200
    assert last(desk.order(f'{{"do": "checkpoint", "which": "{ladder / "checkpoint_100"}"}}'))["checkpoint"] == 100
    error = last(desk.order('{"do": "checkpoint", "which": 150}'), "error")
    assert "no checkpoint of 150 steps" in error["message"]
    state = last(desk.order('{"do": "agent", "name": "zero"}'))
    assert (state["agent"], state["checkpoint"]) == ("zero", None)
    state = last(desk.order('{"do": "agent", "name": "policy"}', '{"do": "stochastic", "on": true}'))
    assert (state["agent"], state["checkpoint"], state["stochastic"]) == ("policy", 100, True)
    assert last(desk.order('{"do": "checkpoint", "which": 300}'))["stochastic"]
    assert not desk.player.session.actor.deterministic


def test_the_newest_checkpoint_comes_with_the_next_episode(project: Project, ladder: Path) -> None:
    desk = Desk(project, checkpoint=ladder / "checkpoint_100", length=20)
    desk.order('{"do": "follow", "on": true}')
    assert last(desk.order(seconds=0.12))["checkpoint"] == 100
    state = last(desk.order(seconds=0.15))
    assert (state["episode"], state["checkpoint"]) == (2, 300)
    (ladder / "checkpoint_400").mkdir()
    (ladder / "checkpoint_400" / "policy.json").write_text("{}")
    assert last(desk.order(seconds=0.25))["checkpoint"] == 400


@pytest.mark.parametrize(
    ("order", "steps"),
    [('{"do": "checkpoint", "which": 200}', 200), ('{"do": "walk", "n": -1}', 200), ('{"do": "walk", "n": -9}', 100)],
)
def test_who_chooses_a_checkpoint_follows_the_newest_no_longer(
    project: Project, ladder: Path, order: str, steps: int
) -> None:
    desk = Desk(project, checkpoint=ladder / "checkpoint_300", length=20)
    assert last(desk.order('{"do": "follow", "on": true}', seconds=0.25))["follow"]
    state = last(desk.order(order, seconds=0.5))
    assert (state["checkpoint"], state["follow"]) == (steps, False)
    assert state["episode"] > 2


def test_walking_beyond_the_newest_changes_nothing(project: Project, ladder: Path) -> None:
    desk = Desk(project, checkpoint=ladder / "checkpoint_300")
    desk.order('{"do": "follow", "on": true}', '{"do": "step", "n": 3}')
    state = last(desk.order('{"do": "walk", "n": 1}'))
    assert (state["checkpoint"], state["follow"], state["step"]) == (300, True, 3)


def test_the_title_tells_what_plays_whoever_chose_it(project: Project, ladder: Path) -> None:
    desk = Desk(project, checkpoint=ladder / "checkpoint_100", length=20)
    before = window_title_of(desk.orders.casts)
    desk.order('{"do": "checkpoint", "which": 200}')
    assert desk.player.title == "falling 7f3a, 200 steps"
    desk.order('{"do": "follow", "on": true}', seconds=0.25)
    assert desk.player.title == "falling 7f3a, 300 steps"
    desk.order('{"do": "agent", "name": "zero"}')
    assert desk.player.title == "falling, zero"
    # The system's own title stays for good, and so says nothing that changes.
    assert before == window_title_of(desk.orders.casts) == "falling, workbench"


def test_a_newest_checkpoint_that_cannot_be_opened_is_told_once_and_left_out(project: Project, ladder: Path) -> None:
    (ladder / "checkpoint_300" / "torn").touch()
    desk = Desk(project, checkpoint=ladder / "checkpoint_100", length=10)
    told = desk.order('{"do": "follow", "on": true}', seconds=1.0)
    assert [item["message"] for item in told if item["event"] == "error"] == ["checkpoint_300 is torn."]
    assert last(told)["checkpoint"] == 100
    assert last(told)["episode"] > 3


def test_a_run_whose_folder_is_gone_is_told_once_and_plays_on(project: Project, ladder: Path) -> None:
    desk = Desk(project, checkpoint=ladder / "checkpoint_100", length=10)
    desk.order('{"do": "follow", "on": true}', seconds=0.2)
    away = ladder.rename(ladder.with_name("away"))
    told = desk.order(seconds=1.0)
    assert [item["message"] for item in told if item["event"] == "error"] == [
        "the folder of run 7f3a is not there any more."
    ]
    assert last(told)["episode"] > 5
    for order in ('{"do": "walk"}', '{"do": "checkpoint", "which": 200}', '{"do": "checkpoint", "which": "best"}'):
        error = last(desk.order(order), "error")
        assert (error["about"], error["message"]) == ("policy", "the folder of run 7f3a is not there any more.")
    state = last(desk.order('{"do": "seed", "value": 7}'))
    assert (state["seed"], state["checkpoint"]) == (7, 300)
    # Back again, and gone again, is news again.
    away.rename(ladder)
    assert not [item for item in desk.order(seconds=0.3) if item["event"] == "error"]
    ladder.rename(away)
    assert len([item for item in desk.order(seconds=0.5) if item["event"] == "error"]) == 1


def test_a_seed_that_cannot_be_taken_changes_nothing(project: Project, ladder: Path) -> None:
    desk = Desk(project, checkpoint=ladder / "checkpoint_100")
    desk.order('{"do": "stochastic", "on": true}', '{"do": "step", "n": 3}')
    desk.cast.target.faults.append(NotFoundError("it is gone."))  # type: ignore[attr-defined]
    told = desk.order('{"do": "seed", "value": 7}')
    assert (last(told, "error")["message"], last(told)["seed"], last(told)["step"]) == ("it is gone.", 0, 3)


def test_who_follows_a_run_without_a_window_yields_to_it_once(project: Project, ladder: Path) -> None:
    desk = Desk(project, checkpoint=ladder / "checkpoint_100")
    desk.order('{"do": "window", "on": true}', '{"do": "follow", "on": true}')
    assert desk.yielded == 0
    desk.order('{"do": "window", "on": false}')
    desk.order('{"do": "follow", "on": false}', '{"do": "follow", "on": true}')
    assert desk.yielded == 1


def test_the_window_is_opened_and_closed_by_order(desk: Desk) -> None:
    assert last(desk.order('{"do": "window", "on": true}'))["window"]
    desk.order(seconds=0.5)
    assert sum(desk.windows[0].moved) == pytest.approx(0.5, abs=0.05)
    assert not last(desk.order('{"do": "window", "on": false}'))["window"]
    assert desk.windows[0].closed
    assert not desk.remote.closing()


def test_without_a_display_the_reason_is_told_and_it_plays_on(desk: Desk) -> None:
    desk.no_display = True
    told = desk.order('{"do": "window", "on": true}', seconds=0.2)
    error = last(told, "error")
    assert (error["about"], error["hint"]) == ("window", "Use a display.")
    assert not last(told)["window"]
    assert last(told)["step"] > 0


def test_a_window_that_someone_closed_ends_it(desk: Desk) -> None:
    desk.order('{"do": "window", "on": true}')
    desk.windows[0].closes = True
    assert desk.remote.closing()
    assert desk.remote.reason == "window"


def test_frames_come_at_the_size_and_rate_asked_for_and_only_when_something_moved(desk: Desk) -> None:
    desk.order('{"do": "preview", "width": 20, "height": 12, "fps": 15}', seconds=0.0)
    desk.order(seconds=2.0)
    frames = desk.frames()
    assert len(frames) == pytest.approx(30, abs=2)
    assert {(frame.width, frame.height) for frame in frames} == {(20, 12)}
    assert [frame.sequence for frame in frames] == list(range(len(frames)))
    assert all(frame.pixels == bytes([frame.step % 256]) * 720 for frame in frames)
    assert last(desk.order('{"do": "pause"}'))["preview"] == [20, 12, 15]
    desk.order(seconds=0.2)
    desk.frames()
    desk.order(seconds=1.0)
    assert desk.frames() == []
    desk.order('{"do": "step", "n": -5}', seconds=0.2)
    assert [frame.step for frame in desk.frames()] == [desk.player.shown.step]


def test_a_new_size_comes_with_the_next_frame_even_while_paused(desk: Desk) -> None:
    desk.order('{"do": "pause"}', '{"do": "preview", "width": 20, "height": 12}', seconds=0.2)
    desk.order('{"do": "preview", "width": 30, "height": 10}', seconds=0.2)
    assert [(frame.width, frame.height) for frame in desk.frames()] == [(20, 12), (30, 10)]
    assert len(desk.painters) == 1
    state = last(desk.order('{"do": "preview", "on": false}', seconds=0.2))
    assert state["preview"] is None
    assert desk.painters[0].closed


def test_a_reader_that_sleeps_gets_the_newest_frame_when_it_wakes_and_the_player_never_waits(desk: Desk) -> None:
    desk.order('{"do": "preview", "width": 128, "height": 96, "fps": 60}', seconds=3.0)
    assert desk.player.session.steps == pytest.approx(300, abs=12)
    desk.order('{"do": "pause"}')
    got = desk.frames()
    assert len(got) < 4
    desk.order(seconds=0.2)
    assert desk.frames()[-1].step == desk.player.shown.step


def test_with_a_window_the_preview_shows_the_same(desk: Desk) -> None:
    desk.order('{"do": "preview", "width": 10, "height": 10}', seconds=0.3)
    desk.order('{"do": "window", "on": true}')
    assert desk.painters[0].closed
    desk.frames()
    desk.order(seconds=0.5)
    assert desk.frames()[-1].pixels == bytes([9]) * 300
    desk.order('{"do": "window", "on": false}', seconds=0.3)
    assert desk.frames()[-1].pixels != bytes([9]) * 300
    assert len(desk.painters) == 2


def test_graphics_that_fail_end_the_preview_and_nothing_else(desk: Desk) -> None:
    desk.order('{"do": "preview", "width": 10, "height": 10}', seconds=0.3)
    desk.painters[0].fails = True
    told = desk.order(seconds=0.3)
    assert last(told, "error")["about"] == "preview"
    assert last(told)["preview"] is None
    assert last(desk.order(seconds=0.3))["step"] > 50


def test_it_ends_with_its_orders_or_its_parent(desk: Desk) -> None:
    desk.inbox.end()
    desk.order()
    assert (desk.remote.closing(), desk.remote.reason) == (True, "parent")


def test_an_orphan_ends_within_a_second(desk: Desk) -> None:
    desk.parent = 1
    desk.order(seconds=1.1)
    assert (desk.remote.closing(), desk.remote.reason) == (True, "parent")


def test_quit_ends_the_loop(desk: Desk) -> None:
    desk.inbox.put('{"do": "quit"}')
    window.play(desk.player, desk.remote, now=desk.time.now, sleep=desk.time.sleep)
    assert desk.remote.reason == "quit"


def test_what_is_drawn_is_told_when_it_changes(desk: Desk) -> None:
    view = last(desk.order('{"do": "pause"}'), "view")
    assert (view["marks"], view["track"], view["hidden"], view["pulled"]) == ([], True, [], None)
    view = last(desk.order('{"do": "mark", "what": "forces", "on": true}', '{"do": "track", "on": false}'), "view")
    assert (view["marks"], view["track"]) == (["forces"], False)
    view = last(desk.order('{"do": "pull", "body": "body 1", "to": [0, 0, 4]}'), "view")
    assert view["pulled"] == "body 1"
    desk.order('{"do": "step", "n": 20}')
    assert float(desk.player.data.qpos[2]) > 3.0
    assert last(desk.order('{"do": "release"}'), "view")["pulled"] is None
    assert not [item for item in desk.order('{"do": "state"}') if item["event"] == "view"]


def test_a_change_of_what_is_drawn_comes_with_the_next_frame_even_while_paused(desk: Desk) -> None:
    desk.order('{"do": "pause"}', '{"do": "preview", "width": 20, "height": 12}', seconds=0.3)
    desk.frames()
    assert desk.order(seconds=0.5) == [] and desk.frames() == []
    desk.order('{"do": "body", "name": "body 1", "on": false}', seconds=0.3)
    assert len(desk.frames()) == 1


def test_the_last_step_is_told_when_asked_for(desk: Desk) -> None:
    told = desk.order('{"do": "step", "n": 3}', '{"do": "inspect"}')
    step = last(told, "step")
    assert (step["step"], step["action"], step["terms"].keys()) == (3, {"0": 0.0}, {"height"})


def test_the_run_is_walked_along_to_its_ends(project: Project, ladder: Path) -> None:
    desk = Desk(project, checkpoint=ladder / "checkpoint_200")
    desk.order('{"do": "step", "n": 4}')
    steps = [last(desk.order(f'{{"do": "walk", "n": {n}}}'))["checkpoint"] for n in (1, 1, -1, -5, 2)]
    assert steps == [300, 300, 200, 100, 300]
    assert last(desk.order('{"do": "state"}'))["step"] == 0
    assert [(rung.steps, rung.kept, desk.cast.old(rung)) for rung in desk.cast.ladder()] == [
        (100, "", 60.0), (200, "best", 60.0), (300, "latest", 60.0),
    ]  # fmt: skip


def test_one_that_is_gone_stands_between_its_neighbours(project: Project, ladder: Path) -> None:
    desk = Desk(project, checkpoint=ladder / "checkpoint_200")
    (ladder / "checkpoint_200" / "policy.json").unlink()
    (ladder / "checkpoint_200").rmdir()
    (ladder / "best").unlink()
    assert last(desk.order('{"do": "walk", "n": 1}'))["checkpoint"] == 300


def test_without_a_run_there_is_nothing_to_walk_along(desk: Desk) -> None:
    error = last(desk.order('{"do": "walk"}'), "error")
    assert (error["about"], error["hint"]) == ("policy", "Play one of a run.")


def test_several_are_told_of_with_each_state(project: Project) -> None:
    desk = Desk(project, others=1)
    members = last(desk.order('{"do": "step", "n": 4}'), "members")
    assert (members["chosen"], members["ghosts"], members["titles"]) == (0, False, ["random", "random (2)"])
    assert members["returns"]["random"] == members["returns"]["random (2)"] > 0
    assert last(desk.order('{"do": "member", "index": 1}'), "members")["chosen"] == 1
    state = last(desk.order('{"do": "agent", "name": "zero"}'))
    assert state["agent"] == "zero"
    assert [cast.target.agent for cast in desk.orders.casts] == ["random", "zero"]
