"""DynamicQuantizeLSTM, which onnxruntime's dynamic quantisation generates from LSTMs."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.definition import (
    FLOAT32,
    INT32,
    MICROSOFT,
    NodeView,
    Numbers,
    converted,
    converts,
    extent_value,
    shape_text,
    static_shape,
)
from xrelay.frontend.onnx.converters.microsoft.quantized_matmul import by_range
from xrelay.frontend.onnx.converters.nn.recurrent import LSTM_ATTRIBUTES, long_short_term_memory, of_direction
from xrelay.frontend.onnx.converters.nn.recurrent_cells import Apply

_POINTS = {1: 9, 2: 11}
"""Maps the inputs W and R to the inputs with their zero points; the input before each is the scale."""


@converts("DynamicQuantizeLSTM", domain=MICROSOFT, attributes=LSTM_ATTRIBUTES)
def convert_dynamic_quantize_lstm(node: NodeView) -> list[SSAValue]:
    """An LSTM whose input, and whose states at every time step, are quantised to u8, as its weights are.

    The range covers all elements of the input, or the states of all sequences that have not ended. Products are added
    in i32 and then scaled. The gates are along the last axis of W and R.
    """
    weights = [_distances(node, index, point) for index, point in _POINTS.items()]
    scales = {index: _of_gates(node, point - 1, index) for index, point in _POINTS.items()}

    def multiply(plain: NodeView, index: int, number: int) -> Apply:
        weight = of_direction(plain, index, number)
        factor = node.emit("take", scales[index], node.emit_ints(number, "number"), axis=0)

        def product(inner: NodeView, value: SSAValue) -> SSAValue:
            distances, scale = by_range(inner, value)
            total = inner.emit("nn.matmul", distances, weight, transpose_b=True)
            return inner.emit("multiply", converted(inner, total, FLOAT32), inner.emit("multiply", scale, factor))

        return product

    plain = node.with_inputs([_within_lengths(node), *weights, *node.inputs[3:8]])
    return long_short_term_memory(plain, multiply)


def _within_lengths(node: NodeView) -> SSAValue:
    """The input, with zeros at the time steps after the end of all sequences."""
    x = node.input(0)
    if node.optional_input(4) is None or len(node.shape(0)) != 3:
        return x
    times = Numbers(node).arange(0, extent_value(node, x, 0))
    longest = node.emit("max", node.emit("cast", node.input(4), dtype="int64"))
    runs = node.emit("expand_dims", node.emit("less", times, longest), axis=1, num_newaxis=2)
    return node.emit("where", runs, x, node.scalar(0.0, x))


def _distances(node: NodeView, index: int, point: int) -> SSAValue:
    """W or R minus its zero points, in i32, transposed to ONNX's layout with the gates before the last axis."""
    points = _of_gates(node, point, index)
    distances = node.emit("subtract", converted(node, node.input(index), INT32), converted(node, points, INT32))
    return node.emit("transpose", distances, axes=(0, 2, 1))


def _of_gates(node: NodeView, index: int, weight: int) -> SSAValue:
    """Input `index`, one number per direction or per gate, in a shape that broadcasts to input `weight`."""
    shape = static_shape(node, node.input(weight))
    if len(shape) != 3:
        raise node.error(f"input #{weight} is {node.input(weight).type}: directions, rows and gates are expected")
    own = static_shape(node, node.input(index))
    directions, _, gates = shape
    if own not in ((directions,), (directions, gates)):
        text = f"{shape_text((directions,))} or {shape_text((directions, gates))}"
        raise node.error(f"input #{index} has the shape {shape_text(own)}: {text} is expected")
    return node.emit("expand_dims", node.input(index), axis=1, num_newaxis=3 - len(own))
