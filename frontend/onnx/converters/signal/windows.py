"""HannWindow, HammingWindow and BlackmanWindow."""

from __future__ import annotations

from math import pi

import numpy as np
import onnx
from xdsl.ir import SSAValue

from xrelay.errors import TypeInferenceError
from xrelay.frontend.onnx.converters.definition import NodeView, converts, scalar_input

_COEFFICIENTS = {
    "HannWindow": (0.5, -0.5),
    "HammingWindow": (25 / 46, -21 / 46),
    "BlackmanWindow": (0.42, -0.5, 0.08),
}
"""The coefficients of the cosines with 0, 1 and 2 periods."""


@converts("HannWindow", since=17, attributes=("output_datatype", "periodic"))
@converts("HammingWindow", since=17, attributes=("output_datatype", "periodic"))
@converts("BlackmanWindow", since=17, attributes=("output_datatype", "periodic"))
def convert_window(node: NodeView) -> SSAValue:
    """A sum of cosines over one period, in f64 up to the final cast; a window of one element has angle 0."""
    if node.shape(0) not in ((), (1,)):
        raise node.error(f"the size of a window must be one number, found {node.input(0).type}")
    size = node.emit("cast", scalar_input(node, 0), dtype="int64")
    steps = node.emit("arange", node.scalar(0, size), size, node.scalar(1, size))
    period = size if node.attribute_int("periodic", 1) else node.emit("subtract", size, node.scalar(1, size))
    period = node.emit("cast", node.emit("maximum", period, node.scalar(1, period)), dtype="float64")
    angles = node.emit("cast", steps, dtype="float64")
    angles = node.emit("divide", node.emit("multiply", angles, node.scalar(2 * pi, angles)), period)
    constant, *factors = _COEFFICIENTS[node.proto.op_type]
    total = node.emit("multiply", node.emit("cos", angles), node.scalar(factors[0], angles))
    for number, factor in enumerate(factors[1:], 2):
        more = node.emit("cos", node.emit("multiply", angles, node.scalar(number, angles)))
        total = node.emit("add", total, node.emit("multiply", more, node.scalar(factor, angles)))
    return node.emit("cast", node.emit("add", total, node.scalar(constant, total)), dtype=output_dtype(node))


def output_dtype(node: NodeView) -> np.dtype:
    """Returns the dtype in attribute `output_datatype`."""
    target = node.attribute_int("output_datatype", onnx.TensorProto.FLOAT)
    try:
        return onnx.helper.tensor_dtype_to_np_dtype(target)
    except (KeyError, TypeInferenceError) as error:
        raise node.illegal("output_datatype", target) from error
