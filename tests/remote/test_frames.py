from __future__ import annotations

import struct

import pytest

from workbench.remote.frames import HEADER, Frame, FrameReader


def make(sequence: int, width: int = 5, height: int = 4) -> Frame:
    pixels = bytes((sequence * 31 + place) % 256 for place in range(width * height * 3))
    return Frame(width, height, sequence, 7 * sequence, pixels)


def test_the_header_is_what_the_page_says() -> None:
    data = Frame(300, 2, 5, 9, bytes(1800)).encode()
    assert data[:4] == b"WBF1"
    assert struct.unpack("<HHII", data[4:16]) == (300, 2, 5, 9)
    assert len(data) == 16 + 300 * 2 * 3
    assert HEADER.size == 16


@pytest.mark.parametrize("piece", [1, 3, 17, 61, 76, 77, 1000])
def test_frames_are_whole_however_the_bytes_arrive(piece: int) -> None:
    sent = [make(0), make(1, 7, 2), make(2)]
    data = b"".join(frame.encode() for frame in sent)
    reader = FrameReader()
    got = [frame for start in range(0, len(data), piece) for frame in reader.feed(data[start : start + piece])]
    assert got == sent
    assert reader.skipped == 0


def test_bytes_that_belong_to_no_frame_are_passed_over() -> None:
    reader = FrameReader()
    torn = make(1).encode()[9:]
    assert reader.feed(b"WB" + torn) == []
    assert reader.feed(make(2).encode()) == [make(2)]
    assert reader.skipped == 2 + len(torn)


def test_a_header_that_cannot_be_is_no_frame() -> None:
    reader = FrameReader()
    for width, height in ((0, 4), (4, 0), (1025, 4), (4, 65_535)):
        assert reader.feed(HEADER.pack(b"WBF1", width, height, 0, 0)) == []
    assert reader.feed(make(3).encode()) == [make(3)]


def test_a_frame_cut_by_the_end_is_never_shown() -> None:
    reader = FrameReader()
    assert reader.feed(make(0).encode()[:-1]) == []
