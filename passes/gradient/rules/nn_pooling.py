"""Pools over windows of two or three spatial axes, and their gradients, which are differentiated as they are."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.core.attribute_values import AttributeValue, string_attribute
from xrelay.dialects.relay.gradients.builder import GradientEmitter, Gradients
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
def max_pool(op: WindowPoolOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """`nn.max_pool2d_grad` or `nn.max_pool3d_grad`."""
    return [emit.op(f"nn.max_pool{len(op.AXES)}d_grad", gradient, op.data, **_attributes(op))]


@differentiates(AvgPool2DOp, AvgPool3DOp)
def avg_pool(op: AvgPoolOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """`nn.avg_pool2d_grad` or `nn.avg_pool3d_grad`."""
    include = bool(op.count_include_pad.value.data)
    name = f"nn.avg_pool{len(op.AXES)}d_grad"
    return [emit.op(name, gradient, op.data, **_attributes(op), count_include_pad=include)]


@differentiates(*AVG_POOL_GRADIENTS)
def avg_pool_grad(op: AvgPoolGradOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """It is linear in the first operand: the pool. It does not read the other."""
    include = bool(op.count_include_pad.value.data)
    return [emit.op(f"nn.avg_pool{len(op.AXES)}d", gradient, **_attributes(op), count_include_pad=include), None]


@differentiates(*MAX_POOL_GRADIENTS)
def max_pool_grad(op: PoolGradOp, gradient: SSAValue, emit: GradientEmitter) -> Gradients:
    """It is linear in the first operand: what the gradient has for each window's greatest element.

    While the data changes a little these stay the greatest.
    """
    (layout, out_layout), plain = op.layouts, Layout.parse(op.image_axes)
    data, gradient = (moved(value, layout, plain, emit) for value in (op.data, gradient))
    attributes = {**_attributes(op), "layout": string_attribute(str(plain)), "out_layout": string_attribute("")}
    places = emit.op(f"nn.max_pool{len(op.AXES)}d_indices", data, **attributes)
    # Windows in the padding alone have place -1.
    chosen = emit.op("maximum", places, 0)
    rows, chosen = (_in_rows(value, len(op.AXES), emit) for value in (gradient, chosen))
    found = emit.reshape_like(emit.op("gather", rows, chosen, axis=2), places)
    found = emit.op("where", emit.op("less", places, 0), emit.zeros_like(found), found)
    return [moved(found, plain, out_layout, emit), None]


def _in_rows(value: SSAValue, axes: int, emit: GradientEmitter) -> SSAValue:
    """The value with its last `axes` axes as one."""
    for _ in range(axes - 1):
        # 0 keeps an extent, -3 joins two, -2 keeps all others.
        value = emit.op("reshape", value, newshape=(0, 0, -3, -2))
    return value


def _attributes(op: WindowPoolOp | PoolGradOp) -> dict[str, AttributeValue]:
    """What the gradient of a pool takes over from it."""
    names = ("pool_size", "strides", "dilation", "padding", "layout", "out_layout", "ceil_mode")
    return {name: op.properties[name] for name in names}


def moved(value: SSAValue, source: Layout, target: Layout, emit: GradientEmitter) -> SSAValue:
    """A tensor of one layout in another."""
    if source == target:
        return value
    return emit.op("layout_transform", value, src_layout=str(source), dst_layout=str(target))
