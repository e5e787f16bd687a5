"""Constant tensors, stacks and ranges."""

from __future__ import annotations

import math

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.tensor_fill import (
    ConstantLikeOp,
    ConstantOfShapeOp,
    FullLikeOp,
    FullOp,
    OnesLikeOp,
    OnesOp,
    StackOp,
    ZerosLikeOp,
    ZerosOp,
)
from xrelay.dialects.relay.ops.tensor_range import ArangeOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.dialects.shared.types import element_type_of
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates


@evaluates(FullOp)
def evaluate_full(op: FullOp, fill_value: Array) -> Array:
    """Fills an array."""
    dtype = fill_value.dtype if op.dtype is None else numpy_dtype(op.dtype)
    return np.full(ints(op.shape), cast_once(fill_value, dtype), dtype)


@evaluates(FullLikeOp)
def evaluate_full_like(op: FullLikeOp, data: Array, fill_value: Array) -> Array:
    """Fills an array."""
    return np.full(data.shape, cast_once(fill_value, data.dtype), data.dtype)


@evaluates(ZerosLikeOp, OnesLikeOp)
def evaluate_constant_like(op: ConstantLikeOp, data: Array) -> Array:
    """Fills an array."""
    return np.full(data.shape, op.NUMBER, data.dtype)


@evaluates(ZerosOp, OnesOp)
def evaluate_constant_of_shape(op: ConstantOfShapeOp) -> Array:
    """Fills an array."""
    return np.full(ints(op.shape), op.NUMBER, numpy_dtype(element_type_of(op.result.type)))


@evaluates(StackOp)
def evaluate_stack(op: StackOp, data: tuple[Array, ...]) -> Array:
    """Stacks the fields."""
    return np.stack(data, op.axis.value.data)


@evaluates(ArangeOp)
def evaluate_arange(op: ArangeOp, start: Array, stop: Array, step: Array) -> Array:
    """Computes the number of elements exactly for integers, and in double precision for floats."""
    first, last, by = (bound.item() for bound in (start, stop, step))
    if by == 0 or not all(math.isfinite(bound) for bound in (first, last, by)):
        raise InterpreterError(f"from {first} to {last} by {by} there is no number of elements")
    count = -((first - last) // by) if start.dtype.kind in "iu" else math.ceil((last - first) / by)
    places: Array = np.arange(max(int(count), 0), dtype=np.int64).astype(start.dtype)
    return np.asarray(start + places * step, start.dtype)
