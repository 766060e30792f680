"""The lines of the list of runs: groups that fold, sorting of groups, forks below their parent, what is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.ui import fakes
from workbench import durable
from workbench.project import Project
from workbench.runs import RunDirectory
from workbench.runs.filtering import Filter
from workbench.runs.ordering import Order
from workbench.runs.store import RunStore
from workbench.ui.drawn_runs import drawn
from workbench.ui.run_list import Line, Tree, Wish, arranged, group_key, still
from workbench.ui.watch import RunRow

Rows = Callable[[], list[RunRow]]


@pytest.fixture
def rows(project: Project) -> Rows:
    """Read the project's runs as the app does."""

    def read() -> list[RunRow]:
        store = RunStore(project.runs, clock=lambda: fakes.NOW)
        return [RunRow(**vars(summary)) for summary in store.list({"ppo.gamma"})]

    return read


def seeds(project: Project, *returns: float, group: str = "g1", name: str = "ant", start: int = 10) -> list[str]:
    ids = [f"{start + place:04x}" for place in range(len(returns))]
    for seed, (short_id, value) in enumerate(zip(ids, returns, strict=True), start=1):
        fakes.fake_run(project, name, short_id, seed=seed, returns=[value], group=group, total_steps=1000)
    return ids


def names(lines: list[Line]) -> list[str]:
    return [f"{line.row.env_name} x{len(line.members)}" if line.is_head else line.row.short_id for line in lines]


def test_seeds_fold_into_a_line_with_their_numbers_together(project: Project, rows: Rows) -> None:
    seeds(project, 0, 10, 20, 100)
    [head] = arranged(rows(), Wish(), ())
    assert head.is_head and not head.is_open and len(head.members) == 4
    # The interquartile mean of four numbers is the mean of the middle two.
    assert head.row.last_return == 15
    assert head.row.steps == 400 and head.row.total_steps == 4000 and head.row.progress == pytest.approx(0.1)
    unfolded = arranged(rows(), Wish(), {head.group})
    assert names(unfolded) == ["ant x4", "000a", "000b", "000c", "000d"]
    assert [line.depth for line in unfolded] == [0, 1, 1, 1, 1] and unfolded[-1].is_last
    assert len(arranged(rows(), Wish(tree=Tree.FLAT), {head.group})) == 4


def test_groups_are_sorted_by_what_stands_for_them(project: Project, rows: Rows) -> None:
    seeds(project, 0, 10, 20, 100)
    fakes.fake_run(project, "half", "aaaa", returns=[50])
    fakes.fake_run(project, "half", "bbbb", returns=[5])
    by_return = Wish(order=Order.parse("return"))
    assert names(arranged(rows(), by_return, ())) == ["aaaa", "ant x4", "bbbb"]
    worst_first = Wish(order=Order.parse("return", is_reversed=True))
    assert names(arranged(rows(), worst_first, ())) == ["bbbb", "ant x4", "aaaa"]


def test_a_group_that_the_filter_leaves_one_of_is_a_run(project: Project, rows: Rows) -> None:
    seeds(project, 1, 2)
    assert names(arranged(rows(), Wish(filter=Filter.parse("seed:2")), ())) == ["000b"]


def test_pinned_runs_stay_on_top_of_every_order(project: Project, rows: Rows) -> None:
    fakes.fake_run(project, "ant", "aaaa", returns=[9])
    worst = fakes.fake_run(project, "ant", "bbbb", returns=[1])
    durable.write_json(worst.annotations_path, {"is_on_top": True})
    for is_reversed in (False, True):
        assert names(arranged(rows(), Wish(order=Order.parse("return", is_reversed=is_reversed)), ()))[0] == "bbbb"


def test_forks_stand_below_their_parent_and_say_what_is_different(project: Project, rows: Rows) -> None:
    parent = fakes.fake_run(project, "ant", "aaaa", spec=spec(0.01), started=fakes.NOW - 900)
    fakes.fake_run(project, "ant", "cccc", started=fakes.NOW - 500)
    fakes.fake_run(project, "ant", "bbbb", spec=spec(0.0003, parent=f"{parent.name}:3000000"), started=fakes.NOW - 100)
    lines = arranged(rows(), Wish(tree=Tree.LINEAGE), ())
    assert [(line.row.short_id, line.depth) for line in lines] == [("aaaa", 0), ("bbbb", 1), ("cccc", 0)]
    assert "learning_rate 0.01 → 0.0003" in lines[1].change and lines[1].is_last


def spec(rate: float, **fields: object) -> dict[str, object]:
    return {"env_id": "Ant-v5", "algorithm": "ppo", "seed": 1, "ppo": {"learning_rate": rate}, **fields}


def test_lines_keep_their_places_and_new_ones_come_last(project: Project, rows: Rows) -> None:
    fakes.fake_run(project, "ant", "aaaa", started=fakes.NOW - 900)
    fakes.fake_run(project, "ant", "bbbb", started=fakes.NOW - 800)
    before = arranged(rows(), Wish(), ())
    fakes.fake_run(project, "ant", "cccc", started=fakes.NOW - 1)
    after = arranged(rows(), Wish(), ())
    assert names(after) == ["cccc", "bbbb", "aaaa"] and names(still(after, before)) == ["bbbb", "aaaa", "cccc"]


def test_what_is_live_is_drawn_else_what_is_marked_and_always_the_cursor(project: Project, rows: Rows) -> None:
    seeds(project, 1, 2, 3)
    ended = fakes.fake_run(project, "half", "aaaa", state="finished")
    lines = arranged(rows(), Wish(), ())
    head = next(line for line in lines if line.is_head)
    shown = drawn(lines, (), lines[-1])
    assert [line.key for line in shown.groups] == [head.key] and [row.short_id for row in shown.rows] == ["aaaa"]
    member = head.members[0]
    one = drawn(lines, {member.path}, None)
    assert one.rows == (member,) and not one.groups
    everything = drawn(lines, {row.path for row in head.members}, None)
    assert everything.groups == (head,) and not everything.rows
    assert not drawn(lines, {ended.path}, None).groups
    assert group_key(member) == head.key


def test_a_folder_without_a_record_is_a_line(project: Project, rows: Rows) -> None:
    RunDirectory(project.runs / "PPO" / "ant_20260101-000000_dddd").path.mkdir(parents=True)
    [line] = arranged(rows(), Wish(), ())
    assert line.row.problem


@pytest.mark.parametrize(("tool", "silent_s", "is_drawn"), [("sb3", 60, True), ("sb3", 700, False), ("", 700, True)])
def test_a_run_of_another_tool_that_is_long_silent_is_not_drawn_unasked(
    project: Project, rows: Rows, tool: str, silent_s: float, is_drawn: bool
) -> None:
    fakes.fake_run(project, "ant", "aaaa")
    [row] = (replace(item, silent_s=silent_s, tool=tool) for item in rows())
    line = Line(row, (row,))
    assert drawn([line], (), None).rows == ((row,) if is_drawn else ())
    assert drawn([line], {row.path}, None).rows == drawn([line], (), line).rows == (row,)
