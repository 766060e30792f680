"""The tab of the environment: where the episode is, rates, observation, action, reward terms, info."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.viewer import telling
from workbench.viewer.ensemble import COLOURS
from workbench.viewer.orders import Orders
from workbench.viewer.player import COURSE
from workbench.viewer.session import has_mujoco_model, longest_episode
from workbench.viewer.widgets import ROOM, Widgets


def draw(widgets: Widgets, orders: Orders) -> None:
    """Draw the tab and act on what is clicked."""
    imgui, player = widgets.imgui, orders.player
    session, shown = player.session, player.shown
    limit = longest_episode(session.env)
    if limit:
        imgui.ProgressBar(min(1.0, shown.step / limit), (ROOM, 0.0), f"step {shown.step} of {limit}")
    else:
        imgui.Text(f"step {shown.step}, no limit")
    for line in rates(orders):
        imgui.TextDisabled(line)
    if imgui.Button("Copy the last step as JSON", (ROOM, 0.0)):
        imgui.SetClipboardText(telling.as_json(session))
        orders.do("inspect")
    course = terms_of(orders)
    if widgets.opens("Reward", at_first=True):
        _plot(widgets, course)
    if widgets.opens("Observation"):
        document = telling.named(session.observation, telling.names_of(session, "observation"))
        widgets.pairs("observation", ((name, _number(value)) for name, value in document.items()))
    if widgets.opens("Action"):
        _action(widgets, orders)
    if widgets.opens("Info"):
        rows = ((str(name), _number(telling.plain(value))) for name, value in session.info.items())
        widgets.pairs("info", rows)


def rates(orders: Orders) -> list[str]:
    """Return the lines about rates: control and simulation, and how fast it really plays."""
    player = orders.player
    core = player.session.env.unwrapped
    control = 1 / player.period_s
    lines = [f"control {control:.4g} Hz"]
    if has_mujoco_model(player.session.env):
        simulation = 1 / float(core.model.opt.timestep)
        lines[0] += f"   simulation {simulation:.4g} Hz   {round(simulation / control)} a step"
    playing = f"plays at {player.pace:.2f}x" if player.playing else "paused"
    return [*lines, f"{playing}   time {player.at * player.period_s:.2f} s"]


def terms_of(orders: Orders) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Return the steps `(n,)` of the newest part of the episode up to what is shown, and each term `(n,)` by name.

    The whole reward is there as `reward`, the last.
    """
    moments = [moment for moment in orders.player.course if moment.step <= orders.player.shown.step]
    steps = np.array([moment.step for moment in moments], dtype=np.float64)
    names = list(moments[-1].terms) if moments else []
    terms = {name: np.array([moment.terms.get(name, np.nan) for moment in moments]) for name in names}
    terms["reward"] = np.array([moment.reward for moment in moments], dtype=np.float64)
    return steps, terms


def _plot(widgets: Widgets, course: tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]) -> None:
    import polyscope.implot as implot

    imgui, plot = widgets.imgui, implot
    steps, terms = course
    if not len(steps):
        imgui.TextDisabled("no step yet")
        return
    flags = int(plot.ImPlotFlags_NoMenus) | int(plot.ImPlotFlags_NoBoxSelect)
    if plot.BeginPlot("##terms", (ROOM, 170.0), flags):
        fits = int(plot.ImPlotAxisFlags_AutoFit)
        plain = int(plot.ImPlotAxisFlags_NoLabel) | fits
        plot.SetupAxes("step", "", int(plot.ImPlotAxisFlags_NoLabel), plain)
        last = float(steps[-1])
        plot.SetupAxisLimits(int(plot.ImAxis_X1), max(0.0, last - COURSE), max(last, 20.0), int(imgui.ImGuiCond_Always))
        for index, (name, values) in enumerate(terms.items()):
            is_whole = name == "reward"
            colour = widgets.text if is_whole else (*COLOURS[index % len(COLOURS)], 1.0)
            plot.SetNextLineStyle(colour, 2.0 if is_whole else 1.5)
            plot.PlotLine(name, steps, np.ascontiguousarray(values, dtype=np.float64))
        plot.EndPlot()
    widgets.pairs("terms", ((name, f"{values[-1]:+.4f}") for name, values in terms.items()))


def _action(widgets: Widgets, orders: Orders) -> None:
    imgui, player = widgets.imgui, orders.player
    session, space = player.session, player.session.env.action_space
    can_set = orders.can_change
    imgui.TextDisabled("the next steps by hand take it" if can_set else "paused at the newest state it can be set")
    imgui.BeginDisabled(not can_set)
    now = session.by_hand if session.by_hand is not None else session.action
    if type(space).__name__ == "Discrete":
        first, count = int(space.start), int(space.n)
        value = first if now is None else int(np.asarray(now).item())
        changed, chosen = imgui.SliderInt("action", value, first, first + count - 1)
        if changed:
            orders.do("action", index=0, value=int(chosen))
    elif hasattr(space, "low"):
        _sliders(widgets, orders, space, now)
    imgui.EndDisabled()


def _sliders(widgets: Widgets, orders: Orders, space: Any, now: Any) -> None:
    imgui = widgets.imgui
    low, high = np.ravel(space.low).astype(float), np.ravel(space.high).astype(float)
    values = np.zeros(len(low)) if now is None else np.ravel(np.asarray(now)).astype(float)
    names = telling.names_of(orders.player.session, "action")
    for index, value in enumerate(values):
        label = names[index] if index < len(names) else str(index)
        bottom, top = max(low[index], -1e3), min(high[index], 1e3)
        imgui.SetNextItemWidth(ROOM * 0.55)
        changed, chosen = imgui.SliderFloat(f"{label}##action{index}", float(value), bottom, top)
        if changed:
            orders.do("action", index=index, value=float(min(max(chosen, low[index]), high[index])))


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    text = str(value)
    return text if len(text) <= 24 else text[:23] + "..."
