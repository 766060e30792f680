"""TensorBoard's records: checksums, records written by TensorBoard itself, and files that end in the middle of one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from tensorboard.summary.writer.record_writer import RecordWriter

from workbench.runs.foreign.following import StartedOverError
from workbench.runs.foreign.tfrecord import LARGEST, RecordTail, checksums, crc32c


def write(path: Path, records: Sequence[bytes], mode: str = "wb") -> None:
    with path.open(mode) as file:
        writer = RecordWriter(file)
        for record in records:
            writer.write(record)


@pytest.mark.parametrize(
    ("data", "checksum"),
    # RFC 3720, B.4, and the check value of CRC-32C.
    [(bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43), (bytes(range(32)), 0x46DD794E), (b"123456789", 0xE3069283)],
)
def test_the_checksum_is_that_of_the_standard(data: bytes, checksum: int) -> None:
    assert crc32c(data) == checksum
    many = data * 100
    spans = [(index * len(data), len(data)) for index in range(100)]
    assert set(checksums(many, spans).tolist()) == {checksum}


def test_records_of_tensorboard_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "events"
    rng = random.Random(1)
    records = [rng.randbytes(rng.choice([0, 1, 57, 58, 4000])) for _ in range(500)]
    write(path, records)
    assert list(RecordTail(path).records()) == records


def test_a_record_that_is_half_written_comes_when_it_is_whole(tmp_path: Path) -> None:
    path, whole = tmp_path / "events", tmp_path / "whole"
    write(whole, [b"one", b"second", b"third"])
    data = whole.read_bytes()
    tail = RecordTail(path)
    found: list[list[bytes]] = []
    for end in range(len(data) + 1):
        with path.open("ab") as file:
            file.write(data[max(0, end - 1) : end])
        found.append(list(tail.records()))
    assert [item for part in found for item in part] == [b"one", b"second", b"third"]
    assert [end for end, part in enumerate(found) if part] == [19, 41, 62]
    assert tail.damaged_at is None


def test_nothing_behind_a_wrong_checksum_is_read(tmp_path: Path) -> None:
    path = tmp_path / "events"
    write(path, [b"good", b"bad", b"lost"])
    data = bytearray(path.read_bytes())
    data[20 + 12] ^= 1
    path.write_bytes(bytes(data))
    tail = RecordTail(path)
    assert list(tail.records()) == [b"good"]
    assert tail.damaged_at == 20


def test_a_large_record_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "events"
    write(path, [b"before", b"x" * (LARGEST + 1), b"after", b"y" * (6 * 2**20), b"last"])
    assert list(RecordTail(path).records()) == [b"before", b"after", b"last"]


def test_another_file_in_its_place_is_told(tmp_path: Path) -> None:
    path = tmp_path / "events"
    write(path, [b"first"])
    tail = RecordTail(path)
    assert list(tail.records()) == [b"first"]
    write(tmp_path / "new", [b"other"])
    (tmp_path / "new").replace(path)
    with pytest.raises(StartedOverError):
        list(tail.records())
