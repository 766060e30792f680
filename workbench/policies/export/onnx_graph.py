"""A policy as an ONNX graph, built node by node: no tracing, no exporter, the same bytes every time."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from workbench.policies.export.parts import Parts

OPSET = 17
"""The operators' version: that of ONNX 1.12 (2022), which every runtime since then reads; nothing newer is needed."""
IR_VERSION = 8
"""The file's version, that of ONNX 1.12 too; the library's own newest would shut older runtimes out."""

OBSERVATION, NOISE, ACTION = "observation", "noise", "action"
ACTIVATIONS = {
    "tanh": "Tanh",
    "relu": "Relu",
    "elu": "Elu",
    "leaky_relu": "LeakyRelu",
    "sigmoid": "Sigmoid",
    "selu": "Selu",
}
"""Operators whose defaults are torch's; the one that has none is built of two."""


def onnx_bytes(parts: Parts, *, sampling: bool, about: dict[str, str]) -> bytes:
    """Return a policy as an ONNX model: `observation` in, `action` in the environment's units out.

    The normaliser computes in double precision, as it does in training; the network in single.

    Args:
        parts: The policy.
        sampling: Take `noise` as a second input, and give a sample instead of the best action.
        about: Facts that the file carries in its metadata.
    """
    graph = _Graph()
    record = parts.record
    features = _trunk(graph, parts, _rows(graph, parts))
    outputs = graph.dense(features, parts.head)
    if parts.head_limit is not None:
        outputs = graph.clamp(outputs, np.float32(-parts.head_limit), np.float32(parts.head_limit))
    if sampling:
        outputs = _sampled(graph, parts, features, outputs)
    if parts.is_choice:
        action = graph.node("ArgMax", outputs, axis=1, keepdims=0)
    else:
        action = _in_units(graph, parts, outputs)
        if len(record.action_space.shape) != 1:
            shape = np.array([-1, *record.action_space.shape], np.int64)
            action = graph.node("Reshape", action, graph.constant(shape))
    graph.node("Identity", action, output=ACTION)
    inputs = [_value(OBSERVATION, parts.observation_dtype, record.observation_space.shape)]
    if sampling and parts.noise is not None:
        inputs.append(_value(NOISE, np.dtype(np.float32), parts.noise.shape))
    output = _value(ACTION, parts.action_dtype, record.action_space.shape)
    model = helper.make_model(
        helper.make_graph(graph.nodes, "policy", inputs, [output], graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="workbench",
    )
    helper.set_model_props(model, about)
    onnx.checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


class _Graph:
    """Nodes and constants, each result under a name of its own."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: NDArray[Any]) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        name = output or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def dense(self, inputs: str, layer: tuple[NDArray[Any], NDArray[Any]]) -> str:
        return self.node("Gemm", inputs, self.constant(layer[0]), self.constant(layer[1]), transB=1)

    def clamp(self, inputs: str, low: Any, high: Any) -> str:
        # Clip knows one bound for all elements only.
        lifted = self.node("Max", inputs, self.constant(np.asarray(low)))
        return self.node("Min", lifted, self.constant(np.asarray(high)))

    def cast(self, inputs: str, dtype: type[np.generic]) -> str:
        return self.node("Cast", inputs, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def _rows(graph: _Graph, parts: Parts) -> str:
    """Return what the network reads: a row of single-precision numbers for each observation."""
    space = parts.record.observation_space
    if space.kind == "discrete":
        return graph.node("Gather", graph.constant(np.eye(space.size, dtype=np.float32)), OBSERVATION, axis=0)
    rows = OBSERVATION if len(space.shape) == 1 else graph.node("Flatten", OBSERVATION, axis=1)
    normalizer = parts.normalizer
    if normalizer is not None:
        if parts.observation_dtype != np.float64:
            rows = graph.cast(rows, np.float64)
        rows = graph.node("Sub", rows, graph.constant(normalizer.mean))
        rows = graph.node("Div", rows, graph.constant(normalizer.scale))
        rows = graph.clamp(rows, np.float64(-normalizer.clip), np.float64(normalizer.clip))
        return graph.cast(rows, np.float32)
    return rows if parts.observation_dtype == np.float32 else graph.cast(rows, np.float32)


def _trunk(graph: _Graph, parts: Parts, rows: str) -> str:
    for layer in parts.trunk:
        rows = graph.dense(rows, layer)
        if parts.activation == "silu":
            rows = graph.node("Mul", rows, graph.node("Sigmoid", rows))
        else:
            rows = graph.node(ACTIVATIONS[parts.activation], rows)
    return rows


def _sampled(graph: _Graph, parts: Parts, features: str, outputs: str) -> str:
    if parts.is_choice:
        return graph.node("Add", outputs, NOISE)
    if parts.is_state_dependent:
        assert parts.std is not None
        # One map from features to actions for each row.
        scaled = graph.node("Mul", NOISE, graph.constant(parts.std))
        axis = graph.constant(np.array([1], np.int64))
        drawn = graph.node("MatMul", graph.node("Unsqueeze", features, axis), scaled)
        return graph.node("Add", outputs, graph.node("Squeeze", drawn, axis))
    if parts.log_std_head is None:
        assert parts.std is not None
        std = graph.constant(parts.std)
    else:
        log_std = graph.dense(features, parts.log_std_head)
        if parts.log_std_bounds is not None:
            low, high = parts.log_std_bounds
            log_std = graph.clamp(log_std, np.float32(low), np.float32(high))
        std = graph.node("Exp", log_std)
    return graph.node("Add", outputs, graph.node("Mul", NOISE, std))


def _in_units(graph: _Graph, parts: Parts, outputs: str) -> str:
    if parts.squash:
        # low + ½ (tanh + 1) (high − low), as Stable-Baselines3 brings actions from ±1 to their bounds.
        half = graph.constant(np.asarray(np.float32(0.5) * (parts.high - parts.low)))
        lifted = graph.node("Add", graph.node("Tanh", outputs), graph.constant(np.asarray(1, np.float32)))
        outputs = graph.node("Add", graph.node("Mul", lifted, half), graph.constant(parts.low))
    return graph.clamp(outputs, parts.low, parts.high) if parts.clip else outputs


def _value(name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(dtype), ["batch", *shape])
