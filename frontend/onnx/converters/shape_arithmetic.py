"""Ops that exporters use to compute shapes, on constants alone: relay has no operator for them.

Source of the meanings: ONNX Operators (onnx/docs/Operators.md).
"""

from __future__ import annotations

from math import ceil

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import ModelImportError
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


def _broadcast(node: NodeView, values: list[Array]) -> list[Array]:
    """The values in the shape that they broadcast to; an error where there is none, or where it is too large."""
    try:
        shape = tuple(int(extent) for extent in np.broadcast_shapes(*(value.shape for value in values)))
    except ValueError as error:
        shapes = ", ".join(str(list(value.shape)) for value in values)
        raise node.error(f"shapes {shapes} do not broadcast") from error
    problem = check_size(shape, max(value.itemsize for value in values))
    if problem is not None:
        raise node.error(problem)
    return [np.broadcast_to(value, shape) for value in values]


def _known_shape(node: NodeView) -> tuple[int, ...] | None:
    shape = node.shape(0)
    known = tuple(extent for extent in shape if isinstance(extent, int))
    return known if len(known) == len(shape) else None


@converts("Shape", attributes=("start", "end"), limits="known extents")
def convert_shape(node: NodeView) -> SSAValue:
    """The extents of the input, which must be known in the slice `start:end` (opset 15) that is asked for."""
    shape = node.shape(0)
    extents = shape[slice(node.attribute_int("start", 0), node.attribute_int("end", len(shape)))]
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) != len(extents):
        raise _not_constant(node)
    return node.emit_constant(np.array(known, dtype=np.int64), "shape")


@converts("Size", limits="known extents")
def convert_size(node: NodeView) -> SSAValue:
    """The number of elements of the input, whose extents must be known."""
    shape = _known_shape(node)
    if shape is None:
        raise _not_constant(node)
    return node.emit_constant(np.array(np.prod(shape, dtype=np.int64)), "size")


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


@converts("Floor", limits=_CONSTANTS)
def convert_floor(node: NodeView) -> SSAValue:
    """The greatest whole number that is not greater than x."""
    return node.emit_constant(np.floor(_constants(node, 1)[0]), "floor")


@converts("Ceil", limits=_CONSTANTS)
def convert_ceil(node: NodeView) -> SSAValue:
    """The least whole number that is not less than x."""
    return node.emit_constant(np.ceil(_constants(node, 1)[0]), "ceil")


@converts("Mod", since=10, attributes=("fmod",), limits=_CONSTANTS)
def convert_mod(node: NodeView) -> SSAValue:
    """The remainder with the sign of the divisor; with `fmod`, which floats need, that of the dividend."""
    x, y = _broadcast(node, _constants(node, 2))
    if node.attribute_int("fmod", 0, check=lambda value: value in (0, 1)):
        remainder = np.fmod
    elif x.dtype.kind not in "iu":
        raise node.error(f"attribute 'fmod' must be 1 for {x.dtype}")
    else:
        remainder = np.remainder
    if x.dtype != y.dtype or (y.dtype.kind in "iu" and not y.all()):
        raise node.error(f"{x.dtype} modulo {y.dtype}: one type, and divisors other than 0, are expected")
    return node.emit_constant(np.asarray(remainder(x, y), x.dtype), "mod")


@converts("Not", limits=_CONSTANTS)
def convert_not(node: NodeView) -> SSAValue:
    """The negation of truth values."""
    (x,) = _constants(node, 1)
    if x.dtype != np.bool_:
        raise node.error(f"truth values are expected, found {x.dtype}")
    return node.emit_constant(np.logical_not(x), "not")
