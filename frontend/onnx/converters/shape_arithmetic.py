"""Ops that exporters use to compute shapes, on constants alone: relay has no operator for them.

Source of the meanings: ONNX Operators (onnx/docs/Operators.md).
"""

from __future__ import annotations

from math import ceil

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.converters.slice import cut
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import converts
from xrelay.frontend.onnx.tensors import check_size

_CONSTANTS = "constants alone"


def _constants(node: NodeView, count: int) -> list[Array]:
    """The values of the first `count` inputs; an error where one is computed at run time."""
    values = [node.constant(index) for index in range(count)]
    known = [value for value in values if value is not None]
    if len(known) != count:
        raise _not_constant(node)
    return known


def _not_constant(node: NodeView) -> ModelImportError:
    return node.error(
        f"{node.proto.op_type} is supported on constants alone (shape arithmetic), and its inputs are not constant",
        help="fix the model's input shapes with shapes={…}",
    )


@converts("Shape", attributes=("start", "end"))
def convert_shape(node: NodeView) -> SSAValue:
    """`shape_of`, of which the slice `start:end` (opset 15) is taken."""
    rank = len(node.shape(0))
    first, last, _ = slice(node.attribute_int("start", 0), node.attribute_int("end", rank)).indices(rank)
    shape = node.emit("shape_of", node.input(0))
    return cut(node, shape, {0: range(first, max(first, last))})


@converts("Size")
def convert_size(node: NodeView) -> SSAValue:
    """`ndarray_size`."""
    return node.emit("ndarray_size", node.input(0))


@converts("Range", since=11, limits=_CONSTANTS)
def convert_range(node: NodeView) -> SSAValue:
    """`start + i * delta` for `i` below `max(ceil((limit - start) / delta), 0)`; integers are counted exactly."""
    bounds = _constants(node, 3)
    wrong = next((bound for bound in bounds if bound.size != 1), None)
    if wrong is not None:
        raise node.error(f"a bound of Range must be one number, found {wrong.dtype}{list(wrong.shape)}")
    start, limit, delta = (bound.reshape(-1)[0].item() for bound in bounds)
    dtype = bounds[0].dtype
    if delta == 0 or not all(np.isfinite(bound) for bound in (start, limit, delta)):
        raise node.error(f"Range from {start} to {limit} by {delta} has no number of elements")
    count = -((start - limit) // delta) if dtype.kind in "iu" else ceil((limit - start) / delta)
    problem = check_size((max(count, 0),), dtype.itemsize)
    if problem is not None:
        raise node.error(problem)
    steps: Array = np.arange(max(int(count), 0), dtype=np.int64).astype(dtype)
    return node.emit_constant(np.asarray(bounds[0].reshape(-1) + steps * bounds[2].reshape(-1), dtype), "range")
