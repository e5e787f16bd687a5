"""DynamicQuantizeLSTM, which onnxruntime's dynamic quantisation makes of LSTMs."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.frontend.onnx.converters.extents import extent_value, static_shape
from xrelay.frontend.onnx.converters.microsoft_quantization import FLOAT32, INT32
from xrelay.frontend.onnx.converters.microsoft_quantized_products import by_range
from xrelay.frontend.onnx.converters.numbers import Numbers
from xrelay.frontend.onnx.converters.quantization import converted
from xrelay.frontend.onnx.converters.recurrent import LSTM_ATTRIBUTES, long_short_term_memory
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import MICROSOFT, converts
from xrelay.index_algebra.dims import shape_text


@converts("DynamicQuantizeLSTM", domain=MICROSOFT, attributes=LSTM_ATTRIBUTES)
def convert_dynamic_quantize_lstm(node: NodeView) -> list[SSAValue]:
    """An LSTM of what its weights stand for; its input, and the states at every time, are rounded to 256 values.

    Those are spread over the range of all numbers of the input, or of the state of all sequences that have not ended.
    The products of such numbers are those of their integers, scaled. W and R stand with the gates along the last axis.
    """
    weights = [_weight(node, index, 8 + 2 * number) for number, index in enumerate((1, 2))]
    plain = node.with_inputs([_rounded(node, _within_lengths(node)), *weights, *node.inputs[3:8]])
    return long_short_term_memory(plain, _rounded)


def _within_lengths(node: NodeView) -> SSAValue:
    """The input, with zeros at the times when all sequences have ended."""
    x = node.input(0)
    if node.optional_input(4) is None or len(node.shape(0)) != 3:
        return x
    times = Numbers(node).arange(0, extent_value(node, x, 0))
    longest = node.emit("max", node.emit("cast", node.input(4), dtype="int64"))
    runs = node.emit("expand_dims", node.emit("less", times, longest), axis=1, num_newaxis=2)
    return node.emit("where", runs, x, node.scalar(0.0, x))


def _rounded(node: NodeView, value: SSAValue) -> SSAValue:
    """What `value`, quantised by its own range, stands for."""
    distance, scale = by_range(node, value)
    return node.emit("multiply", converted(node, distance, FLOAT32), scale)


def _weight(node: NodeView, index: int, scale: int) -> SSAValue:
    """What the bytes of W or R stand for, with the gates before the last axis, as ONNX has them."""
    shape = static_shape(node, node.input(index))
    if len(shape) != 3:
        raise node.error(f"input #{index} is {node.input(index).type}: directions, rows and gates are expected")
    points = _of_gates(node, scale + 1, shape)
    distance = node.emit("subtract", converted(node, node.input(index), INT32), converted(node, points, INT32))
    value = node.emit("multiply", converted(node, distance, FLOAT32), _of_gates(node, scale, shape))
    return node.emit("transpose", value, axes=(0, 2, 1))


def _of_gates(node: NodeView, index: int, shape: tuple[int, ...]) -> SSAValue:
    """Input `index`, a number for each direction or for each of its gates, so that it broadcasts."""
    own = static_shape(node, node.input(index))
    directions, _, gates = shape
    if own not in ((directions,), (directions, gates)):
        text = f"{shape_text((directions,))} or {shape_text((directions, gates))}"
        raise node.error(f"input #{index} has the shape {shape_text(own)}: {text} is expected")
    return node.emit("expand_dims", node.input(index), axis=1, num_newaxis=3 - len(own))
