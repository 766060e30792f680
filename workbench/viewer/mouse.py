"""The mouse over the picture: with ctrl it takes hold of a body and pulls it, as in MuJoCo's own viewer."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.viewer.company import Company
from workbench.viewer.hand import body_name
from workbench.viewer.orders import Orders
from workbench.viewer.projection import Lens, nearest_body

_STRING = (0.86, 0.22, 0.20)


class Mouse:
    """Pulls at what is below the pointer.

    Args:
        orders: Takes `pull` and `release`.
        company: Where the models are drawn.
        polyscope: The module.
    """

    def __init__(self, orders: Orders, company: Company, polyscope: Any) -> None:
        import polyscope.imgui as imgui

        self._imgui: Any = imgui
        self._orders = orders
        self._company = company
        self._polyscope = polyscope
        self._pulls = False

    def hear(self) -> None:
        """Take hold, pull on, or let go; within a frame."""
        imgui = self._imgui
        io = imgui.GetIO()
        held = imgui.IsMouseDown(imgui.ImGuiMouseButton_Left)
        if self._pulls and not held:
            self._pulls = False
            self._orders.do("release")
        elif not self._pulls and imgui.IsMouseClicked(imgui.ImGuiMouseButton_Left):
            if io.KeyCtrl and not io.WantCaptureMouse:
                self._take_hold()
        elif self._pulls:
            self._pull()
        # While a body is pulled, or may be, the camera stands still.
        self._polyscope.set_do_default_mouse_interaction(not (self._pulls or io.KeyCtrl))

    def draw(self) -> None:
        """Draw the string between the hand and the body."""
        orders = self._orders
        if orders.hand.body is None:
            return
        lens, offset = lens_of(self._polyscope), self._company.offset(orders.player.chosen)
        ends = [orders.hand.held_point(orders.player.data) + offset, orders.hand.target + offset]
        pixels = [lens.to_screen(end) for end in ends]
        if pixels[0] is None or pixels[1] is None:
            return
        imgui = self._imgui
        canvas = imgui.GetBackgroundDrawList()
        colour = imgui.ColorConvertFloat4ToU32((*_STRING, 0.9))
        canvas.AddLine(pixels[0], pixels[1], colour, 2.5)
        for pixel in pixels:
            canvas.AddCircleFilled(pixel, 5.0, colour)

    def _take_hold(self) -> None:
        orders, lens = self._orders, lens_of(self._polyscope)
        x, y = self._imgui.GetMousePos()
        core = orders.player.session.env.unwrapped
        hidden = {body for body in range(core.model.nbody) if body_name(core.model, body) in orders.view.hidden}
        offset = self._company.offset(orders.player.chosen)
        if not orders.player.is_live:
            return
        hit = nearest_body(core.model, core.data, lens.eye - offset, lens.ray(x, y), hidden)
        if hit is not None:
            body, point = hit
            where = [float(part) for part in point]
            orders.do("pull", body=body_name(core.model, body), to=where, at=where)
            self._pulls = orders.hand.body is not None

    def _pull(self) -> None:
        orders, lens = self._orders, lens_of(self._polyscope)
        if orders.hand.body is None:
            return
        offset = self._company.offset(orders.player.chosen)
        held = orders.hand.held_point(orders.player.data) + offset
        x, y = self._imgui.GetMousePos()
        to = lens.at_depth(x, y, held) - offset
        orders.do("pull", body=orders.pulled, to=[float(part) for part in np.clip(to, -1e4, 1e4)])


def lens_of(polyscope: Any) -> Lens:
    """Return the camera and the window as they are."""
    width, height = polyscope.get_window_size()
    return Lens(np.asarray(polyscope.get_camera_view_matrix(), dtype=float), float(width), float(height))
