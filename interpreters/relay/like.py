"""Ops that take a shape or an element type from another tensor, whose elements are not read."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.meaning.accumulators import accumulator
from xrelay.dialects.relay.ops.tensor.like import (
    BroadcastToLikeOp,
    CastLikeOp,
    CollapseSumLikeOp,
    ReshapeLikeOp,
    SliceLikeOp,
)
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.dialects.shared.types import shape_of
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates


@evaluates(CastLikeOp)
def evaluate_cast_like(op: CastLikeOp, data: Array, dtype_like: Array) -> Array:
    """Converts with one rounding."""
    return cast_once(data, dtype_like.dtype)


@evaluates(BroadcastToLikeOp)
def evaluate_broadcast_to_like(op: BroadcastToLikeOp, data: Array, broadcast_type: Array) -> Array:
    """Broadcasts as numpy does."""
    return np.broadcast_to(data, broadcast_type.shape)


@evaluates(ReshapeLikeOp)
def evaluate_reshape_like(op: ReshapeLikeOp, data: Array, shape_like: Array) -> Array:
    """Replaces the extents of the range of axes."""
    own, new = op.exchanged(data.ndim, shape_like.ndim)
    return data.reshape((*data.shape[: own.start], *shape_like.shape[new], *data.shape[own.stop :]))


@evaluates(SliceLikeOp)
def evaluate_slice_like(op: SliceLikeOp, data: Array, shape_like: Array) -> Array:
    """Slices the first elements along each axis."""
    axes = [axis % data.ndim for axis in ints(op.axes)] or range(min(data.ndim, shape_like.ndim))
    places = [slice(None)] * data.ndim
    for axis in axes:
        if shape_like.shape[axis] > data.shape[axis]:
            raise InterpreterError(
                f"axis {axis} has {data.shape[axis]} elements, {shape_like.shape[axis]} are to be kept"
            )
        places[axis] = slice(shape_like.shape[axis])
    return data[tuple(places)]


@evaluates(CollapseSumLikeOp)
def evaluate_collapse_sum_like(op: CollapseSumLikeOp, data: Array, collapse_type: Array) -> Array:
    """Sums over the broadcast axes."""
    axes = op.summed_axes(shape_of(op.data.type), shape_of(op.collapse_type.type))
    total = np.sum(data.astype(accumulator(data.dtype), copy=False), axis=axes, keepdims=True)
    return np.asarray(total, data.dtype).reshape(collapse_type.shape)
