"""Convolutions and pools of one spatial axis, as those of images of height 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn_conv import Conv1DOp, Conv2DOp
from xrelay.dialects.relay.ops.nn_pool import AvgPool1DOp, AvgPool2DOp, MaxPool1DOp, MaxPool2DOp, WindowPoolOp
from xrelay.index_algebra.windows import sides_of
from xrelay.passes.gradient.emitter import GradientEmitter
from xrelay.passes.gradient.rule_table import Gradients, differentiates, not_differentiable
from xrelay.passes.gradient.rules.nn_convolution import conv2d
from xrelay.passes.gradient.rules.nn_pooling import avg_pool2d, max_pool2d

TwinT = TypeVar("TwinT", bound=RelayOp)


@differentiates(Conv1DOp)
def conv1d(op: Conv1DOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """As `nn.conv2d` by filters of height 1."""
    data, weight, out = op.layouts
    width = weight.primal_extents(emit.shape(op.weight))["W"]
    if not isinstance(width, int):
        raise not_differentiable(op, f"the extent {width} of the weight is not known")
    (axis,) = op.window([width])
    twin = Conv2DOp.call(
        _high(op.data, data, emit),
        _high(op.weight, weight, emit),
        strides=(1, axis.stride),
        padding=_high_sides(sides_of([axis])),
        dilation=(1, axis.dilation),
        groups=op.groups.value.data,
        data_layout=_high_layout(data),
        kernel_layout=_high_layout(weight),
        out_layout=_high_layout(out),
    )
    found = _by(twin, conv2d, _high(emit.cast_like(gradient, op.data), out, emit), emit)
    return [_flat(each, layout, emit) for each, layout in zip(found, (data, weight), strict=True)]


@differentiates(MaxPool1DOp)
def max_pool1d(op: MaxPool1DOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """As `nn.max_pool2d` over windows of height 1."""
    twin = MaxPool2DOp.call(_high(op.data, op.layouts[0], emit), **_window(op))
    return [_pooled(op, _by(twin, max_pool2d, _high(gradient, op.layouts[1], emit), emit), emit)]


@differentiates(AvgPool1DOp)
def avg_pool1d(op: AvgPool1DOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """As `nn.avg_pool2d` over windows of height 1."""
    include = bool(op.count_include_pad.value.data)
    twin = AvgPool2DOp.call(_high(op.data, op.layouts[0], emit), **_window(op), count_include_pad=include)
    return [_pooled(op, _by(twin, avg_pool2d, _high(gradient, op.layouts[1], emit), emit), emit)]


def _by(
    twin: TwinT,
    rule: Callable[[TwinT, SSAValue, GradientEmitter], Gradients],
    gradient: SSAValue,
    emit: GradientEmitter,
) -> Gradients:
    """What the rule gives for an op that stands in no block: it is asked, and computes nothing."""
    try:
        return rule(twin, gradient, emit)
    finally:
        twin.erase()


def _window(op: WindowPoolOp) -> dict[str, AttributeValue]:
    """The attributes of a pool whose windows have height 1."""
    (axis,) = op.window(op.sizes)
    data, out = op.layouts
    return {
        "pool_size": (1, *op.sizes),
        "strides": (1, axis.stride),
        "dilation": (1, axis.dilation),
        "padding": _high_sides(sides_of([axis])),
        "layout": _high_layout(data),
        "out_layout": _high_layout(out),
        "ceil_mode": bool(op.ceil_mode.value.data),
    }


def _pooled(op: WindowPoolOp, found: Gradients, emit: GradientEmitter) -> SSAValue | None:
    return _flat(found[0], op.layouts[0], emit)


def _high(value: SSAValue, layout: Layout, emit: GradientEmitter) -> SSAValue:
    """The value with an axis of height 1 in front of the width."""
    return emit.op("expand_dims", value, axis=layout.index("W"))


def _flat(value: SSAValue | None, layout: Layout, emit: GradientEmitter) -> SSAValue | None:
    """The value without the height."""
    return None if value is None else emit.op("squeeze", value, axis=[layout.index("W")])


def _high_layout(layout: Layout) -> str:
    return str(layout).replace("W", "HW")


def _high_sides(sides: tuple[int, ...]) -> tuple[int, int, int, int]:
    """The padding above, left, below and right."""
    left, right = sides
    return 0, left, 0, right
