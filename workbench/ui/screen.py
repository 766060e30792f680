"""What every place and every task has in common: header, footer, moving about, and what can be done now.

A place declares `NAME`, `BINDINGS = bindings_for(NAME)` and `compose_body`; a task declares its title and
`compose_body`. What a command does is a method named after it, and `can` says whether it may be done at this moment.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import DataTable, OptionList, Static, Tree

from workbench.ui.commands import ALWAYS_ALLOWED, BY_ACTION, Command, bindings_for, footer_for
from workbench.ui.footer import CommandFooter
from workbench.ui.header import Header
from workbench.ui.keymap import command_on
from workbench.ui.widgets.focus_line import FocusLine
from workbench.ui.widgets.rows import RowTable
from workbench.ui.widgets.saying import say

if TYPE_CHECKING:
    from workbench.ui.app import WorkbenchApp

WIDTHS = [(0, "-minute"), (60, "-tiny"), (80, "-narrow"), (120, "-medium"), (160, "-wide"), (200, "-huge")]
"""The class a screen has by its width; a rule for wide screens names `-wide` and `-huge`."""
HEIGHTS = [(0, "-low"), (16, "-flat"), (20, "-normal"), (34, "-tall")]
"""The class a screen has by its height."""

Answer = TypeVar("Answer")


def _allowed(screen: Screen[Any], command: Command, verdict: bool | None) -> bool | None:
    """Return whether a command is offered: True, greyed (None) or hidden (False)."""
    if not hasattr(screen, f"action_{command.action}"):
        return False
    return None if _is_refused(screen, command) else verdict


def _is_refused(screen: Screen[Any], command: Command) -> bool:
    """Return whether the app is one that only looks, and the command is one that acts."""
    app = cast("WorkbenchApp", screen.app)
    return app.read_only and command.group == "act" and command.id not in ALWAYS_ALLOWED


def _say_refused(screen: Screen[Any], name: str, event: events.Key) -> None:
    """Say why nothing happens on a key that acts, in an app that only looks."""
    app = cast("WorkbenchApp", screen.app)
    command = command_on(event.key, name, app.settings.keys) if app.read_only else None
    if command is not None and _is_refused(screen, command) and hasattr(screen, f"action_{command.action}"):
        event.stop()
        app.notify(f"{command.label}: not in a read-only app. Start workbench without --read-only to act.")


class Pane(Vertical):
    """A bordered part of a screen that can be maximised; its title is bold while it has the focus."""

    ALLOW_MAXIMIZE = True

    DEFAULT_CSS = """
    Pane {
        border: round $border-blurred;
        border-title-color: $foreground;
        border-subtitle-color: $muted;
        padding: 0 1;
        &:focus-within { border: round $accent; border-title-style: bold; }
    }
    """


def pane_of(widget: Widget) -> Widget:
    """Return the pane a widget is in; itself where it is in none."""
    return next((node for node in widget.ancestors_with_self if isinstance(node, Pane)), widget)


class WorkbenchScreen(Screen[None]):
    """A place, or a screen opened on top of one."""

    NAME: ClassVar[str] = ""
    """Its name in the registry of commands."""
    PLACE: ClassVar[str] = ""
    """The place whose tab is lit; the screen's own name where empty."""
    BINDINGS = bindings_for("all")
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    ALLOW_IN_MAXIMIZED_VIEW = "Header, CommandFooter"

    DEFAULT_CSS = """
    WorkbenchScreen {
        & #body { height: 1fr; }
        & #too-small { display: none; padding: 0 1; height: 1fr; width: 1fr; }
        &.-minute, &.-low {
            & > * { display: none; }
            & > #too-small { display: block; }
        }
    }
    """

    @property
    def workbench(self) -> WorkbenchApp:
        """The app, with its type."""
        return cast("WorkbenchApp", self.app)

    def compose(self) -> ComposeResult:
        """Put the body between header and footer."""
        self.set_class(self.workbench.plain, "-plain")
        yield Header(self.workbench, self.PLACE or self.NAME)
        with Vertical(id="body"):
            yield from self.compose_body()
        if self.workbench.plain:
            yield FocusLine(self.NAME.capitalize())
        yield CommandFooter(self.NAME)
        yield Static(id="too-small")

    def compose_body(self) -> ComposeResult:
        """Yield what stands between header and footer."""
        yield from ()

    def on_mount(self) -> None:
        """Count the live runs for a terminal that shows nothing else."""
        self.workbench.runs_changed.subscribe(self, lambda _: self._tell_of_size())

    def on_resize(self) -> None:
        """Keep the sentence for a terminal too small to work in up to date, and give the focus back after one."""
        self._tell_of_size()
        if self.has_class("-minute") or self.has_class("-low"):
            self._hidden_focus = self._hidden_focus or self._last_focus
        else:
            self.call_after_refresh(self._restore_focus)

    def on_screen_resume(self) -> None:
        """Give the focus back to what a terminal too small has hidden meanwhile."""
        self._restore_focus()

    def on_descendant_focus(self) -> None:
        """Keep in mind what has the focus: what is hidden loses it."""
        self._last_focus = self.focused

    _last_focus: Widget | None = None
    _hidden_focus: Widget | None = None
    """What had the focus before the terminal was too small."""

    def _restore_focus(self) -> None:
        hidden = self._hidden_focus
        if hidden is not None and hidden.is_attached and hidden.focusable:
            self._hidden_focus = None
            self.set_focus(hidden)

    def _tell_of_size(self) -> None:
        live, (width, height) = self.workbench.run_counts.live, self.size
        short = f"{live} live. workbench needs 60x16, here are {width}x{height}."
        whole = (
            f"workbench needs 60 columns and 16 rows; this terminal has {width} by {height}. "
            f"Live runs: {live}. They go on."
        )
        room = (width - 2) * height
        say(self.query_one("#too-small", Static), whole if room > 2 * len(whole) else short)

    def on_key(self, event: events.Key) -> None:
        """Say why a key does nothing where the app only looks."""
        _say_refused(self, self.NAME, event)

    def on_click(self, event: events.Click) -> None:
        """Give a pane whose title is clicked twice the whole screen, or take it back."""
        if event.chain % 2:
            return
        clicked, _ = self.get_widget_at(event.screen_x, event.screen_y)
        for node in clicked.ancestors_with_self:
            if isinstance(node, Widget) and node.border_title and node.region.y == event.screen_y:
                self._toggle_maximised(node)
                event.stop()
                return

    # What can be done now.

    @property
    def folder(self) -> Path:
        """The folder of what is shown."""
        path = getattr(getattr(self, "current", None), "path", None)
        if not isinstance(path, Path):
            return self.workbench.project.root
        return path if path.is_dir() else path.parent

    def can(self, command_id: str) -> bool | None:
        """Return whether a command can be carried out at this moment: yes, greyed (None), hidden (False)."""
        return True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Answer for bindings, footer, palette and help alike."""
        command = BY_ACTION.get(action)
        return True if command is None else _allowed(self, command, self.can(command.id))

    def label_of(self, action: str, label: str) -> str:
        """Return what the footer calls an action at this moment."""
        return label

    def undo_layer(self) -> bool:
        """Take back the topmost layer of this screen (find box, filter, crosshair); return whether there was one."""
        return False

    # Places.

    def action_go_environments(self) -> None:
        """Go to Environments."""
        self.app.switch_mode("environments")

    def action_go_runs(self) -> None:
        """Go to Runs."""
        self.app.switch_mode("runs")

    def action_go_viewer(self) -> None:
        """Go to Viewer."""
        self.app.switch_mode("viewer")

    def action_go_recordings(self) -> None:
        """Go to Recordings."""
        self.app.switch_mode("recordings")

    def action_go_back(self) -> None:
        """Undo one layer; never quits."""
        if self.undo_layer():
            return
        if self.maximized is not None:
            self.minimize()
        elif len(self.app.screen_stack) > 1:
            self.app.pop_screen()

    async def action_go_close(self) -> None:
        """Go one screen back, or quit from the top of a place."""
        if len(self.app.screen_stack) > 1:
            self.app.pop_screen()
        else:
            await self.workbench.action_quit()

    # The app.

    def action_app_commands(self) -> None:
        """Open the palette."""
        self.app.action_command_palette()

    def action_app_help(self) -> None:
        """Show every key of this screen."""
        from workbench.ui.screens.help import HelpCard

        self.app.push_screen(HelpCard(self))

    def action_app_reread(self) -> None:
        """Read the project's folders again."""
        self.workbench.reread()

    def action_app_redraw(self) -> None:
        """Draw everything again, over whatever another program left on the terminal."""
        self.app.refresh(layout=True)

    def action_app_theme(self) -> None:
        """Choose among all themes."""
        self.app.search_themes()

    def action_app_jump(self) -> None:
        """Put a letter on every pane, and go where one is typed."""
        from workbench.ui.screens.jump import JumpLabels

        self.app.push_screen(JumpLabels(self))

    def action_app_settings(self) -> None:
        """Open the settings file."""
        self.workbench.open_settings()

    def action_app_keys(self) -> None:
        """Show every key of every screen."""
        from workbench.ui.screens.keys import KeysCard

        self.app.push_screen(KeysCard())

    def action_app_notifications(self) -> None:
        """Show what was told since the app started."""
        from workbench.ui.screens.notices import NoticesCard

        self.app.push_screen(NoticesCard())

    def action_app_output(self) -> None:
        """Show again what a command found last."""
        self.workbench.show_last_output()

    def action_app_folder(self) -> None:
        """Open the folder of what is shown."""
        self.workbench.open_outside(self.folder)

    def action_app_suspend(self) -> None:
        """Go back to the shell that started the app."""
        self.workbench.suspend_to_shell()

    # Panes.

    def action_view_next_pane(self) -> None:
        """Focus the next pane."""
        self.focus_next()

    def action_view_previous_pane(self) -> None:
        """Focus the previous pane."""
        self.focus_previous()

    def action_view_maximise(self) -> None:
        """Give the focused pane the whole screen, or take it back."""
        if self.maximized is not None:
            self.minimize()
        elif self.focused is not None:
            self._toggle_maximised(pane_of(self.focused))

    def _toggle_maximised(self, widget: Widget) -> None:
        if self.maximized is not None:
            self.minimize()
        else:
            self.maximize(widget, container=False)

    # Moving in whatever has the focus.

    def action_move_down(self) -> None:
        """Move one row down."""
        self._move("cursor_down", "scroll_down")

    def action_move_up(self) -> None:
        """Move one row up."""
        self._move("cursor_up", "scroll_up")

    def action_move_left(self) -> None:
        """Move left."""
        self._move("cursor_left", "scroll_left")

    def action_move_right(self) -> None:
        """Move right."""
        self._move("cursor_right", "scroll_right")

    def action_move_first(self) -> None:
        """Go to the first row."""
        self._move("first", "scroll_home", "scroll_top")

    def action_move_last(self) -> None:
        """Go to the last row."""
        self._move("last", "scroll_end", "scroll_bottom")

    def action_move_half_down(self) -> None:
        """Move half a page down."""
        self._half_page(1)

    def action_move_half_up(self) -> None:
        """Move half a page up."""
        self._half_page(-1)

    def _move(self, *names: str) -> None:
        for name in names:
            method = getattr(self.focused, f"action_{name}", None)
            if method is not None:
                method()
                return

    def _half_page(self, direction: int) -> None:
        widget = self.focused
        if widget is None:
            return
        rows = direction * max(1, widget.size.height // 2)
        if isinstance(widget, DataTable):
            widget.move_cursor(row=min(max(0, widget.cursor_row + rows), max(0, widget.row_count - 1)))
        elif isinstance(widget, Tree):
            widget.cursor_line = min(max(0, widget.cursor_line + rows), widget.last_line)
        elif isinstance(widget, OptionList) and widget.option_count:
            widget.highlighted = min(max(0, (widget.highlighted or 0) + rows), widget.option_count - 1)
        elif isinstance(widget, RowTable):
            widget.move_by(rows)
        else:
            widget.scroll_relative(y=rows, animate=False)


class Task(ModalScreen[Answer | None], Generic[Answer]):
    """A form or a card over a place: returns a value, or nothing when it is closed.

    `esc` always leaves it without effect. Its fields take every letter, so what it does is on `ctrl`.
    """

    TITLE: ClassVar[str] = ""
    LABELS: ClassVar[dict[str, str]] = {}
    """Labels of its keys by action, where the registry's are too general: `{"task_go": "Record"}`."""
    BINDINGS = bindings_for("task")
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS

    DEFAULT_CSS = """
    Task {
        align: center middle;
        background: $background 60%;
        & #card {
            width: 100%;
            max-width: 80;
            height: auto;
            max-height: 100%;
            background: $surface;
            border: round $accent;
            border-title-style: bold;
            border-title-color: $foreground;
            border-subtitle-color: $foreground;
            border-subtitle-align: left;
            padding: 0 1;
        }
    }
    """

    @property
    def workbench(self) -> WorkbenchApp:
        """The app, with its type."""
        return cast("WorkbenchApp", self.app)

    def compose(self) -> ComposeResult:
        """Put the body in a card whose lower border says the keys."""
        self.set_class(self.workbench.plain, "-plain")
        with Vertical(id="card") as card:
            card.border_title = self.TITLE
            yield from self.compose_body()

    def compose_body(self) -> ComposeResult:
        """Yield what stands in the card."""
        yield from ()

    @property
    def card(self) -> Widget:
        """The card, for its title."""
        return self.query_one("#card")

    def on_mount(self) -> None:
        """Say the keys, and again whenever they change."""
        self.show_keys()
        self.bindings_updated_signal.subscribe(self, lambda _: self.show_keys())

    def show_keys(self) -> None:
        """Write the keys of this task on its lower border."""
        self.card.border_subtitle = self.key_line()

    def key_line(self) -> Content:
        """Return the keys of this task that can be used, with their labels."""
        parts: list[tuple[str, str]] = []
        for keys, label, action in footer_for("task", self.workbench.settings.keys):
            state = self.check_action(action, ())
            if state is False:
                continue
            style = "$footer-key-foreground bold" if state else "$muted"
            parts += [(keys, f"{style} @click=screen.{action}"), (f" {self.LABELS.get(action, label)}   ", "")]
        return Content.assemble(*parts).rstrip()

    def can(self, command_id: str) -> bool | None:
        """Return whether a command can be carried out at this moment."""
        return True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Answer for bindings, keys on the border and help alike."""
        command = BY_ACTION.get(action)
        return True if command is None else _allowed(self, command, self.can(command.id))

    def on_key(self, event: events.Key) -> None:
        """Say why a key does nothing where the app only looks."""
        _say_refused(self, "task", event)

    def action_task_close(self) -> None:
        """Leave without effect."""
        self.dismiss(None)

    def action_task_help(self) -> None:
        """Show the keys of this task."""
        from workbench.ui.screens.help import HelpCard

        self.app.push_screen(HelpCard(self))
