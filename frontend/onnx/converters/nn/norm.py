"""BatchNormalization."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import AnyFloat, f64
from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import NodeView, as_input, converted, converts, element_type_of


def _training_refusal(node: NodeView) -> str | None:
    """The reason why a node before opset 14 is refused: it trains if statistics outputs are used, or by `is_test`."""
    if node.opset < 7 and not node.attribute_int("is_test", 0):
        return "attribute 'is_test' = 0: only inference is supported before opset 14"
    read = [output for output in node.outputs[1:] if output]
    if read:
        return f"output {read[0]!r} is for training only, but the model reads it"
    return None


def _inference_refusal(node: NodeView) -> str | None:
    """The reason why a node from opset 14 on is refused."""
    return None if node.attribute_int("training_mode", 0) else _training_refusal(node)


@converts(
    "BatchNormalization",
    until=8,
    attributes=("epsilon", "momentum", "spatial", "is_test", "consumed_inputs"),
    supports=_training_refusal,
    limits="inference",
)
def convert_batch_normalization_1(node: NodeView) -> SSAValue:
    """BatchNormalization of old opsets; if `spatial` is 0, with statistics per element of a sample."""
    if node.attribute_flag("spatial", True):
        return _normalized(node, node.input(0), [node.input(index) for index in range(1, 5)])
    data, scale, bias, mean, variance = _widened(node)
    deviation = node.emit("sqrt", node.emit("add", variance, node.scalar(_epsilon(node), variance)))
    normal = node.emit("divide", node.emit("subtract", data, mean), deviation)
    return as_input(node, node.emit("add", node.emit("multiply", normal, scale), bias))


@converts(
    "BatchNormalization",
    since=9,
    until=13,
    attributes=("epsilon", "momentum"),
    supports=_training_refusal,
    limits="inference",
)
@converts(
    "BatchNormalization",
    since=14,
    attributes=("epsilon", "momentum", "training_mode"),
    supports=_inference_refusal,
)
def convert_batch_normalization(node: NodeView) -> SSAValue | list[SSAValue]:
    """`nn.batch_norm` over axis 1; in training with the statistics of the data, and running statistics as outputs."""
    if not node.attribute_int("training_mode", 0):
        return _normalized(node, node.input(0), [node.input(index) for index in range(1, 5)])
    data, scale, bias, running_mean, running_variance = _widened(node)
    mean, variance = _statistics(node, data)
    kept = node.attribute_float("momentum", 0.9)
    outputs = [_normalized(node, data, [scale, bias, mean, variance])]
    for index, running, current in ((3, running_mean, mean), (4, running_variance, variance)):
        old = node.emit("multiply", running, node.scalar(kept, running))
        new = node.emit("multiply", current, node.scalar(1 - kept, current))
        outputs.append(as_input(node, node.emit("add", old, new), index))
    return outputs[: len(node.proto.output)]


def _statistics(node: NodeView, data: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Mean and variance of each channel."""
    rank = len(node.shape(0))
    others = tuple(axis for axis in range(rank) if axis != 1)
    mean = node.emit("mean", data, axis=others, keepdims=True)
    variance = node.emit("variance", data, mean, axis=others)
    return node.emit("squeeze", mean, axis=others), variance


def _normalized(node: NodeView, data: SSAValue, vectors: list[SSAValue]) -> SSAValue:
    """`nn.batch_norm` with operands cast to one element type; the result has the type of the node's first input."""
    if any(element_type_of(vector.type) != element_type_of(data.type) for vector in vectors):
        data, *vectors = _of_one_type(node, [data, *vectors])
    result = node.emit("nn.batch_norm", data, *vectors, axis=1, epsilon=_epsilon(node))
    return as_input(node, node.tuple_field(result, 0))


def _widened(node: NodeView) -> list[SSAValue]:
    """The five inputs in one type, f32 or f64."""
    return _of_one_type(node, [node.input(index) for index in range(5)])


def _of_one_type(node: NodeView, values: list[SSAValue]) -> list[SSAValue]:
    """The values in f64 if one of them is, else in f32."""
    elements = [element_type_of(value.type) for value in values]
    if not all(isinstance(element, AnyFloat) for element in elements):
        raise node.error(f"the element types must be floats, found {', '.join(map(str, elements))}")
    double = any(element == f64 for element in elements)
    return [converted(node, value, np.dtype(np.float64 if double else np.float32)) for value in values]


def _epsilon(node: NodeView) -> float:
    return node.attribute_float("epsilon", 1e-5)
