"""The look of the panel and the small pieces that its tabs are made of, in ImGui."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

ACCENT = (0.16, 0.47, 0.86)
ROOM = 316.0
"""Width of what a tab draws, in pixels."""


class Widgets:
    """ImGui with our colours.

    Args:
        imgui: The module `polyscope.imgui`.
    """

    def __init__(self, imgui: Any) -> None:
        self.imgui: Any = imgui
        self.dark = False
        """Whether it is light on dark."""
        self.ranges: dict[str, tuple[float, float]] = {}
        """How far the sliders go that are held by the mouse, by name."""

    @property
    def text(self) -> tuple[float, float, float, float]:
        """The colour of text."""
        return (0.92, 0.93, 0.95, 1.0) if self.dark else (0.12, 0.14, 0.18, 1.0)

    def style(self) -> None:
        """Set colours and roundings for good."""
        imgui = self.imgui
        (imgui.StyleColorsDark if self.dark else imgui.StyleColorsLight)()
        style = imgui.GetStyle()
        style.WindowRounding = 8.0
        style.FrameRounding = 4.0
        style.GrabRounding = 4.0
        style.ChildRounding = 4.0
        style.ScrollbarSize = 10.0

    def push_colours(self) -> int:
        """Set the colours of what is drawn from here on; returns how many to pop."""
        imgui = self.imgui
        red, green, blue = ACCENT
        strong, soft = (red, green, blue, 0.85), (red, green, blue, 0.35 if self.dark else 0.25)
        background = (0.11, 0.12, 0.145, 1.0) if self.dark else (0.985, 0.988, 0.992, 1.0)
        colours = {
            imgui.ImGuiCol_Text: self.text,
            imgui.ImGuiCol_WindowBg: background,
            imgui.ImGuiCol_Button: soft,
            imgui.ImGuiCol_ButtonHovered: (red, green, blue, 0.6),
            imgui.ImGuiCol_ButtonActive: strong,
            imgui.ImGuiCol_FrameBg: (red, green, blue, 0.15),
            imgui.ImGuiCol_FrameBgHovered: (red, green, blue, 0.3),
            imgui.ImGuiCol_FrameBgActive: (red, green, blue, 0.4),
            imgui.ImGuiCol_SliderGrab: strong,
            imgui.ImGuiCol_SliderGrabActive: strong,
            imgui.ImGuiCol_CheckMark: strong,
            imgui.ImGuiCol_PlotHistogram: (red, green, blue, 0.55),
            imgui.ImGuiCol_Header: (red, green, blue, 0.16),
            imgui.ImGuiCol_HeaderHovered: (red, green, blue, 0.3),
            imgui.ImGuiCol_HeaderActive: (red, green, blue, 0.45),
            imgui.ImGuiCol_TitleBg: soft,
            imgui.ImGuiCol_TitleBgActive: (red, green, blue, 0.55),
        }
        for target, colour in colours.items():
            imgui.PushStyleColor(target, colour)
        return len(colours)

    def hint(self, text: str) -> None:
        """Say something about the item before, when the mouse is on it."""
        if self.imgui.IsItemHovered(self.imgui.ImGuiHoveredFlags_AllowWhenDisabled):
            self.imgui.SetTooltip(text)

    def opens(self, title: str, *, at_first: bool = False) -> bool:
        """Draw the head of a section, and tell whether it is open."""
        flags = self.imgui.ImGuiTreeNodeFlags_DefaultOpen if at_first else 0
        return bool(self.imgui.CollapsingHeader(title, int(flags)))

    def pairs(self, name: str, rows: Iterable[tuple[str, str]], *, most: int = 9) -> None:
        """Draw names and values in two columns, scrolled beyond so many rows."""
        imgui, listed = self.imgui, list(rows)
        height = (min(len(listed), most) + 0.3) * imgui.GetTextLineHeightWithSpacing()
        imgui.BeginChild(name, (ROOM, height))
        for label, value in listed:
            imgui.TextDisabled(label)
            imgui.SameLine(ROOM * 0.6)
            imgui.Text(value)
        imgui.EndChild()
