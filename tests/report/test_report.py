"""A report in both formats: numbers from the runs' files, nothing loaded from anywhere, nothing that acts."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.ui.fakes import fake_run
from workbench.cli import main
from workbench.project import Project
from workbench.report.blocks import Code, Heading, Table, Text
from workbench.report.html import write_html
from workbench.report.markdown import write_markdown
from workbench.report.plot import Level, Line, draw
from workbench.runs.directory import RunDirectory

SVG = "{http://www.w3.org/2000/svg}"
LAST_RETURNS = (100.0, 200.0, 400.0, 900.0)


class Page(HTMLParser):
    """Collects what a browser would fetch or run, and the cells of tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "data")]
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag == "tr":
            self.rows.append([])

    def handle_data(self, data: str) -> None:
        if self.rows and self.tags[-1] in ("td", "th"):
            self.rows[-1].append(data)


def report(project: Project, *words: str) -> int:
    return main(["report", "--project", str(project.root), "--no-montage", *words])


def evaluation(steps: int, mean: float, bound: float) -> dict[str, object]:
    returns = [mean - 10, mean + 10]
    return {
        "kind": "evaluation", "steps": steps, "mean_return": mean, "std_return": 10.0, "lower_bound": bound,
        "mean_length": 500.0, "returns": returns, "endings": {"unhealthy": 2}, "taken": steps,
    }  # fmt: skip


@pytest.fixture
def seeds(project: Project) -> list[RunDirectory]:
    """Four seeds of one launch."""
    return [
        fake_run(
            project,
            short_id=f"00a{seed}",
            state="finished",
            seed=seed,
            group="g",
            returns=[10.0, 50.0, last],
            total_steps=3000,
            events=[evaluation(1000, last / 2, 0.4 * last), evaluation(2000, 2 * last, 1.9 * last)],
        )
        for seed, last in enumerate(LAST_RETURNS, start=1)
    ]


def test_the_table_holds_the_interquartile_mean_of_the_seeds(
    project: Project, seeds: list[RunDirectory], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "r.html"
    assert report(project, "00a1", "--group", "-o", str(file), "--title", "Week 48", "--json") == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    # Of four scores the lowest and the highest are left out.
    assert row["training_return"]["value"] == pytest.approx((200 + 400) / 2, abs=1e-9)
    assert row["best_evaluation"]["value"] == pytest.approx((400 + 800) / 2, abs=1e-9)
    assert row["training_return"]["low"] < 300 < row["training_return"]["high"]
    page = Page(file.read_text(encoding="utf-8"))
    [result] = [cells for cells in page.rows if cells and cells[0].startswith("a ant ×4")]
    assert result[1] == "1 2 3 4"
    assert result[2].startswith("300 (")


def test_a_page_loads_nothing_and_runs_nothing(project: Project, seeds: list[RunDirectory], tmp_path: Path) -> None:
    file = tmp_path / "r.html"
    assert report(project, "00a1", "-o", str(file), "--title", "<script>alert(1)</script>") == 0
    page = Page(file.read_text(encoding="utf-8"))
    assert "script" not in page.tags
    assert page.addresses
    assert all(address.startswith("data:image/") for address in page.addresses)
    for address in page.addresses:
        kind, _, data = address.partition(";base64,")
        if kind.endswith("svg+xml"):
            ElementTree.fromstring(base64.b64decode(data))


def test_the_command_in_the_sidecar_writes_it_again(
    project: Project, seeds: list[RunDirectory], capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(project, "00a1", "--format", "md") == 0
    first = Path(capsys.readouterr().out.strip())
    command = json.loads((first.parent / f"{first.name}.json").read_text())["command"]
    assert command[:3] == ["workbench", "report", "00a1"]
    assert main(["report", "--project", str(project.root), *command[2:]]) == 0
    second = Path(capsys.readouterr().out.strip())
    assert second != first
    without_time = [re.sub(r"as of [0-9: -]+", "", path.read_text(encoding="utf-8")) for path in (first, second)]
    assert without_time[0] == without_time[1]


def test_a_run_that_goes_on_is_said_to(project: Project, tmp_path: Path) -> None:
    fake_run(project, returns=[1.0, 2.0, 3.0], total_steps=1000)
    file = tmp_path / "r.md"
    assert report(project, "7f3a", "-o", str(file)) == 0
    assert "was not done when this was written, at 30" in file.read_text(encoding="utf-8")


def test_a_run_without_a_point_is_no_error(project: Project, tmp_path: Path) -> None:
    fake_run(project, state="queued")
    file = tmp_path / "r.html"
    assert report(project, "7f3a", "-o", str(file)) == 0
    assert "7f3a" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["0bad"], "no run `0bad`"),
        (["00a1", "--format", "md", "-o", "x.html"], "contradict"),
        (["00a1", "-o", "."], "is a folder"),
    ],
)
def test_what_cannot_be_written_is_said(
    project: Project, seeds: list[RunDirectory], capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert report(project, *words) == 2
    assert said in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_leaves_one_sentence(
    project: Project, seeds: list[RunDirectory], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert report(project, "00a1", "-o", str(tmp_path / "file" / "r.html")) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_lines_lie_where_their_numbers_are() -> None:
    steps = np.array([0.0, 50.0, 100.0])
    root = ElementTree.fromstring(
        draw([Line("a", steps, np.array([0.0, 5.0, 10.0]))], [Level(10.0, "goal")], y_label="return")
    )
    curve = next(path for path in root.iter(f"{SVG}path") if path.get("stroke-width") == "2")
    points = [tuple(map(float, pair.split())) for pair in (curve.get("d") or "").removeprefix("M").split("L")]
    assert points[1][0] - points[0][0] == pytest.approx(points[2][0] - points[1][0], abs=0.2)
    assert points[0][1] - points[1][1] == pytest.approx(points[1][1] - points[2][1], abs=0.2)
    assert points[0][1] > points[2][1]
    goal = next(path for path in root.iter(f"{SVG}path") if path.get("stroke-dasharray"))
    assert float((goal.get("d") or "").split()[1].partition("H")[0]) == pytest.approx(points[2][1], abs=0.1)


def test_a_gap_splits_a_line_and_a_spike_survives_thinning() -> None:
    steps = np.arange(5000.0)
    values = np.zeros(5000)
    values[2500], values[1234] = np.nan, 1000.0
    root = ElementTree.fromstring(draw([Line("a", steps, values)]))
    drawn = next(path.get("d") or "" for path in root.iter(f"{SVG}path") if path.get("stroke-width") == "2")
    assert drawn.count("M") == 2
    heights = [float(pair.split()[1]) for part in drawn.split("M")[1:] for pair in part.strip().split("L")]
    assert min(heights) < 50
    assert len(heights) < 1100


def test_texts_from_outside_stay_texts() -> None:
    odd = "a|b <i>*x*</i> `c`"
    blocks = [Heading(odd, 1), Text(odd), Table([odd, "n"], [[odd, "1"]]), Code("```\n<b>")]
    page = write_html(blocks)
    assert "<i>" not in page
    assert "<b>" not in page
    text = write_markdown(blocks)
    assert "````\n```\n<b>\n````" in text
    row = next(line for line in text.splitlines() if line.endswith("| 1 |"))
    assert len(re.findall(r"(?<!\\)\|", row)) == 3
