"""A policy on disk: `checkpoint_<steps>/policy.safetensors` and `policy.json`, whole or absent.

Reading one never runs code from it: the weights are safetensors, the rest is JSON, and the digest in the second
must be that of the first. Needs no torch.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors import numpy as safetensors_numpy

from workbench import durable
from workbench.errors import CheckpointError
from workbench.policies.record import FORMAT, PolicyRecord

RECORD_NAME = "policy.json"
WEIGHTS_NAME = "policy.safetensors"
EVALUATION_NAME = "evaluation.json"

Tensors = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read and found whole."""

    path: Path
    """Its folder; of another tool's, its file."""
    record: PolicyRecord
    """The contents of `policy.json`."""
    tensors: Tensors
    """The weights, under the names that the learner gave them, and the normaliser's statistics."""


def checkpoint_name(steps: int) -> str:
    """Return the name of the checkpoint written after so many steps."""
    return f"checkpoint_{steps:012d}"


def write_checkpoint(
    run_dir: Path, fields: Mapping[str, Any], tensors: Tensors, companions: Mapping[str, bytes] | None = None
) -> Path:
    """Write a checkpoint into a run directory and return its folder.

    Args:
        run_dir: Where the folder `checkpoint_<steps>` appears, in one step.
        fields: What `PolicyRecord` holds, without `format` and `weights_sha256`.
        tensors: The weights and the normaliser's statistics.
        companions: Further files in the folder, by name.

    Raises:
        CheckpointError: The fields or tensors make no complete checkpoint.
        OSError: The disk failed, the run directory is gone, or a checkpoint of that many steps exists.
    """
    weights = safetensors_numpy.save({name: np.asarray(value, order="C") for name, value in tensors.items()})
    digest = hashlib.sha256(weights).hexdigest()
    final = run_dir / checkpoint_name(fields["steps"])
    try:
        record = PolicyRecord.model_validate({**fields, "format": FORMAT, "weights_sha256": digest})
    except ValidationError as error:
        raise _refusal(final / RECORD_NAME, error) from None
    check_tensors(final, record, tensors)
    aside = run_dir / f".{final.name}.part"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    try:
        (aside / WEIGHTS_NAME).write_bytes(weights)
        text = record.model_dump_json(indent=2) + "\n"
        (aside / RECORD_NAME).write_bytes(text.encode(errors="backslashreplace"))
        for name, content in (companions or {}).items():
            (aside / name).write_bytes(content)
        durable.seal_directory(aside, final)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    return final


def read_record(path: Path) -> PolicyRecord:
    """Return what a checkpoint's `policy.json` says, without reading the weights.

    Raises:
        CheckpointError: The file is missing, is not JSON, or lacks a field; every one at fault is named.
    """
    file = path / RECORD_NAME
    try:
        text = file.read_bytes()
    except OSError:
        raise CheckpointError(
            f"{path} is no checkpoint: it has no {RECORD_NAME}.", hint="Name a folder called checkpoint_<steps>."
        ) from None
    try:
        return PolicyRecord.model_validate_json(text)
    except ValidationError as error:
        raise _refusal(file, error) from None


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint, and check that it is whole and unaltered.

    Raises:
        CheckpointError: A file, field or tensor is missing or ill-formed, or the weights are not those that were
            written; the message names each.
    """
    record = read_record(path)
    file = path / WEIGHTS_NAME
    try:
        content = file.read_bytes()
    except OSError:
        raise CheckpointError(f"{path} has no {WEIGHTS_NAME}: the weights are missing.") from None
    if hashlib.sha256(content).hexdigest() != record.weights_sha256:
        raise CheckpointError(f"{file} is not the file that was written: its SHA-256 is not the one in {RECORD_NAME}.")
    try:
        tensors = safetensors_numpy.load(content)
    except SafetensorError as error:
        raise CheckpointError(f"{file} cannot be read: {error}.") from None
    check_tensors(path, record, tensors)
    return Checkpoint(path, record, tensors)


def check_tensors(path: Path, record: PolicyRecord, tensors: Tensors) -> None:
    """See to it that the tensors make the network that the record describes.

    Raises:
        CheckpointError: One is missing or of another shape; all that are at fault are named.
    """
    network, width = record.network, record.observation_space.size
    faults: list[str] = []

    def expect(name: str, *shapes: tuple[int, ...]) -> None:
        if name not in tensors:
            faults.append(f"{name} is missing")
        elif tensors[name].shape not in shapes:
            expected = " or ".join(map(str, shapes))
            faults.append(f"{name} has shape {tensors[name].shape}, expected {expected}")

    def expect_layer(layer: Sequence[str], inputs: int, outputs: int) -> None:
        expect(layer[0], (outputs, inputs))
        expect(layer[1], (outputs,))

    for layer in network.trunk:
        weight = tensors.get(layer[0])
        outputs = len(weight) if weight is not None and weight.ndim == 2 else width
        expect_layer(layer, width, outputs)
        width = outputs
    actions = record.action_space.size
    expect_layer(network.head, width, actions)
    if isinstance(network.log_std, str):
        expect(network.log_std, *([(actions,)] if network.noise == "independent" else [(width, actions), (width, 1)]))
    elif network.log_std is not None:
        expect_layer(network.log_std, width, actions)
    if record.normalizer is not None:
        for name in ("normalizer.mean", "normalizer.var"):
            expect(name, record.observation_space.shape)
    if faults:
        raise CheckpointError(
            f"{path}: the weights do not make the network that is described: " + "; ".join(faults) + "."
        )


def _refusal(file: Path, error: ValidationError) -> CheckpointError:
    faults = []
    for fault in error.errors(include_url=False):
        key = ".".join(str(part) for part in fault["loc"])
        message = "is missing" if fault["type"] == "missing" else fault["msg"][:1].lower() + fault["msg"][1:]
        faults.append(f"{key} {message}" if fault["type"] == "missing" else f"{key}: {message}" if key else message)
    return CheckpointError(f"{file}: " + "; ".join(faults) + ".")
