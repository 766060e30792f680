from __future__ import annotations

from pathlib import Path

import pytest

from tests.montage.fakes import make_run, shown_of
from workbench.storyboard.arrangement import By, Take, arrange, takes_of
from workbench.storyboard.layout import lay_out


@pytest.fixture
def takes(tmp_path: Path) -> list[Take]:
    """Two runs of PPO with two and three checkpoints, and one of SAC with one, each from two seeds."""
    one = make_run(tmp_path, [0, 10], name="ant_20260101-120000_aaaa")
    two = make_run(tmp_path, [0, 10, 20], name="ant_20260101-120000_bbbb")
    other = make_run(tmp_path, [5], name="ant_20260101-120000_cccc", algorithm="SAC")
    return takes_of([shown for run in (one, two, other) for shown in shown_of(run)], [7, 8])


def drawn(takes: list[Take], by: By | None) -> list[list[str]]:
    places = arrange(takes, by)
    assert places is not None and len(set(places)) == len(takes)
    rows = [["" for _ in range(1 + max(column for _, column in places))] for _ in range(1 + max(r for r, _ in places))]
    for take, (row, column) in zip(takes, places, strict=True):
        rows[row][column] = f"{take.shown.run.directory.short_id[0]}{take.shown.steps}/{take.seed}"
    return rows


def test_a_column_is_a_seed_where_there_are_several(takes: list[Take]) -> None:
    assert drawn(takes, None) == [
        ["a0/7", "a0/8"],
        ["a10/7", "a10/8"],
        ["b0/7", "b0/8"],
        ["b10/7", "b10/8"],
        ["b20/7", "b20/8"],
        ["c5/7", "c5/8"],
    ]


def test_a_column_is_a_checkpoint_and_a_row_a_run_otherwise(takes: list[Take]) -> None:
    assert drawn([take for take in takes if take.seed == 7], None) == [
        ["a0/7", "a10/7", ""],
        ["b0/7", "b10/7", "b20/7"],
        ["c5/7", "", ""],
    ]


def test_a_column_is_whatever_was_asked_for(takes: list[Take]) -> None:
    assert drawn(takes, "checkpoint")[:2] == [["a0/7", "a10/7", ""], ["a0/8", "a10/8", ""]]
    assert drawn(takes, "run")[:3] == [["a0/7", "b0/7", "c5/7"], ["a0/8", "b0/8", "c5/8"], ["a10/7", "b10/7", ""]]
    assert drawn([take for take in takes if take.seed == 8], "algorithm") == [
        ["a0/8", "c5/8"],
        ["a10/8", ""],
        ["b0/8", ""],
        ["b10/8", ""],
        ["b20/8", ""],
    ]


def test_a_column_is_a_training_seed_where_all_are_played_alike(tmp_path: Path) -> None:
    runs = [
        make_run(tmp_path, [0, 10], name=f"ant_20260101-120000_{4 * letter}", algorithm=algorithm, seed=seed)
        for letter, algorithm, seed in (("a", "PPO", 1), ("b", "PPO", 2), ("c", "SAC", 2), ("d", "PPO", 2))
    ]
    takes = takes_of([shown for run in runs for shown in shown_of(run)], [7])
    assert drawn(takes, "seed") == [
        ["a0/7", "b0/7"],
        ["a10/7", "b10/7"],
        ["", "d0/7"],
        ["", "d10/7"],
        ["", "c0/7"],
        ["", "c10/7"],
    ]


def test_one_run_has_any_shape_unless_columns_mean_something(takes: list[Take]) -> None:
    alone = [take for take in takes if take.shown.run == takes[0].shown.run and take.seed == 7]
    assert arrange(alone) is None
    assert drawn(alone, "run") == [["a0/7"], ["a10/7"]]


def test_a_checkpoint_that_is_shown_twice_has_two_cells(takes: list[Take]) -> None:
    shown = takes[0].shown
    assert drawn(takes_of([shown, shown], [1, 2]), None) == [["a0/1", "a0/2"], ["a0/1", "a0/2"]]


def test_cells_lie_where_they_are_put_and_others_stay_empty() -> None:
    layout = lay_out(3, (160, 120), places=[(0, 0), (0, 2), (1, 0)])
    first, last, below = layout.cells
    assert first.y == last.y < below.y and first.x == below.x
    full = lay_out(6, (160, 120), columns=3)
    assert (layout.width, layout.height) == (full.width, full.height)
    assert [layout.cells[0], layout.cells[1], layout.cells[2]] == [full.cells[0], full.cells[2], full.cells[3]]
