"""The tab of the view: how the camera follows, the theme, and what is drawn besides the model."""

from __future__ import annotations

from workbench.remote.declaration import MARKS, SLOWEST_FOLLOWING_S, THEMES
from workbench.viewer.marks import COLOURS
from workbench.viewer.orders import Orders
from workbench.viewer.session import has_mujoco_model
from workbench.viewer.widgets import ROOM, Widgets

_SAID = {
    "contacts": ("contacts", "c: where things touch"),
    "forces": ("forces", "v: what contacts push with; the model's weight is as long as its radius"),
    "joints": ("joints", "j: the axes of hinges and slides"),
    "mass": ("centre of mass", "m: of each body and of the whole"),
}


def draw(widgets: Widgets, orders: Orders) -> None:
    """Draw the tab and act on what is clicked."""
    imgui, view = widgets.imgui, orders.view
    for place, name in enumerate(THEMES):
        if place:
            imgui.SameLine()
        if imgui.RadioButton(name, view.theme == name) and view.theme != name:
            orders.do("theme", name=name)
    widgets.hint("t")
    if not has_mujoco_model(orders.player.session.env):
        return
    changed, tracks = imgui.Checkbox("follow the model", view.track)
    if changed:
        orders.do("track", on=bool(tracks), seconds=view.smoothing_s)
    widgets.hint("f")
    imgui.SameLine()
    changed, gizmo = imgui.Checkbox("axes", view.gizmo)
    if changed:
        orders.do("gizmo", on=bool(gizmo))
    imgui.SetNextItemWidth(ROOM - 96)
    changed, seconds = imgui.SliderFloat("smoothing", view.smoothing_s, 0.0, 2.0, "%.2f s")
    if changed:
        orders.do("track", on=view.track, seconds=float(min(max(seconds, 0.0), SLOWEST_FOLLOWING_S)))
    widgets.hint("simulated seconds in which the camera catches up, at any frame rate; 0 follows at once")
    if imgui.Button("Frame all", (ROOM / 2 - 4, 0.0)):
        orders.do("frame")
    widgets.hint("a: the whole model, from this side")
    imgui.Separator()
    imgui.TextDisabled("draw as well")
    for place, what in enumerate(MARKS):
        if place % 2:
            imgui.SameLine(ROOM / 2)
        title, hint = _SAID[what]
        imgui.PushStyleColor(imgui.ImGuiCol_CheckMark, (*COLOURS[what], 1.0))
        changed, drawn = imgui.Checkbox(f"{title}##mark", what in view.marks)
        imgui.PopStyleColor()
        if changed:
            orders.do("mark", what=what, on=bool(drawn))
        widgets.hint(hint)
