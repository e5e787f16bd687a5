"""Global and adaptive pools."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.axis_products import matrix_of, multiplied
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn_adaptive_pool import (
    AdaptiveAvgPool1DOp,
    AdaptiveAvgPool2DOp,
    AdaptiveAvgPool3DOp,
    AdaptiveMaxPool2DOp,
    AdaptiveMaxPool3DOp,
    AdaptivePoolOp,
)
from xrelay.dialects.relay.ops.nn_pool import (
    GlobalAvgPool1DOp,
    GlobalAvgPool2DOp,
    GlobalAvgPool3DOp,
    GlobalMaxPool2DOp,
    GlobalMaxPool3DOp,
    GlobalPoolOp,
    PoolOp,
)
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.passes.gradient.rule_table import differentiates
from xrelay.passes.gradient.rules.nn_pooling import moved


@differentiates(GlobalAvgPool1DOp, GlobalAvgPool2DOp, GlobalAvgPool3DOp)
def global_avg_pool(op: GlobalPoolOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient of each image, divided by its number of elements, for each element."""
    layout = op.layouts[0]
    axes = [layout.index(letter) for letter in op.AXES]
    share = emit.divided_by_count(_in_layout_of_data(op, gradient, emit), op.data, axes)
    return [emit.broadcast_like(share, op.data)]


@differentiates(GlobalMaxPool2DOp, GlobalMaxPool3DOp)
def global_max_pool(op: GlobalPoolOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient of a pool with one window over the whole image."""
    extents = op.layouts[0].primal_extents(emit.shape(op.data))
    sizes = [extent for extent in (extents[axis] for axis in op.AXES) if isinstance(extent, int)]
    if len(sizes) < len(op.AXES):
        return [_at_greatest(op, gradient, emit)]
    if 0 in sizes:
        return [emit.zeros_like(op.data)]
    layouts = {name: op.properties[name] for name in ("layout", "out_layout")}
    return [emit.op(f"nn.max_pool{len(op.AXES)}d_grad", gradient, op.data, pool_size=sizes, **layouts)]


def _at_greatest(op: GlobalPoolOp, gradient: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Returns the gradient of each image at its first greatest element, for symbolic extents."""
    plain = Layout.parse(op.image_axes)
    data = moved(op.data, op.layouts[0], plain, emit)
    rows, given = (
        emit.op("reshape", value, newshape=(0, 0, -1)) for value in (data, moved(gradient, op.layouts[1], plain, emit))
    )
    # Appends the least element, because an image may have no elements.
    room = emit.op("nn.pad", rows, emit.nearest_scalar(-math.inf, rows), pad_width=(0, 0, 0, 0, 0, 1))
    places = emit.op("argmax", room, axis=[2], keepdims=True)
    found = emit.op("scatter_elements", emit.zeros_like(room), places, given, axis=2, reduction="update")
    found = emit.op("slice_like", found, rows)
    return moved(emit.reshape_like(found, data), plain, op.layouts[0], emit)


@differentiates(AdaptiveAvgPool1DOp, AdaptiveAvgPool2DOp, AdaptiveAvgPool3DOp)
def adaptive_avg_pool(op: AdaptivePoolOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Sums the shares of the windows that contain an element, along each spatial axis."""
    gradient = _in_layout_of_data(op, gradient, emit)
    for axis, count, extent in _shared_axes(op, gradient, emit):
        if count and extent % count == 0:
            share = emit.op("multiply", gradient, count / extent)
            gradient = emit.op("repeat", share, repeats=extent // count, axis=axis)
        else:
            gradient = multiplied(gradient, axis, matrix_of(_shares(count, extent), gradient, emit), emit)
    return [gradient]


@differentiates(AdaptiveMaxPool2DOp, AdaptiveMaxPool3DOp)
def adaptive_max_pool(op: AdaptivePoolOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient of a pool over disjoint windows; elements of overlapping windows are repeated first.

    Shorter windows repeat their last element, which does not change the first greatest element.
    """
    gradient, data, layout = _in_layout_of_data(op, gradient, emit), op.data, op.layouts[0]
    sizes, spread = dict.fromkeys((layout.index(letter) for letter in op.AXES), 1), dict[int, Array]()
    for axis, count, extent in _shared_axes(op, gradient, emit):
        if not count:
            return [emit.zeros_like(op.data)]
        sizes[axis] = extent // count
        if extent % count:
            places = _places(count, extent)
            sizes[axis], spread[axis] = places.shape[1], np.eye(extent)[places.ravel()]
            data = emit.op("take", data, emit.insert(ConstantOp.of(places.ravel())).result, axis=axis)
    size = tuple(sizes.values())
    name = f"nn.max_pool{len(op.AXES)}d_grad"
    found = emit.op(name, gradient, data, pool_size=size, strides=size, layout=str(layout))
    for axis, matrix in spread.items():
        found = multiplied(found, axis, matrix_of(matrix, found, emit), emit)
    return [found]


def _shared_axes(op: AdaptivePoolOp, gradient: SSAValue, emit: GradientBuilder) -> Iterator[tuple[int, int, int]]:
    """Yields the axes that are divided into windows, with their numbers of windows and elements."""
    layout = op.layouts[0]
    for axis in (layout.index(letter) for letter in op.AXES):
        count, extent = emit.shape(gradient)[axis], emit.shape(op.data)[axis]
        if count != extent:
            if not isinstance(count, int) or not isinstance(extent, int):
                raise not_differentiable(op, f"the extent {extent} of its data is not known")
            yield axis, count, extent


def _windows(count: int, extent: int) -> list[range]:
    """Returns the elements of each of `count` windows."""
    return [range(i * extent // count, -(-(i + 1) * extent // count)) for i in range(count)]


def _shares(count: int, extent: int) -> Array:
    """Returns the weight of each of `extent` elements in the mean of each of `count` windows."""
    shares = np.zeros((count, extent))
    for number, window in enumerate(_windows(count, extent)):
        shares[number, window] = 1 / len(window)
    return shares


def _places(count: int, extent: int) -> Array:
    """Returns the elements of each window as rows; shorter rows repeat the last element."""
    windows = _windows(count, extent)
    longest = max(map(len, windows))
    return np.array([[*window, *[window[-1]] * (longest - len(window))] for window in windows], np.int64)


def _in_layout_of_data(op: PoolOp, gradient: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Returns the gradient in the layout of the data."""
    layout, out_layout = op.layouts
    return moved(gradient, out_layout, layout, emit)
