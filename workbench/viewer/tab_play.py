"""The tab of who acts: agent, checkpoint, seed, and which of several policies is looked at closely."""

from __future__ import annotations

from workbench import formatting
from workbench.remote.declaration import AGENTS
from workbench.viewer.cast import titles_of
from workbench.viewer.ensemble import COLOURS
from workbench.viewer.orders import Orders
from workbench.viewer.widgets import ROOM, Widgets

_LABEL = 96.0


def draw(widgets: Widgets, orders: Orders) -> None:
    """Draw the tab and act on what is clicked."""
    imgui = widgets.imgui
    if len(orders.player.lanes) > 1:
        _members(widgets, orders)
    if orders.is_recording:
        imgui.TextDisabled(f"a recording: {orders.cast.target.title}")
        imgui.TextDisabled(". and , go through its episodes")
        return
    if orders.casts:
        _agent(widgets, orders)
        _checkpoint(widgets, orders)
    _seed(widgets, orders)


def take_seed(orders: Orders, text: str) -> None:
    """Reset with a seed that was typed; what is none is refused as the command is."""
    typed = text.strip()
    try:
        value: int | str = int(typed)
    except ValueError:
        value = typed
    if typed and value != orders.player.session.seed:
        orders.do("seed", value=value)


def _seed(widgets: Widgets, orders: Orders) -> None:
    imgui, seed = widgets.imgui, orders.player.session.seed
    side = imgui.GetFrameHeight()
    imgui.SetNextItemWidth(ROOM - _LABEL - 2 * (side + 4))
    # As text: a field of numbers counts in 32 bits, and would make another seed of what is too large.
    changed, text = imgui.InputText("##seed", str(seed), int(imgui.ImGuiInputTextFlags_EnterReturnsTrue), 64)
    widgets.hint(". and , or enter a number: the environment is reset with it")
    if changed:
        take_seed(orders, text)
    for sign, step in (("-", -1), ("+", 1)):
        imgui.SameLine(0.0, 4.0)
        if imgui.Button(f"{sign}##seed", (side, side)):
            take_seed(orders, str(seed + step))
    imgui.SameLine(0.0, 4.0)
    imgui.Text("seed")


def _members(widgets: Widgets, orders: Orders) -> None:
    imgui, player = widgets.imgui, orders.player
    at = None if player.is_live else player.at
    for index, title in enumerate(titles_of(orders.casts)):
        imgui.PushStyleColor(imgui.ImGuiCol_Text, (*COLOURS[index], 1.0))
        clicked = imgui.Selectable(f"{index + 1}  {title}##member{index}", index == player.chosen)
        imgui.PopStyleColor()
        widgets.hint(f"{index + 1}: the controls below are for it")
        imgui.SameLine(ROOM * 0.74)
        imgui.Text(f"{player.lanes[index].moment(at).return_:.1f}")
        if clicked and index != player.chosen:
            orders.do("member", index=index)
    imgui.Separator()


def _agent(widgets: Widgets, orders: Orders) -> None:
    imgui, cast = widgets.imgui, orders.cast
    imgui.SetNextItemWidth(ROOM - _LABEL)
    if imgui.BeginCombo("acts", cast.target.agent):
        for name in AGENTS:
            if name == "policy" and cast.target.checkpoint is None:
                continue
            clicked = imgui.Selectable(name, name == cast.target.agent)
            if clicked and name != cast.target.agent:
                orders.do("agent", name=name)
        imgui.EndCombo()
    is_policy = cast.target.agent == "policy"
    imgui.BeginDisabled(not is_policy)
    if imgui.RadioButton("greedy", not cast.stochastic):
        orders.do("stochastic", on=False)
    imgui.SameLine()
    if imgui.RadioButton("stochastic", cast.stochastic):
        orders.do("stochastic", on=True)
    imgui.EndDisabled()


def _checkpoint(widgets: Widgets, orders: Orders) -> None:
    imgui, cast = widgets.imgui, orders.cast
    ladder, is_bereft = cast.ladder(), cast.is_bereft
    if not ladder and not is_bereft:
        return
    # Where the run's folder is gone they stay where they were, so that nothing moves under the mouse.
    imgui.BeginDisabled(is_bereft)
    here = next((rung for rung in ladder if rung.steps == cast.target.steps), None)
    old = "" if cast.age_s is None else f", {formatting.age(cast.age_s)} old"
    named = f" {here.kept}" if here is not None and here.kept else ""
    shown = "none" if cast.steps is None else f"{formatting.amount(cast.steps)}{named}{old}"
    imgui.SetNextItemWidth(ROOM - _LABEL)
    if imgui.BeginCombo("checkpoint", shown):
        for rung in reversed(ladder):
            kept = f"  {rung.kept}" if rung.kept else ""
            label = f"{formatting.amount(rung.steps)}{kept}  {formatting.age(cast.old(rung))} old##{rung.steps}"
            clicked = imgui.Selectable(label, rung.steps == cast.steps)
            if clicked and rung.steps != cast.steps:
                orders.do("checkpoint", which=rung.steps)
        imgui.EndCombo()
    widgets.hint("up and down go along the run")
    if imgui.ArrowButton("##earlier", imgui.ImGuiDir_Down):
        orders.do("walk", n=-1)
    widgets.hint("down: the checkpoint before")
    imgui.SameLine()
    if imgui.ArrowButton("##later", imgui.ImGuiDir_Up):
        orders.do("walk", n=1)
    widgets.hint("up: the checkpoint after")
    imgui.EndDisabled()
    imgui.SameLine()
    changed, follows = imgui.Checkbox("follow the newest", cast.follows)
    if changed:
        orders.do("follow", on=bool(follows))
    gone = "the run's folder is not there any more"
    widgets.hint(gone if is_bereft else "each episode takes the newest checkpoint of the run")
