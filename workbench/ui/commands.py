"""The registry of everything a key can do; bindings, footer, palette and help are all made from it.

A screen uses it in three steps::

    class RunsScreen(WorkbenchScreen):
        NAME = "runs"                       # a key of SCREENS: which scopes hold here, and which footer
        BINDINGS = bindings_for("runs")

        def action_run_stop(self) -> None:  # the id with dots as underscores
            ...

A command of the screen's scopes that has no action method on it is hidden everywhere, so the registry may name more
than one screen does. What can be done *now* a screen says in `can(command_id)`; see `workbench.ui.screen`.

Two rules hold for the whole table and are tested: no key means two things on one screen, and a lower-case letter never
acts: whatever changes a run, a file or a process is on an upper-case letter or on a task's main button.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding, BindingType

Scope = Literal[
    "all", "list", "run", "charts", "text", "environments", "runs", "compare", "viewer", "recordings", "task", "app"
]  # fmt: skip
Group = Literal["look", "act", "go"]


@dataclass(frozen=True)
class Command:
    """One thing a person can do, and every way to reach it."""

    id: str
    """Dotted; the action method is `action_<id with dots as underscores>`."""
    keys: tuple[str, ...]
    """Textual's key names, the one shown first; empty for what only the palette offers."""
    label: str
    """One or two words, for the footer."""
    tooltip: str
    """One sentence, for help and the palette."""
    palette: str | None
    """`Noun: Verb`, or None where a palette entry makes no sense (moving a cursor)."""
    scopes: tuple[Scope, ...]
    """The kinds of screen it belongs to."""
    group: Group = "look"
    """`look` changes nothing, `act` changes a run, a file or a process, `go` moves between places."""

    @property
    def action(self) -> str:
        """The name Textual calls: the method without its `action_`."""
        return self.id.replace(".", "_")

    @property
    def key_label(self) -> str:
        """The first key as a person reads it."""
        return show_key(self.keys[0]) if self.keys else ""

    @property
    def _priority(self) -> bool:
        """Whether the key is taken before the focused widget: a text field has its own use for ctrl+f."""
        return "app" in self.scopes or ("task" in self.scopes and self.keys[0].startswith(_TAKEN_IN_TASKS))

    def binding(self) -> Binding:
        """The Textual binding of this command."""
        return Binding(
            ",".join(self.keys),
            self.action,
            self.label,
            show=False,
            key_display=self.key_label,
            tooltip=self.tooltip,
            id=self.id,
            priority=self._priority,
        )


@dataclass(frozen=True)
class Hint:
    """One entry of a footer: a command, or a few that belong together (`, . Section`)."""

    ids: tuple[str, ...]
    label: str


ALWAYS_ALLOWED = frozenset({"open.outside", "copy.command"})
"""Upper-case commands that a read-only app still offers: they change nothing of ours."""

_TAKEN_IN_TASKS = ("ctrl+", "up", "down")

_ALL: tuple[Scope, ...] = ("all",)
_LISTS: tuple[Scope, ...] = ("list",)
_CHARTS: tuple[Scope, ...] = ("charts",)
_RUN: tuple[Scope, ...] = ("run",)

COMMANDS: tuple[Command, ...] = (
    # Places, and moving between them.
    Command("go.environments", ("1",), "Environments", "What exists: environments, variants, recipes.",
            "Go: Environments", _ALL, "go"),
    Command("go.runs", ("2",), "Runs", "What happens and happened.", "Go: Runs", _ALL, "go"),
    Command("go.viewer", ("3",), "Viewer", "What plays.", "Go: Viewer", _ALL, "go"),
    Command("go.recordings", ("4",), "Recordings", "Films made, and being made.", "Go: Recordings", _ALL, "go"),
    Command("go.back", ("escape",), "Back", "Undo one layer: find box, filter, crosshair, screen. Never quits.",
            "Go: Back", _ALL, "go"),
    Command("go.close", ("q",), "Close", "One screen back; at the top of a place, quit.", None, _ALL, "go"),
    Command("app.quit", ("ctrl+q",), "Quit", "Leave the app; runs go on.", "App: Quit", ("app",), "go"),
    Command("app.commands", ("colon", "ctrl+p"), "Commands", "Find any command, environment or run by name.",
            "App: Commands", _ALL, "go"),
    Command("app.help", ("question_mark", "f1"), "Help", "Every key of this screen.", "App: Help", _ALL, "go"),
    Command("app.reread", ("ctrl+r",), "Read again", "Read the folders of the project again.", "App: Read again", _ALL,
            "go"),
    Command("app.redraw", ("ctrl+l",), "Redraw", "Draw the screen again.", "App: Redraw", _ALL, "go"),
    Command("app.jump", ("semicolon",), "Jump", "A letter on every pane; typing one goes there.", "App: Jump", _ALL,
            "go"),
    Command("app.theme", (), "Theme", "Choose among all themes.", "App: Theme", _ALL, "go"),
    Command("app.settings", (), "Settings", "Open the settings file: theme, keys, notices, preview.", "App: Settings",
            _ALL, "go"),
    Command("app.keys", (), "Keys", "Every key of every screen, and how to change them.", "App: Keys", _ALL, "go"),
    Command("app.notifications", (), "Notifications", "What was told since the app started.", "App: Notifications",
            _ALL, "go"),
    Command("app.output", (), "Last output", "What was found last: scores, comparisons, exports, checks, benchmarks.",
            "App: Last output", _ALL, "go"),
    Command("app.folder", (), "Open folder", "Open the folder of what is shown.", "App: Open folder", _ALL, "go"),
    Command("app.suspend", (), "Suspend", "Back to the shell; `fg` returns.", "App: Suspend", _ALL, "go"),
    Command("view.next_pane", ("tab",), "Next pane", "To the next pane.", None, _ALL),
    Command("view.previous_pane", ("shift+tab",), "Previous pane", "To the previous pane.", None, _ALL),
    Command("view.maximise", ("z",), "Maximise", "The focused pane over the whole screen; again restores it.",
            "View: Maximise", _ALL),
    Command("view.details", ("d",), "Details", "Details beside a list; numbers for a drawing.", "View: Details", _ALL),
    # Moving, in whatever has focus.
    Command("move.down", ("j",), "Down", "Next row, or the next chart.", None, _ALL),
    Command("move.up", ("k",), "Up", "Previous row, or the previous chart.", None, _ALL),
    Command("move.left", ("h",), "Left", "Fold a group; move a chart's cursor back.", None, _ALL),
    Command("move.right", ("l",), "Right", "Unfold a group; move a chart's cursor on.", None, _ALL),
    Command("move.first", ("g", "home"), "First", "First row.", None, _ALL),
    Command("move.last", ("G", "end"), "Last", "Last row.", None, _ALL),
    Command("move.half_down", ("ctrl+d",), "Half a page down", "Half a page down.", None, _ALL),
    Command("move.half_up", ("ctrl+u",), "Half a page up", "Half a page up.", None, _ALL),
    # What is under the cursor.
    Command("open.selected", ("enter",), "Open", "Open what is under the cursor; on a chart or a checkpoint, watch it.",
            "Open: Selected", ("list", "run", "viewer")),
    Command("open.outside", ("O",), "Open outside", "Open the file with its own program: editor, pager, player.",
            "Open: Outside", _ALL, "act"),
    Command("copy.command", ("Y",), "Copy command", "Copy the command line of what is shown.", "Copy: Command", _ALL,
            "act"),
    # Lists.
    Command("find.here", ("slash",), "Filter", "Filter the list or the metrics; find in a text.", "Find: Filter here",
            ("list", "charts", "text")),
    Command("mark.this", ("space",), "Mark", "Mark or unmark the row under the cursor.", "Mark: This", ("runs",)),
    Command("mark.all", ("a",), "Mark all", "Mark every row shown.", "Mark: All", ("runs",)),
    Command("mark.none", ("u",), "Unmark", "Unmark every row.", "Mark: None", ("runs",)),
    Command("list.sort_previous", ("less_than_sign",), "Sort", "Sort by the previous column.", None,
            ("runs", "recordings")),
    Command("list.sort_next", ("greater_than_sign",), "Sort", "Sort by the next column.",
            "List: Sort by the next column", ("runs", "recordings")),
    Command("list.reverse", ("exclamation_mark",), "Reverse", "Reverse the order.", "List: Reverse",
            ("runs", "recordings")),
    Command("list.tree", ("t",), "Tree", "As a tree or as a flat list.", "List: Tree", ("environments", "runs")),
    Command("list.columns", (), "Columns", "Which columns the list has.", "List: Columns…", ("runs",)),
    Command("environment.new", (), "New environment", "Write a module, a variant, a recipe and a test to start from.",
            "Environments: New environment…", ("environments",), "act"),
    Command("environment.preview", (), "Try out",
            "Does it rest, move and train? What to change before training, and whose each finding is.",
            "Environments: Preview", ("environments",)),
    Command("environment.check", (), "Check", "Every fault of every file.", "Environments: Check", ("environments",)),
    Command("environment.bench", (), "Benchmark", "Steps a second by copies and threads.", "Environments: Benchmark",
            ("environments",)),
    # A run and its sections.
    Command("view.previous_page", ("comma",), "Previous", "Previous section, page, metric or match.",
            "View: Previous page", ("charts", "text", "run", "environments")),
    Command("view.next_page", ("full_stop",), "Next", "Next section, page, metric or match.", "View: Next page",
            ("charts", "text", "run", "environments")),
    Command("run.checkpoints", ("w",), "Checkpoints", "The checkpoints (weights) of the run.",
            "Run: Show checkpoints", _RUN),
    Command("run.log", ("o",), "Log", "What the run printed.", "Run: Show log", _RUN),
    Command("run.events", ("e",), "Events", "What happened to the run.", "Run: Show events", _RUN),
    Command("run.config", ("i",), "Config", "The run's settings.", "Run: Show config", _RUN),
    Command("config.against", ("a",), "Against", "What differs from another run, or from the recipe again.",
            "Run: Config against…", ("text",)),
    Command("run.new", ("n",), "New run", "Open the form of a new run, filled in from what is under the cursor.",
            "Run: New…", ("environments", "run", "viewer")),
    Command("run.montage", ("m",), "Montage", "Open the form of a montage of checkpoints.", "Run: Montage…",
            ("run", "viewer", "recordings")),
    Command("run.compare", ("c",), "Compare", "The marked runs beside each other.", "Run: Compare", _RUN),
    Command("run.report", ("r",), "Report", "Open the form of a report on the marked runs.", "Run: Report…",
            ("run", "recordings")),
    Command("run.pause", ("P",), "Pause", "Write a checkpoint and wait; again goes on.", "Run: Pause", _RUN, "act"),
    Command("run.resume", ("R",), "Resume", "Go on from the latest checkpoint.", "Run: Resume", _RUN, "act"),
    Command("run.again", ("A",), "Run again", "The same settings as a new run; a failed job once more.",
            "Run: Run again", ("run", "recordings"), "act"),
    Command("run.fork", ("F",), "Fork", "A new run that starts at this checkpoint.", "Run: Fork…", _RUN, "act"),
    Command("run.change", ("C",), "Change", "Change a value while it runs.", "Run: Change…", _RUN, "act"),
    Command("run.write", ("W",), "Write checkpoint", "Write a checkpoint now.", "Run: Write checkpoint", _RUN, "act"),
    Command("run.evaluate", ("E",), "Evaluate",
            "How good a policy is, on numbered episodes: on a card, or for its run to keep beside what is claimed.",
            "Run: Evaluate…", ("run", "viewer"), "act"),
    Command("checkpoint.compare", ("X",), "Policies",
            "Two or more policies on the same episodes: marked runs, or a checkpoint and its run's best.",
            "Checkpoint: Compare policies…", _RUN, "act"),
    Command("run.pin", ("asterisk",), "Pin", "Keep a checkpoint, or a run on top of the list.", "Run: Pin", _RUN,
            "act"),
    Command("run.annotate", ("T",), "Tags and note", "Tags and a note.", "Run: Tags and note…", _RUN, "act"),
    Command("run.prune", (), "Prune checkpoints", "Remove checkpoints that retention need not keep; asks first.",
            "Run: Prune checkpoints…", _RUN, "act"),
    Command("run.delete", ("D",), "Delete", "Move to the trash folder; asks first.", "Run: Delete…",
            ("run", "recordings"), "act"),
    Command("run.undelete", (), "Undo delete", "Bring back what was deleted last.", "Run: Undo delete",
            ("run", "recordings"), "act"),
    Command("checkpoint.export", (), "Export", "Write the policy as ONNX, TorchScript or for Stable-Baselines3.",
            "Checkpoint: Export…", ("run", "viewer"), "act"),
    Command("run.stop", ("S",), "Stop", "Write a checkpoint, then end. A queued run is taken out, a job cancelled.",
            "Run: Stop", ("run", "viewer", "recordings"), "act"),
    Command("run.kill", ("K",), "Kill", "End at once, without a checkpoint; asks first.", "Run: Kill…", _RUN, "act"),
    Command("queue.first", (), "Start next", "Let a queued run start before all others.", "Queue: Move to the front",
            ("runs",), "act"),
    Command("queue.up", (), "Start earlier", "Let a queued run start before the one before it.", "Queue: Move up",
            ("runs",), "act"),
    Command("queue.down", (), "Start later", "Let a queued run start after the one behind it.", "Queue: Move down",
            ("runs",), "act"),
    Command("queue.last", (), "Start last", "Let a queued run start after all others.", "Queue: Move to the end",
            ("runs",), "act"),
    # Playing and filming.
    Command("viewer.watch", ("v",), "Watch", "Watch it in a window.", "Viewer: Watch",
            ("environments", "run", "viewer")),
    Command("viewer.preview", ("p",), "Preview", "Play it in the terminal; again hides it.", "Viewer: Preview",
            ("environments", "run", "viewer")),
    Command("viewer.play", ("space",), "Pause", "Play or pause.", "Viewer: Play or pause", ("viewer",)),
    Command("viewer.slower", ("minus",), "Slower", "Half the speed.", "Viewer: Slower", ("viewer",)),
    Command("viewer.faster", ("plus", "equals_sign"), "Faster", "Twice the speed.", "Viewer: Faster", ("viewer",)),
    Command("viewer.second_back", ("left_curly_bracket", "shift+left"), "A second back", "One second back.", None,
            ("viewer",)),
    Command("viewer.second_on", ("right_curly_bracket", "shift+right"), "A second on", "One second on.", None,
            ("viewer",)),
    Command("viewer.seed_previous", ("less_than_sign",), "Seed", "The seed before this one.", "Viewer: Previous seed",
            ("viewer",)),
    Command("viewer.seed_next", ("greater_than_sign",), "Seed", "The next seed.", "Viewer: Next seed", ("viewer",)),
    Command("viewer.restart", ("0",), "Restart", "The episode from its start.", "Viewer: Restart episode",
            ("viewer",)),
    Command("viewer.follow", ("f",), "Follow newest", "Take each new checkpoint at the next episode.",
            "Viewer: Follow newest", ("viewer",)),
    Command("viewer.record", ("V",), "Record", "Film it; needs no display.", "Viewer: Record…",
            ("environments", "run", "viewer", "recordings"), "act"),
    Command("checkpoint.previous", ("left_square_bracket", "left_parenthesis"), "Previous checkpoint",
            "To the checkpoint before this one.", "Checkpoint: Previous", ("charts", "viewer")),
    Command("checkpoint.next", ("right_square_bracket", "right_parenthesis"), "Next checkpoint",
            "To the checkpoint after this one.", "Checkpoint: Next", ("charts", "viewer")),
    # Charts.
    Command("chart.smoothing", ("s",), "Smooth", "How strongly curves are smoothed.", "Chart: Smoothing", _CHARTS),
    Command("chart.x_axis", ("x",), "X axis", "Steps, wall time or episodes.", "Chart: X axis", _CHARTS),
    Command("chart.log_y", ("y",), "Log y", "A logarithmic y axis.", "Chart: Log y", _CHARTS),
    Command("chart.seeds", ("b",), "Seeds", "How a group of seeds is drawn: band, range or lines.", "Chart: Seeds",
            _CHARTS),
    Command("view.follow", ("f",), "Follow", "Follow the newest.", "View: Follow", ("charts", "text")),
    Command("view.whole", ("0",), "All", "The whole range.", "View: Whole range", _CHARTS),
    Command("view.zoom_in", ("plus", "equals_sign"), "Zoom in", "Half the range about the cursor.", "View: Zoom in",
            _CHARTS),
    Command("view.zoom_out", ("minus",), "Zoom out", "Twice the range about the cursor.", "View: Zoom out", _CHARTS),
    Command("view.pan_left", ("left_curly_bracket", "shift+left"), "Pan", "Half a width back.", "View: Pan left",
            _CHARTS),
    Command("view.pan_right", ("right_curly_bracket", "shift+right"), "Pan", "Half a width on.", "View: Pan right",
            _CHARTS),
    # Tasks: their fields take every letter, so these are on ctrl.
    Command("task.go", ("ctrl+g",), "Go", "The main button.", None, ("task",), "act"),
    Command("task.try", ("ctrl+t",), "Try", "A trial without consequences.", None, ("task",)),
    Command("task.find", ("ctrl+f",), "Find a field", "Find a field by name.", None, ("task",)),
    Command("task.copy", ("ctrl+y",), "Copy", "Copy the equivalent command.", None, ("task",)),
    Command("task.close", ("escape",), "Close", "Close without effect.", None, ("task",)),
    Command("task.next_field", ("down",), "Next field", "To the next field; so does enter.", None, ("task",)),
    Command("task.previous_field", ("up",), "Previous field", "To the field before.", None, ("task",)),
    Command("task.help", ("f1",), "Help", "Every key of this form.", None, ("task",)),
)  # fmt: skip

BY_ID = {command.id: command for command in COMMANDS}
BY_ACTION = {command.action: command for command in COMMANDS}

SCREENS: dict[str, tuple[Scope, ...]] = {
    "environments": ("all", "list", "environments"),
    "runs": ("all", "list", "run", "charts", "runs"),
    "run": ("all", "run", "charts", "text"),
    "seeds": ("all", "run", "charts"),
    "compare": ("all", "run", "charts", "compare"),
    "viewer": ("all", "viewer"),
    "recordings": ("all", "list", "recordings"),
    "task": ("task",),
}
"""Which scopes each screen answers to."""


def _hints(*entries: tuple[str, str]) -> tuple[Hint, ...]:
    return tuple(Hint(tuple(ids.split("+")), label) for ids, label in entries)


FOOTERS: dict[str, tuple[Hint, ...]] = {
    "environments": _hints(
        ("open.selected", "Details"), ("run.new", "New run"), ("viewer.watch", "Watch"),
        ("viewer.preview", "Preview"), ("viewer.record", "Record"), ("find.here", "Filter"), ("list.tree", "Tree"),
        ("open.outside", "Edit"), ("app.reread", "Read again"), ("app.commands", "Commands"),
    ),
    "runs": _hints(
        ("open.selected", "Open"), ("run.new", "New"), ("mark.this", "Mark"), ("run.compare", "Compare"),
        ("viewer.watch", "Watch"), ("run.pause", "Pause"), ("run.stop", "Stop"), ("find.here", "Filter"),
        ("run.fork", "Fork"), ("run.montage", "Montage"), ("viewer.record", "Record"), ("run.resume", "Resume"),
        ("list.sort_previous+list.sort_next", "Sort"), ("app.commands", "Commands"),
    ),
    "run": _hints(
        ("view.previous_page+view.next_page", "Section"), ("move.left+move.right", "Cursor"),
        ("open.selected", "Watch"), ("chart.smoothing", "Smooth"), ("run.write", "Write"), ("run.pause", "Pause"),
        ("run.stop", "Stop"), ("run.log", "Log"), ("view.zoom_in+view.zoom_out", "Zoom"), ("view.whole", "All"),
        ("chart.x_axis", "Axis"), ("chart.log_y", "Log y"), ("run.change", "Change"), ("run.evaluate", "Evaluate"),
        ("app.commands", "Commands"),
    ),
    "run/Charts": _hints(
        ("view.previous_page+view.next_page", "Page"), ("move.down+move.up", "Chart"),
        ("move.left+move.right", "Cursor"), ("open.selected", "Watch here"), ("view.zoom_in+view.zoom_out", "Zoom"),
        ("view.whole", "All"), ("chart.smoothing", "Smooth"), ("chart.x_axis", "Axis"), ("chart.log_y", "Log y"),
        ("find.here", "Filter"), ("run.change", "Change"), ("run.write", "Write"), ("run.evaluate", "Evaluate"),
        ("run.pause", "Pause"), ("run.stop", "Stop"),
    ),
    "run/Log": _hints(
        ("view.previous_page+view.next_page", "Section"), ("find.here", "Find"), ("view.follow", "Follow"),
        ("open.outside", "Open outside"), ("viewer.record", "Record"), ("run.stop", "Stop"),
        ("app.commands", "Commands"),
    ),
    "run/Config": _hints(
        ("view.previous_page+view.next_page", "Section"), ("view.details", "All or changed"),
        ("config.against", "Against"), ("find.here", "Find"), ("copy.command", "Copy command"),
        ("run.new", "New run"), ("run.stop", "Stop"), ("app.commands", "Commands"),
    ),
    "run/Checkpoints": _hints(
        ("view.previous_page+view.next_page", "Section"), ("open.selected", "Watch"), ("viewer.record", "Record"),
        ("run.montage", "Montage"), ("run.evaluate", "Evaluate"), ("run.fork", "Fork"), ("run.pin", "Pin"),
        ("checkpoint.compare", "Compare"), ("run.stop", "Stop"), ("app.commands", "Commands"),
    ),
    "run/Events": _hints(
        ("view.previous_page+view.next_page", "Section"), ("open.selected", "To that step"),
        ("viewer.watch", "Watch"), ("run.stop", "Stop"), ("run.log", "Log"), ("app.commands", "Commands"),
    ),
    "seeds": _hints(
        ("view.previous_page+view.next_page", "Section"), ("move.left+move.right", "Cursor"),
        ("open.selected", "Open"), ("chart.seeds", "Band"), ("viewer.watch", "Watch"), ("run.compare", "Compare"),
        ("chart.smoothing", "Smooth"), ("run.report", "Report"), ("run.montage", "Montage"), ("run.pause", "Pause"),
        ("run.stop", "Stop"), ("app.commands", "Commands"),
    ),
    "seeds/Charts": _hints(
        ("view.previous_page+view.next_page", "Page"), ("move.down+move.up", "Chart"),
        ("move.left+move.right", "Cursor"), ("open.selected", "Open"), ("chart.seeds", "Band"),
        ("view.zoom_in+view.zoom_out", "Zoom"), ("view.whole", "All"), ("chart.smoothing", "Smooth"),
        ("find.here", "Filter"), ("run.compare", "Compare"), ("run.report", "Report"), ("run.stop", "Stop"),
    ),
    "seeds/Seeds": _hints(
        ("view.previous_page+view.next_page", "Section"), ("open.selected", "Open run"), ("viewer.watch", "Watch"),
        ("run.checkpoints", "Checkpoints"), ("run.fork", "Fork"), ("viewer.record", "Record"),
        ("run.evaluate", "Evaluate"), ("run.pause", "Pause"), ("run.stop", "Stop"), ("run.compare", "Compare"),
        ("app.commands", "Commands"),
    ),
    "seeds/Config": _hints(
        ("view.previous_page+view.next_page", "Section"), ("view.details", "All or changed"),
        ("copy.command", "Copy command"), ("run.new", "New run"), ("run.compare", "Compare"),
        ("app.commands", "Commands"),
    ),
    "compare": _hints(
        ("view.previous_page+view.next_page", "Metric"), ("move.down+move.up", "Run"), ("view.details", "All rows"),
        ("run.evaluate", "Evaluate all"), ("checkpoint.compare", "Same episodes"), ("viewer.watch", "Watch all"),
        ("run.montage", "Montage"),
        ("run.report", "Report"), ("app.commands", "Commands"),
    ),
    "viewer": _hints(
        ("viewer.play", "Pause"), ("move.left+move.right", "Step"),
        ("checkpoint.previous+checkpoint.next", "Checkpoint"), ("viewer.faster+viewer.slower", "Speed"),
        ("viewer.seed_previous+viewer.seed_next", "Seed"), ("viewer.restart", "Restart"), ("viewer.record", "Record"),
        ("open.selected", "What plays"), ("viewer.follow", "Follow newest"), ("viewer.preview", "Preview"),
        ("run.montage", "Montage"), ("run.stop", "Close"), ("run.evaluate", "Evaluate"), ("app.commands", "Commands"),
    ),
    "recordings": _hints(
        ("open.selected", "Play"), ("open.outside", "Open outside"), ("copy.command", "Copy command"),
        ("run.montage", "Montage"), ("run.report", "Report"), ("run.delete", "Delete"), ("run.stop", "Cancel"),
        ("find.here", "Filter"), ("app.commands", "Commands"),
    ),
    "task": _hints(
        ("task.go", "Go"), ("task.try", "Try"), ("task.find", "Find a field"), ("task.copy", "Copy"),
        ("task.close", "Close"),
    ),
}  # fmt: skip
"""The footer of each screen, and of those parts of one that have their own (`run/Log`); most useful first: what does
not fit in the width is left out from the end."""

_KEY_NAMES = {
    "slash": "/", "colon": ":", "question_mark": "?", "exclamation_mark": "!", "less_than_sign": "<",
    "greater_than_sign": ">", "comma": ",", "full_stop": ".", "left_square_bracket": "[", "right_square_bracket": "]",
    "left_parenthesis": "(", "right_parenthesis": ")", "left_curly_bracket": "{", "right_curly_bracket": "}",
    "plus": "+", "equals_sign": "=", "minus": "-", "escape": "esc", "f1": "F1",
    "semicolon": ";", "asterisk": "*",
}  # fmt: skip


def show_key(key: str) -> str:
    """Return a key as a person reads it: `slash` is `/`, `escape` is `esc`."""
    return _KEY_NAMES.get(key, key)


def commands_for(screen: str) -> list[Command]:
    """Return the commands a screen answers to, in the registry's order; `screen` is a key of `SCREENS` or a scope."""
    scopes = set(SCREENS.get(screen, (screen,)))
    return [command for command in COMMANDS if scopes & set(command.scopes)]


def bindings_for(screen: str) -> list[BindingType]:
    """Return the bindings a screen declares. Those of every screen (`all`) its base class declares already."""
    chosen = commands_for(screen)
    return [item.binding() for item in chosen if item.keys and (screen == "all" or "all" not in item.scopes)]


def footer_for(screen: str, keymap: Mapping[str, tuple[str, ...]] | None = None) -> Iterator[tuple[str, str, str]]:
    """Yield the footer of a screen as (keys, label, action of the first command).

    Args:
        screen: A key of `FOOTERS`.
        keymap: Keys that a person chose, by command.
    """
    chosen = keymap or {}
    for hint in FOOTERS[screen]:
        keys = " ".join(show_key(chosen.get(name, BY_ID[name].keys)[0]) for name in hint.ids)
        yield keys, hint.label, BY_ID[hint.ids[0]].action
