"""The row of names between a run's head and its charts: sections, pages, the filter, and where the crosshair is."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from workbench import formatting
from workbench.ui.chart_sections import SECTIONS
from workbench.ui.charts.drawing import checkpoint_at
from workbench.ui.charts.line import nearest
from workbench.ui.charts.model import ChartData, ChartView, XAxis
from workbench.ui.charts.pages import Pages, filter_fault
from workbench.ui.charts.plan import Plan
from workbench.ui.run_charts import EVALUATION, LENGTH, RETURN

TEXTS = ("Log", "Config", "Checkpoints", "Events")
TABS = ("Checkpoints", "Log", "Config", "Events")
"""The same in the order of a pane beside charts."""

_BEGINNINGS = (
    ("Terms", ("reward", "info/")),
    ("Endings", ("endings", "terminated/", "truncated/", "length/")),
    ("Losses", ("train/", "losses")),
)


def section_of(metric: str) -> str:
    """Return the section that a chart belongs to, by the name of its metric."""
    if metric in (RETURN, LENGTH, EVALUATION) or metric.startswith("eval/"):
        return SECTIONS[0]
    return next((section for section, names in _BEGINNINGS if metric.startswith(names)), SECTIONS[-1])


def first_of(section: str, charts: Sequence[ChartData]) -> int | None:
    """Return the place of the first chart of a section; nothing where it has none."""
    return next((place for place, chart in enumerate(charts) if section_of(chart.metric) == section), None)


def strip(
    section: str,
    *,
    texts: Sequence[str] = TEXTS,
    anomalies: int,
    pages: Pages | None,
    narrow: bool,
    has_tabs: bool,
    plain: bool,
    extra: Content,
) -> Content:
    """Return the row.

    Args:
        section: The one that is shown.
        texts: The sections behind those of charts.
        anomalies: How many the run had.
        pages: Those of its charts.
        narrow: Whether there is room for one name only.
        has_tabs: Whether texts have a pane of their own, so that they are not among the names.
        plain: ASCII alone.
        extra: Where the crosshair is.
    """
    names = SECTIONS if has_tabs else (*SECTIONS, *texts)
    if narrow:
        place = f"  {names.index(section) + 1} of {len(names)} sections"
        left, right = ("<", ">") if plain else ("‹", "›")
        return Content.assemble((f"{left} {section} {right}", "$primary bold"), (place, "$muted"), _filter(pages))
    parts: list[Content | tuple[str, str]] = []
    for name in names:
        parts.append(tab(name, anomalies, here=name == section, action="show_section"))
        if name == SECTIONS[-1] and not has_tabs:
            parts.append(("|" if plain else "│", "$muted"))
    if pages is not None:
        if has_tabs:
            said = f"{len(pages.page)} of {len(pages.charts)} charts"
            number = f", page {_page(pages)} of {pages.count}" if pages.count > 1 else ""
            parts.append((f"   {said}{number}", "$muted"))
        elif pages.count > 1 or pages.pattern:
            parts.append((f"  page {_page(pages)} of {pages.count}", "$muted"))
    parts += [_filter(pages), extra]
    return Content.assemble(*parts)


def tab(name: str, anomalies: int, *, here: bool, action: str) -> Content:
    """Return a name that can be clicked; events say how many anomalies there are."""
    label = f"{name} !{anomalies}" if name == "Events" and anomalies else name
    click = f"@click=screen.{action}('{name}')"
    return Content.assemble((f"[{label}]" if here else f" {label} ", f"$primary bold {click}" if here else click))


def moment(charts: Sequence[tuple[ChartData, Plan]], view: ChartView) -> Content:
    """Return where the crosshair is and what the first charts say there; nothing without one.

    Args:
        charts: Those that are seen, with how each is drawn.
        view: How they are looked at.
    """
    leading = next((plan.leading for _, plan in charts if plan.leading is not None), None)
    if view.at is None or leading is None or not len(leading.x):
        return Content("")
    place = nearest(leading.curve.steps, view.at)
    time = formatting.duration(float(leading.curve.x(XAxis.WALL)[place]))
    parts: list[tuple[str, str]] = [("   ┊ ", "$accent"), (f"{formatting.amount(view.at)}, {time}", "")]
    for data, plan in charts[:2]:
        item = plan.leading
        if item is None or not len(item.curve.steps) or len(plan.curves) > 1:
            continue
        at = nearest(item.curve.steps, view.at)
        value = formatting.number(plan.unscale(float(item.front.y[at])))
        raw = (
            f" (raw {formatting.number(float(item.curve.values[at]))})" if view.weight and data.metric == RETURN else ""
        )
        parts.append((f"   {item.curve.label.partition(' ')[0]} {value}{raw}", ""))
    checkpoint = checkpoint_at(charts[0][0], view.at)
    if checkpoint is not None:
        parts.append((f"   ▲ {formatting.digits(checkpoint)}", "$muted"))
    return Content.assemble(*parts)


def _page(pages: Pages) -> int:
    return min(pages.number, pages.count - 1) + 1


def _filter(pages: Pages | None) -> Content:
    if pages is None or not pages.pattern:
        return Content("")
    fault = filter_fault(pages.pattern)
    if fault:
        return Content.assemble((f"   / {pages.pattern}", "$error"), (f"  {fault}", "$error"))
    return Content.assemble((f"   / {pages.pattern}", "$accent"))
