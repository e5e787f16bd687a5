"""Conversion of arrays between layouts: `NCHW16c` to `NCHW` and back."""

from __future__ import annotations

import numpy as np

from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.structure.weights import Array


def to_plain(array: Array, layout: Layout, axes: str) -> Array:
    """Converts `array` from `layout` to the axes `axes` without blocks."""
    order: list[int] = []
    shape: list[int] = []
    for letter in axes:
        outer, inner = layout.index(letter), layout.inner_index(letter)
        order.append(outer)
        extent = array.shape[outer]
        if inner is not None:
            order.append(inner)
            extent *= array.shape[inner]
        shape.append(extent)
    if order == list(range(array.ndim)) and len(order) == len(axes):
        return array
    return array.transpose(order).reshape(shape)


def from_plain(array: Array, axes: str, layout: Layout) -> Array:
    """Converts `array` with the axes `axes` to `layout`; partial blocks are filled with zeros."""
    factors = [layout.factor(letter) for letter in axes]
    missing = [-extent % factor if factor else 0 for extent, factor in zip(array.shape, factors, strict=True)]
    if any(missing):
        array = np.pad(array, [(0, count) for count in missing])
    shape: list[int] = []
    places: dict[tuple[str, bool], int] = {}
    for letter, extent, factor in zip(axes, array.shape, factors, strict=True):
        places[letter, True] = len(shape)
        shape.append(extent // factor if factor else extent)
        if factor:
            places[letter, False] = len(shape)
            shape.append(factor)
    order = [places[axis.letter, axis.is_primal] for axis in layout.axes]
    return array.reshape(shape).transpose(order)


def contiguous(array: Array) -> Array:
    """Returns a contiguous copy of an array, or the array itself if it is contiguous.

    The elements along the last axis are copied together if they are neighbours and as large as an integer. For pairs of
    bf16 this takes a third of the time, because numpy calls a function for each bf16.
    """
    size = array.itemsize * array.shape[-1] if array.ndim else 0
    if array.flags.c_contiguous or array.strides[-1] != array.itemsize or size not in (2, 4, 8):
        return np.ascontiguousarray(array)
    return np.ascontiguousarray(array.view(f"u{size}")).view(array.dtype)
