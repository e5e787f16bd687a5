"""Pools over the spatial axes of images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod

import numpy as np

from xrelay.dialects.relay.meaning.integer_division import truncated_quotient
from xrelay.dialects.relay.meaning.layouts import from_plain, to_plain
from xrelay.dialects.relay.meaning.value_range import value_range
from xrelay.dialects.relay.meaning.windows import taps
from xrelay.dialects.relay.ops.nn_pool import (
    AVG_POOLS,
    GLOBAL_AVG_POOLS,
    GLOBAL_MAX_POOLS,
    MAX_POOLS,
    AvgPoolOp,
    PoolOp,
    WindowPoolOp,
)
from xrelay.dialects.relay.ops.nn_pool_indices import MAX_POOL_INDICES, MaxPoolIndicesOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.index_algebra.windows import WindowAxis
from xrelay.interpreters.relay.registry import evaluates


@evaluates(*MAX_POOLS)
def evaluate_max_pool(op: WindowPoolOp, data: Array) -> Array:
    """Returns the greatest element of each window."""
    return _laid_out(op, _fold(op, _plain(op, data), value_range(data.dtype)[0], np.maximum))


@evaluates(*MAX_POOL_INDICES)
def evaluate_max_pool_indices(op: MaxPoolIndicesOp, data: Array) -> Array:
    """Returns the index of each window's first greatest element (NaN is the greatest); -1 for an empty window."""
    plain = _plain(op, data)
    order = "F" if op.column_major.value.data else "C"
    places = np.arange(prod(plain.shape[2:]), dtype=np.int64).reshape(plain.shape[2:], order=order)
    window, partial = op.window(op.sizes), bool(op.ceil_mode.value.data)
    counts = [axis.count(extent, partial=partial) for axis, extent in zip(window, plain.shape[2:], strict=True)]
    return _laid_out(op, first_maxima(plain, places, window, counts))


def first_maxima(plain: Array, places: Array, window: Sequence[WindowAxis[int]], counts: Sequence[int]) -> Array:
    """Returns `places` at the first greatest element of each window of (N, C, …); -1 for windows without data."""
    best = np.full((*plain.shape[:2], *counts), value_range(plain.dtype)[0], plain.dtype)
    found = np.full(best.shape, -1, np.int64)
    seen = zip(taps(plain, window, counts, 0), taps(places[None, None], window, counts, -1), strict=True)
    for values, at in seen:
        better = (found == -1) | (values > best) | (np.isnan(values) & ~np.isnan(best))
        taken = (at != -1) & better
        best, found = np.where(taken, values, best), np.where(taken, at, found)
    return found


@evaluates(*AVG_POOLS)
def evaluate_avg_pool(op: AvgPoolOp, data: Array) -> Array:
    """Returns the mean of each window, summed in double precision; means of integers are truncated."""
    whole = data.dtype.kind in "iu"
    total, count = sums_and_counts(op, data.astype(np.int64 if whole else np.float64))
    mean = truncated_quotient(total, np.broadcast_to(count, total.shape)) if whole else total / count
    return _laid_out(op, mean.astype(data.dtype))


def sums_and_counts(op: AvgPoolOp, data: Array) -> tuple[Array, Array]:
    """Returns the sum of each window in the plain order of axes, and its divisor, which broadcasts."""
    plain = _plain(op, data)
    total = _fold(op, plain, 0, np.add)
    shapes = zip(op.window(op.sizes), plain.shape[2:], total.shape[2:], strict=True)
    padded = bool(op.count_include_pad.value.data)
    return total, np.maximum(reduce(np.multiply.outer, [places_that_count(*row, padded=padded) for row in shapes]), 1)


@evaluates(*GLOBAL_AVG_POOLS)
def evaluate_global_avg_pool(op: PoolOp, data: Array) -> Array:
    """Returns the mean over the spatial axes, summed in double precision; integer means are truncated, 0 if empty."""
    plain = _plain(op, data)
    if data.dtype.kind in "iu":
        whole = np.asarray(np.sum(plain, axis=_spatial(plain), keepdims=True, dtype=np.int64))
        count = np.full(whole.shape, max(prod(plain.shape[2:]), 1), np.int64)
        return _laid_out(op, truncated_quotient(whole, count).astype(data.dtype))
    total = np.sum(plain, axis=_spatial(plain), keepdims=True, dtype=np.float64)
    return _laid_out(op, (total / np.float64(prod(plain.shape[2:]))).astype(data.dtype))


@evaluates(*GLOBAL_MAX_POOLS)
def evaluate_global_max_pool(op: PoolOp, data: Array) -> Array:
    """Returns the greatest element over the spatial axes."""
    plain, least = _plain(op, data), value_range(data.dtype)[0]
    return _laid_out(op, np.max(plain, axis=_spatial(plain), keepdims=True, initial=least))


def _spatial(plain: Array) -> tuple[int, ...]:
    return tuple(range(2, plain.ndim))


def _plain(op: PoolOp, data: Array) -> Array:
    return to_plain(data, op.layouts[0], op.image_axes)


def _laid_out(op: PoolOp, result: Array) -> Array:
    return from_plain(result, op.image_axes, op.layouts[1])


def _fold(op: WindowPoolOp, data: Array, neutral: float, combine: Callable[[Array, Array], Array]) -> Array:
    """Combines the elements of each window, tap by tap."""
    window, partial = op.window(op.sizes), bool(op.ceil_mode.value.data)
    counts = [axis.count(extent, partial=partial) for axis, extent in zip(window, data.shape[2:], strict=True)]
    result = np.full((*data.shape[:2], *counts), neutral, data.dtype)
    return reduce(combine, taps(data, window, counts, neutral), result)


def places_that_count(axis: WindowAxis[int], extent: int, count: int, *, padded: bool) -> Array:
    """Returns the number of elements of each window along an axis that a mean counts; `padded` includes the padding."""
    low, high = (-axis.before, extent + axis.after) if padded else (0, extent)
    places = np.arange(count)[:, None] * axis.stride + np.arange(axis.size)[None, :] * axis.dilation - axis.before
    return np.sum((places >= low) & (places < high), axis=1)
