"""A convolution whose taps are read at offsets from an operand."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.nn_deformable_conv import DeformableConv2DOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.dialects.shared.types import element_type_of
from xrelay.interpreters.relay.registry import evaluates


@evaluates(DeformableConv2DOp)
def evaluate_deformable_conv2d(op: DeformableConv2DOp, data: Array, offset: Array, weight: Array) -> Array:
    """Samples the data for each tap, followed by a matrix product for each group."""
    order = (0, *op.image_axes)
    image, moves, window = data.transpose(order), offset.transpose(order), weight.transpose(op.weight_axes)
    batch, channels, *_ = image.shape
    filters, depth, rows, columns = window.shape
    parts, groups, (height, width) = op.deformable_groups.value.data, op.groups.value.data, moves.shape[2:]
    moves = moves.reshape(batch, parts, rows * columns, 2, height, width)
    taps = np.zeros((batch, channels, rows * columns, height, width))
    for tap in range(rows * columns):
        places = [_places(op, axis, divmod(tap, columns)[axis], moves[:, :, tap, axis]) for axis in (0, 1)]
        for number in range(batch):
            for part in range(parts):
                own = slice(part * channels // parts, (part + 1) * channels // parts)
                taps[number, own, tap] = _weighed(image[number, own], *(place[number, part] for place in places))
    apart = taps.reshape(batch, groups, depth * rows * columns, height * width)
    matrix = window.reshape(groups, filters // groups, depth * rows * columns).astype(np.float64)
    result = np.einsum("gfk,ngkp->ngfp", matrix, apart).reshape(batch, filters, height, width)
    return cast_once(result.transpose(np.argsort(order)), numpy_dtype(element_type_of(op.result.type)))


def _places(op: DeformableConv2DOp, axis: int, tap: int, moves: Array) -> Array:
    """Returns the coordinates of a tap along an axis, in the type of the sums."""
    kind = np.dtype(np.float64 if moves.dtype == np.float64 else np.float32)
    steps = np.arange(moves.shape[2 + axis], dtype=np.float64) * ints(op.strides)[axis]
    plain = np.asarray(steps + tap * ints(op.dilation)[axis] - ints(op.padding)[axis], kind)
    return (plain[:, None] if axis == 0 else plain) + moves.astype(kind)


def _weighed(image: Array, rows: Array, columns: Array) -> Array:
    """Interpolates bilinearly; 0 outside of the image."""
    height, width = image.shape[1:]
    inside = (rows >= 0) & (columns >= 0) & (rows < height) & (columns < width)
    y, x = np.where(inside, rows, 0), np.where(inside, columns, 0)
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    low, behind = (y - np.floor(y)).astype(np.float64), (x - np.floor(x)).astype(np.float64)
    bottom, right = top + 1, left + 1
    wide = np.pad(image.astype(np.float64), ((0, 0), (0, 1), (0, 1)))
    above = wide[:, top, left] * (1 - behind) + wide[:, top, right] * behind
    below = wide[:, bottom, left] * (1 - behind) + wide[:, bottom, right] * behind
    return np.where(inside, above * (1 - low) + below * low, 0)
