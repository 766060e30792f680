from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from workbench.errors import RequestError
from workbench.montage import fonts
from workbench.montage.fonts import font_for, lacking, length, load_font, shorten, write


@pytest.fixture
def no_system_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "WIDE_FONTS", ())
    monkeypatch.setenv("PATH", "")


def test_what_pillow_can_write_is_written_with_its_own_font() -> None:
    assert font_for("return 1 000: “best”") is None


def test_a_letter_that_pillow_lacks_is_looked_for_in_the_system(no_system_fonts: None) -> None:
    assert lacking("Größe", load_font(12)) == "ö"
    with pytest.raises(RequestError, match="no font here has the letter `ö`") as caught:
        font_for("Größe")
    assert "--font-path" in str(caught.value.hint)


@pytest.mark.skipif(not fonts._others("Grüße"), reason="this machine has no font with an ü")
def test_a_font_of_the_system_has_it() -> None:
    found = font_for("Grüße")
    assert found is not None and lacking("Grüße", load_font(12, found)) == ""
    # The last letter for private use, which no usual font draws.
    with pytest.raises(RequestError, match="which the title has"):
        font_for("\U0010fffd", found)


def test_text_is_as_wide_as_is_told_and_where_it_is_put() -> None:
    font, text = load_font(11), "step 503 808"
    picture = Image.new("L", (200, 40))
    write(ImageDraw.Draw(picture), (30.5, 20), text, font=font, fill=(255,), anchor="lm")
    left, top, right, bottom = picture.point(lambda value: 255 * (value > 60)).getbbox() or (0, 0, 0, 0)
    assert abs(left - 30.5) < 2 and abs(right - 30.5 - length(text, font)) < 2
    assert top < 20 < bottom and bottom - top < 13
    assert length(shorten(text, font, 40), font) <= 40


def test_a_file_that_is_no_font_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ttf").write_text("no font")
    with pytest.raises(RequestError, match="is no font that can be read"):
        font_for("a", tmp_path / "a.ttf")
