from __future__ import annotations

from pathlib import Path

from workbench.ui.log_tail import FIRST_BYTES, LogTail


def test_an_unfinished_line_waits_for_its_end(tmp_path: Path) -> None:
    log = tmp_path / "output.log"
    tail = LogTail(log)
    assert tail.poll() == []
    log.write_bytes(b"one\ntw")
    assert tail.poll() == ["one"]
    with log.open("ab") as file:
        file.write(b"o\nthree\n")
    assert tail.poll() == ["two", "three"]
    assert tail.poll() == []


def test_another_file_under_the_name_starts_over(tmp_path: Path) -> None:
    log = tmp_path / "output.log"
    log.write_text("old\nolder\n")
    tail = LogTail(log)
    tail.poll()
    log.write_text("new\n")
    assert tail.poll() == ["new"]
    assert tail.started_over


def test_of_a_long_log_the_end_is_read_from_a_whole_line_on(tmp_path: Path) -> None:
    log = tmp_path / "output.log"
    line = "x" * 99
    log.write_text(f"{line}\n" * 10_000)
    lines = LogTail(log).poll()
    assert len(lines) == FIRST_BYTES // 100
    assert set(lines) == {line}


def test_colours_and_bytes_of_no_text_are_cleaned_away(tmp_path: Path) -> None:
    log = tmp_path / "output.log"
    log.write_bytes(b"\x1b[31mred\x1b[0m\n10%\r100%\n\xff\xfe ok\n")
    assert LogTail(log).poll()[:2] == ["red", "100%"]
