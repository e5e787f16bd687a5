"""Updates at indices from an operand: scatter_elements, scatter_nd."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.ops.tensor_scatter import ScatterElementsOp, ScatterNDOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.gather import element_places, tuple_parts
from xrelay.interpreters.relay.registry import evaluates

_COMBINED = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def _put(data: Array, places: tuple[Array, ...], updates: Array, reduction: str) -> Array:
    """Returns the data with updates applied in row-major order."""
    result = data.copy()
    if reduction == "update":
        for point in np.ndindex(updates.shape):
            result[tuple(index[point] for index in places)] = updates[point]
    else:
        _COMBINED[reduction].at(result, places, updates)
    return result


@evaluates(ScatterElementsOp)
def evaluate_scatter_elements(op: ScatterElementsOp, data: Array, indices: Array, updates: Array) -> Array:
    """Updates elements at the indices along the axis, and at the update's index along the others."""
    axis = op.axis_index(data.ndim)
    places = np.broadcast_arrays(*element_places(indices, axis, data.shape[axis]))
    return _put(data, tuple(places), updates, op.reduction.data)


@evaluates(ScatterNDOp)
def evaluate_scatter_nd(op: ScatterNDOp, data: Array, indices: Array, updates: Array) -> Array:
    """Updates slices at index tuples."""
    places = indices.shape[1:]
    parts = tuple_parts(indices, data.shape)
    slices = data.shape[len(parts) :]
    own = np.indices((*places, *slices), sparse=True)[len(places) :]
    at = [part.reshape((*places, *(1,) * len(slices))) for part in parts]
    full = (*places, *slices)
    return _put(data, tuple(np.broadcast_to(index, full) for index in (*at, *own)), updates, op.mode.data)
