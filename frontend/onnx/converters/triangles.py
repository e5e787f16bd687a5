"""Trilu, EyeLike and ReverseSequence."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper
from xdsl.ir import SSAValue

from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.errors import TypeInferenceError
from xrelay.frontend.onnx.converters.shared.extents import known_axis
from xrelay.frontend.onnx.converters.shared.numbers import Numbers
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import MICROSOFT, converts
from xrelay.frontend.onnx.tensors import check_size


@converts("Trilu", since=14, attributes=("upper",))
@converts("Trilu", domain=MICROSOFT, attributes=("upper",))
def convert_trilu(node: NodeView) -> SSAValue:
    """`trilu`, at the main diagonal by default."""
    k = node.emit_constant(np.zeros((), np.int64), "k")
    if (given := node.optional_input(1)) is not None:
        k = node.reshape(given, [])
    upper = node.attribute_int("upper", 1, check=lambda value: value in (0, 1))
    return node.emit("trilu", node.input(0), k, upper=bool(upper))


@converts("EyeLike", since=9, attributes=("dtype", "k"))
def convert_eye_like(node: NodeView) -> SSAValue:
    """Ones on a diagonal; a constant if the extents of the input are known."""
    node.require_rank(0, 2)
    dtype, k = _eye_dtype(node), node.attribute_int("k", 0)
    numbers = Numbers(node)
    rows, columns = (numbers.extent(node.input(0), axis) for axis in (0, 1))
    if not (isinstance(rows, int) and isinstance(columns, int)):
        first = node.emit("add", numbers.arange(0, rows), numbers.value(k))
        is_one = node.emit("equal", node.emit("expand_dims", first, axis=1), numbers.arange(0, columns))
        return node.emit("cast", is_one, dtype=dtype)
    problem = check_size((rows, columns), dtype.itemsize)
    if problem is not None:
        raise node.error(problem)
    return node.emit_constant(np.eye(rows, columns, k=k, dtype=dtype), "eye")


def _eye_dtype(node: NodeView) -> np.dtype:
    """The element type in the attribute `dtype`, or that of the input."""
    number = node.attribute_int("dtype", TensorProto.UNDEFINED)
    if number == TensorProto.UNDEFINED:
        return numpy_dtype(node.element_type(0))
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(number))
        element_type(dtype)
    except (KeyError, TypeInferenceError) as error:
        raise node.illegal("dtype", number) from error
    return dtype


@converts("ReverseSequence", since=10, attributes=("batch_axis", "time_axis"))
def convert_reverse_sequence(node: NodeView) -> SSAValue:
    """`reverse_sequence`; batch and time are the first two axes."""
    rank = len(node.shape(0))
    time = known_axis(node, node.attribute_int("time_axis", 0), rank)
    batch = known_axis(node, node.attribute_int("batch_axis", 1), rank)
    return node.emit("reverse_sequence", node.input(0), node.input(1), seq_axis=time, batch_axis=batch)
