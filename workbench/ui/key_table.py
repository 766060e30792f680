"""The table of keys for the documentation, from the registry: `python -m workbench.ui.key_table` writes it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from workbench import durable
from workbench.project import shipped_project
from workbench.ui.commands import BY_ID, COMMANDS, Command, show_key
from workbench.ui.keymap import readable

BEGIN, END = "<!-- keys -->", "<!-- /keys -->"
"""What stands around the short table in the README."""

_WHERE = {
    "all": "everywhere",
    "list": "lists",
    "run": "runs",
    "charts": "charts",
    "text": "logs, config, events",
    "task": "forms and cards",
    "app": "everywhere",
}
_GROUPS = (
    ("look", "Look", "Lower-case keys change no run, file or process; at most they open a form."),
    ("act", "Act", "Upper-case keys change a run, a file or a process. What ends several things at once asks first."),
    ("go", "Go", ""),
)
_SHORT: tuple[tuple[str, Sequence[str]], ...] = (
    ("places", ("go.environments", "go.runs", "go.viewer", "go.recordings")),
    ("open, back, close", ("open.selected", "go.back", "go.close")),
    ("commands, help, jump, maximise", ("app.commands", "app.help", "app.jump", "view.maximise")),
    ("filter, sort, mark, compare", ("find.here", "list.sort_previous", "list.sort_next", "mark.this", "run.compare")),
    ("new run, watch, preview", ("run.new", "viewer.watch", "viewer.preview")),
    ("record, montage, report", ("viewer.record", "run.montage", "run.report")),
    ("pause, stop, kill", ("run.pause", "run.stop", "run.kill")),
    ("resume, again, fork", ("run.resume", "run.again", "run.fork")),
    ("change, checkpoint, evaluate", ("run.change", "run.write", "run.evaluate")),
    ("smooth, x axis, log y, seeds", ("chart.smoothing", "chart.x_axis", "chart.log_y", "chart.seeds")),
    ("checkpoints along the curve", ("checkpoint.previous", "checkpoint.next")),
)


def page() -> str:
    """Return docs/keys.md."""
    lines = [
        "# Keys",
        "",
        "Written by `python -m workbench.ui.key_table` from `workbench/ui/commands.py`; a test holds the two equal.",
        "In the app `?` shows the keys of a screen, `:` finds everything by name, and **App: Settings** opens the file",
        'in which any of them can be changed: `[keys]`, then `"<name>" = "<key>"`. Arrows do the same as `h j k l`.',
    ]
    for group, title, rule in _GROUPS:
        members = [command for command in COMMANDS if command.group == group and command.keys]
        lines += ["", f"## {title}", "", *([rule, ""] if rule else [])]
        lines += ["| key | what | where | name |", "|---|---|---|---|"]
        lines += [_row(command) for command in members]
    lines += ["", "## In the palette only", "", "| entry | what | name |", "|---|---|---|"]
    lines += [f"| {item.palette} | {item.tooltip} | `{item.id}` |" for item in COMMANDS if not item.keys]
    return "\n".join(lines) + "\n"


def short_table() -> str:
    """Return the table of the README: what is used every day."""
    lines = ["| keys | what |", "|---|---|"]
    for what, ids in _SHORT:
        keys = " ".join(f"`{show_key(BY_ID[name].keys[0])}`" for name in ids)
        lines.append(f"| {keys} | {what} |")
    return "\n".join(lines)


def with_table(readme: str) -> str:
    """Return a README with the short table between its marks.

    Raises:
        ValueError: The marks are missing.
    """
    before, _, rest = readme.partition(BEGIN)
    old, _, after = rest.partition(END)
    if not old:
        raise ValueError(f"the README has no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{short_table()}\n{END}{after}"


def _row(command: Command) -> str:
    keys = " ".join(f"`{key}`" for key in readable(command.keys).split()).replace("|", "\\|")
    return f"| {keys} | {command.tooltip} | {_where(command)} | `{command.id}` |"


def _where(command: Command) -> str:
    if any(_WHERE.get(scope) == "everywhere" for scope in command.scopes):
        return "everywhere"
    return ", ".join(dict.fromkeys(_WHERE.get(scope) or scope.capitalize() for scope in command.scopes))


def main() -> int:
    """Write docs/keys.md and the table in the README of this checkout."""
    root = shipped_project().root
    durable.write_text(root / "docs" / "keys.md", page())
    readme = root / "README.md"
    durable.write_text(readme, with_table(readme.read_text(encoding="utf-8")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
