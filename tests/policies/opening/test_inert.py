"""The reader of strangers' pickles: data comes out as it went in, and nothing that a pickle asks for happens."""

from __future__ import annotations

import collections
import os
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from tests.policies.opening.conftest import Payload
from workbench.errors import CheckpointError
from workbench.policies.opening.inert import names_in, plain, read_pickle
from workbench.policies.opening.recorded_spaces import read_space

PROTOCOLS = (0, 1, 2, 3, 4, 5)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(3, dtype=">f4"),
        np.array(2.5),
        np.zeros((0, 3), np.int8),
        np.array([True, False]),
    ],
)
def test_arrays_are_those_that_were_pickled(array: Any, protocol: int) -> None:
    found = plain(read_pickle(pickle.dumps(array, protocol), "it"))
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_numbers_and_containers_are_those_that_were_pickled(protocol: int) -> None:
    value = {"a": [1, 2.5, None, True, "ü"], "b": (1, (2,)), "c": collections.OrderedDict(x=1)}
    assert read_pickle(pickle.dumps(value, protocol), "it") == value
    assert plain(read_pickle(pickle.dumps(np.float64(0.5), protocol), "it")) == 0.5


@pytest.mark.parametrize("protocol", (2, 4, 5))
@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(np.array([-1.0, -np.inf], np.float32), np.array([2.0, np.inf], np.float32)),
        spaces.Box(0, 255, (4, 4, 3), np.uint8),
        spaces.Discrete(5, start=2),
        spaces.MultiDiscrete([2, 3]),
        spaces.MultiBinary(4),
        spaces.Dict({"a": spaces.Box(-1, 1, (2,)), "b": spaces.Discrete(3)}),
    ],
)
def test_spaces_are_those_that_were_pickled(space: spaces.Space[Any], protocol: int) -> None:
    space.seed(3)
    assert read_space(read_pickle(pickle.dumps(space, protocol), "it"), "it") == space


class Calls:
    """Asks for a call of anything."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.asked = function, arguments

    def __reduce__(self) -> Any:
        return self.asked


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("function", [os.system, eval, getattr, __import__, pickle.loads, open])
def test_a_function_that_is_none_of_data_is_named_and_not_called(function: Any, protocol: int) -> None:
    asked = pickle.dumps([Calls(function, "1")], protocol)
    with pytest.raises(CheckpointError, match=function.__name__):
        read_pickle(asked, "it")


@pytest.mark.parametrize(
    "content",
    [
        # A state for a class of the list, a name within a listed family that leads out of it, and an object of outside.
        b"\x80\x02cgymnasium.spaces\nBox\n}X\x08\x00\x00\x00__init__K\x01sb.",
        b"\x80\x02cgymnasium.spaces\nBox\nN}X\x03\x00\x00\x00newK\x01s\x86b.",
        b"\x80\x04Pelsewhere\n.",
        b"\x80\x04\x82\x01.",
        # A text longer than the file, nothing, and marks alone.
        b"\x80\x04\x8d\xff\xff\xff\xff\xff\x00\x00\x00abc.",
        b"",
        b"\x80\x04" + b"(" * 100_000,
    ],
)
def test_a_pickle_that_is_none_is_one_clear_error(content: bytes) -> None:
    with pytest.raises(CheckpointError, match="it cannot be read"):
        read_pickle(content, "it")


def test_a_number_fills_no_memory() -> None:
    # The place of nothing in the memo: two thousand million.
    assert read_pickle(b"\x80\x04Nr\xff\xff\xff\x7f.", "it") is None


def test_a_name_that_leads_on_from_a_listed_one_stays_a_name(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    asked = "\x80\x04\x8c\x10gymnasium.spaces\x8c\x10np.os.popen.call\x93\x8c".encode("latin1")
    command = f"touch {marker}".encode()
    found = read_pickle(asked + bytes([len(command)]) + command + b"\x85R.", "it")
    assert found.args == (f"touch {marker}",)
    assert not marker.exists()


def test_what_loading_would_import_is_told(tmp_path: Path) -> None:
    twice = pickle.dumps([Payload(tmp_path), Payload(tmp_path), np.float32(1), collections.OrderedDict()], 4)
    assert names_in(twice) == [
        "builtins.exec",
        "numpy._core.multiarray.scalar",
        "numpy.dtype",
        "collections.OrderedDict",
    ]
    assert names_in(pickle.dumps(Payload(tmp_path), 2)) == ["__builtin__.exec"]
    assert names_in(b"\x80\x04nothing") == ["?"]


def test_torn_and_altered_pickles_raise_nothing_else() -> None:
    whole = pickle.dumps(spaces.Dict({"a": spaces.Box(-1, 1, (2,)), "b": spaces.MultiDiscrete([2, 3])}), 4)
    rng = random.Random(4)
    outcomes = set()
    for _ in range(300):
        altered = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            altered[rng.randrange(len(altered))] = rng.randrange(256)
        try:
            read_space(read_pickle(bytes(altered[: rng.randint(1, len(altered))]), "it"), "it")
            outcomes.add("read")
        except CheckpointError:
            outcomes.add("refused")
    assert "refused" in outcomes
