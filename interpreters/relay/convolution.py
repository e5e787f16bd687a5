"""Transposed convolutions, on numpy's matrix product."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.meaning.accumulators import accumulator
from xrelay.dialects.relay.meaning.layouts import from_plain, to_plain
from xrelay.dialects.relay.meaning.windows import steps_inside
from xrelay.dialects.relay.ops.nn_conv_transpose import TRANSPOSED_CONVOLUTIONS, ConvTransposeOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import element_type_of
from xrelay.index_algebra.windows import WindowAxis
from xrelay.interpreters.relay.registry import evaluates


@evaluates(*TRANSPOSED_CONVOLUTIONS)
def evaluate_conv_transpose(op: ConvTransposeOp, data: Array, weight: Array) -> Array:
    """Every tap of the filters adds the data, mixed by it, to the places that it spreads to."""
    data_layout, weight_layout, out_layout = op.layouts
    out_dtype, groups = numpy_dtype(element_type_of(op.result.type)), op.groups.value.data
    compute_dtype = accumulator(out_dtype)
    plain = to_plain(data, data_layout, op.image_axes).astype(compute_dtype, copy=False)
    kernel = to_plain(weight, weight_layout, f"IO{op.AXES}").astype(compute_dtype, copy=False)
    batch, channels, *extents = plain.shape
    window = op.window(kernel.shape[2:])
    filters = kernel.reshape(groups, channels // groups, *kernel.shape[1:])
    images = plain.reshape(batch, groups, channels // groups, *extents)
    rows = list(zip(window, extents, op.extra, strict=True))
    counts = [axis.covered(extent) - axis.before - axis.after + extra for axis, extent, extra in rows]
    result = np.zeros((batch, groups, filters.shape[2], *counts), compute_dtype)
    for tap in np.ndindex(*kernel.shape[2:]):
        seen, places = zip(*map(_spread, window, tap, extents, counts), strict=True)
        result[(..., *places)] += np.einsum("bgi...,gio->bgo...", images[(..., *seen)], filters[(..., *tap)])
    result = result.reshape(batch, groups * filters.shape[2], *counts)
    return from_plain(result, op.image_axes, out_layout).astype(out_dtype, copy=False)


def _spread(axis: WindowAxis[int], tap: int, extent: int, count: int) -> tuple[slice, slice]:
    """The elements along an axis that a tap adds to a result of so many places, and the places that it adds them to."""
    first = axis.place(0, tap)
    begin, end = steps_inside(first, axis.stride, extent, count)
    if begin == end:
        return slice(0), slice(0)
    return slice(begin, end), slice(first + begin * axis.stride, first + (end - 1) * axis.stride + 1, axis.stride)
