"""What stands above a run's sections, and the text of its settings."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from workbench import formatting
from workbench.runs.states import RunState
from workbench.ui.past import CheckpointRow
from workbench.ui.run_charts import Spec
from workbench.catalog.run_config import RunConfig, Setting
from workbench.ui.run_rows import eta_text
from workbench.ui.theme import STATE_LOOKS
from workbench.ui.watch import RunRow

BAR_WIDTH = 30
LEAST_WORDS = 12
"""What is cut shorter than this says nothing."""


def head_lines(
    row: RunRow,
    checkpoints: Sequence[CheckpointRow],
    spec: Spec,
    width: int,
    *,
    plain: bool,
    short: bool,
) -> Content:
    """Return what the run is, how far it is, and how well it does: three lines, or two where there is little room."""
    lines = [_identity(row, width, plain=plain), _progress(row, width, plain=plain)]
    if not short:
        lines.append(_results(row, checkpoints if width >= 98 else (), spec).truncate(width, ellipsis=True))
    return Content("\n").join(lines)


def config_text(config: RunConfig, *, everything: bool) -> Content:
    """Return the settings of a run: those that differ from its recipe, or all of them."""
    if not config.settings:
        return Content("run.json has not been read, or is damaged.")
    chosen = config.settings if everything or not config.compared_with else config.differences
    width = max((len(item.key) for item in chosen), default=0)
    usual = "recipe" if config.compared_with.endswith(".json") else "default"
    lines = [_setting(item, width, usual) for item in chosen]
    if not lines:
        lines = [Content(f"Everything as in {config.compared_with}.")]
    if config.about:
        lines += [Content(""), Content.styled(config.about, "$muted")]
    return Content("\n").join(lines)


def _identity(row: RunRow, width: int, *, plain: bool) -> Content:
    look = STATE_LOOKS[row.state]
    seed = "" if row.seed is None else f"  seed {row.seed}"
    tags = f"  {' '.join(row.tags)}" if row.tags else ""
    left = Content.assemble(
        (f"{look.plain if plain else look.glyph} {row.state}", f"${look.variable}"),
        (f"  {row.env_name} {row.short_id}", "bold"),
        f"  {row.algorithm.upper()}{seed}",
        (tags, "$muted"),
    )
    since = f"since {formatting.clock(row.created)}, {formatting.duration(row.active_s)}"
    if row.pid is not None and width >= 118:
        since = f"pid {row.pid}   {since}"
    return _spread(left, Content.styled(since, "$muted"), width)


def _progress(row: RunRow, width: int, *, plain: bool) -> Content:
    look = STATE_LOOKS[row.state]
    if row.state.is_ended:
        right = Content.styled(row.reason or str(row.state), f"${look.variable}" if row.state.is_bad else "$muted")
    elif row.state is RunState.QUEUED:
        right = Content.styled("waits for a core", "$muted")
    elif row.is_stalled:
        right = Content.styled(f"silent for {formatting.duration(row.silent_s)}", "$warning")
    elif row.eta_s is not None:
        right = Content(f"{formatting.eta(row.eta_s)} left{' at most' if row.eta_is_bound else ''}")
    else:
        right = Content(eta_text(row) if row.state is RunState.RUNNING else str(row.state))
    done = formatting.amount(row.steps)
    steps = f"{done} of {formatting.amount(row.total_steps)}" if row.total_steps else f"{done} steps"
    if row.iteration and width >= 118:
        steps += f"   iteration {formatting.digits(row.iteration)}"
    if row.steps_per_s is not None:
        steps += f"  {formatting.amount(row.steps_per_s)}/s"
    if row.progress is None:
        return _spread(Content(steps), right, width)
    steps = f" {formatting.percent(row.progress)}  {steps}"
    # The bar gives way: it says nothing that the number beside it does not.
    widest = BAR_WIDTH if width < 118 else 2 * BAR_WIDTH
    room = min(widest, max(BAR_WIDTH // 3, width - len(steps) - right.cell_length - 2))
    bar = formatting.bar(row.progress, room, plain=plain)
    return _spread(Content.assemble((bar, f"${look.variable}"), steps), right, width)


def _results(row: RunRow, checkpoints: Sequence[CheckpointRow], spec: Spec) -> Content:
    parts: list[tuple[str, str]] = [("return ", "$muted"), (formatting.number(row.last_return), "")]
    if row.best is not None:
        score = formatting.spread(row.best.mean_return, row.best.std_return)
        parts += [
            ("   best evaluation ", "$muted"),
            (score, ""),
            (f" ◆ {formatting.amount(row.best.steps)}", "$success"),
        ]
    if spec.goal is not None:
        parts += [("   goal ", "$muted"), (formatting.number(spec.goal), "")]
    if checkpoints:
        parts.append((f"   {formatting.plural(len(checkpoints), 'checkpoint')}", "$muted"))
    if row.anomalies:
        parts.append((f"   ! {formatting.plural(row.anomalies, 'anomaly', 'anomalies')}", "$warning bold"))
    return Content.assemble(*parts)


def _setting(item: Setting, width: int, usual: str) -> Content:
    sign = ("✎ ", "$warning") if item.differs else ("  ", "")
    recipe = f"   {usual} {item.recipe}" if item.differs else ""
    return Content.assemble(sign, (item.key.ljust(width), "$muted"), f"  {item.value}", (recipe, "$muted"))


def _spread(left: Content, right: Content, width: int) -> Content:
    """Put something at both ends of a line; the right one is cut, or goes, where both do not fit."""
    space = width - left.cell_length - right.cell_length
    if space >= 2:
        return Content.assemble(left, " " * space, right)
    shorter = right.truncate(max(0, width - left.cell_length - 2), ellipsis=True)
    if shorter.cell_length >= LEAST_WORDS:
        return Content.assemble(left, "  ", shorter)
    return left.truncate(width, ellipsis=True)
