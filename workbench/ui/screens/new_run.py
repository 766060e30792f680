"""The form of a new run: every field of the spec, what it is like before, what is wrong, and the command that says it.

It answers with launches; the app puts them in the queue.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import ScrollableContainer, Vertical, VerticalScroll
from textual.content import Content
from textual.css.query import NoMatches
from textual.widgets import Input, Static

from workbench.catalog import Description
from workbench.errors import Problem
from workbench.formatting import plural
from workbench.runs import Launch
from workbench.specs import ALGORITHMS, Algorithm
from workbench.suggest import nearest
from workbench.ui.draft import START, Checked, Draft
from workbench.ui.footer import CommandFooter
from workbench.ui.fuzzy import ranked
from workbench.ui.jobs import shell_line
from workbench.ui.screen import Task
from workbench.ui.screens import new_run_text as texts
from workbench.ui.signs import shown
from workbench.ui.trial import Trial
from workbench.ui.widgets.form import FieldLine, FormSection

DEBOUNCE_S = 0.3
"""Fields are checked this long after the last key."""
BESIDE = 120
"""Columns from which what is said stands beside the fields, and has lines enough."""
WIDE = 160
"""Columns from which the fields of the algorithm have a column of their own, and so start unfolded."""
_FOUND_SHOWN = 6


class NewRunForm(Task[Sequence[Launch]]):
    """Answers with what to launch.

    Args:
        draft: What is filled in already.
        typed: Keys that came before, and go to the first field.
    """

    TITLE = "New run"
    CSS_PATH = "new_run.tcss"

    def __init__(self, draft: Draft, *, typed: Sequence[events.Key] = ()) -> None:
        super().__init__()
        self._typed: list[events.Key] | None = list(typed)
        """Keys that wait for the first field; None once it has the focus."""
        self.draft = draft
        self._labels = {"task_go": "Launch", "task_try": "Dry run", "task_find": "Find"}
        self._base = draft.base()
        self._checked = Checked((), (), (), (), ())
        self._problems: Mapping[str, Problem] = {}
        self._sought = draft.start.strip()
        self._description: Description | None = None
        """What was known of the environment when the form was checked last."""
        self.trial = Trial(self, self.show_trial)

    def compose(self) -> ComposeResult:
        """Put the form above a footer of its own: it needs the whole screen."""
        yield from super().compose()
        yield CommandFooter("task", labels=self._labels, closing=("F1", "", "task_help"))

    def compose_body(self) -> ComposeResult:
        """Yield the fields, and what is said of them."""
        with ScrollableContainer(id="columns", can_focus=False):
            with ScrollableContainer(id="fields", can_focus=False):
                with ScrollableContainer(id="first", can_focus=False):
                    yield Static(id="of")
                    yield Vertical(id="first-sections")
                yield ScrollableContainer(id="rest", can_focus=False)
            with VerticalScroll(id="said", can_focus=False):
                yield Input(id="find", placeholder="a part of a field's name", compact=True)
                yield Static(id="help")
                yield Static(id="notes")
                yield Static(id="trial")
                yield Static(id="command")

    def on_mount(self) -> None:
        """Fill the sections; the first field has the focus."""
        self.card.border_title = self._title()
        self.workbench.runs_changed.subscribe(self, lambda _: self.trial.look_again())
        self.workbench.library_changed.subscribe(self, lambda _: self._described())
        self.call_next(self._open)

    async def _open(self) -> None:
        await self._fill()
        self.set_focus(self._line("algorithm").editor)
        waiting, self._typed = self._typed or [], None
        for event in waiting:
            again = events.Key(event.key, event.character)
            # What a screen sends does not reach the keys of that screen and of the app.
            again.set_sender(self.app)
            self.app.post_message(again)
        self.check_soon(wait=False)

    def on_key(self, event: events.Key) -> None:
        """Keep what is typed for the first field until that is there."""
        if self._typed is not None and event.is_printable:
            event.stop()
            self._typed.append(event)

    def show_keys(self) -> None:
        """Leave the lower border to the problems: the keys are in the footer."""

    # Filling in.

    async def _fill(self) -> None:
        """Make the sections anew, for the algorithm and the start there are."""
        first, rest = self.query_one("#first-sections", Vertical), self.query_one("#rest", ScrollableContainer)
        opened = {section.section.name for section in self.query(FormSection) if section.is_open}
        opened |= {"top", "budget"} if self.size.width < WIDE else {"top", "budget", "algorithm"}
        values = self._values() | texts.top_values(self.draft)
        made = [
            FormSection(section, values, is_open=section.name in opened)
            for section in (texts.top_section(self.draft), *self.draft.sections()[1:])
        ]
        with self.app.batch_update():
            await first.remove_children()
            await rest.remove_children()
            await first.mount(*made[:2])
            await rest.mount(*made[2:])
        self.query_one("#of", Static).update(self._shown(texts.about(self.draft)))

    def _values(self) -> dict[str, str]:
        return {key: self.draft.value(key, self._base) for key in self._base}

    @on(FieldLine.Edited)
    async def _field_edited(self, event: FieldLine.Edited) -> None:
        event.stop()
        draft = self.draft
        match event.key:
            case "algorithm":
                await self._choose(cast("Algorithm", event.text.lower()))
                return
            case "seeds":
                draft = replace(draft, seeds=event.text)
            case "tags":
                draft = replace(draft, tags=event.text)
            case key if key == START:
                draft = replace(draft, start=event.text)
            case key if key in draft.rows():
                draft = draft.edited(key, event.text, self._base)
            case _:
                pass  # A field of the algorithm before, filled in after it went.
        if draft != self.draft:
            self.draft = draft
            self.check_soon()

    async def _choose(self, algorithm: Algorithm) -> None:
        """Change to another algorithm, keep what both have, and name what was dropped."""
        if algorithm == self.draft.algorithm:
            return
        self.draft, dropped = self.draft.with_algorithm(algorithm)
        self._base = self.draft.base()
        await self._fill()
        self._line("algorithm").editor.focus()
        if dropped:
            self.notify(f"{algorithm.upper()} has no {', '.join(dropped)}: dropped.")
        self.check_soon()

    @on(Input.Submitted)
    async def _next(self, event: Input.Submitted) -> None:
        if event.input.id == "find":
            await self._go_to(event.value)
        else:
            self.focus_next()

    # Checking.

    def check_soon(self, *, wait: bool = True) -> None:
        """Check everything a little after the last key."""
        self.trial.outdate()
        self._check(DEBOUNCE_S if wait else 0.0)

    def _described(self) -> None:
        """Check again where the environment has been described meanwhile."""
        if self.workbench.library.description(self.draft.entry.name) is not self._description:
            self._check(DEBOUNCE_S)

    @work(group="check", exclusive=True, exit_on_error=False, description="checking the form")
    async def _check(self, delay: float) -> None:
        await asyncio.sleep(delay)
        await self._check_now()

    async def _check_now(self) -> Checked | None:
        """Look up the checkpoint that was named, and check; nothing where something else was typed meanwhile."""
        await self._find_start()
        draft, description = self.draft, self.workbench.library.description(self.draft.entry.name)
        self._description = description
        checked = await asyncio.to_thread(draft.check, description)
        if draft is not self.draft:
            return None
        self._take(checked)
        self.trial.consider(checked, (0, 0) if draft.fork is None else (draft.fork.steps, draft.fork.iteration))
        return checked

    async def _find_start(self) -> None:
        """Fill the form in from another checkpoint, where another was named."""
        from workbench.ui.origins import find_start

        wanted = self.draft.start.strip()
        if wanted == self._sought:
            return
        fork, fault = await asyncio.to_thread(find_start, wanted, self.workbench.runs_root)
        if self.draft.start.strip() != wanted:
            return
        self._sought = wanted
        draft = replace(self.draft, fork=fork, start_fault=fault)
        if fork is not None and fork.algorithm in ALGORITHMS and fork.algorithm != draft.algorithm:
            draft, _ = draft.with_algorithm(fork.algorithm)
            self.notify(f"{fork.algorithm.upper()} trained that checkpoint, so it trains on.")
        is_alike = (draft.forked, draft.algorithm) == (self.draft.forked, self.draft.algorithm)
        self.draft = draft
        if not is_alike:
            focused = self._focused_line()
            self._base = draft.base()
            await self._fill()
            if focused is not None:
                self._line(focused.key).editor.focus()

    def _take(self, checked: Checked) -> None:
        self._checked = checked
        said: dict[str, Problem] = {}
        for problem in (*checked.errors, *checked.problems):
            said.setdefault(problem.key, problem)
        self._problems = said
        facts = self.draft.facts(self._values()) | texts.top_facts(self.draft, checked)
        for section in self.query(FormSection):
            section.take(
                said,
                edits=self.draft.edits,
                base=self._base | texts.top_values(self.draft),
                facts=facts,
                source=self.draft.source,
            )
        count = len(checked.launches)
        self._labels["task_go"] = f"Launch {count}" if count > 1 else "Launch"
        self.card.border_title = self._title()
        self.card.border_subtitle = self._shown(texts.state_line(checked))
        self.query_one("#command", Static).update(self._command())
        notes = texts.notes(checked, {*self._base, *texts.TOP_HELP})
        self.query_one("#notes", Static).update(self._shown(notes))
        self.query_one("#notes").display = bool(notes.plain)
        self.query_one("#of", Static).update(self._shown(texts.about(self.draft)))
        self._say_help()
        self.refresh_bindings()

    def _command(self) -> Content:
        if not self._checked.command:
            return Content.styled("The command stands here once nothing is wrong.", "$muted")
        return Content.assemble(("Same as ", "$muted"), shell_line(self._checked.command[1:]))

    def _title(self) -> Content:
        runs = max(1, len(self._checked.seeds))
        parts = [texts.heading(self.draft), self.draft.entry.name, plural(runs, "run")]
        if self.draft.edits:
            parts.append(f"{len(self.draft.edits)} changed")
        return self._shown(Content(" · ".join(parts)))

    def _shown(self, text: Content) -> Content:
        return shown(text, plain=self.workbench.plain)

    def show_trial(self) -> None:
        """Show what the dry run says."""
        text = self.trial.text(stacked=self.size.width >= BESIDE)
        self.query_one("#trial", Static).update(self._shown(text))
        self.query_one("#trial").display = bool(text.plain)
        self._keep_in_view()

    # Help, one field at a time.

    def on_descendant_focus(self) -> None:
        """Explain the field that has the focus."""
        self._say_help()

    def _focused_line(self) -> FieldLine | None:
        nodes = () if self.focused is None else self.focused.ancestors_with_self
        return next((node for node in nodes if isinstance(node, FieldLine)), None)

    def _say_help(self) -> None:
        line = self._focused_line()
        if line is not None:
            said = texts.help_of(line.row, line.remark, self._problems.get(line.key))
            self.query_one("#help", Static).update(self._shown(said))
        elif self.focused is None or self.focused.id != "find":
            self.query_one("#help", Static).update("")
        self._keep_in_view()

    def on_resize(self) -> None:
        """Keep the field that has the focus in view."""
        self.show_trial()

    def _keep_in_view(self) -> None:
        # What is said below takes its rows from the fields, and only a layout tells how many.
        self.call_after_refresh(self._scroll_to_focus)

    def _scroll_to_focus(self) -> None:
        if self.focused is not None:
            self.focused.scroll_visible(animate=False)

    # Keys.

    def can(self, command_id: str) -> bool | None:
        """Offer to copy the command and to measure once nothing is wrong."""
        if command_id in ("task.copy", "task.try"):
            return True if self._checked.command else None
        return super().can(command_id)

    @work(group="go", exclusive=True, exit_on_error=False, description="checking the form")
    async def action_task_go(self) -> None:
        """Launch, or go to the first problem."""
        checked = await self._check_now()
        if checked is None:
            return
        if not checked.errors:
            self.dismiss(checked.launches)
            return
        await self._focus_first([item.key for item in checked.errors])

    def action_task_try(self) -> None:
        """Measure now, whether a core is free or not."""
        self.trial.start()

    def action_task_copy(self) -> None:
        """Copy the command as one line."""
        if self._checked.command:
            self.workbench.copy_command(self._checked.command[1:])

    def action_task_find(self) -> None:
        """Find a field by a part of its name."""
        box = self.query_one("#find", Input)
        self._came_from = self.focused
        box.value = ""
        box.add_class("-open")
        box.focus()
        self._show_found("")

    def action_task_close(self) -> None:
        """Close the find field first, then the form; what was filled in is kept."""
        box = self.query_one("#find", Input)
        if not box.has_class("-open"):
            self.dismiss(None)
            return
        box.remove_class("-open")
        self.set_focus(self._came_from)

    def action_task_next_field(self) -> None:
        """Go to the next field."""
        self.focus_next()

    def action_task_previous_field(self) -> None:
        """Go to the field before."""
        self.focus_previous()

    @on(Input.Changed, "#find")
    def _find_typed(self, event: Input.Changed) -> None:
        event.stop()
        self._show_found(event.value)

    def _found(self, text: str) -> Mapping[str, str]:
        """Return the fields that are meant, by key, with what says why."""
        labels = {key: key.removeprefix("stop_criteria.") for key in (*texts.TOP_HELP, *self._base)}
        return {key: labels[key] for key in ranked(text.strip(), labels)}

    def _show_found(self, text: str) -> None:
        found = list(self._found(text).values())
        more = f"  and {len(found) - _FOUND_SHOWN} more" if len(found) > _FOUND_SHOWN else ""
        said = "  ".join(found[:_FOUND_SHOWN]) + more if found else f"No field of {self.draft.algorithm.upper()} fits."
        self.query_one("#help", Static).update(Content.assemble(("enter goes to ", "$muted"), said))

    async def _go_to(self, text: str) -> None:
        wanted = text.strip().lower()
        found = list(self._found(wanted)) if wanted else []
        if not found:
            close = nearest(wanted, list(self._base))
            near = f"; nearest {close[0]}" if close else ""
            self.notify(f"{text} is not a {self.draft.algorithm.upper()} field{near}.", severity="warning")
            found = close[:1]
        if found:
            self.query_one("#find").remove_class("-open")
            await self._focus_first(found[:1])

    async def _focus_first(self, keys: Sequence[str]) -> None:
        """Go to the first field that one of these is the key of, or is in the part of the spec that one names."""
        for section in self.query(FormSection):
            for key, _ in section.section.rows:
                if key in keys or any(name and key.startswith(f"{name}.") for name in keys):
                    await section.unfold()
                    section.line(key).editor.focus()
                    return

    def _line(self, key: str) -> FieldLine:
        found = [line for line in self.query(FieldLine) if line.key == key]
        if not found:
            raise NoMatches(key)
        return found[0]
