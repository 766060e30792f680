"""A plain terminal gets ASCII and nothing else, cell for cell."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from textual.widgets import Input

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench.project import Project
from workbench.ui.app import WorkbenchApp
from workbench.ui.ascii_only import ascii_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("3\u00a0300 · smooth – 0.9 ◇", "3 300 . smooth - 0.9 o"),
        ("Zoë’s µ", "Zoe?s ?"),
        ("走る", "????"),
        ("│─╮", "|-+"),
        ("27.4…41.4, 2k…−3, 0 … 1, Reading…", "27.4~41.4, 2k~-3, 0 ~ 1, Reading."),
    ],
)
def test_a_text_in_ascii_takes_as_many_cells(text: str, shown: str) -> None:
    assert ascii_text(text) == shown
    assert cell_len(ascii_text(text)) == cell_len(text)


async def test_every_place_of_a_plain_app_and_its_cards_are_ascii(project: Project, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "7f3a", returns=[float(value) for value in range(0, 3000, 100)], total_steps=10**6)
    app = fakes.make_app(project, plain=True)
    async with app.run_test(size=(80, 24)) as pilot:
        for keys in (["1"], ["2"], ["enter"], ["question_mark"], ["escape", "3"], ["4"]):
            await pilot.press(*keys)
            await settle(pilot)
            assert seen.text(app).isascii(), keys


async def test_a_text_longer_than_its_field_is_seen(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        field = Input("from-" + "x" * 60, compact=True)
        field.styles.width = 20
        await app.screen.mount(field)
        await settle(pilot)
        assert "xxxxxxx" in seen.text(app)
