"""A log on the screen."""

from __future__ import annotations

from textual.app import App, ComposeResult

from workbench.ui.theme import THEMES
from workbench.ui.widgets.log_view import LogView


class OneLog(App[None]):
    def compose(self) -> ComposeResult:
        yield LogView()

    def on_mount(self) -> None:
        self.register_theme(THEMES[0])
        self.theme = THEMES[0].name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return THEMES[0].variables


def newest_shown(log: LogView) -> int:
    """The number of the last line in sight."""
    return round(log.scroll_y) + log.scrollable_content_region.height - 1


async def test_the_end_stays_in_sight_when_the_terminal_shrinks_and_grows() -> None:
    app = OneLog()
    async with app.run_test(size=(80, 40)) as pilot:
        log = app.query_one(LogView)
        log.extend(f"line {number}" for number in range(100))
        await pilot.pause()
        for height in (12, 40):
            await pilot.resize_terminal(80, height)
            await pilot.pause()
            assert log.following
            assert newest_shown(log) == 99


async def test_lines_that_are_held_stay_when_the_terminal_shrinks() -> None:
    app = OneLog()
    async with app.run_test(size=(80, 40)) as pilot:
        log = app.query_one(LogView)
        log.extend(f"line {number}" for number in range(100))
        await pilot.pause()
        log.scroll_to(y=20, animate=False)
        await pilot.pause()
        await pilot.resize_terminal(80, 12)
        await pilot.pause()
        assert not log.following
        assert round(log.scroll_y) == 20
