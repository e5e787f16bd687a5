"""Pools: over windows, over whole images, and over windows that share an image out evenly."""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue, string_attribute
from xrelay.dialects.relay.core.dtypes import numpy_dtype
from xrelay.dialects.relay.core.types import element_type_of
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn_adaptive_pool import (
    AdaptiveAvgPool1DOp,
    AdaptiveAvgPool2DOp,
    AdaptiveAvgPool3DOp,
    AdaptivePoolOp,
)
from xrelay.dialects.relay.ops.nn_pool import (
    AvgPool2DOp,
    GlobalAvgPool1DOp,
    GlobalAvgPool2DOp,
    GlobalAvgPool3DOp,
    GlobalMaxPool2DOp,
    GlobalPoolOp,
    MaxPool2DOp,
    PoolOp,
    WindowPoolOp,
)
from xrelay.dialects.relay.ops.nn_pool_grad import AvgPool2DGradOp, MaxPool2DGradOp, PoolGradOp
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.passes.gradient.emitter import GradientEmitter
from xrelay.passes.gradient.rule_table import Gradients, differentiates, not_differentiable


@differentiates(MaxPool2DOp)
def max_pool2d(op: MaxPool2DOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """`nn.max_pool2d_grad`."""
    return [emit.op("nn.max_pool2d_grad", gradient, op.data, **_attributes(op))]


@differentiates(AvgPool2DOp)
def avg_pool2d(op: AvgPool2DOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """`nn.avg_pool2d_grad`."""
    include = bool(op.count_include_pad.value.data)
    return [emit.op("nn.avg_pool2d_grad", gradient, op.data, **_attributes(op), count_include_pad=include)]


@differentiates(AvgPool2DGradOp)
def avg_pool2d_grad(op: AvgPool2DGradOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """It is linear in the first operand: the pool. It does not read the other."""
    include = bool(op.count_include_pad.value.data)
    return [emit.op("nn.avg_pool2d", gradient, **_attributes(op), count_include_pad=include), None]


@differentiates(MaxPool2DGradOp)
def max_pool2d_grad(op: MaxPool2DGradOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """It is linear in the first operand: what the gradient has for each window's greatest element.

    While the data changes a little these stay the greatest.
    """
    (layout, out_layout), plain = op.layouts, Layout.parse(op.image_axes)
    data, gradient = (_moved(value, layout, plain, emit) for value in (op.data, gradient))
    attributes = {**_attributes(op), "layout": string_attribute(str(plain)), "out_layout": string_attribute("")}
    places = emit.op("nn.max_pool2d_indices", data, **attributes)
    # Windows in the padding alone have place -1.
    chosen = emit.op("maximum", places, 0)
    # The last two axes as one: 0 keeps an extent, -3 joins two.
    rows, chosen = (emit.op("reshape", value, newshape=(0, 0, -3)) for value in (gradient, chosen))
    found = emit.reshape_like(emit.op("gather", rows, chosen, axis=2), places)
    found = emit.op("where", emit.op("less", places, 0), emit.zeros_like(found), found)
    return [_moved(found, plain, out_layout, emit), None]


def _attributes(op: WindowPoolOp | PoolGradOp) -> dict[str, AttributeValue]:
    """What the gradient of a pool takes over from it."""
    names = ("pool_size", "strides", "dilation", "padding", "layout", "out_layout", "ceil_mode")
    return {name: op.properties[name] for name in names}


@differentiates(GlobalAvgPool1DOp, GlobalAvgPool2DOp, GlobalAvgPool3DOp)
def global_avg_pool(op: GlobalPoolOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """The gradient of each image, divided by the number of its elements, for each of them."""
    layout = op.layouts[0]
    axes = [layout.index(letter) for letter in op.AXES]
    extents = [emit.shape(op.data)[axis] for axis in axes]
    known = [extent for extent in extents if isinstance(extent, int)]
    if len(known) == len(extents):
        count = emit.scalar(prod(known), op.data)
    else:
        count = emit.op("sum", emit.ones_like(op.data), axis=axes, keepdims=True)
    share = emit.op("divide", _in_layout_of_data(op, gradient, emit), count)
    return [emit.broadcast_like(share, op.data)]


@differentiates(GlobalMaxPool2DOp)
def global_max_pool2d(op: GlobalMaxPool2DOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """`nn.max_pool2d_grad` of one window over all of the image: the first greatest element gets the gradient."""
    extents = op.layouts[0].primal_extents(emit.shape(op.data))
    sizes = [extent for extent in (extents[axis] for axis in op.AXES) if isinstance(extent, int)]
    if len(sizes) < len(op.AXES):
        raise not_differentiable(op, "the extents of its images are not known")
    if 0 in sizes:
        return [emit.zeros_like(op.data)]
    layouts = {name: op.properties[name] for name in ("layout", "out_layout")}
    return [emit.op("nn.max_pool2d_grad", gradient, op.data, pool_size=sizes, **layouts)]


@differentiates(AdaptiveAvgPool1DOp, AdaptiveAvgPool2DOp, AdaptiveAvgPool3DOp)
def adaptive_avg_pool(op: AdaptivePoolOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """Along each spatial axis every element collects its shares of the windows that it is in."""
    gradient, layout = _in_layout_of_data(op, gradient, emit), op.layouts[0]
    for axis in (layout.index(letter) for letter in op.AXES):
        count, extent = emit.shape(gradient)[axis], emit.shape(op.data)[axis]
        if count == extent:
            continue
        if not isinstance(count, int) or not isinstance(extent, int):
            raise not_differentiable(op, f"the extent {extent} of its data is not known")
        gradient = _spread(gradient, axis, count, extent, emit)
    return [gradient]


def _spread(gradient: SSAValue, axis: int, count: int, extent: int, emit: GradientEmitter) -> SSAValue:
    """The gradient of `count` windows of one axis as that of its `extent` elements."""
    if count and extent % count == 0:
        return emit.op("repeat", emit.op("multiply", gradient, count / extent), repeats=extent // count, axis=axis)
    # Windows of several lengths that overlap: a product with what each element is of each window.
    rank = len(emit.shape(gradient))
    order = [*(other for other in range(rank) if other != axis), axis]
    shares = emit.insert(ConstantOp.of(_shares(count, extent).astype(numpy_dtype(element_type_of(gradient.type)))))
    product = emit.op("nn.matmul", emit.op("transpose", gradient, axes=order), shares.result)
    return emit.op("transpose", product, axes=[order.index(other) for other in range(rank)])


def _shares(count: int, extent: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """What each of `extent` elements contributes to the mean of each of `count` windows."""
    shares = np.zeros((count, extent))
    for window in range(count):
        first, end = window * extent // count, -(-(window + 1) * extent // count)
        shares[window, first:end] = 1 / (end - first)
    return shares


def _in_layout_of_data(op: PoolOp, gradient: SSAValue, emit: GradientEmitter) -> SSAValue:
    """The gradient in the layout of the data, where the pool changes it."""
    layout, out_layout = op.layouts
    return _moved(gradient, out_layout, layout, emit)


def _moved(value: SSAValue, source: Layout, target: Layout, emit: GradientEmitter) -> SSAValue:
    """A tensor of one layout in another."""
    if source == target:
        return value
    return emit.op("layout_transform", value, src_layout=str(source), dst_layout=str(target))
