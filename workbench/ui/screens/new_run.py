"""The form of a new run: every field of the spec, the recipe's values, what is wrong, and the command that says it.

It answers with launches; the app puts them in the queue.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from workbench.errors import Problem
from workbench.formatting import plural
from workbench.runs import Launch
from workbench.specs import ALGORITHMS, Algorithm
from workbench.suggest import nearest
from workbench.ui.draft import Checked, Draft
from workbench.ui.footer import CommandFooter
from workbench.ui.jobs import shell_line
from workbench.ui.screen import Task
from workbench.ui.widgets.choice import Choice
from workbench.ui.widgets.form import FieldLine, FormSection

DEBOUNCE_S = 0.3
"""Fields are checked this long after the last key."""

TOP_HELP = {
    "algorithm": "PPO learns from fresh rollouts of many copies; SAC and TD3 from a replay buffer.",
    "seeds": "One run a seed, in one group: 1 2 3 or 1-5. Empty draws one, and records it.",
    "tags": "Words to find the runs by.",
    "find": "A part of a field's name; enter goes to it.",
}


class NewRunForm(Task[Sequence[Launch]]):
    """Answers with what to launch.

    Args:
        draft: What is filled in already.
    """

    TITLE = "New run"
    LABELS = {"task_go": "Launch"}
    CSS_PATH = "new_run.tcss"

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self.draft = draft
        self._base = draft.base()
        self._checked = Checked((), (), (), (), ())

    def compose(self) -> ComposeResult:
        """Put the form above a footer of its own: it needs the whole screen."""
        yield from super().compose()
        yield CommandFooter("task", labels=dict(self.LABELS), closing=("F1", "Help", "task_help"))

    def compose_body(self) -> ComposeResult:
        """Yield the fields, and what is said of them."""
        draft = self.draft
        with Horizontal(id="columns"):
            with VerticalScroll(id="fields", can_focus=False):
                with Horizontal(classes="top"):
                    yield Static("algorithm", classes="name")
                    yield Choice([name.upper() for name in ALGORITHMS], draft.algorithm.upper(), id="algorithm")
                with Horizontal(classes="top"):
                    yield Static("seeds", classes="name")
                    yield Input(draft.seeds, id="seeds", placeholder="drawn", compact=True)
                    yield Static("", id="seeds-aside", classes="aside")
                with Horizontal(classes="top"):
                    yield Static("tags", classes="name")
                    yield Input(draft.tags, id="tags", placeholder="none", compact=True)
                yield Vertical(id="sections")
            with Vertical(id="said"):
                yield Input(id="find", placeholder="find a field", compact=True)
                yield Static(id="help")
                yield Static(id="notes")
                yield Static(id="command")

    def on_mount(self) -> None:
        """Fill the sections; the first field has the focus."""
        self.card.border_title = self._title()
        self.query_one("#algorithm").focus()
        self.call_next(self._open)

    async def _open(self) -> None:
        await self._fill()
        self.check_soon(wait=False)

    def show_keys(self) -> None:
        """Leave the lower border to the problems: the keys are in the footer."""

    # Filling in.

    async def _fill(self) -> None:
        """Make the sections anew, for the algorithm there is."""
        container = self.query_one("#sections", Vertical)
        open_now = {section.section.name for section in self.query(FormSection) if section.is_open}
        changed = {key.partition(".")[0] for key in self.draft.edits}
        made: list[FormSection] = []
        for section in self.draft.sections():
            keys = [key for key, _ in section.rows]
            is_open = section.name in ({"top", "budget", "algorithm"} | open_now)
            is_open = is_open or any(key in self.draft.edits for key in keys) or section.name in changed
            values = {key: self.draft.value(key, self._base) for key in keys}
            made.append(FormSection(section, values, is_open=is_open))
        with self.app.batch_update():
            await container.remove_children()
            await container.mount(*made)

    @on(Choice.Changed, "#algorithm")
    async def _algorithm_chosen(self, event: Choice.Changed) -> None:
        chosen = cast("Algorithm", event.value.lower())
        if chosen == self.draft.algorithm:
            return
        self.draft, dropped = self.draft.with_algorithm(chosen)
        self._base = self.draft.base()
        await self._fill()
        if dropped:
            self.notify(f"{chosen.upper()} has no {', '.join(dropped)}: dropped.")
        self.check_soon()

    @on(Input.Changed, "#seeds")
    def _seeds_typed(self, event: Input.Changed) -> None:
        self._replace(seeds=event.value)

    @on(Input.Changed, "#tags")
    def _tags_typed(self, event: Input.Changed) -> None:
        self._replace(tags=event.value)

    def _replace(self, **changes: str) -> None:
        changed = replace(self.draft, **changes)  # type: ignore[arg-type]
        if changed != self.draft:
            self.draft = changed
            self.check_soon()

    @on(FieldLine.Edited)
    def _field_edited(self, event: FieldLine.Edited) -> None:
        changed = self.draft.edited(event.key, event.text, self._base)
        if changed != self.draft:
            self.draft = changed
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
        self._check(DEBOUNCE_S if wait else 0.0)

    @work(group="check", exclusive=True, exit_on_error=False, description="checking the form")
    async def _check(self, delay: float) -> None:
        await asyncio.sleep(delay)
        draft = self.draft
        checked = await asyncio.to_thread(draft.check)
        if draft is self.draft:
            self._take(checked)

    def _take(self, checked: Checked) -> None:
        self._checked = checked
        said: dict[str, Problem] = {}
        for problem in checked.problems:
            said.setdefault(problem.key, problem)
        texts = {key: self.draft.value(key, self._base) for key in self._base}
        for section in self.query(FormSection):
            section.take(
                said,
                edits=self.draft.edits,
                base=self._base,
                facts={key: self.draft.facts(key, texts) for key, _ in section.section.rows},
                from_recipe=self.draft.recipe is not None,
            )
        seeds = said.get("seeds")
        aside = f"{len(checked.seeds)} runs, one group" if len(checked.seeds) > 1 else ""
        self.query_one("#seeds-aside", Static).update(
            Content.styled(f"✗ {seeds.message}", "$error") if seeds else Content.styled(aside, "$muted")
        )
        self.card.border_title = self._title()
        self.card.border_subtitle = self._problem_line(checked)
        command = Content.styled("The command stands here once nothing is wrong.", "$muted")
        if checked.command:
            command = Content.assemble(("Same as ", "$muted"), shell_line(checked.command[1:]))
        self.query_one("#command", Static).update(command)
        self.query_one("#notes", Static).update(self._notes(checked))
        self._say_help()
        self.refresh_bindings()

    def _title(self) -> Content:
        runs = max(1, len(self._checked.seeds))
        changed = len(self.draft.edits)
        parts = ["New run", self.draft.entry.name, plural(runs, "run")]
        if changed:
            parts.append(f"{changed} changed")
        return Content(" · ".join(parts))

    def _problem_line(self, checked: Checked) -> Content:
        errors = checked.errors
        if errors:
            names = ", ".join(dict.fromkeys(item.key or "the run" for item in errors))
            return Content.styled(f"✗ {plural(len(errors), 'problem')}: {names}", "$error")
        count = len(checked.launches)
        return Content.styled(f"✓ ready: ctrl+g starts {'it' if count == 1 else f'all {count}'}", "$success")

    def _notes(self, checked: Checked) -> Content:
        """Say what no single field shows: warnings, problems of the whole, notes of the recipe."""
        keys = {*self._base, "seeds"}
        lines = [
            Content.styled(f"{'✗' if item.severity == 'error' else '!'} {_sentence(item)}",
                           "$error" if item.severity == "error" else "$warning")
            for item in checked.problems
            if item.severity == "warning" or item.key not in keys
        ]  # fmt: skip
        lines += [Content.styled(f"  {note}", "$muted") for note in checked.notes]
        return Content("\n").join(lines)

    # Help, one field at a time.

    def on_descendant_focus(self) -> None:
        """Explain the field that has the focus."""
        self._say_help()

    def _say_help(self) -> None:
        focused = self.focused
        text = Content("")
        if focused is not None:
            line = next((node for node in focused.ancestors_with_self if isinstance(node, FieldLine)), None)
            if line is not None:
                problem = next((item for item in self._checked.problems if item.key == line.key), None)
                remark = f" ({line.remark})" if line.remark else ""
                explanation = f" {line.row.doc} Must be {line.row.accepts}.{remark}"
                text = Content.assemble((f"{line.row.name}:", "bold"), explanation)
                if problem is not None:
                    style = "$error" if problem.severity == "error" else "$warning"
                    text = Content.assemble(text, "\n", (f"✗ {_sentence(problem)}", style))
            elif focused.id in TOP_HELP:
                text = Content.assemble((f"{focused.id}:", "bold"), f" {TOP_HELP[focused.id]}")
        self.query_one("#help", Static).update(text)
        self._keep_in_view()

    def on_resize(self) -> None:
        """Keep the field that has the focus in view."""
        self._keep_in_view()

    def _keep_in_view(self) -> None:
        # What is said below takes its rows from the fields, and only a layout tells how many.
        self.call_after_refresh(self._scroll_to_focus)

    def _scroll_to_focus(self) -> None:
        if self.focused is not None:
            self.focused.scroll_visible(animate=False)

    # Keys.

    def can(self, command_id: str) -> bool | None:
        """Offer to copy the command once there is one."""
        if command_id == "task.copy":
            return True if self._checked.command else None
        return super().can(command_id)

    async def action_task_go(self) -> None:
        """Launch, or go to the first problem."""
        checked = self.draft.check()
        self._take(checked)
        if not checked.errors:
            self.dismiss(checked.launches)
            return
        keys = [item.key for item in checked.errors]
        if "seeds" in keys:
            self.query_one("#seeds").focus()
        else:
            await self._focus_first(keys)

    def action_task_copy(self) -> None:
        """Copy the command as one line."""
        if self._checked.command:
            self.workbench.copy_command(self._checked.command[1:])

    def action_task_find(self) -> None:
        """Find a field by a part of its name."""
        box = self.query_one("#find", Input)
        box.value = ""
        box.add_class("-open")
        box.focus()

    def action_task_close(self) -> None:
        """Close the find field first, then the form; what was filled in is kept."""
        box = self.query_one("#find", Input)
        if box.has_class("-open"):
            box.remove_class("-open")
            self.query_one("#algorithm").focus()
        else:
            self.dismiss(None)

    def action_task_next_field(self) -> None:
        """Go to the next field."""
        self.focus_next()

    def action_task_previous_field(self) -> None:
        """Go to the field before."""
        self.focus_previous()

    async def _go_to(self, text: str) -> None:
        wanted = text.strip().lower()
        keys = list(self._base)
        found = [key for key in keys if wanted and wanted in key] or nearest(wanted, keys)
        if not found:
            self.notify(f"No field is called {text}.", severity="warning")
            return
        self.query_one("#find").remove_class("-open")
        await self._focus_first(found)

    async def _focus_first(self, keys: Sequence[str]) -> None:
        for section in self.query(FormSection):
            for key, _ in section.section.rows:
                if key in keys or any(name and key.startswith(f"{name}.") for name in keys):
                    await section.unfold()
                    section.line(key).editor.focus()
                    return


def _sentence(problem: Problem) -> str:
    near = f": try {problem.nearest}" if problem.nearest else ""
    return f"{problem.key} {problem.message}{near}".strip()
