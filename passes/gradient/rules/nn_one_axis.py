"""Convolutions and pools with one spatial axis, by the rules for images of height 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue, ints
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients, not_differentiable
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn.conv import Conv1DOp, Conv2DOp, FilterOp
from xrelay.dialects.relay.ops.nn_adaptive_pool import AdaptiveMaxPool1DOp, AdaptiveMaxPool2DOp
from xrelay.dialects.relay.ops.nn_conv_transpose import Conv1DTransposeOp, Conv2DTransposeOp
from xrelay.dialects.relay.ops.nn_pool import (
    AvgPool1DOp,
    AvgPool2DOp,
    GlobalMaxPool1DOp,
    GlobalMaxPool2DOp,
    MaxPool1DOp,
    MaxPool2DOp,
    PoolOp,
    WindowPoolOp,
)
from xrelay.index_algebra.windows import sides_of
from xrelay.passes.gradient.rule_table import differentiates
from xrelay.passes.gradient.rules.nn_convolution import transposed_convolution
from xrelay.passes.gradient.rules.nn_pooling import avg_pool, max_pool
from xrelay.passes.gradient.rules.nn_whole_pooling import adaptive_max_pool, global_max_pool

TwinT = TypeVar("TwinT", bound=RelayOp)


@differentiates(Conv1DOp)
def conv1d(op: Conv1DOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Uses the rule of `nn.conv2d` with filters of height 1."""
    twin = Conv2DOp.call(*_high_operands(op, emit), **_filter(op, emit))
    return _filtered(op, _by(twin, Conv2DOp.gradient, _high_gradient(op, gradient, emit), emit), emit)


@differentiates(Conv1DTransposeOp)
def conv1d_transpose(op: Conv1DTransposeOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Uses the rule of `nn.conv2d_transpose` with filters of height 1."""
    twin = Conv2DTransposeOp.call(*_high_operands(op, emit), **_filter(op, emit), output_padding=(0, *op.extra))
    return _filtered(op, _by(twin, transposed_convolution, _high_gradient(op, gradient, emit), emit), emit)


@differentiates(MaxPool1DOp)
def max_pool1d(op: MaxPool1DOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Uses the rule of `nn.max_pool2d` with windows of height 1."""
    twin = MaxPool2DOp.call(_high(op.data, op.layouts[0], emit), **_window(op))
    return [_pooled(op, _by(twin, max_pool, _high(gradient, op.layouts[1], emit), emit), emit)]


@differentiates(AvgPool1DOp)
def avg_pool1d(op: AvgPool1DOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Uses the rule of `nn.avg_pool2d` with windows of height 1."""
    include = bool(op.count_include_pad.value.data)
    twin = AvgPool2DOp.call(_high(op.data, op.layouts[0], emit), **_window(op), count_include_pad=include)
    return [_pooled(op, _by(twin, avg_pool, _high(gradient, op.layouts[1], emit), emit), emit)]


@differentiates(GlobalMaxPool1DOp)
def global_max_pool1d(op: GlobalMaxPool1DOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Uses the rule of `nn.global_max_pool2d` with images of height 1."""
    twin = GlobalMaxPool2DOp.call(_high(op.data, op.layouts[0], emit), **_image(op))
    return [_pooled(op, _by(twin, global_max_pool, _high(gradient, op.layouts[1], emit), emit), emit)]


@differentiates(AdaptiveMaxPool1DOp)
def adaptive_max_pool1d(op: AdaptiveMaxPool1DOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Uses the rule of `nn.adaptive_max_pool2d` with images of height 1."""
    sizes = ints(op.output_size)
    size = (1, *sizes) if sizes else ()
    twin = AdaptiveMaxPool2DOp.call(_high(op.data, op.layouts[0], emit), output_size=size, **_image(op))
    return [_pooled(op, _by(twin, adaptive_max_pool, _high(gradient, op.layouts[1], emit), emit), emit)]


def _by(
    twin: TwinT,
    rule: Callable[[TwinT, SSAValue, GradientBuilder], Gradients],
    gradient: SSAValue,
    emit: GradientBuilder,
) -> Gradients:
    """Applies a rule to `twin`, an op in no block that exists only for its properties, and erases it."""
    try:
        return rule(twin, gradient, emit)
    finally:
        twin.erase()


def _high_operands(op: FilterOp, emit: GradientBuilder) -> list[SSAValue]:
    """Returns data and weight with height 1."""
    rows = zip((op.data, op.weight), op.layouts, strict=False)
    return [_high(value, layout, emit) for value, layout in rows]


def _high_gradient(op: FilterOp, gradient: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Returns the gradient with height 1."""
    return _high(emit.cast_like(gradient, op.data), op.layouts[2], emit)


def _filter(op: FilterOp, emit: GradientBuilder) -> dict[str, AttributeValue]:
    """Returns the attributes of a convolution with filters of height 1."""
    data, weight, out = op.layouts
    width = weight.primal_extents(emit.shape(op.weight))["W"]
    if not isinstance(width, int):
        raise not_differentiable(op, f"the extent {width} of the weight is not known")
    (axis,) = op.window([width])
    return {
        "strides": (1, axis.stride),
        "padding": _high_sides(sides_of([axis])),
        "dilation": (1, axis.dilation),
        "groups": op.groups.value.data,
        "data_layout": _high_layout(data),
        "kernel_layout": _high_layout(weight),
        "out_layout": _high_layout(out),
    }


def _filtered(op: FilterOp, found: Gradients, emit: GradientBuilder) -> Gradients:
    """Returns the gradients of data and weight without the height."""
    return [_flat(each, layout, emit) for each, layout in zip(found, op.layouts, strict=False)]


def _window(op: WindowPoolOp) -> dict[str, AttributeValue]:
    """Returns the attributes of a pool with windows of height 1."""
    (axis,) = op.window(op.sizes)
    return {
        "pool_size": (1, *op.sizes),
        "strides": (1, axis.stride),
        "dilation": (1, axis.dilation),
        "padding": _high_sides(sides_of([axis])),
        "ceil_mode": bool(op.ceil_mode.value.data),
        **_image(op),
    }


def _image(op: PoolOp) -> dict[str, AttributeValue]:
    """Returns the layouts of a pool of images of height 1."""
    data, out = op.layouts
    return {"layout": _high_layout(data), "out_layout": _high_layout(out)}


def _pooled(op: PoolOp, found: Gradients, emit: GradientBuilder) -> SSAValue | None:
    return _flat(found[0], op.layouts[0], emit)


def _high(value: SSAValue, layout: Layout, emit: GradientBuilder) -> SSAValue:
    """Inserts an axis of height 1 before the width."""
    return emit.op("expand_dims", value, axis=layout.index("W"))


def _flat(value: SSAValue | None, layout: Layout, emit: GradientBuilder) -> SSAValue | None:
    """Removes the height."""
    return None if value is None else emit.op("squeeze", value, axis=[layout.index("W")])


def _high_layout(layout: Layout) -> str:
    return str(layout).replace("W", "HW")


def _high_sides(sides: tuple[int, ...]) -> tuple[int, int, int, int]:
    """Returns the padding above, left, below and right."""
    left, right = sides
    return 0, left, 0, right
