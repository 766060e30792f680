"""The formats there are, and what runs them; light, so that a command's help may name them."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Format: TypeAlias = Literal["onnx", "torchscript", "sb3"]
FORMATS: tuple[Format, ...] = get_args(Format)

PROGRAMS: dict[Format, str] = {"onnx": "policy.onnx", "torchscript": "policy.pt", "sb3": "model.zip"}
"""The file that is run."""

NEEDS: dict[Format, tuple[str, ...]] = {
    "onnx": ("numpy", "onnxruntime"),
    "torchscript": ("numpy", "torch"),
    "sb3": ("numpy", "torch", "gymnasium", "stable-baselines3"),
}
"""The packages that run each format, and its check."""

BUILT_WITH: dict[Format, tuple[str, ...]] = {"onnx": ("onnx",), "torchscript": (), "sb3": ()}
"""What making it takes besides."""


def program_name(kind: Format, *, sampling: bool = False) -> str:
    """Return the name of a program's file."""
    return PROGRAMS[kind].replace(".", "_sampling.") if sampling else PROGRAMS[kind]
