"""Samples of images at the coordinates of a grid."""

from __future__ import annotations

from itertools import product

import numpy as np

from xrelay.dialects.relay.ops.image_grid import CUBIC, SAMPLINGS, GridSampleOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.interpreters.relay.image_resize import clipped_integers
from xrelay.interpreters.relay.registry import evaluates

FAR = float(1 << 30)


@evaluates(GridSampleOp)
def evaluate_grid_sample(op: GridSampleOp, data: Array, grid: Array) -> Array:
    """Sums over taps with the products of the weights of all axes."""
    reach, mirrors = SAMPLINGS.index(op.method.data), op.padding_mode.data == "reflection"
    aligned, spatial = bool(op.align_corners.value.data), data.shape[2:]
    wide = np.float64 if np.float64 in (data.dtype, grid.dtype) or data.dtype.kind in "iu" else np.float32
    with np.errstate(all="ignore"):
        places = [_place(op, grid[:, len(spatial) - 1 - axis], extent) for axis, extent in enumerate(spatial)]
        batch: Array = np.expand_dims(np.arange(len(data)), tuple(range(1, grid.ndim - 1)))
        total = np.zeros((data.shape[0], *grid.shape[2:], data.shape[1]), wide if reach else data.dtype)
        for steps in product(range(1 - reach, reach + 1) if reach else (0,), repeat=len(spatial)):
            weight, inside, at = np.ones((), wide), np.ones((), np.bool_), list[Array]()
            for place, step, extent in zip(places, steps, spatial, strict=True):
                below = np.floor(place)
                index = below.astype(np.int64) + step
                weight = weight * (_weight(place.astype(wide) - below.astype(wide), step, reach) if reach else 1)
                inside = inside & (index >= 0) & (index < extent)
                index = _mirrored(index.astype(np.float64), extent, aligned=aligned) if mirrors else index
                at.append(np.clip(index, 0, extent - 1).astype(np.int64))
            values = data[(batch, slice(None), *at)]
            if op.padding_mode.data == "zeros":
                values = np.where(inside[..., None], values, np.zeros((), data.dtype))
            total = total + weight.astype(wide)[..., None] * values.astype(wide) if reach else values
    return clipped_integers(np.moveaxis(total, -1, 1), data.dtype)


def _place(op: GridSampleOp, grid: Array, extent: int) -> Array:
    """Returns the coordinates along an axis of the data, clamped or reflected according to the padding mode."""
    aligned, padding, method = bool(op.align_corners.value.data), op.padding_mode.data, op.method.data
    kind = np.float64 if grid.dtype == np.float64 else np.float32
    moved, one = grid.astype(kind) + kind(1), kind(1)
    place: Array = moved / 2 * (extent - 1) if aligned else (moved * extent - one) / 2
    place = np.rint(place) if method == SAMPLINGS[0] else place
    place = np.asarray(np.where(place > -FAR, np.minimum(place, kind(FAR)), kind(-FAR)), kind)
    if padding == "border" and method != SAMPLINGS[2]:
        low, high = (0.0, extent - 1.0) if aligned else (-0.5, extent - 0.5)
        nearest_element = np.clip(place, 0, extent - 1).astype(kind)
        return np.where((place >= low) & (place <= high), place, nearest_element)
    return _mirrored(place, extent, aligned=aligned) if padding == "reflection" else place


def _mirrored(place: Array, extent: int, *, aligned: bool) -> Array:
    """Reflects coordinates at both ends."""
    low, width = (0.0, extent - 1.0) if aligned else (-0.5, float(extent))
    if not width:
        return np.zeros_like(place)
    way = np.abs(place - low)
    times = np.floor(way / width)
    rest = way - times * width
    is_back = times - 2 * np.floor(times / 2) != 0
    seen: Array = np.where(is_back, low + width - rest, low + rest)
    return np.where((place >= low) & (place <= low + width), place, seen)


def _weight(ratio: Array, step: int, reach: int) -> Array:
    """Returns the weight of the element that is `step` elements after the one below a coordinate."""
    one = ratio.dtype.type(1)
    if reach == 1:
        return ratio if step else one - ratio
    d, a = np.abs(ratio - ratio.dtype.type(step)), ratio.dtype.type(CUBIC)
    near = ((a + 2) * d - (a + 3)) * d * d + one
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return near if step in (0, 1) else far
