"""The panel over the picture and the keys of the window, in Polyscope's ImGui.

Draws from the player and the view, and changes nothing but through commands; it is called while a frame is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.formatting import plural
from workbench.viewer import clock, tab_environment, tab_play, tab_scene, tab_view
from workbench.viewer.captions import PARTED, Box, beside, stacked
from workbench.viewer.ensemble import COLOURS, columns_of
from workbench.viewer.look import Theme
from workbench.viewer.orders import Orders
from workbench.viewer.projection import knobs
from workbench.viewer.widgets import ACCENT, Widgets

if TYPE_CHECKING:
    from workbench.viewer.company import Company
    from workbench.viewer.room import Room

WIDTH = 348.0
MARGIN = 12.0
TIMELINE = 46.0
"""Height of the strip at the bottom."""

NOTICE = 620.0
"""Width of the lines that say why something was refused."""

LEAST = 220.0
"""The least height of the panel beside which the strip is shown: the transport, the tabs and a row of one of them."""

GIZMO = 42.0
"""Its radius in pixels."""

_AXES = ((0.86, 0.27, 0.27), (0.25, 0.66, 0.32), (0.23, 0.46, 0.90))
_TABS: dict[str, tuple[str, Callable[[Widgets, Orders], None]]] = {
    "play": ("Play", tab_play.draw),
    "environment": ("Environment", tab_environment.draw),
    "scene": ("Scene", tab_scene.draw),
    "view": ("View", tab_view.draw),
}


def strip(height: float, *, is_seekable: bool) -> float:
    """Return how much of a window's height the strip at its bottom takes; a low window is the panel's alone."""
    taken = TIMELINE + MARGIN
    return taken if is_seekable and height - 2 * MARGIN - taken >= LEAST else 0.0


class Panel:
    """What is played, and the controls.

    Args:
        orders: What the controls give their commands to.
        theme: The colours around the model; the panel takes the same side.
    """

    def __init__(self, orders: Orders, theme: Theme) -> None:
        import polyscope.imgui as imgui

        self.on_frame: Callable[[], None] = lambda: None
        """Called within each frame, before the panel is drawn."""
        self._imgui: Any = imgui
        self._orders = orders
        self._player = orders.player
        self._widgets = Widgets(imgui)
        self._recolour(theme)
        self._is_stale = False
        do, player, view = orders.do, orders.player, orders.view
        self._keys: list[tuple[tuple[str, ...], Callable[[], None]]] = [
            (("Space",), lambda: do("pause" if player.playing else "play")),
            (("RightArrow", "L", "N"), lambda: do("step", n=1)),
            (("LeftArrow", "H"), lambda: do("step", n=-1)),
            (("UpArrow", "RightBracket"), lambda: do("walk", n=1)),
            (("DownArrow", "LeftBracket"), lambda: do("walk", n=-1)),
            (("R", "0", "Keypad0"), lambda: do("reset")),
            (("Period",), lambda: do("next", n=1)),
            (("Comma",), lambda: do("next", n=-1)),
            (("Equal", "KeypadAdd"), lambda: do("speed", value=clock.faster(player.speed))),
            (("Minus", "KeypadSubtract"), lambda: do("speed", value=clock.slower(player.speed))),
            (("End",), lambda: do("seek", step=player.last_step)),
            (("Home",), lambda: do("seek", step=player.first)),
            (("F",), lambda: do("track", on=not view.track, seconds=view.smoothing_s)),
            (("A",), lambda: do("frame")),
            (("C",), lambda: self._toggle_mark("contacts")),
            (("V",), lambda: self._toggle_mark("forces")),
            (("J",), lambda: self._toggle_mark("joints")),
            (("M",), lambda: self._toggle_mark("mass")),
            (("T",), lambda: do("theme", name="light" if view.theme == "dark" else "dark")),
            (("Tab",), lambda: do("panel", on=not view.panel)),
            (("Q",), lambda: do("quit")),
        ]
        for index in range(len(player.lanes) if len(player.lanes) > 1 else 0):
            self._keys.append(((str(index + 1),), lambda index=index: do("member", index=index)))  # type: ignore[misc]

    def style(self) -> None:
        """Set colours and roundings; Polyscope calls this once when it starts."""
        self._widgets.style()

    def recolour(self, theme: Theme) -> None:
        """Take the side of another theme at the next frame."""
        self._recolour(theme)
        self._is_stale = True

    def draw(self) -> None:
        """Draw the panel and act on buttons and keys."""
        if self._is_stale:
            self._is_stale = False
            self.style()
        self._read_keys()
        self.on_frame()
        colours = self._widgets.push_colours()
        try:
            self._notice()
            if self._orders.view.panel:
                height = self._imgui.GetIO().DisplaySize[1]
                below = strip(height, is_seekable=self._player.seekable)
                self._panel(height - 2 * MARGIN - below)
                if below:
                    self._timeline()
        finally:
            self._imgui.PopStyleColor(colours)

    def draw_gizmo(self, polyscope: Any) -> None:
        """Draw the axes in the upper right corner; a click on an end looks from there."""
        imgui = self._imgui
        width, _ = polyscope.get_window_size()
        middle = (width - GIZMO - 3 * MARGIN, GIZMO + 2 * MARGIN)
        canvas = imgui.GetBackgroundDrawList()
        mouse = imgui.GetMousePos()
        found = knobs(np.asarray(polyscope.get_camera_view_matrix(), dtype=float), GIZMO)
        near = [k for k in found if np.hypot(mouse[0] - middle[0] - k.x, mouse[1] - middle[1] - k.y) < 11]
        for knob in found:
            place = (middle[0] + knob.x, middle[1] + knob.y)
            share = 0.55 + 0.45 * (knob.depth + 1) / 2
            colour = imgui.ColorConvertFloat4ToU32((*_AXES[knob.axis], share))
            if knob.name.startswith("-"):
                canvas.AddCircleFilled(place, 6.0, imgui.ColorConvertFloat4ToU32((*_AXES[knob.axis], 0.35 * share)))
                canvas.AddCircle(place, 6.0, colour, 0, 1.5)
            else:
                canvas.AddLine(middle, place, colour, 2.5)
                canvas.AddCircleFilled(place, 9.0, colour)
                size = imgui.CalcTextSize(knob.name)
                white = imgui.ColorConvertFloat4ToU32((1.0, 1.0, 1.0, 1.0))
                canvas.AddText((place[0] - size[0] / 2, place[1] - size[1] / 2), white, knob.name)
        if near and imgui.IsMouseClicked(imgui.ImGuiMouseButton_Left) and not imgui.GetIO().WantCaptureMouse:
            view, camera = near[-1].view, self._orders.view.camera
            distance = 0.0 if camera is None else camera.distance
            self._orders.do(
                "camera", azimuth=view.azimuth_deg, elevation=view.elevation_deg, distance=min(distance, 1e4)
            )

    def draw_names(self, polyscope: Any, company: Company, room: Room) -> None:
        """Write below each of several models what it is called and what it has gathered.

        Args:
            polyscope: The module.
            company: The models.
            room: What the panel leaves free.
        """
        from workbench.viewer.cast import titles_of
        from workbench.viewer.mouse import lens_of

        imgui, player = self._imgui, self._player
        lens = lens_of(polyscope)
        canvas = imgui.GetBackgroundDrawList()
        titles = titles_of(self._orders.casts) or [str(index + 1) for index in range(len(player.lanes))]
        at = None if player.is_live else player.at
        texts = []
        for title, lane in zip(titles, player.lanes, strict=True):
            parts = [title, f"{lane.moment(at).return_:.1f}"]
            if lane.session.ended and at is None:
                parts.append(f"{lane.session.ended.reason} at {lane.session.steps}")
            texts.append(PARTED.join(parts))
        free = Box(room.left, 0.0, room.width - room.left, room.height - room.bottom)
        letters = float(imgui.GetFontSize())

        def measure(words: str, size: float) -> float:
            return float(imgui.CalcTextSize(words)[0])

        if company.is_tiled:
            places = [company.caption_place(index, lens) for index in range(len(texts))]
            columns = columns_of(len(texts))
            captions = beside(
                texts,
                places,
                [free] * len(texts),
                columns=columns,
                letters=letters,
                smallest=letters,
                measure=measure,
            )
        else:
            # Ghosts are told apart by their colours: their names stand below the axes, out of the way.
            top = 2.0 * GIZMO + 4 * MARGIN
            below = Box(free.left, top, free.width - MARGIN, free.height - top)
            captions = stacked(texts, below, corner="upper right", letters=letters, smallest=letters, measure=measure)
        for index, caption in enumerate(captions):
            if caption is None:
                continue
            solid = (*COLOURS[index], 0.92 if index == player.chosen else 0.7)
            low, high = (caption.box.left, caption.box.top), (caption.box.right, caption.box.bottom)
            canvas.AddRectFilled(low, high, imgui.ColorConvertFloat4ToU32(solid), 5.0)
            for line, x, y in caption.rows:
                canvas.AddText((x, y - letters / 2), imgui.ColorConvertFloat4ToU32((1.0, 1.0, 1.0, 1.0)), line)

    def _recolour(self, theme: Theme) -> None:
        self._widgets.dark = sum(theme.background) < 1.5

    def _panel(self, room: float) -> None:
        imgui, orders = self._imgui, self._orders
        screen = imgui.GetIO().DisplaySize
        # What does not fit is scrolled to.
        height = max(2 * MARGIN, room)
        imgui.SetNextWindowPos((MARGIN, MARGIN), imgui.ImGuiCond_FirstUseEver)
        imgui.SetNextWindowSizeConstraints((WIDTH, min(120.0, height)), (max(WIDTH, 0.6 * screen[0]), height))
        imgui.SetNextWindowBgAlpha(0.9)
        is_open = imgui.Begin(f"{self._player.title}###panel", imgui.ImGuiWindowFlags_AlwaysAutoResize)
        try:
            if is_open:
                self._transport()
                self._tabs()
                _TABS[orders.view.tab][1](self._widgets, orders)
        finally:
            imgui.End()

    def _transport(self) -> None:
        imgui, player, orders = self._imgui, self._player, self._orders
        quarter = ((WIDTH - 16 - 24) / 4, 0.0)
        if imgui.Button("Pause###toggle" if player.playing else "Play###toggle", quarter):
            orders.do("pause" if player.playing else "play")
        self._hint("space")
        imgui.SameLine()
        imgui.BeginDisabled(not player.seekable)
        if imgui.Button("Back", quarter):
            orders.do("step", n=-1)
        imgui.EndDisabled()
        self._hint("left arrow or h")
        imgui.SameLine()
        if imgui.Button("Step", quarter):
            orders.do("step", n=1)
        self._hint("right arrow, l or n")
        imgui.SameLine()
        if imgui.Button("Reset", quarter):
            orders.do("reset")
        self._hint("r or 0: the same episode again; . and , go to the next and the previous seed")
        imgui.SetNextItemWidth(WIDTH - 96)
        changed, speed = imgui.SliderFloat(
            "speed", player.speed, clock.SLOWEST, clock.FASTEST, "%.2fx", imgui.ImGuiSliderFlags_Logarithmic
        )
        if changed:
            # What is typed is taken as it is.
            dragged = imgui.IsMouseDown(imgui.ImGuiMouseButton_Left)
            orders.do("speed", value=clock.clamp_speed(clock.snapped(speed) if dragged else speed))
        self._hint("+ and -")
        session, shown = player.session, player.shown
        imgui.Text(f"episode {session.number + 1}   seed {session.seed}   step {shown.step}")
        imgui.Text(f"return {shown.return_:.2f}   reward {shown.reward:+.3f}")
        if not player.is_live:
            imgui.TextDisabled(f"past: {plural(player.last_step - player.at, 'step')} ago; End goes to now")
        elif session.ended is not None:
            imgui.Text(f"ended: {session.ended.reason or 'cut short'}")
        elif player.last is not None:
            last = player.last
            imgui.TextDisabled(f"last {last.return_ or 0.0:.2f} in {last.length}: {last.reason or 'cut short'}")
        else:
            # Without a line here all below it would move once there is something to say.
            imgui.TextDisabled("no episode has ended yet")

    def _notice(self) -> None:
        """Say why something was refused, below the picture: in the panel it would move what is under the mouse."""
        imgui, text = self._imgui, self._orders.notice
        if not text:
            return
        screen = imgui.GetIO().DisplaySize
        room = min(NOTICE, screen[0] - 4 * MARGIN)
        left = min(WIDTH + 2 * MARGIN, screen[0] - room - 3 * MARGIN)
        bottom = screen[1] - MARGIN - strip(screen[1], is_seekable=self._player.seekable)
        imgui.SetNextWindowPos((left, bottom), 0, (0.0, 1.0))
        imgui.SetNextWindowBgAlpha(0.9)
        flags = (
            int(imgui.ImGuiWindowFlags_NoTitleBar)
            | int(imgui.ImGuiWindowFlags_NoInputs)
            | int(imgui.ImGuiWindowFlags_NoFocusOnAppearing)
            | int(imgui.ImGuiWindowFlags_AlwaysAutoResize)
        )
        imgui.Begin("###notice", flags)
        try:
            imgui.PushTextWrapPos(room)
            imgui.TextColored((0.86, 0.25, 0.2, 1.0), text)
            imgui.PopTextWrapPos()
        finally:
            imgui.End()

    def _tabs(self) -> None:
        imgui, view = self._imgui, self._orders.view
        imgui.Spacing()
        for place, (name, (title, _)) in enumerate(_TABS.items()):
            if place:
                imgui.SameLine(0.0, 4.0)
            strength = 0.85 if name == view.tab else 0.18
            text = (1.0, 1.0, 1.0, 1.0) if name == view.tab else self._widgets.text
            imgui.PushStyleColor(imgui.ImGuiCol_Button, (*ACCENT, strength))
            imgui.PushStyleColor(imgui.ImGuiCol_Text, text)
            if imgui.Button(f"{title}##tab"):
                self._orders.do("panel", on=True, tab=name)
            imgui.PopStyleColor(2)
        imgui.Separator()

    def _timeline(self) -> None:
        imgui, player = self._imgui, self._player
        screen = imgui.GetIO().DisplaySize
        imgui.SetNextWindowPos((MARGIN, screen[1] - TIMELINE - MARGIN))
        imgui.SetNextWindowSize((screen[0] - 2 * MARGIN, TIMELINE))
        imgui.SetNextWindowBgAlpha(0.9)
        flags = (
            int(imgui.ImGuiWindowFlags_NoTitleBar)
            | int(imgui.ImGuiWindowFlags_NoResize)
            | int(imgui.ImGuiWindowFlags_NoMove)
            | int(imgui.ImGuiWindowFlags_NoScrollbar)
        )
        imgui.Begin("###timeline", flags)
        try:
            seconds = player.at * player.period_s
            label = f"{seconds:7.2f} s"
            imgui.SetNextItemWidth(screen[0] - 2 * MARGIN - 32 - imgui.CalcTextSize(label)[0])
            low, high = player.first, max(player.last_step, player.first + 1)
            changed, step = imgui.SliderInt("##history", player.at, low, high, "step %d")
            if changed:
                if player.playing:
                    self._orders.do("pause")
                self._orders.do("seek", step=int(step))
            self._hint("drag to go back in the episode; home and end")
            imgui.SameLine()
            imgui.Text(label)
        finally:
            imgui.End()

    def _toggle_mark(self, what: str) -> None:
        self._orders.do("mark", what=what, on=what not in self._orders.view.marks)

    def _hint(self, text: str) -> None:
        self._widgets.hint(text)

    def _read_keys(self) -> None:
        imgui = self._imgui
        io = imgui.GetIO()
        if io.WantTextInput or io.KeyCtrl or io.KeyAlt:
            return
        for names, act in self._keys:
            if any(imgui.IsKeyPressed(getattr(imgui, f"ImGuiKey_{name}")) for name in names):
                act()
