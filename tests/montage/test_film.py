from __future__ import annotations

import dataclasses
from fractions import Fraction
from pathlib import Path

import pytest
from PIL import Image

from tests.montage.fakes import BLUE, RED, SIZE, WHITE, clip_of, make_clip, make_run, shown_of
from workbench.errors import RequestError, WorkFailedError
from workbench.montage.cards import draw_end, wrap
from workbench.montage.clips import Clip
from workbench.montage.ffmpeg import FilmInfo, encode, probe, still
from workbench.montage.film import detail, film_frames, headline, write_film
from workbench.montage.fonts import load_font
from workbench.montage.grid import grid_frames, write_grid
from workbench.montage.labels import DARK, LabelStyle
from workbench.montage.plan import Plan
from workbench.montage.timing import Pace, work_out
from workbench.runs.recordings import Sidecar
from workbench.storyboard.layout import lay_out

Pixel = tuple[int, int, int]


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Clip]:
    folder = tmp_path_factory.mktemp("clips")
    shown = shown_of(make_run(folder / "runs", [0, 102_400, 1_024_000]))
    lengths = (1.0, 1.5, 0.5)
    films = [
        make_clip(folder / f"{place}.mp4", seconds=seconds, colour=colour)
        for place, (seconds, colour) in enumerate(zip(lengths, (RED, WHITE, BLUE), strict=True))
    ]
    return [
        clip_of(item, film, value=value) for item, film, value in zip(shown, films, (-12.3, 240, 1702), strict=True)
    ]


def pixel(film: Path, frame: int, at: tuple[int, int]) -> Pixel:
    picture = film.with_suffix(".png")
    still(film, probe(film), frame, picture)
    with Image.open(picture) as image:
        red, green, blue = image.convert("RGB").getpixel(at)  # type: ignore[misc]
    return red, green, blue


def is_near(colour: Pixel, wanted: Pixel, by: int = 8) -> bool:
    return all(abs(a - b) <= by for a, b in zip(colour, wanted, strict=True))


def test_durations_add_up_and_fades_overlap(clips: list[Clip], tmp_path: Path) -> None:
    timing = work_out(Pace(head_s=1.0, tail_s=0.7, transition_s=0.5), clips)
    # 10 frames a second: (10 + 10 + 7) + (10 + 15 + 7) + (10 + 5 + 7), less two fades of 5.
    assert film_frames(Plan(tuple(clips), timing)) == 71
    seen: list[int] = []
    film = tmp_path / "new" / "film.mp4"
    write_film(Plan(tuple(clips), timing), film, scratch=tmp_path, on_frame=seen.append)
    assert probe(film) == FilmInfo(*SIZE, Fraction(10), 71)
    assert seen[-1] == 71
    assert [path.name for path in film.parent.iterdir()] == ["film.mp4"]


def test_a_fade_mixes_as_many_frames_as_it_says_and_neither_end(clips: list[Clip], tmp_path: Path) -> None:
    timing = work_out(Pace(head_s=0.5, tail_s=0.5, transition_s=0.4), clips)
    film = tmp_path / "film.mp4"
    write_film(Plan(tuple(clips[:2]), timing), film, scratch=tmp_path)
    # The first clip has 5 + 10 + 5 frames; the last 4 of them are mixed with the second one.
    red, white = (208, 48, 48), (232, 234, 240)
    corner = (150, 10)
    assert is_near(pixel(film, 15, corner), red)
    assert is_near(pixel(film, 20, corner), white)
    for step, frame in enumerate(range(16, 20), start=1):
        mixed = tuple(round(a + (b - a) * step / 5) for a, b in zip(red, white, strict=True))
        assert is_near(pixel(film, frame, corner), mixed)  # type: ignore[arg-type]


def test_a_title_and_a_card_are_parts_like_the_clips(clips: list[Clip], tmp_path: Path) -> None:
    timing = work_out(Pace(head_s=0.5, tail_s=0.5, transition_s=0.4), clips)
    plan = Plan(tuple(clips[:2]), timing, title="Ant", end_words=("workbench", "montage", "7f3a"))
    film = tmp_path / "film.mp4"
    write_film(plan, film, scratch=tmp_path)
    # 2 s and 3 s of cards, each with one fade: 24 + (5 + 10 + 5) + (5 + 15 + 5) + 34 frames, less three fades of 4.
    assert probe(film).frames == film_frames(plan) == 24 + 20 + 25 + 34 - 3 * 4
    corner = (150, 10)
    dark, red = DARK.background, (208, 48, 48)
    assert is_near(pixel(film, 19, corner), dark)
    for step, frame in enumerate(range(20, 24), start=1):
        mixed = tuple(round(a + (b - a) * step / 5) for a, b in zip(dark, red, strict=True))
        assert is_near(pixel(film, frame, corner), mixed)  # type: ignore[arg-type]
    assert is_near(pixel(film, 24, corner), red)
    assert is_near(pixel(film, probe(film).frames - 1, corner), dark)


def test_a_grid_ends_with_its_card(clips: list[Clip], tmp_path: Path) -> None:
    timing = work_out(Pace(head_s=0.5, tail_s=0.5, transition_s=0.4), clips)
    layout = lay_out(2, SIZE)
    plan = Plan(tuple(clips[:2]), timing, layout=layout, end_words=("workbench", "montage"))
    film = tmp_path / "grid.mp4"
    write_grid(plan, film, scratch=tmp_path)
    assert probe(film).frames == grid_frames(plan) == (5 + 15 + 5) + 34 - 4
    inside = (layout.cells[1].x + 5, layout.cells[1].y + 5)
    assert is_near(pixel(film, 20, inside), (232, 234, 240))
    assert is_near(pixel(film, 26, inside), DARK.background)


def test_a_long_command_is_wrapped_and_stays_on_its_card(clips: list[Clip]) -> None:
    command = ["workbench", "montage", *[f"run_{number}" for number in range(40)]]
    card = draw_end(SIZE, "", clips, command).convert("L")
    left, top, right, bottom = card.point(lambda value: 255 * (value > 60)).getbbox() or (0, 0, 0, 0)
    assert left > 0 and top > 0 and right < SIZE[0] and bottom < SIZE[1]
    lines = wrap("one two three", load_font(12), load_font(12).getlength("one two"))
    assert lines == ["one two", "three"]


def test_without_a_fade_clips_follow_at_once(clips: list[Clip], tmp_path: Path) -> None:
    timing = work_out(Pace(head_s=0, tail_s=0, transition_s=0), clips)
    film = tmp_path / "film.mp4"
    write_film(Plan(tuple(clips), timing), film, scratch=tmp_path)
    assert probe(film).frames == 10 + 15 + 5
    assert is_near(pixel(film, 9, (150, 10)), (208, 48, 48))
    assert is_near(pixel(film, 10, (150, 10)), (232, 234, 240))


def test_speed_comes_before_the_rate(clips: list[Clip], tmp_path: Path) -> None:
    timing = work_out(Pace(speed=2, fps=30, head_s=0, tail_s=0), clips[:1])
    film = tmp_path / "film.mp4"
    write_film(Plan(tuple(clips[:1]), timing), film, scratch=tmp_path)
    assert probe(film) == FilmInfo(*SIZE, Fraction(30), 15)


@pytest.mark.parametrize(
    ("location", "inside"), [("bottom-left", (20, 108)), ("top-right", (140, 12)), ("center", (80, 60))]
)
def test_the_label_is_drawn_where_it_was_asked_for(
    clips: list[Clip], tmp_path: Path, location: str, inside: tuple[int, int]
) -> None:
    film = tmp_path / "film.mp4"
    timing = work_out(Pace(), clips[1:2])
    plan = Plan(tuple(clips[1:2]), timing, style=LabelStyle(location=location))  # type: ignore[arg-type]
    write_film(plan, film, scratch=tmp_path)
    picture = tmp_path / "frame.png"
    still(film, probe(film), 5, picture)
    with Image.open(picture) as image:
        gray = image.convert("L")
        box = (inside[0] - 12, inside[1] - 6, inside[0] + 12, inside[1] + 6)
        darkest, brightest = gray.crop(box).getextrema()
        elsewhere = gray.getpixel((5, 60))
    assert darkest < 110 < 225 < brightest + 60  # type: ignore[operator]
    assert elsewhere >= 225  # type: ignore[operator]


def test_labels_tell_step_return_run_and_iteration(clips: list[Clip]) -> None:
    assert headline(clips[2]) == "step 1 024 000  ·  return 1 702"
    assert headline(clips[0]) == "step 0  ·  return -12.3"
    assert detail(clips[2]) == "ant  ·  PPO  ·  7f3a  ·  iteration 3"
    seeded = dataclasses.replace(clips[2], sidecar=Sidecar(seed=10_002))
    assert detail(seeded, tells_seed=True) == "ant  ·  PPO  ·  7f3a  ·  iteration 3  ·  episode seed 10 002"


def test_a_fade_longer_than_what_stands_still_is_refused(clips: list[Clip]) -> None:
    pace = Pace(head_s=1.0, tail_s=0.4, transition_s=0.5)
    with pytest.raises(RequestError, match=r"--transition-seconds 0.5 is longer than --tail-seconds 0.4"):
        pace.check(fading=True)
    pace.check(fading=False)


def test_clips_of_different_rates_get_the_highest_and_play_as_fast_as_they_were(
    clips: list[Clip], tmp_path: Path
) -> None:
    faster = clip_of(clips[1].shown, make_clip(tmp_path / "fast.mp4", fps=20, colour=BLUE))
    timing = work_out(Pace(head_s=0, tail_s=0, transition_s=0), [clips[0], faster])
    assert (timing.fps, timing.body(clips[0]), timing.body(faster)) == (20, 20, 20)
    film = tmp_path / "film.mp4"
    write_film(Plan((clips[0], faster), timing), film, scratch=tmp_path)
    assert probe(film) == FilmInfo(*SIZE, Fraction(20), 40)
    assert is_near(pixel(film, 19, (150, 10)), (208, 48, 48))
    assert is_near(pixel(film, 20, (150, 10)), (48, 80, 208))


@pytest.mark.parametrize(
    ("pace", "said"),
    [
        (Pace(speed=0), "--speed"),
        (Pace(speed=float("nan")), "--speed"),
        (Pace(fps=0.1), "--fps"),
        (Pace(head_s=-1), "--head-seconds"),
        (Pace(tail_s=float("inf")), "--tail-seconds"),
    ],
)
def test_values_that_make_no_sense_are_refused(pace: Pace, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        pace.check(fading=False)


def test_ffmpeg_failing_says_its_last_words_and_leaves_nothing(tmp_path: Path, clips: list[Clip]) -> None:
    with pytest.raises(WorkFailedError, match=r"encoding a.mp4 failed: .*nosuchfilter"):
        encode([clips[0].film], "[0:v]nosuchfilter[out]", tmp_path / "a.mp4", frames=3, size=SIZE, scratch=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_film_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_text("not a film")
    with pytest.raises(WorkFailedError, match=r"a.mp4 is not a film that can be read"):
        probe(tmp_path / "a.mp4")
