"""Pictures as escape sequences: byte by byte what the protocols publish, and back again by readers of our own."""

from __future__ import annotations

import re
import zlib
from base64 import standard_b64decode
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.cells import cell_len
from rich.color import ColorSystem
from textual.pilot import Pilot

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench.remote.frames import Frame
from workbench.ui.app import WorkbenchApp
from workbench.ui.graphics import kitty, sixel
from workbench.ui.graphics.choosing import MOST_PIXELS, Way, choose
from workbench.ui.graphics.terminal import Offered, read_answer
from workbench.ui.widgets.preview import Preview, why_no_colours

HI = (
    "#0;2;0;0;0#1;2;100;100;0#2;2;0;100;0"
    "#1~~@@vv@@~~@@~~$"
    "#2??}}GG}}??}}??-"
    "#1!14@"
)  # fmt: skip
"""The word HI: the example of the article "Sixel" in Wikipedia."""


def read_sixels(text: str) -> NDArray[np.int64]:
    """Read the colour of each pixel; -1 where none was drawn."""
    pixels: dict[tuple[int, int], int] = {}
    x = y = colour = 0
    for token in re.findall(r"#\d+(?:;\d+)*|!\d+.|[$-]|[?-~]", text):
        if token[0] == "#":
            colour = int(re.split(r"[#;]", token)[1])
        elif token == "$":
            x = 0
        elif token == "-":
            x, y = 0, y + 6
        else:
            count = int(token[1:-1]) if token[0] == "!" else 1
            for column in range(x, x + count):
                pixels |= {(y + row, column): colour for row in range(6) if (ord(token[-1]) - 63) >> row & 1}
            x += count
    found = np.full((max(row for row, _ in pixels) + 1, max(column for _, column in pixels) + 1), -1)
    for place, value in pixels.items():
        found[place] = value
    return found


def test_sixels_are_those_of_the_published_example() -> None:
    drawn = read_sixels(HI)
    assert drawn.shape == (7, 14) and (drawn >= 0).all()
    palette = np.array([[0, 0, 0], [255, 255, 0], [0, 255, 0]], dtype=np.uint8)
    text = sixel.encode(drawn.astype(np.uint8), palette)
    # What stands behind the last pixel of a colour says nothing.
    assert text == f'\x1bP0;1;0q"1;1;14;7{HI}\x1b\\'.replace("#2??}}GG}}??}}??-", "#2??}}GG}}??}}-")


def test_sixels_of_any_picture_are_read_back() -> None:
    generator = np.random.default_rng(1)
    indices = generator.integers(0, 5, (23, 31)).astype(np.uint8)
    palette = generator.integers(0, 256, (5, 3)).astype(np.uint8)
    body = re.sub(r'^.*?"1;1;31;23', "", sixel.encode(indices, palette)).removesuffix("\x1b\\")
    body = re.sub(r"#\d+;2;\d+;\d+;\d+", "", body)
    assert np.array_equal(read_sixels(body), indices)


def test_a_picture_in_sixels_has_the_size_and_the_colours_it_is_to_have() -> None:
    pixels = np.zeros((4, 6, 3), np.uint8)
    pixels[:, 3:] = (255, 0, 0)
    text = sixel.picture(pixels.tobytes(), (6, 4), (12, 8))
    assert '"1;1;12;8' in text and ";2;100;0;0" in text and ";2;0;0;0" in text


def test_placeholders_are_those_of_the_published_example() -> None:
    # The first two rows and columns of the picture with the number 42.
    assert kitty.placeholders(0, 2) == "\U0010eeee\u0305\u0305\U0010eeee\u0305\u030d"
    assert kitty.placeholders(1, 2) == "\U0010eeee\u030d\u0305\U0010eeee\u030d\u030d"
    assert kitty.colour(42) == "#00002a"
    assert cell_len(kitty.placeholders(3, 40)) == 40
    # The table of the protocol has 297 entries, the last of them U+1D244.
    assert len(kitty.diacritics()) == 297 and kitty.diacritics()[-1] == "\U0001d244"


def sequences(text: str) -> list[tuple[dict[str, str], bytes]]:
    """Read the control data and the payload of each sequence."""
    found = []
    for body in re.findall(r"\x1b_G(.*?)\x1b\\", text):
        keys, _, payload = body.partition(";")
        found.append((dict(pair.split("=") for pair in keys.split(",")), payload.encode()))
    return found


def test_pictures_are_sent_in_chunks_that_come_together_again() -> None:
    pixels = np.random.default_rng(2).integers(0, 256, (40, 50, 3)).astype(np.uint8).tobytes()
    sent = sequences(kitty.transmit(pixels, (50, 40), (10, 4), 42))
    first, rest = sent[0][0], [keys for keys, _ in sent[1:]]
    assert first == {
        "a": "T", "U": "1", "i": "42", "f": "24", "o": "z", "s": "50", "v": "40", "c": "10", "r": "4", "q": "2",
        "m": "1",
    }  # fmt: skip
    assert [keys["m"] for keys in rest] == ["1"] * (len(rest) - 1) + ["0"]
    assert all(len(payload) == 4096 for _, payload in sent[:-1]) and len(sent[-1][1]) <= 4096
    assert zlib.decompress(standard_b64decode(b"".join(payload for _, payload in sent))) == pixels


def test_a_small_picture_is_one_sequence() -> None:
    ((keys, _),) = sequences(kitty.transmit(bytes(12), (2, 2), (1, 1), 7))
    assert "m" not in keys


def test_tmux_is_asked_to_pass_sequences_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    assert kitty.passed_on(kitty.delete(5)) == "\x1b_Ga=d,d=I,i=5,q=2\x1b\\"
    monkeypatch.setenv("TMUX", "/tmp/tmux")
    assert kitty.passed_on(kitty.delete(5)) == "\x1bPtmux;\x1b\x1b_Ga=d,d=I,i=5,q=2\x1b\x1b\\\x1b\\"


@pytest.mark.parametrize(
    ("answer", "offered"),
    [
        # kitty; xterm -ti vt340; foot; the console of Linux; nobody.
        (b"\x1b_Gi=31;OK\x1b\\\x1b[6;20;10t\x1b[?62;52c", Offered(kitty=True, cell=(10, 20))),
        (b"\x1b[6;15;7t\x1b[?63;1;2;4;6;9;15;22c", Offered(sixel=True, cell=(7, 15))),
        (b"\x1b_Gi=31;ENOTSUPPORTED:\x1b\\\x1b[?62;4;22;28c", Offered(sixel=True)),
        (b"\x1b[?6c", Offered()),
        (b"", Offered(answered=False)),
    ],
)
def test_what_terminals_answer_is_understood(answer: bytes, offered: Offered) -> None:
    assert read_answer(answer) == offered


def test_a_terminal_draws_what_it_can_and_what_was_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEXTUAL_DRIVER", raising=False)
    monkeypatch.setattr("workbench.ui.graphics.choosing.cell_size", lambda: None)
    knows = Offered(kitty=True, cell=(10, 20))
    assert choose("halfblocks", knows, is_truecolour=True) == Way()
    assert choose("auto", knows, is_truecolour=True) == Way("kitty", (10, 20))
    assert choose("auto", knows, is_truecolour=False) == Way()
    # WezTerm has both, and none of kitty's placeholders.
    both = Offered(kitty=True, sixel=True, cell=(10, 20))
    assert choose("auto", both, is_truecolour=True) == Way("sixel", (10, 20))
    assert choose("kitty", both, is_truecolour=True) == Way("kitty", (10, 20))
    assert choose("auto", Offered(answered=False), is_truecolour=True) == Way()
    assert choose("kitty", Offered(answered=False), is_truecolour=True).kind == "kitty"
    # As large as its pixels, a picture in sixels needs to know a cell.
    assert choose("sixel", Offered(sixel=True), is_truecolour=True) == Way()
    monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.web_driver:WebDriver")
    assert choose("auto", knows, is_truecolour=True) == Way()


def test_large_pictures_are_drawn_smaller_and_fill_the_same_cells() -> None:
    way = Way("kitty", (10, 20))
    assert way.pixels(40, 12) == (400, 240)
    width, height = way.pixels(160, 44)
    assert width * height <= MOST_PIXELS * 1.01 and abs(width / height - 1600 / 880) < 0.01
    assert way.cells((width, height), 160, 44) == (160, 44)
    assert way.cells((width // 2, height), 160, 44) == (80, 44)
    assert Way().pixels(40, 12) == (40, 24) and Way().cells((20, 24), 40, 12) == (20, 12)


async def shown(app: WorkbenchApp, settle: Settle, pilot: Pilot[None], offered: Offered) -> tuple[Preview, list[str]]:
    """Play something in a terminal that offers this; returns the preview, and what is sent beside the cells."""
    sent: list[str] = []
    app.offered = offered
    app.settings = replace(app.settings, preview="auto")
    app.write_sequence = sent.append  # type: ignore[method-assign]
    await settle(pilot)
    app.viewer.wants_preview = True
    app.start_play(["play", "ant"], "ant", preview=True)
    await settle(pilot)
    players = app.start_player
    assert isinstance(players, fakes.FakePlayers)
    players.last.ready(preview=[80, 48, 15])
    await settle(pilot)
    preview = app.screen.query_one(Preview)
    width, height = preview.pixels
    players.last.frame(Frame(width, height, 0, 0, bytes([200, 30, 30]) * (width * height)))
    await settle(pilot)
    return preview, sent


async def test_the_viewer_sends_pictures_to_a_terminal_that_draws_them(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        preview, sent = await shown(app, settle, pilot, Offered(kitty=True, cell=(10, 20)))
        keys, _ = sequences("".join(sent))[0]
        assert (int(keys["c"]), int(keys["r"])) == tuple(preview.size)
        assert int(keys["s"]) * int(keys["v"]) > preview.size.width * preview.size.height
        assert kitty.PLACEHOLDER in seen.text(app)
        order = app.start_player.last.orders[-1]  # type: ignore[attr-defined]
        assert (order["width"], order["height"]) == preview.pixels
        # Elsewhere nobody sees it, and the terminal needs not keep it.
        await pilot.press("1")
        await settle(pilot)
        app.viewer.stop()
        await pilot.press("3")
        await settle(pilot)
        assert kitty.delete(int(keys["i"])) in sent


async def test_sixels_are_sent_to_their_place_again_after_cells_were_painted(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        preview, sent = await shown(app, settle, pilot, Offered(sixel=True, cell=(8, 16)))
        region = preview.content_region
        size = f'"1;1;{8 * region.width};{16 * region.height}'
        assert sent[-1].startswith(f"\x1b7\x1b[{region.y + 1};{region.x + 1}H\x1bP0;1;0q{size}")
        assert sent[-1].endswith("\x1b\\\x1b8")
        count = len(sent)
        preview.refresh()
        await settle(pilot)
        assert len(sent) > count
        # Under a card nothing is drawn: it would lie over it.
        await pilot.press("question_mark")
        count = len(sent)
        preview.refresh()
        await settle(pilot)
        assert len(sent) == count


async def test_sixels_need_no_more_than_sixteen_colours(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        app.console._color_system = ColorSystem.STANDARD
        assert "fewer than 256 colours" in why_no_colours(app, plain=False)
        app.settings = replace(app.settings, preview="sixel")
        app.offered = Offered(sixel=True, cell=(8, 16))
        assert why_no_colours(app, plain=False) == ""
        assert why_no_colours(app, plain=True)
