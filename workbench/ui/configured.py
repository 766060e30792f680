"""What a person set, and how the app speaks to them: settings, keys, themes, notices, the terminal's title."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.notifications import SeverityLevel

from workbench import formatting
from workbench.ui import keymap, theme
from workbench.ui.graphics.choosing import Way, choose
from workbench.ui.graphics.terminal import Offered
from workbench.ui.settings import SettingProblem, Settings, ensure_file, read_settings, settings_path
from workbench.ui.state import Remembered

if TYPE_CHECKING:
    from workbench.ui.watch import RunsSnapshot

NOTICES_KEPT = 500
AT_ONCE = 3
"""Notices seen at a time; the older ones are in their list."""

_KEEP_TITLE, _GIVE_BACK_TITLE = "\x1b[22;0t", "\x1b[23;0t"
"""XTWINOPS of xterm: the title before ours comes back when the app ends."""


@dataclass(frozen=True)
class Notice:
    """Something that was told."""

    time: float
    """Unix seconds."""
    text: str
    severity: SeverityLevel = "information"


class Configured(App[None]):
    """The part of the app that is a person's own: how it looks, what its keys are, how it calls."""

    NOTIFICATION_TIMEOUT = 5

    settings: Settings
    """What holds now."""
    settings_file: Path
    notices: list[Notice]
    """What was told since the app started, oldest first."""

    terminal_title: str
    """What the terminal's title says."""
    offered: Offered = Offered(answered=False)
    """What the terminal said that it can do, where it was asked before the app began."""

    if TYPE_CHECKING:
        clock: Callable[[], float]
        remembered: Remembered

    def open_outside(self, path: Path, line: int = 0) -> None:
        """Open a file with its own program."""
        raise NotImplementedError

    def run_beside(self, command: Sequence[str]) -> Any:
        """Start a program of the desktop and see it end."""
        raise NotImplementedError

    def set_up(self, file: Path | None) -> None:
        """Begin with what is set where nothing is.

        Args:
            file: The settings file; the person's own by default.
        """
        self.settings = Settings()
        self.settings_file = file or settings_path()
        self.notices = []
        self.terminal_title = ""
        self._complained: tuple[SettingProblem, ...] = ()

    # Settings.

    def take_up_settings(self) -> None:
        """Let hold what is set, and keep the terminal's title to give it back."""
        for item in theme.THEMES:
            self.register_theme(item)
        self._write(_KEEP_TITLE)
        self.read_settings()
        wanted = self.settings.theme or self.remembered.text("app", "theme", theme.DARK)
        self.theme = wanted if wanted in self.available_themes else theme.DARK

    def on_unmount(self) -> None:
        """Give the terminal its title back."""
        self._write(_GIVE_BACK_TITLE)

    def read_settings(self) -> None:
        """Read the settings file and let it hold; tell what is wrong in it once, in one notice."""
        before = self.settings
        self.settings, problems = read_settings(self.settings_file, themes=frozenset(self.available_themes))
        self.set_keymap(keymap.as_textual(self.settings.keys))
        if self.settings.theme and self.settings.theme != before.theme:
            self.theme = self.settings.theme
        if problems and tuple(problems) != self._complained:
            name = self.settings_file.name
            rest = f"\n{len(problems) - 3} more." if len(problems) > 3 else ""
            self.notify(
                "\n".join(f"{name} {problem}" for problem in problems[:3]) + f"{rest}\nThe rest of it holds.",
                severity="warning",
                timeout=15,
            )
        self._complained = tuple(problems)

    def open_settings(self) -> None:
        """Open the settings file, with every setting in it where it is new, and let hold what was saved."""
        try:
            path = ensure_file(self.settings_file)
        except OSError as error:
            self.notify(f"{self.settings_file} cannot be written: {error.strerror}.", severity="warning")
            return
        self.open_outside(path)
        self.read_settings()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give themes of other makers our colours for curves and states, by their brightness."""
        return theme.defaults(dark=self.current_theme.dark)

    def toggle_theme(self) -> None:
        """Change between the dark and the light theme."""
        self.theme = theme.LIGHT if self.current_theme.dark else theme.DARK

    # Notices.

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Tell something for a few seconds, keep it in the list, and call where nobody looks.

        Signs such as `[` mean themselves: messages hold paths and what programs said.
        """
        self.notices.append(Notice(self.clock(), message, severity))
        del self.notices[:-NOTICES_KEPT]
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)
        if not self.app_focus:
            self._call(message)

    def on_notify(self) -> None:
        """Make room for a notice: no more than a few are seen at a time."""
        shown = list(self._notifications)
        for old in shown[: -(AT_ONCE - 1)]:
            self._unnotify(old)

    def _call(self, message: str) -> None:
        if self.settings.notices == "bell":
            self.bell()
        elif self.settings.notices == "desktop":
            command = _desktop_notice(message)
            if command:
                self.run_beside(command)
            else:
                self._write(f"\x1b]9;{_printable(message)}\x07")

    # The terminal's title.

    def show_title(self, snapshot: RunsSnapshot) -> None:
        """Say in the terminal's title how many runs are live and how far they are."""
        known = [row.progress for row in snapshot.rows if row.state.is_live and row.progress is not None]
        parts = ["workbench"]
        if snapshot.live:
            parts.append(f"{snapshot.live} live")
        if known:
            parts.append(formatting.percent(sum(known) / len(known)))
        title = " · ".join(parts).replace("\u00a0", " ")
        if title != self.terminal_title:
            self.terminal_title = title
            self._write(f"\x1b]0;{_printable(title)}\x07")

    def write_sequence(self, sequence: str) -> None:
        """Send the terminal something that is not drawn by cells, such as a picture."""
        self._write(sequence)

    @property
    def wants_to_know_the_terminal(self) -> bool:
        """Whether the settings leave it to the terminal how pictures are drawn; reads their file."""
        return read_settings(self.settings_file)[0].preview in ("auto", "sixel")

    @property
    def picture_way(self) -> Way:
        """How pictures are drawn in this terminal."""
        return choose(self.settings.preview, self.offered, is_truecolour=self.console.color_system == "truecolor")

    def _write(self, sequence: str) -> None:
        """Send the terminal something that is not drawn."""
        if self._driver is not None and not self.is_headless and os.environ.get("TERM") != "dumb":
            self._driver.write(sequence)


def _desktop_notice(message: str) -> list[str]:
    """Return the words that show a notice on this desktop; none where the terminal had better be asked."""
    if os.environ.get("SSH_CONNECTION"):
        return []
    if sys.platform == "darwin":
        text = message.replace("\\", "").replace('"', "'")
        return ["osascript", "-e", f'display notification "{text}" with title "workbench"']
    found = shutil.which("notify-send")
    return [found, "--app-name=workbench", "workbench", message] if found else []


def _printable(text: str) -> str:
    return "".join(sign for sign in " ".join(text.split()) if sign.isprintable())
