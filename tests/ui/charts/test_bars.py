"""Parts of a whole as bars."""

from __future__ import annotations

import numpy as np

from workbench.ui.charts.bars import draw_bars
from workbench.ui.charts.model import Bar, Bars
from workbench.ui.past import Points
from workbench.ui.run_bars import ending_bars, term_bars


def text(content: Bars, width: int, height: int = 8, *, plain: bool = False) -> list[str]:
    rows = draw_bars(content, width, height, plain=plain)
    assert len(rows) == height and all(len(row) == width for row in rows)
    return ["".join(cell.sign for cell in row).replace("\u00a0", " ").rstrip() for row in rows]


def points(*values: float, episodes: int = 50) -> Points:
    places = np.arange(1.0, len(values) + 1)
    return Points(places * 1000, places, places * episodes, np.array(values))


TERMS = {
    "reward/forward_sum": points(0, 100, 700, 900),
    "reward/forward_mean": points(0, 0.2, 1, 1.2),
    "reward/forward_std": points(0.1, 0.1, 0.3, 0.3),
    "reward/ctrl_sum": points(0, 0, -100, -300),
    "reward/ctrl_mean": points(0, 0, -0.1, -0.3),
}
LETTERS = [("forward", "f"), ("ctrl", "c")]


def test_terms_are_means_over_the_last_hundred_episodes() -> None:
    found = term_bars(TERMS, LETTERS)
    assert found is not None
    # (700 + 900) / 2 = 800 and (−100 − 300) / 2 = −200 make a return of 600.
    assert [bar.share for bar in found.bars] == [800 / 600, -200 / 600]
    assert [bar.facts for bar in found.bars] == [("+1.1 ± 0.3", "+800"), ("−0.2", "−200")]
    assert found.note.replace("\u00a0", " ") == "return 600, the last 100 episodes"
    shown = text(found, 80)
    assert shown[0].split() == ["a", "step", "an", "episode", "trend"]
    assert "133 %" in shown[1] and shown[1].endswith("▓" * 24) and shown[2].endswith("░" * 6)


def test_terms_that_cancel_out_have_no_shares() -> None:
    found = term_bars({"reward/a_sum": points(100.0), "reward/b_sum": points(-100.0)}, [("a", "a"), ("b", "b")])
    assert found is not None and [bar.share for bar in found.bars] == [None, None]
    assert "cancel out" in found.note and "–" in text(found, 60)[1]
    assert term_bars({}, LETTERS) is None


def test_endings_are_shares_of_the_last_hundred_episodes() -> None:
    series = {"terminated/unhealthy": points(50, 30, 12), "truncated/time_limit": points(0, 20, 38)}
    found = ending_bars(series, [("terminated/unhealthy", "u"), ("truncated/time_limit", "t")])
    assert found is not None and [bar.share for bar in found.bars] == [0.42, 0.58]
    assert found.bars[0].facts == ("terminated", "42")
    assert "the last 100 episodes   success not defined" in found.note.replace("\u00a0", " ")
    told = ending_bars({**series, "info/is_success_mean": points(0, 0.5, 0.7)}, [("terminated/unhealthy", "u")])
    assert told is not None and told.note.endswith("success 60\u00a0%")


def test_what_there_is_no_room_for_goes() -> None:
    found = term_bars(TERMS, LETTERS)
    assert found is not None
    for width in (12, 20, 36, 50):
        text(found, width, 3)
    assert "▓" not in text(found, 20)[1] and "forward" in text(found, 20)[1]


def test_without_signs_of_its_own_a_terminal_gets_ascii() -> None:
    found = term_bars(TERMS, LETTERS)
    assert found is not None
    shown = "\n".join(text(found, 76, plain=True))
    assert "####" in shown and "----" in shown and "▓" not in shown and "▁" not in shown


def test_nothing_has_no_bars() -> None:
    assert text(Bars(("kind",), (Bar("a", "alone", None, facts=("x",)),)), 30)[1].split()[:2] == ["a", "alone"]


def test_how_long_episodes_were_is_told_by_their_ending_as_often_as_they_ended_so() -> None:
    steps = np.array([1000.0, 3000.0])
    series = {
        "terminated/unhealthy": points(3, 0, 1, episodes=4),
        "truncated/time_limit": points(1, 4, 3, episodes=4),
        # The second row has no episode that ended so, and tells no length.
        "length/unhealthy": Points(steps, steps, steps, np.array([100.0, 300.0])),
        "length/time_limit": points(1000, 1000, 1000),
    }
    found = ending_bars(series, [("terminated/unhealthy", "u"), ("truncated/time_limit", "t")])
    assert found is not None and found.heads == ("kind", "episodes", "mean length")
    # Three of 100 and one of 300 steps.
    assert [bar.facts[2] for bar in found.bars] == ["150", "1\u00a0000"]
