"""Pickles that strangers wrote, as inert data: whatever a pickle names is recorded, and nothing of it is imported.

A pickle is a program for a small machine, and its danger lies in one instruction: fetch a function or a class by its
name. Here that instruction gives a record of the name. Calling it gives a record of the call, and setting the state of
an object a record of the state. Arrays of NumPy are read from those records by the few lines at the end, so that not
even NumPy's own unpickling runs. Names outside the list below are refused all the same: what they stand for is not
known, so acting without it could be acting wrongly.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import CheckpointError

LARGEST = 64 * 2**20
"""Bytes of a pickle; spaces, settings and statistics take a few thousand."""

# fmt: off
_NAMES = frozenset({
    "builtins.object", "builtins.slice", "builtins.range", "builtins.frozenset", "builtins.set", "builtins.dict",
    "builtins.list", "builtins.tuple", "builtins.bytearray", "builtins.bytes", "__builtin__.bytes",
    "__builtin__.object", "__builtin__.set", "__builtin__.dict", "__builtin__.list", "__builtin__.tuple",
    "collections.deque", "collections.abc.Mapping", "copyreg._reconstructor", "copy_reg._reconstructor",
    "_codecs.encode", "numpy.dtype", "numpy.ndarray", "numpy.random.RandomState",
    "numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct",
    "numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar",
    "numpy.core.numeric._frombuffer", "numpy._core.numeric._frombuffer",
    "types.MappingProxyType", "pathlib.PosixPath", "torch.device",
})
"""Names that may occur wherever data is read; as all others they stay names."""

_FAMILIES = (
    "numpy.random._", "numpy.random.bit_generator.", "numpy.random.mtrand.", "numpy.dtypes.",
    "gym.spaces.", "gymnasium.spaces.", "gym.utils.seeding.", "gymnasium.utils.seeding.",
    "torch.nn.modules.activation.", "torch.nn.modules.linear.Identity", "torch.optim.",
    "stable_baselines3.", "sb3_contrib.",
)
# fmt: on
_SCALARS = frozenset({"bool_", "bool", "float16", "float32", "float64", "int8", "int16", "int32", "int64"}) | frozenset(
    {"uint8", "uint16", "uint32", "uint64", "intc", "uintc", "longlong", "ulonglong"}
)
_KINDS = frozenset("biuf")


class NeedsTrustError(CheckpointError):
    """A file cannot be used without running what it holds; `--trust` does that."""


class Sealed(type):
    """The type of recorded classes: a pickle cannot change them, as it could change any other class."""

    def __setattr__(cls, name: str, value: Any) -> None:
        raise pickle.UnpicklingError("it changes a class")


class Inert(metaclass=Sealed):
    """What stands for a class or a function that a pickle names, and, as an instance, for what it makes of it."""

    path = ""
    """The dotted name: `gymnasium.spaces.box.Box`."""

    def __new__(cls, *args: Any, **keywords: Any) -> Any:
        """Record a call, whatever was called."""
        made = super().__new__(cls)
        made.args = args
        made.state = dict(keywords)
        made.items = []
        return made

    def __init__(self, *args: Any, **keywords: Any) -> None:
        self.args: tuple[Any, ...]
        self.state: dict[str, Any]
        self.items: list[Any]

    def __setstate__(self, state: Any) -> None:
        """Record a state: a dictionary, or one beside another for slots; of anything else the whole."""
        parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
        if all(part is None or isinstance(part, dict) for part in parts):
            for part in parts:
                self.state.update({str(key): value for key, value in (part or {}).items()})
        else:
            self.state["state"] = state

    def __setitem__(self, key: Any, value: Any) -> None:
        self.items.append((key, value))

    def append(self, item: Any) -> None:
        """Record what is put into a container."""
        self.items.append(item)

    def extend(self, items: Iterable[Any]) -> None:
        """Record what is put into a container."""
        self.items.extend(items)

    add = append
    update = extend


def read_pickle(content: bytes, what: str) -> Any:
    """Return what a pickle holds, as plain data and records; nothing that it names is imported or called.

    Args:
        content: The bytes.
        what: What the pickle is, for the sentence that refuses it.

    Raises:
        NeedsTrustError: It names what is not known to be data.
        CheckpointError: It is no pickle, or torn.
    """
    if len(content) > LARGEST:
        raise CheckpointError(f"{what} has {len(content)} bytes; nothing that a policy needs is as large.")
    reader = _Unpickler(io.BytesIO(content))
    try:
        found = reader.load()
    except Exception as error:
        # A pickle can be wrong in as many ways as there are errors.
        if reader.refused:
            raise NeedsTrustError(
                f"{what} names {', '.join(reader.refused)}, which could be any code.",
                hint="If you trust whoever made it, --trust runs it.",
            ) from None
        raise CheckpointError(f"{what} cannot be read: {_in_short(error)}.") from None
    return found


def names_in(content: bytes) -> list[str]:
    """Return the dotted names that a pickle would import, in their order, without loading it.

    A pickle within a pickle is not looked into. Names that are put together while it is loaded are shown as `?`.
    """
    names: list[str] = []
    texts: list[str] = []
    memo: dict[int, str] = {}
    last = "?"
    try:
        for opcode, argument, _ in pickletools.genops(content):
            if opcode.name == "MEMOIZE":
                memo[len(memo)] = last
                continue
            if opcode.name in ("PUT", "BINPUT", "LONG_BINPUT"):
                memo[int(str(argument))] = last
                continue
            last = "?"
            if opcode.name in ("GLOBAL", "INST"):
                names.append(str(argument).replace(" ", "."))
            elif opcode.name == "STACK_GLOBAL":
                names.append(".".join(texts[-2:]))
            elif opcode.name in ("EXT1", "EXT2", "EXT4", "PERSID", "BINPERSID"):
                names.append("?")
            elif "UNICODE" in opcode.name:
                last = str(argument)
                texts.append(last)
            elif opcode.name in ("GET", "BINGET", "LONG_BINGET"):
                last = memo.get(int(str(argument)), "?")
                texts.append(last)
    except Exception:
        # What comes after is not told; loading it fails there too.
        names.append("?")
    return list(dict.fromkeys(names))


class _Unpickler(pickle._Unpickler):
    # The one that is written in Python: a number in a pickle cannot make it fill the memory with an empty table.
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, encoding="latin1")
        self.refused: list[str] = []
        self._classes: dict[str, Any] = {}

    def find_class(self, module: str, name: str) -> Any:
        path = f"{module}.{name}"
        if path == "collections.OrderedDict":
            return OrderedDict
        if path not in self._classes:
            scalar = module == "numpy" and name in _SCALARS
            if not (scalar or path in _NAMES or path.startswith(_FAMILIES)):
                self.refused.append(path)
                raise pickle.UnpicklingError(path)
            self._classes[path] = Sealed(name, (Inert,), {"path": path})
        return self._classes[path]

    def persistent_load(self, key: Any) -> Any:
        raise pickle.UnpicklingError("it refers to something outside itself")


def path_of(value: Any) -> str:
    """Return the dotted name that a record of a class, or of an instance, stands for; empty for anything else."""
    return str(getattr(value, "path", "")) if isinstance(value, Inert | Sealed) else ""


def plain(value: Any) -> Any:
    """Return a record as NumPy's array, a number, or a text where it is one; anything else unchanged."""
    path = path_of(value)
    if not isinstance(value, Inert):
        return value
    if path.endswith("multiarray._reconstruct"):
        return _array(value)
    if path.endswith("numeric._frombuffer"):
        content, dtype, shape, *order = value.args
        return _shaped(content, _dtype(dtype), shape, fortran=order == ["F"])
    if path.endswith("multiarray.scalar"):
        dtype = _dtype(value.args[0])
        content = _content(value.args[1] if len(value.args) > 1 else b"")
        return np.frombuffer(content, dtype, 1)[0]
    if path == "_codecs.encode":
        return _content(value)
    return value


def class_of(value: Any) -> str:
    """Return the dotted name of the class of a recorded instance, however it was made."""
    path = path_of(value)
    if path.endswith("_reconstructor") and value.args:
        return path_of(value.args[0])
    return path


def dtype_name(value: Any) -> str:
    """Return the name of a recorded NumPy type: of a `dtype`, or of a scalar class.

    Raises:
        ValueError: It is none, or not one of numbers.
    """
    return str(_dtype(value))


def _dtype(value: Any) -> np.dtype[Any]:
    if isinstance(value, Sealed):
        name = path_of(value).rpartition(".")[2]
        found = np.dtype(name.rstrip("_") if name == "bool_" else name)
    elif isinstance(value, str):
        found = np.dtype(value)
    elif path_of(value) == "numpy.dtype" and isinstance(value.args[0], str):
        found = np.dtype(value.args[0])
        state = value.state.get("state")
        if isinstance(state, tuple) and len(state) > 1 and state[1] in ("<", ">"):
            found = found.newbyteorder(state[1])
    elif path_of(value).startswith("numpy.dtypes."):
        found = np.dtype(path_of(value).rpartition(".")[2].removesuffix("DType").lower())
    elif path_of(value) == "numpy.dtype":
        return _dtype(value.args[0])
    else:
        raise ValueError("a type of numbers is none")
    if found.kind not in _KINDS:
        raise ValueError(f"numbers of type {found} are none")
    return found


def _array(value: Inert) -> NDArray[Any]:
    # `_reconstruct` makes an empty array; (version, shape, type, is in Fortran's order, bytes) is what it gets then.
    _, shape, dtype, fortran, content = value.state["state"]
    return _shaped(content, _dtype(dtype), shape, fortran=bool(fortran))


def _shaped(content: Any, dtype: np.dtype[Any], shape: Any, *, fortran: bool) -> NDArray[Any]:
    sides = tuple(int(side) for side in shape)
    flat = np.frombuffer(_content(content), dtype)
    if len(flat) != math.prod(sides):
        raise ValueError(f"an array of shape {sides} has {len(flat)} numbers")
    return flat.reshape(sides, order="F" if fortran else "C").copy()


def _content(value: Any) -> bytes:
    """Return bytes, which older protocols write as a text to be encoded."""
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, str):
        return value.encode("latin1")
    if path_of(value) == "_codecs.encode" and value.args[1:] in (("latin1",), ("latin-1",)):
        return str(value.args[0]).encode("latin1")
    if path_of(value) in ("builtins.bytearray", "builtins.bytes", "__builtin__.bytes"):
        # Protocols before the third write empty bytes as a call.
        return _content(value.args[0]) if value.args else b""
    raise ValueError("bytes are none")


def _in_short(error: Exception) -> str:
    if isinstance(error, EOFError):
        return "it ends too early"
    said = " ".join(str(error).split()) or type(error).__name__
    return said if len(said) < 120 else said[:117] + "…"
