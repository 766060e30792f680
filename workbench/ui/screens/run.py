"""One run: how far it is, its curves, and what it wrote, kept and was asked to do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from workbench import formatting
from workbench.catalog.run_config import RunConfig, read_config, read_config_against
from workbench.runs.anomalies import play_target
from workbench.runs.directory import RunDirectory
from workbench.runs.processes import this_host
from workbench.ui.chart_sections import SECTIONS
from workbench.ui.commands import bindings_for
from workbench.ui.config_text import config_text, config_title, given_since
from workbench.ui.past import CheckpointRow, Past, why_no_checkpoint
from workbench.ui.run_charts import NO_PAST, RunCharts, Spec
from workbench.ui.run_head import Kin, head_lines, time_split
from workbench.ui.run_paging import TALL, RunPaging
from workbench.ui.run_tables import checkpoint_columns, checkpoint_rows, checkpoint_summary, event_rows
from workbench.ui.run_texts import RunTexts
from workbench.ui.usage import INTERVAL_S, Usages
from workbench.ui.watch import RunRow, RunWatch
from workbench.ui.widgets.filter_box import FilterBox
from workbench.ui.widgets.log_view import LogView
from workbench.ui.widgets.rows import RowTable

TAIL_LINES, MORE_TAIL_LINES = 3, 10
_CHART_KEYS = ("chart.", "view.zoom_", "view.pan_", "view.whole")
_CHECKPOINT_KEYS = "enter Watch  V Record  m Montage  E Re-score  F Fork  * Pin"


class RunScreen(RunPaging):
    """A run's sections: pages of charts, its log, settings, checkpoints and events.

    Args:
        path: The run's folder.
        section: The one to begin with.
    """

    NAME = "run"
    PLACE = "runs"
    BINDINGS = bindings_for("run")

    def __init__(self, path: Path, section: str = "Return") -> None:
        super().__init__(section)
        self.path = path
        self._past = NO_PAST
        self._origin: Path | None = None
        """The run that this one was forked from."""
        self._origin_past: Past | None = None
        self._checkpoints: tuple[CheckpointRow, ...] = ()
        self._usages = Usages()
        self._playing: int | None = None
        """The steps of the checkpoint that the viewer plays."""
        self._config = RunConfig()
        self._against: Path | None = None
        """The run whose settings these are compared with, in place of the recipe."""
        self._config_read = False
        self._whole_config = False
        self._config_words = ""

    def compose_body(self) -> ComposeResult:
        """Yield head, strip, charts beside texts, the system, and the end of the log."""
        yield Static(id="head")
        yield from self.compose_strip()
        with Container(id="main"):
            yield from self.compose_charts()
            yield RunTexts(id="texts")
        yield FilterBox(id="log-filter", placeholder="find in the log")
        yield FilterBox(id="config-filter", placeholder="words of a setting's name or value")
        yield FilterBox(id="chart-filter", placeholder="charts by a regular expression: kl|loss")
        yield Static(id="system")
        yield Static(id="tail")

    @property
    def log_view(self) -> LogView:
        """The log."""
        return self.query_one("#Log", LogView)

    @property
    def texts(self) -> RunTexts:
        """Log, settings, checkpoints and events."""
        return self.query_one(RunTexts)

    @property
    def box(self) -> FilterBox:
        """What one looks for where the focus is: in the log, the settings or the charts."""
        name = {"Log": "log", "Config": "config"}.get(self._section, "chart")
        return self.query_one(f"#{name}-filter", FilterBox)

    def on_mount(self) -> None:
        """Follow the run, and measure what it takes."""
        self.log_view.border_title = "Log · output.log"
        self.workbench.runs_changed.subscribe(self, lambda _: self._show_row())
        self.workbench.library_changed.subscribe(self, lambda _: self._read_config_once())
        self.workbench.viewer_changed.subscribe(self, lambda _: self._show_playing())
        self.workbench.runs.mark_seen(self.path)
        self._meter = self.workbench.make_meter()
        self.set_interval(INTERVAL_S, self._measure)
        self.show_section(self._section)

    def on_screen_resume(self) -> None:
        """Read the run closely while it is shown."""
        self._follow()
        self._show_row()

    def on_screen_suspend(self) -> None:
        """Read it no more while it is not."""
        if not self.is_seen:
            self.workbench.runs.unfollow(self)

    def on_resize(self) -> None:
        """Fill the room there is."""
        self.fit()
        self._show_row()
        self._show_system()
        self._show_tail()

    def _follow(self) -> None:
        if self.is_seen:
            row = self.current
            rows = self.workbench.runs.snapshot.rows
            parent = None if row is None or not row.parent_run else row.parent_run
            self._origin = next((other.path for other in rows if other.name == parent), None)
            self.workbench.runs.follow(self, [path for path in (self.path, self._origin) if path], closely=True)

    # Facts that arrive.

    def on_run_watch_told(self, message: RunWatch.Told) -> None:
        """Take in what the run did, and what the one did that it was forked from."""
        if self._past is NO_PAST:
            self._measure()
        self._past = message.histories.get(self.path, NO_PAST)
        self._origin_past = None if self._origin is None else message.histories.get(self._origin)
        self._read_config_once()
        self.query_one("#Events", RowTable).set_rows(event_rows(self._past, plain=self.workbench.plain))
        self._show_row()
        self._show_charts()

    def on_run_watch_detailed(self, message: RunWatch.Detailed) -> None:
        """Take in checkpoints and log lines."""
        if message.path != self.path:
            return
        if message.log_is_new:
            self.log_view.clear()
        self.log_view.extend(message.lines)
        self._checkpoints = message.checkpoints
        self._show_tail()
        self._show_row()
        self._show_charts()

    def _read_config_once(self) -> None:
        known = self.workbench.library.catalog is not None
        if self._past.record and not self._config_read:
            self._config_read = known
            self._read_config()

    @work(group="config", exclusive=True, exit_on_error=False, description="reading the settings")
    async def _read_config(self) -> None:
        row, against = self.current, self._against
        if against is not None:
            other = self.workbench.runs.snapshot.row(against)
            record = await asyncio.to_thread(RunDirectory(against).record)
            name = against.name if other is None else other.title
            self._config = read_config_against(self._past.record, record, name)
        else:
            entry = None if row is None else self.workbench.library.entry(row.env_name)
            self._config = await asyncio.to_thread(read_config, self._past.record, entry)
        self._show_config()

    @work(group="usage", exclusive=True, exit_on_error=False, description="measuring the run")
    async def _measure(self) -> None:
        row = self.current
        if row is None or not self.is_seen or self._past is NO_PAST:
            return
        pid = row.pid if row.state.is_live and row.host in ("", this_host()) else None
        usage = await asyncio.to_thread(self._meter, pid, self.path)
        known = self._usages.series().keys()
        self._usages.add(usage, steps=float(row.steps), wall_s=row.active_s, episodes=float(self._past.episodes))
        self._show_system()
        if self._usages.series().keys() != known:
            # Nothing more may happen to a run that ended, for which its charts could wait.
            self._show_charts()

    # Showing.

    @property
    def current(self) -> RunRow | None:
        """The run as the list has it."""
        return self.workbench.runs.snapshot.row(self.path)

    def _spec(self) -> Spec:
        row = self.current
        library = self.workbench.library
        description = None if row is None else library.description(row.env_name)
        entry = None if row is None else library.entry(row.env_name)
        measured = None if entry is None or entry.training is None else entry.training.reference
        return Spec.of(self._past.record, None if description is None else description.episode_steps, measured)

    def _source(self) -> RunCharts:
        past = replace(self._past, series={**self._past.series, **self._usages.series()})
        return RunCharts(
            self.current, past, self._checkpoints, self._spec(), parent=self._origin_past, playing=self._playing
        )

    def _show_playing(self) -> None:
        """Mark the checkpoint that the viewer plays, where it is one of this run."""
        playing, steps = self.workbench.viewer.playing, None
        if playing is not None and playing.is_on and playing.ready is not None and playing.state is not None:
            steps = playing.state.checkpoint if playing.ready.run == self.path else None
        if steps != self._playing:
            self._playing = steps
            self._show_charts()

    def _show_row(self) -> None:
        row = self.current
        head = self.query_one("#head", Static)
        if row is None:
            gone = self.workbench.runs.snapshot.is_read
            head.update(f"The folder {self.path.name} is gone. esc goes back." if gone else "Reading…")
            return
        head.update(
            head_lines(
                row,
                self._checkpoints,
                self._spec(),
                self.size.width - 2,
                plain=self.workbench.plain,
                short=self.has_class("-flat") or self._has_panes,
                kin=Kin.of(row, self.workbench.runs.snapshot.rows),
                split=time_split(self._past),
            )
        )
        self._take_up_filter(row)
        self.texts.anomalies = row.anomalies
        self._show_strip()
        self._show_checkpoints()
        self.refresh_bindings()

    def _show_tail(self) -> None:
        roomy = self._has_panes and self.size.height >= TALL
        lines = self.log_view.lines[-(MORE_TAIL_LINES if roomy else TAIL_LINES) :]
        self.query_one("#tail", Static).update(Content("\n".join(lines)))

    def _show_system(self) -> None:
        width = max(20, self.size.width - 2)
        self.query_one("#system", Static).update(self._usages.line(width, plain=self.workbench.plain))

    # Texts.

    def _show_checkpoints(self) -> None:
        texts, table = self.texts, self.query_one("#Checkpoints", RowTable)
        table.set_columns(checkpoint_columns(self._checkpoints, table.size.width))
        table.set_rows(checkpoint_rows(self._checkpoints, self.workbench.clock(), plain=self.workbench.plain))
        table.border_title = checkpoint_summary(self._checkpoints)
        row = self.current
        if row is not None and not self._checkpoints:
            table.set_empty(why_no_checkpoint(row.run, is_ended=row.state.is_ended))
        events = self.query_one("#Events", RowTable)
        count = texts.anomalies
        anomalies = f" · {formatting.plural(count, 'anomaly', 'anomalies')}" if count else ""
        events.border_title = f"Events{anomalies}"
        texts.status["Checkpoints"] = _CHECKPOINT_KEYS if self._checkpoints else ""
        self._show_what_events_offer()

    def _show_what_events_offer(self) -> None:
        saved = "   v plays the saved steps" if self._window else ""
        is_empty = not self.query_one("#Events", RowTable).rows
        self.texts.status["Events"] = "" if is_empty else f"enter goes to that step{saved}"
        self.texts.describe()

    @on(LogView.Described)
    def _log_described(self) -> None:
        self.texts.status["Log"] = f"{self.log_view.status}   g top   O opens it in $PAGER"
        self.texts.describe()

    def _show_config(self) -> None:
        pane, config = self.texts.text("Config"), self._config
        pane.border_title = config_title(config)
        others = "d differences or all   a against another run" if config.compared_with else "a against another run"
        self.texts.status["Config"] = f"/ {self._config_words}   {others}" if self._config_words else others
        text = config_text(
            config,
            everything=self._whole_config,
            given=given_since(self._past.marks),
            words=self._config_words,
        )
        if self.texts.is_framed:
            text = Content("\n").join([Content.styled(config_title(config), "$muted"), text])
        self.query_one("#config-text", Static).update(text)
        self.texts.describe()

    # Commands.

    def can(self, command_id: str) -> bool | None:
        """Offer what the section and the run allow."""
        has_charts = self.query_one("#charts").display
        if command_id == "find.here":
            return True if self._section in ("Log", "Config", *SECTIONS) else None
        if command_id == "view.details":
            return True if self._section == "Config" or has_charts else None
        if command_id == "config.against":
            return True if len(self.workbench.runs.snapshot.rows) > 1 else None
        if command_id == "run.compare":
            return True if len(self.workbench.runs.snapshot.rows) > 1 and self.current is not None else None
        if command_id == "open.selected" and self._section in ("Log", "Config"):
            return None
        if command_id.startswith(_CHART_KEYS) and not has_charts:
            return None
        return super().can(command_id)

    def undo_layer(self) -> bool:
        """Take back what is looked for in a text, then the crosshair, then the filter of the charts."""
        if self._section in ("Log", "Config") and self.box.clear_filter():
            self._find(self.box, "")
            return True
        if self.drop_crosshair():
            return True
        return self.clear_chart_filter()

    def chosen_checkpoint(self) -> str:
        """Return the checkpoint under the cursor of the list, that before an event, else that of the crosshair."""
        table, events = self.query_one("#Checkpoints", RowTable), self.query_one("#Events", RowTable)
        if table.has_focus and table.cursor is not None:
            return table.cursor
        if events.has_focus and (steps := self._event_steps()) is not None:
            before = [item.steps for item in self._checkpoints if item.steps <= steps]
            return str(max(before)) if before else ""
        return super().chosen_checkpoint()

    def _event_steps(self) -> float | None:
        cursor = self.query_one("#Events", RowTable).cursor
        if cursor is None or int(cursor) >= len(self._past.marks):
            return None
        steps = self._past.marks[int(cursor)].get("steps")
        return float(steps) if isinstance(steps, int | float) else None

    @property
    def _window(self) -> str:
        """What `play` calls the states that were saved of the anomaly under the cursor; empty where none were."""
        events, row = self.query_one("#Events", RowTable), self.current
        if row is None or events.cursor is None or int(events.cursor) >= len(self._past.marks):
            return ""
        mark = self._past.marks[int(events.cursor)]
        return play_target(row.run, mark) if mark.get("kind") == "anomaly" else ""

    def _play(self, *, preview: bool) -> None:
        """Play the checkpoint that is meant; on an anomaly the states that led to it."""
        row, window = self.current, self._window
        if row is None or not window or not self.query_one("#Events", RowTable).has_focus:
            super()._play(preview=preview)
            return
        detail = {"target": window, "run": str(row.path)}
        self.workbench.start_play(["play", window], f"anomaly of {row.title}", detail, preview=preview)

    def action_open_selected(self) -> None:
        """Watch the checkpoint that is meant; on an event go to its step."""
        if not self.query_one("#Events", RowTable).has_focus:
            self.action_viewer_watch()
            return
        steps = self._event_steps()
        if steps is not None:
            self.show_section("Return")
            self.look(replace(self.chart_view, cursor=steps))

    @on(RowTable.Chosen)
    def _chosen_row(self) -> None:
        self.action_open_selected()

    @on(RowTable.Moved)
    def _moved_row(self) -> None:
        self._show_what_events_offer()
        self.refresh_bindings()

    def _turn(self, by: int) -> None:
        if self._section == "Log" and self.log_view.is_finding:
            self.log_view.next_match(by)
        else:
            super()._turn(by)

    def action_run_log(self) -> None:
        """Show the log."""
        self.show_section("Log")

    def action_run_config(self) -> None:
        """Show the settings."""
        self.show_section("Config")

    def action_run_checkpoints(self) -> None:
        """Show the checkpoints."""
        self.show_section("Checkpoints")

    def action_run_events(self) -> None:
        """Show what happened."""
        self.show_section("Events")

    def action_view_details(self) -> None:
        """Show all settings or only those that differ; of charts, numbers in place of drawings."""
        if self._section == "Config":
            self._whole_config = not self._whole_config
            self._show_config()
        else:
            self.toggle_numbers()
            self._show_page()

    def action_view_follow(self) -> None:
        """Follow the newest line, or the newest point."""
        if self._section == "Log":
            self.log_view.action_follow()
        else:
            super().action_view_follow()

    def action_open_outside(self) -> None:
        """Open the log in the pager."""
        self.workbench.open_in_pager(RunDirectory(self.path).log_path)

    # Finding.

    def action_find_here(self) -> None:
        """Find words in the log, settings by name, or charts by a regular expression."""
        self.box.open()

    @on(FilterBox.Filtered)
    def _filtered(self, message: FilterBox.Filtered) -> None:
        self._find(message.box, message.text)

    def _find(self, box: FilterBox, text: str) -> None:
        if box.id == "log-filter":
            self.log_view.find(text)
        elif box.id == "config-filter":
            self._config_words = text
            self._show_config()
        else:
            self.filter_charts(text)

    @on(FilterBox.Closed)
    def _find_closed(self, message: FilterBox.Closed) -> None:
        # What is looked for stands in the frame or in the strip; the row is the chart's again.
        message.box.remove_class("-open")
        if message.box.id == "chart-filter":
            shown = self.charts()
            if shown:
                shown[0].focus()
        else:
            self.texts.text("Log" if message.box.id == "log-filter" else "Config").focus()

    # Other runs.

    def action_run_compare(self) -> None:
        """Choose a run to set beside this one."""
        self._pick("Compare with", lambda path: self.workbench.compare([self.path, Path(path)]) if path else None)

    def action_config_against(self) -> None:
        """Choose the run whose settings these are compared with; the recipe again where none is chosen."""

        def chosen(path: str) -> None:
            self._against = Path(path) if path else None
            self._whole_config = False
            self.show_section("Config")
            self._read_config()

        self._pick("Settings against", chosen, other="the recipe of its environment")

    def _pick(self, title: str, then: Callable[[str], None], *, other: str = "") -> None:
        from workbench.ui.screens.pick_run import PickRun, by_nearness

        row = self.current
        if row is not None:
            task = PickRun(by_nearness(row, self.workbench.runs.snapshot.rows), f"{title} {row.title}", other=other)
            self.app.push_screen(task, lambda path: then(path) if path is not None else None)
