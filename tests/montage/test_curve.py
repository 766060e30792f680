from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from PIL import Image

from tests.montage.fakes import SIZE, fake_recorder, make_run
from workbench.errors import NotFoundError
from workbench.montage import MontageRequest, make_montage
from workbench.montage.curve import Curve, CurveStrip, moving, read_curve
from workbench.montage.ffmpeg import probe, still
from workbench.montage.labels import DARK, LIGHT
from workbench.montage.timing import Pace
from workbench.project import Project
from workbench.runs import EventWriter, RunDirectory
from workbench.storyboard.selection import Choice, choose, describe_run


@pytest.fixture
def directory(project: Project) -> RunDirectory:
    directory = make_run(project.runs, [0, 1000, 2000])
    writer = EventWriter(directory.events_path)
    for steps, mean in ((0, 10.0), (1000, 30.0), (2000, 20.0)):
        writer.append("evaluation", steps=steps, mean_return=mean, std_return=0.0, returns=[mean])
    writer.close()
    return directory


def curve_of(directory: RunDirectory) -> Curve:
    run = describe_run(directory)
    return read_curve(run, choose(run, Choice(wanted=2)))


def value_of(expression: str, frame: float) -> float:
    """Work out an ffmpeg expression of the few forms that are used."""
    assert re.fullmatch(r"[-+*/().,0-9clipn]+", expression)
    scope = {"__builtins__": {}, "n": frame, "clip": lambda value, low, high: min(max(value, low), high)}
    return float(eval(expression, scope))


def test_the_curve_is_that_of_the_evaluations(directory: RunDirectory) -> None:
    curve = curve_of(directory)
    assert (curve.steps, curve.returns, curve.marks) == ((0, 1000, 2000), (10, 30, 20), (0, 2000))
    assert curve.at(500) == 20


def test_training_returns_stand_in_where_nothing_was_evaluated(project: Project) -> None:
    directory = make_run(project.runs, [0, 100])
    run = describe_run(directory)
    with pytest.raises(NotFoundError, match="no returns to draw"):
        read_curve(run, [])
    writer = EventWriter(directory.events_path)
    for steps, mean in ((50, 1.0), (75, float("nan")), (100, 3.0)):
        writer.append("metrics", steps=steps, wall_s=1.0, episodes=1, iteration=1, values={"rollout/ep_rew_mean": mean})
    writer.close()
    assert read_curve(run, []).returns == (1.0, 3.0)


def test_the_highest_return_is_highest_and_the_dot_is_inside(directory: RunDirectory) -> None:
    strip = CurveStrip([curve_of(directory)], (300, 100), 0.6)
    low, high, last = (strip.point(strip.curves[0], steps) for steps in (0, 1000, 2000))
    assert low[0] < high[0] < last[0] and high[1] < last[1] < low[1]
    half = strip.dots[0].width / 2
    assert half < low[1] < 100 - half and last[0] + half < 300


def test_every_one_of_nine_runs_has_a_colour_of_its_own(directory: RunDirectory) -> None:
    curve = curve_of(directory)
    runs = [dataclasses.replace(curve, run=dataclasses.replace(curve.run, label=str(number))) for number in range(9)]
    for ink in (DARK, LIGHT):
        strip = CurveStrip(runs, (300, 100), 0.6, ink=ink)
        assert len(set(strip.colours.values())) == len(strip.dots) == 9
        middle = strip.dots[4].getpixel((strip.dots[4].width // 2,) * 2)
        assert middle == pytest.approx((*strip.colours[runs[4].run], 255), abs=30)


def test_what_moves_goes_straight_and_waits() -> None:
    way = [(10.0, 5.0), (20.0, 25.0), (30.0, 25.0), (40.0, 0.0)]
    expected = {0: 5, 10: 5, 15: 15, 20: 25, 25: 25, 30: 25, 36: 10, 40: 0, 99: 0}
    assert {frame: value_of(moving(way), frame) for frame in expected} == pytest.approx(expected)


def brightest_column(picture: Path, top: int) -> int:
    with Image.open(picture) as image:
        part = image.convert("L").crop((0, top, image.width, image.height))
    bright = [x for y in range(part.height) for x in range(part.width) if part.getpixel((x, y)) > 225]  # type: ignore[operator]
    return sum(bright) // len(bright)


@pytest.mark.parametrize("layout", ["film", "grid"])
def test_the_dot_moves_from_the_first_clip_to_the_last(project: Project, directory: RunDirectory, layout: str) -> None:
    pace = Pace(head_s=0.2, tail_s=0.2, transition_s=0.2)
    request = MontageRequest(
        runs=(directory,),
        layout=layout,
        size=SIZE,
        choice=Choice(wanted=2),
        pace=pace,
        curve=True,  # type: ignore[arg-type]
    )
    film = make_montage(request, project, record=fake_recorder(seconds=0.5)).path
    info = probe(film)
    columns = []
    for frame in (0, info.frames - 1):
        picture = project.root / f"{frame}.png"
        still(film, info, frame, picture)
        columns.append(brightest_column(picture, info.height - 30))
    assert columns[0] < info.width * 0.3 and columns[1] > info.width * 0.85
