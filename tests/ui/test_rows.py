"""The table: its cursor, its columns, and what it draws."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from textual.app import App, ComposeResult
from textual.color import Color

from tests.ui import seen
from workbench.ui.theme import DARK, THEMES
from workbench.ui.widgets.rows import Column, Row, RowTable, cell

COLUMNS = (Column("name", "Name", grows=True), Column("value", "Value", "right", least=6))


def rows(*names: str) -> list[Row]:
    return [Row(name, {"name": cell(name), "value": cell(str(len(name)), "muted")}) for name in names]


class TableApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.moved: list[str | None] = []

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK

    def compose(self) -> ComposeResult:
        yield RowTable(COLUMNS, empty="Nothing here. n makes one.", id="table")

    def on_row_table_moved(self, message: RowTable.Moved) -> None:
        self.moved.append(message.key)


@pytest.fixture
def app() -> TableApp:
    return TableApp()


def table(app: TableApp) -> RowTable:
    return app.query_one(RowTable)


async def test_without_rows_it_says_so(app: TableApp) -> None:
    async with app.run_test(size=(40, 8)):
        assert "Nothing here. n makes one." in seen.text(app)


async def test_the_cursor_stays_on_its_row_wherever_that_moves(app: TableApp) -> None:
    async with app.run_test(size=(40, 8)) as pilot:
        table(app).set_rows(rows("one", "two", "three"))
        await pilot.press("down")
        table(app).set_rows(rows("zero", "three", "one", "two"))
        await pilot.pause()
        assert table(app).cursor == "two" and table(app).cursor_place == 3
        assert app.moved == ["one", "two"]


async def test_when_its_row_goes_the_cursor_takes_the_one_in_its_place(app: TableApp) -> None:
    async with app.run_test(size=(40, 8)) as pilot:
        table(app).set_rows(rows("one", "two", "three"))
        table(app).move_to("two")
        table(app).set_rows(rows("one", "three"))
        assert table(app).cursor == "three"
        table(app).set_rows(())
        await pilot.pause()
        assert table(app).cursor is None and app.moved[-1] is None


async def test_the_cursor_is_kept_in_sight(app: TableApp) -> None:
    names: Sequence[str] = [f"row {number:02d}" for number in range(50)]
    async with app.run_test(size=(40, 8)) as pilot:
        table(app).set_rows(rows(*names))
        await pilot.press("pagedown", "pagedown")
        assert table(app).cursor == "row 14" and "row 14" in seen.text(app)
        table(app).action_last()
        await pilot.pause()
        assert "row 49" in seen.text(app) and "Name" in seen.lines(app)[0]
        table(app).action_first()
        await pilot.pause()
        assert "row 00" in seen.text(app)


async def test_the_growing_column_takes_what_is_left_and_long_text_is_cut(app: TableApp) -> None:
    async with app.run_test(size=(20, 8)) as pilot:
        table(app).set_rows(rows("short"))
        await pilot.pause()
        assert seen.lines(app)[1] == "short              5"
        table(app).set_rows(rows("a name that is far too long"))
        await pilot.pause()
        assert seen.lines(app)[1] == "a name that …     27"


async def test_a_click_moves_a_double_click_opens_and_the_head_sorts(app: TableApp) -> None:
    heard: list[object] = []
    app.on_row_table_chosen = lambda message: heard.append(message.key)  # type: ignore[attr-defined]
    app.on_row_table_head_clicked = lambda message: heard.append(message.column)  # type: ignore[attr-defined]
    async with app.run_test(size=(40, 8)) as pilot:
        table(app).set_rows(rows("one", "two"))
        await pilot.click("#table", offset=(2, 2))
        assert table(app).cursor == "two"
        await pilot.click("#table", offset=(2, 1), times=2)
        await pilot.click("#table", offset=(38, 0))
        assert table(app).cursor == "one"


async def test_equal_rows_draw_nothing(app: TableApp) -> None:
    async with app.run_test(size=(40, 8)) as pilot:
        table(app).set_rows(rows("one", "two"))
        await pilot.pause()
        before = table(app).rows
        table(app).set_rows(rows("one", "two"))
        assert table(app).rows is before


@pytest.mark.parametrize("theme", ["ansi-light", "ansi-dark"])
async def test_in_the_terminals_own_colours_the_row_of_the_cursor_has_one(app: TableApp, theme: str) -> None:
    async with app.run_test(size=(40, 8)) as pilot:
        app.theme = theme
        table(app).set_rows(rows("one", "two"))
        table(app).focus()
        await pilot.pause()
        wanted = [
            Color.parse(app.theme_variables[f"block-cursor-{part}"]).rich_color for part in ("foreground", "background")
        ]
        styles = [segment.style for segment in table(app).render_line(1) if segment.text.strip()]
        assert [[style.color, style.bgcolor] for style in styles if style] == [wanted] * 2
        assert table(app).render_line(2) != table(app).render_line(1)
