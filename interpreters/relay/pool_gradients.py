"""Gradients of pools."""

from __future__ import annotations

from functools import reduce
from math import prod

import numpy as np

from xrelay.dialects.relay.meaning.layouts import from_plain, to_plain
from xrelay.dialects.relay.meaning.windows import seen_by
from xrelay.dialects.relay.ops.nn_pool_grad import AVG_POOL_GRADIENTS, MAX_POOL_GRADIENTS, AvgPoolGradOp, PoolGradOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.pooling import first_maxima, places_that_count
from xrelay.interpreters.relay.registry import evaluates


@evaluates(*MAX_POOL_GRADIENTS)
def evaluate_max_pool_grad(op: PoolGradOp, out_grad: Array, data: Array) -> Array:
    """Adds the gradient of each window at its first greatest element, in double precision."""
    plain, grads = _plain(op, out_grad, data)
    window = op.window(op.sizes)
    size = prod(plain.shape[2:])
    places = np.arange(size, dtype=np.int64).reshape(plain.shape[2:])
    found = first_maxima(plain, places, window, grads.shape[2:])
    found = found.reshape(prod(plain.shape[:2]), prod(grads.shape[2:]))
    # Windows without data add to an additional element, which is dropped.
    result = np.zeros((len(found), size + 1), np.float64)
    rows = np.broadcast_to(np.arange(len(found))[:, None], found.shape)
    np.add.at(result, (rows, np.where(found < 0, size, found)), grads.reshape(found.shape))
    return from_plain(result[:, :size].reshape(plain.shape), op.image_axes, op.layouts[0]).astype(data.dtype)


@evaluates(*AVG_POOL_GRADIENTS)
def evaluate_avg_pool_grad(op: AvgPoolGradOp, out_grad: Array, data: Array) -> Array:
    """Adds the shares of windows to their elements, tap by tap, in double precision."""
    plain, grads = _plain(op, out_grad, data)
    window, counts = op.window(op.sizes), grads.shape[2:]
    padded = bool(op.count_include_pad.value.data)
    rows = list(zip(window, plain.shape[2:], counts, strict=True))
    divisors = reduce(np.multiply.outer, [places_that_count(*row, padded=padded) for row in rows])
    shares = grads.astype(np.float64) / np.maximum(divisors, 1)
    extents = plain.shape[2:]
    # Elements outside of the data add to an additional element at the end of each axis, which is dropped.
    whole = np.zeros((*plain.shape[:2], *(extent + 1 for extent in extents)), np.float64)
    for tap in np.ndindex(*(axis.size for axis in window)):
        whole[seen_by(tap, window, counts, extents)] += shares
    inside = whole[(..., *map(slice, extents))]
    return from_plain(inside, op.image_axes, op.layouts[0]).astype(data.dtype)


def _plain(op: PoolGradOp, out_grad: Array, data: Array) -> tuple[Array, Array]:
    """Returns the data and the gradient of the pool's result in the plain order of axes."""
    layout, out_layout = op.layouts
    return to_plain(data, layout, op.image_axes), to_plain(out_grad, out_layout, op.image_axes)
