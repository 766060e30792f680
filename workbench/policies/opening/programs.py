"""Policies that are programs: TorchScript and ONNX, run by their own runtimes.

A program reads one batch of observations as the environment gives them, and gives one batch of actions in the
environment's units; they are cut at its bounds. For choices it may give a number each, of which the highest wins.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.errors import CheckpointError, RequestError
from workbench.policies.description import Description
from workbench.policies.opening.inert import NeedsTrustError

ACTIONS = ("action", "actions", "mean_actions")
"""What the output is called that is taken where there are several; else it is the first."""

# TorchScript is no Python, but some of torch's operators open files. Its grammar allows blanks and comments around
# dots, other names for a module, and attributes fetched by a text, so words are searched for, wherever they stand.
_OPERATORS = re.compile(
    rb"\b(?:from_file|save|load|_load|rpc_\w+)\b"
    # Whatever a library has registered; of torch's own namespaces only the words above are dangerous.
    rb"|(?<![\w.])ops\b(?!\.(?:aten|prim)\.)(?:\.\w+)*"
    rb"|\bclasses\b(?!\.quantized\.)(?:\.\w+)*"
    # An attribute whose name is no identifier, as that of a layer, is fetched by one whole text.
    rb"|\bgetattr\b(?!\([\w.]+, \"[^\"\\]*\"\))"
)


class Runtime(Protocol):
    """What runs a program, one row at a time."""

    inputs: int | None
    """How many numbers an observation has; None where the program does not say."""

    def __call__(self, rows: NDArray[np.float32]) -> NDArray[Any]:
        """Return the output for one batch."""
        ...


class ProgramActor:
    """The actor of a program.

    Each row is a batch of its own: how a sum is rounded depends on how many rows there are.

    Args:
        run: What runs it.
        description: What is known of it, its action space among that.
        stochastic: Must not be asked for: a program gives one action.
    """

    def __init__(self, run: Runtime, description: Description, *, stochastic: bool = False) -> None:
        self.description = description
        self._run = run
        self.deterministic = not stochastic

    @property
    def deterministic(self) -> bool:
        """Whether the same observations always give the same actions; as far as the program does."""
        return True

    @deterministic.setter
    def deterministic(self, value: bool) -> None:
        if not value:
            raise RequestError(
                f"{self.description.path} is a program that gives one action; there is nothing to sample from.",
                hint="Leave out --stochastic.",
            )

    def act(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Return actions for observations, a row each.

        Raises:
            CheckpointError: The program fails, or gives no action of the environment's.
        """
        rows = np.ascontiguousarray(observations, np.float32)
        return np.stack([self._to_action(self._run(rows[index : index + 1])) for index in range(len(rows))])

    def reset(self, ids: Sequence[int] | None = None, *, streams: Sequence[int] | None = None) -> None:
        """Forget nothing: a program here has no memory."""

    def _to_action(self, output: NDArray[Any]) -> Any:
        space = self.description.action_space
        values = np.asarray(output).reshape(-1)
        if space is None:
            return values
        if space.kind == "discrete":
            if values.size == space.n and values.dtype.kind == "f" and space.n > 1:
                return np.int64(np.argmax(values))
            if values.size == 1 and 0 <= int(values[0]) < space.n:
                return np.int64(values[0])
        elif values.size == space.size:
            low, high = space.bounds()
            return np.clip(values.astype(np.float32), low, high).reshape(space.shape)
        wanted = f"one of {space.n} choices" if space.kind == "discrete" else f"an action of shape {space.shape}"
        raise CheckpointError(f"{self.description.path} gives {_shape_of(output)}, and the environment takes {wanted}.")


def open_torchscript(path: Path, *, trust: bool) -> Runtime:
    """Return what runs a TorchScript file.

    Args:
        path: The file.
        trust: Whether operators of it may open files.

    Raises:
        CheckpointError: It is none, or its program opens files and that is not wanted.
    """
    operators = file_operators(path)
    if operators and not trust:
        raise NeedsTrustError(
            f"{path}: its program uses {', '.join(operators)}, which can do more than compute.",
            hint="If you trust whoever made it, --trust runs it.",
        )
    import torch

    try:
        with warnings.catch_warnings():
            # Torch would rather have programs exported anew; those that exist are still run.
            warnings.simplefilter("ignore", DeprecationWarning)
            module = torch.jit.load(str(path), map_location="cpu").eval()  # type: ignore[no-untyped-call]
    except Exception as error:
        raise CheckpointError(f"{path} cannot be read as TorchScript: {_first_line(error)}") from None
    return _Torchscript(path, module)


def file_operators(path: Path) -> list[str]:
    """Return what in a program of TorchScript may open files, or comes from other libraries than torch.

    The program is read by torch's own reader, so that it is the one that would run: of files that are made to deceive,
    Python's `zipfile` sees other parts.
    """
    import torch

    found: dict[str, None] = {}
    try:
        reader = torch._C.PyTorchFileReader(str(path))
        for name in reader.get_all_records():
            # The reader finds names in capitals too.
            if name.lower() == "model.json":
                found["the format of torch before 1.4"] = None
            elif name.lower().endswith(".py"):
                for match in _OPERATORS.finditer(reader.get_record(name)):
                    found[match[0].decode()] = None
    except Exception as error:
        raise CheckpointError(f"{path} is damaged: {_first_line(error)}") from None
    return list(found)


def open_onnx(path: Path) -> Runtime:
    """Return what runs an ONNX file.

    Raises:
        CheckpointError: It is none, or takes more than one batch of observations.
        RequestError: The runtime is not installed.
    """
    try:
        import onnxruntime
    except ImportError:
        raise RequestError(
            f"{path} is run by onnxruntime, which is not installed.",
            hint="`pip install onnxruntime`, or install workbench with the extra `onnx`.",
        ) from None
    options = onnxruntime.SessionOptions()
    # Its own threads would wait in a loop for a network of a few thousand numbers.
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise CheckpointError(f"{path} cannot be read as ONNX: {_first_line(error)}") from None
    return _Onnx(path, session)


class _Torchscript:
    inputs: int | None = None

    def __init__(self, path: Path, module: Any) -> None:
        self._path = path
        self._module = module
        # The first weight that is a matrix is, in every perceptron, the one that observations meet.
        self._dtype = next((one.dtype for one in module.parameters() if one.is_floating_point()), None)

    def __call__(self, rows: NDArray[np.float32]) -> NDArray[Any]:
        import torch

        try:
            with torch.no_grad():
                output = self._module(torch.from_numpy(rows).to(self._dtype or torch.float32))
        except Exception as error:
            raise _refused(self._path, rows, error) from None
        while isinstance(output, tuple | list) and output:
            output = output[0]
        if isinstance(output, dict):
            output = next((output[name] for name in ACTIONS if name in output), None)
        if not isinstance(output, torch.Tensor):
            raise CheckpointError(f"{self._path} gives a {type(output).__name__}, and an action is a tensor.")
        return np.asarray(output.detach().cpu().numpy())


class _Onnx:
    def __init__(self, path: Path, session: Any) -> None:
        self._path = path
        self._session = session
        inputs = session.get_inputs()
        if len(inputs) != 1:
            names = ", ".join(f"{one.name} {one.shape}" for one in inputs)
            raise CheckpointError(
                f"{path} takes {len(inputs)} inputs ({names}), and a policy is given observations and nothing else."
            )
        kinds: dict[str, Any] = {"tensor(float)": np.float32, "tensor(double)": np.float64}
        if inputs[0].type not in kinds:
            raise CheckpointError(f"{path} takes {inputs[0].type}, and observations are numbers with a fraction.")
        self._name, self._dtype = inputs[0].name, kinds[inputs[0].type]
        outputs = [one.name for one in session.get_outputs()]
        self._output = next((name for name in outputs if name in ACTIONS), outputs[0])
        sides = inputs[0].shape
        self.inputs = sides[1] if len(sides) == 2 and isinstance(sides[1], int) else None

    def __call__(self, rows: NDArray[np.float32]) -> NDArray[Any]:
        try:
            (output,) = self._session.run([self._output], {self._name: rows.astype(self._dtype)})
        except Exception as error:
            raise _refused(self._path, rows, error) from None
        return np.asarray(output)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        CheckpointError: It cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}.") from None


def _refused(path: Path, rows: NDArray[Any], error: Exception) -> CheckpointError:
    return CheckpointError(f"{path} cannot act on observations of shape {rows.shape[1:]}: {_first_line(error)}")


def _shape_of(output: Any) -> str:
    return f"an output of shape {np.asarray(output).shape}"


def _first_line(error: Exception) -> str:
    # Torch tells the reason last, below the lines of the program that led there.
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = next((line for line in lines if line.startswith("RuntimeError:")), lines[0] if lines else "")
    return (told or type(error).__name__)[:200]
