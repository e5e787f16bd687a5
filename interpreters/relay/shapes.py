"""Shapes as values, and ops whose shape is an operand."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.meaning.accumulators import accumulator
from xrelay.dialects.relay.ops.dyn_shapes import CollapseSumToOp, DynBroadcastToOp, DynFullOp, DynReshapeOp, DynTileOp
from xrelay.dialects.relay.ops.shape_values import NdarraySizeOp, ShapeOfOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates


@evaluates(ShapeOfOp)
def evaluate_shape_of(op: ShapeOfOp, data: Array) -> Array:
    """Returns the extents."""
    return np.array(data.shape, np.int64).astype(numpy_dtype(op.dtype))


@evaluates(NdarraySizeOp)
def evaluate_ndarray_size(op: NdarraySizeOp, data: Array) -> Array:
    """Returns the number of elements."""
    return np.array(data.size, np.int64).astype(numpy_dtype(op.dtype))


@evaluates(DynReshapeOp)
def evaluate_dyn_reshape(op: DynReshapeOp, data: Array, newshape: Array) -> Array:
    """Reshapes; the error for shapes that do not match contains both."""
    extents = [int(extent) for extent in newshape]
    if not op.allowzero.value.data:
        short = next((place for place, extent in enumerate(extents) if extent == 0 and place >= data.ndim), None)
        if short is not None:
            raise InterpreterError(f"0 at place {short} of the shape {extents} copies no extent of {list(data.shape)}")
        extents = [data.shape[place] if extent == 0 else extent for place, extent in enumerate(extents)]
    if extents.count(-1) > 1 or any(extent < -1 for extent in extents):
        raise InterpreterError(f"the shape {extents} is illegal", help="extents are positive, 0, or at most one -1")
    known = int(np.prod([extent for extent in extents if extent != -1], dtype=np.int64))
    if (data.size != known) if -1 not in extents else (known == 0 or data.size % known):
        raise InterpreterError(f"data of shape {list(data.shape)} cannot be reshaped to {extents}")
    return data.reshape(extents)


@evaluates(DynBroadcastToOp)
def evaluate_dyn_broadcast_to(op: DynBroadcastToOp, data: Array, shape: Array) -> Array:
    """Broadcasts in both directions, as numpy does."""
    wanted = tuple(int(extent) for extent in shape)
    if any(extent < 0 for extent in wanted):
        raise InterpreterError(f"the shape {list(wanted)} has a negative extent")
    return np.broadcast_to(data, np.broadcast_shapes(data.shape, wanted)).copy()


@evaluates(CollapseSumToOp)
def evaluate_collapse_sum_to(op: CollapseSumToOp, data: Array, shape: Array) -> Array:
    """Sums over the axes that a broadcast from that shape repeats."""
    wanted = tuple(int(extent) for extent in shape)
    lacking = data.ndim - len(wanted)
    pairs = zip(data.shape[max(lacking, 0) :], wanted, strict=False)
    if lacking < 0 or any(want not in (1, own) for own, want in pairs):
        raise InterpreterError(f"[{op.name} C2] data of shape {list(data.shape)} does not collapse to {list(wanted)}")
    axes = tuple(axis for axis in range(data.ndim) if axis < lacking or wanted[axis - lacking] == 1)
    total = np.sum(data.astype(accumulator(data.dtype), copy=False), axis=axes, keepdims=True)
    return np.asarray(total, data.dtype).reshape(wanted)


@evaluates(DynFullOp)
def evaluate_dyn_full(op: DynFullOp, value: Array, shape: Array) -> Array:
    """Fills an array."""
    extents = [int(extent) for extent in shape]
    if any(extent < 0 for extent in extents):
        raise InterpreterError(f"the shape {extents} has a negative extent")
    return np.full(extents, value, value.dtype)


@evaluates(DynTileOp)
def evaluate_dyn_tile(op: DynTileOp, data: Array, reps: Array) -> Array:
    """Uses `np.tile`."""
    if (reps < 0).any():
        raise InterpreterError(f"[{op.name} C2] a number of repetitions is negative: {reps.tolist()}")
    return np.tile(data, reps.tolist())
