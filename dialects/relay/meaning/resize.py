"""Resizing: one axis after the other, or two at once for linear interpolation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from xrelay.dialects.relay.core.resampling import Resampling
from xrelay.dialects.relay.meaning.element_types import round_and_clip
from xrelay.dialects.relay.structure.weights import Array

Region = tuple[float, float] | None


class ResizedAxis(NamedTuple):
    """A resized axis with its parameters."""

    axis: int
    size: int
    scale: float
    region: Region


F32_ERROR = 2.0**-24
"""The relative error of rounding to f32."""


def resized(data: Array, axes: Sequence[ResizedAxis], rule: Resampling, target: np.dtype) -> Array:
    """Resizes axes and converts the result to `target`."""
    values = data.astype(_weighed_in(data.dtype)) if rule.reach else data
    if rule.is_plain_linear and len(axes) == 2:
        return round_and_clip(_resized_axes(values, sorted(axes), rule), target)
    for axis in axes:
        values = _resized_axes(values, [axis], rule)
    return round_and_clip(values, target)


def _weighed_in(dtype: np.dtype) -> type[np.float64 | np.float32]:
    """Returns the type of weights and sums."""
    return np.float64 if dtype.kind in "iu" or dtype.itemsize == 8 else np.float32


def _resized_axes(data: Array, axes: Sequence[ResizedAxis], rule: Resampling) -> Array:
    """Sums the weighted elements over all combinations of taps of the axes."""
    places = [_places_of(each.size, data.shape[each.axis], each.scale, each.region, rule) for each in axes]
    taps = [_taps(data, each, own, rule) for each, own in zip(axes, places, strict=True)]
    result: Array | None = None
    with np.errstate(all="ignore"):
        for chosen in product(*taps):
            term, factor = data, np.ones((), data.dtype)
            for each, (indices, weight) in zip(axes, chosen, strict=True):
                term, factor = np.take(term, indices, each.axis), factor * weight
            term = term * factor if rule.reach else term
            result = term if result is None else result + term
        assert result is not None, "each element of the result has at least one tap"
        for each, own in zip(axes, places, strict=True):
            if rule.crops:
                inside = _along(data, each.axis, (own >= 0) & (own <= data.shape[each.axis] - 1))
                result = np.where(inside, result, np.array(rule.extrapolation).astype(data.dtype))
    return result


def _taps(data: Array, axis: ResizedAxis, places: Array, rule: Resampling) -> list[tuple[Array, Array]]:
    """Returns the indices of the taps, and their weights, which broadcast with the result."""
    extent = data.shape[axis.axis]
    if not rule.reach:
        nearest = np.clip(_nearest(places, rule.rounding), 0, extent - 1).astype(np.int64)
        return [(nearest, np.ones((), data.dtype))]
    taps, weights = _weights(places, extent, axis.size, axis.scale, rule)
    pairs = zip(taps, weights, strict=True)
    return [(np.clip(tap, 0, extent - 1), _along(data, axis.axis, weight.astype(data.dtype))) for tap, weight in pairs]


def _along(data: Array, axis: int, values: Array) -> Array:
    """Reshapes a vector to broadcast along one axis of the data."""
    return values.reshape([-1 if number == axis else 1 for number in range(data.ndim)])


def _places_of(size: int, extent: int, scale: float, region: Region, rule: Resampling) -> Array:
    """Returns the coordinate of each index of the result, in double precision, clipped to ±2^40."""
    index, start_end = np.arange(size, dtype=np.float64), region or (0.0, 1.0)
    with np.errstate(all="ignore"):
        width = float(np.float32(np.float64(scale) * extent)) if scale else float(size)
        places = _places(index, size, extent, scale, width, start_end, rule.coordinates)
        return np.clip(np.where(np.isnan(places), -COORDINATE_LIMIT, places), -COORDINATE_LIMIT, COORDINATE_LIMIT)


COORDINATE_LIMIT = float(1 << 40)
"""A bound that is beyond any axis."""


def _places(
    index: Array, size: int, extent: int, scale: float, width: float, region: tuple[float, float], mode: str
) -> Array:
    def divided(value: Array) -> Array:
        if not scale:
            return value * float(extent) / float(size)
        return (value / np.float64(scale)).astype(np.float32).astype(np.float64)

    start, end = region
    last, steps = float(extent - 1), 1.0 if width == 1 else width - 1
    if mode == "align_corners":
        return index * last / steps if width != 1 else np.zeros_like(index)
    if mode == "tf_crop_and_resize":
        alone = (start + end) * 0.5 * last
        return start * last + index * (end - start) * last / steps if width != 1 else np.full_like(index, alone)
    if mode == "asymmetric":
        return divided(index)
    if mode == "tf_half_pixel_for_nn":
        return divided(index + 0.5) if (scale or size / extent) != 1 else index
    if mode == "pytorch_half_pixel" and size == 1:
        return np.zeros_like(index)
    if mode == "half_pixel_symmetric" and scale:
        return _about_centre(index, size, extent, scale)
    return divided(index + 0.5) - 0.5


def _about_centre(index: Array, size: int, extent: int, scale: float) -> Array:
    """Returns the coordinates if the centres of data and result coincide; multiples of 0.5 are exact."""
    from_centre = (2 * index + 1 - size) / np.float64(scale)
    doubled = extent - 1 + from_centre
    whole = np.rint(doubled)
    return np.where(np.abs(doubled - whole) <= np.abs(from_centre) * F32_ERROR, whole, doubled) * 0.5


def _nearest(places: Array, rounding: str) -> Array:
    """Returns the index nearest to each coordinate."""
    match rounding:
        case "floor":
            return np.floor(places)
        case "ceil":
            return np.ceil(places)
        case "round_prefer_floor":
            return np.ceil(places - 0.5)
        case _:
            return np.floor(places + 0.5)


def _linear(places: Array, extent: int) -> list[Array]:
    """Returns the weights of the elements below and above the coordinates; one half each at the end of the axis."""
    places = np.clip(places, 0, extent - 1)
    above = places - np.floor(places)
    return [np.where(places == extent - 1, 0.5, weight) for weight in (1 - above, above)]


def _weights(places: Array, extent: int, size: int, scale: float, rule: Resampling) -> tuple[list[Array], list[Array]]:
    """Returns the index of each tap, which may be outside of the axis, and its weight."""
    half = rule.half_window(extent, size, by_scale=bool(scale))
    below = np.floor(places)
    given = scale if scale else size / extent
    ratio = given if rule.antialias and given < 1 else 1.0
    assert isinstance(half, int), "of known extents"
    steps = range(1 - half, half + 1)
    taps = [below.astype(np.int64) + step for step in steps]
    if rule.is_plain_linear:
        return taps, _linear(places, extent)
    with np.errstate(all="ignore"):
        weights = [_kernel(np.abs((below + step - places) * ratio), rule) for step in steps]
        if rule.excludes:
            weights = [np.where((tap >= 0) & (tap < extent), w, 0.0) for tap, w in zip(taps, weights, strict=True)]
        if rule.is_normalized:
            total = np.zeros_like(places)
            for weight in weights:
                total = total + weight
            weights = [weight / np.where(total == 0, 1.0, total) for weight in weights]
    return taps, weights


def _kernel(d: Array, rule: Resampling) -> Array:
    """Returns the weight of an element at a distance."""
    if rule.reach == 1:
        return np.where(d < 1, 1 - d, 0.0)
    a = rule.cubic_alpha
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))
