"""Resizing of image boxes, and affine grids."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.meaning.in_double import in_double
from xrelay.dialects.relay.ops.image_crop import AffineGridOp, CropAndResizeOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.dialects.shared.types import element_type_of
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates


@evaluates(CropAndResizeOp)
def evaluate_crop_and_resize(op: CropAndResizeOp, data: Array, boxes: Array, box_indices: Array) -> Array:
    """Resizes box by box."""
    if np.any((box_indices < 0) | (box_indices >= len(data))):
        raise InterpreterError(f"a box of an image that is not there, there are {len(data)}")
    order, size = (0, *op.image_axes), ints(op.crop_size)
    image, kind = data.transpose(order), np.float64 if np.float64 in (data.dtype, boxes.dtype) else np.float32
    result = np.zeros((len(boxes), image.shape[1], *size), np.float64)
    outside = np.float64(kind(op.extrapolation_value.value.data))
    for number, box in enumerate(boxes.astype(kind)):
        own = image[box_indices[number]].astype(np.float64)
        places = [
            _places(box[axis : axis + 1], box[axis + 2 : axis + 3], extent, size[axis])
            for axis, extent in enumerate(own.shape[1:])
        ]
        insides = [(place >= 0) & (place <= extent - 1) for place, extent in zip(places, own.shape[1:], strict=True)]
        rows, columns = (np.where(inside, place, 0) for place, inside in zip(places, insides, strict=True))
        found = _nearest(own, rows, columns) if op.method.data == "nearest_neighbor" else _weighed(own, rows, columns)
        result[number] = np.where(insides[0][:, None] & insides[1], found, outside)
    return cast_once(result.transpose(np.argsort(order)), numpy_dtype(element_type_of(op.result.type)))


def _places(first: Array, last: Array, extent: int, count: int) -> Array:
    """Returns the coordinates of the result's elements along an axis, between corners that are one-element vectors."""
    kind = first.dtype.type
    if count == 1:
        return (first + last) * kind(0.5) * kind(extent - 1)
    step = (last - first) * kind(extent - 1) / kind(count - 1)
    return first * kind(extent - 1) + np.arange(count, dtype=first.dtype) * step


def _nearest(image: Array, rows: Array, columns: Array) -> Array:
    """Returns the nearest elements, the later of two equally near ones."""
    at, other = ((np.floor(each) + (each - np.floor(each) >= 0.5)).astype(np.int64) for each in (rows, columns))
    return image[:, at[:, None], other]


def _weighed(image: Array, rows: Array, columns: Array) -> Array:
    """Interpolates bilinearly."""
    (top, low), (left, behind) = (
        (np.floor(each).astype(np.int64), (each - np.floor(each)).astype(np.float64)) for each in (rows, columns)
    )
    bottom, right = (np.minimum(at + 1, extent - 1) for at, extent in zip((top, left), image.shape[1:], strict=True))
    above, below = (
        image[:, at[:, None], left] * (1 - behind) + image[:, at[:, None], right] * behind for at in (top, bottom)
    )
    return above * (1 - low[:, None]) + below * low[:, None]


@evaluates(AffineGridOp)
@in_double
def evaluate_affine_grid(op: AffineGridOp, data: Array) -> Array:
    """Sums three terms."""
    height, width = ints(op.target_shape)
    y, x = (np.linspace(-1, 1, count) if count != 1 else np.zeros(1) for count in (height, width))
    column, row, shift = (data[:, :, number, None, None] for number in range(3))
    return column * x + row * y[:, None] + shift
