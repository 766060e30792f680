"""What the form of a new run says beside its fields: where they come from, what is wrong, what is worth knowing.

Pure functions from a draft and what came of checking it to text.
"""

from __future__ import annotations

from collections.abc import Collection

from textual.content import Content

from workbench.errors import Problem
from workbench.formatting import amount, plural
from workbench.specs import ALGORITHMS, FieldRow
from workbench.ui.draft import START, Checked, Draft, Section

TOP_HELP = {
    "algorithm": "PPO learns from fresh rollouts of many copies; SAC and TD3 from a replay buffer.",
    "seeds": "One run a seed, all of them one group: 1 2 3 or 1-5. Empty draws one, and records it.",
    START: "Checkpoint to go on from: a path, RUN, RUN:best, RUN:latest or RUN:STEPS. Empty starts untrained.",
    "tags": "Words to find the runs by.",
}
_LABELS = {START: "start from"}
_EMPTY = {"seeds": "drawn", START: "untrained", "tags": "none"}
"""What an empty field means."""


def top_section(draft: Draft) -> Section:
    """Return the part of the form that has no title."""
    copies = draft.sections()[0].rows
    rows = {
        key: FieldRow(_LABELS.get(key, key), "choice" if key == "algorithm" else "text", _EMPTY.get(key), "",
                      tuple(name.upper() for name in ALGORITHMS) if key == "algorithm" else (), doc)
        for key, doc in TOP_HELP.items()
    }  # fmt: skip
    ordered = [("algorithm", rows["algorithm"]), *copies, *((key, rows[key]) for key in ("seeds", START, "tags"))]
    return Section("top", "", tuple(ordered))


def top_values(draft: Draft) -> dict[str, str]:
    """Return what the fields of that part show that are no fields of the spec."""
    return {"algorithm": draft.algorithm.upper(), "seeds": draft.seeds, START: draft.start, "tags": draft.tags}


def top_facts(draft: Draft, checked: Checked) -> dict[str, str]:
    """Return what follows from these fields."""
    facts = {"seeds": f"{len(checked.seeds)} runs, one group" if len(checked.seeds) > 1 else ""}
    if draft.fork is not None:
        fork = draft.fork
        facts[START] = f"{fork.env_name} after {amount(fork.steps)} steps, {fork.algorithm.upper()}"
    return facts


def heading(draft: Draft) -> str:
    """Return what the form is of."""
    if draft.fork is not None:
        return "Fork"
    return f"New run like {draft.like}" if draft.like else "New run"


def about(draft: Draft) -> Content:
    """Return the environment, and where the values come from that nobody typed."""
    entry, recipe = draft.entry, draft.recipe
    if draft.forked is not None and draft.fork is not None:
        run = draft.fork.run
        source = "as the checkpoint was trained" if run is None else f"as in {run.name}"
    elif recipe is None:
        source = "none: Stable-Baselines3's defaults"
    else:
        home = "shipped" if entry.origin == "workbench" else "this project"
        missing = "" if draft.algorithm in recipe.algorithms else f", which has nothing for {draft.algorithm.upper()}"
        source = f"{home} · {recipe.path.name}{missing}"
    return Content.assemble(
        ("environment ", "$muted"), (entry.name, "bold"), (f"  {entry.env_id}\n", "$muted"),
        ("recipe      ", "$muted"), source,
    )  # fmt: skip


def state_line(checked: Checked) -> Content:
    """Return what stands on the lower border: whether it can be launched, else what is wrong."""
    errors = checked.errors
    if errors:
        names = ", ".join(dict.fromkeys(item.key or "the run" for item in errors))
        return Content.styled(f"✗ {plural(len(errors), 'problem')}: {names}", "$error")
    count = len(checked.launches)
    return Content.styled(f"✓ ready: ctrl+g starts {'it' if count == 1 else f'all {count}'}", "$success")


def notes(checked: Checked, fields: Collection[str]) -> Content:
    """Return what no single field shows: warnings, problems of the whole, notes of the recipe."""
    lines = [
        Content.styled(f"{_sign(item)} {_sentence(item)}", _colour(item))
        for item in checked.problems
        if item.severity == "warning" or item.key not in fields
    ]
    lines += [Content.styled(f"  {note}", "$muted") for note in checked.notes]
    return Content("\n").join(lines)


def help_of(row: FieldRow, remark: str, problem: Problem | None) -> Content:
    """Return what a field is, what it takes, and what is wrong with it."""
    accepts = "" if row.name in {*TOP_HELP, *_LABELS.values()} else f" Must be {row.accepts}."
    said = Content.assemble((f"{row.name}:", "bold"), f" {row.doc}{accepts}", f" ({remark})" if remark else "")
    if problem is None:
        return said
    return Content.assemble(said, "\n", (f"{_sign(problem)} {_sentence(problem)}", _colour(problem)))


def _sign(problem: Problem) -> str:
    return "✗" if problem.severity == "error" else "!"


def _colour(problem: Problem) -> str:
    return "$error" if problem.severity == "error" else "$warning"


def _sentence(problem: Problem) -> str:
    near = f": try {problem.nearest}" if problem.nearest else ""
    return f"{_LABELS.get(problem.key, problem.key)} {problem.message}{near}".strip()
