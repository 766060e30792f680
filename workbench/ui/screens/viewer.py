"""The place of the one viewer: what plays, its numbers, its checkpoints, and its picture where it is wanted here."""

from __future__ import annotations

from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from workbench.formatting import amount
from workbench.remote.declaration import AGENTS, FASTEST, HIGHEST_SEED, SLOWEST
from workbench.remote.frames import Frame
from workbench.runs.directory import RunDirectory
from workbench.ui.commands import bindings_for
from workbench.ui.past import CheckpointRow
from workbench.ui.playing import Playing, ViewerState, targets
from workbench.ui.preview_pace import PreviewPace
from workbench.ui.screen import Pane, WorkbenchScreen
from workbench.ui.theme import STATE_LOOKS
from workbench.ui.viewer_text import control_text
from workbench.ui.watch import RunWatch
from workbench.ui.watching import has_display
from workbench.ui.widgets.preview import Preview, why_no_colours
from workbench.ui.widgets.viewer_lines import HistoryLine, Ladder

EMPTY = "Nothing is playing. v on a run, a checkpoint or an environment plays it. enter asks for one."
NO_DISPLAY = "No display was found, so it plays here in the terminal. V records a film instead."

_SMALLEST = 8
"""Pixels along a side of a preview."""

_NEEDS_PLAYER = frozenset(
    {
        "viewer.play", "viewer.slower", "viewer.faster", "viewer.seed_previous", "viewer.seed_next", "viewer.restart",
    }
)  # fmt: skip
_NEEDS_PAST = frozenset({"viewer.second_back", "viewer.second_on", "move.left", "move.right"})
_NEEDS_LADDER = frozenset(
    {"checkpoint.export", "checkpoint.previous", "checkpoint.next", "viewer.follow", "run.montage"}
)
_NEEDS_REQUEST = frozenset(
    {"viewer.watch", "viewer.preview", "viewer.record", "copy.command", "run.new", "run.evaluate"}
)


class ViewerScreen(WorkbenchScreen):
    """Mirrors the viewer's process, and gives it orders."""

    NAME = "viewer"
    BINDINGS = [
        *bindings_for("viewer"),
        Binding("left", "move_left", show=False),
        Binding("right", "move_right", show=False),
    ]

    DEFAULT_CSS = """
    ViewerScreen {
        & #panes { height: 1fr; }
        & #picture { width: 3fr; padding: 0; }
        & #controls { width: 2fr; }
        & #sentence { padding: 1 2; height: 1fr; }
        & .hidden { display: none; }
        &.-tiny #picture { width: 1fr; }
        &.-tiny #controls { display: none; width: 1fr; }
        &.-tiny.-numbers #picture { display: none; }
        &.-tiny.-numbers #controls { display: block; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._checkpoints: tuple[CheckpointRow, ...] = ()
        self._run: Path | None = None
        self._asked: tuple[Playing, tuple[int, int, int] | None] | None = None
        self._pace = PreviewPace()
        self._late: Frame | None = None
        self._told_at = 0.0
        self._is_shown = False

    def compose_body(self) -> ComposeResult:
        """Yield the picture beside the numbers, and the two lines under them."""
        with Horizontal(id="panes"):
            with Pane(id="picture") as picture:
                picture.border_title = "preview"
                yield Preview(id="preview")
                yield Static(id="sentence")
            with Pane(id="controls"):
                yield Static(id="numbers")
        yield HistoryLine(id="history")
        yield Ladder(id="ladder")

    def on_mount(self) -> None:
        """Follow what plays."""
        for line in (self.query_one(HistoryLine), self.query_one(Ladder)):
            line.plain = self.workbench.plain
        self._is_shown = True
        self.workbench.viewer_changed.subscribe(self, lambda _: self.show_state())
        self.workbench.viewer_framed.subscribe(self, self._show_frame)
        self.app.theme_changed_signal.subscribe(self, lambda _: self._order("theme", name=self.workbench.viewer_theme))
        self.set_interval(1.0, self._show_numbers)
        self.set_interval(0.25, self._show_late_frame)
        self.show_state()

    def on_screen_resume(self) -> None:
        """Show what went on meanwhile, and ask for pictures again."""
        self._is_shown = True
        self.show_state()

    def on_screen_suspend(self) -> None:
        """Ask for no pictures that nobody sees."""
        self._is_shown = False
        self._ask_for_preview()

    @on(Preview.Resized)
    def _fit_picture(self) -> None:
        self._show_picture()
        self._ask_for_preview()

    def on_resize(self) -> None:
        """Write the numbers in the new width."""
        super().on_resize()
        self.call_after_refresh(self._show_numbers)

    # Showing.

    @property
    def playing(self) -> Playing | None:
        """What plays, or played last."""
        return self.workbench.viewer.playing

    @property
    def state(self) -> ViewerState | None:
        """What its process told last, while it lives."""
        playing = self.playing
        return playing.state if playing is not None and playing.is_on else None

    def show_state(self) -> None:
        """Show what plays now."""
        self._told_at = self.workbench.clock()
        self._follow_run()
        self._show_numbers()
        self._show_picture()
        self._ask_for_preview()
        self.refresh_bindings()

    def _follow_run(self) -> None:
        playing = self.playing
        run = playing.ready.run if playing is not None and playing.ready is not None else None
        if playing is not None and playing.ready is None and playing.is_on:
            return
        if run != self._run:
            self._run, self._checkpoints = run, ()
            if run is None:
                self.workbench.runs.unfollow(self)
            else:
                self.workbench.runs.follow(self, [run], closely=True)

    def on_run_watch_detailed(self, message: RunWatch.Detailed) -> None:
        """Show the checkpoints of the run."""
        if message.path == self._run:
            self._checkpoints = message.checkpoints
            self._show_numbers()
            self.refresh_bindings()

    def _show_numbers(self) -> None:
        playing, controls = self.playing, self.query_one("#controls", Pane)
        numbers = self.query_one("#numbers", Static)
        state = None if playing is None else playing.state
        controls.border_title = "" if playing is None else playing.title
        controls.border_subtitle = _status_words(playing, plain=self.workbench.plain)
        if playing is None:
            numbers.update("")
        else:
            size = controls.content_size
            numbers.update(
                control_text(
                    playing, self._checkpoints, width=size.width, height=size.height,
                    age_s=max(0.0, self.workbench.clock() - self._told_at), plain=self.workbench.plain,
                )
            )  # fmt: skip
        period_s = playing.ready.period_s if playing is not None and playing.ready is not None else 0.0
        self.query_one(HistoryLine).take(state, period_s)
        self.query_one(Ladder).take(self._checkpoints, state)

    def _show_picture(self) -> None:
        pane = self.query_one("#picture", Pane)
        preview = self.query_one(Preview)
        sentence = self._sentence()
        preview.set_class(bool(sentence), "hidden")
        self.query_one("#sentence", Static).set_class(not sentence, "hidden").update(Content(sentence))
        width, height = preview.pixels
        shows = not sentence and width > 0
        pane.border_title = f"preview  {width}×{height} px · {self._pace.fps} fps" if shows else "preview"
        state = self.state
        has_window = state is not None and state.window
        here = (
            "also in the window   p hides this" if has_window else "" if has_display() else "no display: playing here"
        )
        pane.border_subtitle = here if shows else ""

    def _sentence(self) -> str:
        """Return what stands in place of a picture; empty where there is one."""
        playing, viewer = self.playing, self.workbench.viewer
        if playing is None:
            return EMPTY if has_display() else f"{EMPTY}\n\n{NO_DISPLAY}"
        if playing.status == "failed":
            sentence, hint = playing.fault
            return f"It could not be shown: {sentence}\n\n{hint or 'V records it to a film instead.'}"
        if not playing.is_on:
            return "Window closed, v opens it again." if has_display() else "Closed, v plays it again."
        if playing.state is None:
            return f"Opening {playing.request.title}…"
        if not viewer.wants_preview:
            return "It plays in its window. p shows it here too." if playing.state.window else "p shows it here."
        return why_no_colours(self.app, plain=self.workbench.plain) or playing.picture_fault

    def _ask_for_preview(self) -> None:
        playing = self.playing
        if playing is None or not playing.is_on:
            return
        width, height = self.query_one(Preview).pixels
        is_wanted = self._is_shown and self.workbench.viewer.wants_preview and not self._sentence()
        asked = (width, height, self._pace.fps) if is_wanted and min(width, height) >= _SMALLEST else None
        is_new = self._asked is None or self._asked[0] is not playing
        if is_new:
            self.query_one(Preview).clear()
        before = None if is_new or self._asked is None else self._asked[1]
        self._asked = (playing, asked)
        if asked == before:
            return
        if asked is None:
            self.workbench.viewer.order("preview", on=False)
        else:
            self.workbench.viewer.order("preview", width=asked[0], height=asked[1], fps=asked[2])

    def _show_frame(self, frame: Frame) -> None:
        if not self._is_shown:
            return
        fps = self._pace.fps
        if self._pace.may_draw():
            self._late = None
            self.query_one(Preview).show(frame)
        else:
            self._late = frame
        if fps != self._pace.fps:
            self._show_picture()
            self._ask_for_preview()

    def _show_late_frame(self) -> None:
        """Draw the last picture that the terminal did not take, lest one of a model at rest be missing."""
        if self._late is not None:
            self._show_frame(self._late)

    # What can be done.

    def can(self, command_id: str) -> bool | None:
        """Offer what makes sense for what plays, or played last."""
        playing, state = self.playing, self.state
        if command_id in _NEEDS_PLAYER:
            return True if state is not None else None
        if command_id in _NEEDS_PAST:
            return True if state is not None and playing is not None and playing.ready is not None else None
        if command_id in _NEEDS_LADDER:
            return True if state is not None and self._checkpoints else None
        if command_id == "run.evaluate" and state is not None and state.agent not in AGENTS:
            # In a state recording nobody acts.
            return None
        if command_id in _NEEDS_REQUEST:
            return True if playing is not None else None
        if command_id == "run.stop":
            return True if playing is not None and playing.is_on else None
        if command_id == "view.details":
            return self.has_class("-tiny")
        return super().can(command_id)

    def _order(self, name: str, /, **values: object) -> None:
        if self.state is not None:
            self.workbench.viewer.order(name, **values)

    def action_viewer_play(self) -> None:
        """Pause, or play on."""
        if self.state is not None:
            self._order("pause" if self.state.playing else "play")

    def action_move_left(self) -> None:
        """Go one step back."""
        self._order("step", n=-1)

    def action_move_right(self) -> None:
        """Go one step on."""
        self._order("step", n=1)

    def action_viewer_second_back(self) -> None:
        """Go one second back."""
        self._order("skip", seconds=-1)

    def action_viewer_second_on(self) -> None:
        """Go one second on."""
        self._order("skip", seconds=1)

    def action_viewer_slower(self) -> None:
        """Halve the speed."""
        if self.state is not None:
            self._order("speed", value=max(SLOWEST, self.state.speed / 2))

    def action_viewer_faster(self) -> None:
        """Double the speed."""
        if self.state is not None:
            self._order("speed", value=min(FASTEST, self.state.speed * 2))

    def action_viewer_seed_previous(self) -> None:
        """Play the seed before."""
        if self.state is not None and self.state.seed > 0:
            self._order("seed", value=self.state.seed - 1)

    def action_viewer_seed_next(self) -> None:
        """Play the next seed."""
        if self.state is not None and self.state.seed < HIGHEST_SEED:
            self._order("seed", value=self.state.seed + 1)

    def action_viewer_restart(self) -> None:
        """Play the episode from its start."""
        self._order("reset")

    def action_viewer_follow(self) -> None:
        """Take each new checkpoint at the next episode, or no more."""
        if self.state is not None:
            self._order("follow", on=not self.state.follow)

    def action_sample(self) -> None:
        """Let the policy sample its actions, or act greedily."""
        if self.state is not None:
            self._order("stochastic", on=not self.state.stochastic)

    def action_checkpoint_previous(self) -> None:
        """Let the checkpoint before act."""
        self._climb(-1)

    def action_checkpoint_next(self) -> None:
        """Let the checkpoint after act."""
        self._climb(1)

    def _climb(self, by: int) -> None:
        steps = sorted(row.steps for row in self._checkpoints)
        if self.state is None or not steps:
            return
        now = self.state.checkpoint
        if now is None:
            self._order("checkpoint", which=steps[-1])
            return
        there = [item for item in steps if (item - now) * by > 0]
        if there:
            self._order("checkpoint", which=min(there, key=lambda item: abs(item - now)))

    def action_take_checkpoint(self, steps: int) -> None:
        """Let one checkpoint act."""
        self._order("checkpoint", which=steps)

    @on(HistoryLine.Sought)
    def _seek(self, message: HistoryLine.Sought) -> None:
        self._order("seek", step=message.step)

    def action_viewer_preview(self) -> None:
        """Show it here, or hide it."""
        playing, viewer = self.playing, self.workbench.viewer
        if playing is None:
            return
        viewer.wants_preview = not (viewer.wants_preview and playing.is_on)
        if not playing.is_on:
            self._again(preview=True)
        self.show_state()

    def action_viewer_watch(self) -> None:
        """Open the window, or play again what was closed."""
        playing = self.playing
        if playing is None:
            return
        if not playing.is_on:
            self._again(preview=False)
        elif self.state is not None and self.state.window:
            self.notify("It plays in its window already. S closes it.")
        else:
            self.workbench.open_window()

    def _again(self, *, preview: bool) -> None:
        playing = self.playing
        if playing is not None:
            self.workbench.start_play(
                self.workbench.viewer.words(), playing.request.title, dict(playing.request.detail), preview=preview
            )

    def action_open_selected(self) -> None:
        """Ask what is to play."""
        from workbench.ui.screens.play import PlayTask

        self.app.push_screen(PlayTask(self.workbench.viewer.words()), self._play)

    def _play(self, words: list[str] | None) -> None:
        if words is not None:
            preview = self.workbench.viewer.wants_preview
            self.workbench.start_play(words, " ".join(words[1:2]), {"target": words[1]}, preview=preview)

    def action_viewer_record(self) -> None:
        """Film what plays."""
        playing = self.playing
        if playing is not None:
            words = self.workbench.viewer.words()
            environment = playing.request.detail.get("environment", "")
            self.workbench.record(words[1], playing.title, environment, flags=words[2:])

    def action_checkpoint_export(self) -> None:
        """Open the form of an export of the policy that plays."""
        playing = self.playing
        if playing is not None:
            self.workbench.export(self.workbench.viewer.words()[1], playing.title)

    def action_run_evaluate(self) -> None:
        """Open the form of an evaluation of what plays; where several do, of a comparison."""
        from workbench.ui.screens.judged import common_flags

        playing, words = self.playing, self.workbench.viewer.words()
        if playing is None:
            return
        played = targets(words)
        if len(played) > 1:
            self.workbench.compare_policies(played)
            return
        flags = common_flags(words)
        if self.state is not None and self.state.agent != "policy" and "--agent" not in flags:
            flags += ["--agent", self.state.agent]
        self.workbench.evaluate(words[1], playing.title, flags=flags)

    def action_run_montage(self) -> None:
        """Open the form of a montage of the run that plays."""
        from workbench.ui.screens.montage import MontageTask

        playing = self.playing
        if playing is None or self._run is None:
            return
        row = self.workbench.runs.snapshot.row(self._run)
        reference, what = (str(self._run), self._run.name) if row is None else (row.reference, row.title)
        task = MontageTask([reference], what, len(RunDirectory(self._run).checkpoints()))
        self.app.push_screen(task, lambda words: self.workbench.start_film(words, f"montage of {what}"))

    def action_run_new(self) -> None:
        """Open the form of a new run of the environment that plays."""
        playing = self.playing
        if playing is not None and playing.ready is not None:
            self.workbench.new_run_of(playing.ready.environment)

    def action_run_stop(self) -> None:
        """Close what plays."""
        self.workbench.viewer.stop()
        self.show_state()

    def action_copy_command(self) -> None:
        """Copy the command that plays what is shown."""
        self.workbench.copy_command(self.workbench.viewer.words())

    def action_view_details(self) -> None:
        """Change between picture and numbers, where only one fits."""
        self.toggle_class("-numbers")
        self.call_after_refresh(self._show_numbers)


def _status_words(playing: Playing | None, *, plain: bool) -> str:
    """Return how it goes with what plays, in a sign and a word or two."""
    if playing is None:
        return ""
    state = playing.state
    if playing.is_on:
        look, words = ("starting", "opening") if state is None else ("running", "playing")
        words = "window open" if state is not None and state.window else words
    elif playing.status == "failed":
        look, words = "failed", "failed"
    else:
        at = None if state is None else state.checkpoint
        look, words = "stopped", "closed" if at is None else f"closed at {amount(at)}"
    signs = STATE_LOOKS[look]
    return f"{signs.plain if plain else signs.glyph} {words}"
