"""Region pooling, region by region."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xrelay.dialects.relay.core.attribute_values import ints
from xrelay.dialects.relay.ops.vision_roi import RoiAlignOp, RoiPoolOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.numerics.rounding import cast_once
from xrelay.errors import InterpreterError
from xrelay.interpreters.relay.registry import evaluates

FAR = 1 << 40
"""Coordinates farther outside are clamped to this."""


@evaluates(RoiAlignOp)
def evaluate_roi_align(op: RoiAlignOp, data: Array, rois: Array) -> Array:
    """Samples each region, and takes the mean or maximum of each bin."""
    order = (0, *op.image_axes)
    image, numbers = data.transpose(order), _images(rois, len(data))
    result = np.zeros((len(rois), image.shape[1], *ints(op.pooled_size)), np.float64)
    for number, region in enumerate(rois.astype(_kind(data, rois))):
        rows, columns = (_Places.of(op, region, axis, image.shape[2 + axis]) for axis in (0, 1))
        own = image[numbers[number]].astype(np.float64)
        if op.mode.data == "avg":
            result[number] = np.einsum("chw,ph,qw->cpq", own, rows.mean(), columns.mean())
        elif rows.inside.shape[1] and columns.inside.shape[1]:
            result[number] = _greatest(own, rows, columns, terms=op.mode.data == "max_of_terms")
    return cast_once(result.transpose(np.argsort(order)), data.dtype)


def _greatest(image: Array, rows: _Places, columns: _Places, *, terms: bool) -> Array:
    """Returns the greatest sample of each bin, or with `terms` the greatest weighted element."""
    if not terms:
        values = np.einsum("chw,psh,qtw->cpqst", image, rows.weights(), columns.weights())
        return values.max((-2, -1))
    found: list[Array] = []
    for at, weight in zip(rows.taps(), rows.tap_weights(), strict=True):
        for other, factor in zip(columns.taps(), columns.tap_weights(), strict=True):
            value = image[:, at[:, None, :, None], other[None, :, None, :]]
            found.append(value * weight[:, None, :, None] * factor[None, :, None, :])
    return np.max(np.stack(found), (0, -2, -1))


@dataclass(frozen=True)
class _Places:
    """The samples of the bins along one axis of a region: (bins, samples)."""

    extent: int
    clipped: Array
    inside: Array
    count: float

    @staticmethod
    def of(op: RoiAlignOp, region: Array, axis: int, extent: int) -> _Places:
        """Returns the samples within the image; if there may be many, a range that includes them."""
        real, bins = region.dtype.type, ints(op.pooled_size)[axis]
        low, high = (
            region[2 - axis] * real(op.spatial_scale.value.data),
            region[4 - axis] * real(op.spatial_scale.value.data),
        )
        length = high - low if op.aligned.value.data else np.maximum(high - low, real(1))
        size, ratio = length / real(bins), op.sample_ratio.value.data
        count = real(ratio) if ratio > 0 else np.ceil(size)
        starts = low + np.arange(bins).astype(region.dtype) * size
        most = ratio if ratio > 0 else min(int(np.nan_to_num(np.clip(count, 0, FAR))), 2 * extent + 7)
        step: Array = np.arange(most)[None].astype(np.float64)
        if ratio <= 0:
            first = np.floor((-1 - starts.astype(np.float64)) / (float(size) / float(count or 1)) - 0.5) - 1
            step = step + np.clip(np.nan_to_num(first), 0, max(float(np.nan_to_num(count)) - most, 0))[:, None]
        places = starts[:, None] + (step.astype(region.dtype) + real(0.5)) * size / count
        inside = (places >= -1) & (places <= extent)
        return _Places(extent, np.clip(np.where(inside, places, 0), 0, extent - 1), inside, float(count))

    def taps(self) -> tuple[Array, Array]:
        """Returns the elements below and above each sample."""
        below = np.floor(self.clipped).astype(np.int64)
        return below, np.minimum(below + 1, self.extent - 1)

    def tap_weights(self) -> tuple[Array, Array]:
        """Returns the weights of the elements below and above each sample."""
        above = (self.clipped - np.floor(self.clipped)).astype(np.float64)
        return (1 - above) * self.inside, above * self.inside

    def weights(self) -> Array:
        """Returns the weight of each element for each sample: (bins, samples, extent)."""
        result = np.zeros((*self.inside.shape, self.extent))
        for at, weight in zip(self.taps(), self.tap_weights(), strict=True):
            result += weight[..., None] * (at[..., None] == np.arange(self.extent))
        return result

    def mean(self) -> Array:
        """Returns the weight of each element in the mean of a bin: (bins, extent)."""
        return self.weights().sum(1) / np.maximum(self.count, 1)


@evaluates(RoiPoolOp)
def evaluate_roi_pool(op: RoiPoolOp, data: Array, rois: Array) -> Array:
    """Computes the maximum of each bin."""
    numbers, pooled = _images(rois, len(data)), ints(op.pooled_size)
    result = np.zeros((len(rois), data.shape[1], *pooled), data.dtype)
    for number, region in enumerate(rois.astype(_kind(data, rois))):
        rows, columns = (_bins(op, region, axis, data.shape[2 + axis]) for axis in (0, 1))
        for i, (top, bottom) in enumerate(rows):
            for j, (left, right) in enumerate(columns):
                if top < bottom and left < right:
                    result[number, :, i, j] = data[numbers[number], :, top:bottom, left:right].max((1, 2))
    return result


def _bins(op: RoiPoolOp, region: Array, axis: int, extent: int) -> list[tuple[int, int]]:
    """Returns the half-open range of elements of each bin along an axis."""
    real, count = region.dtype.type, ints(op.pooled_size)[axis]
    low, high = (_rounded(region[place - axis] * real(op.spatial_scale.value.data)) for place in (2, 4))
    size = real(max(high - low + 1, 1)) / real(count)
    starts = [int(np.floor(real(i) * size)) for i in range(count)]
    stops = [int(np.ceil(real(i + 1) * size)) for i in range(count)]
    return [
        (min(max(start + low, 0), extent), min(max(stop + low, 0), extent))
        for start, stop in zip(starts, stops, strict=True)
    ]


def _rounded(value: float) -> int:
    """Rounds to the nearest integer, halves away from zero; clamps to ±`FAR`."""
    near = min(value, float(FAR)) if value > -FAR else -float(FAR)
    whole = int(near)
    return whole + (1 if near > 0 else -1) * (abs(near - whole) >= 0.5)


def _images(rois: Array, count: int) -> list[int]:
    """Returns the image index of each region."""
    numbers = [int(number) if -1 < number < FAR else -1 for number in rois[:, 0].astype(np.float64)]
    wrong = next((number for number in numbers if not 0 <= number < count), None)
    if wrong is not None:
        raise InterpreterError(f"a region of image {wrong}, there are {count}")
    return numbers


def _kind(data: Array, rois: Array) -> np.dtype:
    """Returns the type in which coordinates are computed."""
    return np.dtype(np.float64 if np.float64 in (data.dtype, rois.dtype) else np.float32)
