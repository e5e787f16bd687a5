"""Pools over windows with two or three spatial axes, and their gradients."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue, string_attribute
from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.layout.layout import Layout
from xrelay.dialects.relay.ops.nn_pool import (
    AvgPool2DOp,
    AvgPool3DOp,
    AvgPoolOp,
    MaxPool2DOp,
    MaxPool3DOp,
    WindowPoolOp,
)
from xrelay.dialects.relay.ops.nn_pool_grad import AVG_POOL_GRADIENTS, MAX_POOL_GRADIENTS, AvgPoolGradOp, PoolGradOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(MaxPool2DOp, MaxPool3DOp)
def max_pool(op: WindowPoolOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns `nn.max_pool2d_grad` or `nn.max_pool3d_grad`."""
    return [emit.op(f"nn.max_pool{len(op.AXES)}d_grad", gradient, op.data, **_attributes(op))]


@differentiates(AvgPool2DOp, AvgPool3DOp)
def avg_pool(op: AvgPoolOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns `nn.avg_pool2d_grad` or `nn.avg_pool3d_grad`."""
    include = bool(op.count_include_pad.value.data)
    name = f"nn.avg_pool{len(op.AXES)}d_grad"
    return [emit.op(name, gradient, op.data, **_attributes(op), count_include_pad=include)]


@differentiates(*AVG_POOL_GRADIENTS)
def avg_pool_grad(op: AvgPoolGradOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the pool of the gradient, because the op is linear in `out_grad`; None for the data."""
    include = bool(op.count_include_pad.value.data)
    return [emit.op(f"nn.avg_pool{len(op.AXES)}d", gradient, **_attributes(op), count_include_pad=include), None]


@differentiates(*MAX_POOL_GRADIENTS)
def max_pool_grad(op: PoolGradOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the gradient at each window's greatest element, because the op is linear in `out_grad`.

    The derivative by the data is 0 almost everywhere.
    """
    (layout, out_layout), plain = op.layouts, Layout.parse(op.image_axes)
    data, gradient = (moved(value, layout, plain, emit) for value in (op.data, gradient))
    attributes = {**_attributes(op), "layout": string_attribute(str(plain)), "out_layout": string_attribute("")}
    places = emit.op(f"nn.max_pool{len(op.AXES)}d_indices", data, **attributes)
    # The index of windows within the padding is -1.
    chosen = emit.op("maximum", places, 0)
    rows, chosen = (_in_rows(value, len(op.AXES), emit) for value in (gradient, chosen))
    found = emit.reshape_like(emit.op("gather", rows, chosen, axis=2), places)
    found = emit.op("where", emit.op("less", places, 0), emit.zeros_like(found), found)
    return [moved(found, plain, out_layout, emit), None]


def _in_rows(value: SSAValue, axes: int, emit: GradientBuilder) -> SSAValue:
    """Merges the last `axes` axes."""
    for _ in range(axes - 1):
        # 0 keeps an extent, -3 merges two, -2 keeps all others.
        value = emit.op("reshape", value, newshape=(0, 0, -3, -2))
    return value


def _attributes(op: WindowPoolOp | PoolGradOp) -> dict[str, AttributeValue]:
    """Returns the attributes that a pool shares with its gradient."""
    names = ("pool_size", "strides", "dilation", "padding", "layout", "out_layout", "ceil_mode")
    return {name: op.properties[name] for name in names}


def moved(value: SSAValue, source: Layout, target: Layout, emit: GradientBuilder) -> SSAValue:
    """Converts a tensor from one layout to another."""
    if source == target:
        return value
    return emit.op("layout_transform", value, src_layout=str(source), dst_layout=str(target))
