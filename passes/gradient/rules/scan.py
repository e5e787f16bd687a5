"""Cumulative sums and products."""

from __future__ import annotations

from xdsl.ir import SSAValue

from xrelay.dialects.relay.gradients.builder import GradientBuilder, Gradients
from xrelay.dialects.relay.ops.tensor_scan import CumprodOp, CumsumOp, CumulativeOp
from xrelay.passes.gradient.rule_table import differentiates


@differentiates(CumsumOp)
def cumsum(op: CumsumOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the cumulative sums from the end."""
    total = _from_end(op, gradient, emit)
    return [emit.cast_like(emit.reshape_like(total, op.data), op.data)]


@differentiates(CumprodOp)
def cumprod(op: CumprodOp, gradient: SSAValue, emit: GradientBuilder) -> Gradients:
    """Returns the cumulative sums from the end of gradient times product, divided by the element.

    This holds before the first zero. For the first zero, the products are those with a 1 instead of it. After it all
    derivatives are 0. This is exact for first derivatives.
    """
    data = emit.reshape_like(emit.cast_like(op.data, gradient), gradient)
    axis, exclusive = _axis(op), op.exclusive.value.data
    is_zero = emit.op("equal", data, 0)
    zeros = emit.op("cumsum", emit.op("cast", is_zero, dtype="int64"), axis=axis)
    before = emit.op("equal", zeros, 0)
    first = emit.op("logical_and", is_zero, emit.op("equal", zeros, 1))
    ones, nothing = emit.ones_like(data), emit.zeros_like(data)
    without = emit.op("cumprod", emit.op("where", first, ones, data), axis=axis, exclusive=exclusive)
    own, others = (_from_end(op, emit.op("multiply", gradient, each), emit) for each in (op.result, without))
    share = emit.op("divide", own, emit.op("where", before, data, ones))
    found = emit.op("where", before, share, emit.op("where", first, others, nothing))
    return [emit.cast_like(emit.reshape_like(found, op.data), op.data)]


def _from_end(op: CumulativeOp, value: SSAValue, emit: GradientBuilder) -> SSAValue:
    """Returns the cumulative sums of `value` from the end."""
    turned = emit.op("reverse", value, axis=_axis(op))
    total = emit.op("cumsum", turned, axis=_axis(op), exclusive=op.exclusive.value.data)
    return emit.op("reverse", total, axis=_axis(op))


def _axis(op: CumulativeOp) -> int:
    return 0 if op.axis is None else op.axis.value.data
