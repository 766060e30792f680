"""Two documents of measurements beside each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.bench.comparing import compare
from workbench.cli import main
from workbench.errors import RequestError

MACHINE = {"cpu": "Some CPU", "cores": 2}


def document(kind: str = "environments", machine: dict[str, Any] = MACHINE, **values: Any) -> dict[str, Any]:
    rows = [{"name": name, "value": value} for name, value in values.items()]
    return {"kind": kind, "machine": machine, "versions": {"mujoco": "4.0.0"}, "rows": rows}


@pytest.fixture
def files(tmp_path: Path) -> Any:
    def write(*documents: dict[str, Any]) -> list[str]:
        paths = [tmp_path / f"{index}.json" for index in range(len(documents))]
        for path, one in zip(paths, documents, strict=True):
            path.write_text(json.dumps(one))
        return [str(path) for path in paths]

    return write


def test_a_row_is_worse_below_nine_tenths() -> None:
    comparison = compare(document(a=100.0, b=100.0), document(a=90.0, b=89.0))
    assert [(change.name, change.ratio, change.is_worse) for change in comparison.changes] == [
        ("a", pytest.approx(0.9), False),
        ("b", pytest.approx(0.89), True),
    ]
    assert comparison.is_worse


def test_less_is_better_where_the_row_says_so() -> None:
    old, new = document(start=2.0), document(start=3.0)
    for one in (old, new):
        one["rows"][0]["at_most"] = True
    assert compare(old, new).changes[0].ratio == pytest.approx(2 / 3)
    assert not compare(new, old).is_worse


def test_what_cannot_be_compared_is_said() -> None:
    other = {"cpu": "Another CPU", "cores": 2}
    new = document(machine=other, a=1.0, c=1.0)
    new["versions"]["mujoco"] = "4.1.0"
    new["rows"].append({"name": "b", "value": None})
    notes = compare(document(a=1.0, b=1.0), new).notes
    assert notes == (
        "only the first file has b",
        "only the second file has c",
        "the CPU differs: Some CPU and Another CPU",
        "mujoco differs: 4.0.0 and 4.1.0",
    )


@pytest.mark.parametrize("new", [document("training", a=1.0), document(b=1.0)], ids=["kind", "rows"])
def test_nothing_in_common_is_refused(new: dict[str, Any]) -> None:
    with pytest.raises(RequestError):
        compare(document(a=1.0), new)


def test_the_exit_code_tells(files: Any, capsys: pytest.CaptureFixture[str]) -> None:
    same, slower = files(document(a=100.0), document(a=50.0))
    assert main(["bench", "environments", "--compare", same, same]) == 0
    assert "1.00" in capsys.readouterr().out
    assert main(["bench", "environments", "--compare", same, slower]) == 1
    assert "0.50× " in capsys.readouterr().out
    assert main(["bench", "environments", "--compare", slower, same, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rows"] == [{"name": "a", "old": 50.0, "new": 100.0, "ratio": 2.0}]
    assert told["worse"] is False


def test_files_that_are_no_measurements_are_one_sentence(
    files: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, empty = files(document(a=1.0), {})
    for other, named in ((str(tmp_path / "none.json"), "none.json"), (empty, "1.json")):
        assert main(["bench", "environments", "--compare", good, other]) == 2
        assert named in capsys.readouterr().err
    assert main(["bench", "training", "--compare", good, good]) == 2
    assert "does not measure training" in capsys.readouterr().err
