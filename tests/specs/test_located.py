"""JSON that people write: the same values as Python's reader, with lines, and with more refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.specs import read_located


def write(folder: Path, text: str) -> Path:
    path = folder / "file.json"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "3",
        '"x"',
        "null",
        '{"a": {"b": [1, {"c": -2.5e3}], "d": "\\u00e9\\n"}, "e": [[], {}]}',
        " [ true , false ] ",
    ],
)
def test_reads_what_python_reads(tmp_path: Path, text: str) -> None:
    document = read_located(write(tmp_path, text))
    assert document.problems == ()
    assert document.value == json.loads(text)


def test_keys_know_their_lines(tmp_path: Path) -> None:
    document = read_located(write(tmp_path, '{\n "a": 1,\n "ppo": {\n  "x": 2, "y":\n 3}\n}'))
    assert document.lines == {"a": 2, "ppo": 3, "ppo.x": 4, "ppo.y": 4}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('{"a": 1,\n}', 1, "comma stands before }"),
        ('{"a": 1\n "b": 2}', 2, "comma or }"),
        ('{\n"a" 1}', 2, 'colon should follow "a"'),
        ("{\n\n'a': 1}", 3, "double quotes"),
        ('{"a": nope}', 1, "not valid JSON"),
        ('{"a":\n NaN}', 2, "NaN is not a JSON number"),
        ("", 1, "ends where a value"),
        ('{"a": "x', 1, "not valid JSON"),
        ("{} {}", 1, "more after the end"),
        ("[" * 200, 1, "nested more than"),
    ],
)
def test_a_syntax_fault_has_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    (problem,) = read_located(write(tmp_path, text)).problems
    assert problem.line == line
    assert said in problem.message


def test_a_key_given_twice_is_a_fault(tmp_path: Path) -> None:
    (problem,) = read_located(write(tmp_path, '{"a": 1,\n "a": 2}')).problems
    assert (problem.key, problem.line) == ("a", 2)
    assert "first on line 1" in problem.message


def test_a_file_that_is_not_there_or_not_text_is_a_fault(tmp_path: Path) -> None:
    assert "cannot be read" in read_located(tmp_path / "none.json").problems[0].message
    (tmp_path / "b.json").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in read_located(tmp_path / "b.json").problems[0].message


@pytest.mark.parametrize("number", ["1e400", "-1e999", "9" * 5000, "NaN", "-Infinity"])
def test_a_number_that_no_field_can_hold_is_a_fault_with_its_line(tmp_path: Path, number: str) -> None:
    read = read_located(write(tmp_path, f'{{"a": 1,\n "b": {number}}}'))
    (problem,) = read.problems
    assert (read.value, problem.line) == (None, 2)
    assert "set_int_max_str_digits" not in problem.message
    assert len(problem.message) < 100
