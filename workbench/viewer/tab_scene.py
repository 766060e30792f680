"""The tab of the scene: which bodies, groups and parts are shown, and the pose, joint by joint."""

from __future__ import annotations

import math

from workbench.remote.declaration import GROUPS, PARTS
from workbench.viewer.hand import body_name
from workbench.viewer.orders import Orders
from workbench.viewer.posing import sliders
from workbench.viewer.session import has_mujoco_model
from workbench.viewer.widgets import ROOM, Widgets


def draw(widgets: Widgets, orders: Orders) -> None:
    """Draw the tab and act on what is clicked."""
    if not has_mujoco_model(orders.player.session.env):
        widgets.imgui.TextDisabled("the environment draws itself")
        return
    if widgets.opens("Bodies", at_first=True):
        _bodies(widgets, orders)
    if widgets.opens("Groups and parts"):
        _groups(widgets, orders)
    if widgets.opens("Pose", at_first=True):
        _pose(widgets, orders)


def _bodies(widgets: Widgets, orders: Orders) -> None:
    imgui, model, hidden = widgets.imgui, orders.player.session.env.unwrapped.model, orders.view.hidden
    names = [body_name(model, body) for body in range(model.nbody) if int(model.body_geomnum[body]) > 0]
    shown = [name for name in names if name not in hidden]
    if imgui.SmallButton("show all"):
        for name in set(names) & hidden:
            orders.do("body", name=name, on=True)
    imgui.SameLine()
    if imgui.SmallButton("hide all"):
        for name in shown:
            orders.do("body", name=name, on=False)
    imgui.SameLine()
    imgui.TextDisabled(f"{len(shown)} of {len(names)} shown")
    height = (min(len(names), 8) + 0.5) * imgui.GetFrameHeightWithSpacing()
    imgui.BeginChild("bodies", (ROOM, height))
    for body in range(model.nbody):
        geoms = int(model.body_geomnum[body])
        if not geoms:
            continue
        name = body_name(model, body)
        changed, visible = imgui.Checkbox(f"{name}##body{body}", name not in hidden)
        if changed:
            orders.do("body", name=name, on=bool(visible))
        imgui.SameLine(ROOM * 0.62)
        mass = float(model.body_mass[body])
        imgui.TextDisabled(f"{geoms} geom{'s' * (geoms > 1)}  {mass:.3g} kg" if body else "world")
    imgui.EndChild()


def _groups(widgets: Widgets, orders: Orders) -> None:
    imgui, view = widgets.imgui, orders.view
    imgui.TextDisabled("geom groups")
    for index in range(GROUPS):
        imgui.SameLine()
        changed, visible = imgui.Checkbox(f"{index}##group", index in view.groups)
        if changed:
            orders.do("group", index=index, on=bool(visible))
    for place, what in enumerate(PARTS):
        if place % 2:
            imgui.SameLine(ROOM / 2)
        changed, visible = imgui.Checkbox(f"{what}##part", what in view.parts)
        if changed:
            orders.do("part", what=what, on=bool(visible))


def _pose(widgets: Widgets, orders: Orders) -> None:
    imgui, player = widgets.imgui, orders.player
    model, data = player.session.env.unwrapped.model, player.data
    can_move = orders.can_change
    imgui.TextDisabled("it goes on from there, at rest" if can_move else "paused at the newest state it can be moved")
    imgui.BeginDisabled(not can_move)
    found = sliders(model)
    height = (min(len(found), 9) + 0.5) * imgui.GetFrameHeightWithSpacing()
    imgui.BeginChild("pose", (ROOM, height))
    for slider in found:
        value = float(data.qpos[slider.address])
        # While it is dragged the range stays: one that went along would carry the value away under the mouse.
        low, high = widgets.ranges.get(slider.name) or slider.span(value)
        degrees = f" ({math.degrees(value):.0f} deg)" if slider.kind == "angle" else ""
        imgui.SetNextItemWidth(ROOM * 0.55)
        changed, chosen = imgui.SliderFloat(f"{slider.name}##pose", value, low, high, f"%.3f{degrees}")
        if imgui.IsItemActive():
            widgets.ranges[slider.name] = (low, high)
        else:
            widgets.ranges.pop(slider.name, None)
        if changed:
            chosen = min(max(float(chosen), slider.low), slider.high)
            orders.do("pose", joint=slider.name, value=chosen)
    imgui.EndChild()
    imgui.EndDisabled()
    imgui.TextDisabled("ctrl and drag in the picture pulls at a body")
    if orders.pulled is not None:
        imgui.Text(f"pulling {orders.pulled}")
        imgui.SameLine()
        if imgui.SmallButton("let go"):
            orders.do("release")
