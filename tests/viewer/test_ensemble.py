"""Several sessions in step: same seeds, one clock, and each one's own end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.viewer.desks import make_orders
from tests.viewer.fakes import Counting, Nodding, Reel, Sketch
from tests.viewer.test_history import Falling
from workbench.errors import RequestError
from workbench.viewer import ensemble, recorder
from workbench.viewer.ensemble import Together
from workbench.viewer.recorder import Filming, FrameClock
from workbench.viewer.session import Session


def sessions(*lengths: int) -> list[Session]:
    return [Session(Falling(length), Nodding(), seed=7) for length in lengths]


def test_all_begin_with_the_same_seed_and_step_together() -> None:
    orders = make_orders(*sessions(50, 50, 50))
    player = orders.player
    orders.do("step", n=5)
    places = [[float(x) for x in data.qpos[:3]] for data in player.datas]
    assert places[0] == places[1] == places[2]
    assert [lane.session.steps for lane in player.lanes] == [5, 5, 5]
    orders.do("next", n=1)
    assert [lane.session.seed for lane in player.lanes] == [8, 8, 8]
    assert len({float(data.qvel[0]) for data in player.datas}) == 1
    orders.do("seed", value=20)
    assert [lane.session.seed for lane in player.lanes] == [20, 20, 20]
    assert len({float(data.qvel[0]) for data in player.datas}) == 1


def test_one_that_has_ended_waits_in_its_last_state_for_the_others() -> None:
    told: list[tuple[int, int, int]] = []
    orders = make_orders(
        *sessions(3, 6),
        on_episode=lambda number, ended, lane: told.append((number, lane, ended.length or 0)),
        episodes=2,
    )
    player = orders.player
    orders.do("step", n=4)
    assert [lane.session.steps for lane in player.lanes] == [3, 4]
    last = float(player.datas[0].qpos[2])
    assert not player.has_ended
    orders.do("step", n=2)
    assert (player.at, player.last_step, player.has_ended) == (6, 6, True)
    assert float(player.datas[0].qpos[2]) == last
    assert told == [(0, 0, 3), (0, 1, 6)]
    assert not player.finished
    orders.do("step", n=8)
    assert player.session.number == 1
    assert told[2:] == [(1, 0, 3), (1, 1, 6)]
    assert player.finished


def test_the_past_of_all_is_gone_through_together() -> None:
    orders = make_orders(*sessions(3, 6))
    player = orders.player
    heights: list[list[float]] = [[float(data.qpos[2]) for data in player.datas]]
    for _ in range(6):
        orders.do("step")
        heights.append([float(data.qpos[2]) for data in player.datas])
    for step in (0, 2, 5):
        orders.do("seek", step=step)
        assert [float(data.qpos[2]) for data in player.datas] == heights[step]
        assert player.at == step
    orders.do("step")
    assert player.is_live


def test_the_chosen_one_is_told_of_moved_and_pulled() -> None:
    orders = make_orders(*sessions(50, 50))
    orders.do("pause")
    orders.do("step", n=2)
    orders.do("member", index=1)
    orders.do("pose", joint="joint 0.x", value=2.0)
    first, second = (float(lane.session.env.data.qpos[0]) for lane in orders.player.lanes)
    assert first != 2.0 and second == 2.0
    orders.do("pull", body="body 1", to=[0, 0, 9])
    orders.do("step")
    forces = [lane.session.env.data.xfrc_applied[1][2] for lane in orders.player.lanes]
    assert forces[0] == 0 < forces[1]
    orders.do("member", index=0)
    assert orders.pulled is None
    assert not orders.player.lanes[1].session.env.data.xfrc_applied.any()
    orders.do("member", index=2)
    assert "there are 2 policies" in orders.notice


@pytest.mark.parametrize(("count", "columns"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 3), (6, 3), (7, 3), (9, 3)])
def test_so_many_stand_in_rows_as_square_as_can_be(count: int, columns: int) -> None:
    assert ensemble.columns_of(count) == columns


def test_more_than_can_be_told_apart_are_refused() -> None:
    ensemble.check_count(9)
    with pytest.raises(RequestError, match="at most 9"):
        ensemble.check_count(10)


def test_pictures_are_put_beside_each_other_in_reading_order() -> None:
    pictures = [np.full((2, 3, 3), value, np.uint8) for value in (1, 2, 3)]
    whole = ensemble.mosaic(pictures, 2)
    assert whole.shape == (4, 6, 3)
    assert [int(whole[y, x, 0]) for y, x in ((0, 0), (0, 3), (2, 0), (2, 3))] == [1, 2, 3, 0]


def test_a_recording_of_several_ends_with_the_last_and_knows_how_each_went() -> None:
    together = Together([Session(Counting(length), Nodding(), seed=3) for length in (2, 5)])
    sketch, reel = Sketch(), Reel()
    done = recorder.record(together, [Filming(sketch, reel, FrameClock(20, 20))], numbers=range(2))
    assert reel.frames == 12
    assert [[(result.length, result.seed) for result in episode] for episode in together.results] == [
        [(2, 3), (5, 3)],
        [(2, 4), (5, 4)],
    ]
    assert [episode.length for episode in done.episodes] == [2, 2]


def test_captions_say_who_it_is_what_it_has_and_how_it_ended() -> None:
    from workbench.viewer.side_by_side import captioned, captions

    together = Together([Session(Counting(length), Nodding(), seed=3) for length in (2, 5)])
    together.begin(0)
    for _ in range(3):
        together.step()
    assert captions(together, ["a", "b"]) == ["a   1.0   fell at 2", "b   1.5"]
    picture = np.full((120, 200, 3), 255, np.uint8)
    written = captioned(picture, ["a", "b"], [(50.0, 60.0), None])
    blue = (written[..., 2] > 150) & (written[..., 0] < 90)
    rows, columns = np.nonzero(blue)
    assert rows.min() > 55 and rows.max() < 85
    assert abs(columns.mean() - 50) < 8
    outside = captioned(picture, ["a long line of words"], [(-40.0, 400.0)])
    assert (outside[:100] == 255).all() and (outside < 255).any()


def arguments(*words: str) -> Any:
    import argparse

    from workbench.viewer import options

    parser = argparse.ArgumentParser()
    options.add_play_arguments(parser)
    return parser.parse_args(words)


def test_words_name_several_of_one_environment(tmp_path: Path) -> None:
    from workbench.project import Project
    from workbench.viewer import options
    from workbench.viewer.targets import find_targets

    project = Project(tmp_path)
    both = find_targets(project, arguments("Ant-v5", "Ant-v5", "--agent", "zero"))
    assert [target.agent for target in both] == ["zero", "zero"]
    with pytest.raises(RequestError, match="`Hopper-v5` is of Hopper-v5, and `Ant-v5` of Ant-v5"):
        find_targets(project, arguments("Ant-v5", "Hopper-v5"))
    with pytest.raises(RequestError, match="--ghost is for several"):
        options.check_play(arguments("Ant-v5", "--ghost"))


@pytest.mark.xdist_group("polyscope")
@pytest.mark.parametrize("layout", ["tiles", "ghosts"])
def test_each_is_drawn_where_its_caption_says(layout: Any) -> None:
    from workbench.viewer.look import THEMES
    from workbench.viewer.side_by_side import CompanyFrames
    from workbench.viewer.view import ViewSettings

    made = [gymnasium.make("Ant-v5") for _ in range(2)]
    together = Together([Session(env, Nodding8(), seed=0) for env in made])
    together.begin(0)
    core = made[1].unwrapped
    # The second one is elsewhere in its own world: beside the first on its own floor, apart on a common one.
    core.set_state(np.concatenate([[3.0, 0.0], core.data.qpos[2:]]), core.data.qvel)
    for env in made:
        env.unwrapped.model.geom_matid[:], env.unwrapped.model.geom_rgba[:, :3] = -1, (0.9, 0.1, 0.1)
    frames = CompanyFrames(
        together, ["a", "b"], size=(480, 240), samples=1, theme=THEMES["light"], layout=layout, view=ViewSettings()
    )
    try:
        picture = frames.draw(0.0).astype(int)
    finally:
        frames.close()
        for env in made:
            env.close()
    if layout == "tiles":
        red = (picture[..., 0] - picture[..., 2] > 60) & (picture[..., 0] - picture[..., 1] > 60)
        left, right = red[:, :240].sum(), red[:, 240:].sum()
        assert min(left, right) > 500
        assert 0.8 < left / right < 1.25
    else:
        above = picture[:150]
        blue = (above[..., 2] - above[..., 0] > 50).sum()
        orange = (above[..., 0] - above[..., 2] > 30).sum()
        assert min(blue, orange) > 300


@pytest.mark.xdist_group("polyscope")
def test_ghosts_that_take_too_long_to_draw_turn_pale() -> None:
    from workbench.viewer.company import SLOWEST_S, TRIED
    from workbench.viewer.look import THEMES
    from workbench.viewer.side_by_side import CompanyFrames
    from workbench.viewer.view import ViewSettings

    made = [gymnasium.make("Ant-v5") for _ in range(2)]
    together = Together([Session(env, Nodding8(), seed=0) for env in made])
    together.begin(0)
    frames = CompanyFrames(
        together, ["a", "b"], size=(160, 120), samples=1, theme=THEMES["light"], layout="ghosts", view=ViewSettings()
    )

    def opacity() -> Any:
        frames.draw(0.0)
        return [min(one.drawn.get_transparency() for one in place.scene._moved) for place in frames._company._places]

    try:
        seen = [opacity()]
        for seconds in [0.9 * SLOWEST_S] * TRIED + [9.0]:
            frames._company.took(seconds)
        seen.append(opacity())
        for seconds in [0.9 * SLOWEST_S, *[1.1 * SLOWEST_S] * TRIED]:
            frames._company.took(seconds)
        seen.append(opacity())
        assert seen == [[1.0, 0.5], [1.0, 0.5], [1.0, 1.0]]
    finally:
        frames.close()
        for env in made:
            env.close()


class Nodding8(Nodding):
    """Does nothing with eight motors."""

    def act(self, observations: Any) -> Any:
        return np.zeros((1, 8), np.float32)
