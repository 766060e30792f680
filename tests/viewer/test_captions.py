from __future__ import annotations

import itertools
from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.viewer.fakes import Counting, Nodding
from workbench.viewer import side_by_side
from workbench.viewer.camera import View
from workbench.viewer.captions import PARTED, Box, Caption, beside, stacked
from workbench.viewer.ensemble import Together, columns_of
from workbench.viewer.options import PRESETS
from workbench.viewer.session import Session

SIZES = sorted(preset.size for preset in PRESETS.values())
LINES = {
    "usual": ["e661 582 k", "133.5"],
    "long": ["humanoid_standup 1.09 M (2)", "-123456.7"],
    "ended": ["e661 582 k", "133.5", "healthy_z_range at 1000"],
    "endless": [
        "/home/somebody/downloads/policies/the_very_best_of_them_all.zip 1.09 M",
        "-1234567.8",
        "time_limit at 9",
    ],
}


def written(size: tuple[int, int]) -> Any:
    """Return how captions are written on a film of this size."""
    return side_by_side._letters(np.zeros((size[1], size[0], 3), np.uint8))


def check(captions: list[Caption | None], texts: list[str], size: tuple[int, int], measure: Any) -> None:
    """Hold that all is written within the picture and within its box, and that no two boxes overlap."""
    there = [caption for caption in captions if caption is not None]
    assert len(there) == len(texts)
    for caption, text in zip(there, texts, strict=True):
        box = caption.box
        assert box.left > 0 and box.right < size[0] and box.top > 0 and box.bottom < size[1]
        assert " ".join(caption.lines).split() == text.split()
        for line, x, y in caption.rows:
            assert box.left < x and x + measure(line, caption.letters) < box.right
            assert box.top + caption.letters / 2 <= y <= box.bottom - caption.letters / 2
    for one, other in itertools.combinations(there, 2):
        a, b = one.box, other.box
        assert a.right <= b.left or b.right <= a.left or a.bottom <= b.top or b.bottom <= a.top


@pytest.mark.parametrize("kind", ["usual", "long", "ended"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", range(2, 10))
def test_captions_in_rows_are_whole_and_apart(count: int, size: tuple[int, int], kind: str) -> None:
    columns = columns_of(count)
    rows = -(-count // columns)
    texts = [PARTED.join([f"{number} {LINES[kind][0]}", *LINES[kind][1:]]) for number in range(count)]
    # The narrowest that rows get: as high as the picture, and models as far apart as they are high.
    apart = min(size[0] / columns, 0.9 * size[1] / rows)
    places = [
        (size[0] / 2 + (index % columns - (columns - 1) / 2) * apart, (index // columns + 0.8) * size[1] / rows)
        for index in range(count)
    ]
    how = written(size)
    room = Box(0, 0, *size)
    captions = beside(texts, places, [room] * count, columns=columns, highest=0.2 * size[1] / rows, **how)
    check(captions, texts, size, how["measure"])


@pytest.mark.parametrize("size", SIZES)
def test_captions_in_one_place_make_way_for_each_other(size: tuple[int, int]) -> None:
    texts = [PARTED.join(LINES["usual"])] * 9
    how = written(size)
    for x, y in ((0.5, 0.5), (0.0, 0.0), (2.0, -1.0)):
        places = [(x * size[0], y * size[1])] * 9
        check(beside(texts, places, [Box(0, 0, *size)] * 9, columns=3, **how), texts, size, how["measure"])


@pytest.mark.parametrize("kind", ["usual", "long", "ended"])
@pytest.mark.parametrize("corner", ["lower left", "upper right"])
@pytest.mark.parametrize("size", SIZES)
def test_captions_in_a_corner_are_whole_and_leave_the_middle_free(
    size: tuple[int, int], corner: Any, kind: str
) -> None:
    how = written(size)
    for count in range(2, 10):
        texts = [PARTED.join(LINES[kind])] * count
        captions = stacked(texts, Box(0, 0, *size), corner=corner, **how)
        check(captions, texts, size, how["measure"])
        for caption in captions:
            assert caption is not None
            if caption.letters > how["smallest"]:
                away = caption.box.bottom > size[1] / 2 if corner == "lower left" else caption.box.top < size[1] / 2
                assert away and caption.box.width < size[0] / 2


def test_words_wider_than_a_picture_lose_their_middle_and_say_so() -> None:
    how = written((160, 120))
    (caption,) = beside([PARTED.join(LINES["endless"])], [(80, 60)], [Box(0, 0, 160, 120)], columns=1, **how)
    assert caption is not None
    name, *rest = caption.lines
    assert rest == LINES["endless"][1:]
    assert name.startswith("/home") and "..." in name and name.endswith("1.09 M")
    assert caption.box.left > 0 and caption.box.right < 160


def test_a_caption_prefers_its_place_and_large_letters() -> None:
    how = written((640, 480))
    texts, places = ["a   1.0", "b   2.0"], [(160.0, 300.0), (480.0, 320.0)]
    captions = beside(texts, places, [Box(0, 0, 640, 480)] * 2, columns=2, **how)
    for caption, place in zip(captions, places, strict=True):
        assert caption is not None
        assert caption.letters == how["letters"]
        assert (caption.box.left + caption.box.right) / 2 == pytest.approx(place[0])
        assert caption.box.top == pytest.approx(place[1])
    assert beside(texts, [None, (9.0, 9.0)], [Box(0, 0, 640, 480)] * 2, columns=2, **how)[0] is None


def test_pictures_that_environments_render_keep_their_captions_within_them() -> None:
    together = Together([Session(Counting(100), Nodding(), seed=3) for _ in range(5)])
    together.begin(0)
    frames = side_by_side.MosaicFrames(together, ["a", "b", "c", "d", "e"])
    assert frames.draw(0.0).shape[:2] == (frames.format.size[1], frames.format.size[0])


@pytest.mark.xdist_group("polyscope")
@pytest.mark.parametrize(
    ("name", "count", "camera"),
    [("Ant-v5", 6, None), ("Hopper-v5", 9, None), ("Swimmer-v5", 7, None), ("Hopper-v5", 9, View(20.0, -8.0))],
)
def test_models_beside_each_other_are_of_one_size_and_fill_the_picture(
    name: str, count: int, camera: View | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.viewer.look import THEMES
    from workbench.viewer.mouse import lens_of
    from workbench.viewer.view import ViewSettings

    made = [gymnasium.make(name) for _ in range(count)]
    together = Together([Session(env, _still(env), seed=0) for env in made])
    together.begin(0)
    caught: list[list[Caption | None]] = []

    def written(picture: Any, placed: Any) -> Any:
        caught.append(list(placed))
        return picture

    monkeypatch.setattr(side_by_side, "written", written)
    size = (480, 360)
    titles = [f"e66{number} 1.09 M" for number in range(count)]
    view = ViewSettings(camera=camera)
    frames = side_by_side.CompanyFrames(
        together, titles, size=size, samples=1, theme=THEMES["light"], layout="tiles", view=view
    )
    try:
        frames.draw(0.0)
        lens, company = lens_of(frames._polyscope), frames._company
        seen = [lens.pixels(company.framing.radius, company.place(index)) for index in range(count)]
        middles = np.array([lens.to_screen(company.place(index)) for index in range(count)])
    finally:
        frames.close()
        for env in made:
            env.close()
    how = side_by_side._letters(np.zeros((size[1], size[0], 3), np.uint8))
    check(caught[0], side_by_side.captions(together, titles), size, how["measure"])
    assert min(seen) > 0.7 * max(seen)
    # Across or upright the models and their captions take nearly all there is.
    boxes = [caption.box for caption in caught[0] if caption is not None]
    high = (max(box.bottom for box in boxes) - (middles[:, 1] - 0.7 * np.array(seen)).min()) / size[1]
    wide = ((middles[:, 0] + seen).max() - (middles[:, 0] - seen).min()) / size[0]
    assert max(wide, high) > 0.8
    # Each caption stands below its model and above the next one.
    for middle, radius, box in zip(middles, seen, boxes, strict=True):
        assert middle[1] < box.top < middle[1] + 1.8 * radius


@pytest.mark.xdist_group("polyscope")
@pytest.mark.parametrize("size", [(1100, 700), (800, 500)])
def test_captions_in_the_window_are_whole_beside_the_panel(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.viewer.desks import make_orders
    from workbench.viewer import panel
    from workbench.viewer.look import THEMES
    from workbench.viewer.stage import MujocoStage

    caught: list[list[Caption | None]] = []
    monkeypatch.setattr(panel, "beside", lambda *given, **how: caught.append(beside(*given, **how)) or caught[-1])
    made = [gymnasium.make("Hopper-v5") for _ in range(9)]
    orders = make_orders(*(Session(env, _still(env), seed=0) for env in made), title="hopper")
    for _ in range(20):
        orders.player.step_once()
    stage = MujocoStage(orders, THEMES["light"], size=size, surface="offscreen")
    try:
        stage.show(0.0)
    finally:
        stage.close()
        for env in made:
            env.close()
    boxes = [caption.box for caption in caught[-1] if caption is not None]
    assert len(boxes) == 9
    assert all(not a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert min(box.left for box in boxes) > panel.WIDTH + panel.MARGIN
    assert max(box.right for box in boxes) < size[0]
    assert max(box.bottom for box in boxes) < size[1] - panel.TIMELINE - panel.MARGIN


@pytest.mark.xdist_group("polyscope")
def test_ghosts_are_as_their_captions_and_what_cannot_move_is_drawn_once_as_it_is() -> None:
    from workbench.viewer.ensemble import COLOURS
    from workbench.viewer.look import THEMES, linear
    from workbench.viewer.view import ViewSettings

    made = [gymnasium.make("InvertedPendulum-v5") for _ in range(3)]
    together = Together([Session(env, _still(env), seed=0) for env in made])
    together.begin(0)
    frames = side_by_side.CompanyFrames(
        together,
        ["a", "b", "c"],
        size=(160, 120),
        samples=1,
        theme=THEMES["light"],
        layout="ghosts",
        view=ViewSettings(),
    )
    try:
        model = made[0].unwrapped.model
        rail = int(model.geom("rail").id)
        drawn = [
            {one.index: tuple(one.drawn.get_color()) for one in place.scene._moved if one.kind == "geom"}
            for place in frames._company._places
        ]
    finally:
        frames.close()
        for env in made:
            env.close()
    assert [rail in colours for colours in drawn] == [True, False, False]
    assert drawn[0][rail] == pytest.approx(linear(tuple(float(part) for part in model.geom_rgba[rail][:3])), abs=0.01)
    assert len(drawn[1]) == model.ngeom - 1
    wanted = [linear(colour) for colour in COLOURS[:3]]
    for index, colours in enumerate(drawn):
        for geom, colour in colours.items():
            far = [float(np.linalg.norm(np.subtract(colour, other))) for other in wanted]
            assert geom == rail or int(np.argmin(far)) == index


def _still(env: Any) -> Any:
    from workbench.policies import make_agent

    return make_agent("zero", env)
