"""The panel over the picture and the keys of the window, in Polyscope's ImGui.

Draws from a player and changes it; it is called while a frame is drawn, so it steps nothing by itself but what a
button or a key asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.viewer import clock
from workbench.viewer.look import Theme
from workbench.viewer.player import Player

_WIDTH = 250.0
_ACCENT = (0.16, 0.47, 0.86)


class Panel:
    """What is played, and the controls.

    Args:
        player: What the controls change.
        theme: The colours around the model; the panel takes the same side.
        follows: Whether there is a camera that can follow.
    """

    def __init__(self, player: Player, theme: Theme, *, follows: bool) -> None:
        import polyscope.imgui as imgui

        self._imgui: Any = imgui
        self._player = player
        self._dark = sum(theme.background) < 1.5
        self._is_stale = False
        self._follows = follows
        self._keys: list[tuple[tuple[str, ...], Callable[[], None]]] = [
            (("Space",), player.toggle),
            (("RightArrow", "L", "N"), player.step_once),
            (("LeftArrow", "H"), self._step_back),
            (("R", "0", "Keypad0"), player.restart),
            (("Period",), lambda: player.skip(1)),
            (("Comma",), lambda: player.skip(-1)),
            (("Equal", "KeypadAdd"), lambda: player.set_speed(clock.faster(player.speed))),
            (("Minus", "KeypadSubtract"), lambda: player.set_speed(clock.slower(player.speed))),
            (("F",), self._toggle_follow),
            (("Q",), player.quit),
        ]

    def style(self) -> None:
        """Set colours and roundings; Polyscope calls this once when it starts."""
        imgui = self._imgui
        (imgui.StyleColorsDark if self._dark else imgui.StyleColorsLight)()
        style = imgui.GetStyle()
        style.WindowRounding = 6.0
        style.FrameRounding = 4.0
        style.GrabRounding = 4.0

    def recolour(self, theme: Theme) -> None:
        """Take the side of another theme at the next frame."""
        self._dark = sum(theme.background) < 1.5
        self._is_stale = True

    def draw(self) -> None:
        """Draw the panel and act on buttons and keys."""
        imgui = self._imgui
        if self._is_stale:
            self._is_stale = False
            self.style()
        self._read_keys()
        imgui.SetNextWindowPos((12.0, 12.0), imgui.ImGuiCond_FirstUseEver)
        imgui.SetNextWindowBgAlpha(0.85)
        colours = self._push_colours()
        imgui.Begin(f"{self._player.title}###panel", imgui.ImGuiWindowFlags_AlwaysAutoResize)
        try:
            self._transport()
            self._state()
        finally:
            imgui.End()
            imgui.PopStyleColor(colours)

    def _push_colours(self) -> int:
        imgui = self._imgui
        red, green, blue = _ACCENT
        strong, soft = (red, green, blue, 0.85), (red, green, blue, 0.35 if self._dark else 0.25)
        colours = {
            imgui.ImGuiCol_Button: soft,
            imgui.ImGuiCol_ButtonHovered: (red, green, blue, 0.6),
            imgui.ImGuiCol_ButtonActive: strong,
            imgui.ImGuiCol_FrameBg: (red, green, blue, 0.15),
            imgui.ImGuiCol_FrameBgHovered: (red, green, blue, 0.3),
            imgui.ImGuiCol_FrameBgActive: (red, green, blue, 0.4),
            imgui.ImGuiCol_SliderGrab: strong,
            imgui.ImGuiCol_SliderGrabActive: strong,
            imgui.ImGuiCol_CheckMark: strong,
            imgui.ImGuiCol_TitleBg: soft,
            imgui.ImGuiCol_TitleBgActive: (red, green, blue, 0.55),
        }
        for target, colour in colours.items():
            imgui.PushStyleColor(target, colour)
        return len(colours)

    def _transport(self) -> None:
        imgui, player = self._imgui, self._player
        third = ((_WIDTH - 16) / 3, 0.0)
        if imgui.Button("Pause###toggle" if player.playing else "Play###toggle", third):
            player.toggle()
        self._hint("space")
        imgui.SameLine()
        if imgui.Button("Step", third):
            player.step_once()
        self._hint("right arrow, l or n")
        imgui.SameLine()
        if imgui.Button("Restart", third):
            player.restart()
        self._hint("r or 0: the same episode again; . and , go to the next and the previous seed")
        imgui.SetNextItemWidth(_WIDTH - 56)
        changed, speed = imgui.SliderFloat(
            "speed", player.speed, clock.SLOWEST, clock.FASTEST, "%.2fx", imgui.ImGuiSliderFlags_Logarithmic
        )
        if changed:
            player.set_speed(speed)
        self._hint("+ and -")
        if self._follows:
            _, player.follow = imgui.Checkbox("follow", player.follow)
            self._hint("f")
        if player.has_policy:
            if self._follows:
                imgui.SameLine()
            changed, sampled = imgui.Checkbox("sample actions", player.stochastic)
            if changed:
                player.stochastic = sampled

    def _state(self) -> None:
        imgui, session, shown = self._imgui, self._player.session, self._player.shown
        imgui.Separator()
        imgui.Text(f"episode {session.number + 1}   seed {session.seed}   step {shown.step}")
        imgui.Text(f"return {shown.return_:.2f}   reward {shown.reward:+.3f}")
        if not self._player.is_live:
            imgui.TextDisabled(f"past: {session.steps - shown.step} steps ago")
        elif session.ended is not None:
            imgui.Text(f"ended: {session.ended.reason}")
        elif self._player.last is not None:
            last = self._player.last
            imgui.TextDisabled(f"last {last.return_:.2f} in {last.length}: {last.reason}")

    def _hint(self, text: str) -> None:
        if self._imgui.IsItemHovered():
            self._imgui.SetTooltip(text)

    def _step_back(self) -> None:
        if self._player.seekable:
            self._player.step_by(-1)

    def _toggle_follow(self) -> None:
        self._player.follow = not self._player.follow

    def _read_keys(self) -> None:
        imgui = self._imgui
        if imgui.GetIO().WantTextInput:
            return
        for names, act in self._keys:
            if any(imgui.IsKeyPressed(getattr(imgui, f"ImGuiKey_{name}")) for name in names):
                act()
