from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from workbench import durable


def test_a_written_document_is_read_back(tmp_path: Path) -> None:
    durable.write_json(tmp_path / "a" / "state.json", {"steps": 3})
    assert durable.read_json(tmp_path / "a" / "state.json") == {"steps": 3}
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["state.json"]


@pytest.mark.parametrize("content", [b"", b'{"steps": 1', b"\xff\xfe"])
def test_a_torn_document_is_nothing_rather_than_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state.json").write_bytes(content)
    assert durable.read_json(tmp_path / "state.json") is None


def test_a_number_that_is_not_finite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        durable.write_json(tmp_path / "state.json", {"loss": float("nan")})
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_old_file_and_no_rubbish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.json"
    durable.write_json(path, {"steps": 1})

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError):
        durable.write_json(path, {"steps": 2})
    assert durable.read_json(path) == {"steps": 1}
    assert [item.name for item in tmp_path.iterdir()] == ["state.json"]


def test_sealing_moves_a_whole_folder(tmp_path: Path) -> None:
    aside = tmp_path / ".part"
    aside.mkdir()
    (aside / "policy.json").write_text("{}")
    durable.seal_directory(aside, tmp_path / "checkpoint_000000000010")
    assert (tmp_path / "checkpoint_000000000010" / "policy.json").read_text() == "{}"
    assert not aside.exists()


@pytest.mark.parametrize("indent", [None, 2])
def test_a_file_name_that_is_no_text_is_read_back_as_it_was(tmp_path: Path, indent: int | None) -> None:
    name = os.fsdecode(b"/tmp/film \xff \xc3\xa9.mp4")
    durable.write_json(tmp_path / "film.json", {"file": name}, indent=indent)
    assert durable.read_json(tmp_path / "film.json") == {"file": name}
    assert os.fsencode(durable.read_document(tmp_path / "film.json")["file"]) == b"/tmp/film \xff \xc3\xa9.mp4"


def test_text_that_is_not_utf_8_is_written_as_escapes(tmp_path: Path) -> None:
    durable.write_text(tmp_path / "note", "é \udcff")
    assert (tmp_path / "note").read_bytes() == "é \\udcff".encode()


@pytest.mark.parametrize("content", [b"[" * 100_000, b'{"a":' * 50_000])
def test_a_document_nested_without_end_is_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state.json").write_bytes(content)
    assert durable.read_json(tmp_path / "state.json") is None
    assert durable.read_document(tmp_path / "state.json") == {}


@pytest.mark.parametrize("offset", range(15))
def test_many_lines_are_read_as_each_would_be_by_itself(offset: int) -> None:
    lines = [
        b'{"a":%s}' % (b" " * offset),
        b'{"a":1.5,"b":"x"}',
        b'{"a":NaN,"b":-Infinity}',
        b'{"a":1e400}',
        b'{"a":%s}' % (b"9" * 301),
        b'{"a":%s}' % (b"9" * 300),
        b'{"half": ',
        b"\xff\xfe",
        b"[" * 5000,
    ]
    for chosen in (lines, lines[1:3], lines[:2], [lines[1], lines[4]], [lines[1], lines[3]], lines[5:6]):
        padded = [line.replace(b"{", b"{" + b" " * offset) for line in chosen]
        assert durable.parse_json_lines(padded) == [durable.parse_json(line) for line in padded]


def test_what_stands_on_two_lines_is_not_read_as_one() -> None:
    assert durable.parse_json_lines([b'{"a":1},{"b":2}', b"3"]) == [None, 3]
    assert durable.parse_json_lines([]) == []


def test_a_folder_takes_the_place_of_another_or_leaves_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    final = tmp_path / "final"
    for name in ("first", "second", "third"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "content").write_text(name)
    durable.replace_directory(tmp_path / "first", final)
    durable.replace_directory(tmp_path / "second", final)
    assert (final / "content").read_text() == "second"

    def full(aside: Path, final: Path) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(durable, "seal_directory", full)
    with pytest.raises(OSError, match="No space"):
        durable.replace_directory(tmp_path / "third", final)
    assert (final / "content").read_text() == "second"
    assert sorted(item.name for item in tmp_path.iterdir()) == ["final", "third"]
