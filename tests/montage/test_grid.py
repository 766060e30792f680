from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from PIL import Image

from tests.montage.fakes import BLUE, GREEN, RED, clip_of, make_clip, make_run, shown_of
from workbench.errors import RequestError
from workbench.montage.canvas import ending_text
from workbench.montage.clips import Clip
from workbench.montage.ffmpeg import FilmInfo, probe, still
from workbench.montage.grid import ends_early, grid_frames, write_grid, write_poster
from workbench.montage.labels import DARK
from workbench.montage.plan import Plan
from workbench.montage.timing import Pace, work_out
from workbench.storyboard.layout import Box, best_columns, lay_out

SIZE = (160, 120)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Clip]:
    folder = tmp_path_factory.mktemp("clips")
    shown = shown_of(make_run(folder / "runs", [0, 5_000, 10_000]))
    made = []
    for place, (seconds, colour) in enumerate(((0.5, RED), (1.0, GREEN), (2.0, BLUE))):
        film = make_clip(folder / f"{place}.mp4", seconds=seconds, colour=colour, size=SIZE)
        made.append(clip_of(shown[place], film, value=place * 100.0, reason="fell_over"))
    return made


def colour_at(picture: Path, box: Box) -> tuple[int, int, int]:
    with Image.open(picture) as image:
        return image.convert("RGB").getpixel((box.x + box.width // 4, box.y + box.height // 4))  # type: ignore[return-value]


def test_cells_stand_in_order_and_a_clip_that_ended_holds_its_last_frame(clips: list[Clip], tmp_path: Path) -> None:
    timing = work_out(Pace(head_s=0.3, tail_s=0.2), clips)
    layout = lay_out(3, SIZE, columns=2)
    film = tmp_path / "grid.mp4"
    plan = Plan(tuple(clips), timing, layout=layout)
    write_grid(plan, film, scratch=tmp_path)
    info = probe(film)
    assert info == FilmInfo(layout.width, layout.height, Fraction(10), 3 + 20 + 2)
    assert grid_frames(plan) == info.frames
    assert ends_early(clips, timing) == {0: 3 + 5, 1: 3 + 10}
    first, last = tmp_path / "first.png", tmp_path / "last.png"
    still(film, info, 4, first)
    still(film, info, info.frames - 1, last)
    red, green, blue = (colour_at(first, cell) for cell in layout.cells)
    assert red[0] > 180 and green[1] > 140 and blue[2] > 180
    darker, _, same = (colour_at(last, cell) for cell in layout.cells)
    assert 90 < darker[0] < red[0] - 40, "the ended clip is veiled, and still there"
    assert abs(same[2] - blue[2]) <= 6


def test_a_grid_of_one_is_a_grid(clips: list[Clip], tmp_path: Path) -> None:
    timing = work_out(Pace(head_s=0, tail_s=0), clips[:1])
    layout = lay_out(1, SIZE)
    write_grid(Plan(tuple(clips[:1]), timing, layout=layout), tmp_path / "grid.mp4", scratch=tmp_path)
    assert probe(tmp_path / "grid.mp4").size == (layout.width, layout.height)


def test_captions_and_title_are_drawn(clips: list[Clip], tmp_path: Path) -> None:
    layout = lay_out(3, SIZE)
    picture = tmp_path / "poster.png"
    write_poster(Plan(tuple(clips), work_out(Pace(), clips), layout=layout), picture, scratch=tmp_path)
    with Image.open(picture) as image:
        assert image.size == (layout.width, layout.height)
        gray = image.convert("L")
        assert image.getpixel((1, 1)) == DARK.background
        for box in (layout.title, *layout.captions):
            darkest, brightest = gray.crop((box.x, box.y, box.x + box.width, box.y + box.height)).getextrema()
            assert darkest < 60 and brightest > 180  # type: ignore[operator]
    # Half of the longest is 1.0 s: the first has ended by then, the second is just at its end.
    assert colour_at(picture, layout.cells[0])[0] > 180
    assert colour_at(picture, layout.cells[1])[1] > 140
    assert colour_at(picture, layout.cells[2])[2] > 180


def test_an_ending_is_told_in_words(clips: list[Clip]) -> None:
    assert ending_text(clips[0]) == "fell over"


@pytest.mark.parametrize(
    ("count", "columns"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 3), (6, 3), (8, 4), (9, 3), (12, 4)]
)
def test_the_shape_is_chosen(count: int, columns: int) -> None:
    assert best_columns(count, (480, 360)) == columns


@pytest.mark.parametrize("size", [(480, 360), (640, 480), (62, 50), (1280, 720)])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 12, 40])
@pytest.mark.parametrize("strip", [False, True])
def test_everything_is_even_apart_and_inside(size: tuple[int, int], count: int, strip: bool) -> None:
    layout = lay_out(count, size, strip=strip)
    boxes = [layout.title, *layout.cells, *layout.captions, *([layout.strip] if layout.strip else [])]
    assert layout.width * layout.height <= 1920 * 1200 and max(layout.width, layout.height) <= 3840
    for box in boxes:
        assert all(value % 2 == 0 for value in (box.x, box.y, box.width, box.height))
        assert box.x >= 0 and box.x + box.width <= layout.width
        assert box.y >= 0 and box.y + box.height <= layout.height
    for one in boxes:
        for other in boxes:
            apart_x = one.x + one.width <= other.x or other.x + other.width <= one.x
            apart_y = one.y + one.height <= other.y or other.y + other.height <= one.y
            assert one is other or apart_x or apart_y
    assert layout.width % 2 == layout.height % 2 == 0


def test_a_grid_is_no_smaller_than_it_must_be() -> None:
    layout = lay_out(9, (1280, 720))
    assert 0.95 * 1920 * 1200 < layout.width * layout.height <= 1920 * 1200
    poster = lay_out(9, (1280, 720), most_pixels=3840 * 2160)
    assert poster.width > 1.7 * layout.width
    assert lay_out(4, (480, 360)).cells[0].width == 480


def test_no_columns_are_refused() -> None:
    with pytest.raises(RequestError, match="--columns is 0"):
        lay_out(3, SIZE, columns=0)
