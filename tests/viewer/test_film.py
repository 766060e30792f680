from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.viewer.probing import read_film
from workbench.errors import RequestError, WorkFailedError
from workbench.viewer.film import check_suffix, open_film
from workbench.viewer.frames import PixelFormat

SIZE = (64, 48)


def frame(level: int, *, bottom_up: bool) -> Any:
    """A picture that is bright at the top and of another brightness below."""
    picture = np.zeros((SIZE[1], SIZE[0], 4), dtype=np.uint8)
    picture[: SIZE[1] // 2] = 240
    picture[SIZE[1] // 2 :] = level
    return np.ascontiguousarray(picture[::-1] if bottom_up else picture).ravel()


@pytest.mark.parametrize("bottom_up", [True, False])
def test_a_film_has_every_frame_the_right_way_up(tmp_path: Path, bottom_up: bool) -> None:
    path = tmp_path / "new" / "film.mp4"
    with open_film(path, PixelFormat(SIZE, "rgba", bottom_up), 12.5) as film:
        for level in range(0, 200, 20):
            film.add(frame(level, bottom_up=bottom_up))
        assert not path.exists()
    film = read_film(path)
    frames = film.frames
    assert (film.size, film.fps, len(frames)) == (SIZE, 12.5, 10)
    assert frames[5][10].mean() > 200
    assert abs(frames[5][-10].mean() - 100) < 12
    assert [item.name for item in path.parent.iterdir()] == ["film.mp4"]


@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_animations_keep_their_frames(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"film{suffix}"
    with open_film(path, PixelFormat(SIZE, "rgba", True), 10) as film:
        for level in (0, 90, 180):
            film.add(frame(level, bottom_up=True))
    with Image.open(path) as picture:
        assert (picture.size, picture.n_frames) == (SIZE, 3)
        picture.seek(2)
        assert picture.convert("L").getpixel((30, 4)) > 220
        assert abs(picture.convert("L").getpixel((30, 44)) - 180) < 12


def test_a_still_is_the_last_frame(tmp_path: Path) -> None:
    path = tmp_path / "still.png"
    with open_film(path, PixelFormat(SIZE, "rgba", True), 10) as film:
        film.add(frame(10, bottom_up=True))
        film.add(frame(20, bottom_up=True))
    with Image.open(path) as picture:
        assert picture.getpixel((0, 0)) == (240, 240, 240)
        assert picture.getpixel((0, 47)) == (20, 20, 20)


def test_an_error_leaves_neither_film_nor_part(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    path.write_bytes(b"the film before")
    with pytest.raises(ZeroDivisionError), open_film(path, PixelFormat(SIZE, "rgba", True), 10) as film:
        film.add(frame(10, bottom_up=True))
        raise ZeroDivisionError
    assert [item.name for item in tmp_path.iterdir()] == ["film.mp4"]
    assert path.read_bytes() == b"the film before"


def test_an_encoder_that_fails_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    failing = pytest.raises(WorkFailedError, match=r"film\.mp4 could not be written")
    with failing, open_film(path, PixelFormat((64, 48), "nonsense", True), 10) as film:
        for _ in range(200):
            film.add(np.zeros(1 << 16, dtype=np.uint8))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_in_ffmpegs_words_without_its_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = tmp_path / "ffmpeg"
    encoder.write_text(
        "#!/bin/sh\ncat > /dev/null\n"
        "echo '[out#0/mp4 @ 0x55795d1bb500] Error closing file: No space left on device' >&2\nexit 1\n"
    )
    encoder.chmod(0o755)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(encoder))
    path = tmp_path / "film.mp4"
    with pytest.raises(WorkFailedError) as caught, open_film(path, PixelFormat(SIZE, "rgba", True), 10) as film:
        film.add(frame(10, bottom_up=True))
    said = "Error closing file: No space left on device"
    assert caught.value.message == f"the film {path} could not be written: {said}."


def test_other_suffixes_are_refused_with_those_that_work() -> None:
    with pytest.raises(RequestError, match=r"\.mp4, \.webp, \.gif, \.png.*Name it film\.mp4"):
        check_suffix(Path("film.mpg4"))
